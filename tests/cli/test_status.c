/* test_status.c - `tarn status` against canned answers: what it shows, and how it exits. */
#include "base/own.h"
#include "tests/support/run_cli.h"
#include "tests/support/stub.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

static void begin(void)
{
    unsetenv("TARN_URL");
    unsetenv("TARN_TOKEN");
    setenv("TARN_DATA", "/nonexistent", 1);
}

TestSuite(status, .init = begin, .fini = tarn_stub_stop, .timeout = 60);

/* One answer, one command; the exit code. */
static int ask(int status, const char *body, const char *words)
{
    static struct tarn_stub_answer answer;

    answer = (struct tarn_stub_answer){ .status = status, .body = body };
    setenv("TARN_URL", tarn_stub_start(&answer, 1), 1);
    return tarn_run_cli(words);
}

Test(status, status_exits_as_monitoring_plugins_do)
{
    static const struct {
        const char *severity;
        int code;
    } k_rows[] = {
        { "ok", 0 }, { "info", 0 }, { "warning", 1 }, { "error", 2 }, { "unknown", 3 }, { "new word", 3 },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{\"table\":\"t\",\"status\":\"healthy\",\"severity\":\"%s\",\"findings\":[]}",
                 k_rows[i].severity);
        cr_expect(eq(int, ask(200, body, "status t"), k_rows[i].code), "%s", k_rows[i].severity);
        cr_expect(eq(str, (char *)tarn_stub_asked(0)->line, "GET /api/table/t/status HTTP/1.1"));
        tarn_stub_stop();
    }
    cr_expect(
        eq(int, ask(404, "{\"detail\":\"no such table\",\"code\":\"table_not_found\"}", "status t"), 3));
    tarn_stub_stop();
    cr_expect(eq(int, tarn_run_cli("status t --url http://127.0.0.1:1"), 3));
    cr_expect(eq(int, tarn_run_cli("status t u"), 64));
}

Test(status, the_status_of_all_exits_with_the_worst)
{
    static const struct {
        const char *severities[3];
        int code;
    } k_rows[] = {
        { { "ok", "ok", "ok" }, 0 },
        { { "ok", "warning", "ok" }, 1 },
        { { "warning", "unknown", "ok" }, 3 },
        { { "unknown", "error", "warning" }, 2 },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "[{\"table\":\"a\",\"severity\":\"%s\",\"total_size_bytes\":2100000000000},"
                 "{\"table\":\"b\",\"severity\":\"%s\"},{\"table\":\"c\",\"severity\":\"%s\"}]",
                 k_rows[i].severities[0], k_rows[i].severities[1], k_rows[i].severities[2]);
        cr_expect(eq(int, ask(200, body, "status"), k_rows[i].code), "row %zu", i);
        cr_expect(tarn_has(tarn_cli_stdout(), "2.1 TB"));
        tarn_stub_stop();
    }
    cr_expect(eq(int, ask(200, "[]", "status"), 0));
}

Test(status, a_status_says_what_people_and_windows_say_of_findings)
{
    static const struct { const char *members, *shown; } k_rows[] = {
        { "\"acknowledged\":{\"by\":\"anna\",\"comment\":\"at it\",\"until\":\"2024-02-02T00:00:00Z\"}",
          "acknowledged by anna until 2024-02-02T00:00:00Z: at it" },
        { "\"acknowledged\":{\"by\":\"anna\",\"comment\":null,\"until\":null}", "acknowledged by anna" },
        { "\"accepted\":{\"by\":\"bert\",\"reason\":\"lost in 2019\"}", "accepted: lost in 2019" },
        { "\"suppressed_by\":\"maintenance\"", "quiet: maintenance" },
        { "\"accepted\":{\"by\":\"b\",\"reason\":\"r\"},\"acknowledged\":{\"by\":\"a\"},\"suppressed_by\":\"silence:1\"",
          "accepted: r; acknowledged by a; quiet: silence:1" },
    };
    char body[1024];

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        snprintf(body, sizeof body,
                 "{\"table\":\"t\",\"status\":\"healthy\",\"severity\":\"warning\",\"findings\":[{\"severity\":\"warning\","
                 "\"since\":\"2024-02-01T00:00:00Z\",\"message\":\"m\",%s}]}", k_rows[i].members);
        cr_expect(eq(int, ask(200, body, "status t"), 1));
        cr_expect(tarn_has(tarn_cli_stdout(), k_rows[i].shown), "%s", tarn_cli_stdout());
    }
}

