/* main.c - picks the command. */
#include "cli/cli.h"
#include <stdio.h>

int tarn_cli_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fprintf(stderr, "tarn: the client commands are on their way\n");
    return 64;
}
