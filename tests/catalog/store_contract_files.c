/* store_contract_files.c - the port's promises about snapshots: every version tells exactly its files. */
#include "base/buf.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

static void expect_paths(struct tarn_store *store, int64_t table_id, int64_t version, int64_t page,
                         const char *expected)
{
    char *paths = fx_paths(store, table_id, version, page);
    cr_expect(eq(str, paths, S(expected)), "version %lld in pages of %lld", (long long)version,
              (long long)page);
    free(paths);
}

void tarn_contract_a_live_path_cannot_be_added_twice(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    (void)fx_commit(store, id, "txn-1", "a", NULL);
    struct fx_commit again = { id, "txn-2", "a", NULL, -1, 0 };
    TARN_ERR(err);
    cr_expect(eq(int, tarn_store_write(store, fx_commit_tx, &again, &err), TARN_FILE_CONFLICT));
    cr_expect(eq(str, S(json_string_value(json_object_get(err.more, "path"))), S("a")));

    (void)fx_commit(store, id, "txn-2", NULL, "a");
    (void)fx_commit(store, id, "txn-3", "a", NULL); /* gone, so it may come again */
    expect_paths(store, id, 3, 10, "a");
    int64_t other = fx_make(store, "default", "other");
    (void)fx_commit(store, other, "txn-1", "a", NULL);
}

struct removal {
    int64_t table_id, size;
    const char *path;
};
static tarn_code remove_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct removal *r = ctx;
    return tx->ops->files.remove(tx, r->table_id, 2, r->path, &r->size, err);
}

void tarn_contract_a_removed_file_gives_its_size_and_only_once(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    (void)fx_commit(store, id, "txn-1", "a", NULL);
    struct removal r = { id, -1, "a" };
    fx_write(store, remove_tx, &r, TARN_OK);
    cr_expect(eq(i64, r.size, 100));
    TARN_ERR(err);
    cr_expect(eq(int, tarn_store_write(store, remove_tx, &r, &err), TARN_FILE_CONFLICT));
    cr_expect(eq(str, S(json_string_value(json_object_get(err.more, "path"))), S("a")));
    r.path = "never";
    fx_write(store, remove_tx, &r, TARN_FILE_CONFLICT);
}

/* version: what was done, what lives */
static const struct {
    const char *add, *remove, *paths;
} k_history[] = {
    { "b", NULL, "b" },    { "d", NULL, "b d" }, { "a", "b", "a d" }, { "b", NULL, "a b d" },
    { "b", "b", "a b d" }, { NULL, "d", "a b" }, { "c", "a", "b c" }, { "a", "c", "a b" },
};

static void make_history(struct tarn_store *store, int64_t id)
{
    for (size_t i = 0; i < TARN_COUNT(k_history); i++) {
        char transaction[16];
        snprintf(transaction, sizeof transaction, "txn-%zu", i + 1);
        cr_assert(eq(i64, fx_commit(store, id, transaction, k_history[i].add, k_history[i].remove),
                     (int64_t)i + 1));
    }
}

void tarn_contract_every_version_lists_exactly_its_files(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t before = fx_make(store, "default", "before"), id = fx_make(store, "default", "orders"),
            behind = fx_make(store, "default", "behind");
    (void)fx_commit(store, before, "txn-1", "x", NULL);
    (void)fx_commit(store, behind, "txn-1", "y", NULL);
    make_history(store, id);
    expect_paths(store, id, 0, 10, "");
    for (size_t i = 0; i < TARN_COUNT(k_history); i++) {
        for (int64_t page = 1; page <= 4; page++)
            expect_paths(store, id, (int64_t)i + 1, page, k_history[i].paths);
    }
}

/* --- in the order they came --- */

struct old_pages {
    int64_t table_id, version, limit, seen, after_version;
    char after[TARN_PATH_MAX + 1];
    bool has[128]; /* by the one letter of the path */
};

