/* Metrics over time: what scans leave, and how it is told. */
#include "base/time.h"
#include "lake/sweep.h"
#include "tests/monitors/scanned.h"
#include "tests/support/support.h"

TestSuite(samples, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);
TestSuite(samples_doors, .init = tarn_lake_setup_tokens, .fini = tarn_lake_teardown, .timeout = 60);

/* "14:35:00 2, ..." : instant and the metric of each sample of the answer. */
static char *told(const char *metric)
{
    static char out[8192];
    const json_t *samples = json_object_get(tarn_answer(), "samples");
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(samples); i++) {
        const json_t *sample = json_array_get(samples, i), *value = json_object_get(sample, metric);
        cr_assert(value != NULL, "%s", metric);
        len += (size_t)snprintf(out + len, sizeof out - len, "%s%.5s ", i ? ", " : "", str_of(sample, "at") + 11);
        len += json_is_integer(value) ? (size_t)snprintf(out + len, sizeof out - len, "%lld", (long long)json_integer_value(value))
                                      : (size_t)snprintf(out + len, sizeof out - len, "-");
    }
    return out;
}

static char *ask(const char *metric, const char *query)
{
    char target[256];

    snprintf(target, sizeof target, "/api/table/t/history?metric=%s&to=2024-02-01T15:00:00Z%s%s", metric, query[0] ? "&" : "", query);
    cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200), "%s", tarn_answer_text());
    return told(metric);
}

/* Scans at 14:35, 14:36, 14:37 (a file less), 14:38 and 14:39 of the seed's table with two files of 456. */
static void scan_five_times(void)
{
    const char *folder = observed("t");

    for (int i = 0; i < 5; i++) {
        if (i == 2)
            tarn_write_text(tarn_path(folder, "manifest.json"),
                            "{\"version\":124,\"last_updated\":\"2024-02-01T14:36:30Z\",\"files\":["
                            "{\"path\":\"" SEED_FILE "\",\"size\":88}]}");
        json_auto_t *status = scan_later("t", i > 0, true); /* what opens does so at once */
        cr_expect(ne(ptr, status, NULL));
    }
}

Test(samples, runs_of_scans_are_told_by_their_ends)
{
    scan_five_times();
    cr_expect(eq(str, ask("files", ""), "14:35 2, 14:36 2, 14:37 1, 14:39 1"));
    cr_expect(eq(str, ask("version", "from=2024-02-01T14:36:00Z"), "14:36 123, 14:37 124, 14:39 124"));
    cr_expect(eq(str, ask("files", "from=2024-02-01T14:38:00Z"), "14:38 1, 14:39 1"), "the part of a run that lies between");
    cr_expect(eq(str, ask("files", "from=2024-02-01T14:40:00Z"), ""));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/history?metric=files&from=2024-02-01T14:35:30Z&to=2024-02-01T14:36:30Z", NULL), 200));
    cr_expect(eq(str, told("files"), "14:35 2, 14:36 2"), "the first begins at `from`");
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/history?to=2024-02-01T15:00:00Z", NULL), 200));
    const json_t *first = json_array_get(json_object_get(tarn_answer(), "samples"), 0);
    cr_expect(eq(i64, json_integer_value(json_object_get(first, "manifest_age_seconds")), 83), "all metrics without a choice");
    cr_expect(is_null(first, "staging_oldest_seconds"));
}

Test(samples, steps_are_even_and_hold_what_went_before)
{
    scan_five_times();
    cr_expect(eq(str, ask("files", "from=2024-02-01T14:34:00Z&step=90s"), /* nothing is known before the first; an hour after the last it is */
                 "14:35 2, 14:37 1, 14:38 1, 14:40 1, 14:41 1, 14:43 1, 14:44 1, 14:46 1, 14:47 1, 14:49 1, 14:50 1, 14:52 1, "
                 "14:53 1, 14:55 1, 14:56 1, 14:58 1, 14:59 1"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/history?metric=files&from=2024-02-01T13:00:00Z&to=2024-02-01T20:00:00Z&step=1h", NULL), 200));
    cr_expect(eq(str, told("files"), "15:00 1"), "where nobody looked there is nothing");
}

Test(samples, ages_are_as_of_the_sample)
{
    scan_five_times();
    /* The newest data commit is txn-12345, of 14:30:00 by its timestamp. */
    cr_expect(eq(str, ask("freshness_age_seconds", "from=2024-02-01T14:36:00Z&step=60s&page_size=2"), "14:36 360, 14:37 420"));
}

Test(samples, pages_join)
{
    static const char *const k_steps[] = { "", "&step=60s" };
    static const char *const k_whole[] = { "14:35 2, 14:36 2, 14:37 1, 14:39 1", "14:36 2, 14:37 1, 14:38 1, 14:39 1, 14:40 1" };
    char target[512], all[512], token[128];

    scan_five_times();
    for (size_t k = 0; k < 2; k++) {
        const char *span = k ? "&from=2024-02-01T14:36:00Z&to=2024-02-01T14:40:00Z" : "&to=2024-02-01T15:00:00Z";
        all[0] = token[0] = '\0';
        for (int pages = 0; pages < 9; pages++) {
            snprintf(target, sizeof target, "/api/table/t/history?metric=files%s%s&page_size=1%s%s", k_steps[k], span,
                     token[0] ? "&page_token=" : "", token);
            cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200), "%s", tarn_answer_text());
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", all[0] ? ", " : "", told("files"));
            const json_t *next = json_object_get(tarn_answer(), "next_page_token");
            if (!json_is_string(next))
                break;
            snprintf(token, sizeof token, "%s", json_string_value(next));
        }
        cr_expect(eq(str, all, TEXT(k_whole[k])));
    }
}

