/* metrics_doc - prints docs/METRICS.md from the table of metrics, for `make docs` and `make lint`. */
#include "api/metrics/metrics.h"
#include <stdio.h>

int main(void)
{
    TARN_AUTO_DONE(buf) struct tarn_buf page = { 0 };

    tarn_metrics_markdown(&page);
    if (page.failed || !page.data)
        return 1;
    fputs(page.data, stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}
