/* findings_doc - prints the heads of the pages in docs/findings/ from the table of monitor kinds, for tools/finding-pages. */
#include "monitors/monitors.h"
#include <stdio.h>

int main(void)
{
    TARN_AUTO_DONE(buf) struct tarn_buf heads = { 0 };

    tarn_finding_heads(&heads);
    if (heads.failed || !heads.data)
        return 1;
    fputs(heads.data, stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}
