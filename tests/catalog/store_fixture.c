/* store_fixture.c - tables, commits and snapshots for the tests of the store port. */
#include "base/buf.h"
#include "tests/catalog/store_contract.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct tarn_table fx_table(const char *namespace_, const char *name)
{
    static _Atomic int serial;
    static _Thread_local char locations[8][256];
    static _Thread_local unsigned turn;
    int number = atomic_fetch_add(&serial, 1);
    char *location = locations[turn++ % 8];
    snprintf(location, sizeof locations[0], "/lake/%s/%s", namespace_, name);
    struct tarn_table table = {
        .namespace_ = (char *)namespace_,
        .name = (char *)name,
        .format = TARN_FORMAT_MANIFEST,
        .mode = TARN_MANAGED,
        .location = location,
        .published_version = -1,
        .partition_keys = (char *)"[\"date\"]",
        .properties = (char *)"{}",
        .monitors = (char *)"{}",
        .created_at = 1000,
        .committed_at = 1000,
        .dropped_at = -1,
    };
    snprintf(table.uuid, sizeof table.uuid, "uuid-%d", number);
    return table;
}

tarn_code fx_insert(struct tarn_tx *tx, struct tarn_table *table, struct tarn_err *err)
{
    TARN_TRY(tx->ops->tables.reserve_id(tx, &table->id, err));
    return tx->ops->tables.insert(tx, table, err);
}

static tarn_code insert_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return fx_insert(tx, ctx, err);
}

void fx_write(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, tarn_code code)
{
    TARN_ERR(err);
    tarn_code got = tarn_store_write(store, fn, ctx, &err);
    cr_assert(eq(str, (char *)tarn_code_slug(got), (char *)tarn_code_slug(code)), "%s", err.detail);
}

void fx_read(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, tarn_code code)
{
    TARN_ERR(err);
    tarn_code got = tarn_store_read(store, fn, ctx, &err);
    cr_assert(eq(str, (char *)tarn_code_slug(got), (char *)tarn_code_slug(code)), "%s", err.detail);
}

int64_t fx_make(struct tarn_store *store, const char *namespace_, const char *name)
{
    struct tarn_table table = fx_table(namespace_, name);
    fx_write(store, insert_tx, &table, TARN_OK);
    return table.id;
}

void fx_same(const char *a, const char *b)
{
    cr_expect(a && b ? strcmp(a, b) == 0 : a == b, "'%s' is not '%s'", a ? a : "(none)", b ? b : "(none)");
}

struct get {
    int64_t id;
    struct tarn_table *table;
};
static tarn_code get_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct get *g = ctx;
    return tx->ops->tables.get_by_id(tx, g->id, &g->table, err);
}

struct tarn_table *fx_get(struct tarn_store *store, int64_t id)
{
    struct get g = { .id = id };
    fx_read(store, get_tx, &g, TARN_OK);
    return g.table;
}

static tarn_code update_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tables.update(tx, ctx, err);
}

void fx_update(struct tarn_store *store, const struct tarn_table *table)
{
    fx_write(store, update_tx, (void *)table, TARN_OK);
}

tarn_code fx_commit_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct fx_commit *c = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    TARN_TRY(tx->ops->tables.get_by_id(tx, c->table_id, &table, err));
    int64_t expected = c->expected < 0 ? table->version : c->expected;
    struct tarn_commit_row row = {
        .version = expected + 1,
        .transaction = (char *)c->transaction,
        .committed_at = 2000 + expected,
        .data_change = true,
        .files_added = c->add != NULL,
        .files_removed = c->remove != NULL,
        .bytes_added = c->add ? 100 : 0,
        .bytes_removed = c->remove ? 100 : 0,
    };
    row.file_count = table->file_count + row.files_added - row.files_removed;
    row.total_bytes = table->total_bytes + row.bytes_added - row.bytes_removed;
    memset(row.body_hash, 'a', sizeof row.body_hash - 1);

    int64_t size = 0;
    TARN_TRY(tx->ops->tables.commit(tx, table->id, expected, &row, err));
    TARN_TRY(tx->ops->commits.insert(tx, table->id, &row, err));
    if (c->remove)
        TARN_TRY(tx->ops->files.remove(tx, table->id, row.version, c->remove, &size, err));
    struct tarn_file file = { .path = c->add, .size = 100, .records = -1 };
    if (c->add)
        TARN_TRY(tx->ops->files.add(tx, table->id, row.version, &file, err));
    c->version = row.version;
    return TARN_OK;
}

int64_t fx_commit(struct tarn_store *store, int64_t table_id, const char *transaction, const char *add,
                  const char *remove)
{
    struct fx_commit c = { table_id, transaction, add, remove, -1, 0 };
    fx_write(store, fx_commit_tx, &c, TARN_OK);
    return c.version;
}

struct paths {
    int64_t table_id, version, limit;
    int64_t seen; /* rows of this page */
    char last[TARN_PATH_MAX + 1];
    struct tarn_buf text;
};

static tarn_code add_path(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)err;
    struct paths *p = ctx;
    tarn_buf_addf(&p->text, "%s%s", p->text.len ? " " : "", file->path);
    snprintf(p->last, sizeof p->last, "%s", file->path);
    p->seen++;
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct paths *p = ctx;
    char after[TARN_PATH_MAX + 1];
    memcpy(after, p->last, sizeof after);
    return tx->ops->files.page(tx, p->table_id, p->version, after, p->limit, add_path, p, err);
}

char *fx_paths(struct tarn_store *store, int64_t table_id, int64_t version, int64_t page)
{
    struct paths p = { .table_id = table_id, .version = version, .limit = page };
    do {
        p.seen = 0;
        fx_read(store, page_tx, &p, TARN_OK);
        cr_assert(le(i64, p.seen, page));
    } while (p.seen == page);
    char *text = tarn_buf_take(&p.text);
    tarn_buf_done(&p.text);
    return text;
}

struct tarn_finding fx_finding(int64_t table_id, const char *id, const char *code, const char *subject,
                               enum tarn_severity severity)
{
    struct tarn_finding f = { .table_id = table_id,
                              .code = (char *)code,
                              .subject = (char *)subject,
                              .message = (char *)"m",
                              .severity = severity,
                              .since = 1,
                              .opened_at = 2,
                              .closed_at = -1,
                              .last_bad_at = 3,
                              .bad_looks = 2 };
    snprintf(f.id, sizeof f.id, "%s", id);
    return f;
}

tarn_code fx_put_finding_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->monitors.put_finding(tx, ctx, err);
}
