/* main.c - `tarn serve` is here, every other command in cli/. */
#include "cli/cli.h"
#include "server/serve.h"
#include <string.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        return tarn_serve(argc - 2, argv + 2);
    return tarn_cli_main(argc, argv);
}
