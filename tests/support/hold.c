/* hold.c - see hold.h. */
#include "tests/support/hold.h"

static tarn_code hold_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_hold *hold = ctx;

    (void)tx;
    (void)err;
    sem_post(&hold->held);
    sem_wait(&hold->go);
    return TARN_OK;
}

static void ended(void *ctx, tarn_code code, struct tarn_err *err)
{
    (void)ctx;
    (void)code;
    (void)err;
}

void tarn_hold_begin(struct tarn_hold *hold, struct tarn_store *store)
{
    sem_init(&hold->held, 0, 0);
    sem_init(&hold->go, 0, 0);
    tarn_store_submit(store, hold_tx, hold, ended);
    sem_wait(&hold->held);
}

void tarn_hold_end(struct tarn_hold *hold) { sem_post(&hold->go); }
