/* What keeps findings quiet: silences by their rules alone, silences and maintenance windows through scans. */
#include "lake/sweep.h"
#include "tests/monitors/scanned.h"
#include "tests/support/support.h"

TestSuite(quiet, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);
TestSuite(quiet_doors, .init = tarn_lake_setup_tokens, .fini = tarn_lake_teardown, .timeout = 60);

/* --- matchers --- */

static const struct { const char *matchers; bool fits; } k_matchers[] = {
    { "[{\"name\":\"code\",\"value\":\"manifest_age\"}]", true },
    { "[{\"name\":\"code\",\"value\":\"manifest\"}]", false },
    { "[{\"name\":\"code\",\"value\":\"manifest\",\"isRegex\":true}]", false }, /* the whole text */
    { "[{\"name\":\"code\",\"value\":\"manifest.*\",\"isRegex\":true}]", true },
    { "[{\"name\":\"code\",\"value\":\"x|manifest_age\",\"isRegex\":true}]", true },
    { "[{\"name\":\"code\",\"value\":\"manifest_age\",\"isEqual\":false}]", false },
    { "[{\"name\":\"code\",\"value\":\"other\",\"isEqual\":false}]", true },
    { "[{\"name\":\"code\",\"value\":\"man.*\",\"isRegex\":true,\"isEqual\":false}]", false },
    { "[{\"name\":\"table\",\"value\":\"sales.orders\"}]", true },
    { "[{\"name\":\"table\",\"value\":\"orders\"}]", false },
    { "[{\"name\":\"namespace\",\"value\":\"sales\"}]", true },
    { "[{\"name\":\"severity\",\"value\":\"warning\"}]", true },
    { "[{\"name\":\"subject\",\"value\":\"manifest\\\\.json\",\"isRegex\":true}]", true },
    { "[{\"name\":\"owner\",\"value\":\"\"}]", true },  /* what is not there is the empty text */
    { "[{\"name\":\"owner\",\"value\":\".+\",\"isRegex\":true}]", false },
    { "[{\"name\":\"namespace\",\"value\":\"sales\"},{\"name\":\"code\",\"value\":\"other\"}]", false }, /* all of them */
    { "[{\"name\":\"namespace\",\"value\":\"sales\"},{\"name\":\"severity\",\"value\":\"warning|error\",\"isRegex\":true}]", true },
};

static struct tarn_finding a_finding(void)
{
    return (struct tarn_finding){ .code = TEXT("manifest_age"), .subject = TEXT("manifest.json"), .message = TEXT("m"),
                                  .severity = TARN_SEV_WARNING, .opened_at = 1, .closed_at = -1 };
}

static struct tarn_table k_table = { .namespace_ = TEXT("sales"), .name = TEXT("orders"), .monitors = TEXT("{}") };

/* The reason why it is quiet, "" when it is not. */
static const char *reason_of(struct tarn_silence *silence, int64_t now_ms, int64_t *until_ms)
{
    static char out[80];
    struct tarn_finding finding = a_finding();
    struct tarn_findings findings = { &finding, 1 };
    struct tarn_silences silences = { silence, 1 };
    const struct tarn_quiet quiet = { .table = &k_table, .silences = &silences };

    cr_assert(eq(int, tarn_quiet_mark(&findings, &quiet, now_ms, until_ms, NULL), TARN_OK));
    snprintf(out, sizeof out, "%s", finding.suppressed_by ? finding.suppressed_by : "");
    free(finding.suppressed_by);
    return out;
}

Test(quiet, a_silence_fits_where_all_its_matchers_do)
{
    for (size_t i = 0; i < TARN_COUNT(k_matchers); i++) {
        struct tarn_silence silence = { .id = "s1", .matchers = TEXT(k_matchers[i].matchers), .starts_at = 0, .ends_at = 1000 };
        json_auto_t *list = json_loads(k_matchers[i].matchers, 0, NULL);
        int64_t until_ms;
        cr_expect(eq(int, tarn_silence_check(list, NULL), TARN_OK), "%s", k_matchers[i].matchers);
        cr_expect(eq(str, TEXT(reason_of(&silence, 500, &until_ms)), TEXT(k_matchers[i].fits ? "silence:s1" : "")), "%s",
                  k_matchers[i].matchers);
    }
}

