/* managed.c - see managed.h. */
#include "tests/support/managed.h"
#include "catalog/sqlite/sqlite.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static void open_store(struct managed *m)
{
    const struct tarn_sqlite_options options = { .path = m->database, .migrate = true };
    TARN_ERR(err);
    cr_assert(eq(int, tarn_sqlite_open(&options, &m->lake.store, &err), TARN_OK), "%s", err.detail);
}

void managed_open(struct managed *m)
{
    *m = (struct managed){ .folder = tarn_tmp() };
    snprintf(m->database, sizeof m->database, "%s/tarn.db", tarn_tmp());
    open_store(m);
    cr_assert(eq(int, tarn_storage_new(&m->folder, 1, &m->lake.storage, NULL), TARN_OK));
    snprintf(m->lake.catalog_id, sizeof m->lake.catalog_id, MANAGED_CATALOG);
}

void managed_reopen(struct managed *m)
{
    tarn_store_free(m->lake.store);
    open_store(m);
}

void managed_close(struct managed *m)
{
    tarn_store_free(m->lake.store);
    tarn_storage_free(m->lake.storage);
}

static void must_write(struct managed *m, tarn_tx_fn *fn, void *ctx)
{
    TARN_ERR(err);
    tarn_code code = tarn_store_write(m->lake.store, fn, ctx, &err);
    cr_assert(eq(int, code, TARN_OK), "%s", err.detail);
}

/* --- tables --- */

struct adoption {
    struct tarn_table table;
    const struct tarn_publication *pub; /* NULL: born here */
};

static tarn_code insert_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct adoption *a = ctx;
    tarn_code code = tx->ops->tables.reserve_id(tx, &a->table.id, err);
    if (code == TARN_OK)
        code = tx->ops->tables.insert(tx, &a->table, err);
    if (code == TARN_OK && a->pub)
        code = tx->ops->publications.put(tx, a->table.id, a->pub, 0, err);
    return code;
}

static int64_t insert(struct managed *m, const char *name, int64_t version, const char *transaction,
                      const struct tarn_publication *pub)
{
    struct adoption a = {
        .table = { .namespace_ = (char *)"default",
                   .name = (char *)name,
                   .location = (char *)tarn_path(m->folder, name),
                   .version = version,
                   .oldest_version = version,
                   .first_version = version,
                   .latest_transaction = (char *)transaction,
                   .published_version = pub ? version : -1,
                   .partition_keys = (char *)"[]",
                   .properties = (char *)"{}",
                   .monitors = (char *)"{}",
                   .publish = true,
                   .created_at = MANAGED_T0,
                   .committed_at = MANAGED_T0,
                   .dropped_at = -1,
                   .revision = 1 },
        .pub = pub,
    };
    snprintf(a.table.uuid, sizeof a.table.uuid, MANAGED_UUID, m->tables++);
    must_write(m, insert_tx, &a);
    return a.table.id;
}

int64_t managed_table(struct managed *m, const char *name) { return insert(m, name, 0, NULL, NULL); }

int64_t managed_adopted(struct managed *m, const char *name, int64_t version, const char *transaction)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_publication pub = { .version = version };
    struct tarn_object object = { 0 };
    cr_assert(
        eq(int, tarn_place_open(m->lake.storage, tarn_path(m->folder, name), false, &place, NULL), TARN_OK));
    cr_assert(eq(int, tarn_place_stat(place, "manifest.json", &object, NULL), TARN_OK));
    snprintf(pub.manifest_token, sizeof pub.manifest_token, "%s", object.token);
    return insert(m, name, version, transaction, &pub);
}

struct change {
    int64_t id;
    void (*fn)(struct tarn_table *table);
};

static tarn_code change_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct change *c = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, c->id, &table, err);
    if (code != TARN_OK)
        return code;
    c->fn(table);
    return tx->ops->tables.update(tx, table, err);
}

void managed_change(struct managed *m, int64_t id, void (*change)(struct tarn_table *table))
{
    struct change c = { id, change };
    must_write(m, change_tx, &c);
}

struct row {
    int64_t id;
    struct tarn_table *table;
};

static tarn_code row_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct row *r = ctx;
    tarn_table_free(tarn_take(&r->table));
    return tx->ops->tables.get_by_id(tx, r->id, &r->table, err);
}

struct tarn_table *managed_row(struct managed *m, int64_t id)
{
    struct row r = { .id = id };
    cr_assert(eq(int, tarn_store_read(m->lake.store, row_tx, &r, NULL), TARN_OK));
    return r.table;
}

int64_t managed_published(struct managed *m, int64_t id)
{
    TARN_AUTO(table) struct tarn_table *table = managed_row(m, id);
    return table->published_version;
}