static tarn_code note_old(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)err;
    struct old_pages *p = ctx;
    cr_expect(le(i64, file->added_version, p->version));
    cr_expect(file->added_version > p->after_version ||
              (file->added_version == p->after_version && strcmp(file->path, p->after) > 0));
    if (file->removed_version < 0 || file->removed_version > p->version) {
        cr_expect(not(p->has[(int)file->path[0]]), "%s twice", file->path);
        p->has[(int)file->path[0]] = true;
    }
    p->after_version = file->added_version;
    snprintf(p->after, sizeof p->after, "%s", file->path);
    p->seen++;
    return TARN_OK;
}

static tarn_code old_page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct old_pages *p = ctx;
    char after[TARN_PATH_MAX + 1];
    memcpy(after, p->after, sizeof after);
    p->seen = 0;
    return tx->ops->files.page_old(tx, p->table_id, p->version, p->after_version, after, p->limit, note_old,
                                   p, err);
}

static void expect_old(struct tarn_store *store, int64_t id, int64_t version, int64_t page,
                       const char *expected)
{
    struct old_pages p = { .table_id = id, .version = version, .limit = page };
    char text[64] = "";
    do {
        fx_read(store, old_page_tx, &p, TARN_OK);
        cr_assert(le(i64, p.seen, page));
    } while (p.seen == page);
    for (int c = 'a'; c <= 'z'; c++)
        if (p.has[c])
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%c", text[0] ? " " : "", c);
    cr_expect(eq(str, text, S(expected)), "version %lld in pages of %lld", (long long)version,
              (long long)page);
}

void tarn_contract_every_version_lists_exactly_its_files_in_the_order_they_came_too(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t before = fx_make(store, "default", "before"), id = fx_make(store, "default", "orders"),
            behind = fx_make(store, "default", "behind");
    (void)fx_commit(store, before, "txn-1", "x", NULL);
    (void)fx_commit(store, behind, "txn-1", "y", NULL);
    make_history(store, id);
    expect_old(store, id, 0, 10, "");
    for (size_t i = 0; i < TARN_COUNT(k_history); i++) {
        for (int64_t page = 1; page <= 4; page++)
            expect_old(store, id, (int64_t)i + 1, page, k_history[i].paths);
    }
}

struct since {
    int64_t table_id, version, limit, count;
};
static tarn_code since_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct since *s = ctx;
    return tx->ops->files.changed_since(tx, s->table_id, s->version, s->limit, &s->count, err);
}

/* By hand from k_history: a replacement counts twice. */
void tarn_contract_what_changed_since_a_version_is_counted_up_to_a_limit(tarn_store_opener *open)
{
    static const struct {
        int64_t version, limit, count;
    } k_cases[] = { { 8, 100, 0 }, { 7, 100, 2 }, { 5, 100, 5 }, { 0, 100, 12 }, { 0, 3, 6 }, { 7, 1, 2 } };
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "other");
    make_history(store, id);
    (void)fx_commit(store, other, "txn-1", "y", NULL);
    for (size_t i = 0; i < TARN_COUNT(k_cases); i++) {
        struct since s = { id, k_cases[i].version, k_cases[i].limit, -1 };
        fx_read(store, since_tx, &s, TARN_OK);
        cr_expect(eq(i64, s.count, k_cases[i].count), "since %lld", (long long)s.version);
    }
}

struct walk {
    int64_t table_id, version, count;
    struct tarn_buf text;
};
static tarn_code note_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)err;
    struct walk *w = ctx;
    bool removed = file->removed_version == w->version;
    tarn_buf_addf(&w->text, "%s%c%s", w->text.len ? " " : "", removed ? '-' : '+', file->path);
    return TARN_OK;
}
static tarn_code of_version_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct walk *w = ctx;
    return tx->ops->files.of_version(tx, w->table_id, w->version, note_file, w, err);
}

