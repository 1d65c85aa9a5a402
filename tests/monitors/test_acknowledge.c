/* What people say of findings: acknowledged ones count on, accepted ones count no more until they change. */
#include "tests/monitors/scanned.h"
#include "tests/support/support.h"

TestSuite(acknowledge, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);
TestSuite(acknowledge_doors, .init = tarn_lake_setup_tokens, .fini = tarn_lake_teardown, .timeout = 60);

static char s_target[256];

/* The path of what is said of the open finding of that code. */
static const char *target(const json_t *status, const char *code, const char *what)
{
    const json_t *finding = finding_of(status, code);

    cr_assert(finding != NULL, "%s", code);
    snprintf(s_target, sizeof s_target, "/api/table/t/findings/%s/%s", str_of(finding, "id"), what);
    return s_target;
}

Test(acknowledge, an_acknowledged_finding_counts_on_and_says_who_knows)
{
    observed("t");
    json_auto_t *before = scan_later("t", 0, true);
    cr_assert(eq(uint, tarn_ask("POST", target(before, "manifest_age", "ack"), "{\"by\":\"anna\",\"comment\":\"at it\"}"), 200),
              "%s", tarn_answer_text());
    const json_t *ack = json_object_get(tarn_answer(), "acknowledged");
    cr_expect(eq(str, str_of(ack, "by"), "anna"));
    cr_expect(eq(str, str_of(ack, "comment"), "at it"));
    cr_expect(eq(str, str_of(ack, "until"), "null"));
    cr_expect(eq(str, str_of(tarn_answer(), "state"), "open"));

    json_auto_t *after = scan_later("t", 1, false); /* it survives scans */
    cr_expect(eq(str, str_of(json_object_get(finding_of(after, "manifest_age"), "acknowledged"), "by"), "anna"));
    cr_expect(is_null(finding_of(after, "missing_transaction_log_entry"), "acknowledged"));
    cr_expect(eq(str, str_of(after, "severity"), "warning"));
    cr_expect(eq(sz, json_array_size(json_object_get(after, "warnings")), 2));

    cr_assert(eq(uint, tarn_ask("DELETE", target(before, "manifest_age", "ack"), NULL), 200), "%s", tarn_answer_text());
    json_auto_t *last = scan_later("t", 1, false);
    cr_expect(is_null(finding_of(last, "manifest_age"), "acknowledged"));
}

/* The clock of requests is the machine's: `until` is set by hand beside it. */
Test(acknowledge, it_ends_at_its_instant_and_the_kept_answer_knows)
{
    struct tarn_finding finding = { .code = TEXT("c"), .subject = TEXT("s"), .message = TEXT("m"), .severity = TARN_SEV_INFO,
                                    .opened_at = 1, .closed_at = -1 };
    struct tarn_findings list = { &finding, 1 };
    struct tarn_table table = { .monitors = TEXT("{}") };
    struct tarn_scan_row scan = { .checked_at = 1000 };

    cr_expect(eq(int, tarn_finding_is_acknowledged(&finding, 1000), 0));
    finding.ack.by = TEXT("anna");
    finding.ack.until = -1;
    cr_expect(tarn_finding_is_acknowledged(&finding, INT64_MAX));
    cr_expect(eq(i64, tarn_status_holds_until(&table, &scan, &list, &k_defaults, 1000), 1000 + 3 * 60000 + 1));
    finding.ack.until = 5000;
    cr_expect(tarn_finding_is_acknowledged(&finding, 4999));
    cr_expect(eq(int, tarn_finding_is_acknowledged(&finding, 5000), 0));
    cr_expect(eq(i64, tarn_status_holds_until(&table, &scan, &list, &k_defaults, 1000), 5000));
    cr_expect(eq(i64, tarn_status_holds_until(&table, &scan, &list, &k_defaults, 6000), 1000 + 3 * 60000 + 1));
    finding.closed_at = 2000;
    cr_expect(eq(int, tarn_finding_is_acknowledged(&finding, 3000), 0));
}

