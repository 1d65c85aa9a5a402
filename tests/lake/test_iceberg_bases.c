/* test_iceberg_bases.c - parsed metadata between two commits: whose it is, and how much is kept. The leak check of the sanitizers
 * says that each is freed once. */
#include "lake/iceberg_bases.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static const char k_document[] =
    "{\"format-version\":2,\"table-uuid\":\"9c12d441-03fe-4693-9a96-a0705ddf69c1\",\"location\":\"/lake/t\","
    "\"last-sequence-number\":0,\"last-updated-ms\":1,\"last-column-id\":1,\"current-schema-id\":0,"
    "\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"int\"}]}],"
    "\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":[]}],\"last-partition-id\":999,"
    "\"default-sort-order-id\":0,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}]}";

static struct tarn_iceberg_meta *meta_of(int64_t marked)
{
    struct tarn_iceberg_meta *meta = NULL;
    cr_assert(eq(int, tarn_iceberg_parse(k_document, strlen(k_document), &meta, NULL), TARN_OK));
    meta->last_updated_ms = marked;
    return meta;
}

/* The mark of what is taken, 0: nothing was there. */
static int64_t taken(struct tarn_iceberg_bases *bases, int64_t table_id, int64_t revision)
{
    size_t bytes = 0;
    TARN_AUTO(iceberg) struct tarn_iceberg_meta *meta = tarn_iceberg_bases_take(bases, table_id, revision, &bytes);
    cr_expect(eq(int, bytes > 0, meta != NULL));
    return meta ? meta->last_updated_ms : 0;
}

Test(bases, one_is_taken_once_and_only_of_its_revision)
{
    struct tarn_iceberg_bases *bases = tarn_iceberg_bases_new(1000);
    tarn_iceberg_bases_give(bases, 7, 3, 10, meta_of(73));
    cr_expect(eq(i64, taken(bases, 8, 3), 0));
    cr_expect(eq(i64, taken(bases, 7, 3), 73));
    cr_expect(eq(i64, taken(bases, 7, 3), 0));
    tarn_iceberg_bases_give(bases, 7, 3, 10, meta_of(73));
    cr_expect(eq(i64, taken(bases, 7, 4), 0), "an older one is no base");
    cr_expect(eq(i64, taken(bases, 7, 3), 0), "and of no more use");
    tarn_iceberg_bases_give(bases, 7, 4, 10, meta_of(74));
    tarn_iceberg_bases_give(bases, 7, 5, 10, meta_of(75));
    cr_expect(eq(i64, taken(bases, 7, 5), 75));
    cr_expect(eq(i64, taken(bases, 7, 4), 0));
    tarn_iceberg_bases_free(bases);
}

Test(bases, who_comes_late_takes_no_newer_one_away)
{
    struct tarn_iceberg_bases *bases = tarn_iceberg_bases_new(1000);
    tarn_iceberg_bases_give(bases, 7, 5, 10, meta_of(75));
    cr_expect(eq(i64, taken(bases, 7, 4), 0));
    tarn_iceberg_bases_give(bases, 7, 4, 10, meta_of(74)); /* the base of who lost the race */
    cr_expect(eq(i64, taken(bases, 7, 4), 0));
    cr_expect(eq(i64, taken(bases, 7, 5), 75));
    tarn_iceberg_bases_give(bases, 7, 4, 10, meta_of(74));
    cr_expect(eq(i64, taken(bases, 7, 4), 74), "where there is no newer one it is as good as any");
    tarn_iceberg_bases_free(bases);
}

Test(bases, those_given_last_are_kept_within_the_bytes)
{
    struct tarn_iceberg_bases *bases = tarn_iceberg_bases_new(100);
    for (int64_t id = 1; id <= 4; id++)
        tarn_iceberg_bases_give(bases, id, 1, 30, meta_of(id));
    tarn_iceberg_bases_give(bases, 5, 1, 101, meta_of(5));
    static const int64_t k_kept[] = { 0, 2, 3, 4, 0 };
    for (int64_t id = 1; id <= 5; id++)
        cr_expect(eq(i64, taken(bases, id, 1), k_kept[id - 1]), "table %d", (int)id);
    tarn_iceberg_bases_free(bases);
}

Test(bases, however_small_they_are_their_number_is_bounded)
{
    struct tarn_iceberg_bases *bases = tarn_iceberg_bases_new(1 << 20);
    size_t kept = 0;
    for (int64_t id = 1; id <= 1000; id++)
        tarn_iceberg_bases_give(bases, id, 1, 1, meta_of(id));
    for (int64_t id = 1; id <= 1000; id++)
        kept += taken(bases, id, 1) == id;
    cr_expect(eq(sz, kept, (size_t)256));
    tarn_iceberg_bases_free(bases);
}

Test(bases, without_a_list_nothing_is_kept)
{
    tarn_iceberg_bases_give(NULL, 1, 1, 1, meta_of(1));
    cr_expect(eq(i64, taken(NULL, 1, 1), 0));
    tarn_iceberg_bases_free(NULL);
}

enum { THREADS = 4, EACH = 500 };

struct giver {
    struct tarn_iceberg_bases *bases;
    atomic_int *taken; /* how often, by mark */
    int first;         /* of its own marks */
};

/* Each base has a mark of its own, and whoever takes one counts it. */
static void *give_and_take(void *arg)
{
    const struct giver *giver = arg;
    for (int i = 0; i < EACH; i++) {
        tarn_iceberg_bases_give(giver->bases, i % 3, 1, 1, meta_of(giver->first + i));
        atomic_fetch_add(&giver->taken[taken(giver->bases, i % 3, 1)], 1);
    }
    return NULL;
}

Test(bases, of_two_who_take_one_gets_it)
{
    static atomic_int counts[THREADS * EACH + 1]; /* 0: nothing was there */
    struct tarn_iceberg_bases *bases = tarn_iceberg_bases_new(1 << 20);
    struct giver givers[THREADS];
    pthread_t threads[THREADS];
    int found = 0;
    for (int i = 0; i < THREADS; i++) {
        givers[i] = (struct giver){ bases, counts, 1 + i * EACH };
        cr_assert(eq(int, pthread_create(&threads[i], NULL, give_and_take, &givers[i]), 0));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int mark = 1; mark <= THREADS * EACH; mark++) {
        cr_expect(le(int, atomic_load(&counts[mark]), 1), "the base %d", mark);
        found += atomic_load(&counts[mark]);
    }
    cr_expect(gt(int, found, 0));
    tarn_iceberg_bases_free(bases);
}
