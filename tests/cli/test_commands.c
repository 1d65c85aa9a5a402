/* test_commands.c - commands against canned answers: what they ask, what they print, how they exit. */
#include "base/json.h"
#include "base/own.h"
#include "tests/support/run_cli.h"
#include "tests/support/stub.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void begin(void)
{
    unsetenv("TARN_URL");
    unsetenv("TARN_TOKEN");
    setenv("TARN_DATA", "/nonexistent", 1);
}

TestSuite(commands, .init = begin, .fini = tarn_stub_stop, .timeout = 60);

/* One answer, one command; the exit code. */
static int ask(int status, const char *body, const char *words)
{
    static struct tarn_stub_answer answer;

    answer = (struct tarn_stub_answer){ .status = status, .body = body };
    setenv("TARN_URL", tarn_stub_start(&answer, 1), 1);
    return tarn_run_cli(words);
}

static bool asked_json(const char *expected)
{
    json_auto_t *want = json_loads(expected, 0, NULL), *got = json_loads(tarn_stub_asked(0)->body, 0, NULL);

    return want && json_equal(want, got);
}

Test(commands, tables_are_listed_in_columns)
{
    cr_expect(eq(int,
                 ask(200,
                     "{\"tables\":[{\"name\":\"sales.orders\",\"format\":\"manifest\",\"mode\":\"managed\","
                     "\"version\":12,"
                     "\"latest_transaction\":null,\"schema_version\":1,\"location\":\"/l/o\"},"
                     "{\"name\":\"x\\u001b[2J\",\"format\":\"delta\",\"mode\":\"observed\",\"version\":3,"
                     "\"latest_transaction\":\"t\",\"schema_version\":0,\"location\":\"/l/"
                     "x\"}],\"next_page_token\":null}",
                     "tables --namespace a.b+c --dropped --mode managed"),
                 0));
    cr_expect(eq(str, (char *)tarn_cli_stdout(),
                 "TABLE         FORMAT    MODE      VERSION  TRANSACTION  SCHEMA  LOCATION\n"
                 "sales.orders  manifest  managed   12       -            1       /l/o\n"
                 "x?[2J         delta     observed  3        t            0       /l/x\n"));
    cr_expect(eq(str, (char *)tarn_stub_asked(0)->line,
                 "GET /api/tables?namespace=a.b%2Bc&mode=managed&state=dropped HTTP/1.1"));
    cr_expect(not(tarn_has(tarn_stub_asked(0)->head, "Authorization")));
}

Test(commands, a_very_long_name_moves_its_own_row_alone)
{
#define LONG "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
    cr_expect(eq(int,
                 ask(200,
                     "{\"tables\":[{\"name\":\"" LONG "\",\"format\":\"delta\",\"mode\":\"observed\",\"version\":1,"
                     "\"latest_transaction\":\"t\",\"schema_version\":0,\"location\":\"/l/n\"},"
                     "{\"name\":\"sales.orders\",\"format\":\"delta\",\"mode\":\"observed\",\"version\":3,"
                     "\"latest_transaction\":\"t\",\"schema_version\":0,\"location\":\"/l/x\"}],\"next_page_token\":null}",
                     "tables"),
                 0));
    cr_expect(eq(str, (char *)tarn_cli_stdout(),
                 "TABLE         FORMAT  MODE      VERSION  TRANSACTION  SCHEMA  LOCATION\n" LONG
                 "  delta   observed  1        t            0       /l/n\n"
                 "sales.orders  delta   observed  3        t            0       /l/x\n"));
#undef LONG
}

Test(commands, json_is_printed_as_it_came)
{
    static const char k_body[] = "{\"tables\": [ ],\"next_page_token\":null, \"more\":1.50}";

    cr_expect(eq(int, ask(200, k_body, "tables --json"), 0));
    cr_expect(eq(int, strncmp(tarn_cli_stdout(), k_body, strlen(k_body)), 0));
    cr_expect(eq(sz, strlen(tarn_cli_stdout()), strlen(k_body) + 1));
}

