/* history.c - tarn history: the commits of a table, newest first. */
#include "cli/client.h"
#include "cli/out.h"
#include <stdio.h>

#define SHOWN 50 /* commits, unless told otherwise */

static const struct tarn_flag k_flags[] = {
    { "limit", TARN_FLAG_TEXT, "N", "At most so many, 1 to 10000. Default: 50; with --json: all." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

static void print_commits(const json_t *answer)
{
    static const struct tarn_column k_columns[] = {
        TARN_COLUMN("VERSION", "version"),
        TARN_COLUMN("TRANSACTION", "transaction"),
        TARN_COLUMN("COMMITTED", "committed_at"),
        TARN_COLUMN("ADDED", "files_added"),
        TARN_COLUMN("REMOVED", "files_removed"),
        TARN_COLUMN_SIZE("SIZE", "bytes_added"),
        TARN_COLUMN("AUTHOR", "author"),
        TARN_COLUMN("DESCRIPTION", "description"),
    };

    tarn_rows_print(k_columns, TARN_COUNT(k_columns), json_object_get(answer, "commits"));
    if (json_is_string(json_object_get(answer, "next_page_token")))
        printf("... and older ones: --limit shows more\n");
}

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    json_auto_t *answer = NULL;
    long long limit = tarn_cli_has(cli, "json") ? 0 : SHOWN;

    if (tarn_cli_has(cli, "limit") && tarn_cli_number(cli, "limit", &limit, &err) != TARN_OK)
        return tarn_cli_usage(cli->command, "%s", err.detail);
    tarn_client_table_path(&path, cli->args[0], "/commits");
    if (limit)
        tarn_buf_addf(&path, "?page_size=%lld", limit);
    tarn_code code = tarn_buf_check(&path, &err);
    if (code == TARN_OK)
        code = tarn_client_ask_once(cli, false, "GET", path.data, NULL, &answer, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    if (!tarn_cli_has(cli, "json"))
        print_commits(answer);
    return 0;
}

const struct tarn_command tarn_command_history = {
    .name = "history", .takes = "TABLE", .least = 1, .most = 1, .flags = k_flags, .asks_server = true,
    .sentence = "The commits of a table, newest first.", .run = run,
};
