/* Sequences of scans: storage that fails, writers that are caught in the middle, a root that is lost. The numbers are those
 * of the catalog of cases that these rules were taken from. */
#include "tests/monitors/scanned.h"
#include "tests/support/support.h"
#include <sys/stat.h>
#include <unistd.h>

TestSuite(sequences, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);
TestSuite(sequences_doors, .init = tarn_lake_setup_tokens, .fini = tarn_lake_teardown, .timeout = 60);

#define OTHER_FILE "date=2024-02-01/hour=14/data-000124.parquet"

/* --- S09, S10: one incident, however long it lasts --- */

Test(sequences, s09_five_bad_looks_two_good_ones_and_bad_again_are_one_incident)
{
    const char *folder = observed("t"), *path = tarn_path(folder, SEED_FILE);
    char id[64];
    int64_t after = 0;
    size_t len = 0;
    char *data = tarn_read_file(path, &len);

    json_auto_t *fine = scan_later("t", 0, true);
    tarn_remove_tree(path);
    for (int i = 0; i < 5; i++) {
        json_auto_t *bad = scan_later("t", 1, false);
        const json_t *finding = finding_of(bad, "missing_data_file");
        cr_expect(eq(int, finding != NULL, i > 0));
        if (finding)
            snprintf(id, sizeof id, "%s", str_of(finding, "id"));
    }
    cr_expect(eq(str, finding_events(&after, "missing_data_file"), "opened"));
    tarn_write_file(path, data, len);
    tarn_set_mtime(path, SEED_UPDATED - 60000);
    for (int i = 0; i < 2; i++) {
        json_auto_t *good = scan_later("t", 1, false);
        cr_expect(eq(int, finding_of(good, "missing_data_file") != NULL, i == 0));
    }
    cr_expect(eq(str, finding_events(&after, "missing_data_file"), "closed"));
    tarn_remove_tree(path);
    json_auto_t *once = scan_later("t", 9, false), *twice = scan_later("t", 5, false);
    cr_expect(finding_of(once, "missing_data_file") == NULL);
    cr_expect(eq(str, str_of(finding_of(twice, "missing_data_file"), "id"), id), "it looked wrong again within ten minutes");
    cr_expect(eq(str, str_of(finding_of(twice, "missing_data_file"), "since"), "2024-02-01T14:36:00Z"));
    cr_expect(eq(str, finding_events(&after, "missing_data_file"), "opened"));
    (void)fine;
    free(data);
}

Test(sequences, s10_an_observed_value_that_grows_is_told_once)
{
    char file[700];
    int64_t after = 0, last = 0;

    snprintf(file, sizeof file, "%s/" OTHER_FILE, observed("t"));
    for (int i = 0; i < 5; i++) {
        tarn_set_mtime(file, SEED_UPDATED + 83000 + i * 1000);
        json_auto_t *status = scan_later("t", i > 0, i == 0);
        const json_t *finding = finding_of(status, "manifest_age");
        cr_assert(finding != NULL);
        cr_expect(gt(i64, json_integer_value(json_object_get(finding, "observed")), last));
        last = json_integer_value(json_object_get(finding, "observed"));
    }
    cr_expect(eq(str, finding_events(&after, "manifest_age"), "opened"));
}

/* --- S11: scans that fail --- */

/* The manifest may not be read; who may do everything is somebody else meanwhile. */
static void deny(const char *folder, bool denied)
{
    static const char *const k_open[] = { "", "root", "root/t" };
    const char *manifest = tarn_path(folder, "manifest.json");

    if (geteuid() == 0)
        for (size_t i = 0; i < TARN_COUNT(k_open); i++)
            cr_assert(eq(int, chmod(tarn_path(g_lake->folder, k_open[i]), 0755), 0));
    if (!denied && getuid() == 0)
        cr_assert(eq(int, seteuid(0), 0));
    cr_assert(eq(int, chmod(manifest, denied ? 0 : 0644), 0));
    if (denied && getuid() == 0)
        cr_assert(eq(int, seteuid(65534), 0));
}

