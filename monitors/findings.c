/* findings.c - lists of findings: their order, copies of their own. */
#include "base/text.h"
#include "monitors/judge.h"
#include <string.h>

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
    char **const k_texts[] = { &out.code,       &out.subject,       &out.message,   &out.observed,      &out.expected,
                               &out.unit,       &out.cure,          &out.evidence,  &out.ack.by,        &out.ack.comment,
                               &out.accept.by,  &out.accept.reason, &out.suppressed_by, &out.closed_reason };
    bool failed = false;

    for (size_t i = 0; i < TARN_COUNT(k_texts); i++)
        *k_texts[i] = tarn_text_copy(*k_texts[i], &failed);
    if (failed) {
        tarn_finding_done(&out);
        return tarn_fail_oom(err);
    }
    *to = out;
    return TARN_OK;
}
