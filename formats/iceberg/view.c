/* view.c - a view's metadata document to a value and back. */
#include "formats/iceberg/view.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "formats/iceberg/list.h"
#include "formats/iceberg/value.h"
#include "formats/iceberg/view_parts.h"
#include <string.h>

static void version_done(struct tarn_iceberg_view_version *item) { json_decref(item->doc); }
static void schema_done(struct tarn_iceberg_schema *item) { json_decref(item->doc); }
void tarn_iceberg_view_entry_done(struct tarn_iceberg_view_entry *item) { json_decref(item->more); }

void tarn_iceberg_view_free(struct tarn_iceberg_view *view)
{
    if (!view)
        return;
    free(view->uuid);
    free(view->location);
    TARN_ICEBERG_DROP_ALL(&view->versions, version_done);
    TARN_ICEBERG_DROP_ALL(&view->log, tarn_iceberg_view_entry_done);
    TARN_ICEBERG_DROP_ALL(&view->schemas, schema_done);
    json_decref(view->properties);
    json_decref(view->rest);
    free(view);
}

tarn_code tarn_iceberg_view_blank(struct tarn_iceberg_view **out, struct tarn_err *err)
{
    struct tarn_iceberg_view *view = calloc(1, sizeof *view);

    if (!view)
        return tarn_fail_oom(err);
    view->current_version_id = TARN_ICEBERG_NONE;
    view->properties = json_object();
    view->rest = json_object();
    if (!view->properties || !view->rest) {
        tarn_iceberg_view_free(view);
        return tarn_fail_oom(err);
    }
    *out = view;
    return TARN_OK;
}

const struct tarn_iceberg_view_version *tarn_iceberg_view_version_of(const struct tarn_iceberg_view *view, int64_t id)
{
    for (size_t i = 0; i < view->versions.count; i++)
        if (view->versions.items[i].id == id)
            return &view->versions.items[i];
    return NULL;
}

/* --- lists --- */

tarn_code tarn_iceberg_view_add_version(struct tarn_iceberg_view *view, struct tarn_iceberg_view_version item,
                                        struct tarn_err *err)
{
    return TARN_ICEBERG_ADD(&view->versions, item, version_done, err);
}

tarn_code tarn_iceberg_view_add_schema(struct tarn_iceberg_view *view, struct tarn_iceberg_schema item,
                                       struct tarn_err *err)
{
    return TARN_ICEBERG_ADD(&view->schemas, item, schema_done, err);
}

tarn_code tarn_iceberg_view_add_entry(struct tarn_iceberg_view *view, struct tarn_iceberg_view_entry item,
                                      struct tarn_err *err)
{
    return TARN_ICEBERG_ADD(&view->log, item, tarn_iceberg_view_entry_done, err);
}

/* --- reading --- */

tarn_code tarn_iceberg_view_version_read(const json_t *doc, struct tarn_iceberg_view_version *out, struct tarn_err *err)
{
    const json_t *ignored = NULL;

    *out = (struct tarn_iceberg_view_version){ 0 };
    TARN_TRY(tarn_iceberg_need_i64(doc, "version-id", &out->id, err));
    TARN_TRY(tarn_iceberg_check_id("version-id", out->id, err));
    TARN_TRY(tarn_iceberg_need_i64(doc, "timestamp-ms", &out->timestamp_ms, err));
    TARN_TRY(tarn_iceberg_need_i64(doc, "schema-id", &out->schema_id, err));
    TARN_TRY(tarn_iceberg_need_object(doc, "summary", &ignored, err));
    TARN_TRY(tarn_iceberg_need_array(doc, "representations", &ignored, err));
    TARN_TRY(tarn_iceberg_need_array(doc, "default-namespace", &ignored, err));
    out->doc = tarn_iceberg_keep(doc);
    return TARN_OK;
}

static tarn_code read_lists(struct tarn_iceberg_view *view, const json_t *doc, struct tarn_err *err)
{
    const json_t *versions = NULL, *log = NULL, *schemas = NULL;
    size_t i;
    json_t *item;

    TARN_TRY(tarn_iceberg_need_array(doc, "versions", &versions, err));
    TARN_TRY(tarn_iceberg_need_array(doc, "version-log", &log, err));
    TARN_TRY(tarn_iceberg_need_array(doc, "schemas", &schemas, err));
    json_array_foreach((json_t *)(uintptr_t)versions, i, item) {
        struct tarn_iceberg_view_version version;
        TARN_TRY(tarn_iceberg_view_version_read(item, &version, err));
        TARN_TRY(tarn_iceberg_view_add_version(view, version, err));
    }
    json_array_foreach((json_t *)(uintptr_t)log, i, item) {
        struct tarn_iceberg_view_entry entry = { 0 };
        TARN_TRY(tarn_iceberg_need_i64(item, "timestamp-ms", &entry.timestamp_ms, err));
        TARN_TRY(tarn_iceberg_need_i64(item, "version-id", &entry.version_id, err));
        entry.more = tarn_iceberg_more(item, 2);
        TARN_TRY(tarn_iceberg_view_add_entry(view, entry, err));
    }
    json_array_foreach((json_t *)(uintptr_t)schemas, i, item) {
        struct tarn_iceberg_schema schema = { 0 };
        TARN_TRY(tarn_iceberg_need_i64(item, "schema-id", &schema.id, err));
        TARN_TRY(tarn_iceberg_check_id("schema-id", schema.id, err));
        schema.doc = json_incref(item);
        TARN_TRY(tarn_iceberg_view_add_schema(view, schema, err));
    }
    return TARN_OK;
}

