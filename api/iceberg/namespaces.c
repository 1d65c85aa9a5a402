/* namespaces.c - /iceberg/v1/namespaces. The namespaces are the catalog's own: tables of the native face lie in them too. */
#include "api/iceberg/iceberg.h"
#include "api/native/list.h"
#include "base/json.h"
#include "base/text.h"
#include "formats/iceberg/value.h"
#include "lake/iceberg_names.h"
#include "lake/iceberg_place.h"
#include "lake/namespaces.h"
#include <string.h>

/* --- one --- */

/* Trino and StarRocks ask the namespace where a new table shall lie, and make none where nothing is said. */
static tarn_code add_place(const struct tarn_lake *lake, const char *name, json_t *properties, struct tarn_err *err)
{
    TARN_AUTO(mem) char *place = NULL;

    if (!lake->default_root || json_object_get(properties, "location"))
        return TARN_OK;
    tarn_code code = tarn_iceberg_namespace_place(lake, name, &place, err);
    if (code == TARN_OK && json_object_set_new(properties, "location", json_string(place)) != 0)
        return tarn_fail_oom(err);
    return code;
}

static tarn_code show(const struct tarn_lake *lake, const struct tarn_namespace *row, struct tarn_jsonw *w,
                      struct tarn_err *err)
{
    json_auto_t *levels = tarn_namespace_levels(row->name);
    json_auto_t *properties = NULL;

    if (!levels)
        return tarn_fail_oom(err);
    tarn_code code = tarn_json_parse(row->properties, strlen(row->properties), NULL, &properties, err);
    if (code == TARN_OK)
        code = add_place(lake, row->name, properties, err);
    if (code != TARN_OK)
        return code;
    tarn_jsonw_object(w);
    tarn_jsonw_key(w, "namespace");
    tarn_jsonw_json(w, levels);
    tarn_jsonw_key(w, "properties");
    tarn_jsonw_json(w, properties);
    tarn_jsonw_object_end(w);
    return TARN_OK;
}

struct find { const struct tarn_lake *lake; char name[TARN_NAMESPACE_MAX + 1]; struct tarn_jsonw w; };

static tarn_code found(void *ctx, const struct tarn_namespace *row, struct tarn_err *err)
{
    struct find *find = ctx;

    return show(find->lake, row, &find->w, err);
}

static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct find *find = ctx;

    return tarn_namespace_get(tx, find->name, found, find, err);
}

tarn_code tarn_iceberg_namespace_get(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct find find = { .lake = req->app->lake, .w = tarn_jsonw_to(&reply->body) };
    tarn_code code = tarn_iceberg_path_namespace(req, find.name, err);

    if (code == TARN_OK)
        code = tarn_store_read(req->app->lake->store, find_tx, &find, err);
    reply->status = 200;
    return code == TARN_OK ? tarn_buf_check(&reply->body, err) : code;
}

static tarn_code there_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err) { return tarn_namespace_check(tx, ctx, err); }

tarn_code tarn_iceberg_namespace_exists(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    char name[TARN_NAMESPACE_MAX + 1];
    tarn_code code = tarn_iceberg_path_namespace(req, name, err);

    if (code == TARN_OK)
        code = tarn_store_read(req->app->lake->store, there_tx, name, err);
    return code == TARN_OK ? tarn_reply_nothing(reply) : code;
}

/* --- the list: the levels right below `parent` --- */

struct children {
    struct tarn_list list; /* first */
    struct tarn_principal who;
    char mark[TARN_ICEBERG_MARK];
    char parent[TARN_NAMESPACE_MAX + 1]; /* "": the top */
    size_t depth;                        /* levels of the parent */
    char after[TARN_NAMESPACE_MAX + 1];  /* the row to come after */
    char last[TARN_NAMESPACE_MAX + 1];   /* of the child without a row that was told last; its rows stand side by side */
    struct tarn_tx *tx;                  /* of the page at hand */
};

static void children_free(struct tarn_list *list) { free(list); }

static char *children_token(const struct tarn_list *list)
{
    const struct children *c = (const struct children *)list;

    return tarn_iceberg_token(c->mark, c->after);
}

