/* merge.c - from what looks wrong now to findings with an identity. A finding opens after two bad looks and closes after
 * two good ones; a scan that did not examine its subject is no look at all. Pure: the store is scan.c's. */
#include "monitors/judge.h"
#include "base/hash.h"
#include <stdio.h>
#include <string.h>

void tarn_merged_done(struct tarn_merged *merged)
{
    tarn_findings_done(&merged->live);
    tarn_findings_done(&merged->closed);
    free(merged->forgotten);
    *merged = (struct tarn_merged){ 0 };
}

/* NULL: there is none, or no list. */
static const struct tarn_finding *find(const struct tarn_findings *list, const char *code, const char *subject)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (strcmp(list->items[i].code, code) == 0 && strcmp(list->items[i].subject, subject) == 0)
            return &list->items[i];
    return NULL;
}

static bool is_star(const struct tarn_finding *finding) { return strcmp(finding->subject, "*") == 0; }

/* Does the list hold single ones of the code? */
static bool has_singles(const struct tarn_findings *list, const char *code)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].code, code) == 0 && !is_star(&list->items[i]))
            return true;
    return false;
}

/* Of these a scan that could not be made reports one. */
static bool is_of_failed_scans(const struct tarn_finding *finding)
{
    static const char *const k_codes[] = { "storage_unreachable", "location_not_allowed", "scan_failed" };

    for (size_t i = 0; i < TARN_COUNT(k_codes); i++)
        if (strcmp(finding->code, k_codes[i]) == 0)
            return true;
    return false;
}

/* For how many good looks at it does this scan count? */
static int good_looks(const struct tarn_merge *m, const struct tarn_finding *finding)
{
    const struct tarn_kind *kind = tarn_kind_find(finding->code);
    unsigned needs = kind ? kind->needs : 0, others = needs & ~(unsigned)TARN_SAW_FOOTERS;

    if (m->facts->state == TARN_FACTS_UNREACHABLE) /* a scan that failed closes nothing but what says so in other words */
        return is_of_failed_scans(finding) ? m->weight : 0;
    if (find(m->unsure, finding->code, finding->subject) || find(m->unsure, finding->code, "*"))
        return 0; /* bad once, good once */
    if (!tarn_finding_is_examined(finding, m->facts))
        return 0;
    return (m->missed & others) == 0 ? m->weight : 1;
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

/* --- what looks wrong --- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* What changes with the clock alone is no change; there it is another threshold. */
static bool has_not_changed(const struct tarn_finding *known, const struct tarn_finding *next)
{
    const struct tarn_kind *kind = tarn_kind_find(next->code);

    return kind && kind->is_running ? same_text(known->expected, next->expected) : same_text(known->observed, next->observed);
}

/* Identity and past of what was known go on. What people said goes on too: an acceptance until something changed. */
static tarn_code carry(struct tarn_finding *next, const struct tarn_finding *known, int weight, struct tarn_err *err)
{
    struct tarn_finding past;
    tarn_code code = tarn_finding_copy(&past, known, err);

    if (code != TARN_OK)
        return code;
    memcpy(next->id, known->id, sizeof next->id);
    next->since = known->since;
    next->opened_at = known->opened_at;
    next->told_at = known->told_at;
    next->bad_looks = known->bad_looks < 1000 ? known->bad_looks + weight : known->bad_looks;
    next->baseline = known->baseline;
    next->ack = past.ack;
    past.ack.by = past.ack.comment = NULL;
    if (known->accept.reason && known->severity == next->severity && has_not_changed(known, next)) {
        next->accept = past.accept;
        past.accept.by = past.accept.reason = NULL;
    }
    tarn_finding_done(&past);
    return TARN_OK;
}

/* The one that stands for many takes the past of the single ones, and they its past when there are few again. */
static void take_group_past(const struct tarn_merge *m, struct tarn_finding *next)
{
    bool star = is_star(next);

    for (size_t i = 0; i < m->before->count; i++) {
        const struct tarn_finding *other = &m->before->items[i];
        if (strcmp(other->code, next->code) != 0 || is_star(other) == star)
            continue;
        next->baseline |= other->baseline;
        next->since = other->since < next->since ? other->since : next->since;
        if (other->bad_looks + m->weight > next->bad_looks)
            next->bad_looks = other->bad_looks + m->weight;
    }
}

/* Nobody is told of it. When that ends and it still looks wrong, it is news again. */
static bool is_quiet(const struct tarn_finding *finding)
{
    return finding->suppressed_by || finding->accept.reason;
}

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
        code = carry(&next, known, m->weight, err);
    } else {
        take_group_past(m, &next);
        code = tarn_uuid(next.id, err);
    }
    bool is_held = next.suppressed_by && strcmp(next.suppressed_by, "maintenance") == 0;
    if (next.opened_at < 0 && next.bad_looks >= TARN_LOOKS && !is_held)
        next.opened_at = m->now_ms;
    next.is_news = next.opened_at >= 0 && !is_quiet(&next) && (next.told_at <= 0 || (known && is_quiet(known)));
    if (code != TARN_OK)
        tarn_finding_done(&next);
    return code == TARN_OK ? tarn_findings_add(&out->live, &next, err) : code;
}

