/* main.c - `tarn serve` is here, every other command in cli/. */
#include "cli/cli.h"
#include "server/serve.h"
#include <stdbool.h>
#include <string.h>

static bool is(const char *word, const char *wanted)
{
    return strcmp(word, wanted) == 0;
}

int main(int argc, char **argv)
{
    char flag[] = "--help", *asks_help[] = { flag };

    if (argc > 1 && is(argv[1], "serve"))
        return tarn_serve(argc - 2, argv + 2);
    if (argc > 2 && is(argv[1], "help") && is(argv[2], "serve"))
        return tarn_serve(1, asks_help);
    return tarn_cli_main(argc, argv);
}
