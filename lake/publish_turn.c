/* publish_turn.c - one publication of a table at a time in this process: the publisher's threads, and use
 * cases that publish on their own thread. An older manifest must never be renamed over a newer one. */
#include "lake/publish_run.h"
#include <pthread.h>

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_over = PTHREAD_COND_INITIALIZER;
static struct tarn_publish_turn *turns; /* those that are on, on their threads' stacks */

static bool is_taken(const struct tarn_lake *lake, int64_t table_id)
{
    for (const struct tarn_publish_turn *t = turns; t; t = t->next) {
        if (t->lake == lake && t->table_id == table_id)
            return true;
    }
    return false;
}

void tarn_publish_turn_begin(struct tarn_publish_turn *turn)
{
    pthread_mutex_lock(&turn_lock);
    while (is_taken(turn->lake, turn->table_id))
        pthread_cond_wait(&turn_over, &turn_lock);
    turn->next = turns;
    turns = turn;
    pthread_mutex_unlock(&turn_lock);
}

void tarn_publish_turn_end(struct tarn_publish_turn *turn)
{
    pthread_mutex_lock(&turn_lock);
    struct tarn_publish_turn **at = &turns;
    while (*at != turn)
        at = &(*at)->next;
    *at = turn->next;
    pthread_cond_broadcast(&turn_over);
    pthread_mutex_unlock(&turn_lock);
}