Test(commands, the_token_comes_from_flag_variable_or_file)
{
    static const char k_empty[] = "{\"tables\":[],\"next_page_token\":null}";
    const char *folder = tarn_tmp();
    static const struct {
        const char *flag, *variable, *sent;
    } k_rows[] = {
        { " --token from-flag", "from-variable", "Authorization: Bearer from-flag\r\n" },
        { "", "from-variable", "Authorization: Bearer from-variable\r\n" },
        { "", NULL, "Authorization: Bearer from-file" },
    };

    tarn_write_text(tarn_path(folder, "admin.token"), "from-file\n");
    setenv("TARN_DATA", folder, 1);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char words[256], head[4200];
        if (k_rows[i].variable)
            setenv("TARN_TOKEN", k_rows[i].variable, 1);
        else
            unsetenv("TARN_TOKEN");
        snprintf(words, sizeof words, "tables%s", k_rows[i].flag);
        cr_expect(eq(int, ask(200, k_empty, words), 0), "%s", tarn_cli_stderr());
        snprintf(head, sizeof head, "%s\r\n", tarn_stub_asked(0)->head);
        cr_expect(tarn_has(head, k_rows[i].sent), "%s", head);
        tarn_stub_stop();
    }
}

Test(commands, a_refusal_is_told_in_the_servers_words)
{
    cr_expect(
        eq(int,
           ask(409,
               "{\"type\":\"/problems/version_conflict\",\"detail\":\"the table is at version 2, not 1\","
               "\"code\":\"version_conflict\",\"field\":\"expected_version\"}",
               "commit t --remove a --expected-version 1"),
           1));
    cr_expect(eq(str, (char *)tarn_cli_stderr(),
                 "tarn: expected_version: the table is at version 2, not 1 (version_conflict)\n"));
    cr_expect(
        asked_json("{\"operations\":[{\"type\":\"remove_file\",\"path\":\"a\"}],\"expected_version\":1}"),
        "%s", tarn_stub_asked(0)->body);
    tarn_stub_stop();

    cr_expect(eq(int, ask(401, "{\"detail\":\"a token is needed\",\"code\":\"unauthorized\"}", "tables"), 1));
    cr_expect(tarn_has(tarn_cli_stderr(), "a token is needed (unauthorized); give --token"), "%s",
              tarn_cli_stderr());
    tarn_stub_stop();

    cr_expect(eq(int, ask(502, "<html>", "tables"), 1));
    cr_expect(tarn_has(tarn_cli_stderr(), "answered with status 502"), "%s", tarn_cli_stderr());
}

Test(commands, registration_sends_what_the_flags_say)
{
    const char *folder = tarn_tmp();
    char words[1024], expected[2048];

    tarn_write_text(tarn_path(folder, "schema.json"),
                    "{\"current_version\":1,\"schema\":{\"type\":\"struct\",\"fields\":[]},\"versions\":[]}");
    snprintf(
        words, sizeof words,
        "register sales.o /lake/o --format manifest --mode managed --owner me --partition-keys date,hour "
        "--schema %s/schema.json --import --dry-run",
        folder);
    cr_expect(eq(int,
                 ask(200,
                     "{\"name\":\"sales.o\",\"location\":\"/lake/"
                     "o\",\"format\":\"manifest\",\"mode\":\"managed\",\"version\":0,"
                     "\"schema_version\":1,\"found\":[{\"severity\":\"info\",\"code\":\"c\",\"subject\":"
                     "\"s\",\"message\":\"m\"}]}",
                     words),
                 0),
              "%s", tarn_cli_stderr());
    snprintf(expected, sizeof expected,
             "{\"name\":\"sales.o\",\"location\":\"/lake/"
             "o\",\"format\":\"manifest\",\"mode\":\"managed\",\"owner\":\"me\","
             "\"partition_keys\":[\"date\",\"hour\"],\"schema\":{\"type\":\"struct\",\"fields\":[]},"
             "\"schema_enforcement\":\"warn\",\"import\":true,\"dry_run\":true}");
    cr_expect(asked_json(expected), "%s", tarn_stub_asked(0)->body);
    cr_expect(eq(str, (char *)tarn_stub_asked(0)->line, "POST /api/tables HTTP/1.1"));
    cr_expect(tarn_has(tarn_cli_stdout(),
                       "would register sales.o at /lake/o: manifest, managed, version 0, schema version 1\n"),
              "%s", tarn_cli_stdout());
}

