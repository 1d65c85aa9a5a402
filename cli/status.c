/* status.c - tarn status: one table in full, or a line for each. Exits as monitoring plug-ins do. */
#include "base/time.h"
#include "cli/client.h"
#include "cli/out.h"
#include "cli/status_show.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PATIENCE_MS (10 * TARN_MINUTE_MS) /* with a check that goes on */
#define PAUSE_MS    250

static const struct tarn_flag k_flags[] = {
    { "check", TARN_FLAG_BOOL, NULL, "Judge the table now, then tell its status." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

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

/* --- --check: judged first --- */

struct judging {
    struct tarn_client *client;
    const char *status; /* the path of the status */
    char before[64];    /* when the table was looked at before */
};

/* *is_new: a look ended since. */
static tarn_code look_ended(const struct judging *j, bool *is_new, struct tarn_err *err)
{
    json_auto_t *status = NULL;
    tarn_code code = tarn_client_fetch(j->client, "GET", j->status, NULL, &status, err);

    *is_new = code == TARN_OK && strcmp(tarn_show(status, "checked_at"), j->before) != 0;
    return code;
}

/* The server answers a long check early, with where to ask. */
static tarn_code wait_for_look(const struct judging *j, struct tarn_err *err)
{
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
    int64_t until = tarn_monotonic_ms() + PATIENCE_MS;
    bool is_new = false;
    tarn_code code = look_ended(j, &is_new, err);

    while (code == TARN_OK && !is_new) {
        if (tarn_monotonic_ms() > until)
            return tarn_fail(err, TARN_OVERLOADED, "the check goes on for longer than %d minutes",
                             (int)(PATIENCE_MS / TARN_MINUTE_MS));
        (void)nanosleep(&pause, NULL);
        code = look_ended(j, &is_new, err);
    }
    return code;
}

static tarn_code judge(struct tarn_client *client, const char *table, const char *status_path,
                       struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    json_auto_t *before = NULL, *answer = NULL;
    struct judging j = { .client = client, .status = status_path };

    tarn_client_table_path(&path, table, "/check");
    tarn_code code = tarn_buf_check(&path, err);
    if (code == TARN_OK)
        code = tarn_client_fetch(client, "GET", status_path, NULL, &before, err);
    if (code == TARN_OK)
        code = tarn_client_fetch(client, "POST", path.data, NULL, &answer, err);
    snprintf(j.before, sizeof j.before, "%.63s", tarn_show(before, "checked_at"));
    return code == TARN_OK && json_object_get(answer, "progress") ? wait_for_look(&j, err) : code;
}

/* --- */

static tarn_code ask(const struct tarn_cli *cli, json_t **answer, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    TARN_AUTO(client) struct tarn_client *client = NULL;

    if (cli->arg_count == 1)
        tarn_client_table_path(&path, cli->args[0], "/status");
    else
        tarn_buf_adds(&path, "/api/status");
    tarn_code code = tarn_buf_check(&path, err);
    if (code == TARN_OK)
        code = tarn_client_open(cli, false, &client, err);
    if (code == TARN_OK && tarn_cli_has(cli, "check"))
        code = judge(client, cli->args[0], path.data, err);
    return code == TARN_OK ? tarn_client_ask(client, cli, "GET", path.data, NULL, answer, err) : code;
}

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    json_auto_t *answer = NULL;
    bool one = cli->arg_count == 1;

    if (tarn_cli_has(cli, "check") && !one)
        return tarn_cli_usage(cli->command, "--check needs a table");
    tarn_code code = ask(cli, &answer, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_UNKNOWN);
    if (!tarn_cli_has(cli, "json") && one)
        tarn_status_show(answer, tarn_now_ms());
    else if (!tarn_cli_has(cli, "json"))
        print_rows(answer);
    return one ? tarn_status_exit(json_string_value(json_object_get(answer, "severity")))
               : worst_exit(answer);
}

const struct tarn_command tarn_command_status = {
    .name = "status",
    .takes = "[TABLE]",
    .most = 1,
    .flags = k_flags,
    .asks_server = true,
    .more = TARN_EXIT_HELP,
    .exit_unwritten = TARN_EXIT_UNKNOWN,
    .sentence = "Is a table well? Without a name: all of them, a line each.",
    .run = run,
};