static tarn_code read_rest(struct tarn_iceberg_view *view, json_t *doc, struct tarn_err *err)
{
    static const char *const known[] = { "view-uuid", "format-version", "location", "current-version-id", "versions",
                                         "version-log", "schemas", "properties" };
    const char *key;
    json_t *value;

    json_object_foreach(doc, key, value) {
        bool is_known = false;
        for (size_t i = 0; i < TARN_COUNT(known); i++)
            is_known = is_known || strcmp(known[i], key) == 0;
        if (!is_known && json_object_set(view->rest, key, value) != 0)
            return tarn_fail_oom(err);
    }
    return TARN_OK;
}

static tarn_code read_head(struct tarn_iceberg_view *view, const json_t *doc, struct tarn_err *err)
{
    const char *uuid = NULL, *location = NULL;
    const json_t *properties = NULL;
    int64_t version = 0;

    TARN_TRY(tarn_iceberg_need_i64(doc, "format-version", &version, err));
    if (version != 1)
        return tarn_fail_field(err, "format-version", "Unsupported format version: %lld", (long long)version);
    TARN_TRY(tarn_iceberg_need_str(doc, "view-uuid", &uuid, err));
    TARN_TRY(tarn_iceberg_need_str(doc, "location", &location, err));
    TARN_TRY(tarn_iceberg_need_i64(doc, "current-version-id", &view->current_version_id, err));
    TARN_TRY(tarn_iceberg_opt_object(doc, "properties", &properties, err));
    if (properties) {
        TARN_TRY(tarn_iceberg_check_texts(properties, "properties", err));
        json_decref(view->properties);
        view->properties = tarn_iceberg_keep(properties);
    }
    view->uuid = strdup(uuid);
    view->location = strdup(location);
    return view->uuid && view->location ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code read_all(struct tarn_iceberg_view *view, json_t *doc, struct tarn_err *err)
{
    TARN_TRY(read_head(view, doc, err));
    TARN_TRY(read_lists(view, doc, err));
    TARN_TRY(read_rest(view, doc, err));
    if (!tarn_iceberg_view_version_of(view, view->current_version_id))
        return tarn_fail_field(err, "current-version-id", "Cannot find current version %lld in view versions",
                               (long long)view->current_version_id);
    return TARN_OK;
}

tarn_code tarn_iceberg_view_parse(const char *text, size_t len, struct tarn_iceberg_view **out, struct tarn_err *err)
{
    static const struct tarn_json_limits limits = { .max_depth = 128, .max_values = 2000000 };
    TARN_AUTO(iceberg_view) struct tarn_iceberg_view *view = NULL;
    json_t *doc = NULL;

    TARN_TRY(tarn_json_parse(text, len, &limits, &doc, err));
    tarn_code code = json_is_object(doc) ? tarn_iceberg_view_blank(&view, err)
                                         : tarn_fail(err, TARN_INVALID, "Cannot parse view metadata from a non-object");
    if (code == TARN_OK)
        code = read_all(view, doc, err);
    json_decref(doc);
    if (code == TARN_OK)
        *out = tarn_take(&view);
    return code;
}

/* --- writing --- */

static void write_json(struct tarn_jsonw *w, const char *key, const json_t *value)
{
    tarn_jsonw_key(w, key);
    tarn_jsonw_json(w, value);
}

static void write_entry(struct tarn_jsonw *w, const struct tarn_iceberg_view_entry *entry)
{
    if (entry->more) {
        tarn_jsonw_json(w, entry->more);
        return;
    }
    tarn_jsonw_object(w);
    tarn_jsonw_ki64(w, "timestamp-ms", entry->timestamp_ms);
    tarn_jsonw_ki64(w, "version-id", entry->version_id);
    tarn_jsonw_object_end(w);
}

static void write_lists(struct tarn_jsonw *w, const struct tarn_iceberg_view *view)
{
    tarn_jsonw_key(w, "versions");
    tarn_jsonw_array(w);
    for (size_t i = 0; i < view->versions.count; i++)
        tarn_jsonw_json(w, view->versions.items[i].doc);
    tarn_jsonw_array_end(w);
    tarn_jsonw_key(w, "version-log");
    tarn_jsonw_array(w);
    for (size_t i = 0; i < view->log.count; i++)
        write_entry(w, &view->log.items[i]);
    tarn_jsonw_array_end(w);
    tarn_jsonw_key(w, "schemas");
    tarn_jsonw_array(w);
    for (size_t i = 0; i < view->schemas.count; i++)
        tarn_jsonw_json(w, view->schemas.items[i].doc);
    tarn_jsonw_array_end(w);
}

tarn_code tarn_iceberg_view_write(const struct tarn_iceberg_view *view, struct tarn_buf *out, struct tarn_err *err)
{
    struct tarn_jsonw writer = tarn_jsonw_to(out), *w = &writer;
    const char *key;
    json_t *value;

    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "view-uuid", view->uuid);
    tarn_jsonw_ki64(w, "format-version", 1);
    tarn_jsonw_kstr(w, "location", view->location);
    if (json_object_size(view->properties) > 0)
        write_json(w, "properties", view->properties);
    tarn_jsonw_ki64(w, "current-version-id", view->current_version_id);
    write_lists(w, view);
    json_object_foreach(view->rest, key, value)
        write_json(w, key, value);
    tarn_jsonw_object_end(w);
    return tarn_buf_check(out, err);
}

tarn_code tarn_iceberg_view_file_name(const struct tarn_iceberg_view *view, const char *base_file, const char *uuid,
                                      char **out, struct tarn_err *err)
{
    const struct tarn_iceberg_meta like = { .location = view->location, .properties = view->properties };

    return tarn_iceberg_file_name(&like, base_file, uuid, out, err);
}
