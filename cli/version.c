/* version.c - tarn version: of this program. */
#include "base/version.h"
#include "cli/command.h"
#include <stdio.h>

static int run(struct tarn_cli *cli)
{
    printf(tarn_cli_has(cli, "json") ? "{\"version\":\"%s\"}\n" : "tarn %s\n", TARN_VERSION);
    return 0;
}

const struct tarn_command tarn_command_version = {
    .name = "version", .takes = "", .sentence = "The version of this program.", .run = run,
};
