/* Identity, looks and since: what a run of scans makes of a finding. */
#include "tests/monitors/judged.h"
#include "base/own.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

struct run {
    struct tarn_findings live;
    int opened, closed, flapped;
};

static void run_done(struct run *run) { tarn_findings_done(&run->live); }

static void add_report(struct tarn_findings *list, const char *code, const char *subject)
{
    struct tarn_finding finding = { .code = strdup(code), .subject = strdup(subject), .message = strdup("m"),
                                    .severity = TARN_SEV_WARNING, .opened_at = -1, .closed_at = -1 };
    cr_assert(eq(int, tarn_findings_add(list, &finding, NULL), TARN_OK));
}

/* One scan: 'b' looks bad, 'g' good, 'f' failed, 'x' did not look there, 'm' found no manifest to read. The live finding afterwards, or NULL. */
static const struct tarn_finding *scan(struct run *run, char what, int64_t now_ms, int weight)
{
    struct tarn_facts facts = plain_facts();
    TARN_AUTO_DONE(findings) struct tarn_findings reports = { 0 };
    struct tarn_merged merged = { 0 };

    facts.saw = what == 'x' ? TARN_SAW_STORAGE : TARN_SAW_DOCUMENTS | TARN_SAW_MANIFEST | TARN_SAW_LOG | TARN_SAW_LISTING | TARN_SAW_STORAGE;
    facts.saw &= what == 'm' ? ~(unsigned)TARN_SAW_MANIFEST : ~0u;
    facts.state = what == 'f' ? TARN_FACTS_UNREACHABLE : TARN_FACTS_READ;
    if (what == 'b')
        add_report(&reports, "manifest_age", "manifest.json");
    const struct tarn_merge merge = { .before = &run->live, .reports = &reports, .facts = &facts, .table_id = 7,
                                      .now_ms = now_ms, .weight = weight };
    cr_assert(eq(int, tarn_findings_merge(&merge, &merged, NULL), TARN_OK));
    for (size_t i = 0; i < merged.live.count; i++)
        run->opened += merged.live.items[i].opened_at == now_ms;
    run->closed += (int)merged.closed.count;
    run->flapped += merged.flapped;
    tarn_findings_done(&run->live);
    run->live = merged.live;
    merged.live = (struct tarn_findings){ 0 };
    tarn_merged_done(&merged);
    return run->live.count > 0 ? &run->live.items[0] : NULL;
}

static const struct { const char *looks; int opened, closed; bool open; } k_rows[] = {
    { "b", 0, 0, false },
    { "bb", 1, 0, true },
    { "bgbgb", 0, 0, false },      /* never two in a row */
    { "bbg", 1, 0, true },
    { "bbgg", 1, 1, false },
    { "bbgbg", 1, 0, true },       /* a bad look between: the good ones start anew */
    { "bbff", 1, 0, true },        /* a scan that failed closes nothing */
    { "bbxx", 1, 0, true },        /* nor one that did not look there */
    { "bbgxg", 1, 1, false },
    { "bbmmm", 1, 0, true },       /* which files are the table's was not to be known */
    { "bfb", 1, 0, true },
};

Test(findings, open_after_two_bad_looks_and_close_after_two_good_ones)
{
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        __attribute__((cleanup(run_done))) struct run run = { .opened = 0 };
        const struct tarn_finding *finding = NULL;
        int64_t now = NOW;
        for (const char *look = k_rows[i].looks; *look; look++, now += MINUTE)
            finding = scan(&run, *look, now, 1);
        cr_expect(eq(int, run.opened, k_rows[i].opened), "%s", k_rows[i].looks);
        cr_expect(eq(int, run.closed, k_rows[i].closed), "%s", k_rows[i].looks);
        cr_expect(eq(int, finding && finding->opened_at >= 0, k_rows[i].open), "%s", k_rows[i].looks);
    }
}