Test(quiet, a_silence_has_its_time_and_reaches_its_tables_at_most)
{
    struct tarn_silence silence = { .id = "s1", .matchers = TEXT(k_matchers[0].matchers), .starts_at = 100, .ends_at = 200 };
    static const struct { int64_t now_ms, until_ms; bool fits; } k_times[] = {
        { 99, 100, false }, { 100, 200, true }, { 199, 200, true }, { 200, INT64_MAX, false },
    };
    int64_t until_ms;

    for (size_t i = 0; i < TARN_COUNT(k_times); i++) {
        cr_expect(eq(int, reason_of(&silence, k_times[i].now_ms, &until_ms)[0] != '\0', k_times[i].fits));
        cr_expect(eq(i64, until_ms, k_times[i].until_ms));
    }
    silence.tables = TEXT("sales.*");
    cr_expect(eq(str, TEXT(reason_of(&silence, 150, &until_ms)), "silence:s1"));
    silence.tables = TEXT("hr.*");
    cr_expect(eq(str, TEXT(reason_of(&silence, 150, &until_ms)), ""));
}

/* --- through scans --- */

static void remove_file(const char *folder) { tarn_remove_tree(tarn_path(folder, SEED_FILE)); }

/* The clock of the tests stands at 14:35. */
#define WINDOW "{\"monitors\":{\"maintenance\":[{\"from\":\"14:36\",\"to\":\"14:40\"}]}}"

Test(quiet, what_first_looks_wrong_in_a_window_opens_when_it_is_over)
{
    const char *folder = observed("t");
    int64_t after = 0;

    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", WINDOW), 200), "%s", tarn_answer_text());
    json_auto_t *fine = scan_later("t", 0, true);
    (void)finding_events(&after, "missing_data_file");
    remove_file(folder);
    json_auto_t *once = scan_later("t", 1, false);
    cr_expect(finding_of(once, "missing_data_file") == NULL, "one look");
    for (int minute = 37; minute < 40; minute++) {
        json_auto_t *in = scan_later("t", 1, false);
        const json_t *finding = finding_of(in, "missing_data_file");
        cr_assert(finding != NULL);
        cr_expect(eq(str, str_of(finding, "suppressed_by"), "maintenance"));
        cr_expect(eq(str, str_of(in, "severity"), "warning"), "it does not count; manifest_age was there before");
        cr_expect(eq(str, str_of(finding_of(in, "manifest_age"), "suppressed_by"), "maintenance"));
        cr_expect(eq(sz, json_array_size(json_object_get(in, "warnings")), 2));
        cr_expect(eq(str, finding_events(&after, "missing_data_file"), ""));
    }
    json_auto_t *out = scan_later("t", 1, false);
    const json_t *finding = finding_of(out, "missing_data_file");
    cr_expect(eq(str, str_of(out, "severity"), "error"), "14:40");
    cr_expect(eq(str, str_of(finding, "suppressed_by"), "null"));
    cr_expect(eq(str, str_of(finding, "since"), "2024-02-01T14:36:00Z"), "since it first looked wrong");
    cr_expect(eq(str, finding_events(&after, "missing_data_file"), "opened"));
    (void)fine;
}

Test(quiet, what_comes_and_goes_inside_a_window_never_was)
{
    const char *folder = observed("t"), *path = tarn_path(folder, SEED_FILE);
    size_t len = 0;
    char *data = tarn_read_file(path, &len);
    int64_t after = 0;

    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", WINDOW), 200));
    json_auto_t *fine = scan_later("t", 0, true);
    (void)finding_events(&after, "missing_data_file");
    remove_file(folder);
    json_auto_t *bad = scan_later("t", 2, true);
    cr_expect(finding_of(bad, "missing_data_file") != NULL);
    tarn_write_file(path, data, len);
    tarn_set_mtime(path, SEED_UPDATED - 60000);
    json_auto_t *good = scan_later("t", 1, false);
    cr_expect(finding_of(good, "missing_data_file") == NULL);
    cr_expect(eq(str, finding_events(&after, "missing_data_file"), ""));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/findings?state=closed", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "findings")), 0));
    (void)fine;
    free(data);
}

