/* status.c - tarn status: one table in full, or a line for each. Exits as monitoring plug-ins do. */
#include "base/time.h"
#include "cli/client.h"
#include "cli/out.h"
#include "cli/status_show.h"
#include <stdio.h>

static void print_rows(const json_t *rows)
{
    static const struct tarn_column k_columns[] = {
        TARN_COLUMN("TABLE", "table"),
        TARN_COLUMN("STATUS", "status"),
        TARN_COLUMN("SEVERITY", "severity"),
        TARN_COLUMN("VERSION", "version"),
        TARN_COLUMN("FILES", "files"),
        TARN_COLUMN_SIZE("SIZE", "total_size_bytes"),
        TARN_COLUMN("ERRORS", "errors"),
        TARN_COLUMN("WARNINGS", "warnings"),
        TARN_COLUMN("WORST", "worst_message"),
    };

    tarn_rows_print(k_columns, TARN_COUNT(k_columns), rows);
}

/* An error outweighs what could not be judged, that outweighs a warning. */
static int worst_exit(const json_t *rows)
{
    static const int k_weight[] = { 0, 1, 3, 2 };
    int worst = 0;

    for (size_t i = 0; i < json_array_size(rows); i++) {
        int code = tarn_status_exit(json_string_value(json_object_get(json_array_get(rows, i), "severity")));
        if (k_weight[code] > k_weight[worst])
            worst = code;
    }
    return worst;
}

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    json_auto_t *answer = NULL;
    bool one = cli->arg_count == 1;

    if (one)
        tarn_client_table_path(&path, cli->args[0], "/status");
    else
        tarn_buf_adds(&path, "/api/status");
    tarn_code code = tarn_buf_check(&path, &err);
    if (code == TARN_OK)
        code = tarn_client_ask_once(cli, false, "GET", path.data, NULL, &answer, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_UNKNOWN);
    if (!tarn_cli_has(cli, "json") && one)
        tarn_status_show(answer, tarn_now_ms());
    else if (!tarn_cli_has(cli, "json"))
        print_rows(answer);
    return one ? tarn_status_exit(json_string_value(json_object_get(answer, "severity"))) : worst_exit(answer);
}

const struct tarn_command tarn_command_status = {
    .name = "status", .takes = "[TABLE]", .most = 1, .asks_server = true,
    .sentence = "Is a table well? Without a name: all of them, a line each.", .run = run,
};
