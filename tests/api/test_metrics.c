/* GET /metrics: who may ask, which form, in which order, and what stands in it. */
#include "api/metrics/packed.h"
#include "config/config.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(metrics, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 30);
TestSuite(metrics_doors, .init = tarn_lake_setup_tokens, .fini = tarn_lake_teardown, .timeout = 30);

static void make_table(const char *name, const char *more)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"%s\"%s}", name, more), 201), "%s", tarn_answer_text());
}

/* The line that begins with `head`, without it, "" when there is none; until the next call. */
static const char *value_of(const char *head)
{
    static char line[512];
    size_t len = strlen(head);

    for (const char *at = tarn_answer_text(); *at; at += strcspn(at, "\n") + 1) {
        if (strncmp(at, head, len) != 0)
            continue;
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at + len, "\n"), at + len);
        return line;
    }
    return "";
}

static void expect_value(const char *head, const char *value)
{
    cr_expect(eq(str, (char *)(uintptr_t)value_of(head), (char *)(uintptr_t)value), "%s", head);
}

Test(metrics, a_table_is_told_in_numbers_after_its_scan)
{
    make_table("orders", ",\"owner\":\"team \\\"a\\\"\\n\\\\\"");
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/orders/commits",
                                "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a.parquet\",\"size\":7}]}"), 201));
    cr_assert(eq(uint, tarn_ask("GET", "/metrics", NULL), 200));
    expect_value("tarn_table_info{table=\"orders\",", "format=\"manifest\",mode=\"managed\",location_scheme=\"file\",owner=\"team \\\"a\\\"\\n\\\\\"} 1");
    expect_value("tarn_table_version{table=\"orders\"} ", "1");
    expect_value("tarn_table_files{table=\"orders\"} ", "1");
    expect_value("tarn_table_size_bytes{table=\"orders\"} ", "7");
    expect_value("tarn_table_status{table=\"orders\",tarn_table_status=\"unknown\"} ", "1");
    expect_value("tarn_table_status{table=\"orders\",tarn_table_status=\"healthy\"} ", "0");
    expect_value("tarn_table_findings{table=\"orders\",severity=\"error\"} ", "0");
    expect_value("tarn_table_missing_files{", "");
    expect_value("tarn_table_scan_last_success_timestamp_seconds{", "");
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/orders/check?depth=sweep", NULL), 200));
    cr_assert(eq(uint, tarn_ask("GET", "/metrics", NULL), 200));
    expect_value("tarn_table_missing_files{table=\"orders\"} ", "1");
    expect_value("tarn_table_findings{table=\"orders\",severity=\"error\"} ", "1");
    expect_value("tarn_table_finding_active{table=\"orders\",code=\"missing_data_file\",severity=\"error\"} ", "1");
    expect_value("tarn_table_status{table=\"orders\",tarn_table_status=\"unhealthy\"} ", "1");
    cr_expect(strlen(value_of("tarn_table_scan_last_success_timestamp_seconds{table=\"orders\"} ")) >= 10);
}

Test(metrics, each_family_stands_in_one_piece_in_the_order_of_the_tables)
{
    static const char *const k_names[] = { "b", "a.x", "z", "a.b", "A" };
    struct tarn_buf order = { 0 };

    for (size_t i = 0; i < TARN_COUNT(k_names); i++)
        make_table(k_names[i], "");
    cr_assert(eq(uint, tarn_ask("GET", "/metrics", NULL), 200));
    for (const char *at = strstr(tarn_answer_text(), "tarn_table_version{table=\""); at && at[0] == 't';
         at += strcspn(at, "\n") + 1) {
        const char *name = strchr(at, '"') + 1;
        tarn_buf_addf(&order, "%.*s ", (int)strcspn(name, "\""), name);
    }
    cr_expect(eq(str, order.data, (char *)(uintptr_t) "a.b a.x A b z "));
    for (const char *at = tarn_answer_text(), *next; (next = strstr(at, "# TYPE ")); at = next + 7) {
        char head[128];
        snprintf(head, sizeof head, "# TYPE %.*s ", (int)strcspn(next + 7, " "), next + 7);
        cr_expect(eq(ptr, strstr(next + 7, head), NULL), "%s twice", head);
    }
    tarn_buf_done(&order);
}

