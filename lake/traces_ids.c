/* traces_ids.c - an entry is created, never overwritten: a
 * commit under an id that lies there could not be published. */
#include "lake/pace.h"
#include "lake/traces.h"

struct take {
    int64_t table_id;
    const struct tarn_traces *traces;
    const struct tarn_trace_list *list;
    size_t from, to;
};

static tarn_code take_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct take *t = ctx;
    tarn_code code = TARN_OK;

    for (size_t i = t->from; i < t->to && code == TARN_OK; i++)
        code = tx->ops->commits.take_id(tx, t->table_id, tarn_trace_id(t->traces, &t->list->items[i]), err);
    return code;
}

tarn_code tarn_traces_take_ids(struct tarn_lake *lake, int64_t table_id, const struct tarn_traces *traces,
                               struct tarn_err *err)
{
    const struct tarn_trace_list *const lists[] = { &traces->others, &traces->bad };
    const size_t step = TARN_TX_ROWS_MAX / 2;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < TARN_COUNT(lists) && code == TARN_OK; i++) {
        struct take t = { .table_id = table_id, .traces = traces, .list = lists[i] };
        for (; t.from < t.list->count && code == TARN_OK; t.from = t.to) {
            t.to = t.list->count - t.from < step ? t.list->count : t.from + step;
            code = tarn_store_write(lake->store, take_tx, &t, err);
        }
    }
    return code;
}
