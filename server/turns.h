/* turns.h - requests that are about the same thing, one after another, in the
 * order in which they came; no thread waits for it. Only a way not to work in
 * vain: what decides is the compare-and-swap of the catalog's row. */
#ifndef TARN_SERVER_TURNS_H
#define TARN_SERVER_TURNS_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct tarn_turn {
    uint64_t key; /* of what it is about; two things with one key wait for each other, which harms nothing */
    void *ctx;    /* whose turn it is */
    struct tarn_turn *next;
};
struct tarn_turns {
    pthread_mutex_t lock;
    struct { struct tarn_turn *first, *last; } lines[64]; /* by key; the first of each key has the turn */
};
void tarn_turns_init(struct tarn_turns *turns);
void tarn_turns_done(struct tarn_turns *turns);
/* Any thread. `turn` stays where it is until its end. True: it
 * is its turn; false: some tarn_turns_end will hand it out. */
bool tarn_turns_begin(struct tarn_turns *turns, struct tarn_turn *turn);
/* Any thread, by who has the turn. Whose turn it is now; NULL: nobody waits. */
struct tarn_turn *tarn_turns_end(struct tarn_turns *turns, struct tarn_turn *turn);
#endif