/* --- commits --- */

struct commit {
    int64_t id;
    const char *adds, *removes;
    int from, to;
};

/* The `n`-th blank-separated word; false when there is none. */
static bool word_at(const char *words, int n, char out[TARN_PATH_MAX])
{
    const char *at = words ? words : "";
    for (; n > 0 && at; n--) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    if (!at || !at[0])
        return false;
    snprintf(out, TARN_PATH_MAX, "%.*s", (int)strcspn(at, " "), at);
    return true;
}

static tarn_code add_one(struct tarn_tx *tx, int64_t id, struct tarn_commit_row *row, const char *path,
                         struct tarn_err *err)
{
    const struct tarn_file file = { .path = path, .size = 10, .records = -1, .removed_version = -1 };
    row->files_added++;
    row->bytes_added += 10;
    return tx->ops->files.add(tx, id, row->version, &file, err);
}

static tarn_code files_tx(struct tarn_tx *tx, const struct commit *c, struct tarn_commit_row *row,
                          struct tarn_err *err)
{
    char path[TARN_PATH_MAX];
    tarn_code code = TARN_OK;
    for (int i = 0; code == TARN_OK && word_at(c->removes, i, path); i++) {
        int64_t size = 0;
        code = tx->ops->files.remove(tx, c->id, row->version, path, &size, err);
        row->files_removed++;
        row->bytes_removed += size;
    }
    for (int i = 0; code == TARN_OK && word_at(c->adds, i, path); i++)
        code = add_one(tx, c->id, row, path, err);
    for (int i = c->from; code == TARN_OK && i < c->to; i++) {
        snprintf(path, sizeof path, "f%06d.parquet", i);
        code = add_one(tx, c->id, row, path, err);
    }
    return code;
}

static tarn_code commit_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct commit *c = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    char transaction[32];
    tarn_code code = tx->ops->tables.get_by_id(tx, c->id, &table, err);
    if (code != TARN_OK)
        return code;
    struct tarn_commit_row row = { .version = table->version + 1,
                                   .transaction = transaction,
                                   .data_change = true,
                                   .schema_version = table->schema_version,
                                   .committed_at = MANAGED_T0 + 1000 * (table->version + 1) };
    snprintf(transaction, sizeof transaction, "txn-%lld", (long long)row.version);
    code = files_tx(tx, c, &row, err);
    row.file_count = table->file_count + row.files_added - row.files_removed;
    row.total_bytes = table->total_bytes + row.bytes_added - row.bytes_removed;
    if (code == TARN_OK)
        code = tx->ops->commits.insert(tx, c->id, &row, err);
    if (code == TARN_OK)
        code = tx->ops->tables.commit(tx, c->id, table->version, &row, err);
    return code;
}

void managed_commit(struct managed *m, int64_t id, const char *adds, const char *removes)
{
    struct commit c = { .id = id, .adds = adds, .removes = removes };
    must_write(m, commit_tx, &c);
}

void managed_commit_many(struct managed *m, int64_t id, int from, int to)
{
    struct commit c = { .id = id, .from = from, .to = to };
    must_write(m, commit_tx, &c);
}

struct batch {
    int64_t id;
    struct tarn_batch row;
};

static tarn_code batch_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct batch *b = ctx;
    return tx->ops->batches.put(tx, b->id, &b->row, err);
}

void managed_batch(struct managed *m, int64_t id, const char *batch_id, enum tarn_batch_status status,
                   int64_t version)
{
    struct batch b = { .id = id,
                       .row = { .batch_id = (char *)batch_id,
                                .status = status,
                                .start_time = MANAGED_T0,
                                .end_time = status == TARN_BATCH_IS_RUNNING ? -1 : MANAGED_T0 + 15000,
                                .num_records = status == TARN_BATCH_IS_RUNNING ? -1 : 5,
                                .size = -1,
                                .version = version,
                                .updated_at = MANAGED_T0,
                                .shown_from = version < 0 ? 0 : version } };
    must_write(m, batch_tx, &b);
}

struct schema {
    int64_t id;
    const char *text;
};

static tarn_code schema_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct schema *s = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, s->id, &table, err);
    if (code != TARN_OK)
        return code;
    table->schema_version++;
    const struct tarn_schema_row row = { .version = table->schema_version,
                                         .schema = (char *)s->text,
                                         .created_at = MANAGED_T0 };
    code = tx->ops->schemas.insert(tx, s->id, &row, err);
    return code == TARN_OK ? tx->ops->tables.update(tx, table, err) : code;
}

void managed_schema(struct managed *m, int64_t id, const char *schema)
{
    struct schema s = { id, schema };
    must_write(m, schema_tx, &s);
}
