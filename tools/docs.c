/* docs - prints a document that is made from a table of the code: for `make docs` and `make lint`. */
#include "api/metrics/metrics.h"
#include "config/config.h"
#include "monitors/monitors.h"
#include <stdio.h>
#include <string.h>

static const struct { const char *name; void (*write)(struct tarn_buf *out); } k_documents[] = {
    { "CONFIGURATION", tarn_config_markdown },
    { "METRICS", tarn_metrics_markdown },
    { "MONITORS", tarn_monitors_markdown },
    { "findings", tarn_finding_heads }, /* the heads of the pages in docs/findings/, for tools/finding-pages */
};

int main(int argc, char **argv)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };

    for (size_t i = 0; argc == 2 && i < TARN_COUNT(k_documents); i++)
        if (strcmp(argv[1], k_documents[i].name) == 0)
            k_documents[i].write(&text);
    if (text.failed || !text.data)
        return 1;
    fputs(text.data, stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}