Test(metrics, the_form_is_the_one_that_the_client_likes_best)
{
    static const char k_plain[] = "text/plain; version=0.0.4; charset=utf-8";
    static const char k_open[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    static const struct { const char *accept, *type; } k_rows[] = {
        { NULL, k_plain },
        { "*/*", k_plain },
        { "text/html", k_plain },
        { "application/openmetrics-text", k_open },
        { "Application/OpenMetrics-Text; version=1.0.0; charset=utf-8", k_open },
        { "application/openmetrics-text; version=\"1.0.0\"", k_open },
        { "application/openmetrics-text;version=0.0.1", k_plain },
        { "application/openmetrics-text;version=2.0.0", k_plain },
        { "application/openmetrics-text;version=2.0.0;q=0.9,application/openmetrics-text;version=1.0.0;q=0.8", k_open },
        { "application/openmetrics-text;q=0", k_plain },
        { "application/openmetrics-text;q=0.4, text/plain;version=0.0.4;q=0.5", k_plain },
        { "text/plain;q=0.5,application/openmetrics-text;q=0.5", k_open },
        { "application/openmetrics-textual", k_plain },
        /* Prometheus 2.42 and 2.53 */
        { "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;"
          "version=0.0.4;q=0.5,*/*;q=0.1", k_open },
        { "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1"
          ";q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1", k_open },
    };

    make_table("orders", "");
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        if (k_rows[i].accept)
            tarn_ask_header("Accept", k_rows[i].accept);
        cr_assert(eq(uint, tarn_ask("GET", "/metrics", NULL), 200));
        size_t len = strlen(tarn_answer_text());
        bool ends = len > 6 && strcmp(tarn_answer_text() + len - 6, "# EOF\n") == 0;
        bool is_open = k_rows[i].type == k_open;
        cr_expect(eq(int, ends, is_open), "%s", k_rows[i].accept);
        cr_expect(eq(int, strstr(tarn_answer_text(), "# TYPE tarn_table_scan_failures counter\n") != NULL, is_open), "%s", k_rows[i].accept);
        cr_expect(eq(int, strstr(tarn_answer_text(), "# TYPE tarn_table_scan_failures_total counter\n") != NULL, !is_open));
        cr_expect(eq(int, strstr(tarn_answer_text(), "# UNIT tarn_table_size_bytes bytes\n") != NULL, is_open));
        cr_expect(eq(int, strstr(tarn_answer_text(), "# TYPE tarn_table_status stateset\n") != NULL, is_open));
    }
}

Test(metrics_doors, a_narrowed_token_sees_its_tables_alone)
{
    char token[80];

    make_table("sales.orders", "");
    make_table("hr.people", "");
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens", "{\"name\":\"n\",\"scope\":\"status:read\",\"tables\":\"sales.*\"}"), 201));
    snprintf(token, sizeof token, "%s", tarn_answer_str("token"));
    tarn_ask_token(token);
    cr_assert(eq(uint, tarn_ask("GET", "/metrics", NULL), 200));
    cr_expect(strstr(tarn_answer_text(), "sales.orders") != NULL);
    cr_expect(eq(ptr, strstr(tarn_answer_text(), "people"), NULL));
}

Test(metrics_doors, without_a_token_only_when_they_are_public)
{
    struct tarn_config config = { .metrics_public = false };

    g_lake->app.config = &config;
    make_table("orders", "");
    tarn_ask_token("nobody's");
    cr_expect(eq(uint, tarn_ask("GET", "/metrics", NULL), 401));
    config.metrics_public = true;
    cr_expect(eq(uint, tarn_ask("GET", "/metrics", NULL), 200));
    cr_expect(strstr(tarn_answer_text(), "table=\"orders\"") != NULL);
    cr_expect(eq(uint, tarn_ask("GET", "/api/status", NULL), 401));
}

Test(metrics_packed, what_was_put_comes_back_in_order)
{
    static const int64_t k_values[] = { 0, 1, -1, 63, 64, -64, -65, 8191, 8192, 1706797935123, -1706797935123, INT64_MAX,
                                        INT64_MIN + 1, INT64_MIN };
    struct tarn_packed list = { 0 };

    for (size_t i = 0; i < TARN_COUNT(k_values); i++) {
        tarn_packed_put(&list, k_values[i]);
        tarn_packed_put_text(&list, "abcdef", i % 7);
    }
    for (int round = 0; round < 2; round++, list.at = 0)
        for (size_t i = 0; i < TARN_COUNT(k_values); i++) {
            size_t len;
            cr_expect(eq(i64, tarn_packed_get(&list), k_values[i]));
            const char *text = tarn_packed_get_text(&list, &len);
            cr_expect(len == i % 7 && memcmp(text, "abcdef", len) == 0);
        }
    tarn_packed_done(&list);
}
