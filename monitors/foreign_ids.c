/* foreign_ids.c - entries that somebody else wrote into a managed table's log: an entry is created, never overwritten, so
 * no commit may take their ids from now on. When such an entry is put aside its number stays without one, and that is no
 * gap. */
#include "monitors/judge.h"
#include "catalog/store.h"

enum {
    IDS_MAX = 1000, /* of one scan */
    HOLE_MAX = 20   /* numbers of one hole that are all asked for */
};

tarn_code tarn_foreign_ids_take(struct tarn_tx *tx, const struct tarn_log_facts *log, int64_t table_id,
                                struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0, taken = 0; i < log->count && taken < IDS_MAX && code == TARN_OK; i++) {
        if (!log->entries[i].foreign)
            continue;
        code = tx->ops->commits.take_id(tx, table_id, tarn_log_file(log, &log->entries[i]), err);
        taken++;
    }
    return code;
}

struct asking {
    struct tarn_log_facts *log;
    int64_t table_id;
    size_t asked;
};

static tarn_code ask_number(struct tarn_tx *tx, struct asking *a, int64_t number, struct tarn_err *err)
{
    char id[TARN_TXN_ID_MAX + 24];
    bool is_taken = false;

    tarn_log_number_id(a->log, number, id);
    tarn_code code = tx->ops->commits.id_taken(tx, a->table_id, id, &is_taken, err);
    if (code == TARN_OK && is_taken)
        a->log->taken[a->log->taken_count++] = number;
    return code;
}

/* Of a long hole only its end: commits go on above a number that is taken. */
static int64_t first_asked(const struct asking *a, size_t i)
{
    int64_t before = a->log->entries[i - 1].number, number = a->log->entries[i].number;

    return number - before > HOLE_MAX ? number - 1 : before + 1;
}

static tarn_code ask_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct asking *a = ctx;
    const struct tarn_log_facts *log = a->log;
    tarn_code code = TARN_OK;

    a->asked = a->log->taken_count = 0;
    for (size_t i = 1; i < log->count && code == TARN_OK; i++)
        for (int64_t n = first_asked(a, i); n < log->entries[i].number && code == TARN_OK; n++) {
            if (a->asked++ == IDS_MAX)
                return TARN_OK; /* the others count as holes */
            code = ask_number(tx, a, n, err);
        }
    return code;
}

tarn_code tarn_taken_ids_read(struct tarn_store *store, struct tarn_log_facts *log, int64_t table_id, struct tarn_err *err)
{
    struct asking asking = { .log = log, .table_id = table_id };

    if (!tarn_log_is_dense(log) || log->count < 2 ||
        log->entries[log->count - 1].number - log->entries[0].number < (int64_t)log->count)
        return TARN_OK; /* without a hole */
    free(log->taken);
    log->taken = calloc(IDS_MAX, sizeof *log->taken);
    return log->taken ? tarn_store_read(store, ask_tx, &asking, err) : tarn_fail_oom(err);
}
