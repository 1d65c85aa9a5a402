/* Sequences of time, with a clock that stands where the test puts it: silence, weekends, zones, clocks that differ, versions
 * that go back. The numbers are those of the catalog of cases that these rules were taken from. */
#include "tests/monitors/scanned.h"
#include "tests/support/support.h"

TestSuite(times, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 120);

static int64_t at(const char *text)
{
    int64_t ms = 0;

    cr_assert(eq(int, tarn_time_parse(text, &ms, NULL, NULL), TARN_OK), "%s", text);
    return ms;
}

/* --- a table that somebody else writes --- */

static struct tarn_buf listed;
static int commits;

static const char *in_table(const char *path)
{
    char name[300];

    snprintf(name, sizeof name, "t/%s", path);
    return tarn_path(g_lake->root, name);
}

static void put(const char *path, const char *text, int64_t when)
{
    tarn_write_text(in_table(path), text);
    tarn_set_mtime(in_table(path), when);
}

static void write_manifest(int version, const char *last_updated, int64_t when)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };

    tarn_buf_addf(&out, "{\"version\":%d,\"last_updated\":\"%s\",\"files\":[%s]}", version, last_updated, listed.data ? listed.data : "");
    put("manifest.json", out.data, when);
}

/* One commit at that moment; without data it rewrites nothing. */
static void commit(int64_t when, bool is_data)
{
    char path[64], entry[64], text[400], pointer[32], stamp[TARN_TIME_TEXT];

    (void)tarn_time_format(when, stamp);
    commits++;
    snprintf(path, sizeof path, "f%d.parquet", commits);
    size_t size = is_data ? write_parquet(in_table(path), "1; req i64 id", when - 1000) : 0;
    snprintf(entry, sizeof entry, "_transactions/txn-%d.json", commits);
    if (is_data)
        snprintf(text, sizeof text, "{\"id\":\"txn-%d\",\"timestamp\":\"%s\",\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}]}",
                 commits, stamp, path, size);
    else
        snprintf(text, sizeof text, "{\"id\":\"txn-%d\",\"timestamp\":\"%s\",\"dataChange\":false,\"operations\":[]}", commits, stamp);
    put(entry, text, when);
    if (is_data)
        tarn_buf_addf(&listed, "%s{\"path\":\"%s\",\"size\":%zu}", listed.len > 0 ? "," : "", path, size);
    write_manifest(commits, stamp, when);
    snprintf(pointer, sizeof pointer, "txn-%d\n", commits);
    put("last_committed_txn", pointer, when);
}

/* Registered by the machine's clock: nothing here is older than that but by days. */
static void observe(const char *monitors)
{
    commits = 0;
    tarn_buf_clear(&listed);
    write_manifest(0, "2027-03-01T00:00:00Z", at("2027-03-01T00:00:00Z"));
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s\",\"mode\":\"observed\",\"monitors\":%s}",
                                tarn_path(g_lake->root, "t"), monitors), 201), "%s", tarn_answer_text());
}

/* A look at that moment: the finding's severity, "" when it is not open. */
static const char *look(const char *when, const char *code)
{
    static char severity[16];

    clock_ms = at(when);
    json_auto_t *status = scan_later("t", 0, false);
    const json_t *finding = finding_of(status, code);
    snprintf(severity, sizeof severity, "%s", finding ? json_string_value(json_object_get(finding, "severity")) : "");
    return severity;
}

#define expect_look(when, code, severity) cr_expect(eq(str, TEXT(look(when, code)), TEXT(severity)), "at %s", when)

/* --- S01: the tail of the log is gone, and the manifest with it --- */