Test(commands, a_bare_struct_is_a_schema_too)
{
    const char *folder = tarn_tmp();
    char words[512];

    tarn_write_text(tarn_path(folder, "s.json"),
                    "{\"type\":\"struct\",\"fields\":[{\"name\":\"schema\",\"type\":\"int64\"}]}");
    snprintf(words, sizeof words, "register o --schema %s/s.json", folder);
    cr_expect(eq(int, ask(201, "{\"name\":\"o\"}", words), 0));
    cr_expect(asked_json("{\"name\":\"o\",\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"schema\","
                         "\"type\":\"int64\"}]},"
                         "\"schema_enforcement\":\"warn\"}"),
              "%s", tarn_stub_asked(0)->body);
    tarn_stub_stop();
    tarn_write_text(tarn_path(folder, "s.json"), "{\"a\":1,");
    cr_expect(eq(int, tarn_run_cli(words), 1));
    cr_expect(tarn_has(tarn_cli_stderr(), "s.json: no valid JSON: an unexpected end at line 1, column 8"),
              "%s", tarn_cli_stderr());
}

Test(commands, a_relative_location_counts_from_here)
{
    const char *folder = tarn_tmp();
    char expected[512];

    cr_assert(eq(int, chdir(folder), 0));
    cr_expect(eq(int, ask(201, "{}", "register o lake/o"), 0));
    snprintf(expected, sizeof expected, "{\"name\":\"o\",\"location\":\"%s/lake/o\"}", folder);
    cr_expect(asked_json(expected), "%s", tarn_stub_asked(0)->body);
    tarn_stub_stop();
    cr_expect(eq(int, ask(201, "{}", "register o s3://b/o"), 0));
    cr_expect(asked_json("{\"name\":\"o\",\"location\":\"s3://b/o\"}"));
}

Test(commands, a_commit_comes_from_a_file_with_flags_over_it)
{
    const char *folder = tarn_tmp();
    char words[512];

    tarn_write_text(tarn_path(folder, "body.json"),
                    "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1}],"
                    "\"expected_version\":3,\"commitMetadata\":{\"author\":\"x\",\"job\":7}}");
    snprintf(words, sizeof words,
             "commit sales.\"a.b\" --file %s/body.json --expected-version 4 --transaction-id t-9 --author me",
             folder);
    cr_expect(eq(int,
                 ask(201,
                     "{\"table\":\"t\",\"version\":5,\"transaction\":\"t-9\",\"files_added\":1,\"files_"
                     "removed\":0,\"files\":1,\"published\":false,"
                     "\"warnings\":[{\"code\":\"c\",\"path\":\"a\",\"message\":\"w\"}]}",
                     words),
                 0),
              "%s", tarn_cli_stderr());
    cr_expect(asked_json("{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1}],\"expected_"
                         "version\":4,\"transaction_id\":\"t-9\","
                         "\"commitMetadata\":{\"author\":\"me\",\"job\":7}}"),
              "%s", tarn_stub_asked(0)->body);
    cr_expect(eq(str, (char *)tarn_stub_asked(0)->line, "POST /api/table/sales.%22a.b%22/commits HTTP/1.1"));
    cr_expect(eq(str, (char *)tarn_cli_stdout(),
                 "t is at version 5 by t-9; files: 1 added, 0 removed, 1 in all; storage does not show it "
                 "yet\nwarning: w\n"));
}