Test(sequences, s11_a_scan_that_fails_closes_nothing_and_says_so)
{
    const char *folder = observed("t");

    json_auto_t *fine = scan_later("t", 0, true);
    size_t open = json_array_size(json_object_get(fine, "findings"));
    cr_assert(finding_of(fine, "manifest_age") != NULL);
    deny(folder, true);
    json_auto_t *once = scan_later("t", 1, false);
    cr_expect(finding_of(once, "scan_failed") == NULL);
    json_auto_t *twice = scan_later("t", 1, false), *thrice = scan_later("t", 2, false);
    cr_expect(finding_of(twice, "scan_failed") != NULL);
    cr_expect(eq(str, str_of(twice, "severity"), "warning"), "what was said before stands");
    cr_expect(eq(str, str_of(thrice, "checked_at"), "2024-02-01T14:35:00Z"));
    cr_expect(eq(int, json_is_true(json_object_get(thrice, "stale")), 1), "three intervals without a scan");
    cr_expect(eq(sz, json_array_size(json_object_get(thrice, "findings")), open + 1), "nothing closed");
    json_auto_t *late = scan_later("t", 12, false);
    cr_expect(eq(str, str_of(late, "severity"), "unknown"), "after fifteen minutes nobody knows");
    deny(folder, false);
    json_auto_t *back = scan_later("t", 1, false), *well = scan_later("t", 1, false);
    cr_expect(finding_of(back, "scan_failed") != NULL);
    cr_expect(finding_of(well, "scan_failed") == NULL);
    cr_expect(eq(str, str_of(well, "severity"), "warning"));
    (void)once;
}

/* --- S19: a manifest that is written in place --- */

Test(sequences, s19_a_manifest_that_was_truncated_once_is_no_finding_and_hides_nothing)
{
    const char *folder = observed("t"), *path = tarn_path(folder, "manifest.json");
    int64_t after = 0;
    size_t len = 0;
    char *data = tarn_read_file(path, &len);

    json_auto_t *fine = scan_later("t", 0, true);
    tarn_write_file(path, data, len / 2);
    tarn_set_mtime(path, SEED_UPDATED);
    json_auto_t *cut = scan_later("t", 1, false);
    cr_expect(finding_of(cut, "manifest_unreadable") == NULL);
    cr_expect(eq(i64, json_integer_value(json_object_get(cut, "version")), 123), "what the scan before saw stands");
    cr_expect(eq(i64, json_integer_value(json_object_get(cut, "files")), 2));
    cr_expect(eq(str, str_of(cut, "checked_at"), "2024-02-01T14:36:00Z"));
    tarn_write_file(path, data, len);
    tarn_set_mtime(path, SEED_UPDATED);
    json_auto_t *whole = scan_later("t", 1, false), *later = scan_later("t", 1, false);
    cr_expect(finding_of(later, "manifest_unreadable") == NULL);
    cr_expect(eq(str, finding_events(&after, "manifest_unreadable"), ""));
    cr_expect(finding_of(whole, "manifest_age") != NULL, "and what was open stays");

    tarn_write_file(path, data, len / 2);
    tarn_set_mtime(path, SEED_UPDATED);
    json_auto_t *once = scan_later("t", 1, false), *twice = scan_later("t", 1, false);
    cr_expect(finding_of(twice, "manifest_unreadable") != NULL, "one that stays so is");
    cr_expect(is_null(twice, "files"));
    (void)fine, (void)once;
    free(data);
}

/* --- documents that go and come back --- */

/* The state of the finding over so many scans a minute apart: "open open gone". */
static char *seen_over(const char *code, int scans)
{
    static char out[128];

    out[0] = '\0';
    for (int i = 0; i < scans; i++) {
        json_auto_t *status = scan_later("t", 1, false);
        size_t len = strlen(out);
        snprintf(out + len, sizeof out - len, "%s%s", len ? " " : "", finding_of(status, code) ? "open" : "gone");
    }
    return out;
}

