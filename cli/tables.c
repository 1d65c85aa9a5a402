/* tables.c - tarn tables: what the catalog knows. */
#include "cli/client.h"
#include "cli/out.h"
#include "net/http.h"

static const struct tarn_flag k_flags[] = {
    { "namespace", TARN_FLAG_TEXT, "NAMESPACE", "Only tables of this namespace." },
    { "format", TARN_FLAG_TEXT, "FORMAT", "Only tables of this format." },
    { "mode", TARN_FLAG_TEXT, "MODE", "Only managed or only observed tables." },
    { "prefix", TARN_FLAG_TEXT, "PREFIX", "Only tables whose name begins so." },
    { "dropped", TARN_FLAG_BOOL, NULL, "The dropped ones that can be restored." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

static void make_path(const struct tarn_cli *cli, struct tarn_buf *path)
{
    static const char *const k_filters[] = { "namespace", "format", "mode", "prefix" };
    const char *separator = "?";

    tarn_buf_adds(path, "/api/tables");
    for (size_t i = 0; i < TARN_COUNT(k_filters); i++) {
        const char *value = tarn_cli_text(cli, k_filters[i]);
        if (!value)
            continue;
        tarn_buf_addf(path, "%s%s=", separator, k_filters[i]);
        tarn_http_encode(path, value);
        separator = "&";
    }
    if (tarn_cli_has(cli, "dropped"))
        tarn_buf_addf(path, "%sstate=dropped", separator);
}

static void print_tables(const json_t *tables)
{
    static const struct tarn_column k_columns[] = {
        TARN_COLUMN("TABLE", "name"),
        TARN_COLUMN("FORMAT", "format"),
        TARN_COLUMN("MODE", "mode"),
        TARN_COLUMN("VERSION", "version"),
        TARN_COLUMN("TRANSACTION", "latest_transaction"),
        TARN_COLUMN("SCHEMA", "schema_version"),
        TARN_COLUMN("LOCATION", "location"),
    };

    tarn_rows_print(k_columns, TARN_COUNT(k_columns), tables);
}

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    json_auto_t *answer = NULL;

    make_path(cli, &path);
    tarn_code code = tarn_buf_check(&path, &err);
    if (code == TARN_OK)
        code = tarn_client_ask_once(cli, false, "GET", path.data, NULL, &answer, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    if (!tarn_cli_has(cli, "json"))
        print_tables(json_object_get(answer, "tables"));
    return 0;
}

const struct tarn_command tarn_command_tables = {
    .name = "tables", .takes = "", .flags = k_flags, .asks_server = true, .sentence = "List the tables.", .run = run,
};
