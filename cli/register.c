/* register.c - tarn register: make a table known, taking over what its folder holds. */
#include "catalog/ident.h"
#include "cli/client.h"
#include "cli/contract.h"
#include "cli/files.h"
#include "cli/out.h"
#include <stdio.h>
#include <string.h>

static const struct tarn_flag k_flags[] = {
    { "format", TARN_FLAG_TEXT, "FORMAT", "manifest (default), iceberg, delta, hudi, parquet or auto." },
    { "mode", TARN_FLAG_TEXT, "MODE", "managed (default) or observed." },
    { "schema", TARN_FLAG_TEXT, "FILE", "The schema: a schema.json or the bare struct; files are held to it (warn)." },
    { "contract", TARN_FLAG_TEXT, "FILE", "A data contract (ODCS 3, YAML): schema, keys, freshness, owner; flags beat it." },
    { "partition-keys", TARN_FLAG_TEXT, "A,B", "The columns that partition the table." },
    { "owner", TARN_FLAG_TEXT, "OWNER", "Who answers for the table." },
    { "import", TARN_FLAG_BOOL, NULL, "Take the data files of a folder without a manifest as version 1." },
    { "dry-run", TARN_FLAG_BOOL, NULL, "Tell what would be taken and found, and change nothing." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

/* schema.json's form has the struct as its `schema`. */
static tarn_code add_schema(json_t *body, const char *file, struct tarn_err *err)
{
    json_auto_t *document = NULL;

    tarn_code code = tarn_read_json_file(file, &document, err);
    if (code != TARN_OK)
        return code;
    json_t *inner = json_object_get(document, "schema");
    json_t *schema = json_is_object(inner) && !json_object_get(document, "fields") ? inner : document;
    if (!json_is_object(schema))
        return tarn_fail(err, TARN_INVALID, "%s: holds no schema", file);
    int rc = json_object_set(body, "schema", schema);
    return rc == 0 && json_object_set_new(body, "schema_enforcement", json_string("warn")) == 0
               ? TARN_OK
               : tarn_fail_oom(err);
}

static void add_keys(json_t *body, const char *keys)
{
    json_t *list = json_array();

    while (*keys) {
        size_t len = strcspn(keys, ",");
        if (len)
            json_array_append_new(list, json_stringn(keys, len));
        keys += len + (keys[len] == ',');
    }
    json_object_set_new(body, "partition_keys", list);
}

static tarn_code make_body(const struct tarn_cli *cli, json_t *body, struct tarn_err *err)
{
    static const char *const k_texts[] = { "format", "mode", "owner" };
    const char *schema = tarn_cli_text(cli, "schema"), *keys = tarn_cli_text(cli, "partition-keys");

    json_object_set_new(body, "name", json_string(cli->args[0]));
    if (cli->arg_count > 1)
        json_object_set_new(body, "location", tarn_location_arg(cli->args[1]));
    for (size_t i = 0; i < TARN_COUNT(k_texts); i++)
        if (tarn_cli_has(cli, k_texts[i]))
            json_object_set_new(body, k_texts[i], json_string(tarn_cli_text(cli, k_texts[i])));
    if (keys)
        add_keys(body, keys);
    if (tarn_cli_has(cli, "import"))
        json_object_set_new(body, "import", json_true());
    if (tarn_cli_has(cli, "dry-run"))
        json_object_set_new(body, "dry_run", json_true());
    return schema ? add_schema(body, schema, err) : TARN_OK;
}

static void print_found(const json_t *found)
{
    static const struct tarn_column k_columns[] = {
        TARN_COLUMN("SEVERITY", "severity"),
        TARN_COLUMN("CODE", "code"),
        TARN_COLUMN("SUBJECT", "subject"),
        TARN_COLUMN("MESSAGE", "message"),
    };

    if (json_array_size(found) > 0)
        tarn_rows_print(k_columns, TARN_COUNT(k_columns), found);
}

static void print_table(const struct tarn_cli *cli, const json_t *table)
{
    char text[4096];

    snprintf(text, sizeof text, "%s %s at %s: %s, %s, version %s, schema version %s",
             tarn_cli_has(cli, "dry-run") ? "would register" : "registered", tarn_show(table, "name"),
             tarn_show(table, "location"), tarn_show(table, "format"), tarn_show(table, "mode"),
             tarn_show(table, "version"), tarn_show(table, "schema_version"));
    tarn_print_safe(text);
    fputc('\n', stdout);
    print_found(json_object_get(table, "found"));
}

/* A dry run tells what the contract became, and what in it was not taken; with --json beside the answer. */
static tarn_code add_contract(const struct tarn_cli *cli, json_t *body, struct tarn_err *err)
{
    const char *file = tarn_cli_text(cli, "contract");
    TARN_AUTO_DONE(contract) struct tarn_contract contract = { 0 };
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    FILE *stream = tarn_cli_has(cli, "json") ? stderr : stdout;
    struct tarn_ident ident;

    if (!file)
        return TARN_OK;
    tarn_code code = tarn_ident_parse(cli->args[0], "name", &ident, err);
    if (code == TARN_OK)
        code = tarn_read_text_file(file, &text, err);
    if (code == TARN_OK)
        code = tarn_contract_text(file, &text, ident.name, &contract, err);
    if (code != TARN_OK)
        return code;
    if (!tarn_contract_members(&contract, body))
        return tarn_fail_oom(err);
    if (!tarn_cli_has(cli, "dry-run"))
        return TARN_OK;
    tarn_contract_print(&contract, stream);
    tarn_contract_print_remarks(&contract, stream);
    return TARN_OK;
}

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    json_auto_t *body = json_object(), *answer = NULL;

    if (make_body(cli, body, &err) != TARN_OK || add_contract(cli, body, &err) != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    tarn_code code = tarn_client_ask_once(cli, false, "POST", "/api/tables", body, &answer, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    if (!tarn_cli_has(cli, "json"))
        print_table(cli, answer);
    return 0;
}

const struct tarn_command tarn_command_register = {
    .name = "register",
    .takes = "NAME [LOCATION]",
    .least = 1,
    .most = 2,
    .flags = k_flags,
    .asks_server = true,
    .sentence = "Make a table known to the catalog. Default location: <first root>/<namespace>/<name>.",
    .run = run,
};
