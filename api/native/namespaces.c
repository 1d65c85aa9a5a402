/* namespaces.c - GET and POST /api/namespaces, GET, PATCH and DELETE /api/namespaces/{namespace}. Settings
 * are shown as the namespace says them itself; what its tables inherit in the end shows in them. */
#include "api/native/list.h"
#include "api/native/native.h"
#include "base/time.h"
#include "lake/iceberg_names.h"
#include "lake/namespaces.h"
#include "monitors/monitors.h"
#include <stdlib.h>
#include <string.h>

static void write_history(struct tarn_jsonw *w, int64_t retention_ms)
{
    char text[TARN_TIME_TEXT];

    tarn_jsonw_key(w, "history");
    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "retention", retention_ms < 0 ? NULL : tarn_duration_format(retention_ms, text));
    tarn_jsonw_object_end(w);
}

static void write_namespace(struct tarn_jsonw *w, const struct tarn_namespace *row)
{
    json_auto_t *levels = tarn_namespace_levels(row->name);

    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "namespace", row->name);
    tarn_jsonw_key(w, "levels");
    tarn_jsonw_json(w, levels);
    tarn_jsonw_kraw(w, "properties", row->properties);
    tarn_jsonw_kstr(w, "owner", row->owner);
    tarn_jsonw_kraw(w, "monitors", row->monitors);
    tarn_jsonw_kstr(w, "schema_enforcement",
                    row->enforcement_given ? tarn_enforcement_text(row->enforcement) : NULL);
    tarn_jsonw_kstr(w, "verify", row->verify_given ? tarn_verify_text(row->verify) : NULL);
    write_history(w, row->history_retention_ms);
    tarn_jsonw_ktime(w, "created_at", row->created_at);
    tarn_jsonw_object_end(w);
}

/* The {namespace} of the path, for a token that reaches all of its tables. */
static tarn_code read_name(const struct tarn_request *req, char out[TARN_NAMESPACE_MAX + 1],
                           struct tarn_err *err)
{
    tarn_code code = tarn_namespace_parse(req->arg[0], "namespace", out, err);

    if (code == TARN_OK && !tarn_principal_sees_namespace(&req->who, out))
        return tarn_fail(err, TARN_NAMESPACE_NOT_FOUND, "the namespace '%s' does not exist", out);
    return code;
}

/* --- one --- */

struct find {
    char name[TARN_NAMESPACE_MAX + 1];
    struct tarn_jsonw w;
};

static tarn_code show(void *ctx, const struct tarn_namespace *row, struct tarn_err *err)
{
    (void)err;
    write_namespace(ctx, row);
    return TARN_OK;
}

static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct find *find = ctx;

    return tarn_namespace_get(tx, find->name, show, &find->w, err);
}

tarn_code tarn_native_namespace_get(const struct tarn_request *req, struct tarn_reply *reply,
                                    struct tarn_err *err)
{
    struct find find = { .w = tarn_jsonw_to(&reply->body) };
    tarn_code code = read_name(req, find.name, err);

    if (code == TARN_OK)
        code = tarn_store_read(req->app->lake->store, find_tx, &find, err);
    reply->status = 200;
    return code == TARN_OK ? tarn_buf_check(&reply->body, err) : code;
}

/* --- the list --- */

struct namespaces {
    struct tarn_list list; /* first */
    struct tarn_principal who;
    char after[TARN_NAMESPACE_MAX + 1];
};

static void list_free(struct tarn_list *list) { free(list); }

static char *list_token(const struct tarn_list *list)
{
    return strdup(((const struct namespaces *)list)->after);
}

static tarn_code visit(void *ctx, const struct tarn_namespace *row, struct tarn_err *err)
{
    struct namespaces *l = ctx;

    (void)err;
    if (!tarn_principal_sees_namespace(&l->who, row->name))
        tarn_list_skip(&l->list);
    else if (tarn_list_row(&l->list))
        write_namespace(&l->list.w, row);
    else
        return TARN_OK;
    snprintf(l->after, sizeof l->after, "%s", row->name);
    return TARN_OK;
}

static tarn_code page(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct namespaces *l = ctx;
    char after[TARN_NAMESPACE_MAX + 1];

    memcpy(after, l->after, sizeof after); /* the position moves while it is in use */
    return tx->ops->namespaces.list(tx, after, l->list.ask, visit, l, err);
}

tarn_code tarn_native_namespaces_list(const struct tarn_request *req, struct tarn_reply *reply,
                                      struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page_of = { 0 };
    char after[TARN_NAMESPACE_MAX + 1] = "";
    tarn_code code = tarn_request_page(req, &page_of, err);

    if (code == TARN_OK && page_of.token)
        code = tarn_namespace_parse(page_of.token, "page_token", after, err);
    if (code != TARN_OK)
        return code;
    struct namespaces *l = calloc(1, sizeof *l);
    if (!l)
        return tarn_fail_oom(err);
    l->list = (struct tarn_list){ .store = req->app->lake->store, .page = page, .token = list_token,
                                  .free = list_free, .size = page_of.size };
    l->who = req->who;
    memcpy(l->after, after, sizeof l->after);
    tarn_list_reply(&l->list, NULL, "namespaces", reply);
    return TARN_OK;
}

/* --- changes --- */

static tarn_code add_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_namespace_use *use = state;
    const json_t *name = json_object_get(req->json, "namespace");
    tarn_code code = TARN_OK;

    if (json_is_array(name))
        code = tarn_namespace_from_levels(name, "namespace", use->name, err);
    else if (json_is_string(name))
        code = tarn_namespace_parse(json_string_value(name), "namespace", use->name, err);
    else
        code = tarn_fail_field(err, "namespace", "must be dotted text or an array of levels");
    if (code != TARN_OK)
        return code;
    if (!tarn_principal_sees_namespace(&req->who, use->name))
        return tarn_fail_code_field(err, TARN_FORBIDDEN, "namespace",
                                    "the token does not reach all tables of this namespace");
    (void)json_object_del(req->json, "namespace");
    use->lake = req->app->lake;
    use->settings = req->json;
    use->check_monitors = tarn_monitors_check;
    return TARN_OK;
}

static tarn_code change_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_namespace_use *use = state;

    use->lake = req->app->lake;
    use->settings = req->json;
    use->check_monitors = tarn_monitors_check;
    return read_name(req, use->name, err);
}

static tarn_code answer(const struct tarn_namespace_use *use, unsigned status, struct tarn_reply *reply,
                        struct tarn_err *err)
{
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    reply->status = status;
    write_namespace(&w, &use->row);
    return tarn_buf_check(&reply->body, err);
}

static tarn_code add_answer(const struct tarn_request *req, void *use, struct tarn_reply *reply,
                            struct tarn_err *err)
{
    (void)req;
    return answer(use, 201, reply, err);
}

static tarn_code change_answer(const struct tarn_request *req, void *use, struct tarn_reply *reply,
                               struct tarn_err *err)
{
    if (req->app->runner)
        tarn_runner_nudge(req->app->runner);
    return answer(use, 200, reply, err);
}

const struct tarn_flow tarn_native_namespace_add = { &tarn_namespace_add, add_parse, add_answer };
const struct tarn_flow tarn_native_namespace_change = { &tarn_namespace_change, change_parse, change_answer };
const struct tarn_flow tarn_native_namespace_remove = { &tarn_namespace_remove, change_parse,
                                                        tarn_flow_nothing };
