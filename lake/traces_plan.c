/* traces_plan.c - from the traces to the steps that take them back. */
#include "lake/traces.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void tarn_retake_done(struct tarn_retake *plan)
{
    free(plan->steps);
    free(plan->gaps);
    *plan = (struct tarn_retake){ 0 };
}

/* Where the first trace of at least `version` stands; count: nowhere. */
static size_t at_or_above(const struct tarn_trace_list *list, int64_t version)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle].version < version)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct tarn_trace *tarn_traces_entry(const struct tarn_traces *traces, int64_t version)
{
    const struct tarn_trace_list *list = &traces->entries;
    size_t at = at_or_above(list, version);

    if (at == list->count || list->items[at].version != version)
        return NULL;
    return at + 1 < list->count && list->items[at + 1].version == version ? NULL : &list->items[at];
}

static tarn_code add_step(struct tarn_retake *plan, struct tarn_retake_step step, struct tarn_err *err)
{
    if (plan->count == 0 || (plan->count >= 64 && (plan->count & (plan->count - 1)) == 0)) {
        size_t cap = plan->count == 0 ? 64 : 2 * plan->count;
        struct tarn_retake_step *more = reallocarray(plan->steps, cap, sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        plan->steps = more;
    }
    plan->steps[plan->count++] = step;
    plan->to = step.version;
    return TARN_OK;
}

static tarn_code add_gap(struct tarn_retake *plan, int64_t from, int64_t to, struct tarn_err *err)
{
    if (from > to)
        return TARN_OK;
    struct tarn_retake_gap *more = reallocarray(plan->gaps, plan->gap_count + 1, sizeof *more);
    if (!more)
        return tarn_fail_oom(err);
    plan->gaps = more;
    plan->gaps[plan->gap_count++] = (struct tarn_retake_gap){ from, to };
    return TARN_OK;
}

/* The first reason is the one that is told. */
static void doubt(struct tarn_retake *plan, const char *fmt, ...) TARN_PRINTF(2, 3);
static void doubt(struct tarn_retake *plan, const char *fmt, ...)
{
    va_list args;

    plan->is_clean = false;
    if (plan->why[0])
        return;
    va_start(args, fmt);
    vsnprintf(plan->why, sizeof plan->why, fmt, args);
    va_end(args);
}

/* --- what contradicts --- */

static bool judge_past(const struct tarn_traces *traces, int64_t from, int64_t lowest,
                       struct tarn_retake *plan)
{
    size_t at = at_or_above(&traces->entries, lowest);
    bool is_fork = at < traces->entries.count && traces->entries.items[at].version <= from;

    if (is_fork)
        doubt(plan, "storage has another version %" PRId64 " than the catalog: the log entry %.128s",
              traces->entries.items[at].version, tarn_trace_id(traces, &traces->entries.items[at]));
    return !is_fork;
}

/* --- where to go on --- */

/* The lowest snapshot of at least `version`. */
static bool find_snapshot(const struct tarn_traces *traces, int64_t version, struct tarn_retake_step *out)
{
    size_t at = at_or_above(&traces->checkpoints, version);
    bool has_checkpoint = at < traces->checkpoints.count;
    bool has_manifest = traces->manifest_own && traces->manifest.version >= version;
    int64_t checkpoint = has_checkpoint ? traces->checkpoints.items[at].version : 0;

    if (!has_checkpoint && !has_manifest)
        return false;
    *out = (struct tarn_retake_step){ .is_snapshot = true };
    out->is_manifest = has_manifest && (!has_checkpoint || traces->manifest.version <= checkpoint);
    out->version = out->is_manifest ? traces->manifest.version : checkpoint;
    out->id = out->is_manifest ? NULL : tarn_trace_id(traces, &traces->checkpoints.items[at]);
    return true;
}

static tarn_code add_snapshot(const struct tarn_retake_step *step, int64_t version, struct tarn_retake *plan,
                              struct tarn_err *err)
{
    doubt(plan, "the log entry of version %" PRId64 " is missing", version);
    tarn_code code = add_gap(plan, version, step->version - 1, err);
    return code == TARN_OK ? add_step(plan, *step, err) : code;
}

/* Without any snapshot: the next entry that there is, as far as what it does still fits. */
static tarn_code skip_to_entry(const struct tarn_traces *traces, int64_t version, int64_t *next,
                               struct tarn_retake *plan, struct tarn_err *err)
{
    size_t at = at_or_above(&traces->entries, version);

    if (at < traces->entries.count && traces->entries.items[at].version == version)
        doubt(plan, "two log entries say that they are version %" PRId64, version);
    doubt(plan, "the log entry of version %" PRId64 " is missing", version);
    while (at < traces->entries.count && !tarn_traces_entry(traces, traces->entries.items[at].version))
        at++;
    *next = INT64_MAX;
    if (at == traces->entries.count)
        return TARN_OK;
    *next = traces->entries.items[at].version;
    return add_gap(plan, version, *next - 1, err);
}

static int64_t newest(const struct tarn_traces *traces)
{
    int64_t top = traces->manifest_own ? traces->manifest.version : -1;
    const struct tarn_trace_list *const lists[] = { &traces->entries, &traces->checkpoints };

    for (size_t i = 0; i < TARN_COUNT(lists); i++)
        if (lists[i]->count > 0 && lists[i]->items[lists[i]->count - 1].version > top)
            top = lists[i]->items[lists[i]->count - 1].version;
    return top;
}

/* The step to `*version`, or to a later one where it is not
 * told; *version becomes the next one to look for. */
static tarn_code take_step(const struct tarn_traces *traces, bool *is_sound, int64_t *version,
                           struct tarn_retake *plan, struct tarn_err *err)
{
    const struct tarn_trace *entry = *is_sound ? tarn_traces_entry(traces, *version) : NULL;
    struct tarn_retake_step step = { .version = *version };
    tarn_code code = TARN_OK;

    if (entry) {
        step.id = tarn_trace_id(traces, entry);
        code = add_step(plan, step, err);
    } else if (find_snapshot(traces, *version, &step)) {
        *is_sound = true;
        code = add_snapshot(&step, *version, plan, err);
    } else {
        int64_t next = INT64_MAX;
        code = *is_sound ? skip_to_entry(traces, *version, &next, plan, err) : TARN_OK;
        *version = next;
        return code;
    }
    *version = step.version + 1;
    return code;
}

tarn_code tarn_retake_plan(const struct tarn_traces *traces, int64_t from, int64_t lowest, bool has_base,
                           struct tarn_retake *out, struct tarn_err *err)
{
    struct tarn_retake plan = { .from = from, .to = from, .is_clean = true };
    int64_t top = newest(traces), version = from + 1;
    bool is_sound = judge_past(traces, from, lowest, &plan) && has_base;
    tarn_code code = TARN_OK;

    while (version <= top && code == TARN_OK)
        code = take_step(traces, &is_sound, &version, &plan, err);
    if (code != TARN_OK) {
        tarn_retake_done(&plan);
        return code;
    }
    tarn_retake_done(out);
    *out = plan;
    return TARN_OK;
}