Test(times, s01_a_version_that_went_back_is_told_until_the_table_is_past_it)
{
    observe("{}");
    for (int i = 1; i <= 3; i++)
        commit(at("2027-03-01T01:00:00Z") + i * TARN_MINUTE_MS, true);
    TARN_AUTO(mem) char *older = tarn_read_file(in_table("manifest.json"), NULL);
    commit(at("2027-03-01T01:04:00Z"), true);
    expect_look("2027-03-01T01:10:00Z", "version_regression", "");
    put("manifest.json", older, at("2027-03-01T01:11:00Z"));
    put("last_committed_txn", "txn-3\n", at("2027-03-01T01:11:00Z"));
    tarn_remove_tree(in_table("_transactions/txn-4.json"));
    expect_look("2027-03-01T01:12:00Z", "version_regression", "");
    for (int i = 0; i < 5; i++)
        expect_look("2027-03-01T01:13:00Z", "version_regression", "error"); /* it does not become usual */
    tarn_remove_tree(in_table("f4.parquet"));
    commits = 4;
    commit(at("2027-03-01T01:14:00Z"), true);
    expect_look("2027-03-01T01:15:00Z", "version_regression", "error");
    expect_look("2027-03-01T01:16:00Z", "version_regression", "");
}

Test(times, s01_a_restore_that_is_accepted_is_the_present_state)
{
    char target[200], when[TARN_TIME_TEXT];

    observe("{}");
    for (int i = 1; i <= 3; i++)
        commit(at("2027-03-01T01:00:00Z") + i * TARN_MINUTE_MS, true);
    expect_look("2027-03-01T01:10:00Z", "version_regression", "");
    write_manifest(2, tarn_time_format(at("2027-03-01T01:11:00Z"), when), at("2027-03-01T01:11:00Z"));
    (void)look("2027-03-01T01:12:00Z", "version_regression");
    expect_look("2027-03-01T01:13:00Z", "version_regression", "error");
    json_auto_t *status = scan_later("t", 1, false);
    snprintf(target, sizeof target, "/api/table/t/findings/%s/accept",
             json_string_value(json_object_get(finding_of(status, "version_regression"), "id")));
    cr_assert(eq(uint, tarn_ask("POST", target, "{\"reason\":\"restored on purpose\"}"), 200), "%s", tarn_answer_text());
    for (int i = 0; i < 3; i++)
        (void)look("2027-03-01T01:20:00Z", "version_regression");
    expect_look("2027-03-01T01:21:00Z", "version_regression", "");
    write_manifest(1, tarn_time_format(at("2027-03-01T01:22:00Z"), when), at("2027-03-01T01:22:00Z"));
    (void)look("2027-03-01T01:23:00Z", "version_regression");
    expect_look("2027-03-01T01:24:00Z", "version_regression", "error"); /* again is news */
}

/* --- S03: twenty commits a minute apart, then silence --- */

Test(times, s03_silence_after_a_steady_stream_is_told_at_the_second_look)
{
    observe("{}");
    for (int i = 0; i < 20; i++)
        commit(at("2027-03-02T10:00:00Z") + i * TARN_MINUTE_MS, true);
    expect_look("2027-03-02T10:20:30Z", "freshness", "");
    expect_look("2027-03-02T10:21:00Z", "freshness", ""); /* 120 seconds: not above */
    expect_look("2027-03-02T10:21:01Z", "freshness", ""); /* the first bad look */
    expect_look("2027-03-02T10:22:01Z", "freshness", "warning");
    expect_look("2027-03-02T10:30:00Z", "freshness", "warning"); /* what is learned never becomes an error */
    expect_look("2027-04-20T10:30:00Z", "freshness", "warning"); /* and it does not forget */
    commit(at("2027-04-20T10:30:30Z"), true);
    (void)look("2027-04-20T10:31:00Z", "freshness");
    expect_look("2027-04-20T10:31:30Z", "freshness", "");
}

Test(times, an_accepted_silence_stays_accepted_while_it_lasts)
{
    char target[200];

    observe("{\"freshness\":{\"warning\":\"1h\",\"error\":\"1d\"}}");
    commit(at("2027-03-02T10:00:00Z"), true);
    (void)look("2027-03-02T12:00:00Z", "freshness");
    expect_look("2027-03-02T12:01:00Z", "freshness", "warning");
    json_auto_t *status = scan_later("t", 1, false);
    snprintf(target, sizeof target, "/api/table/t/findings/%s/accept",
             json_string_value(json_object_get(finding_of(status, "freshness"), "id")));
    cr_assert(eq(uint, tarn_ask("POST", target, "{\"reason\":\"the source is closed today\"}"), 200), "%s", tarn_answer_text());
    json_auto_t *later = scan_later("t", 120, false);
    cr_expect(eq(str, TEXT(json_string_value(json_object_get(later, "severity"))), "ok"));
    json_auto_t *next_day = scan_later("t", 24 * 60, false);
    cr_expect(eq(str, TEXT(json_string_value(json_object_get(next_day, "severity"))), "error"), "another threshold is news");
}

