/* schema_doc.c - schema.json in and out. It is small (a schema has at most 10,000 columns), so it is read as
 * a tree. The bare struct of a schema is taken too, as version 1: `--schema FILE` reads either form. */
#include "formats/manifest/manifest.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "base/time.h"

enum { SCHEMA_DOC_MAX_BYTES = 16 * 1024 * 1024, VERSIONS_MAX = 10000 };

void tarn_schema_doc_done(struct tarn_schema_doc *doc)
{
    for (size_t i = 0; i < doc->count; i++) {
        tarn_schema_free(doc->versions[i].schema);
        json_decref(doc->versions[i].json);
        json_decref(doc->versions[i].renames);
    }
    free(doc->versions);
    *doc = (struct tarn_schema_doc){ 0 };
}

static struct tarn_schema_version *find_version(const struct tarn_schema_doc *doc, int64_t version)
{
    for (size_t i = 0; i < doc->count; i++) {
        if (doc->versions[i].version == version)
            return &doc->versions[i];
    }
    return NULL;
}

const struct tarn_schema *tarn_schema_doc_current(const struct tarn_schema_doc *doc)
{
    const struct tarn_schema_version *v = find_version(doc, doc->current_version);
    return v ? v->schema : NULL;
}

/* Room for it is there. `holder` has `renames` beside the schema; both are borrowed. */
static tarn_code add_version(struct tarn_schema_doc *doc, int64_t version, const json_t *holder, json_t *json,
                             const char *field, struct tarn_err *err)
{
    json_t *renames = json_object_get(holder, "renames");
    const struct tarn_schema_version *same = find_version(doc, version);
    if (same && json_equal(same->json, json) && version == doc->current_version)
        return TARN_OK;
    if (same)
        return tarn_fail_field(err, field, "version %lld stands here twice", (long long)version);
    TARN_AUTO(schema) struct tarn_schema *schema = NULL;
    const char *created = json_string_value(json_object_get(holder, "created_at"));
    int64_t created_at = -1;
    tarn_code code = tarn_schema_parse(json, field, &schema, err);
    if (code != TARN_OK)
        return code;
    if (created && tarn_time_parse(created, &created_at, NULL, NULL) != TARN_OK)
        created_at = -1;
    doc->versions[doc->count++] =
        (struct tarn_schema_version){ version, tarn_take(&schema), json_incref(json),
                                      json_is_object(renames) ? json_incref(renames) : NULL, created_at };
    return TARN_OK;
}

static tarn_code add_listed(struct tarn_schema_doc *doc, const json_t *item, size_t i, struct tarn_err *err)
{
    char field[64];
    const json_t *version = json_object_get(item, "version");
    if (!json_is_integer(version) || json_integer_value(version) < 1) {
        snprintf(field, sizeof field, "versions[%zu].version", i);
        return tarn_fail_field(err, field, "must be an integer from 1");
    }
    snprintf(field, sizeof field, "versions[%zu].schema", i);
    return add_version(doc, json_integer_value(version), item, json_object_get(item, "schema"), field, err);
}

static int by_version(const void *a, const void *b)
{
    const struct tarn_schema_version *x = a, *y = b;
    return (x->version > y->version) - (x->version < y->version);
}

static tarn_code read_tree(json_t *root, struct tarn_schema_doc *doc, struct tarn_err *err)
{
    json_t *schema = json_object_get(root, "schema");
    const json_t *versions = json_object_get(root, "versions");
    const json_t *current = json_object_get(root, "current_version");
    bool is_bare = !current && json_is_array(json_object_get(root, "fields"));
    if (!is_bare && (!json_is_integer(current) || json_integer_value(current) < 1))
        return tarn_fail_field(err, "current_version", "must be an integer from 1");
    if (versions && !json_is_null(versions) && !json_is_array(versions))
        return tarn_fail_field(err, "versions", "must be an array");
    size_t listed = json_array_size(versions);
    if (listed > VERSIONS_MAX)
        return tarn_fail_field(err, "versions", "more than %d versions", VERSIONS_MAX);
    doc->current_version = is_bare ? 1 : json_integer_value(current);
    doc->versions = calloc(listed + 1, sizeof *doc->versions);
    if (!doc->versions)
        return tarn_fail_oom(err);
    if (is_bare)
        return add_version(doc, 1, NULL, root, "schema", err);

    tarn_code code = TARN_OK;
    if (schema && !json_is_null(schema))
        code = add_version(doc, doc->current_version, root, schema, "schema", err);
    for (size_t i = 0; i < listed && code == TARN_OK; i++)
        code = add_listed(doc, json_array_get(versions, i), i, err);
    if (code == TARN_OK)
        qsort(doc->versions, doc->count, sizeof *doc->versions, by_version);
    return code;
}

tarn_code tarn_schema_doc_parse(const char *text, size_t len, struct tarn_schema_doc *out,
                                struct tarn_err *err)
{
    json_auto_t *root = NULL;
    tarn_code code = tarn_json_parse(text, len, NULL, &root, err);
    if (code != TARN_OK)
        return code;
    if (!json_is_object(root))
        return tarn_fail(err, TARN_INVALID, TARN_DOC_SCHEMA " is no object");
    __attribute__((cleanup(tarn_schema_doc_done))) struct tarn_schema_doc doc = { 0 };
    code = read_tree(root, &doc, err);
    if (code != TARN_OK)
        return code;
    *out = doc;
    doc = (struct tarn_schema_doc){ 0 };
    return TARN_OK;
}

tarn_code tarn_schema_doc_read_at(struct tarn_place *place, struct tarn_schema_doc *out,
                                  struct tarn_object *object, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    tarn_code code = tarn_place_read_all(place, TARN_DOC_SCHEMA, SCHEMA_DOC_MAX_BYTES, &text, object, err);
    return code != TARN_OK ? code : tarn_schema_doc_parse(text.len > 0 ? text.data : "", text.len, out, err);
}

/* --- out --- */

static void write_row(struct tarn_jsonw *w, const struct tarn_schema_row *row)
{
    tarn_jsonw_kraw(w, "schema", row->schema);
    if (row->renames)
        tarn_jsonw_kraw(w, "renames", row->renames);
    tarn_jsonw_ktime(w, "created_at", row->created_at);
}

tarn_code tarn_schema_doc_write(const struct tarn_schema_row *rows, size_t count, struct tarn_buf *out,
                                struct tarn_err *err)
{
    struct tarn_jsonw w = tarn_jsonw_to(out);
    const struct tarn_schema_row *current = &rows[count - 1];
    tarn_jsonw_object(&w);
    tarn_jsonw_ki64(&w, "current_version", current->version);
    write_row(&w, current);
    tarn_jsonw_key(&w, "versions");
    tarn_jsonw_array(&w);
    for (size_t i = 0; i + 1 < count; i++) {
        tarn_jsonw_object(&w);
        tarn_jsonw_ki64(&w, "version", rows[i].version);
        write_row(&w, &rows[i]);
        tarn_jsonw_object_end(&w);
    }
    tarn_jsonw_array_end(&w);
    tarn_jsonw_object_end(&w);
    tarn_buf_addc(out, '\n');
    return tarn_buf_check(out, err);
}
