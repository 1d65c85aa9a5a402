/* publish_schema.c - schema.json with every version of the table's schema. What lies there may be overwritten
 * when each version it holds is one that the catalog holds alike. */
#include "lake/publish_cache.h"
#include "formats/manifest/manifest.h"
#include "lake/schema_rows.h"
#include <string.h>

struct list { int64_t table_id; struct tarn_schema_rows *rows; };

static tarn_code list_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct list *l = ctx;
    return tarn_schema_rows_read(tx, l->table_id, l->rows, err);
}

static bool is_known(const struct tarn_schema_rows *s, const struct tarn_schema_version *there)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->rows[i].version == there->version)
            return tarn_schema_same(there->schema, s->rows[i].schema);
    }
    return false;
}

/* Is the document there somebody else's? */
static tarn_code judge_foreign(struct tarn_publish_run *run, const struct tarn_schema_rows *s, bool *out,
                               struct tarn_err *err)
{
    __attribute__((cleanup(tarn_schema_doc_done))) struct tarn_schema_doc doc = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_schema_doc_read_at(run->place, &doc, NULL, &fault);
    bool known = code == TARN_OK || code == TARN_NOT_FOUND;
    for (size_t i = 0; i < doc.count && known; i++)
        known = is_known(s, &doc.versions[i]);
    *out = !known;
    if (known || code == TARN_OK || code == TARN_INVALID || code == TARN_PAYLOAD_TOO_LARGE)
        return TARN_OK;
    return tarn_err_move(err, &fault);
}

static tarn_code foreign(const struct tarn_publish_run *run, struct tarn_err *err)
{
    tarn_fail(err, TARN_FOREIGN_WRITE, "%s/%s holds a schema that the catalog does not know: publication stops",
              run->table->location, TARN_DOC_SCHEMA);
    return tarn_err_add(err, TARN_FOREIGN_DOCUMENT, json_string(TARN_DOC_SCHEMA));
}

static bool is_there(struct tarn_publish_run *run, const struct tarn_buf *text)
{
    TARN_AUTO_DONE(buf) struct tarn_buf there = { 0 };
    return tarn_place_read_all(run->place, TARN_DOC_SCHEMA, text->len, &there, NULL, NULL) == TARN_OK &&
           there.len == text->len && memcmp(there.data, text->data, text->len) == 0;
}

static tarn_code render(struct tarn_publish_run *run, struct tarn_schema_rows *s, struct tarn_buf *text,
                        struct tarn_err *err)
{
    struct list list = { run->table_id, s };
    tarn_code code = tarn_store_read(run->lake->store, list_tx, &list, err);
    if (code != TARN_OK || s->count == 0)
        return code;
    run->published_schema = s->rows[s->count - 1].version;
    return tarn_schema_doc_write(s->rows, s->count, text, err);
}

static tarn_code put_schema(struct tarn_publish_run *run, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_schema_rows_done))) struct tarn_schema_rows s = { 0 };
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    bool is_foreign = false;
    tarn_code code = render(run, &s, &text, err);
    if (code != TARN_OK || s.count == 0 || is_there(run, &text))
        return code;
    code = judge_foreign(run, &s, &is_foreign, err);
    if (code == TARN_OK && is_foreign)
        return foreign(run, err);
    if (code != TARN_OK)
        return code;
    return tarn_place_put(run->place, TARN_DOC_SCHEMA, text.data, text.len, TARN_PUT_REPLACE, NULL, err);
}

tarn_code tarn_publish_schema_look(struct tarn_publish_run *run, struct tarn_buf *text,
                                   enum tarn_publish_found *found, bool *is_foreign, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_schema_rows_done))) struct tarn_schema_rows s = { 0 };
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    tarn_code code = render(run, &s, text, err);
    if (code != TARN_OK)
        return code;
    *found = TARN_FOUND_SAME;
    *is_foreign = false;
    if (s.count > 0 && is_there(run, text))
        return TARN_OK;
    code = tarn_place_stat(run->place, TARN_DOC_SCHEMA, &object, &fault);
    if (code != TARN_OK && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &fault);
    *found = code == TARN_OK ? TARN_FOUND_OTHER : TARN_FOUND_NOTHING;
    return code == TARN_OK ? judge_foreign(run, &s, is_foreign, err) : TARN_OK;
}

tarn_code tarn_publish_schema(struct tarn_publish_run *run, struct tarn_err *err)
{
    if (!run->wants_schema)
        return TARN_OK;
    tarn_code code = put_schema(run, err);
    if (code != TARN_OK || run->wants_version)
        return code; /* the manifest's step knows which versions are in use */
    return tarn_publish_cache_alone(run, err);
}