/* --- what does not --- */

static tarn_code close_as(const struct tarn_merge *m, struct tarn_finding *next, const char *reason,
                          struct tarn_merged *out, struct tarn_err *err)
{
    next->closed_at = m->now_ms;
    next->closed_reason = strdup(reason);
    if (!next->closed_reason) {
        tarn_finding_done(next);
        return tarn_fail_oom(err);
    }
    return tarn_findings_add(&out->closed, next, err);
}

/* It is told by others of its code from now on. */
static tarn_code regroup(const struct tarn_merge *m, const struct tarn_finding *known, struct tarn_merged *out,
                         struct tarn_err *err)
{
    struct tarn_finding next;

    if (known->opened_at < 0)
        return forget(out, known->id, err);
    tarn_code code = tarn_finding_copy(&next, known, err);
    return code == TARN_OK ? close_as(m, &next, is_star(known) ? "ungrouped" : "grouped", out, err) : code;
}

/* Looks good, or was not looked at. */
static tarn_code look_good(const struct tarn_merge *m, const struct tarn_finding *known, struct tarn_merged *out,
                           struct tarn_err *err)
{
    int looks = good_looks(m, known);
    struct tarn_finding next;

    if (looks > 0 && known->opened_at < 0) {
        out->flapped++;
        return forget(out, known->id, err);
    }
    tarn_code code = tarn_finding_copy(&next, known, err);
    if (code != TARN_OK)
        return code;
    if (looks > 0) {
        next.good_looks += looks;
        next.bad_looks = 0;
    }
    return next.good_looks < TARN_LOOKS ? tarn_findings_add(&out->live, &next, err) : close_as(m, &next, "cleared", out, err);
}

/* Some of the many that it stands for were not looked at: few reports do not mean that there are few. */
static bool stays_grouped(const struct tarn_merge *m, const struct tarn_finding *star)
{
    const struct tarn_kind *kind = tarn_kind_find(star->code);

    return is_star(star) && kind && (m->facts->saw & kind->needs) != kind->needs;
}

static bool is_in_group(const struct tarn_merge *m, const struct tarn_finding *report)
{
    const struct tarn_finding *star = is_star(report) ? NULL : find(m->before, report->code, "*");

    return star && stays_grouped(m, star);
}

static tarn_code keep(const struct tarn_finding *known, struct tarn_merged *out, struct tarn_err *err)
{
    struct tarn_finding same;
    tarn_code code = tarn_finding_copy(&same, known, err);

    return code == TARN_OK ? tarn_findings_add(&out->live, &same, err) : code;
}

static tarn_code merge_known(const struct tarn_merge *m, const struct tarn_finding *known, struct tarn_merged *out,
                             struct tarn_err *err)
{
    const struct tarn_finding *report = find(m->reports, known->code, known->subject);
    bool regroups = is_star(known) ? has_singles(m->reports, known->code) : find(m->reports, known->code, "*") != NULL;

    if (report)
        return look_bad(m, known, report, out, err);
    if (regroups && stays_grouped(m, known))
        return keep(known, out, err);
    return regroups ? regroup(m, known, out, err) : look_good(m, known, out, err);
}

tarn_code tarn_findings_merge(const struct tarn_merge *m, struct tarn_merged *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_merged_done))) struct tarn_merged merged = { 0 };
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < m->before->count && code == TARN_OK; i++)
        code = merge_known(m, &m->before->items[i], &merged, err);
    for (size_t i = 0; i < m->reports->count && code == TARN_OK; i++) {
        const struct tarn_finding *report = &m->reports->items[i];
        if (!find(m->before, report->code, report->subject) && !is_in_group(m, report) && !tarn_finding_is_told(m->before, report, m->facts))
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