/* The first levels of a row, or false when it does not lie below the parent. */
static bool child_of(const struct children *c, const char *row, char out[TARN_NAMESPACE_MAX + 1], json_t **levels)
{
    size_t len = strlen(c->parent);
    TARN_ERR(ignored);

    if (len > 0 && (strncmp(row, c->parent, len) != 0 || row[len] != '.'))
        return false;
    *levels = tarn_namespace_levels(row);
    while (json_array_size(*levels) > c->depth + 1)
        (void)json_array_remove(*levels, json_array_size(*levels) - 1);
    return *levels && json_array_size(*levels) == c->depth + 1 &&
           tarn_namespace_from_levels(*levels, "namespace", out, &ignored) == TARN_OK;
}

/* A child is told by its own row; one that has none (tables lie deeper alone) by the first row below it. */
static bool is_told(struct children *c, const char *row, const char *child)
{
    TARN_ERR(ignored);

    if (strcmp(row, child) == 0)
        return true;
    return strcmp(child, c->last) != 0 && tarn_namespace_row(c->tx, child, &ignored) != TARN_OK;
}

static tarn_code visit(void *ctx, const struct tarn_namespace *row, struct tarn_err *err)
{
    struct children *c = ctx;
    char child[TARN_NAMESPACE_MAX + 1];
    json_auto_t *levels = NULL;

    (void)err;
    bool shown = child_of(c, row->name, child, &levels) && tarn_principal_sees_namespace(&c->who, row->name) &&
                 is_told(c, row->name, child);
    if (!shown)
        tarn_list_skip(&c->list);
    else if (tarn_list_row(&c->list))
        tarn_jsonw_json(&c->list.w, levels);
    else
        return TARN_OK;
    if (shown)
        snprintf(c->last, sizeof c->last, "%s", child);
    snprintf(c->after, sizeof c->after, "%s", row->name);
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct children *c = ctx;
    char after[TARN_NAMESPACE_MAX + 1];

    memcpy(after, c->after, sizeof after);
    c->tx = tx;
    return tx->ops->namespaces.list(tx, after, c->list.ask, visit, c, err);
}

static tarn_code look_for(const struct tarn_request *req, const char *parent, struct children *c, struct tarn_err *err)
{
    tarn_code code = tarn_iceberg_namespace(parent, "parent", c->parent, err);

    if (code == TARN_OK && !tarn_principal_sees_namespace(&c->who, c->parent))
        return tarn_fail(err, TARN_NAMESPACE_NOT_FOUND, "the namespace does not exist");
    return code == TARN_OK ? tarn_store_read(req->app->lake->store, there_tx, c->parent, err) : code;
}

