/* hold.h - a store's writer that stands still until the test lets it go: what is submitted meanwhile makes one group. */
#ifndef TARN_TESTS_HOLD_H
#define TARN_TESTS_HOLD_H
#include "catalog/store.h"
#include <semaphore.h>

struct tarn_hold {
    sem_t held, go;
};
/* Returns when the writer stands still, in a transaction that does nothing. *hold must live until that has ended. */
void tarn_hold_begin(struct tarn_hold *hold, struct tarn_store *store);
void tarn_hold_end(struct tarn_hold *hold);
#endif