Test(quiet, windows_are_inherited_and_the_nearest_list_counts)
{
    static const struct { const char *server, *namespace_, *table; bool quiet; } k_rows[] = {
        { "{\"maintenance\":[{\"from\":\"14:00\",\"to\":\"15:00\"}]}", NULL, NULL, true },
        { "{\"maintenance\":[{\"from\":\"14:00\",\"to\":\"15:00\"}]}", "[]", NULL, false },
        { NULL, "[{\"from\":\"14:00\",\"to\":\"15:00\"}]", NULL, true },
        { NULL, "[{\"from\":\"14:00\",\"to\":\"15:00\"}]", "[{\"from\":\"04:00\",\"to\":\"05:00\"}]", false },
    };

    observed("s.t");
    json_auto_t *fine = scan_later("s.t", 0, true);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        s_monitors_of_server = k_rows[i].server;
        cr_assert(eq(uint, tarn_ask("PATCH", "/api/namespaces/s", "{\"monitors\":{\"maintenance\":%s}}",
                                    k_rows[i].namespace_ ? k_rows[i].namespace_ : "null"), 200), "%s", tarn_answer_text());
        cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/s.t", "{\"monitors\":{\"maintenance\":%s}}",
                                    k_rows[i].table ? k_rows[i].table : "null"), 200), "%s", tarn_answer_text());
        json_auto_t *status = scan_later("s.t", 0, true);
        cr_expect(eq(str, str_of(finding_of(status, "manifest_age"), "suppressed_by"), TEXT(k_rows[i].quiet ? "maintenance" : "null")),
                  "row %zu", i);
    }
    s_monitors_of_server = NULL;
    (void)fine;
}

/* The clock of requests is the machine's, and silences are told to end in its future: scans use it here too. */
static void add_silence(const char *matchers, int64_t ends_ms)
{
    char at[TARN_TIME_TEXT];

    tarn_time_format(ends_ms, at);
    cr_assert(eq(uint, tarn_ask("POST", "/api/silences", "{\"matchers\":%s,\"ends_at\":\"%s\",\"comment\":\"c\"}", matchers, at), 201),
              "%s", tarn_answer_text());
    if (clock_ms < tarn_now_ms()) /* it began just now */
        clock_ms = tarn_now_ms();
}

