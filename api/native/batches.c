/* batches.c - checkpoints of staged batches: what a merge worker tells, and what is known of them. */
#include "api/native/list.h"
#include "api/native/native.h"
#include "base/json.h"
#include "base/time.h"
#include "lake/batch.h"
#include <stdlib.h>
#include <string.h>

static void write_count(struct tarn_jsonw *w, const char *key, int64_t value)
{
    tarn_jsonw_key(w, key);
    value < 0 ? tarn_jsonw_null(w) : tarn_jsonw_i64(w, value);
}

static void write_batch(struct tarn_jsonw *w, const struct tarn_batch *batch)
{
    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "batch_id", batch->batch_id);
    tarn_jsonw_kstr(w, "status", tarn_batch_status_text(batch->status));
    tarn_jsonw_ktime(w, "start_time", batch->start_time);
    tarn_jsonw_ktime(w, "end_time", batch->end_time);
    write_count(w, "num_records", batch->num_records);
    write_count(w, "size", batch->size);
    write_count(w, "version", batch->version);
    tarn_jsonw_kstr(w, "transaction", batch->transaction);
    tarn_jsonw_ktime(w, "committed_at", batch->committed_at);
    tarn_jsonw_ktime(w, "updated_at", batch->updated_at);
    tarn_jsonw_kbool(w, "published", batch->published == batch->revision && !batch->foreign);
    tarn_jsonw_object_end(w);
}

/* --- POST --- */

static tarn_code read_status(const char *text, bool may_be_rolled_back, int *out, struct tarn_err *err)
{
    enum tarn_batch_status status = TARN_BATCH_IS_RUNNING;

    if (!tarn_batch_status_parse(text, &status) ||
        (status == TARN_BATCH_IS_ROLLED_BACK && !may_be_rolled_back))
        return tarn_fail_field(err, "status", "must be \"running\", \"completed\"%s",
                               may_be_rolled_back ? ", \"failed\" or \"rolled_back\"" : " or \"failed\"");
    *out = (int)status;
    return TARN_OK;
}

static tarn_code read_time(const char *field, const char *text, int64_t *out, struct tarn_err *err)
{
    int64_t ms = 0;

    if (!text)
        return TARN_OK;
    if (tarn_time_parse(text, &ms, NULL, NULL) != TARN_OK || ms < 0)
        return tarn_fail_field(err, field, "must be an instant as in RFC 3339, with its offset");
    *out = ms;
    return TARN_OK;
}

static tarn_code parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_batch_use *use = state;
    struct tarn_batch_told *told = &use->told;
    const char *status = NULL, *start = NULL, *end = NULL;
    int word = 0;
    *told = (struct tarn_batch_told){
        .start_time = -1, .end_time = -1, .num_records = -1, .size = -1, .version = -1
    };
    const struct tarn_field fields[] = {
        TARN_STR("batch_id", &use->batch_id, 1, TARN_BATCH_ID_MAX),
        TARN_STR("status", &status, 1, 16),
        TARN_OPT_STR("start_time", &start, 1, 64),
        TARN_OPT_STR("end_time", &end, 1, 64),
        TARN_OPT_I64("num_records", &told->num_records, 0, INT64_MAX),
        TARN_OPT_I64("size", &told->size, 0, INT64_MAX / 2),
        TARN_FIELDS_END,
    };
    tarn_code code = tarn_request_ident(req, &use->ident, err);

    if (code == TARN_OK)
        code = tarn_json_read(req->json, fields, err);
    if (code == TARN_OK)
        code = tarn_batch_id_check(use->batch_id, "batch_id", err);
    if (code == TARN_OK)
        code = read_status(status, false, &word, err);
    if (code == TARN_OK)
        code = read_time("start_time", start, &told->start_time, err);
    if (code == TARN_OK)
        code = read_time("end_time", end, &told->end_time, err);
    told->status = (enum tarn_batch_status)word;
    use->lake = req->app->lake;
    return code;
}

static tarn_code answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                        struct tarn_err *err)
{
    const struct tarn_batch_use *use = state;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    (void)req;
    reply->status = use->is_new ? 201 : 200;
    write_batch(&w, &use->batch);
    return tarn_buf_check(&reply->body, err);
}

const struct tarn_flow tarn_native_batch_tell = { .use = &tarn_batch_use, .parse = parse, .answer = answer };

/* --- GET --- */

struct batches {
    struct tarn_list list; /* first */
    int64_t table_id;
    int status;
    char *prefix; /* owned; NULL: all */
    char after[TARN_BATCH_ID_MAX + 1];
};

static void list_free(struct tarn_list *list)
{
    free(((struct batches *)list)->prefix);
    free(list);
}

static char *list_token(const struct tarn_list *list)
{
    return strdup(((const struct batches *)list)->after);
}

static tarn_code visit(void *ctx, const struct tarn_batch *batch, struct tarn_err *err)
{
    struct batches *b = ctx;

    (void)err;
    if (!tarn_list_row(&b->list))
        return TARN_OK;
    write_batch(&b->list.w, batch);
    snprintf(b->after, sizeof b->after, "%s", batch->batch_id);
    return TARN_OK;
}

static tarn_code page(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct batches *b = ctx;
    char after[sizeof b->after]; /* the visitor moves the other one */

    memcpy(after, b->after, sizeof after);
    const struct tarn_batch_filter filter = { b->status, b->prefix, after, b->list.ask };
    return tx->ops->batches.page(tx, b->table_id, &filter, visit, b, err);
}

static tarn_code read_query(const struct tarn_request *req, const struct tarn_page *page_of,
                            struct batches *b, struct tarn_err *err)
{
    const char *status = tarn_query(req, "status"), *prefix = tarn_query(req, "prefix");

    b->status = -1;
    if (page_of->token && strlen(page_of->token) >= sizeof b->after)
        return tarn_fail_field(err, "page_token", "is not one of this list");
    snprintf(b->after, sizeof b->after, "%s", page_of->token ? page_of->token : "");
    if (prefix && strlen(prefix) > TARN_BATCH_ID_MAX)
        return tarn_fail_field(err, "prefix", "has at most %d bytes", TARN_BATCH_ID_MAX);
    b->prefix = prefix ? strdup(prefix) : NULL;
    if (prefix && !b->prefix)
        return tarn_fail_oom(err);
    return status ? read_status(status, true, &b->status, err) : TARN_OK;
}

static void batches_freep(struct batches **b)
{
    if (*b)
        list_free(&(*b)->list);
}

tarn_code tarn_native_batches_list(const struct tarn_request *req, struct tarn_reply *reply,
                                   struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page_of = { 0 };
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    __attribute__((cleanup(batches_freep))) struct batches *b = calloc(1, sizeof *b);

    if (!b)
        return tarn_fail_oom(err);
    tarn_code code = tarn_native_table_find(req, &seen, err);
    if (code == TARN_OK)
        code = tarn_request_page(req, &page_of, err);
    if (code == TARN_OK)
        code = read_query(req, &page_of, b, err);
    if (code != TARN_OK)
        return code;
    b->table_id = seen.table->id;
    b->list = (struct tarn_list){ .store = req->app->lake->store,
                                  .page = page,
                                  .token = list_token,
                                  .free = list_free,
                                  .size = page_of.size };
    tarn_list_reply(&tarn_take(&b)->list, NULL, "batches", reply);
    return TARN_OK;
}