void tarn_contract_a_version_lists_its_removes_then_its_adds(tarn_store_opener *open)
{
    static const char *const k_expected[] = { "+b", "+d", "-b +a", "+b", "-b +b", "-d", "-a +c", "-c +a" };
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    make_history(store, id);
    for (size_t i = 0; i < TARN_COUNT(k_expected); i++) {
        struct walk w = { .table_id = id, .version = (int64_t)i + 1 };
        fx_read(store, of_version_tx, &w, TARN_OK);
        cr_expect(eq(str, w.text.data, S(k_expected[i])));
        tarn_buf_done(&w.text);
    }
}

/* Three pages of version 40 with commits in between that remove, re-add and add around the page's edge. */
void tarn_contract_pages_of_files_are_exact_while_commits_go_on(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    char name[24], transaction[24];
    TARN_AUTO_DONE(buf) struct tarn_buf expected = { 0 };
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "f%02d", i);
        snprintf(transaction, sizeof transaction, "txn-%d", i);
        (void)fx_commit(store, id, transaction, name, NULL);
        tarn_buf_addf(&expected, "%s%s", i ? " " : "", name);
    }
    expect_paths(store, id, 40, 7, expected.data);
    for (int i = 0; i < 40; i += 3) {
        snprintf(name, sizeof name, "f%02d", i);
        snprintf(transaction, sizeof transaction, "gone-%d", i);
        (void)fx_commit(store, id, transaction, NULL, name);
        expect_paths(store, id, 40, 7, expected.data);
        snprintf(transaction, sizeof transaction, "back-%d", i);
        (void)fx_commit(store, id, transaction, name, NULL);
        snprintf(name, sizeof name, "f%02d-new", i);
        snprintf(transaction, sizeof transaction, "new-%d", i);
        (void)fx_commit(store, id, transaction, name, NULL);
        expect_paths(store, id, 40, 11, expected.data);
    }
}

static tarn_code add_bare_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_file bare = { .path = "bare", .size = 0, .records = -1 };
    struct tarn_file full = { .path = "full",
                              .size = INT64_MAX,
                              .records = 0,
                              .schema_version = 3,
                              .partition_values = "{\"d\":\"x\"}",
                              .column_stats = "{\"u\":{\"min\":1}}" };
    TARN_TRY(tx->ops->files.add(tx, *(int64_t *)ctx, 1, &bare, err));
    return tx->ops->files.add(tx, *(int64_t *)ctx, 1, &full, err);
}
static tarn_code expect_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)err;
    bool full = strcmp(file->path, "full") == 0;
    (*(int *)ctx)++;
    cr_expect(eq(i64, file->size, full ? INT64_MAX : 0));
    cr_expect(eq(i64, file->records, full ? 0 : -1));
    cr_expect(eq(i64, file->schema_version, full ? 3 : 0));
    fx_same(file->partition_values, full ? "{\"d\":\"x\"}" : NULL);
    fx_same(file->column_stats, full ? "{\"u\":{\"min\":1}}" : NULL);
    cr_expect(eq(i64, file->added_version, 1));
    cr_expect(eq(i64, file->removed_version, -1));
    return TARN_OK;
}
struct one {
    int64_t id;
    const char *path;
    int count;
};
static tarn_code get_file_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct one *o = ctx;
    return tx->ops->files.get(tx, o->id, o->path, expect_file, &o->count, err);
}

void tarn_contract_what_is_not_known_of_a_file_stays_unknown(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    fx_write(store, add_bare_tx, &id, TARN_OK);
    struct one o = { id, "bare", 0 };
    fx_read(store, get_file_tx, &o, TARN_OK);
    o.path = "full";
    fx_read(store, get_file_tx, &o, TARN_OK);
    cr_expect(eq(int, o.count, 2));
    o.path = "none";
    fx_read(store, get_file_tx, &o, TARN_NOT_FOUND);
}