Test(findings, a_scan_that_looked_twice_opens_and_closes_at_once)
{
    __attribute__((cleanup(run_done))) struct run run = { .opened = 0 };

    const struct tarn_finding *finding = scan(&run, 'b', NOW, 2);
    cr_assert(finding != NULL);
    cr_expect(eq(i64, finding->opened_at, NOW));
    cr_expect(scan(&run, 'g', NOW + MINUTE, 2) == NULL);
    cr_expect(eq(int, run.closed, 1));
}

Test(findings, id_and_since_stay_while_it_lasts)
{
    __attribute__((cleanup(run_done))) struct run run = { .opened = 0 };
    char id[40];

    memcpy(id, scan(&run, 'b', NOW, 1)->id, sizeof id);
    for (int i = 1; i < 5; i++) {
        const struct tarn_finding *finding = scan(&run, 'b', NOW + i * MINUTE, 1);
        cr_expect(eq(str, (char *)(uintptr_t)finding->id, id));
        cr_expect(eq(i64, finding->since, NOW), "the first bad look of the run");
        cr_expect(eq(i64, finding->opened_at, NOW + MINUTE));
        cr_expect(eq(i64, finding->last_bad_at, NOW + i * MINUTE));
    }
}

Test(findings, the_one_that_stands_for_many_takes_the_place_of_the_single_ones)
{
    struct tarn_facts facts = plain_facts();
    TARN_AUTO_DONE(findings) struct tarn_findings before = { 0 }, reports = { 0 };
    struct tarn_merged merged = { 0 };

    add_report(&before, "missing_data_file", "a.parquet");
    before.items[0].opened_at = NOW - MINUTE;
    add_report(&reports, "missing_data_file", "*");
    const struct tarn_merge merge = { .before = &before, .reports = &reports, .facts = &facts, .now_ms = NOW, .weight = 1 };
    cr_assert(eq(int, tarn_findings_merge(&merge, &merged, NULL), TARN_OK));
    cr_assert(eq(sz, merged.live.count, 1));
    cr_expect(eq(str, merged.live.items[0].subject, "*"));
    cr_assert(eq(sz, merged.closed.count, 1));
    cr_expect(eq(str, merged.closed.items[0].subject, "a.parquet"));
    tarn_merged_done(&merged);
}

/* So many missing files reported: the codes' way from single ones to the one that stands for many, and back. */
static void scan_many(struct run *run, int files, int64_t now_ms)
{
    struct tarn_facts facts = plain_facts();
    TARN_AUTO_DONE(findings) struct tarn_findings reports = { 0 };
    struct tarn_merged merged = { 0 };
    char name[16];

    facts.saw = ~0u;
    for (int i = 0; i < (files > 20 ? 1 : files); i++) {
        snprintf(name, sizeof name, "%02d", i);
        add_report(&reports, "missing_data_file", files > 20 ? "*" : name);
    }
    const struct tarn_merge merge = { .before = &run->live, .reports = &reports, .facts = &facts, .now_ms = now_ms, .weight = 1 };
    cr_assert(eq(int, tarn_findings_merge(&merge, &merged, NULL), TARN_OK));
    tarn_findings_done(&run->live);
    run->live = merged.live;
    run->closed = (int)merged.closed.count;
    for (size_t i = 0; i < merged.closed.count; i++)
        cr_expect(eq(str, merged.closed.items[i].closed_reason, (char *)(uintptr_t)(files > 20 ? "grouped" : files ? "ungrouped" : "cleared")));
    merged.live = (struct tarn_findings){ 0 };
    tarn_merged_done(&merged);
}

static void expect_open(const struct run *run, size_t count, int64_t since_ms, const char *when)
{
    cr_assert(eq(sz, run->live.count, count), "%s", when);
    for (size_t i = 0; i < count; i++) {
        cr_expect(ge(i64, run->live.items[i].opened_at, 0), "%s", when);
        cr_expect(eq(i64, run->live.items[i].since, since_ms), "%s", when);
    }
}

