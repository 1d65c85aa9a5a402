/* pointer.c - PUT /api/table/{table}/pointer: the answer is the table. */
#include "api/native/native.h"
#include "lake/pointer.h"

static bool may_use(const void *who, const char *location) { return tarn_principal_may_use(who, location); }

static tarn_code parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_pointer_use *use = state;
    tarn_code code = tarn_request_ident(req, &use->commit.ident, err);

    if (code != TARN_OK)
        return code;
    use->lake = use->commit.lake = req->app->lake;
    use->commit.principal = req->who.name;
    use->commit.method = req->method;
    use->commit.path = req->path;
    use->if_match = tarn_request_header(req, "If-Match");
    use->may_use = may_use;
    use->who = &req->who;
    code = tarn_native_key(req, &use->commit.key, err);
    return code == TARN_OK ? tarn_pointer_parse(req->json, use, err) : code;
}

static tarn_code answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                        struct tarn_err *err)
{
    const struct tarn_pointer_use *use = state;

    (void)req;
    return tarn_native_answer_table(use->table, reply, err);
}

const struct tarn_flow tarn_native_pointer = { .use = &tarn_pointer, .parse = parse, .answer = answer };
