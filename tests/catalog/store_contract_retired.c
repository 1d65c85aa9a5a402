/* store_contract_retired.c - the port's promises about files that no kept version has any more. */
#include "base/buf.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

struct retire {
    int64_t table_id, version, limit;
    bool left;
    const char *path;
};

static tarn_code retire_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct retire *r = ctx;
    return tx->ops->retired.retire(tx, r->table_id, r->version, r->limit, &r->left, err);
}

static tarn_code gone_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct retire *r = ctx;
    return tx->ops->retired.gone(tx, r->table_id, r->path, err);
}

static tarn_code add_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct retire *r = ctx;
    const struct tarn_retired_file file = { .path = r->path, .size = 100, .removed_at = -1 };
    return tx->ops->retired.add(tx, r->table_id, &file, err);
}

struct list {
    int64_t table_id;
    struct tarn_buf text;
    char after[TARN_PATH_MAX + 1];
    int64_t seen;
};

static tarn_code note(void *ctx, const struct tarn_retired_file *file, struct tarn_err *err)
{
    (void)err;
    struct list *l = ctx;
    tarn_buf_addf(&l->text, "%s%s@%lld", l->text.len ? " " : "", file->path, (long long)file->removed_at);
    cr_expect(eq(i64, file->size, 100));
    snprintf(l->after, sizeof l->after, "%s", file->path);
    l->seen++;
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct list *l = ctx;
    char after[TARN_PATH_MAX + 1];
    memcpy(after, l->after, sizeof after);
    l->seen = 0;
    return tx->ops->retired.page(tx, l->table_id, after, 2, note, l, err);
}

static void expect_retired(struct tarn_store *store, int64_t id, const char *expected)
{
    struct list l = { .table_id = id };
    do
        fx_read(store, page_tx, &l, TARN_OK);
    while (l.seen == 2);
    char *text = tarn_buf_take(&l.text);
    cr_expect(eq(str, text, S(expected)));
    free(text);
}

static void expect_paths(struct tarn_store *store, int64_t id, int64_t version, const char *expected)
{
    char *paths = fx_paths(store, id, version, 10);
    cr_expect(eq(str, paths, S(expected)), "version %lld", (long long)version);
    free(paths);
}

/* Version n is of the instant 1999 + n. b is removed twice: the later one counts. */
void tarn_contract_what_is_retired_is_in_no_older_version_and_known_until_it_is_gone(tarn_store_opener *open)
{
    static const struct {
        const char *add, *remove;
    } k_commits[] = { { "a", NULL }, { "b", NULL }, { "c", "b" }, { "b", "a" }, { NULL, "b" }, { "d", "c" } };
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "other");
    for (size_t i = 0; i < TARN_COUNT(k_commits); i++) {
        char transaction[16];
        snprintf(transaction, sizeof transaction, "txn-%zu", i);
        (void)fx_commit(store, id, transaction, k_commits[i].add, k_commits[i].remove);
        (void)fx_commit(store, other, transaction, k_commits[i].add, k_commits[i].remove);
    }
    struct retire r = { .table_id = id, .version = 5, .limit = 2 };
    int calls = 0;
    for (r.left = true; r.left; calls++)
        fx_write(store, retire_tx, &r, TARN_OK);
    cr_expect(eq(int, calls, 2)); /* three rows */
    expect_retired(store, id, "a@2003 b@2004");
    expect_retired(store, other, "");
    expect_paths(store, id, 5, "c");
    expect_paths(store, id, 6, "d");
    expect_paths(store, other, 3, "a c");

    r.path = "a";
    fx_write(store, gone_tx, &r, TARN_OK);
    fx_write(store, gone_tx, &r, TARN_OK);
    expect_retired(store, id, "b@2004");
    /* What was found on storage is known without a time; what is known already stays as it is. */
    r.path = "b";
    fx_write(store, add_tx, &r, TARN_OK);
    r.path = "z";
    fx_write(store, add_tx, &r, TARN_OK);
    fx_write(store, add_tx, &r, TARN_OK);
    expect_retired(store, id, "b@2004 z@-1");
    expect_retired(store, other, "");
}
