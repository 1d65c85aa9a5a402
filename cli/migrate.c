/* migrate.c - tarn migrate: bring a stopped server's database to this program's
 * form. serve does so too; this is for those who want to see it happen before. */
#include "cli/command.h"
#include "cli/offline.h"
#include <stdio.h>

static const struct tarn_flag k_flags[] = {
    { "data", TARN_FLAG_TEXT, "DIR", "The data folder (TARN_DATA)." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    TARN_AUTO(offline) struct tarn_offline *offline = NULL;
    TARN_AUTO(mem) char *data = tarn_data_folder(tarn_cli_text(cli, "data"));

    tarn_code code = data ? tarn_offline_open(data, true, &offline, &err) : tarn_fail_oom(&err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    if (tarn_cli_has(cli, "json"))
        printf("{\"current\":true}\n");
    else
        printf("the database in %s is in the form of this program\n", data);
    return 0;
}

const struct tarn_command tarn_command_migrate = {
    .name = "migrate", .takes = "", .flags = k_flags, .sentence = "Bring a stopped server's database up to date.",
    .run = run,
};