Test(quiet, a_silence_mutes_and_leaves_the_truth_and_its_end_is_told_once)
{
    int64_t after = 0;
    char id[64], expected[80];

    clock_ms = tarn_now_ms();
    observed("t");
    add_silence("[{\"name\":\"code\",\"value\":\"manifest_age\"}]", clock_ms + 10 * 60000);
    snprintf(id, sizeof id, "%s", tarn_answer_str("id"));
    snprintf(expected, sizeof expected, "silence:%s", id);
    cr_expect(eq(str, TEXT(tarn_answer_str("state")), "active"));

    json_auto_t *in = scan_later("t", 0, true);
    cr_expect(eq(str, str_of(finding_of(in, "manifest_age"), "suppressed_by"), expected));
    cr_expect(eq(str, str_of(finding_of(in, "missing_transaction_log_entry"), "suppressed_by"), "null"));
    cr_expect(eq(sz, json_array_size(json_object_get(in, "warnings")), 2), "the truth");
    cr_expect(eq(str, finding_events(&after, "manifest_age"), ""));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/status", NULL), 200));
    cr_expect(eq(str, str_of(finding_of(tarn_answer(), "manifest_age"), "suppressed_by"), expected));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/findings?state=open", NULL), 200));
    cr_expect(eq(str, str_of(finding_of(tarn_answer(), "manifest_age"), "suppressed_by"), expected));

    json_auto_t *over = scan_later("t", 11, false); /* the silence ended */
    cr_expect(eq(str, str_of(finding_of(over, "manifest_age"), "suppressed_by"), "null"));
    cr_expect(eq(str, finding_events(&after, "manifest_age"), "opened"));
    json_auto_t *later = scan_later("t", 1, false);
    cr_expect(eq(str, finding_events(&after, "manifest_age"), ""), "once");
    cr_assert(eq(uint, tarn_ask("DELETE", tarn_path("/api/silences", id), NULL), 204)); /* by the machine's clock it goes on */

    add_silence("[{\"name\":\"namespace\",\"value\":\"def.*\",\"isRegex\":true}]", clock_ms + 10 * 60000);
    snprintf(id, sizeof id, "%s", tarn_answer_str("id"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/status", NULL), 200));
    cr_expect(ne(str, str_of(finding_of(tarn_answer(), "manifest_age"), "suppressed_by"), "null"), "at once, without a scan");
    json_auto_t *muted = scan_later("t", 1, false);
    cr_expect(eq(str, finding_events(&after, "manifest_age"), ""));
    cr_assert(eq(uint, tarn_ask("DELETE", tarn_path("/api/silences", id), NULL), 204), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/status", NULL), 200));
    cr_expect(eq(str, str_of(finding_of(tarn_answer(), "manifest_age"), "suppressed_by"), "null"));
    json_auto_t *again = scan_later("t", 1, false);
    cr_expect(eq(str, finding_events(&after, "manifest_age"), "opened"), "one that was told before is told again");
    cr_assert(eq(uint, tarn_ask("DELETE", tarn_path("/api/silences", id), NULL), 404));
    (void)later, (void)muted, (void)again;
}

Test(quiet, one_that_was_told_and_closes_in_a_silence_is_told_as_closed)
{
    int64_t after = 0;
    const char *folder;

    clock_ms = tarn_now_ms();
    folder = observed("t");
    json_auto_t *first = scan_later("t", 0, true);
    cr_expect(eq(str, finding_events(&after, "manifest_age"), "opened"));
    add_silence("[{\"name\":\"code\",\"value\":\".*\",\"isRegex\":true}]", clock_ms + 60 * 60000);
    remove_file(folder);
    json_auto_t *in = scan_later("t", 1, true);
    tarn_set_mtime(tarn_path(folder, "date=2024-02-01/hour=14/data-000124.parquet"), SEED_UPDATED - 1000);
    json_auto_t *good = scan_later("t", 1, true);
    cr_expect(finding_of(good, "manifest_age") == NULL);
    cr_expect(eq(str, finding_events(&after, "manifest_age"), "closed"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/events?after=0", NULL), 200));
    int64_t start = 0;
    cr_expect(eq(str, finding_events(&start, "missing_data_file"), ""), "nobody was told of it");
    (void)first, (void)in;
}

Test(quiet, what_is_over_goes_after_its_retention)
{
    const char *folder;
    char path[700];
    TARN_ERR(err);

    clock_ms = tarn_now_ms();
    folder = observed("t");
    snprintf(path, sizeof path, "%s/" SEED_FILE, folder);
    size_t len = 0;
    char *data = tarn_read_file(path, &len);
    json_auto_t *fine = scan_later("t", 0, true);
    tarn_remove_tree(path);
    json_auto_t *bad = scan_later("t", 1, true);
    tarn_write_file(path, data, len);
    tarn_set_mtime(path, SEED_UPDATED - 60000);
    json_auto_t *good = scan_later("t", 1, true);
    add_silence("[{\"name\":\"code\",\"value\":\"x\"}]", clock_ms + 60000);
    static const struct { int days; size_t left; } k_rows[] = { { 89, 1 }, { 91, 0 } };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        cr_assert(eq(int, tarn_lake_sweep(&g_lake->lake, clock_ms + k_rows[i].days * TARN_DAY_MS, &err), TARN_OK), "%s", err.detail);
        cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/findings?state=closed", NULL), 200));
        cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "findings")), k_rows[i].left));
        cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/findings?state=open", NULL), 200));
        cr_expect(gt(sz, json_array_size(json_object_get(tarn_answer(), "findings")), 1), "what is open stays");
        cr_assert(eq(uint, tarn_ask("GET", "/api/silences", NULL), 200));
        cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "silences")), k_rows[i].left));
    }
    (void)fine, (void)bad, (void)good;
    free(data);
}

