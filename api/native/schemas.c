/* schemas.c - GET/POST /api/table/{table}/schemas, GET .../schemas/{version} and
 * .../schemas/{version}/mapping. */
#include "api/native/native.h"
#include "base/json.h"
#include "catalog/schema_map.h"
#include "lake/schema_rows.h"
#include "lake/schemas.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void write_schema(struct tarn_jsonw *w, const struct tarn_schema_row *row)
{
    tarn_jsonw_object(w);
    tarn_jsonw_ki64(w, "version", row->version);
    tarn_jsonw_kraw(w, "schema", row->schema);
    if (row->renames)
        tarn_jsonw_kraw(w, "renames", row->renames);
    tarn_jsonw_ktime(w, "created_at", row->created_at);
    tarn_jsonw_object_end(w);
}

/* --- a new version --- */

static tarn_code read_compatibility(const char *word, bool *any, struct tarn_err *err)
{
    if (word && strcmp(word, "none") != 0 && strcmp(word, "backward") != 0)
        return tarn_fail_field(err, "compatibility", "must be \"backward\" or \"none\"");
    *any = word && strcmp(word, "none") == 0;
    return TARN_OK;
}

static tarn_code parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_schema_use *use = state;
    const char *compatibility = NULL;
    struct tarn_field fields[] = {
        TARN_I64("expected_version", &use->expected_version, 0, INT64_MAX - 1),
        { "schema", TARN_F_OBJECT, false, &use->schema, 0, 0, NULL },
        TARN_OPT_STR("compatibility", &compatibility, 1, 16),
        TARN_OPT_OBJECT("renames", &use->renames),
        TARN_FIELDS_END,
    };
    tarn_code code = tarn_request_ident(req, &use->ident, err);

    use->lake = req->app->lake;
    if (code == TARN_OK)
        code = tarn_json_read(req->json, fields, err);
    if (code == TARN_OK)
        code = read_compatibility(compatibility, &use->any, err);
    return code == TARN_OK ? tarn_schema_parse(use->schema, "schema", &use->parsed, err) : code;
}

static tarn_code answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                        struct tarn_err *err)
{
    const struct tarn_schema_use *use = state;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    (void)req;
    reply->status = use->replayed ? 200 : 201;
    write_schema(&w, &use->row);
    return tarn_buf_check(&reply->body, err);
}

const struct tarn_flow tarn_native_schema_add = { .use = &tarn_schema_add, .parse = parse, .answer = answer };

/* --- reading --- */

struct list_ctx {
    int64_t table_id;
    struct tarn_buf *out;
    struct tarn_jsonw w;
};

static tarn_code visit(void *ctx, const struct tarn_schema_row *row, struct tarn_err *err)
{
    struct list_ctx *c = ctx;

    (void)err;
    write_schema(&c->w, row);
    return TARN_OK;
}

static tarn_code list_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct list_ctx *c = ctx;

    return tx->ops->schemas.list(tx, c->table_id, visit, c, err);
}

tarn_code tarn_native_schemas_list(const struct tarn_request *req, struct tarn_reply *reply,
                                   struct tarn_err *err)
{
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    tarn_code code = tarn_native_table_find(req, &seen, err);

    if (code != TARN_OK)
        return code;
    struct list_ctx c = { .table_id = seen.table->id, .out = &reply->body, .w = tarn_jsonw_to(&reply->body) };
    tarn_jsonw_object(&c.w);
    tarn_jsonw_ki64(&c.w, "current_version", seen.table->schema_version);
    tarn_jsonw_key(&c.w, "versions");
    tarn_jsonw_array(&c.w);
    code = tarn_store_read(req->app->lake->store, list_tx, &c, err);
    if (code != TARN_OK)
        return code;
    tarn_jsonw_array_end(&c.w);
    tarn_jsonw_kstr(&c.w, "next_page_token", NULL);
    tarn_jsonw_object_end(&c.w);
    reply->status = 200;
    return tarn_buf_check(&reply->body, err);
}

struct get_ctx {
    int64_t table_id, version;
    struct tarn_schema_row row;
};