/* --- S04: hourly loads on weekdays; Saturday is silent --- */

Test(times, s04_the_weekend_of_a_table_that_is_loaded_on_weekdays_is_no_finding)
{
    observe("{}");
    for (int day = 0; day < 19; day++) /* Monday, 1 March, up to Friday, 19 March */
        for (int hour = 8; hour < 20 && day % 7 < 5; hour++)
            commit(at("2027-03-01T00:00:00Z") + day * TARN_DAY_MS + hour * TARN_HOUR_MS, true);
    static const char *const k_quiet[] = { "2027-03-19T22:00:00Z", "2027-03-20T03:00:00Z", "2027-03-20T12:00:00Z",
                                           "2027-03-20T12:01:00Z", "2027-03-21T12:00:00Z", "2027-03-22T07:59:00Z" };
    for (size_t i = 0; i < TARN_COUNT(k_quiet); i++)
        expect_look(k_quiet[i], "freshness", "");
    /* One and a half of the 61 hours from Friday, 19:00, to Monday, 8:00. */
    expect_look("2027-03-23T14:30:00Z", "freshness", "");
    (void)look("2027-03-23T14:30:01Z", "freshness");
    expect_look("2027-03-23T14:31:01Z", "freshness", "warning");
}

/* --- S07: half past two comes twice on 31 October 2027 in Berlin; the instant has no zone --- */

Test(times, s07_an_instant_without_a_zone_is_flagged_and_since_does_not_jump)
{
    char since[40] = "";

    observe("{\"timezone\":\"Europe/Berlin\"}");
    commit(at("2027-10-31T00:29:00Z"), true);
    write_manifest(1, "2027-10-31T02:30:00", at("2027-10-31T00:30:00Z"));
    static const char *const k_looks[] = { "2027-10-31T02:45:00Z", "2027-10-31T02:46:00Z", "2027-10-31T03:30:00Z", "2027-10-31T04:30:00Z" };
    for (size_t i = 0; i < TARN_COUNT(k_looks); i++) {
        clock_ms = at(k_looks[i]);
        json_auto_t *status = scan_later("t", 0, false);
        const json_t *finding = finding_of(status, "naive_timestamp");
        cr_expect(eq(int, finding != NULL, 1));
        if (!finding)
            continue;
        const char *told = json_string_value(json_object_get(finding, "since"));
        if (since[0])
            cr_expect(eq(str, TEXT(told), since));
        snprintf(since, sizeof since, "%s", told);
        cr_expect(eq(str, TEXT(json_string_value(json_object_get(status, "severity"))), "ok"));
        cr_expect(eq(str, TEXT(json_string_value(json_object_get(status, "last_updated"))), "2027-10-31T02:30:00Z"));
    }
}

/* --- S16: the storage's clock --- */

Test(times, s16_a_storage_that_is_45_seconds_ahead_is_fine_and_one_that_is_two_hours_ahead_is_not)
{
    observe("{}");
    commit(at("2027-03-02T10:00:45Z"), true);
    expect_look("2027-03-02T10:00:00Z", "clock_skew", "");
    expect_look("2027-03-02T10:00:01Z", "clock_skew", "");
    tarn_set_mtime(in_table("f1.parquet"), at("2027-03-02T12:00:00Z"));
    (void)look("2027-03-02T10:00:10Z", "clock_skew");
    expect_look("2027-03-02T10:01:10Z", "clock_skew", "warning");
    expect_look("2027-03-02T11:59:10Z", "clock_skew", "warning"); /* the first good look */
    expect_look("2027-03-02T12:01:10Z", "clock_skew", "");
}

/* --- S17: commits that only rewrite --- */

