/* Scans as a use case, with a clock of the test's own, and the runner over them. */
#include "lake/publish.h"
#include "monitors/judge.h"
#include "tests/monitors/table.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <time.h>

TestSuite(scan, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

static int64_t clock_ms = SEED_NOW;
static int64_t test_clock(void) { return clock_ms; }
static const struct tarn_monitor_defaults k_defaults = { .interval_ms = 60000, .sweep_interval_ms = 600000 };

/* A table of the store that is scanned by the test alone. */
static const char *observed(const char *name)
{
    const char *folder = tarn_path(g_lake->root, name);

    write_seed_table(folder);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"%s\",\"location\":\"%s\",\"mode\":\"observed\"}", name, folder), 201),
              "%s", tarn_answer_text());
    return folder;
}

/* One scan a minute later; the status document at that moment, owned. */
static json_t *scan_later(const char *name, int minutes, bool confirm)
{
    struct tarn_scan_use use = { .confirm = confirm, .defaults = &k_defaults, .now = test_clock };
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    TARN_ERR(err);

    clock_ms += minutes * 60000;
    cr_assert(eq(int, tarn_ident_parse(name, "name", &use.ident, &err), TARN_OK));
    cr_assert(eq(int, tarn_use_run(&g_lake->lake, &tarn_scan, &use, &err), TARN_OK), "%s", err.detail);
    tarn_status_write(&out, use.table, &use.scan, &use.findings, &k_defaults, clock_ms);
    tarn_scan.done(&use);
    return json_loads(out.data, 0, NULL);
}

static const json_t *finding_of(const json_t *status, const char *code)
{
    size_t index;
    const json_t *finding, *findings = json_object_get(status, "findings");

    for (index = 0; index < json_array_size(findings); index++) {
        finding = json_array_get(findings, index);
        if (strcmp(json_string_value(json_object_get(finding, "code")), code) == 0)
            return finding;
    }
    return NULL;
}

static bool is_open(const json_t *status, const char *code) { return finding_of(status, code) != NULL; }

static void set_text(const json_t *status, const char *code, const char *key, char out[64])
{
    const json_t *finding = finding_of(status, code);
    snprintf(out, 64, "%s", finding ? json_string_value(json_object_get(finding, key)) : "none");
}

static void expect_open(const char *name, int minutes, const char *code, bool expected)
{
    json_auto_t *status = scan_later(name, minutes, false);
    cr_expect(eq(int, is_open(status, code), expected), "%s", json_dumps(status, 0));
}

Test(scan, a_file_that_goes_is_told_after_two_looks_and_forgotten_after_two)
{
    const char *folder = observed("t"), *path = tarn_path(folder, "date=2024-02-01/hour=14/data-000123.parquet");
    char first[64], again[64];

    expect_open("t", 0, "missing_data_file", false);
    char *data;
    size_t len;
    data = tarn_read_file(path, &len);
    tarn_remove_tree(path);
    expect_open("t", 1, "missing_data_file", false);
    json_auto_t *bad = scan_later("t", 1, false);
    cr_expect(is_open(bad, "missing_data_file"));
    cr_expect(eq(str, (char *)(uintptr_t)json_string_value(json_object_get(bad, "status")), "unhealthy"));
    set_text(bad, "missing_data_file", "id", first);
    set_text(bad, "missing_data_file", "since", again);
    cr_expect(eq(str, again, "2024-02-01T14:36:00Z"), "the first bad look");

    tarn_write_file(path, data, len);
    tarn_set_mtime(path, SEED_UPDATED - 60000);
    expect_open("t", 1, "missing_data_file", true);
    expect_open("t", 1, "missing_data_file", false);

    /* Back within ten minutes: the same one. */
    tarn_remove_tree(path);
    expect_open("t", 1, "missing_data_file", false);
    json_auto_t *back = scan_later("t", 1, false);
    set_text(back, "missing_data_file", "id", again);
    cr_expect(eq(str, again, first));
    free(data);
}

Test(scan, one_that_comes_back_later_is_another)
{
    const char *folder = observed("t"), *path = tarn_path(folder, "date=2024-02-01/hour=14/data-000123.parquet");
    char first[64], again[64];
    size_t len;
    char *data = tarn_read_file(path, &len);

    json_auto_t *fine = scan_later("t", 0, true);
    tarn_remove_tree(path);
    json_auto_t *bad = scan_later("t", 1, true);
    set_text(bad, "missing_data_file", "id", first);
    tarn_write_file(path, data, len);
    tarn_set_mtime(path, SEED_UPDATED - 60000);
    json_auto_t *good = scan_later("t", 1, true);
    cr_expect(eq(int, is_open(good, "missing_data_file"), 0));
    tarn_remove_tree(path);
    json_auto_t *back = scan_later("t", 11, true);
    set_text(back, "missing_data_file", "id", again);
    cr_expect(ne(str, again, first));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/findings?state=closed", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "findings")), 1));
    (void)fine;
    free(data);
}

/* --- two scans at once --- */

