/* discover.c - tarn discover: which tables lie below a folder, and which of them the catalog knows. */
#include "cli/client.h"
#include "cli/files.h"
#include "cli/out.h"
#include <stdio.h>

static void print_tables(const json_t *tables)
{
    static const struct tarn_column k_columns[] = {
        TARN_COLUMN("STATE", "state"),
        TARN_COLUMN("FORMAT", "format"),
        TARN_COLUMN("TABLE", "table"),
        TARN_COLUMN("NAME", "name"),
        TARN_COLUMN("LOCATION", "location"),
    };

    tarn_rows_print(k_columns, TARN_COUNT(k_columns), tables);
}

/* What was not seen, so that an empty list is not taken for an empty lake. */
static void print_rest(const json_t *answer)
{
    const json_t *unreadable = json_object_get(answer, "unreadable");
    char text[4096];

    if (json_is_true(json_object_get(answer, "complete")))
        return;
    snprintf(text, sizeof text, "not everything was read: %s folders could not be, or there are too many",
             tarn_show(answer, "unreadable_folders"));
    tarn_print_safe(text);
    fputc('\n', stdout);
    for (size_t i = 0; i < json_array_size(unreadable); i++) {
        const json_t *item = json_array_get(unreadable, i);
        snprintf(text, sizeof text, "  %s: %s", tarn_show(item, "path"), tarn_show(item, "reason"));
        tarn_print_safe(text);
        fputc('\n', stdout);
    }
}

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    json_auto_t *body = json_object(), *answer = NULL;

    if (json_object_set_new(body, "location", tarn_location_arg(cli->args[0])) != 0) {
        (void)tarn_fail_oom(&err);
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    }
    tarn_code code = tarn_client_ask_once(cli, false, "POST", "/api/discover", body, &answer, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    if (tarn_cli_has(cli, "json"))
        return 0;
    print_tables(json_object_get(answer, "tables"));
    print_rest(answer);
    return 0;
}

const struct tarn_command tarn_command_discover = {
    .name = "discover", .takes = "LOCATION", .least = 1, .most = 1, .asks_server = true,
    .sentence = "Find the tables below a folder under a storage root.", .run = run,
};
