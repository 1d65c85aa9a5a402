/* A walk over a snapshot gives exactly its files, whatever is committed meanwhile and in which order they come. */
#include "lake/snapshot.h"
#include "tests/support/managed.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 6000 }; /* "f000000.parquet" ... */

struct walk {
    struct tarn_snapshot_cursor cursor;
    int64_t limit, passed, told, refuse_after; /* refuse_after: files a page, 0: as many as come */
    unsigned char *seen;                       /* by number */
};

static bool take(void *ctx, const struct tarn_file *file)
{
    struct walk *w = ctx;
    int number = -1;

    if (w->refuse_after > 0 && w->told == w->refuse_after)
        return false;
    cr_assert(eq(int, sscanf(file->path, "f%d.parquet", &number), 1), "%s", file->path);
    cr_expect(eq(int, w->seen[number]++, 0), "%s twice", file->path);
    w->told++;
    return true;
}

static tarn_code begin_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct walk *w = ctx;
    int64_t version = w->cursor.version;

    return tarn_snapshot_begin(tx, w->cursor.table_id, version, &w->cursor, err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct walk *w = ctx;

    w->told = 0;
    return tarn_snapshot_page(tx, &w->cursor, w->limit, take, w, &w->passed, err);
}

static bool step(struct managed *m, struct walk *w)
{
    TARN_ERR(err);

    cr_assert(eq(int, tarn_store_read(m->lake.store, page_tx, w, &err), TARN_OK), "%s", err.detail);
    cr_assert(le(i64, w->passed, w->limit));
    return w->passed == w->limit || (w->refuse_after > 0 && w->told == w->refuse_after);
}

static void begin(struct managed *m, struct walk *w, int64_t id, int64_t version, int64_t limit)
{
    *w = (struct walk){ .limit = limit, .seen = calloc(FILES, 1) };
    w->cursor.table_id = id;
    w->cursor.version = version;
    cr_assert(eq(int, tarn_store_read(m->lake.store, begin_tx, w, NULL), TARN_OK));
}

static void expect_seen(struct walk *w, const unsigned char *live, const char *what)
{
    for (int i = 0; i < FILES; i++)
        cr_expect(eq(int, w->seen[i], live[i]), "%s: file %d", what, i);
    free(w->seen);
}

/* Some numbers go out, others come (back) in; live is kept beside. */
static void churn(struct managed *m, int64_t id, unsigned char *live, unsigned *seed, int changes)
{
    TARN_AUTO_DONE(buf) struct tarn_buf adds = { 0 }, removes = { 0 };
    unsigned char touched[FILES] = { 0 };

    for (int i = 0; i < changes; i++) {
        *seed = *seed * 1103515245 + 12345;
        int number = (int)(*seed >> 8) % FILES;
        if (touched[number]++)
            continue;
        struct tarn_buf *to = live[number] ? &removes : &adds;
        tarn_buf_addf(to, "%sf%06d.parquet", to->len ? " " : "", number);
        live[number] = !live[number];
    }
    managed_commit(m, id, adds.len ? adds.data : NULL, removes.len ? removes.data : NULL);
}

Test(snapshot_walks, every_version_gives_exactly_its_files_near_or_far, .timeout = 120)
{
    enum { VERSIONS = 60 };
    static unsigned char live[VERSIONS + 1][FILES];
    unsigned seed = 7;
    struct walk w;
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    for (int v = 1; v <= VERSIONS; v++) {
        memcpy(live[v], live[v - 1], FILES);
        churn(&m, id, live[v], &seed, 100);
    }
    int by_key = 0;
    for (int v = 0; v <= VERSIONS; v++) {
        begin(&m, &w, id, v, v % 3 ? 97 : 1000);
        by_key += w.cursor.by_key;
        w.refuse_after = v % 2 ? 0 : 31;
        while (step(&m, &w))
            ;
        expect_seen(&w, live[v], "a version");
    }
    cr_expect(by_key > 0 && by_key < VERSIONS, "both orders: %d", by_key);
}

/* Commits between the pages, small ones at first; then one so large that the walk goes over to the other
 * order. */
Test(snapshot_walks, a_walk_goes_over_to_the_other_order_without_losing_or_repeating_a_file, .timeout = 120)
{
    static unsigned char live[FILES], asked[FILES];
    unsigned seed = 3;
    struct walk w;
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    churn(&m, id, live, &seed, 4000);
    churn(&m, id, live, &seed, 500);
    memcpy(asked, live, FILES);
    begin(&m, &w, id, 2, 200);
    cr_expect(not(w.cursor.by_key));
    for (int pages = 0; step(&m, &w); pages++) {
        if (pages < 6)
            churn(&m, id, live, &seed, 20);
        cr_expect(eq(int, w.cursor.by_key, pages > 6), "page %d", pages);
        if (pages == 6)
            churn(&m, id, live, &seed, 4000);
    }
    cr_expect(w.cursor.by_key);
    expect_seen(&w, asked, "version 2");
}

static void expire_until_2(struct tarn_table *table) { table->oldest_version = 2; }

Test(snapshot_walks, a_walk_over_a_version_that_expires_is_cut)
{
    static unsigned char live[FILES];
    unsigned seed = 5;
    struct walk w;
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    churn(&m, id, live, &seed, 300);
    churn(&m, id, live, &seed, 10);
    begin(&m, &w, id, 1, 50);
    cr_assert(step(&m, &w));
    managed_change(&m, id, expire_until_2);
    TARN_ERR(err);
    cr_expect(eq(int, tarn_store_read(m.lake.store, page_tx, &w, &err), TARN_VERSION_EXPIRED), "%s",
              err.detail);
    free(w.seen);
}
