/* turns.c - a few lines behind one lock, each in the order of
 * arrival. Who waits is at most as many as there are requests. */
#include "server/turns.h"
#include <stddef.h>

#define LINES (sizeof((struct tarn_turns *)NULL)->lines / sizeof((struct tarn_turns *)NULL)->lines[0])

void tarn_turns_init(struct tarn_turns *turns)
{
    *turns = (struct tarn_turns){ .lines = { { NULL, NULL } } };
    pthread_mutex_init(&turns->lock, NULL);
}

void tarn_turns_done(struct tarn_turns *turns) { pthread_mutex_destroy(&turns->lock); }

static struct tarn_turn *of_key(struct tarn_turn *turn, uint64_t key)
{
    while (turn && turn->key != key)
        turn = turn->next;
    return turn;
}

bool tarn_turns_begin(struct tarn_turns *turns, struct tarn_turn *turn)
{
    size_t line = turn->key % LINES;

    turn->next = NULL;
    pthread_mutex_lock(&turns->lock);
    bool is_free = !of_key(turns->lines[line].first, turn->key);
    if (turns->lines[line].first)
        turns->lines[line].last->next = turn;
    else
        turns->lines[line].first = turn;
    turns->lines[line].last = turn;
    pthread_mutex_unlock(&turns->lock);
    return is_free;
}

struct tarn_turn *tarn_turns_end(struct tarn_turns *turns, struct tarn_turn *turn)
{
    size_t line = turn->key % LINES;
    struct tarn_turn *before = NULL;

    pthread_mutex_lock(&turns->lock);
    for (struct tarn_turn *at = turns->lines[line].first; at != turn; at = at->next)
        before = at;
    if (before)
        before->next = turn->next;
    else
        turns->lines[line].first = turn->next;
    if (turns->lines[line].last == turn)
        turns->lines[line].last = before;
    struct tarn_turn *next = of_key(turn->next, turn->key);
    pthread_mutex_unlock(&turns->lock);
    return next;
}
