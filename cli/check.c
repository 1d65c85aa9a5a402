/* check.c - tarn check: judge a folder with no server and no database. Exits as monitoring plug-ins do. */
#include "base/json.h"
#include "base/time.h"
#include "catalog/ident.h"
#include "cli/command.h"
#include "cli/contract.h"
#include "cli/files.h"
#include "cli/out.h"
#include "cli/status_show.h"
#include "monitors/monitors.h"
#include <stdio.h>
#include <string.h>

static const struct tarn_flag k_flags[] = {
    { "format", TARN_FLAG_TEXT, "FORMAT", "auto (default), manifest, delta, iceberg, hudi or parquet." },
    { "now", TARN_FLAG_TEXT, "RFC3339", "The instant to judge at. Default: now." },
    { "schema", TARN_FLAG_TEXT, "FILE", "Judge the files by this schema: a schema.json, a bare struct or a data contract." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

static tarn_code read_options(const struct tarn_cli *cli, struct tarn_check_options *options,
                              struct tarn_err *err)
{
    const char *format = tarn_cli_text(cli, "format"), *now = tarn_cli_text(cli, "now");
    enum tarn_format parsed;

    *options = (struct tarn_check_options){ .format = -1, .now_ms = tarn_now_ms() };
    if (format && strcmp(format, "auto") != 0) {
        if (!tarn_format_parse(format, &parsed))
            return tarn_fail(err, TARN_INVALID, "--format: '%s' is none of auto, manifest, delta, iceberg, hudi and parquet", format);
        options->format = (int)parsed;
    }
    return now ? tarn_time_parse(now, &options->now_ms, NULL, err) : TARN_OK;
}

/* --- texts that live as long as the check --- */

struct given {
    char *location, *schema, *keys; /* owned */
};

static void given_done(struct given *given)
{
    free(given->location);
    free(given->schema);
    free(given->keys);
}

/* A path stays as it was given, from a file URI comes its path. */
static tarn_code read_location(const char *text, struct given *out, struct tarn_err *err)
{
    if (strncmp(text, "file:", strlen("file:")) == 0)
        return tarn_location_normalise(text, "LOCATION", &out->location, err);
    if (strstr(text, "://"))
        return tarn_fail(err, TARN_LOCATION_UNREACHABLE, "%s: object stores are not supported by this build, only local folders", text);
    out->location = strdup(text);
    return out->location ? TARN_OK : tarn_fail_oom(err);
}

/* Of a contract on several tables the one that is called as the folder. */
static tarn_code read_contract(const char *file, const struct tarn_buf *text, const char *location,
                               struct given *out, struct tarn_err *err)
{
    TARN_AUTO_DONE(contract) struct tarn_contract contract = { 0 };
    TARN_AUTO(mem) char *folder = tarn_check_folder_name(location);
    tarn_code code = folder ? tarn_contract_text(file, text, folder, &contract, err) : tarn_fail_oom(err);

    if (code != TARN_OK)
        return code;
    if (!contract.schema)
        return tarn_fail(err, TARN_INVALID, "%s: the contract has no schema", file);
    out->schema = tarn_json_text(contract.schema);
    out->keys = contract.partition_keys ? tarn_json_text(contract.partition_keys) : NULL;
    return out->schema && (out->keys || !contract.partition_keys) ? TARN_OK : tarn_fail_oom(err);
}

/* JSON is a schema unless it looks like a contract; what begins otherwise is YAML, and a contract. */
static tarn_code read_schema(const struct tarn_cli *cli, struct given *out, struct tarn_err *err)
{
    const char *file = tarn_cli_text(cli, "schema");
    json_auto_t *tree = NULL;
    TARN_ERR(fault);

    if (!file)
        return TARN_OK;
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    tarn_code code = tarn_read_text_file(file, &text, err);
    if (code != TARN_OK)
        return code;
    const char *begin = text.data ? text.data + strspn(text.data, " \t\r\n") : "";
    code = tarn_json_parse(begin, strlen(begin), NULL, &tree, &fault);
    if (code != TARN_OK && *begin == '{')
        return tarn_fail(err, TARN_INVALID, "%s: %s", file, fault.detail);
    if (code != TARN_OK || tarn_contract_is(tree))
        return read_contract(file, &text, out->location, out, err);
    out->schema = strdup(begin);
    return out->schema ? TARN_OK : tarn_fail_oom(err);
}

/* A schema that is none is named by its file. */
static int refuse(const struct tarn_cli *cli, const struct tarn_err *err)
{
    const char *file = tarn_cli_text(cli, "schema");
    TARN_ERR(told);

    if (!file || err->code != TARN_INVALID)
        return tarn_cli_fail(err, TARN_EXIT_UNKNOWN);
    (void)tarn_fail(&told, TARN_INVALID, "%s: %s%s%s", file, err->field, err->field[0] ? ": " : "", err->detail);
    return tarn_cli_fail(&told, TARN_EXIT_UNKNOWN);
}

static void print(const struct tarn_cli *cli, const json_t *status, int64_t now_ms)
{
    TARN_AUTO(mem) char *text = tarn_cli_has(cli, "json") ? tarn_json_text(status) : NULL;

    if (text)
        printf("%s\n", text);
    else
        tarn_status_show(status, now_ms);
}

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    struct tarn_check_options options;
    enum tarn_severity severity = TARN_SEV_UNKNOWN;
    __attribute__((cleanup(given_done))) struct given given = { 0 };
    json_auto_t *status = NULL;

    if (read_options(cli, &options, &err) != TARN_OK)
        return tarn_cli_usage(cli->command, "%s", err.detail);
    if (read_location(cli->args[0], &given, &err) != TARN_OK)
        return err.code == TARN_INVALID ? tarn_cli_usage(cli->command, "%s", err.detail)
                                        : tarn_cli_fail(&err, TARN_EXIT_UNKNOWN);
    options.location = given.location;
    if (read_schema(cli, &given, &err) != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_UNKNOWN);
    options.schema_text = given.schema;
    options.partition_keys = given.keys;
    if (tarn_check_run(&options, &status, &severity, &err) != TARN_OK)
        return refuse(cli, &err);
    print(cli, status, options.now_ms);
    return tarn_status_exit(tarn_severity_text(severity));
}

const struct tarn_command tarn_command_check = {
    .name = "check",
    .takes = "LOCATION",
    .least = 1,
    .most = 1,
    .flags = k_flags,
    .more = TARN_EXIT_HELP,
    .exit_unwritten = TARN_EXIT_UNKNOWN,
    .sentence = "Judge a table's folder, without a server.",
    .run = run,
};