Test(status, a_status_is_shown_with_its_findings)
{
    cr_expect(eq(int,
                 ask(200,
                     "{\"table\":\"clicks\",\"format\":\"manifest\",\"mode\":\"managed\",\"version\":123,"
                     "\"latest_transaction\":\"txn-12345\","
                     "\"files\":456,\"total_size\":\"2.1 "
                     "TB\",\"schema_version\":3,\"partition_keys\":[\"date\",\"hour\"],"
                     "\"manifest_age\":\"1m23s\",\"last_updated\":\"2024-02-01T14:32:15Z\",\"checked_at\":"
                     "\"2024-02-01T14:35:00Z\",\"checked_version\":122,\"stale\":true,"
                     "\"status\":\"healthy\",\"severity\":\"warning\",\"findings\":[{\"severity\":"
                     "\"warning\",\"code\":\"manifest_age\","
                     "\"cure\":\"register\",\"message\":\"manifest_age > 1m\",\"since\":\"2024-02-01T14:34:45Z\"}]}",
                     "status clicks"),
                 1));
    static const char *const k_lines[] = {
        "clicks is healthy, severity warning\n",
        "version        123, transaction txn-12345\n",
        "files          456, 2.1 TB\n",
        "partitioned by date, hour\n",
        "manifest age   1m23s\n",
        " ago (2024-02-01T14:35:00Z), stale: three scans are overdue\n",
        "checked        at version 122, ",
        "SEVERITY  SINCE                 CODE          CURE      MESSAGE\n",
        "warning   2024-02-01T14:34:45Z  manifest_age  register  manifest_age > 1m\n",
        "docs/findings/CODE.md",
        "  tarn repair clicks register\n",
    };
    for (size_t i = 0; i < TARN_COUNT(k_lines); i++)
        cr_expect(tarn_has(tarn_cli_stdout(), k_lines[i]), "%s", tarn_cli_stdout());
}

Test(status, a_status_names_the_commands_that_cure_it_each_once)
{
    static const struct { const char *table, *findings, *shown, *not_shown; } k_rows[] = {
        { "a.b", "{\"code\":\"manifest_age\",\"cure\":\"register\"},{\"code\":\"unregistered_data_file\",\"cure\":\"register\"}",
          "--run does it):\n  tarn repair a.b register\n", "--path" },
        { "t", "{\"code\":\"size_mismatch\",\"cure\":\"register\"},{\"code\":\"manifest_age\",\"cure\":\"register\"}",
          "  tarn repair t register --path FILE\n  tarn repair t register\nFILE is one", NULL },
        { "t", "{\"code\":\"corrupt_data_file\",\"cure\":\"forget\"}", "  tarn repair t forget --path FILE\n", NULL },
        { "t", "{\"code\":\"storage_ahead\",\"cure\":\"recover\"}", "  tarn recover --table t\n", "repair" },
        { "it's", "{\"code\":\"pointer_missing\",\"cure\":\"republish\"}", "  tarn repair 'it'\\''s' republish\n", NULL },
        { "t", "{\"code\":\"transaction_gap\",\"cure\":null}", "transaction_gap  -     -\n", "tarn re" },
    };
    char body[1024];

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        snprintf(body, sizeof body, "{\"table\":\"%s\",\"severity\":\"error\",\"findings\":[%s]}", k_rows[i].table, k_rows[i].findings);
        cr_expect(eq(int, ask(200, body, "status t"), 2));
        cr_expect(tarn_has(tarn_cli_stdout(), k_rows[i].shown), "%s", tarn_cli_stdout());
        if (k_rows[i].not_shown)
            cr_expect(not(tarn_has(tarn_cli_stdout(), k_rows[i].not_shown)), "%s", tarn_cli_stdout());
        tarn_stub_stop();
    }
}

#define STATUS_AT(at) "{\"table\":\"t\",\"severity\":\"warning\",\"checked_at\":\"" at "\",\"findings\":[]}"

Test(status, a_status_with_a_check_is_judged_first_however_long_it_takes)
{
    static const struct tarn_stub_answer k_fast[] = {
        { .status = 200, .body = STATUS_AT("2024-02-01T14:00:00Z") },
        { .status = 200, .body = STATUS_AT("2024-02-01T15:00:00Z") },
        { .status = 200, .body = STATUS_AT("2024-02-01T15:00:00Z") },
    };
    static const struct tarn_stub_answer k_slow[] = {
        { .status = 200, .body = STATUS_AT("2024-02-01T14:00:00Z") },
        { .status = 202, .body = "{\"progress\":\"/api/table/t/status\"}" },
        { .status = 200, .body = STATUS_AT("2024-02-01T14:00:00Z") },
        { .status = 200, .body = STATUS_AT("2024-02-01T15:00:00Z") },
    };
    static const struct { const struct tarn_stub_answer *answers; size_t count, asked; } k_rows[] = {
        { k_fast, TARN_COUNT(k_fast), 3 }, { k_slow, TARN_COUNT(k_slow), 5 },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        setenv("TARN_URL", tarn_stub_start(k_rows[i].answers, k_rows[i].count), 1);
        cr_expect(eq(int, tarn_run_cli("status t --check"), 1), "%s", tarn_cli_stderr());
        cr_expect(eq(sz, tarn_stub_count(), k_rows[i].asked));
        cr_expect(eq(str, (char *)tarn_stub_asked(1)->line, "POST /api/table/t/check HTTP/1.1"));
        cr_expect(tarn_has(tarn_cli_stdout(), "(2024-02-01T15:00:00Z)"), "%s", tarn_cli_stdout());
        tarn_stub_stop();
    }
    cr_expect(eq(int, tarn_run_cli("status --check"), 64));
}