Test(findings, many_become_one_and_single_ones_again_without_losing_since)
{
    __attribute__((cleanup(run_done))) struct run run = { .opened = 0 };

    scan_many(&run, 20, NOW);
    scan_many(&run, 20, NOW + MINUTE);
    expect_open(&run, 20, NOW, "single");
    scan_many(&run, 21, NOW + 2 * MINUTE);
    expect_open(&run, 1, NOW, "one at once: what it stands for was open");
    cr_expect(eq(int, run.closed, 20));
    scan_many(&run, 3, NOW + 3 * MINUTE);
    expect_open(&run, 3, NOW, "single again");
    cr_expect(eq(int, run.closed, 1));
    scan_many(&run, 0, NOW + 4 * MINUTE);
    expect_open(&run, 3, NOW, "one good look");
    scan_many(&run, 0, NOW + 5 * MINUTE);
    cr_expect(eq(int, run.closed, 3));
}

Test(findings, few_reports_of_a_partial_look_do_not_take_many_apart)
{
    __attribute__((cleanup(run_done))) struct run run = { .opened = 0 };
    struct tarn_facts facts = plain_facts();
    TARN_AUTO_DONE(findings) struct tarn_findings reports = { 0 };
    struct tarn_merged merged = { 0 };

    scan_many(&run, 30, NOW);
    scan_many(&run, 30, NOW + MINUTE);
    facts.saw = TARN_SAW_DOCUMENTS | TARN_SAW_STORAGE;
    add_report(&reports, "missing_data_file", "a");
    const struct tarn_merge merge = { .before = &run.live, .reports = &reports, .facts = &facts, .now_ms = NOW + 2 * MINUTE, .weight = 2 };
    cr_assert(eq(int, tarn_findings_merge(&merge, &merged, NULL), TARN_OK));
    cr_expect(eq(sz, merged.closed.count, 0));
    cr_assert(eq(sz, merged.live.count, 1));
    cr_expect(eq(str, merged.live.items[0].subject, "*"));
    tarn_merged_done(&merged);
}

Test(findings, what_looked_wrong_in_one_of_two_looks_is_neither_bad_nor_good)
{
    __attribute__((cleanup(run_done))) struct run run = { .opened = 0 };
    struct tarn_facts facts = plain_facts();
    TARN_AUTO_DONE(findings) struct tarn_findings reports = { 0 }, unsure = { 0 };
    struct tarn_merged merged = { 0 };

    scan(&run, 'b', NOW, 2);
    add_report(&unsure, "manifest_age", "manifest.json");
    facts.saw = ~0u;
    struct tarn_merge merge = { .before = &run.live, .reports = &reports, .unsure = &unsure, .facts = &facts,
                                .now_ms = NOW + MINUTE, .weight = 2 };
    cr_assert(eq(int, tarn_findings_merge(&merge, &merged, NULL), TARN_OK));
    cr_expect(eq(sz, merged.closed.count, 0));
    cr_assert(eq(sz, merged.live.count, 1));
    cr_expect(eq(int, merged.live.items[0].good_looks, 0));
    tarn_merged_done(&merged);

    merge.unsure = NULL; /* and what one of two good looks did not see was looked at once */
    merge.missed = TARN_SAW_LISTING;
    cr_assert(eq(int, tarn_findings_merge(&merge, &merged, NULL), TARN_OK));
    cr_expect(eq(sz, merged.closed.count, 0));
    cr_expect(eq(int, merged.live.items[0].good_looks, 1));
    tarn_merged_done(&merged);
}

Test(findings, a_suspect_that_comes_and_goes_is_counted_and_never_opens)
{
    __attribute__((cleanup(run_done))) struct run run = { .opened = 0 };

    for (int i = 0; i < 4; i++) /* bad, ok, bad, ok */
        (void)scan(&run, i % 2 ? 'g' : 'b', NOW + i * MINUTE, 1);
    cr_expect(eq(int, run.opened, 0));
    cr_expect(eq(int, run.flapped, 2));
}

/* A footer that was not read this time says nothing about its file. When all were read but those of files in the middle of being
 * written, a file that is none of these was read, or is the table's no more. */
