/* commits.c - POST /api/table/{table}/commits. The answer is written without a tree: this is the hot path. */
#include "api/native/native.h"
#include "lake/commit.h"
#include <string.h>

#define KEY_MAX 255 /* bytes of an Idempotency-Key */

tarn_code tarn_native_key(const struct tarn_request *req, const char **out, struct tarn_err *err)
{
    const char *key = tarn_request_header(req, "Idempotency-Key");

    if (key && (key[0] == '\0' || strlen(key) > KEY_MAX))
        return tarn_fail_field(err, "Idempotency-Key", "has 1 to %d bytes", KEY_MAX);
    *out = key;
    return TARN_OK;
}

tarn_code tarn_native_commit_begin(const struct tarn_request *req, struct tarn_commit_use *use,
                                   struct tarn_err *err)
{
    tarn_code code = tarn_request_ident(req, &use->ident, err);

    if (code != TARN_OK)
        return code;
    use->lake = req->app->lake;
    use->principal = req->who.name;
    use->method = req->method;
    use->path = req->path;
    return tarn_native_key(req, &use->key, err);
}

static tarn_code parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_commit_use *use = state;
    tarn_code code = tarn_native_commit_begin(req, use, err);

    return code == TARN_OK ? tarn_commit_parse(req->json, use, err) : code;
}

static void write_warnings(struct tarn_jsonw *w, const struct tarn_commit_use *use)
{
    const json_t *lists[] = { use->warnings, use->remarks };
    size_t i;
    json_t *warning;

    if (json_array_size(use->warnings) + json_array_size(use->remarks) == 0)
        return;
    tarn_jsonw_key(w, "warnings");
    tarn_jsonw_array(w);
    for (size_t list = 0; list < TARN_COUNT(lists); list++)
        json_array_foreach (lists[list], i, warning)
            tarn_jsonw_json(w, warning);
    tarn_jsonw_array_end(w);
}

void tarn_native_commit_write(struct tarn_jsonw *w, const struct tarn_commit_use *use)
{
    const struct tarn_commit_row *row = &use->row;
    char dotted[TARN_DOTTED_MAX];

    tarn_ident_format(use->ident.namespace_, use->ident.name, dotted);
    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "table", dotted);
    tarn_jsonw_ki64(w, "version", row->version);
    tarn_jsonw_kstr(w, "transaction", row->transaction);
    tarn_jsonw_ktime(w, "committed_at", row->committed_at);
    tarn_jsonw_ki64(w, "schema_version", row->schema_version);
    tarn_jsonw_ki64(w, "files_added", row->files_added);
    tarn_jsonw_ki64(w, "files_removed", row->files_removed);
    tarn_jsonw_ki64(w, "files", row->file_count);
    tarn_jsonw_ki64(w, "total_size_bytes", row->total_bytes);
    tarn_jsonw_kbool(w, "published", use->published);
    write_warnings(w, use);
    tarn_jsonw_object_end(w);
}

static tarn_code answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                        struct tarn_err *err)
{
    const struct tarn_commit_use *use = state;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    (void)req;
    reply->status = use->replayed ? 200 : 201;
    tarn_native_commit_write(&w, use);
    return tarn_buf_check(&reply->body, err);
}

const struct tarn_flow tarn_native_commit = { .use = &tarn_commit, .parse = parse, .answer = answer };
