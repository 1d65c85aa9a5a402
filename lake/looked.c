/* looked.c - a set of table ids as a bitmap: ids are small numbers that the database hands out one by
 * one, and the question is asked at every commit. */
#include "lake/look.h"
#include <pthread.h>
#include <string.h>

struct tarn_looked {
    pthread_mutex_t lock;
    uint8_t *bits; /* owned */
    size_t size;   /* bytes */
};

struct tarn_looked *tarn_looked_new(void)
{
    struct tarn_looked *looked = calloc(1, sizeof *looked);

    if (looked)
        pthread_mutex_init(&looked->lock, NULL);
    return looked;
}

void tarn_looked_free(struct tarn_looked *looked)
{
    if (!looked)
        return;
    pthread_mutex_destroy(&looked->lock);
    free(looked->bits);
    free(looked);
}

static bool make_room(struct tarn_looked *looked, size_t byte)
{
    if (byte < looked->size)
        return true;
    size_t size = byte + byte / 2 + 64;
    uint8_t *bits = realloc(looked->bits, size);
    if (!bits)
        return false;
    memset(bits + looked->size, 0, size - looked->size);
    looked->bits = bits;
    looked->size = size;
    return true;
}

bool tarn_look_is_due(const struct tarn_lake *lake, const struct tarn_table *table)
{
    return table->publish && !tarn_looked_has(lake->looked, table->id);
}

bool tarn_looked_has(struct tarn_looked *looked, int64_t table_id)
{
    size_t byte = (size_t)table_id / 8;

    if (!looked)
        return true;
    pthread_mutex_lock(&looked->lock);
    bool has = byte < looked->size && (looked->bits[byte] >> (table_id % 8)) & 1;
    pthread_mutex_unlock(&looked->lock);
    return has;
}

void tarn_looked_set(struct tarn_looked *looked, int64_t table_id, bool is_compared)
{
    size_t byte = (size_t)table_id / 8;
    uint8_t bit = (uint8_t)(1u << (table_id % 8));

    if (!looked)
        return;
    pthread_mutex_lock(&looked->lock);
    /* Without memory the table is compared again at its next commit: slower, not wrong. */
    if (make_room(looked, byte))
        looked->bits[byte] = (uint8_t)(is_compared ? looked->bits[byte] | bit : looked->bits[byte] & ~bit);
    pthread_mutex_unlock(&looked->lock);
}
