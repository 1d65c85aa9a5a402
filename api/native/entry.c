/* entry.c - GET .../commits/{transaction}: one log entry in the lake's own
 * form, from the catalog as long as it has the rows, else from storage. */
#include "api/native/native.h"
#include "formats/manifest/manifest.h"
#include "lake/entry_pages.h"
#include "lake/snapshot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_A_READ 500

struct entry_ctx {
    const char *transaction;
    const char *catalog_id;
    const struct tarn_table *table;
    struct tarn_buf *out;
    struct tarn_jsonw w;
    int64_t version;
    struct tarn_commit_row row;
    bool is_large;      /* told page by page */
    bool is_on_storage; /* only there: adopted, or so old that the rows are gone */
};

static void entry_done(struct entry_ctx *c) { tarn_commit_row_done(&c->row); }

static tarn_code write_op(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct entry_ctx *c = ctx;

    (void)err;
    tarn_entry_write_op(&c->w, file, file->added_version == c->version, c->table->first_version);
    return TARN_OK;
}

static tarn_code find_adopted(struct tarn_tx *tx, struct entry_ctx *c, struct tarn_err *err)
{
    c->is_on_storage = true;
    return tx->ops->commits.adopted_by_transaction(tx, c->table->id, c->transaction, &c->row, err);
}

static tarn_code entry_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct entry_ctx *c = ctx;
    TARN_ERR(none);

    tarn_commit_row_done(&c->row);
    c->row = (struct tarn_commit_row){ 0 };
    tarn_buf_clear(c->out);
    c->w = tarn_jsonw_to(c->out);
    tarn_code code = tx->ops->commits.by_transaction(tx, c->table->id, c->transaction, &c->row, &none);
    if (code == TARN_TRANSACTION_NOT_FOUND)
        return find_adopted(tx, c, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &none);
    c->version = c->row.version;
    c->is_on_storage =
        c->table->oldest_version > c->table->first_version && c->version <= c->table->oldest_version;
    c->is_large = c->row.files_added + c->row.files_removed > TARN_ENTRY_SMALL_OPS;
    if (c->is_on_storage || c->is_large)
        return TARN_OK;
    tarn_entry_write_head(&c->w, c->table, c->catalog_id, &c->row);
    code = tx->ops->files.of_version(tx, c->table->id, c->version, write_op, c, err);
    tarn_entry_write_end(&c->w, &c->row);
    return code;
}

/* An entry from before Tarn, or from before the rows that are kept, is what lies on storage. */
static tarn_code read_entry(const struct tarn_request *req, const struct entry_ctx *c, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    char path[TARN_TXN_ID_MAX + 32];
    TARN_ERR(fault);

    snprintf(path, sizeof path, TARN_DIR_LOG "/%s.json", c->transaction);
    tarn_code code = tarn_place_open(req->app->lake->storage, c->table->location, false, &place, &fault);
    if (code == TARN_OK)
        code = tarn_place_read_all(place, path, 64u << 20, c->out, NULL, &fault);
    if (code == TARN_NOT_FOUND && c->version > 0)
        return tarn_snapshot_kept(c->table, c->version, err) == TARN_OK
                   ? tarn_fail(err, TARN_TRANSACTION_NOT_FOUND, "the log entry is no longer on storage")
                   : TARN_VERSION_EXPIRED;
    if (code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_TRANSACTION_NOT_FOUND, "the log entry of '%s' is no longer on storage",
                         c->transaction);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

/* --- a large one: page by page --- */

struct stream {
    struct tarn_store *store;
    struct tarn_commit_row row; /* owned */
    struct tarn_buf head;       /* owned until the first piece */
    struct tarn_jsonw w;
    struct tarn_entry_cursor at, to;
};

static void stream_free(void *state)
{
    struct stream *s = state;

    tarn_commit_row_done(&s->row);
    tarn_buf_done(&s->head);
    free(s);
}

/* What it removed goes with the version before it. */
static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct stream *s = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, s->at.table_id, &table, err);

    if (code == TARN_OK)
        code = tarn_snapshot_kept(table, s->row.version - 1, err);
    return code == TARN_OK ? tarn_entry_page(tx, &s->at, ROWS_A_READ, &s->w, &s->to, err) : code;
}

static tarn_code produce(void *state, struct tarn_buf *out, bool *end, struct tarn_err *err)
{
    struct stream *s = state;

    s->w.out = out;
    if (s->head.len > 0)
        tarn_buf_add(out, s->head.data, s->head.len);
    tarn_buf_done(&s->head);
    tarn_code code = tarn_store_read(s->store, page_tx, s, err);
    if (code != TARN_OK)
        return code;
    s->at = s->to;
    *end = s->at.end;
    if (*end)
        tarn_entry_write_end(&s->w, &s->row);
    return tarn_buf_check(out, err);
}

static tarn_code stream_entry(const struct tarn_request *req, struct entry_ctx *c, struct tarn_reply *reply,
                              struct tarn_err *err)
{
    struct stream *s = calloc(1, sizeof *s);

    if (!s)
        return tarn_fail_oom(err);
    s->store = req->app->lake->store;
    s->row = c->row;
    c->row = (struct tarn_commit_row){ 0 };
    s->w = tarn_jsonw_to(&s->head);
    tarn_entry_write_head(&s->w, c->table, c->catalog_id, &s->row);
    tarn_entry_begin(&s->at, c->table->id, s->row.version, c->table->first_version);
    tarn_code code = tarn_buf_check(&s->head, err);
    if (code != TARN_OK) {
        stream_free(s);
        return code;
    }
    reply->status = 200;
    reply->stream = (struct tarn_stream){ produce, stream_free, s };
    return TARN_OK;
}

tarn_code tarn_native_commit_get(const struct tarn_request *req, struct tarn_reply *reply,
                                 struct tarn_err *err)
{
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    tarn_code code = tarn_native_table_find(req, &seen, err);

    if (code == TARN_OK)
        code = tarn_txn_id_check(req->arg[1], "transaction", err);
    if (code != TARN_OK)
        return code;
    __attribute__((cleanup(entry_done))) struct entry_ctx c = {
        .transaction = req->arg[1],
        .catalog_id = req->app->lake->catalog_id,
        .table = seen.table,
        .out = &reply->body,
    };
    code = tarn_store_read(req->app->lake->store, entry_tx, &c, err);
    if (code == TARN_OK && c.is_on_storage)
        code = read_entry(req, &c, err);
    if (code != TARN_OK)
        return code;
    if (c.is_large && !c.is_on_storage)
        return stream_entry(req, &c, reply, err);
    reply->status = 200;
    return tarn_buf_check(&reply->body, err);
}