/* Without the manifest nobody knows which files are the table's: what was told of them stands. */
Test(sequences, a_manifest_that_is_gone_closes_nothing_that_was_told_of_its_files)
{
    const char *folder = observed("t"), *path = tarn_path(folder, "manifest.json");
    int64_t after = 0;
    size_t len = 0;
    char *data = tarn_read_file(path, &len);

    tarn_remove_tree(tarn_path(folder, SEED_FILE));
    json_auto_t *sick = scan_later("t", 0, true);
    cr_assert(finding_of(sick, "missing_data_file") != NULL);
    tarn_remove_tree(path);
    cr_expect(eq(str, seen_over("missing_data_file", 4), "open open open open"));
    tarn_write_file(path, data, len);
    tarn_set_mtime(path, SEED_UPDATED);
    cr_expect(eq(str, seen_over("missing_data_file", 2), "open open"));
    cr_expect(eq(str, finding_events(&after, "missing_data_file"), "opened"));
    free(data);
}

Test(sequences, a_schema_that_is_cut_closes_no_drift)
{
    const char *folder = observed("t"), *path = tarn_path(folder, "schema.json");
    int64_t after = 0;
    size_t len = 0;
    char *data = tarn_read_file(path, &len);

    (void)write_parquet(tarn_path(folder, SEED_FILE), "4; req i64 user_id; req ba event_type str; opt f64 duration_seconds; opt i64 more",
                        SEED_UPDATED - 60000);
    json_auto_t *sick = scan_later("t", 0, true);
    cr_assert(finding_of(sick, "schema_drift.extra_column") != NULL);
    tarn_write_file(path, data, len / 2);
    cr_expect(eq(str, seen_over("schema_drift.extra_column", 3), "open open open"));
    tarn_write_file(path, data, len);
    cr_expect(eq(str, seen_over("schema_drift.extra_column", 2), "open open"));
    cr_expect(eq(str, finding_events(&after, "schema_drift.extra_column"), "opened"));
    free(data);
}

/* --- S20: a root that is lost --- */

enum { TABLES = 12 };

static void root_away(bool is_away)
{
    char away[600];

    snprintf(away, sizeof away, "%s.away", g_lake->root);
    cr_assert(eq(int, rename(is_away ? g_lake->root : away, is_away ? away : g_lake->root), 0));
}

static void scan_all(int looks)
{
    char name[32];

    for (int k = 0; k < looks; k++) {
        clock_ms += 60000;
        for (int i = 0; i < TABLES; i++) {
            snprintf(name, sizeof name, "s%d.t%d", i % 3, i);
            json_auto_t *status = scan_later(name, 0, false);
            cr_expect(ne(ptr, status, NULL));
        }
    }
}

static void make_tables(void)
{
    char name[32];

    for (int i = 0; i < TABLES; i++) {
        snprintf(name, sizeof name, "s%d.t%d", i % 3, i);
        observed(name);
    }
    scan_all(1);
}

/* How many tables are in that state, and how many of them with that finding kept quiet by the root. */
static void count_tables(int *unknown, int *quiet)
{
    char target[64];

    *unknown = *quiet = 0;
    for (int i = 0; i < TABLES; i++) {
        snprintf(target, sizeof target, "/api/table/s%d.t%d/findings?state=open", i % 3, i);
        cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200), "%s", tarn_answer_text());
        const json_t *finding = finding_of(tarn_answer(), "storage_unreachable");
        *unknown += finding != NULL;
        *quiet += finding && strcmp(str_of(finding, "suppressed_by"), "storage_root") == 0;
        if (finding)
            cr_expect(eq(str, str_of(finding, "subject"), g_lake->root));
    }
}

static int count_events(int64_t *after, const char *type)
{
    char target[64];
    int count = 0;

    snprintf(target, sizeof target, "/api/events?after=%lld", (long long)*after);
    cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200), "%s", tarn_answer_text());
    const json_t *events = json_object_get(tarn_answer(), "events");
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        count += strcmp(str_of(event, "type"), type) == 0 && strcmp(str_of(event, "code"), "storage_unreachable") == 0;
    }
    *after = tarn_answer_i64("next");
    return count;
}

