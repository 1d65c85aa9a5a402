/* history.c - GET .../commits, newest first: Tarn's own commits, then the entries that were there before Tarn
 * (version null). */
#include "api/native/list.h"
#include "api/native/native.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
