/* test_traces_plan.c - from what a folder tells to the steps that take it back: rows of versions, worked out by hand. */
#include "lake/traces.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static void done(struct tarn_traces *t) { tarn_traces_done(t); }

static void add(struct tarn_traces *t, struct tarn_trace_list *list, const char *text)
{
    int64_t version = 0;
    int read = 0;

    for (; sscanf(text, " %ld%n", &version, &read) == 1; text += read) {
        char id[32];
        snprintf(id, sizeof id, "txn-%ld", (long)version);
        list->items = reallocarray(list->items, list->count + 1, sizeof *list->items);
        cr_assert(list->items != NULL);
        list->items[list->count++] = (struct tarn_trace){ .version = version, .timestamp = -1, .id_at = t->names.len };
        tarn_buf_add(&t->names, id, strlen(id) + 1);
    }
}

/* "e6 s10m e11": entries, snapshots of a checkpoint (c) or the manifest (m); "7-9": versions that are lost. */
static void write_plan(const struct tarn_retake *plan, char *steps, char *gaps, size_t size)
{
    steps[0] = gaps[0] = '\0';
    for (size_t i = 0; i < plan->count; i++) {
        const struct tarn_retake_step *s = &plan->steps[i];
        size_t len = strlen(steps);
        snprintf(steps + len, size - len, "%s%s%ld%s", i ? " " : "", s->is_snapshot ? "s" : "e", (long)s->version,
                 !s->is_snapshot ? "" : s->is_manifest ? "m" : "c");
    }
    for (size_t i = 0; i < plan->gap_count; i++) {
        size_t len = strlen(gaps);
        snprintf(gaps + len, size - len, "%s%ld-%ld", i ? " " : "", (long)plan->gaps[i].from, (long)plan->gaps[i].to);
    }
}

Test(traces_plan, the_steps_take_back_all_that_is_told)
{
    static const struct {
        const char *what, *entries, *checkpoints;
        int64_t manifest, from, lowest;
        bool has_base;
        const char *steps, *gaps;
        bool is_clean;
    } k_rows[] = {
        { "nothing is ahead", "", "", 5, 5, 1, true, "", "", true },
        { "the manifest is behind", "", "", 3, 5, 1, true, "", "", true },
        { "an entry after the other", "6 7 8", "", 8, 5, 1, true, "e6 e7 e8", "", true },
        { "the log is ahead of the manifest", "6 7 8", "", 6, 5, 1, true, "e6 e7 e8", "", true },
        { "no manifest", "6 7", "", -1, 5, 1, true, "e6 e7", "", true },
        { "from the beginning", "1 2", "", 2, 0, 1, true, "e1 e2", "", true },
        { "a checkpoint on the way is passed over", "6 7 8", "7", 8, 5, 1, true, "e6 e7 e8", "", true },
        { "a hole, and the manifest behind it", "6 8", "", 8, 5, 1, true, "e6 s8m", "7-7", false },
        { "a hole, and a checkpoint behind it", "6 9 10", "8", 10, 5, 1, true, "e6 s8c e9 e10", "7-7", false },
        { "two holes", "6 8 10", "", 11, 5, 1, true, "e6 s11m", "7-10", false },
        { "the first entry is missing", "7 8", "", 8, 5, 1, true, "s8m", "6-7", false },
        { "the last one is missing: its manifest is there", "6", "", 7, 5, 1, true, "e6 s7m", "", false },
        { "a hole and no snapshot", "6 8 9", "", 6, 5, 1, true, "e6 e8 e9", "7-7", false },
        { "two entries of one version", "6 7 7 8", "", 8, 5, 1, true, "e6 s8m", "7-7", false },
        { "two entries of one version and no snapshot", "6 7 7 8", "", -1, 5, 1, true, "e6 e8", "7-7", false },
        { "a cut log", "8 9", "8", 9, 0, 1, true, "s8c e9", "1-7", false },
        { "another history", "5 6 7", "", 7, 5, 1, true, "s7m", "6-6", false },
        { "another history, its snapshot below", "5 6 7", "", 5, 5, 1, true, "", "", false },
        { "old leftovers are no other history", "2 6", "", 6, 5, 4, true, "e6", "", true },
        { "the files of the beginning are not known", "5 6", "", 6, 4, 1, false, "s6m", "5-5", true },
        { "and no snapshot tells them", "5 6", "", -1, 4, 1, false, "", "", true },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        __attribute__((cleanup(done))) struct tarn_traces t = { .catalog = "c", .uuid = "u" };
        __attribute__((cleanup(tarn_retake_done))) struct tarn_retake plan = { 0 };
        char steps[256], gaps[256];
        add(&t, &t.entries, k_rows[i].entries);
        add(&t, &t.checkpoints, k_rows[i].checkpoints);
        t.manifest_own = k_rows[i].manifest >= 0;
        t.manifest.version = k_rows[i].manifest;
        cr_assert(eq(int, tarn_retake_plan(&t, k_rows[i].from, k_rows[i].lowest, k_rows[i].has_base, &plan, NULL), TARN_OK));
        write_plan(&plan, steps, gaps, sizeof steps);
        cr_expect(eq(str, steps, (char *)k_rows[i].steps), "%s", k_rows[i].what);
        cr_expect(eq(str, gaps, (char *)k_rows[i].gaps), "%s", k_rows[i].what);
        if (k_rows[i].has_base)
            cr_expect(plan.is_clean == k_rows[i].is_clean, "%s: %s", k_rows[i].what, plan.why);
        cr_expect(plan.is_clean == (plan.why[0] == '\0'), "%s", k_rows[i].what);
        cr_expect(eq(i64, plan.to, plan.count > 0 ? plan.steps[plan.count - 1].version : k_rows[i].from), "%s", k_rows[i].what);
    }
}

Test(traces_plan, many_steps_are_kept)
{
    __attribute__((cleanup(done))) struct tarn_traces t = { .catalog = "c", .uuid = "u" };
    __attribute__((cleanup(tarn_retake_done))) struct tarn_retake plan = { 0 };
    char one[32];

    for (int64_t v = 1; v <= 1000; v++) {
        snprintf(one, sizeof one, "%ld", (long)v);
        add(&t, &t.entries, one);
    }
    cr_assert(eq(int, tarn_retake_plan(&t, 0, 1, true, &plan, NULL), TARN_OK));
    cr_assert(eq(sz, plan.count, 1000));
    for (size_t i = 0; i < plan.count; i++)
        cr_assert(eq(i64, plan.steps[i].version, (int64_t)i + 1));
}
