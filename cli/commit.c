/* commit.c - tarn commit: a body from a file, or operations
 * made from the files that lie in the table's folder. */
#include "catalog/ident.h"
#include "cli/add_file.h"
#include "cli/client.h"
#include "cli/files.h"
#include "cli/out.h"
#include <stdio.h>

static const struct tarn_flag k_flags[] = {
    { "file", TARN_FLAG_TEXT, "BODY.json", "The commit as the API takes it; - reads standard input." },
    { "add", TARN_FLAG_MANY, "PATH", "Files to add, relative to the table; size, rows and statistics are read." },
    { "remove", TARN_FLAG_MANY, "PATH", "Files to take out of the snapshot." },
    { "expected-version", TARN_FLAG_TEXT, "N", "Refuse when the table is at another version." },
    { "transaction-id", TARN_FLAG_TEXT, "ID", "The commit's id: a retry under it commits once. Default: the next number." },
    { "author", TARN_FLAG_TEXT, "AUTHOR", "Who commits." },
    { "description", TARN_FLAG_TEXT, "TEXT", "What and why." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

/* The folder of the table, which must be on this machine. */
static tarn_code open_table(struct tarn_client *client, const char *table, struct tarn_place **out,
                            struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    json_auto_t *answer = NULL;

    tarn_client_table_path(&path, table, "");
    tarn_code code = tarn_buf_check(&path, err);
    if (code == TARN_OK)
        code = tarn_client_fetch(client, "GET", path.data, NULL, &answer, err);
    if (code != TARN_OK)
        return code;
    const char *location = json_string_value(json_object_get(answer, "location"));
    if (!location || location[0] != '/')
        return tarn_fail(err, TARN_INVALID, "--add reads the files, and %s is not on this machine: use --file",
                         location ? location : "the table");
    return tarn_place_open_local(location, out, err);
}

static tarn_code add_files(struct tarn_client *client, const struct tarn_cli *cli, json_t *operations,
                           struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    const char *path = tarn_cli_many(cli, "add", 0);
    tarn_code code = path ? open_table(client, cli->args[0], &place, err) : TARN_OK;

    for (size_t i = 0; code == TARN_OK && path; path = tarn_cli_many(cli, "add", ++i)) {
        json_t *op = NULL;
        code = tarn_data_path_check(path, path, err);
        if (code == TARN_OK)
            code = tarn_add_file_op(place, path, &op, err);
        if (code == TARN_OK && json_array_append_new(operations, op) != 0)
            code = tarn_fail_oom(err);
    }
    return code;
}

static tarn_code make_body(struct tarn_client *client, const struct tarn_cli *cli, json_t **out,
                           struct tarn_err *err)
{
    json_auto_t *operations = json_array();
    const char *path = tarn_cli_many(cli, "remove", 0);

    for (size_t i = 0; path; path = tarn_cli_many(cli, "remove", ++i)) {
        json_t *op = json_pack("{s:s, s:s}", "type", "remove_file", "path", path);
        if (json_array_append_new(operations, op) != 0)
            return tarn_fail_oom(err);
    }
    tarn_code code = add_files(client, cli, operations, err);
    if (code != TARN_OK)
        return code;
    /* The server looks at the files too: it knows which schema version each fits. */
    const char *verify = tarn_cli_many(cli, "add", 0) ? "footer" : NULL;
    *out = json_pack("{s:O, s:s*}", "operations", operations, "verify", verify);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

/* Members that flags give, over those of the body. */
static tarn_code add_members(const struct tarn_cli *cli, json_t *body, struct tarn_err *err)
{
    static const char *const k_metadata[] = { "author", "description" };
    long long version = 0;

    if (tarn_cli_has(cli, "expected-version")) {
        tarn_code code = tarn_cli_number(cli, "expected-version", &version, err);
        if (code != TARN_OK)
            return code;
        json_object_set_new(body, "expected_version", json_integer(version));
    }
    if (tarn_cli_has(cli, "transaction-id"))
        json_object_set_new(body, "transaction_id", json_string(tarn_cli_text(cli, "transaction-id")));
    for (size_t i = 0; i < TARN_COUNT(k_metadata); i++) {
        const char *text = tarn_cli_text(cli, k_metadata[i]);
        if (text && !json_is_object(json_object_get(body, "commitMetadata")))
            json_object_set_new(body, "commitMetadata", json_object());
        if (text)
            json_object_set_new(json_object_get(body, "commitMetadata"), k_metadata[i], json_string(text));
    }
    return TARN_OK;
}

static void print_commit(const json_t *answer)
{
    char text[4096];

    snprintf(text, sizeof text, "%s is at version %s by %s; files: %s added, %s removed, %s in all%s",
             tarn_show(answer, "table"), tarn_show(answer, "version"), tarn_show(answer, "transaction"),
             tarn_show(answer, "files_added"), tarn_show(answer, "files_removed"), tarn_show(answer, "files"),
             json_is_false(json_object_get(answer, "published")) ? "; storage does not show it yet" : "");
    tarn_print_safe(text);
    fputc('\n', stdout);
    const json_t *warnings = json_object_get(answer, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const json_t *warning = json_array_get(warnings, i);
        const char *message = json_string_value(json_object_get(warning, "message"));
        TARN_AUTO(mem) char *dump = message ? NULL : json_dumps(warning, JSON_ENCODE_ANY | JSON_COMPACT);
        fputs("warning: ", stdout);
        tarn_print_safe(dump ? dump : message);
        fputc('\n', stdout);
    }
}

static tarn_code commit(struct tarn_client *client, const struct tarn_cli *cli, json_t **answer,
                        struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    json_auto_t *body = NULL;
    const char *file = tarn_cli_text(cli, "file");

    tarn_code code = file ? tarn_read_json_file(file, &body, err) : make_body(client, cli, &body, err);
    if (code == TARN_OK && !json_is_object(body))
        code = tarn_fail(err, TARN_INVALID, "%s: must be a JSON object", file);
    if (code == TARN_OK)
        code = add_members(cli, body, err);
    tarn_client_table_path(&path, cli->args[0], "/commits");
    if (code == TARN_OK)
        code = tarn_buf_check(&path, err);
    return code == TARN_OK ? tarn_client_ask(client, cli, "POST", path.data, body, answer, err) : code;
}

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    TARN_AUTO(client) struct tarn_client *client = NULL;
    json_auto_t *answer = NULL;
    bool file = tarn_cli_has(cli, "file"), paths = tarn_cli_has(cli, "add") || tarn_cli_has(cli, "remove");

    if (file == paths)
        return tarn_cli_usage(cli->command, "either --file, or --add and --remove");
    tarn_code code = tarn_client_open(cli, false, &client, &err);
    if (code == TARN_OK)
        code = commit(client, cli, &answer, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    if (!tarn_cli_has(cli, "json"))
        print_commit(answer);
    return 0;
}

const struct tarn_command tarn_command_commit = {
    .name = "commit", .takes = "TABLE", .least = 1, .most = 1, .flags = k_flags, .asks_server = true,
    .sentence = "Commit files to a table.", .run = run,
};