Test(commands, added_files_are_read)
{
    const char *folder = tarn_tmp();
    static struct tarn_stub_answer answers[2];
    char table[512];
    size_t len;
    char *bytes = tarn_read_file("tests/fixtures/types.parquet", &len);

    tarn_write_file(tarn_path(folder, "date=2024-02-01/hour=14/a.parquet"), bytes, len);
    snprintf(table, sizeof table, "{\"location\":\"%s\"}", folder);
    answers[0] = (struct tarn_stub_answer){ .status = 200, .body = table };
    answers[1] = (struct tarn_stub_answer){ .status = 201, .body = "{}" };
    setenv("TARN_URL", tarn_stub_start(answers, 2), 1);
    cr_assert(eq(int, tarn_run_cli("commit t --add date=2024-02-01/hour=14/a.parquet"), 0), "%s",
              tarn_cli_stderr());
    cr_expect(eq(str, (char *)tarn_stub_asked(0)->line, "GET /api/table/t HTTP/1.1"));
    json_auto_t *body = json_loads(tarn_stub_asked(1)->body, 0, NULL);
    const json_t *op = json_array_get(json_object_get(body, "operations"), 0);
    cr_expect(eq(str, (char *)json_string_value(json_object_get(op, "type")), "add_file"));
    cr_expect(eq(i64, json_integer_value(json_object_get(op, "size")), (int64_t)len));
    cr_expect(gt(i64, json_integer_value(json_object_get(op, "numRecords")), 0));
    cr_expect(eq(str,
                 (char *)json_string_value(json_object_get(json_object_get(op, "partitionValues"), "hour")),
                 "14"));
    cr_expect(gt(sz, json_object_size(json_object_get(op, "columnStats")), 0));
    free(bytes);
    tarn_stub_stop();
}

Test(commands, a_file_that_cannot_be_added_is_named)
{
    const char *folder = tarn_tmp();
    char table[512];
    static const struct {
        const char *path, *says;
    } k_rows[] = {
        { "missing.parquet", "missing.parquet: there is no such file" },
        { "bad.parquet", "bad.parquet: " },
        { "../x.parquet", "../x.parquet" },
        { "_hidden.parquet", "_hidden.parquet" },
    };

    tarn_write_text(tarn_path(folder, "bad.parquet"), "PAR1 this is not Parquet");
    snprintf(table, sizeof table, "{\"location\":\"%s\"}", folder);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char words[128];
        snprintf(words, sizeof words, "commit t --add %s", k_rows[i].path);
        cr_expect(eq(int, ask(200, table, words), 1));
        cr_expect(tarn_has(tarn_cli_stderr(), k_rows[i].says), "%s", tarn_cli_stderr());
        cr_expect(eq(sz, tarn_stub_count(), 1), "nothing was committed");
        tarn_stub_stop();
    }
    cr_expect(eq(int, ask(200, "{\"location\":\"s3://b/t\"}", "commit t --add a.parquet"), 1));
    cr_expect(tarn_has(tarn_cli_stderr(), "s3://b/t is not on this machine"), "%s", tarn_cli_stderr());
}

Test(commands, a_commit_needs_one_source)
{
    cr_expect(eq(int, tarn_run_cli("commit t"), 64));
    cr_expect(eq(int, tarn_run_cli("commit t --file x --add y"), 64));
    cr_expect(eq(int, tarn_run_cli("commit"), 64));
}

Test(commands, history_asks_for_a_page)
{
    static const char k_body[] = "{\"commits\":[{\"version\":2,\"transaction\":\"t-2\",\"committed_at\":"
                                 "\"2024-02-01T14:32:15Z\",\"files_added\":1,"
                                 "\"files_removed\":0,\"bytes_added\":1500,\"author\":null,\"description\":"
                                 "\"d\"}],\"next_page_token\":\"abc\"}";

    cr_expect(eq(int, ask(200, k_body, "history t"), 0));
    cr_expect(eq(str, (char *)tarn_stub_asked(0)->line, "GET /api/table/t/commits?page_size=50 HTTP/1.1"));
    cr_expect(tarn_has(tarn_cli_stdout(),
                       "2        t-2          2024-02-01T14:32:15Z  1      0        1.5 kB  -       d\n"),
              "%s", tarn_cli_stdout());
    cr_expect(tarn_has(tarn_cli_stdout(), "older ones"));
    tarn_stub_stop();
    cr_expect(eq(int, ask(200, k_body, "history t --json"), 0));
    cr_expect(eq(str, (char *)tarn_stub_asked(0)->line, "GET /api/table/t/commits HTTP/1.1"));
    tarn_stub_stop();
    cr_expect(eq(int, tarn_run_cli("history t --limit x"), 64));
}

