/* answers.c - a hash table in shards, each with a lock, a byte budget and its entries in the order they came.
 * What does not hold any more is found out when it is asked for: nobody sweeps. */
#include "api/answers.h"
#include "base/hash.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS  16
#define SHARE   8 /* the part of a shard that one body may fill */
#define KEY_MAX (TARN_NAMESPACE_MAX + TARN_NAME_MAX + 4)

struct entry {
    struct entry *chain;         /* in its bucket */
    struct entry *newer, *older; /* in its shard */
    uint64_t hash, clock;
    int64_t table_id, until_ms;
    uint32_t key_len, tag_len, body_len;
    char data[]; /* key, tag, body */
};

struct shard {
    pthread_mutex_t lock;
    struct entry **bucket; /* owned */
    size_t mask;
    struct entry *oldest, *newest;
    size_t bytes;
};

struct tarn_answers {
    struct tarn_store *store;
    size_t shard_max; /* bytes */
    struct shard shard[SHARDS];
};

struct key {
    char text[KEY_MAX];
    size_t len;
    uint64_t hash;
};

static struct key key_of(enum tarn_answer_kind kind, const struct tarn_ident *ident)
{
    struct key key;
    size_t namespace_len = strlen(ident->namespace_) + 1, name_len = strlen(ident->name);
    key.text[0] = (char)('0' + (int)kind);
    memcpy(key.text + 1, ident->namespace_, namespace_len); /* with its NUL: no two pairs share a text */
    memcpy(key.text + 1 + namespace_len, ident->name, name_len);
    key.len = 1 + namespace_len + name_len;
    key.hash = tarn_hash128(key.text, key.len).lo;
    return key;
}

static struct shard *shard_of(struct tarn_answers *answers, uint64_t hash)
{
    return &answers->shard[hash >> 60];
}

static size_t size_of(const struct entry *entry)
{
    return sizeof *entry + entry->key_len + entry->tag_len + entry->body_len;
}

/* Where the pointer to the entry stands, or the end of its bucket. */
static struct entry **locate(struct shard *shard, const struct key *key)
{
    struct entry **at = &shard->bucket[key->hash & shard->mask];
    for (; *at; at = &(*at)->chain)
        if ((*at)->hash == key->hash && (*at)->key_len == key->len &&
            memcmp((*at)->data, key->text, key->len) == 0)
            break;
    return at;
}

/* `at`: the pointer to it in its bucket. */
static void drop(struct shard *shard, struct entry **at)
{
    struct entry *entry = *at;
    *at = entry->chain;
    if (entry->newer)
        entry->newer->older = entry->older;
    else
        shard->newest = entry->older;
    if (entry->older)
        entry->older->newer = entry->newer;
    else
        shard->oldest = entry->newer;
    shard->bytes -= size_of(entry);
    free(entry);
}

static void drop_oldest(struct shard *shard)
{
    struct entry **at = &shard->bucket[shard->oldest->hash & shard->mask];
    while (*at != shard->oldest)
        at = &(*at)->chain;
    drop(shard, at);
}

static struct entry *entry_new(const struct key *key, const char *tag, const struct tarn_buf *body)
{
    size_t tag_len = strlen(tag);
    struct entry *entry = malloc(sizeof *entry + key->len + tag_len + body->len);
    if (!entry)
        return NULL;
    entry->hash = key->hash;
    entry->key_len = (uint32_t)key->len;
    entry->tag_len = (uint32_t)tag_len;
    entry->body_len = (uint32_t)body->len;
    memcpy(entry->data, key->text, key->len);
    memcpy(entry->data + key->len, tag, tag_len);
    memcpy(entry->data + key->len + tag_len, body->data, body->len);
    return entry;
}

static void link_in(struct shard *shard, struct entry *entry)
{
    struct entry **bucket = &shard->bucket[entry->hash & shard->mask];
    entry->chain = *bucket;
    *bucket = entry;
    entry->newer = NULL;
    entry->older = shard->newest;
    if (shard->newest)
        shard->newest->newer = entry;
    else
        shard->oldest = entry;
    shard->newest = entry;
    shard->bytes += size_of(entry);
}

tarn_code tarn_answers_new(struct tarn_store *store, size_t bytes_max, struct tarn_answers **out,
                           struct tarn_err *err)
{
    TARN_AUTO(answers) struct tarn_answers *answers = calloc(1, sizeof *answers);
    if (!answers)
        return tarn_fail_oom(err);
    answers->store = store;
    answers->shard_max = bytes_max / SHARDS;
    size_t buckets = 64;
    while (buckets < answers->shard_max / 1024)
        buckets *= 2;
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &answers->shard[i];
        pthread_mutex_init(&shard->lock, NULL);
        shard->mask = buckets - 1;
        shard->bucket = calloc(buckets, sizeof(struct entry *));
        if (!shard->bucket)
            return tarn_fail_oom(err);
    }
    *out = tarn_take(&answers);
    return TARN_OK;
}

void tarn_answers_free(struct tarn_answers *answers)
{
    if (!answers)
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &answers->shard[i];
        while (shard->oldest)
            drop_oldest(shard);
        free(shard->bucket);
        pthread_mutex_destroy(&shard->lock);
    }
    free(answers);
}

bool tarn_answers_find(struct tarn_answers *answers, enum tarn_answer_kind kind,
                       const struct tarn_ident *ident, int64_t now_ms, struct tarn_buf *out,
                       char tag[TARN_ANSWER_TAG])
{
    if (!answers)
        return false;
    const struct key key = key_of(kind, ident);
    struct shard *shard = shard_of(answers, key.hash);
    pthread_mutex_lock(&shard->lock);
    const struct entry *entry = *locate(shard, &key);
    bool holds = entry && now_ms < entry->until_ms &&
                 !tarn_store_touched(answers->store, entry->table_id, entry->clock);
    if (holds) {
        const char *kept = entry->data + entry->key_len;
        tarn_buf_add(out, kept + entry->tag_len, entry->body_len);
        if (tag)
            snprintf(tag, TARN_ANSWER_TAG, "%.*s", (int)entry->tag_len, kept);
    }
    pthread_mutex_unlock(&shard->lock);
    return holds && !out->failed;
}

void tarn_answers_keep(struct tarn_answers *answers, enum tarn_answer_kind kind,
                       const struct tarn_ident *ident, int64_t table_id, uint64_t clock, int64_t until_ms,
                       const struct tarn_buf *body, const char *tag)
{
    if (!answers || body->failed || body->len > answers->shard_max / SHARE ||
        (tag && strlen(tag) >= TARN_ANSWER_TAG))
        return;
    const struct key key = key_of(kind, ident);
    struct entry *entry = entry_new(&key, tag ? tag : "", body);
    if (!entry)
        return;
    entry->table_id = table_id;
    entry->clock = clock;
    entry->until_ms = until_ms;
    struct shard *shard = shard_of(answers, key.hash);
    pthread_mutex_lock(&shard->lock);
    struct entry **before = locate(shard, &key);
    if (*before)
        drop(shard, before);
    link_in(shard, entry);
    while (shard->bytes > answers->shard_max && shard->oldest != shard->newest)
        drop_oldest(shard);
    pthread_mutex_unlock(&shard->lock);
}