static tarn_code get_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct get_ctx *c = ctx;

    tarn_schema_row_done(&c->row);
    c->row = (struct tarn_schema_row){ 0 };
    return tx->ops->schemas.get(tx, c->table_id, c->version, &c->row, err);
}

static tarn_code read_number(const char *text, int64_t *out, struct tarn_err *err)
{
    char *end = NULL;

    errno = 0;
    long long number = text[0] >= '0' && text[0] <= '9' ? strtoll(text, &end, 10) : -1;
    if (number < 0 || errno != 0 || *end != '\0')
        return tarn_fail_field(err, "version", "must be a whole number");
    *out = number;
    return TARN_OK;
}

tarn_code tarn_native_schema_get(const struct tarn_request *req, struct tarn_reply *reply,
                                 struct tarn_err *err)
{
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);
    struct get_ctx c = { 0 };
    tarn_code code = tarn_native_table_find(req, &seen, err);

    if (code == TARN_OK)
        code = read_number(req->arg[1], &c.version, err);
    if (code != TARN_OK)
        return code;
    c.table_id = seen.table->id;
    code = tarn_store_read(req->app->lake->store, get_tx, &c, err);
    if (code == TARN_OK)
        write_schema(&w, &c.row);
    tarn_schema_row_done(&c.row);
    reply->status = 200;
    return code == TARN_OK ? tarn_buf_check(&reply->body, err) : code;
}

/* --- how files of a version are read as a later one --- */

#define MAPPING_MAX (64u << 20) /* bytes; only names of absurd length come near it */

struct mapping_ctx {
    int64_t table_id, to; /* to -1: the newest */
    struct tarn_schema_rows rows;
};

static tarn_code mapping_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct mapping_ctx *c = ctx;

    return tarn_schema_rows_read(tx, c->table_id, &c->rows, err);
}

/* How many versions there are up to the one that is mapped to. */
static tarn_code count_rows(const struct mapping_ctx *c, size_t *out, struct tarn_err *err)
{
    size_t count = c->rows.count;

    while (c->to >= 0 && count > 0 && c->rows.rows[count - 1].version > c->to)
        count--;
    if (c->to >= 0 && (count == 0 || c->rows.rows[count - 1].version != c->to))
        return tarn_fail(err, TARN_SCHEMA_VERSION_NOT_FOUND, "the table has no schema version %lld", (long long)c->to);
    *out = count;
    return TARN_OK;
}

static tarn_code write_mapping(const struct mapping_ctx *c, struct tarn_reply *reply, struct tarn_err *err)
{
    TARN_AUTO(schema_map) struct tarn_schema_map *map = NULL;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);
    size_t count = 0;
    tarn_code code = count_rows(c, &count, err);

    if (code == TARN_OK)
        code = tarn_schema_map_of(c->rows.rows, count, c->rows.from, &map, err);
    if (code != TARN_OK)
        return code;
    reply->body.ceiling = MAPPING_MAX;
    tarn_schema_map_write(map, &w);
    code = tarn_buf_check(&reply->body, err);
    reply->body.ceiling = 0;
    return code;
}

tarn_code tarn_native_schema_mapping(const struct tarn_request *req, struct tarn_reply *reply,
                                     struct tarn_err *err)
{
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    struct mapping_ctx c = { .to = -1 };
    tarn_code code = tarn_native_table_find(req, &seen, err);

    if (code == TARN_OK)
        code = read_number(req->arg[1], &c.rows.from, err);
    if (code == TARN_OK)
        code = tarn_query_i64(req, "to", 1, INT64_MAX, &c.to, err);
    if (code == TARN_OK && c.to >= 0 && c.to < c.rows.from)
        return tarn_fail_field(err, "to", "must not be below the version of the file");
    if (code != TARN_OK)
        return code;
    c.table_id = seen.table->id;
    code = tarn_store_read(req->app->lake->store, mapping_tx, &c, err);
    if (code == TARN_OK)
        code = write_mapping(&c, reply, err);
    tarn_schema_rows_done(&c.rows);
    reply->status = 200;
    return code;
}