Test(commands, a_backup_that_is_cut_leaves_no_file)
{
    const char *folder = tarn_tmp();
    static struct tarn_stub_answer answer;
    char words[512];

    snprintf(words, sizeof words, "backup %s/copy", folder);
    cr_expect(eq(int, ask(200, "bytes", words), 0), "%s", tarn_cli_stderr());
    char *copy = tarn_read_file(tarn_path(folder, "copy"), NULL);
    cr_expect(eq(str, copy, "bytes"));
    free(copy);
    cr_expect(eq(int, tarn_run_cli(words), 1), "an existing file is not overwritten");
    tarn_stub_stop();

    snprintf(words, sizeof words, "backup %s/cut", folder);
    answer = (struct tarn_stub_answer){ .status = 200, .body = "bytes", .cut = 1 };
    setenv("TARN_URL", tarn_stub_start(&answer, 1), 1);
    cr_expect(eq(int, tarn_run_cli(words), 1));
    cr_expect(not(tarn_file_exists(tarn_path(folder, "cut"))));
    tarn_stub_stop();
    cr_expect(eq(int, ask(403, "{\"detail\":\"no\",\"code\":\"forbidden\"}", words), 1));
    cr_expect(not(tarn_file_exists(tarn_path(folder, "cut"))));
}

Test(commands, help_and_version_need_nothing)
{
    cr_expect(eq(int, tarn_run_cli("help"), 0));
    cr_expect(tarn_has(tarn_cli_stdout(), "token revoke NAME") &&
              tarn_has(tarn_cli_stdout(), "tarn serve --help"));
    cr_expect(eq(int, tarn_run_cli("help commit"), 0));
    cr_expect(tarn_has(tarn_cli_stdout(), "--expected-version N"));
    cr_expect(eq(int, tarn_run_cli("token --help"), 0));
    cr_expect(tarn_has(tarn_cli_stdout(), "--scope SCOPE") && tarn_has(tarn_cli_stdout(), "tarn token revoke NAME"));
    cr_expect(eq(int, tarn_run_cli("--help"), 0));
    cr_expect(eq(int, tarn_run_cli(""), 64));
    cr_expect(eq(int, tarn_run_cli("version"), 0));
    cr_expect(eq(int, strncmp(tarn_cli_stdout(), "tarn 0.", 7), 0));
    cr_expect(eq(int, tarn_run_cli("version --json"), 0));
    cr_expect(eq(int, strncmp(tarn_cli_stdout(), "{\"version\":\"0.", 14), 0));
    cr_expect(eq(int, tarn_run_cli("commit --help"), 0));
    cr_expect(tarn_has(tarn_cli_stdout(), "--expected-version N"));
    static const char *const k_judges[] = { "status --help", "check --help" };
    for (size_t i = 0; i < TARN_COUNT(k_judges); i++) {
        cr_expect(eq(int, tarn_run_cli(k_judges[i]), 0));
        cr_expect(tarn_has(tarn_cli_stdout(), "0 ok, 1 warning, 2 error, 3 unknown, 64 wrong usage"));
    }
    cr_expect(eq(int, tarn_run_cli("token"), 64));
    cr_expect(tarn_has(tarn_cli_stderr(), "token create, token list, token revoke"));
    cr_expect(eq(int, tarn_run_cli("nonsense"), 64));
}
