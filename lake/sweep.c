/* sweep.c - in chunks, each its own transaction, so that commits pass between. */
#include "lake/sweep.h"

#define CHUNK_ROWS 5000

struct sweep {
    struct tarn_lake *lake;
    int64_t now_ms;
    bool left;
};

/* The store sweeps ids from before the start only: a registration that stages rows now is safe. */
static tarn_code staged_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    s->left = false;
    return tx->ops->files.sweep(tx, CHUNK_ROWS, &s->left, err);
}

static tarn_code dropped_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    s->left = false;
    return tx->ops->tables.purge(tx, s->now_ms - s->lake->dropped_retention_ms, CHUNK_ROWS, &s->left, err);
}

static tarn_code keys_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    s->left = false;
    return tx->ops->commits.keys_expire(tx, s->now_ms - TARN_KEY_RETENTION_MS, CHUNK_ROWS, err);
}

tarn_code tarn_lake_sweep(struct tarn_lake *lake, int64_t now_ms, struct tarn_err *err)
{
    static tarn_tx_fn *const k_rounds[] = { staged_tx, dropped_tx, keys_tx };
    struct sweep s = { .lake = lake, .now_ms = now_ms };

    for (size_t i = 0; i < TARN_COUNT(k_rounds); i++) {
        s.left = true;
        while (s.left) {
            tarn_code code = tarn_store_write(lake->store, k_rounds[i], &s, err);
            if (code != TARN_OK)
                return code;
        }
    }
    return TARN_OK;
}
