/* table_change.c - PATCH, DELETE and restore of a table. */
#include "api/native/native.h"
#include "base/json.h"
#include "lake/drop.h"
#include "lake/settings.h"
#include "monitors/monitors.h"

tarn_code tarn_native_answer_table(const struct tarn_table *table, struct tarn_reply *reply,
                                   struct tarn_err *err)
{
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);
    char etag[TARN_ETAG_TEXT];

    tarn_table_etag(table, etag);
    tarn_reply_header(reply, "ETag", "%s", etag);
    reply->status = 200;
    tarn_native_table_write(&w, table, NULL);
    return tarn_buf_check(&reply->body, err);
}

/* --- PATCH --- */

static bool may_see(const void *who, const char *namespace_, const char *name)
{
    return tarn_principal_sees(who, namespace_, name);
}

static tarn_code patch_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_settings_use *use = state;

    if (!json_is_object(req->json))
        return tarn_fail(err, TARN_INVALID, "the body must be a JSON object");
    use->lake = req->app->lake;
    use->patch = req->json;
    use->if_match = tarn_request_header(req, "If-Match");
    use->check_monitors = tarn_monitors_check;
    use->may_see = may_see;
    use->who = &req->who;
    return tarn_request_ident(req, &use->ident, err);
}

static tarn_code patch_answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                              struct tarn_err *err)
{
    const struct tarn_settings_use *use = state;

    (void)req;
    return tarn_native_answer_table(use->table, reply, err);
}

const struct tarn_flow tarn_native_table_patch = { .use = &tarn_settings,
                                                   .parse = patch_parse,
                                                   .answer = patch_answer };

/* --- DELETE --- */

static tarn_code drop_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_drop_use *use = state;

    use->lake = req->app->lake;
    use->if_match = tarn_request_header(req, "If-Match");
    return tarn_request_ident(req, &use->ident, err);
}

const struct tarn_flow tarn_native_table_drop = { .use = &tarn_drop,
                                                  .parse = drop_parse,
                                                  .answer = tarn_flow_nothing };

/* --- restore --- */

static tarn_code restore_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_restore_use *use = state;
    const struct tarn_field fields[] = {
        TARN_OPT_STR("uuid", &use->uuid, 1, 36),
        TARN_FIELDS_END,
    };

    use->lake = req->app->lake;
    tarn_code code = tarn_request_ident(req, &use->ident, err);
    return code == TARN_OK && req->json ? tarn_json_read(req->json, fields, err) : code;
}

static tarn_code restore_answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                                struct tarn_err *err)
{
    const struct tarn_restore_use *use = state;

    if (req->app->runner)
        tarn_runner_nudge(req->app->runner);
    return tarn_native_answer_table(use->table, reply, err);
}

const struct tarn_flow tarn_native_table_restore = { .use = &tarn_restore,
                                                     .parse = restore_parse,
                                                     .answer = restore_answer };
