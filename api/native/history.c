/* history.c - GET .../commits, newest first: Tarn's own commits, then the entries that were there before Tarn
 * (version null), and one commit in the lake's own form. */
#include "api/native/list.h"
#include "api/native/native.h"
#include "base/json.h"
#include "formats/manifest/manifest.h"
#include "lake/snapshot.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the list --- */

struct history {
    struct tarn_list list; /* first */
    int64_t table_id;
    bool adopted;  /* the position is in the adopted entries */
    int64_t below; /* version, or position of an adopted entry */
};

static void list_free(struct tarn_list *list) { free(list); }

static char *list_token(const struct tarn_list *list)
{
    const struct history *h = (const struct history *)list;
    char *text = NULL;

    return asprintf(&text, "%c%" PRId64, h->adopted ? 'a' : 'v', h->below) < 0 ? NULL : text;
}

static void write_text_of(struct tarn_jsonw *w, const json_t *metadata, const char *key)
{
    tarn_jsonw_kstr(w, key, json_string_value(json_object_get(metadata, key)));
}

static void write_commit(struct tarn_jsonw *w, const struct tarn_commit_row *row)
{
    json_auto_t *metadata = row->metadata ? json_loads(row->metadata, 0, NULL) : NULL;
    bool adopted = row->version < 0;

    tarn_jsonw_object(w);
    tarn_jsonw_key(w, "version");
    adopted ? tarn_jsonw_null(w) : tarn_jsonw_i64(w, row->version);
    tarn_jsonw_kstr(w, "transaction", row->transaction);
    tarn_jsonw_ktime(w, "committed_at", row->committed_at);
    tarn_jsonw_key(w, "schema_version");
    adopted ? tarn_jsonw_null(w) : tarn_jsonw_i64(w, row->schema_version);
    write_text_of(w, metadata, "author");
    write_text_of(w, metadata, "description");
    tarn_jsonw_kbool(w, "data_change", row->data_change);
    tarn_jsonw_ki64(w, "files_added", row->files_added);
    tarn_jsonw_ki64(w, "files_removed", row->files_removed);
    tarn_jsonw_ki64(w, "bytes_added", row->bytes_added);
    tarn_jsonw_key(w, "bytes_removed");
    adopted ? tarn_jsonw_null(w) : tarn_jsonw_i64(w, row->bytes_removed);
    tarn_jsonw_kstr(w, "group", row->group[0] ? row->group : NULL);
    tarn_jsonw_kraw(w, "batch_ids", row->batch_ids);
    tarn_jsonw_object_end(w);
}

static tarn_code visit(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct history *h = ctx;

    (void)err;
    if (!tarn_list_row(&h->list))
        return TARN_OK;
    write_commit(&h->list.w, row);
    h->below = row->version < 0 ? -row->version : row->version;
    return TARN_OK;
}

static tarn_code page(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct history *h = ctx;

    if (!h->adopted) {
        tarn_code code = tx->ops->commits.list(tx, h->table_id, h->below, h->list.ask, visit, h, err);
        if (code != TARN_OK || h->list.rows == h->list.ask)
            return code;
        h->adopted = true;
        h->below = INT64_MAX;
    }
    return tx->ops->commits.list_adopted(tx, h->table_id, h->below, h->list.ask - h->list.rows, visit, h,
                                         err);
}

static bool read_position(struct history *h, const char *token)
{
    char *end = NULL;

    h->below = INT64_MAX;
    if (!token)
        return true;
    h->adopted = token[0] == 'a';
    if ((token[0] != 'a' && token[0] != 'v') || token[1] < '0' || token[1] > '9')
        return false;
    h->below = strtoll(token + 1, &end, 10);
    return *end == '\0';
}

tarn_code tarn_native_commits_list(const struct tarn_request *req, struct tarn_reply *reply,
                                   struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page_of = { 0 };
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    struct history position = { 0 };
    tarn_code code = tarn_native_table_find(req, &seen, err);

    if (code == TARN_OK)
        code = tarn_request_page(req, &page_of, err);
    if (code == TARN_OK && !read_position(&position, page_of.token))
        code = tarn_fail_field(err, "page_token", "is not one of this list");
    if (code != TARN_OK)
        return code;
    struct history *h = malloc(sizeof *h);
    if (!h)
        return tarn_fail_oom(err);
    *h = position;
    h->table_id = seen.table->id;
    h->list = (struct tarn_list){ .store = req->app->lake->store,
                                  .page = page,
                                  .token = list_token,
                                  .free = list_free,
                                  .size = page_of.size };
    tarn_list_reply(&h->list, NULL, "commits", reply);
    return TARN_OK;
}

/* --- one entry --- */

struct entry_ctx {
    const char *transaction;
    const char *catalog_id;
    const struct tarn_table *table;
    struct tarn_buf *out;
    struct tarn_jsonw w;
    int64_t version;
    struct tarn_commit_row row;
    bool is_on_storage; /* only there: adopted, or so old that the rows are gone */
};

static void entry_done(struct entry_ctx *c) { tarn_commit_row_done(&c->row); }

static tarn_code write_op(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct entry_ctx *c = ctx;

    (void)err;
    tarn_entry_write_op(&c->w, file, file->added_version == c->version);
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
    c->is_on_storage = c->table->oldest_version > c->table->first_version && c->version <= c->table->oldest_version;
    if (c->is_on_storage)
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
    reply->status = 200;
    return tarn_buf_check(&reply->body, err);
}
