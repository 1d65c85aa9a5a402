/* rollback.c - POST /api/table/{table}/rollback: answered as a commit is. */
#include "api/native/native.h"
#include "lake/rollback.h"

static tarn_code parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_rollback_use *use = state;
    tarn_code code = tarn_native_commit_begin(req, &use->commit, err);

    return code == TARN_OK ? tarn_rollback_parse(req->json, use, err) : code;
}

static tarn_code answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                        struct tarn_err *err)
{
    const struct tarn_rollback_use *use = state;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    (void)req;
    reply->status = use->commit.replayed ? 200 : 201;
    tarn_native_commit_write(&w, &use->commit);
    return tarn_buf_check(&reply->body, err);
}

const struct tarn_flow tarn_native_rollback = { .use = &tarn_rollback, .parse = parse, .answer = answer };