Test(samples, a_scan_that_failed_leaves_none_and_what_flaps_is_counted)
{
    const char *folder = observed("t"), *path = tarn_path(folder, SEED_FILE);
    char moved[600];
    size_t len = 0;
    char *data = tarn_read_file(path, &len);

    json_auto_t *first = scan_later("t", 0, true);
    snprintf(moved, sizeof moved, "%s.away", folder);
    cr_assert(eq(int, rename(folder, moved), 0));
    json_auto_t *gone = scan_later("t", 1, false);
    cr_assert(eq(int, rename(moved, folder), 0));
    cr_expect(eq(str, ask("flapping", ""), "14:35 0"));
    for (int i = 0; i < 2; i++) { /* bad, ok, bad, ok */
        tarn_remove_tree(path);
        json_auto_t *bad = scan_later("t", 1, false);
        cr_expect(finding_of(bad, "missing_data_file") == NULL);
        tarn_write_file(path, data, len);
        tarn_set_mtime(path, SEED_UPDATED - 60000);
        json_auto_t *good = scan_later("t", 1, false);
        cr_expect(eq(i64, json_integer_value(json_object_get(json_object_get(good, "details"), "flapping")), i + 2), "%s",
                  "with the storage that was gone once");
    }
    (void)first, (void)gone;
    free(data);
}

Test(samples, what_is_old_is_thinned_and_goes)
{
    scan_five_times();
    TARN_ERR(err);
    cr_assert(eq(int, tarn_lake_sweep(&g_lake->lake, clock_ms + 26 * TARN_HOUR_MS, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(str, ask("files", ""), "14:37 1, 14:39 1"), "of runs within an hour the last one stays");
    cr_assert(eq(int, tarn_lake_sweep(&g_lake->lake, clock_ms + 31 * TARN_DAY_MS, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(str, ask("files", ""), ""));
}

Test(samples, what_is_asked_wrongly_is_refused_by_name)
{
    static const struct { const char *query, *field; } k_rows[] = {
        { "metric=file", "metric" }, { "metric=files,", "metric" }, { "metric=", "metric" }, { "from=yesterday", "from" },
        { "to=1", "to" }, { "from=2024-02-01T15:00:00Z&to=2024-02-01T14:00:00Z", "from" }, { "step=0s", "step" }, { "step=106751991167d", "step" }, { "step=often", "step" },
        { "from=2020-01-01T00:00:00Z&to=2024-02-01T14:00:00Z&step=1s", "step" }, { "page_token=x", "page_token" },
    };
    char target[256];

    observed("t");
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        snprintf(target, sizeof target, "/api/table/t/history?%s", k_rows[i].query);
        cr_expect(eq(uint, tarn_ask("GET", target, NULL), 400), "%s: %s", target, tarn_answer_text());
        cr_expect(eq(str, TEXT(tarn_answer_str("field")), TEXT(k_rows[i].field)), "%s", target);
    }
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/nobody/history", NULL), 404));
}

Test(samples_doors, it_takes_the_right_to_see_status)
{
    observed("sales.a");
    json_auto_t *status = scan_later("sales.a", 0, true);
    tarn_ask_token(g_lake->admin);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens", "{\"name\":\"s\",\"scope\":\"status:read\",\"tables\":\"sales.*\"}"), 201));
    char narrow[80];
    snprintf(narrow, sizeof narrow, "%s", tarn_answer_str("token"));
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens", "{\"name\":\"h\",\"scope\":\"admin\"}"), 201));
    tarn_ask_token(narrow);
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/sales.a/history", NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/hr.b/history", NULL), 404));
    tarn_ask_token("nobody");
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/sales.a/history", NULL), 401));
    (void)status;
}
