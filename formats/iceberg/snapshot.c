/* snapshot.c - snapshots, of which a table may have ten thousand: what is asked of each stands in its struct, the whole object stays
 * the text that it came as. A tree of one is some ten times its text. */
#include "base/json.h"
#include "base/jsonr.h"
#include "base/jsonw.h"
#include "formats/iceberg/parts.h"
#include "formats/iceberg/value.h"
#include <string.h>

static tarn_code fill(const json_t *doc, struct tarn_iceberg_snapshot *out, struct tarn_err *err)
{
    const char *list = NULL, *operation = NULL;
    const json_t *summary = NULL;

    *out = (struct tarn_iceberg_snapshot){ .parent_id = TARN_ICEBERG_NONE, .first_row_id = -1, .added_rows = -1 };
    if (!json_is_object(doc))
        return tarn_fail_field(err, "snapshots", "Cannot parse a snapshot: it must be an object");
    TARN_TRY(tarn_iceberg_need_i64(doc, "snapshot-id", &out->id, err));
    TARN_TRY(tarn_iceberg_opt_i64(doc, "parent-snapshot-id", &out->parent_id, err));
    TARN_TRY(tarn_iceberg_opt_i64(doc, "sequence-number", &out->sequence_number, err));
    TARN_TRY(tarn_iceberg_need_i64(doc, "timestamp-ms", &out->timestamp_ms, err));
    TARN_TRY(tarn_iceberg_opt_i64(doc, "first-row-id", &out->first_row_id, err));
    TARN_TRY(tarn_iceberg_opt_i64(doc, "added-rows", &out->added_rows, err));
    TARN_TRY(tarn_iceberg_opt_str(doc, "manifest-list", &list, err));
    TARN_TRY(tarn_iceberg_opt_object(doc, "summary", &summary, err));
    operation = json_string_value(json_object_get(summary, "operation"));
    out->is_replace = operation && strcmp(operation, "replace") == 0;
    out->manifest_list = list ? strdup(list) : NULL;
    return list && !out->manifest_list ? tarn_fail_oom(err) : TARN_OK;
}

tarn_code tarn_iceberg_snapshot_read(const json_t *doc, struct tarn_iceberg_snapshot *out, struct tarn_err *err)
{
    TARN_TRY(fill(doc, out, err));
    out->text = tarn_json_text(doc);
    return out->text ? TARN_OK : tarn_fail_oom(err);
}

json_t *tarn_iceberg_snapshot_tree(const struct tarn_iceberg_snapshot *snapshot)
{
    json_t *doc = NULL;
    TARN_ERR(ignored);

    if (snapshot && tarn_json_parse(snapshot->text, strlen(snapshot->text), NULL, &doc, &ignored) != TARN_OK)
        return NULL;
    return doc;
}

/* Without either of the two nothing tells which files the snapshot has, and no reader opens the table. The second is version 1's. */
static tarn_code check_files(const json_t *doc, const struct tarn_iceberg_snapshot *snapshot, struct tarn_err *err)
{
    const json_t *manifests = NULL;
    tarn_code code = snapshot->manifest_list ? TARN_OK : tarn_iceberg_opt_array(doc, "manifests", &manifests, err);

    if (code == TARN_OK && !snapshot->manifest_list && !manifests)
        return tarn_fail_field(err, "manifest-list", "Cannot parse missing field: manifest-list");
    for (size_t i = 0; i < json_array_size(manifests); i++)
        if (!json_is_string(json_array_get(manifests, i)))
            return tarn_fail_field(err, "manifests", "Cannot parse manifests: it must be an array of text");
    return code;
}

tarn_code tarn_iceberg_snapshot_form(const json_t *doc, const struct tarn_iceberg_snapshot *snapshot, struct tarn_err *err)
{
    const json_t *summary = tarn_iceberg_member(doc, "summary");
    tarn_code code = check_files(doc, snapshot, err);

    if (code == TARN_OK && summary)
        code = tarn_iceberg_check_texts(summary, "summary", err);
    if (code == TARN_OK && snapshot->id == TARN_ICEBERG_NONE)
        return tarn_fail_field(err, "snapshot-id", "Invalid snapshot-id: -1 stands for no snapshot");
    return code;
}