Test(times, s17_commits_without_data_for_hours_are_a_stall)
{
    observe("{}");
    for (int i = 0; i < 60; i++)
        commit(at("2027-03-02T09:00:00Z") + i * TARN_MINUTE_MS, true);
    for (int i = 0; i < 360; i++)
        commit(at("2027-03-02T10:00:00Z") + i * TARN_MINUTE_MS, false);
    (void)look("2027-03-02T16:00:00Z", "commits_without_data");
    expect_look("2027-03-02T16:01:00Z", "commits_without_data", "warning");
    expect_look("2027-03-02T16:02:00Z", "freshness", "warning");
    commit(at("2027-03-02T16:02:30Z"), true);
    (void)look("2027-03-02T16:03:00Z", "commits_without_data");
    expect_look("2027-03-02T16:04:00Z", "commits_without_data", "");
}

Test(times, s17_a_nightly_compaction_is_none)
{
    observe("{}");
    for (int day = 0; day < 9; day++) {
        for (int hour = 8; hour < 20; hour++)
            commit(at("2027-03-01T00:00:00Z") + day * TARN_DAY_MS + hour * TARN_HOUR_MS, true);
        for (int minute = 0; minute < 180; minute += 20)
            commit(at("2027-03-01T22:00:00Z") + day * TARN_DAY_MS + minute * TARN_MINUTE_MS, false);
    }
    (void)look("2027-03-10T00:50:00Z", "commits_without_data");
    expect_look("2027-03-10T00:51:00Z", "commits_without_data", "");
    expect_look("2027-03-10T00:52:00Z", "freshness", "");
}

/* --- what the overview tells --- */

Test(times, the_overview_tells_age_and_last_data_of_a_managed_table)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201), "%s", tarn_answer_text());
    write_parquet(in_table("a.parquet"), "1; req i64 id", tarn_now_ms() - 60000);
    cr_assert(eq(uint, tarn_ask("GET", "/api/status", NULL), 200));
    cr_expect(eq(int, is_null(json_array_get(tarn_answer(), 0), "last_data_commit"), 1));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a.parquet\",\"size\":39}]}"), 201));
    char committed[40];
    snprintf(committed, sizeof committed, "%s", tarn_answer_str("committed_at"));
    write_parquet(in_table("b.parquet"), "1; req i64 id", tarn_now_ms() - 60000);
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"expected_version\":1,\"dataChange\":false,\"operations\":["
                                "{\"type\":\"add_file\",\"path\":\"b.parquet\",\"size\":39},{\"type\":\"remove_file\",\"path\":\"a.parquet\"}]}"), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/check", NULL), 200), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("GET", "/api/status", NULL), 200));
    const json_t *row = json_array_get(tarn_answer(), 0);
    cr_expect(eq(str, TEXT(json_string_value(json_object_get(row, "last_data_commit"))), committed));
    cr_expect(eq(int, is_null(row, "freshness_age_seconds"), 0));
    /* An empty batch is proof of life, but no data. */
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/batches", "{\"batch_id\":\"x.parquet\",\"status\":\"completed\",\"num_records\":0}"), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/check", NULL), 200));
    const json_t *freshness = json_object_get(json_object_get(tarn_answer(), "details"), "freshness");
    cr_expect(str_of(freshness, "last_run")[0] != '\0' && strcmp(str_of(freshness, "last_run"), committed) > 0);
    cr_assert(eq(uint, tarn_ask("GET", "/api/status", NULL), 200));
    cr_expect(eq(str, TEXT(json_string_value(json_object_get(json_array_get(tarn_answer(), 0), "last_data_commit"))), committed));
}

/* Data that was rolled back is not the newest data; a commit that brings it back is none either. */
Test(times, data_that_was_rolled_back_is_not_the_newest)
{
    char first[40] = "";

    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201));
    for (int i = 1; i <= 3; i++) {
        char path[32];
        snprintf(path, sizeof path, "f%d.parquet", i);
        write_parquet(in_table(path), "1; req i64 id", tarn_now_ms() - 60000);
        cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":39}]}", path), 201));
        if (i == 1)
            snprintf(first, sizeof first, "%s", tarn_answer_str("committed_at"));
    }
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/rollback", "{\"expected_version\":3,\"to_version\":1}"), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/check", NULL), 200));
    cr_expect(eq(str, TEXT(str_of(json_object_get(tarn_answer(), "details"), "last_data_commit")), first));
}
