/* transactions.c - POST /api/transactions: commits to several tables, all or none. */
#include "api/native/native.h"
#include "lake/group.h"

static bool may_see(const void *who, const char *namespace_, const char *name)
{
    return tarn_principal_sees(who, namespace_, name);
}

static tarn_code parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_group_use *use = state;

    use->lake = req->app->lake;
    use->principal = req->who.name;
    use->method = req->method;
    use->path = req->path;
    use->may_see = may_see;
    use->who = &req->who;
    tarn_code code = tarn_native_key(req, &use->key, err);
    return code == TARN_OK ? tarn_group_parse(req->json, use, err) : code;
}

static tarn_code answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                        struct tarn_err *err)
{
    const struct tarn_group_use *use = state;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    (void)req;
    reply->status = use->replayed ? 200 : 201;
    tarn_jsonw_object(&w);
    tarn_jsonw_key(&w, "commits");
    tarn_jsonw_array(&w);
    for (size_t i = 0; i < use->count; i++)
        tarn_native_commit_write(&w, &use->commits[i]);
    tarn_jsonw_array_end(&w);
    tarn_jsonw_object_end(&w);
    return tarn_buf_check(&reply->body, err);
}

const struct tarn_flow tarn_native_transaction = { .use = &tarn_group, .parse = parse, .answer = answer };