static struct { const char *path; char *data; size_t len; bool sweep; int minutes; } later;

static bool tells_of_it(const struct tarn_scan_use *use)
{
    for (size_t i = 0; i < use->findings.count; i++)
        if (strcmp(use->findings.items[i].code, "missing_data_file") == 0)
            return true;
    return false;
}

/* Sees that the file is gone; before it tells, the file is back and another scan tells that. */
static tarn_code slow_check(struct tarn_lake *lake, void *use, struct tarn_err *err)
{
    struct tarn_scan_use other = { .sweep = later.sweep, .confirm = true, .defaults = &k_defaults, .now = test_clock };
    tarn_code code = tarn_scan.check(lake, use, err);

    tarn_write_file(later.path, later.data, later.len);
    tarn_set_mtime(later.path, SEED_UPDATED - 60000);
    clock_ms += later.minutes * 60000;
    cr_assert(eq(int, tarn_ident_parse("t", "name", &other.ident, NULL), TARN_OK));
    cr_assert(eq(int, tarn_use_run(lake, &tarn_scan, &other, err), TARN_OK));
    cr_expect(not(tells_of_it(&other)));
    tarn_scan.done(&other);
    return code;
}

Test(scan, what_a_slow_scan_saw_is_not_told_over_what_a_later_one_saw)
{
    static const struct { bool sweep; int minutes; bool told; } k_rows[] = {
        { true, 1, false },
        { false, 1, true }, /* the later one did not look at all of it */
        { true, -1, true }, /* it began earlier: a clock that was set back ends no scans */
    };
    const char *folder = observed("t");
    struct tarn_use slow = tarn_scan;

    slow.check = slow_check;
    later.path = tarn_path(folder, "date=2024-02-01/hour=14/data-000123.parquet");
    later.data = tarn_read_file(later.path, &later.len);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_scan_use use = { .sweep = true, .confirm = true, .defaults = &k_defaults, .now = test_clock };
        json_auto_t *fine = scan_later("t", 20, true);
        cr_expect(not(is_open(fine, "missing_data_file")));
        tarn_remove_tree(later.path);
        later.sweep = k_rows[i].sweep;
        later.minutes = k_rows[i].minutes;
        clock_ms += 60000;
        cr_assert(eq(int, tarn_ident_parse("t", "name", &use.ident, NULL), TARN_OK));
        cr_assert(eq(int, tarn_use_run(&g_lake->lake, &slow, &use, NULL), TARN_OK));
        cr_expect(eq(int, tells_of_it(&use), k_rows[i].told), "row %zu", i);
        tarn_scan.done(&use);
    }
    free(later.data);
}

Test(scan, a_lost_folder_is_one_finding_and_closes_nothing)
{
    const char *folder = observed("t");
    char moved[600];

    json_auto_t *first = scan_later("t", 0, true);
    cr_expect(is_open(first, "manifest_age"));
    snprintf(moved, sizeof moved, "%s.away", folder);
    cr_assert(eq(int, rename(folder, moved), 0));
    json_auto_t *once = scan_later("t", 1, false);
    cr_expect(eq(int, is_open(once, "storage_unreachable"), 0));
    json_auto_t *twice = scan_later("t", 1, false);
    cr_expect(is_open(twice, "storage_unreachable"));
    cr_expect(is_open(twice, "manifest_age"), "what was open stays listed");
    cr_expect(eq(int, is_open(twice, "missing_data_file"), 0));
    cr_expect(eq(str, (char *)(uintptr_t)json_string_value(json_object_get(twice, "severity")), "unknown"));
    cr_expect(eq(str, (char *)(uintptr_t)json_string_value(json_object_get(twice, "checked_at")), "2024-02-01T14:35:00Z"));
    json_auto_t *later = scan_later("t", 2, false);
    cr_expect(eq(int, json_is_true(json_object_get(later, "stale")), 1), "three intervals without a successful scan");
    cr_assert(eq(int, rename(moved, folder), 0));
    expect_open("t", 1, "storage_unreachable", true);
    json_auto_t *back = scan_later("t", 1, false);
    cr_expect(eq(int, is_open(back, "storage_unreachable"), 0));
    cr_expect(eq(str, (char *)(uintptr_t)json_string_value(json_object_get(back, "severity")), "warning"));
}

Test(scan, an_observed_version_that_goes_back_is_an_error)
{
    const char *folder = observed("t");
    json_auto_t *first = scan_later("t", 0, true);

    tarn_write_text(tarn_path(folder, "manifest.json"), "{\"version\":122,\"last_updated\":\"2024-02-01T14:32:15Z\",\"files\":[]}");
    json_auto_t *second = scan_later("t", 1, true);
    cr_expect(is_open(second, "version_regression"));
    (void)first;
}

