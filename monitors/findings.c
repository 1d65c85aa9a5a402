/* findings.c - from what looks wrong now to findings with an identity. A finding opens after two bad looks and closes
 * after two good ones; a scan that did not examine its subject is no look at all. Pure: the store is scan.c's. */
#include "monitors/judge.h"
#include "base/hash.h"
#include <string.h>

enum { LOOKS = 2 }; /* that open, and that close */

int tarn_finding_order(const void *a, const void *b)
{
    const struct tarn_finding *x = a, *y = b;
    int order = (x->severity < y->severity) - (x->severity > y->severity);

    if (order == 0)
        order = strcmp(x->code, y->code);
    return order != 0 ? order : strcmp(x->subject, y->subject);
}

tarn_code tarn_findings_add(struct tarn_findings *list, struct tarn_finding *item, struct tarn_err *err)
{
    struct tarn_finding *more = list->items;

    if (list->count % 16 == 0)
        more = realloc(list->items, (list->count + 16) * sizeof *more);
    if (!more) {
        tarn_finding_done(item);
        return tarn_fail_oom(err);
    }
    list->items = more;
    list->items[list->count++] = *item;
    *item = (struct tarn_finding){ 0 };
    return TARN_OK;
}

tarn_code tarn_finding_copy(struct tarn_finding *to, const struct tarn_finding *from, struct tarn_err *err)
{
    struct tarn_finding out = *from;
    const char *const k_from[] = { from->code,     from->subject, from->message, from->observed,
                                   from->expected, from->unit,    from->cure,    from->evidence };
    char **const k_to[] = { &out.code, &out.subject, &out.message, &out.observed,
                            &out.expected, &out.unit, &out.cure, &out.evidence };
    bool failed = false;

    for (size_t i = 0; i < TARN_COUNT(k_from); i++) {
        *k_to[i] = k_from[i] ? strdup(k_from[i]) : NULL;
        failed |= k_from[i] && !*k_to[i];
    }
    if (failed) {
        tarn_finding_done(&out);
        return tarn_fail_oom(err);
    }
    *to = out;
    return TARN_OK;
}

void tarn_merged_done(struct tarn_merged *merged)
{
    tarn_findings_done(&merged->live);
    tarn_findings_done(&merged->closed);
    free(merged->forgotten);
    *merged = (struct tarn_merged){ 0 };
}

static const struct tarn_finding *find(const struct tarn_findings *list, const char *code, const char *subject)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].code, code) == 0 && (!subject || strcmp(list->items[i].subject, subject) == 0))
            return &list->items[i];
    return NULL;
}

/* Were all files that the evidence names read again? */
static bool footers_examined(const struct tarn_finding *finding, const struct tarn_facts *facts)
{
    json_auto_t *evidence = finding->evidence ? json_loads(finding->evidence, 0, NULL) : NULL;
    const json_t *examples = json_object_get(evidence, "examples");
    size_t index;
    json_t *path;

    if (!json_is_array(examples))
        return tarn_fileset_find(&facts->footer_paths, finding->subject) != NULL;
    json_array_foreach(examples, index, path) {
        if (!tarn_fileset_find(&facts->footer_paths, json_string_value(path)))
            return false;
    }
    return true;
}

static bool is_examined(const struct tarn_finding *finding, const struct tarn_facts *facts)
{
    const struct tarn_kind *kind = tarn_kind_find(finding->code);

    if (facts->state == TARN_FACTS_UNREACHABLE)
        return false; /* a scan that failed closes nothing */
    if (!kind || (facts->saw & kind->needs) == kind->needs)
        return true;
    unsigned others = kind->needs & ~(unsigned)TARN_SAW_FOOTERS;
    return (facts->saw & others) == others && footers_examined(finding, facts);
}

static tarn_code forget(struct tarn_merged *out, const char id[40], struct tarn_err *err)
{
    char(*more)[40] = realloc(out->forgotten, (out->forgotten_count + 1) * sizeof *more);

    if (!more)
        return tarn_fail_oom(err);
    out->forgotten = more;
    memcpy(out->forgotten[out->forgotten_count++], id, 40);
    return TARN_OK;
}

/* Looks wrong again: everything but identity and past comes from the report. */
static tarn_code look_bad(const struct tarn_merge *m, const struct tarn_finding *known, const struct tarn_finding *report,
                          struct tarn_merged *out, struct tarn_err *err)
{
    struct tarn_finding next;
    tarn_code code = tarn_finding_copy(&next, report, err);

    if (code != TARN_OK)
        return code;
    next.table_id = m->table_id;
    next.since = m->now_ms;
    next.last_bad_at = m->now_ms;
    next.bad_looks = m->weight;
    next.baseline = m->baseline;
    if (known) {
        memcpy(next.id, known->id, sizeof next.id);
        next.since = known->since;
        next.opened_at = known->opened_at;
        next.bad_looks = known->bad_looks < 1000 ? known->bad_looks + m->weight : known->bad_looks;
        next.baseline = known->baseline;
    } else {
        code = tarn_uuid(next.id, err);
    }
    if (next.opened_at < 0 && next.bad_looks >= LOOKS)
        next.opened_at = m->now_ms;
    if (code != TARN_OK)
        tarn_finding_done(&next);
    return code == TARN_OK ? tarn_findings_add(&out->live, &next, err) : code;
}

/* Looks good, or was not looked at, or is told by the one "*" of its code now. */
static tarn_code look_good(const struct tarn_merge *m, const struct tarn_finding *known, bool is_folded,
                           struct tarn_merged *out, struct tarn_err *err)
{
    bool is_good = is_folded || is_examined(known, m->facts);
    struct tarn_finding next;

    if (is_good && known->opened_at < 0)
        return forget(out, known->id, err);
    tarn_code code = tarn_finding_copy(&next, known, err);
    if (code != TARN_OK)
        return code;
    if (is_good) {
        next.good_looks += is_folded ? LOOKS : m->weight;
        next.bad_looks = 0;
    }
    if (next.good_looks < LOOKS)
        return tarn_findings_add(&out->live, &next, err);
    next.closed_at = m->now_ms;
    return tarn_findings_add(&out->closed, &next, err);
}

static tarn_code merge_known(const struct tarn_merge *m, const struct tarn_finding *known, struct tarn_merged *out,
                             struct tarn_err *err)
{
    const struct tarn_finding *report = find(m->reports, known->code, known->subject);
    const struct tarn_finding *all = find(m->reports, known->code, "*");

    if (report)
        return look_bad(m, known, report, out, err);
    return look_good(m, known, all && strcmp(known->subject, "*") != 0, out, err);
}

tarn_code tarn_findings_merge(const struct tarn_merge *m, struct tarn_merged *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_merged_done))) struct tarn_merged merged = { 0 };
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < m->before->count && code == TARN_OK; i++)
        code = merge_known(m, &m->before->items[i], &merged, err);
    for (size_t i = 0; i < m->reports->count && code == TARN_OK; i++) {
        const struct tarn_finding *report = &m->reports->items[i];
        if (!find(m->before, report->code, report->subject))
            code = look_bad(m, NULL, report, &merged, err);
    }
    if (code != TARN_OK)
        return code;
    if (merged.live.count > 1)
        qsort(merged.live.items, merged.live.count, sizeof *merged.live.items, tarn_finding_order);
    *out = merged;
    merged = (struct tarn_merged){ 0 };
    return TARN_OK;
}
