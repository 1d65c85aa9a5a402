/* judge.c - what all judges share: how a report becomes a finding in the making, thresholds, and many suspects of one
 * kind as one. */
#include "monitors/judge.h"
#include "base/text.h"
#include "base/json.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *tarn_judge_number(int64_t value)
{
    static _Thread_local char ring[8][24];
    static _Thread_local unsigned at;
    char *out = ring[at++ % TARN_COUNT(ring)];

    snprintf(out, sizeof ring[0], "%" PRId64, value);
    return out;
}

enum tarn_severity tarn_judge_over(const struct tarn_kind_settings *settings, int64_t value,
                                   const struct tarn_limit **limit)
{
    const struct { const struct tarn_limit *limit; enum tarn_severity severity; } k_order[] = {
        { &settings->error, TARN_SEV_ERROR },
        { &settings->warning, TARN_SEV_WARNING },
    };

    for (size_t i = 0; i < TARN_COUNT(k_order); i++) {
        if (!k_order[i].limit->is_set || value <= k_order[i].limit->value)
            continue;
        *limit = k_order[i].limit;
        return k_order[i].severity;
    }
    return TARN_SEV_OK;
}

/* Messages are cut where their buffers end, maybe inside a character. */
static char *copy(const char *text, bool *failed)
{
    char *out = tarn_text_copy(text, failed);

    if (out)
        tarn_utf8_mend(out);
    return out;
}

static char *message_of(const char *code, const struct tarn_report *report)
{
    char *out = NULL;

    if (report->message)
        return strdup(report->message);
    return asprintf(&out, "%s: %s", code, report->subject) < 0 ? NULL : out;
}

static void fill(struct tarn_judging *j, const struct tarn_kind *kind, const struct tarn_kind_settings *settings,
                 const struct tarn_report *report, struct tarn_finding *out)
{
    enum tarn_severity severity = report->severity == TARN_SEV_OK ? kind->severity : report->severity;

    if (settings->has_severity)
        severity = settings->severity;
    if (report->ceiling != TARN_SEV_OK && severity > report->ceiling)
        severity = report->ceiling;
    *out = (struct tarn_finding){ .severity = severity,
                                  .since = j->now_ms,
                                  .opened_at = -1,
                                  .closed_at = -1,
                                  .last_bad_at = j->now_ms };
    out->code = copy(kind->code, &j->failed);
    out->subject = copy(report->subject, &j->failed);
    out->message = message_of(kind->code, report);
    j->failed |= !out->message;
    if (out->message)
        tarn_utf8_mend(out->message);
    out->observed = copy(report->observed, &j->failed);
    out->expected = copy(report->expected, &j->failed);
    out->unit = copy(report->unit ? report->unit : kind->unit, &j->failed);
    out->cure = j->facts->managed && !report->is_incurable ? copy(report->cure ? report->cure : kind->cure, &j->failed) : NULL;
    if (report->evidence) {
        out->evidence = tarn_json_text(report->evidence);
        j->failed |= !out->evidence;
    }
}

/* A finding goes by code and subject. Documents may name a thing twice, and names on disk that are no UTF-8 may look the same. */
static bool is_told(const struct tarn_judging *j, const struct tarn_finding *finding)
{
    for (size_t i = 0; finding->code && finding->subject && i < j->out.count; i++)
        if (strcmp(j->out.items[i].code, finding->code) == 0 && strcmp(j->out.items[i].subject, finding->subject) == 0)
            return true;
    return false;
}

void tarn_judge_report(struct tarn_judging *j, const char *code, const struct tarn_report *report)
{
    json_auto_t *evidence = report->evidence;
    const struct tarn_kind *kind = tarn_kind_find(code);
    const struct tarn_kind_settings *settings = &j->settings->kinds[kind - tarn_kinds];
    struct tarn_finding finding;
    TARN_ERR(fault);

    (void)evidence;
    if (settings->is_off)
        return;
    fill(j, kind, settings, report, &finding);
    if (is_told(j, &finding)) {
        tarn_finding_done(&finding);
        return;
    }
    j->failed |= tarn_findings_add(&j->out, &finding, &fault) != TARN_OK;
}

json_t *tarn_judge_examples(const struct tarn_suspects *list)
{
    json_t *examples = json_array();

    for (size_t i = 0; i < list->count; i++)
        json_array_append_new(examples, tarn_json_str(list->items[i].subject));
    return json_pack("{s:I, s:o*}", "count", (json_int_t)list->total, "examples", examples);
}

static void report_many(struct tarn_judging *j, const struct tarn_kind *kind, const struct tarn_suspects *list,
                        enum tarn_severity severity, bool is_incurable)
{
    char message[512];

    snprintf(message, sizeof message, "%s: %" PRId64 ", the first is %.300s", kind->code, list->total,
             list->items[0].subject);
    tarn_judge_report(j, kind->code,
                      &(struct tarn_report){ .severity = severity,
                                             .subject = "*",
                                             .message = message,
                                             .observed = tarn_judge_number(list->total),
                                             .expected = "0",
                                             .unit = kind->is_whole && kind->unit ? kind->unit : "subjects",
                                             .is_incurable = is_incurable,
                                             .evidence = tarn_judge_examples(list) });
}

static void report_one(struct tarn_judging *j, const char *code, const struct tarn_suspect *item,
                       enum tarn_severity severity, bool is_incurable)
{
    char message[600];

    snprintf(message, sizeof message, "%s: %.300s (%.200s)", code, item->subject, item->note ? item->note : "");
    tarn_judge_report(j, code,
                      &(struct tarn_report){
                          .severity = severity,
                          .subject = item->subject,
                          .message = item->note ? message : NULL,
                          .observed = item->observed >= 0 ? tarn_judge_number(item->observed) : NULL,
                          .expected = item->expected >= 0 ? tarn_judge_number(item->expected) : NULL,
                          .is_incurable = is_incurable,
                          .evidence = item->note ? json_pack("{s:o}", "note", tarn_json_str(item->note)) : NULL });
}

static void report_list(struct tarn_judging *j, const char *code, const struct tarn_suspects *list,
                        enum tarn_severity severity, bool is_incurable)
{
    const struct tarn_kind *kind = tarn_kind_find(code);

    if (list->total == 0)
        return;
    if (kind->is_whole || list->total > TARN_EXAMPLES_MAX) {
        report_many(j, kind, list, severity, is_incurable);
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        report_one(j, code, &list->items[i], severity, is_incurable);
}

void tarn_judge_suspects(struct tarn_judging *j, const char *code, const struct tarn_suspects *list,
                         enum tarn_severity severity)
{
    report_list(j, code, list, severity, false);
}

void tarn_judge_incurable(struct tarn_judging *j, const char *code, const struct tarn_suspects *list)
{
    report_list(j, code, list, TARN_SEV_OK, true);
}

tarn_code tarn_judge_all(struct tarn_judging *j, struct tarn_err *err)
{
    size_t count = tarn_facts_are_of_old_catalog(j->facts) ? 1 : tarn_judges_count; /* the first one tells of the place */

    for (size_t i = 0; i < count; i++)
        tarn_judges[i](j);
    if (j->out.count > 1)
        qsort(j->out.items, j->out.count, sizeof *j->out.items, tarn_finding_order);
    return j->failed ? tarn_fail_oom(err) : TARN_OK;
}

void tarn_judging_done(struct tarn_judging *j) { tarn_findings_done(&j->out); }
