/* backup.c - tarn backup: one consistent copy of the database, from a running server or a stopped one. */
#include "catalog/sqlite/sqlite.h"
#include "cli/client.h"
#include "cli/offline.h"
#include <stdio.h>
#include <sys/stat.h>

static tarn_code copy_offline(const char *data, const char *file, struct tarn_err *err)
{
    TARN_AUTO(offline) struct tarn_offline *offline = NULL;

    (void)umask(077); /* the copy holds token hashes */
    tarn_code code = tarn_offline_open(data, false, &offline, err);
    return code == TARN_OK ? tarn_sqlite_backup(tarn_offline_store(offline), file, err) : code;
}

static tarn_code copy_online(const struct tarn_cli *cli, const char *file, struct tarn_err *err)
{
    TARN_AUTO(client) struct tarn_client *client = NULL;

    tarn_code code = tarn_client_open(cli, false, &client, err);
    return code == TARN_OK ? tarn_client_save(client, "POST", "/api/backup", file, err) : code;
}

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    const char *data = tarn_cli_text(cli, "data"), *file = cli->args[0];
    struct stat st;

    tarn_code code =
        data && !tarn_cli_has(cli, "url") ? copy_offline(data, file, &err) : copy_online(cli, file, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    long long size = stat(file, &st) == 0 ? (long long)st.st_size : 0;
    if (tarn_cli_has(cli, "json"))
        printf("{\"size\":%lld}\n", size);
    else
        printf("%s: %lld bytes\n", file, size);
    return 0;
}

const struct tarn_command tarn_command_backup = {
    .name = "backup", .takes = "FILE", .least = 1, .most = 1, .asks_server = true,
    .sentence = "Copy the database to a new file; a stopped server's with --data.", .run = run,
};