Test(acknowledge, it_ends_when_the_finding_closes)
{
    const char *folder = observed("t"), *path = tarn_path(folder, SEED_FILE);
    size_t len = 0;
    char *data = tarn_read_file(path, &len);

    json_auto_t *fine = scan_later("t", 0, true);
    tarn_remove_tree(path);
    json_auto_t *bad = scan_later("t", 1, true);
    cr_assert(eq(uint, tarn_ask("POST", target(bad, "missing_data_file", "ack"), "{}"), 200), "%s", tarn_answer_text());
    cr_expect(eq(str, str_of(json_object_get(tarn_answer(), "acknowledged"), "by"), "anybody"), "%s", tarn_answer_text());
    tarn_write_file(path, data, len);
    tarn_set_mtime(path, SEED_UPDATED - 60000);
    json_auto_t *good = scan_later("t", 1, true);
    cr_expect(finding_of(good, "missing_data_file") == NULL);
    cr_expect(eq(uint, tarn_ask("POST", target(bad, "missing_data_file", "ack"), "{}"), 400), "closed: %s", tarn_answer_text());
    tarn_remove_tree(path);
    json_auto_t *back = scan_later("t", 1, true);
    cr_expect(eq(str, str_of(finding_of(back, "missing_data_file"), "id"), str_of(finding_of(bad, "missing_data_file"), "id")));
    cr_expect(is_null(finding_of(back, "missing_data_file"), "acknowledged"));
    (void)fine;
    free(data);
}

static void expect_row(const char *severity, int warnings, const char *worst)
{
    cr_assert(eq(uint, tarn_ask("GET", "/api/status", NULL), 200));
    const json_t *row = json_array_get(tarn_answer(), 0);
    cr_expect(eq(str, str_of(row, "severity"), TEXT(severity)));
    cr_expect(eq(i64, json_integer_value(json_object_get(row, "warnings")), warnings));
    if (worst) /* else whatever is info */
        cr_expect(eq(str, str_of(row, "worst_code"), TEXT(worst)));
}

Test(acknowledge, an_accepted_finding_counts_no_more)
{
    clock_ms = tarn_now_ms(); /* /api/status goes by the machine's clock */
    observed("t");
    json_auto_t *before = scan_later("t", 0, true);
    expect_row("warning", 2, "manifest_age");
    cr_assert(eq(uint, tarn_ask("POST", target(before, "manifest_age", "accept"), "{\"reason\":\"a copy\"}"), 200), "%s",
              tarn_answer_text());
    cr_expect(eq(str, str_of(json_object_get(tarn_answer(), "accepted"), "reason"), "a copy"));
    expect_row("warning", 1, "missing_transaction_log_entry");
    cr_assert(eq(uint, tarn_ask("POST", target(before, "missing_transaction_log_entry", "accept"),
                                "{\"reason\":\"lost in 2019\",\"by\":\"bert\"}"), 200), "%s", tarn_answer_text());
    expect_row("ok", 0, NULL);
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/status", NULL), 200));
    cr_expect(eq(str, str_of(tarn_answer(), "severity"), "ok"));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "warnings")), 0));
    cr_expect(eq(str, str_of(json_object_get(finding_of(tarn_answer(), "missing_transaction_log_entry"), "accepted"), "by"), "bert"));

    json_auto_t *after = scan_later("t", 1, false);
    cr_expect(eq(str, str_of(after, "severity"), "ok"), "scans leave it accepted");
    cr_assert(eq(uint, tarn_ask("DELETE", target(before, "manifest_age", "accept"), NULL), 200));
    expect_row("warning", 1, "manifest_age");
}

Test(acknowledge, an_acceptance_ends_when_what_was_observed_changes)
{
    const char *folder = observed("t");
    int64_t after = 0;

    json_auto_t *before = scan_later("t", 0, true);
    cr_expect(eq(str, finding_events(&after, "manifest_age"), "opened"));
    cr_assert(eq(uint, tarn_ask("POST", target(before, "manifest_age", "accept"), "{\"reason\":\"r\"}"), 200));
    json_auto_t *same = scan_later("t", 1, false);
    cr_expect(eq(sz, json_array_size(json_object_get(same, "warnings")), 1));
    tarn_set_mtime(tarn_path(folder, "date=2024-02-01/hour=14/data-000124.parquet"), SEED_UPDATED + 90000);
    json_auto_t *other = scan_later("t", 1, false);
    cr_expect(is_null(finding_of(other, "manifest_age"), "accepted"));
    cr_expect(eq(sz, json_array_size(json_object_get(other, "warnings")), 2));
    cr_expect(eq(str, str_of(finding_of(other, "manifest_age"), "id"), str_of(finding_of(before, "manifest_age"), "id")));
    cr_expect(eq(str, finding_events(&after, "manifest_age"), "opened"), "it counts again, which is news once");
    json_auto_t *last = scan_later("t", 1, false);
    cr_expect(eq(str, finding_events(&after, "manifest_age"), ""));
    (void)last;
}