/* --- out of a document --- */

struct split {
    struct tarn_jsonr *reader;
    struct tarn_iceberg_meta *meta;
    struct tarn_jsonw rest;
    bool seen; /* the snapshots */
};

static tarn_code add(struct tarn_iceberg_meta *meta, const struct tarn_buf *text, struct tarn_err *err)
{
    json_auto_t *doc = NULL;
    struct tarn_iceberg_snapshot item = { .text = NULL };
    tarn_code code = tarn_json_parse(text->data, text->len, NULL, &doc, err);

    if (code == TARN_OK)
        code = fill(doc, &item, err);
    if (code == TARN_OK && !(item.text = strndup(text->data, text->len)))
        code = tarn_fail_oom(err);
    if (code == TARN_OK)
        return tarn_iceberg_add_snapshot(meta, item, err);
    tarn_iceberg_snapshot_done(&item);
    return code;
}

static tarn_code take_array(struct split *s, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    struct tarn_jsonr_event e = { 0 };
    tarn_code code = tarn_jsonr_next(s->reader, &e, err);

    while (code == TARN_OK && e.token != TARN_J_ARRAY_END) {
        tarn_buf_clear(&text);
        TARN_TRY(tarn_jsonr_raw_from(s->reader, &e, &text, err));
        code = add(s->meta, &text, err);
        if (code != TARN_OK) {
            (void)tarn_err_prefix(err, "snapshots[%zu]", s->meta->snapshots.count);
            return code;
        }
        code = tarn_jsonr_next(s->reader, &e, err);
    }
    return code;
}

static tarn_code take_snapshots(struct split *s, struct tarn_err *err)
{
    struct tarn_jsonr_event e = { 0 };

    if (s->seen)
        return tarn_fail_field(err, "snapshots", "no valid JSON: a member that is there twice");
    s->seen = true;
    TARN_TRY(tarn_jsonr_next(s->reader, &e, err));
    if (e.token == TARN_J_ARRAY)
        return take_array(s, err);
    if (e.token != TARN_J_NULL)
        return tarn_fail_field(err, "snapshots", "Cannot parse snapshots: it must be an array");
    return TARN_OK;
}

static tarn_code take_member(struct split *s, const char *key, struct tarn_err *err)
{
    if (strcmp(key, "snapshots") == 0)
        return take_snapshots(s, err);
    tarn_jsonw_key(&s->rest, key);
    s->rest.comma = true;
    return tarn_jsonr_raw(s->reader, s->rest.out, err);
}

tarn_code tarn_iceberg_split(const char *text, size_t len, struct tarn_iceberg_meta *meta, struct tarn_buf *rest,
                             struct tarn_err *err)
{
    TARN_AUTO(jsonr) struct tarn_jsonr *reader = tarn_jsonr_new_mem(text, len, len + 1);
    struct split s = { .reader = reader, .meta = meta, .rest = tarn_jsonw_to(rest) };
    struct tarn_jsonr_event e = { 0 };

    if (!reader)
        return tarn_fail_oom(err);
    TARN_TRY(tarn_jsonr_next(reader, &e, err));
    if (e.token != TARN_J_OBJECT)
        return tarn_fail(err, TARN_INVALID, "Cannot parse metadata from a non-object");
    tarn_jsonw_object(&s.rest);
    TARN_TRY(tarn_jsonr_next(reader, &e, err));
    while (e.token != TARN_J_OBJECT_END) {
        TARN_TRY(take_member(&s, e.text, err));
        TARN_TRY(tarn_jsonr_next(reader, &e, err));
    }
    tarn_jsonw_object_end(&s.rest);
    TARN_TRY(tarn_jsonr_next(reader, &e, err)); /* nothing behind it */
    return tarn_buf_check(rest, err);
}
