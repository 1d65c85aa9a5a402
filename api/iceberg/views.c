/* views.c - /iceberg/v1/namespaces/{namespace}/views. */
#include "api/iceberg/iceberg.h"
#include "api/iceberg/listing.h"
#include "formats/iceberg/value.h"
#include "lake/views.h"
#include <string.h>

/* --- the list --- */

static tarn_code visit(void *ctx, const struct tarn_view *view, struct tarn_err *err)
{
    (void)err;
    tarn_iceberg_listing_row(ctx, view->name, true);
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_iceberg_listing *l = ctx;
    char after[TARN_NAME_MAX + 1];

    memcpy(after, l->after, sizeof after);
    return tx->ops->views.list(tx, l->namespace_, after, l->list.ask, visit, l, err);
}

tarn_code tarn_iceberg_views_list(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    return tarn_iceberg_listing_answer(req, page_tx, reply, err);
}

/* --- one --- */

static tarn_code answer_view(const struct tarn_view *view, struct tarn_reply *reply, struct tarn_err *err)
{
    const struct tarn_iceberg_shown shown = { .location = view->metadata_location };

    return tarn_iceberg_answer_table(reply, &shown, view->metadata, strlen(view->metadata), TARN_ICEBERG_ALL, err);
}

struct load { struct tarn_ident ident; struct tarn_view *view; };

static tarn_code load_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct load *load = ctx;

    tarn_view_free(tarn_take(&load->view));
    return tx->ops->views.get(tx, load->ident.namespace_, load->ident.name, &load->view, err);
}

static tarn_code find(const struct tarn_request *req, struct tarn_view **out, struct tarn_err *err)
{
    struct load load = { .view = NULL };
    tarn_code code = tarn_iceberg_path_ident(req, TARN_VIEW_NOT_FOUND, &load.ident, err);

    if (code == TARN_OK)
        code = tarn_store_read(req->app->lake->store, load_tx, &load, err);
    *out = load.view;
    return code;
}

tarn_code tarn_iceberg_view_load(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    TARN_AUTO(view) struct tarn_view *view = NULL;
    tarn_code code = find(req, &view, err);

    return code == TARN_OK ? answer_view(view, reply, err) : code;
}

tarn_code tarn_iceberg_view_exists(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    TARN_AUTO(view) struct tarn_view *view = NULL;
    tarn_code code = find(req, &view, err);

    return code == TARN_OK ? tarn_reply_nothing(reply) : code;
}

/* --- changes --- */

/* Asked again under its key: the view of the path, or of the body, as it is now. */
tarn_code tarn_iceberg_view_again(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct load load = { .view = NULL };
    const char *name = req->arg_count > 1 ? req->arg[1] : NULL;
    tarn_code code = tarn_iceberg_path_namespace(req, load.ident.namespace_, err);

    if (code == TARN_OK && !name)
        code = tarn_iceberg_need_str(req->json, "name", &name, err);
    if (code == TARN_OK) {
        snprintf(load.ident.name, sizeof load.ident.name, "%s", name);
        code = tarn_store_read(req->app->lake->store, load_tx, &load, err);
    }
    if (code == TARN_OK)
        code = answer_view(load.view, reply, err);
    tarn_view_free(load.view);
    return code;
}

static tarn_code view_answer(const struct tarn_request *req, void *state, struct tarn_reply *reply, struct tarn_err *err)
{
    (void)req;
    return answer_view(((const struct tarn_view_use *)state)->row, reply, err);
}

static tarn_code read_new(const struct tarn_request *req, struct tarn_view_use *use, struct tarn_err *err)
{
    use->lake = req->app->lake;
    use->who = tarn_iceberg_who_of(req);
    return tarn_iceberg_new_ident(req, "views", &use->ident, err);
}

static tarn_code create_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_view_use *use = state;
    tarn_code code = read_new(req, use, err);

    if (code == TARN_OK)
        code = tarn_iceberg_need_object(req->json, "schema", &use->ask.schema, err);
    if (code == TARN_OK)
        code = tarn_iceberg_need_object(req->json, "view-version", &use->ask.version, err);
    if (code == TARN_OK)
        code = tarn_iceberg_opt_object(req->json, "properties", &use->ask.properties, err);
    return code == TARN_OK ? tarn_iceberg_opt_str(req->json, "location", &use->location, err) : code;
}

static tarn_code register_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_view_use *use = state;
    tarn_code code = read_new(req, use, err);

    return code == TARN_OK ? tarn_iceberg_need_str(req->json, "metadata-location", &use->metadata_location, err) : code;
}

static tarn_code replace_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_view_use *use = state;
    tarn_code code = tarn_iceberg_path_ident(req, TARN_VIEW_NOT_FOUND, &use->ident, err);

    use->lake = req->app->lake;
    use->who = tarn_iceberg_who_of(req);
    if (code == TARN_OK)
        code = tarn_iceberg_opt_array(req->json, "requirements", &use->requirements, err);
    return code == TARN_OK ? tarn_iceberg_need_array(req->json, "updates", &use->updates, err) : code;
}

static tarn_code rename_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_view_rename_use *use = state;
    tarn_code code = tarn_iceberg_body_ident(req, json_object_get(req->json, "source"), "source", TARN_VIEW_NOT_FOUND,
                                             &use->from, err);

    return code == TARN_OK ? tarn_iceberg_body_ident(req, json_object_get(req->json, "destination"), "destination",
                                                     TARN_FORBIDDEN, &use->to, err)
                           : code;
}

static tarn_code drop_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    return tarn_iceberg_path_ident(req, TARN_VIEW_NOT_FOUND, &((struct tarn_view_drop_use *)state)->ident, err);
}

const struct tarn_flow tarn_iceberg_view_post = { &tarn_view_create, create_parse, view_answer };
const struct tarn_flow tarn_iceberg_view_register = { &tarn_view_register, register_parse, view_answer };
const struct tarn_flow tarn_iceberg_view_replace = { &tarn_view_replace, replace_parse, view_answer };
const struct tarn_flow tarn_iceberg_view_rename = { &tarn_view_rename, rename_parse, tarn_flow_nothing };
const struct tarn_flow tarn_iceberg_view_drop = { &tarn_view_drop, drop_parse, tarn_flow_nothing };