Test(sequences, s20_a_root_that_is_lost_is_one_incident)
{
    int64_t opened = 0, closed = 0;
    int unknown, quiet;

    make_tables();
    root_away(true);
    scan_all(2);
    count_tables(&unknown, &quiet);
    cr_expect(eq(int, unknown, TABLES), "each says why it is not judged");
    cr_expect(eq(int, quiet, TABLES - 1));
    cr_expect(eq(int, count_events(&opened, "finding.opened"), 1));
    scan_all(3);
    cr_expect(eq(int, count_events(&opened, "finding.opened"), 0));
    root_away(false);
    scan_all(2);
    count_tables(&unknown, &quiet);
    cr_expect(eq(int, unknown, 0));
    cr_expect(eq(int, count_events(&closed, "finding.closed"), 1));
    cr_expect(eq(int, count_events(&opened, "finding.opened"), 0), "and nobody else tells of it on the way back");
}

Test(sequences, s20_a_mount_point_without_its_mount_is_a_lost_root_too_and_another_table_takes_over)
{
    int64_t opened = 0;

    make_tables();
    root_away(true);
    tarn_make_folder(g_lake->root);
    scan_all(2);
    cr_expect(eq(int, count_events(&opened, "finding.opened"), 1));
    const json_t *events = json_object_get(tarn_answer(), "events");
    const json_t *event = json_array_get(events, json_array_size(events) - 1);
    cr_expect(eq(str, str_of(event, "root"), g_lake->root));
    cr_assert(eq(uint, tarn_ask("DELETE", tarn_path("/api/table", str_of(event, "table")), NULL), 204), "%s", tarn_answer_text());
    char name[32];
    for (int i = 0; i < TABLES; i++) {
        snprintf(name, sizeof name, "s%d.t%d", i % 3, i);
        char target[64];
        snprintf(target, sizeof target, "/api/table/%s", name);
        if (tarn_ask("GET", target, NULL) != 200)
            continue;
        json_auto_t *status = scan_later(name, 0, false);
        cr_expect(ne(ptr, status, NULL));
    }
    cr_expect(eq(int, count_events(&opened, "finding.opened"), 1), "the one that told is gone");
}

Test(sequences, a_folder_that_is_lost_while_its_root_is_there_is_the_tables_own)
{
    int64_t opened = 0;

    make_tables();
    tarn_remove_tree(tarn_path(g_lake->root, "s0.t0"));
    tarn_remove_tree(tarn_path(g_lake->root, "s1.t1"));
    scan_all(2);
    cr_expect(eq(int, count_events(&opened, "finding.opened"), 2));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/s0.t0/findings?state=open", NULL), 200));
    cr_expect(eq(str, str_of(finding_of(tarn_answer(), "storage_unreachable"), "subject"), "table"));

    root_away(true); /* now it is the root's: the same finding in other words */
    scan_all(2);
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/s0.t0/findings?state=open", NULL), 200));
    cr_expect(eq(str, str_of(finding_of(tarn_answer(), "storage_unreachable"), "subject"), g_lake->root));
}

Test(sequences_doors, s20_who_sees_other_tables_alone_hears_of_it_without_names)
{
    char narrow[80];

    make_tables();
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens", "{\"name\":\"n\",\"scope\":\"catalog:read\",\"tables\":\"s2.*\"}"), 201));
    snprintf(narrow, sizeof narrow, "%s", tarn_answer_str("token"));
    root_away(true);
    scan_all(2);
    tarn_ask_token(narrow);
    cr_assert(eq(uint, tarn_ask("GET", "/api/events", NULL), 200));
    const json_t *events = json_object_get(tarn_answer(), "events"), *found = NULL;
    for (size_t i = 0; i < json_array_size(events); i++)
        if (strcmp(str_of(json_array_get(events, i), "code"), "storage_unreachable") == 0)
            found = json_array_get(events, i);
    cr_assert(found != NULL, "%s", tarn_answer_text());
    cr_expect(is_null(found, "table"));
    cr_expect(eq(str, str_of(found, "message"), "a storage root is gone or empty"));
    cr_expect(eq(int, tarn_has(tarn_answer_text(), g_lake->root), 0), "%s", tarn_answer_text());
    cr_expect(eq(int, tarn_has(tarn_answer_text(), "s0."), 0), "%s", tarn_answer_text());
}