static const struct { const char *body, *field; } k_refused[] = {
    { "{\"ends_at\":\"2100-01-01T00:00:00Z\"}", "matchers" },
    { "{\"matchers\":[],\"ends_at\":\"2100-01-01T00:00:00Z\"}", "matchers" },
    { "{\"matchers\":[{\"name\":\"code\",\"value\":\"x\"}]}", "ends_at" },
    { "{\"matchers\":[{\"name\":\"code\",\"value\":\"x\"}],\"ends_at\":\"2001-01-01T00:00:00Z\"}", "ends_at" },
    { "{\"matchers\":[{\"name\":\"code\",\"value\":\"x\"}],\"ends_at\":\"2100-01-01T00:00:00Z\",\"starts_at\":\"2100-01-02T00:00:00Z\"}", "ends_at" },
    { "{\"matchers\":[{\"name\":\"code\",\"value\":\"x\"}],\"ends_at\":\"2100-01-01T00:00:00Z\",\"startsAt\":\"x\"}", "startsAt" },
    { "{\"matchers\":[{\"name\":\"tabel\",\"value\":\"x\"}],\"ends_at\":\"2100-01-01T00:00:00Z\"}", "matchers[0].name" },
    { "{\"matchers\":[{\"name\":\"code\"}],\"ends_at\":\"2100-01-01T00:00:00Z\"}", "matchers[0].value" },
    { "{\"matchers\":[{\"name\":\"code\",\"value\":\"x\"},{\"name\":\"code\",\"value\":\"(\",\"isRegex\":true}],\"ends_at\":\"2100-01-01T00:00:00Z\"}", "matchers[1].value" },
    { "{\"matchers\":[{\"name\":\"code\",\"value\":\"(a{1,99}){1,99}\",\"isRegex\":true}],\"ends_at\":\"2100-01-01T00:00:00Z\"}", "matchers[0].value" },
    { "{\"matchers\":[{\"name\":\"code\",\"value\":\"(a)\\\\1\",\"isRegex\":true}],\"ends_at\":\"2100-01-01T00:00:00Z\"}", "matchers[0].value" },
    { "{\"matchers\":[{\"name\":\"code\",\"value\":\"\\\\d+\",\"isRegex\":true}],\"ends_at\":\"2100-01-01T00:00:00Z\"}", "matchers[0].value" },
};

Test(quiet, a_silence_that_is_none_is_refused_by_name)
{
    for (size_t i = 0; i < TARN_COUNT(k_refused); i++) {
        cr_expect(eq(uint, tarn_ask("POST", "/api/silences", "%s", k_refused[i].body), 400), "%s", k_refused[i].body);
        cr_expect(eq(str, TEXT(tarn_answer_str("field")), TEXT(k_refused[i].field)), "%s: %s", k_refused[i].body, tarn_answer_text());
    }
}

