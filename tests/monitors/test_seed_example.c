/* The status document of the founding text, word for word: from `tarn check`, and from a server over a table that it
 * adopted and over one that it observes. */
#include "monitors/monitors.h"
#include "tests/monitors/table.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(seed, .timeout = 30);
TestSuite(seed_api, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

static const char *text_of(const json_t *status, const char *key)
{
    return json_string_value(json_object_get(status, key));
}

static void expect_seed(const json_t *status, const char *table)
{
    static const char *const k_warnings[] = { "manifest_age > 1m", "missing_transaction_log_entry: txn-12344" };
    const json_t *warnings = json_object_get(status, "warnings"), *keys = json_object_get(status, "partition_keys");

    cr_expect(eq(str, (char *)text_of(status, "table"), (char *)table));
    cr_expect(eq(i64, json_integer_value(json_object_get(status, "version")), 123));
    cr_expect(eq(str, (char *)text_of(status, "latest_transaction"), "txn-12345"));
    cr_expect(eq(str, (char *)text_of(status, "last_updated"), "2024-02-01T14:32:15Z"));
    cr_expect(eq(i64, json_integer_value(json_object_get(status, "files")), 2));
    cr_expect(eq(str, (char *)text_of(status, "manifest_age"), "1m23s"));
    cr_expect(eq(i64, json_integer_value(json_object_get(status, "manifest_age_seconds")), 83));
    cr_expect(eq(i64, json_integer_value(json_object_get(status, "schema_version")), 3));
    cr_assert(eq(sz, json_array_size(keys), 2));
    cr_expect(eq(str, (char *)json_string_value(json_array_get(keys, 0)), "date"));
    cr_expect(eq(str, (char *)json_string_value(json_array_get(keys, 1)), "hour"));
    cr_expect(eq(str, (char *)text_of(status, "status"), "healthy"));
    cr_expect(eq(str, (char *)text_of(status, "severity"), "warning"));
    cr_assert(eq(sz, json_array_size(warnings), 2), "%s", json_dumps(status, 0));
    for (size_t i = 0; i < 2; i++)
        cr_expect(eq(str, (char *)json_string_value(json_array_get(warnings, i)), (char *)k_warnings[i]));
}

Test(seed, the_check_of_the_folder_says_what_the_founding_text_says)
{
    const char *folder = tarn_path(tarn_tmp(), "clickstream_logs");
    const struct tarn_check_options options = { .location = folder, .format = -1, .now_ms = SEED_NOW };
    json_auto_t *status = NULL;
    enum tarn_severity severity = TARN_SEV_OK;
    TARN_ERR(err);

    write_seed_table(folder);
    cr_assert(eq(int, tarn_check_run(&options, &status, &severity, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(int, severity, TARN_SEV_WARNING));
    expect_seed(status, "clickstream_logs");
}

Test(seed, the_members_stand_in_the_contracts_order)
{
    static const char *const k_order[] = { "table", "format", "mode", "version", "latest_transaction", "last_updated", "files",
                                           "total_size", "total_size_bytes", "manifest_age", "manifest_age_seconds",
                                           "schema_version", "partition_keys", "status", "severity", "warnings", "findings",
                                           "details", "checked_version", "checked_at", "stale" };
    static const char *const k_finding[] = { "id", "code", "severity", "subject", "message",
                                             "observed", "expected", "unit", "since", "cure",
                                             "acknowledged", "accepted", "suppressed_by" };
    const char *folder = tarn_path(tarn_tmp(), "t"), *key;
    const struct tarn_check_options options = { .location = folder, .format = -1, .now_ms = SEED_NOW };
    json_auto_t *status = NULL;
    enum tarn_severity severity;
    json_t *value;
    size_t at = 0;
    TARN_ERR(err);

    write_seed_table(folder);
    cr_assert(eq(int, tarn_check_run(&options, &status, &severity, &err), TARN_OK));
    json_object_foreach(status, key, value)
        cr_expect(eq(str, (char *)key, (char *)k_order[at++]));
    cr_expect(eq(sz, at, sizeof k_order / sizeof k_order[0]));
    at = 0;
    json_object_foreach(json_array_get(json_object_get(status, "findings"), 0), key, value)
        cr_expect(eq(str, (char *)key, (char *)k_finding[at++]));
    cr_expect(eq(sz, at, sizeof k_finding / sizeof k_finding[0]));
}

static void register_and_check(const char *mode)
{
    const char *folder = tarn_path(g_lake->root, "clickstream_logs");

    write_seed_table(folder);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"clickstream_logs\",\"location\":\"%s\",\"mode\":\"%s\"}",
                                folder, mode), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/clickstream_logs/status", NULL), 200));
    cr_expect(eq(str, (char *)tarn_answer_str("status"), "unknown"), "before the first scan nothing is known");
    cr_expect(eq(int, json_is_null(json_object_get(tarn_answer(), "checked_at")), 1));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/clickstream_logs/check", NULL), 200), "%s", tarn_answer_text());
    expect_seed(tarn_answer(), "clickstream_logs");
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/clickstream_logs/status", NULL), 200));
    expect_seed(tarn_answer(), "clickstream_logs");
}

Test(seed_api, an_adopted_table_says_the_same) { register_and_check("managed"); }

Test(seed_api, an_observed_table_says_the_same) { register_and_check("observed"); }

Test(seed_api, the_strict_policy_calls_the_same_table_degraded)
{
    register_and_check("observed");
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/clickstream_logs", "{\"monitors\":{\"status_policy\":\"strict\"}}"), 200),
              "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/clickstream_logs/status", NULL), 200));
    cr_expect(eq(str, (char *)tarn_answer_str("status"), "degraded"));
    cr_expect(eq(str, (char *)tarn_answer_str("severity"), "warning"));
}
