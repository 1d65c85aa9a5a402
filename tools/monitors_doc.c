/* monitors_doc - prints docs/MONITORS.md from the table of monitor kinds, for `make docs` and `make lint`. */
#include "monitors/monitors.h"
#include <stdio.h>

int main(void)
{
    TARN_AUTO_DONE(buf) struct tarn_buf page = { 0 };

    tarn_monitors_markdown(&page);
    if (page.failed || !page.data)
        return 1;
    fputs(page.data, stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}