Test(findings, a_corrupt_file_closes_only_when_its_footer_was_read_again_or_it_is_gone)
{
    static const struct { const char *read, *young; unsigned saw; size_t closed; } k_rows[] = {
        { "a.parquet", NULL, TARN_SAW_LISTING, 1 },
        { "b.parquet", NULL, TARN_SAW_LISTING, 0 },
        { "b.parquet", "c.parquet", TARN_SAW_LISTING, 1 },
        { "b.parquet", "a.parquet", TARN_SAW_LISTING, 0 },
        { "b.parquet", "c.parquet", 0, 0 }, /* it may lie where nobody looked */
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts = plain_facts();
        TARN_AUTO_DONE(findings) struct tarn_findings before = { 0 }, reports = { 0 };
        struct tarn_merged merged = { 0 };
        facts.saw = TARN_SAW_DOCUMENTS | TARN_SAW_MANIFEST | k_rows[i].saw;
        add_report(&before, "corrupt_data_file", "a.parquet");
        before.items[0].opened_at = NOW - MINUTE;
        cr_assert(tarn_fileset_put(&facts.footer_paths, k_rows[i].read) != NULL);
        facts.footers_but_young = k_rows[i].young;
        if (k_rows[i].young)
            cr_assert(tarn_fileset_put(&facts.young_footers, k_rows[i].young) != NULL);
        const struct tarn_merge merge = { .before = &before, .reports = &reports, .facts = &facts, .now_ms = NOW, .weight = 2 };
        cr_assert(eq(int, tarn_findings_merge(&merge, &merged, NULL), TARN_OK));
        cr_expect(eq(sz, merged.closed.count, k_rows[i].closed), "row %zu", i);
        tarn_merged_done(&merged);
        tarn_facts_done(&facts);
    }
}

Test(findings, stand_in_order_of_severity_code_and_subject)
{
    static const struct { enum tarn_severity severity; const char *code, *subject; } k_order[] = {
        { TARN_SEV_ERROR, "b", "x" }, { TARN_SEV_WARNING, "a", "x" }, { TARN_SEV_WARNING, "a", "y" }, { TARN_SEV_INFO, "a", "a" },
    };
    for (size_t i = 0; i + 1 < TARN_COUNT(k_order); i++) {
        struct tarn_finding one = { .severity = k_order[i].severity, .code = (char *)(uintptr_t)k_order[i].code,
                                    .subject = (char *)(uintptr_t)k_order[i].subject };
        struct tarn_finding two = { .severity = k_order[i + 1].severity, .code = (char *)(uintptr_t)k_order[i + 1].code,
                                    .subject = (char *)(uintptr_t)k_order[i + 1].subject };
        cr_expect(lt(int, tarn_finding_order(&one, &two), 0));
    }
}

/* The store keeps one live finding of a code and subject: a second one would fail the scan, and each after it. */
Test(findings, of_one_code_and_subject_are_told_once)
{
    static const struct { const char *subjects[3], *told; } k_cases[] = {
        { { "a.parquet", "b.parquet" }, "missing_data_file a.parquet error; missing_data_file b.parquet error" },
        { { "a.parquet", "b.parquet", "a.parquet" }, "missing_data_file a.parquet error; missing_data_file b.parquet error" },
        { { "a\xff.parquet", "a\xfe.parquet" }, "missing_data_file a?.parquet error" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_cases); i++) {
        struct tarn_facts facts = plain_facts();
        for (size_t k = 0; k < TARN_COUNT(k_cases[i].subjects) && k_cases[i].subjects[k]; k++)
            cr_assert(eq(int, tarn_suspects_add(&facts.missing, k_cases[i].subjects[k], NULL, -1, -1, -1, NULL), TARN_OK));
        cr_expect(eq(str, (char *)judged(tarn_judge_data_files, &facts, NULL), (char *)k_cases[i].told));
        tarn_facts_done(&facts);
    }
}
