/* config_doc - prints docs/CONFIGURATION.md from the option table, for `make docs` and `make lint`. */
#include "config/config.h"
#include <stdio.h>

int main(void)
{
    TARN_AUTO_DONE(buf) struct tarn_buf page = { 0 };

    tarn_config_markdown(&page);
    if (page.failed || !page.data)
        return 1;
    fputs(page.data, stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}