/* PyIceberg encodes the levels of a parent twice: "my%2520ns". A namespace of the name as it was written comes first. */
static tarn_code find_parent(const struct tarn_request *req, const char *parent, struct children *c, struct tarn_err *err)
{
    TARN_AUTO(mem) char *decoded = NULL;
    TARN_ERR(fault);
    TARN_ERR(ignored);
    tarn_code code = look_for(req, parent, c, &fault);

    if (code == TARN_OK)
        return TARN_OK;
    if (code != TARN_NAMESPACE_NOT_FOUND || !strchr(parent, '%'))
        return tarn_err_move(err, &fault);
    if (!(decoded = malloc(strlen(parent) + 1)))
        return tarn_fail_oom(err);
    code = tarn_percent_decode(parent, strlen(parent), false, decoded, &ignored);
    if (code == TARN_OK)
        code = look_for(req, decoded, c, &ignored);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code take_parent(const struct tarn_request *req, struct children *c, struct tarn_err *err)
{
    const char *parent = tarn_query(req, "parent");

    if (!parent || !*parent)
        return TARN_OK;
    tarn_code code = find_parent(req, parent, c, err);
    if (code != TARN_OK)
        return code;
    json_auto_t *levels = tarn_namespace_levels(c->parent);
    c->depth = json_array_size(levels);
    snprintf(c->after, sizeof c->after, "%s", c->parent); /* what lies below comes after it */
    return TARN_OK;
}

static tarn_code resume(struct children *c, const char *token, struct tarn_err *err)
{
    json_auto_t *levels = NULL;
    tarn_code code = tarn_namespace_parse(token, "pageToken", c->after, err);

    if (code == TARN_OK && !child_of(c, c->after, c->last, &levels))
        c->last[0] = '\0';
    return code;
}

tarn_code tarn_iceberg_namespaces_list(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page = { 0 };
    struct children *c = calloc(1, sizeof *c);

    if (!c)
        return tarn_fail_oom(err);
    c->who = req->who;
    tarn_iceberg_mark(req, c->mark);
    tarn_code code = tarn_iceberg_page(req, &page, err);
    if (code == TARN_OK)
        code = take_parent(req, c, err);
    if (code == TARN_OK && page.token)
        code = resume(c, page.token, err);
    if (code != TARN_OK) {
        free(c);
        return code;
    }
    c->list = (struct tarn_list){ .store = req->app->lake->store, .page = page_tx, .token = children_token,
                                  .free = children_free, .size = page.size, .token_key = "next-page-token" };
    tarn_list_reply(&c->list, NULL, "namespaces", reply);
    return TARN_OK;
}

/* --- changes --- */

static tarn_code create_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_namespace_use *use = state;
    json_t *properties = json_object_get(req->json, "properties");
    tarn_code code = tarn_namespace_from_levels(json_object_get(req->json, "namespace"), "namespace", use->name, err);

    if (code == TARN_OK && !tarn_principal_sees_namespace(&req->who, use->name))
        return tarn_fail(err, TARN_FORBIDDEN, "the token does not reach all tables of this namespace");
    if (code != TARN_OK)
        return code;
    if (properties && !json_is_null(properties))
        code = tarn_iceberg_check_texts(properties, "properties", err);
    if (code != TARN_OK)
        return code;
    json_t *settings = json_object(); /* the request keeps it */
    if (json_object_set_new(req->json, "settings", settings) != 0)
        return tarn_fail_oom(err);
    if (json_is_object(properties) && json_object_set(settings, "properties", properties) != 0)
        return tarn_fail_oom(err);
    use->lake = req->app->lake;
    use->settings = settings;
    use->makes_outer = true;
    return TARN_OK;
}

static tarn_code create_answer(const struct tarn_request *req, void *state, struct tarn_reply *reply, struct tarn_err *err)
{
    const struct tarn_namespace_use *use = state;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    reply->status = 200;
    tarn_code code = show(req->app->lake, &use->row, &w, err);
    return code == TARN_OK ? tarn_buf_check(&reply->body, err) : code;
}

static tarn_code drop_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_namespace_use *use = state;

    use->lake = req->app->lake;
    return tarn_iceberg_path_namespace(req, use->name, err);
}

static tarn_code properties_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_namespace_properties_use *use = state;
    const json_t *removals = json_object_get(req->json, "removals"), *updates = json_object_get(req->json, "updates");

    if (removals && !json_is_null(removals) && !json_is_array(removals))
        return tarn_fail_field(err, "removals", "Cannot parse removals: it must be an array of text");
    for (size_t i = 0; i < json_array_size(removals); i++)
        if (!json_is_string(json_array_get(removals, i)))
            return tarn_fail_field(err, "removals", "Cannot parse removals: it must be an array of text");
    tarn_code code = updates && !json_is_null(updates) ? tarn_iceberg_check_texts(updates, "updates", err) : TARN_OK;
    if (code != TARN_OK)
        return code;
    use->removals = removals;
    use->updates = updates;
    return tarn_iceberg_path_namespace(req, use->name, err);
}

static tarn_code properties_answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                                   struct tarn_err *err)
{
    const struct tarn_namespace_properties_use *use = state;

    (void)req;
    return tarn_reply_json(reply, 200, json_pack("{s:O, s:O, s:O}", "updated", use->updated, "removed", use->removed,
                                                 "missing", use->missing),
                           err);
}

const struct tarn_flow tarn_iceberg_namespace_create = { &tarn_namespace_add, create_parse, create_answer };
const struct tarn_flow tarn_iceberg_namespace_drop = { &tarn_namespace_remove, drop_parse, tarn_flow_nothing };
const struct tarn_flow tarn_iceberg_namespace_properties = { &tarn_namespace_properties, properties_parse, properties_answer };