Test(quiet, silences_are_listed_newest_first_in_pages)
{
    for (int i = 0; i < 5; i++) {
        char matchers[128];
        snprintf(matchers, sizeof matchers, "[{\"name\":\"code\",\"value\":\"c%d\"}]", i);
        add_silence(matchers, tarn_now_ms() + 60000);
        cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "matchers")), 1));
    }
    char token[256] = "", target[512], seen[256] = "";
    for (int pages = 0; pages < 5; pages++) {
        snprintf(target, sizeof target, "/api/silences?page_size=2%s%s", token[0] ? "&page_token=" : "", token);
        cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200), "%s", tarn_answer_text());
        const json_t *list = json_object_get(tarn_answer(), "silences");
        for (size_t i = 0; i < json_array_size(list); i++)
            snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s",
                     str_of(json_array_get(json_object_get(json_array_get(list, i), "matchers"), 0), "value"));
        if (!json_is_string(json_object_get(tarn_answer(), "next_page_token")))
            break;
        snprintf(token, sizeof token, "%s", tarn_answer_str("next_page_token"));
    }
    cr_expect(eq(sz, strlen(seen), 10), "%s: each once", seen);
    cr_assert(eq(uint, tarn_ask("GET", "/api/silences?state=expired", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "silences")), 0));
    cr_assert(eq(uint, tarn_ask("GET", "/api/silences?state=active", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "silences")), 5));
    cr_expect(eq(uint, tarn_ask("GET", "/api/silences?state=over", NULL), 400));
}

/* --- who may --- */

static char s_tokens[3][80];

static void token(int at, const char *scope, const char *tables)
{
    tarn_ask_token(g_lake->admin);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens", "{\"name\":\"k%d\",\"scope\":\"%s\"%s%s%s}", at, scope, tables ? ",\"tables\":\"" : "",
                                tables ? tables : "", tables ? "\"" : ""), 201), "%s", tarn_answer_text());
    snprintf(s_tokens[at], sizeof s_tokens[at], "%s", tarn_answer_str("token"));
}

static size_t silences_seen(void)
{
    cr_assert(eq(uint, tarn_ask("GET", "/api/silences", NULL), 200), "%s", tarn_answer_text());
    return json_array_size(json_object_get(tarn_answer(), "silences"));
}

Test(quiet_doors, a_narrowed_token_silences_its_tables_alone)
{
    char own[80], all[80];

    clock_ms = tarn_now_ms();
    observed("sales.a");
    observed("hr.b");
    token(0, "catalog:read", NULL);
    token(1, "catalog:write", "sales.*");
    tarn_ask_token(s_tokens[0]);
    cr_expect(eq(uint, tarn_ask("POST", "/api/silences", "{\"matchers\":[{\"name\":\"code\",\"value\":\"x\"}],\"ends_at\":\"2100-01-01T00:00:00Z\"}"), 403));
    tarn_ask_token(s_tokens[1]);
    add_silence("[{\"name\":\"code\",\"value\":\".*\",\"isRegex\":true}]", clock_ms + 60 * 60000);
    snprintf(own, sizeof own, "/api/silences/%s", tarn_answer_str("id"));
    cr_expect(eq(str, TEXT(tarn_answer_str("tables")), "sales.*"));
    cr_expect(eq(str, TEXT(tarn_answer_str("created_by")), "k1"));
    tarn_ask_token(g_lake->admin);
    json_auto_t *a = scan_later("sales.a", 0, true), *b = scan_later("hr.b", 0, true);
    cr_expect(ne(str, str_of(finding_of(a, "manifest_age"), "suppressed_by"), "null"));
    cr_expect(eq(str, str_of(finding_of(b, "manifest_age"), "suppressed_by"), "null"), "not beyond its rights");

    add_silence("[{\"name\":\"code\",\"value\":\"manifest_age\"}]", clock_ms + 60 * 60000);
    snprintf(all, sizeof all, "/api/silences/%s", tarn_answer_str("id"));
    cr_expect(eq(sz, silences_seen(), 2));
    tarn_ask_token(s_tokens[1]);
    cr_expect(eq(sz, silences_seen(), 1), "those of others it does not see");
    cr_expect(eq(uint, tarn_ask("GET", all, NULL), 404));
    cr_expect(eq(uint, tarn_ask("DELETE", all, NULL), 404));
    cr_expect(eq(uint, tarn_ask("GET", own, NULL), 200));
    cr_expect(eq(uint, tarn_ask("DELETE", own, NULL), 204));
}