Test(scan, commits_on_their_way_to_storage_are_no_fault)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"m\"}"), 201), "%s", tarn_answer_text());
    for (int i = 0; i < 3; i++)
        cr_assert(eq(uint, tarn_ask("POST", "/api/table/m/commits",
                                    "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a/%d.parquet\",\"size\":3}]}", i), 201),
                  "%s", tarn_answer_text());
    clock_ms = tarn_now_ms();
    json_auto_t *status = scan_later("m", 0, true);
    cr_expect(eq(int, is_open(status, "missing_transaction_log_entry"), 0), "%s", json_dumps(status, 0));
    cr_expect(eq(int, is_open(status, "manifest_missing"), 0));
    cr_expect(eq(int, is_open(status, "foreign_write"), 0));
    cr_expect(is_open(status, "missing_data_file"), "but their files must be there");
    cr_expect(eq(i64, json_integer_value(json_object_get(status, "version")), 3));
}

/* A lake that was copied back from a backup, or a `touch`: other files, the same bytes. */
Test(scan, a_manifest_is_foreign_by_its_bytes_alone)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"m\",\"location\":\"%s/m\"}", g_lake->root), 201));
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, NULL), TARN_OK)); /* the first table of this database */
    const char *path = tarn_path(g_lake->root, "m/manifest.json");
    size_t len = 0;
    char *text = tarn_read_file(path, &len);
    cr_assert(ne(ptr, text, NULL));
    clock_ms = tarn_now_ms();
    tarn_remove_tree(path);
    tarn_write_file(path, text, len);
    json_auto_t *same = scan_later("m", 1, true);
    cr_expect(eq(int, is_open(same, "foreign_write"), 0), "%s", json_dumps(same, 0));
    tarn_write_text(path, "{\"version\":0,\"files\":[]}");
    json_auto_t *other = scan_later("m", 1, true);
    cr_expect(is_open(other, "foreign_write"), "%s", json_dumps(other, 0));
    free(text);
}

static bool is_scanned(const char *target)
{
    cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200));
    return !json_is_null(json_object_get(tarn_answer(), "checked_at"));
}

Test(scan, the_runner_scans_what_is_due)
{
    struct tarn_runner *runner = NULL;
    const struct timespec k_pause = { .tv_nsec = 5000000 };
    TARN_ERR(err);

    observed("a");
    observed("b");
    cr_assert(eq(int, tarn_runner_start(&g_lake->lake, &k_defaults, 2, &runner, &err), TARN_OK));
    for (int i = 0; i < 2000 && !(is_scanned("/api/table/a/status") && is_scanned("/api/table/b/status")); i++)
        nanosleep(&k_pause, NULL);
    cr_expect(is_scanned("/api/table/a/status"));
    cr_expect(is_scanned("/api/table/b/status"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/b/status", NULL), 200));
    cr_expect(eq(str, (char *)(uintptr_t)tarn_answer_str("severity"), "warning"), "the first scan looks twice");

    observed("c");
    tarn_runner_nudge(runner);
    for (int i = 0; i < 2000 && !is_scanned("/api/table/c/status"); i++)
        nanosleep(&k_pause, NULL);
    cr_expect(is_scanned("/api/table/c/status"));
    tarn_runner_stop(runner);
}

Test(scan, the_overview_has_one_flat_row_a_table)
{
    static const char *const k_members[] = { "table", "namespace", "format", "mode", "owner", "status", "status_code", "severity",
                                             "since", "version", "published_version", "files", "total_size_bytes",
                                             "manifest_age_seconds", "freshness_age_seconds", "last_data_commit", "errors",
                                             "warnings", "worst_code", "worst_message", "checked_at", "stale" };
    observed("a");
    observed("b");
    json_auto_t *status = scan_later("a", 0, true);
    cr_assert(eq(uint, tarn_ask("GET", "/api/status", NULL), 200));
    cr_assert(eq(sz, json_array_size(tarn_answer()), 2), "%s", tarn_answer_text());
    const char *key;
    json_t *value;
    size_t at = 0;
    json_object_foreach(json_array_get(tarn_answer(), 0), key, value) {
        cr_expect(eq(str, (char *)(uintptr_t)key, (char *)(uintptr_t)k_members[at++]));
        cr_expect(eq(int, json_is_object(value) || json_is_array(value), 0));
    }
    cr_expect(eq(sz, at, TARN_COUNT(k_members)));
    cr_assert(eq(uint, tarn_ask("GET", "/api/status?severity=unknown,error", NULL), 200));
    cr_expect(ge(sz, json_array_size(tarn_answer()), 1));
    cr_assert(eq(uint, tarn_ask("GET", "/api/status?page_size=1", NULL), 200));
    cr_expect(eq(sz, json_array_size(tarn_answer()), 1));
    char next[512];
    const char *link = tarn_answer_header("Link");
    cr_assert(link && tarn_has(link, "rel=\"next\""), "%s", link ? link : "no Link header");
    snprintf(next, sizeof next, "%.*s", (int)strcspn(link + 1, ">"), link + 1);
    cr_assert(eq(uint, tarn_ask("GET", next, NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)(uintptr_t)json_string_value(json_object_get(json_array_get(tarn_answer(), 0), "table")), "b"));
    cr_expect(tarn_answer_header("Link") == NULL);
    (void)status;
}
