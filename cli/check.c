/* check.c - tarn check: judge a folder with no server and no database. Exits as monitoring plug-ins do. */
#include "base/json.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/out.h"
#include "cli/status_show.h"
#include "monitors/monitors.h"
#include <stdio.h>
#include <string.h>

static const struct tarn_flag k_flags[] = {
    { "format", TARN_FLAG_TEXT, "FORMAT", "auto (default), manifest, delta, iceberg, hudi or parquet." },
    { "now", TARN_FLAG_TEXT, "RFC3339", "The instant to judge at. Default: now." },
    { "schema", TARN_FLAG_TEXT, "FILE", "Judge the files by this schema instead of the table's own." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

static tarn_code read_options(const struct tarn_cli *cli, struct tarn_check_options *options, struct tarn_err *err)
{
    const char *format = tarn_cli_text(cli, "format"), *now = tarn_cli_text(cli, "now");
    enum tarn_format parsed;

    *options = (struct tarn_check_options){ .location = cli->args[0], .format = -1, .now_ms = tarn_now_ms(),
                                            .schema_file = tarn_cli_text(cli, "schema") };
    if (format && strcmp(format, "auto") != 0) {
        if (!tarn_format_parse(format, &parsed))
            return tarn_fail(err, TARN_INVALID, "--format: '%s' is no format", format);
        options->format = (int)parsed;
    }
    return now ? tarn_time_parse(now, &options->now_ms, NULL, err) : TARN_OK;
}

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    struct tarn_check_options options;
    enum tarn_severity severity = TARN_SEV_UNKNOWN;
    json_auto_t *status = NULL;

    if (read_options(cli, &options, &err) != TARN_OK)
        return tarn_cli_usage(cli->command, "%s", err.detail);
    if (tarn_check_run(&options, &status, &severity, &err) != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_UNKNOWN);
    TARN_AUTO(mem) char *text = tarn_cli_has(cli, "json") ? tarn_json_text(status) : NULL;
    if (text)
        printf("%s\n", text);
    else
        tarn_status_show(status);
    return tarn_status_exit(tarn_severity_text(severity));
}

const struct tarn_command tarn_command_check = {
    .name = "check", .takes = "LOCATION", .least = 1, .most = 1, .flags = k_flags,
    .sentence = "Judge a table's folder, without a server.", .run = run,
};