Test(acknowledge, what_cannot_be_judged_stays_unknown_though_accepted)
{
    const char *folder = observed("t");

    json_auto_t *fine = scan_later("t", 0, true);
    tarn_remove_tree(folder);
    json_auto_t *gone = scan_later("t", 1, true);
    cr_assert(eq(uint, tarn_ask("POST", target(gone, "storage_unreachable", "accept"), "{\"reason\":\"r\"}"), 200));
    json_auto_t *after = scan_later("t", 1, true);
    cr_expect(eq(str, str_of(after, "severity"), "unknown"));
    (void)fine;
}

Test(acknowledge, what_is_asked_wrongly_is_refused_by_name)
{
    static const struct { const char *what, *body; unsigned status; const char *code, *field; } k_rows[] = {
        { "ack", "{\"by\":\"\"}", 400, "invalid_request", "by" },
        { "ack", "{\"who\":\"a\"}", 400, "invalid_request", "who" },
        { "ack", "{\"until\":\"tomorrow\"}", 400, "invalid_request", "until" },
        { "ack", "{\"until\":\"2001-01-01T00:00:00Z\"}", 400, "invalid_request", "until" },
        { "accept", "{}", 400, "invalid_request", "reason" },
        { "accept", "{\"reason\":\"\"}", 400, "invalid_request", "reason" },
    };

    observed("t");
    json_auto_t *status = scan_later("t", 0, true);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        cr_expect(eq(uint, tarn_ask("POST", target(status, "manifest_age", k_rows[i].what), "%s", k_rows[i].body), k_rows[i].status));
        cr_expect(eq(str, TEXT(tarn_answer_str("code")), TEXT(k_rows[i].code)), "%s", tarn_answer_text());
        cr_expect(eq(str, TEXT(tarn_answer_str("field")), TEXT(k_rows[i].field)), "%s", tarn_answer_text());
    }
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/findings/nobody/ack", "{}"), 404));
    cr_expect(eq(str, TEXT(tarn_answer_str("code")), "not_found"));
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/nobody/findings/x/ack", "{}"), 404));
    cr_expect(eq(str, TEXT(tarn_answer_str("code")), "table_not_found"));
    observed("u"); /* a finding belongs to its table */
    snprintf(s_target, sizeof s_target, "/api/table/u/findings/%s/ack", str_of(finding_of(status, "manifest_age"), "id"));
    cr_expect(eq(uint, tarn_ask("POST", s_target, "{}"), 404), "%s", tarn_answer_text());
}

/* --- who may --- */

static void token(const char *name, const char *scope, const char *tables)
{
    tarn_ask_token(g_lake->admin);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens", "{\"name\":\"%s\",\"scope\":\"%s\"%s%s%s}", name, scope,
                                tables ? ",\"tables\":\"" : "", tables ? tables : "", tables ? "\"" : ""), 201),
              "%s", tarn_answer_text());
    tarn_ask_token(tarn_answer_str("token"));
}

Test(acknowledge_doors, it_takes_the_right_to_write)
{
    observed("t");
    json_auto_t *status = scan_later("t", 0, true);
    static const char *const k_what[] = { "ack", "accept" };

    token("reader", "catalog:read", NULL);
    for (size_t i = 0; i < 2; i++) {
        cr_expect(eq(uint, tarn_ask("POST", target(status, "manifest_age", k_what[i]), "{\"reason\":\"r\"}"), 403));
        cr_expect(eq(uint, tarn_ask("DELETE", target(status, "manifest_age", k_what[i]), NULL), 403));
    }
    token("other", "catalog:write", "sales.*");
    cr_expect(eq(uint, tarn_ask("POST", target(status, "manifest_age", "ack"), "{}"), 404));
    cr_expect(eq(str, TEXT(tarn_answer_str("code")), "table_not_found"));
    token("on-call", "catalog:write", "t");
    cr_expect(eq(uint, tarn_ask("POST", target(status, "manifest_age", "ack"), "{}"), 200), "%s", tarn_answer_text());
    cr_expect(eq(str, str_of(json_object_get(tarn_answer(), "acknowledged"), "by"), "on-call"));
}
