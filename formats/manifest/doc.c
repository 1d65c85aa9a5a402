/* doc.c - the part that manifests and log entries share: both are one object with a long array of files. */
#include "formats/manifest/doc.h"
#include "formats/manifest/manifest.h"
#include <string.h>

enum { PATH_MAX_BYTES = 4096, OBJECT_MAX_BYTES = 1024 * 1024 };
static const int64_t k_year_2000_ms = INT64_C(946684800000);
static const int64_t k_year_2100_ms = INT64_C(4102444800000);

/* --- objects and arrays --- */

static const struct tarn_doc_member *find_member(const struct tarn_doc_member *members, const char *key,
                                                 size_t len, unsigned *index)
{
    for (*index = 0; members[*index].key; (*index)++) {
        const struct tarn_doc_member *m = &members[*index];
        if (strlen(m->key) == len && memcmp(m->key, key, len) == 0)
            return m;
    }
    return NULL;
}

static tarn_code read_member(struct tarn_jsonr *r, const struct tarn_doc_member *m, uint32_t bit, void *into,
                             uint32_t *seen, uint32_t *met, struct tarn_err *err)
{
    struct tarn_jsonr_event value;
    if (*met & bit)
        return tarn_fail_field(err, m->key, "the member stands here twice");
    *met |= bit;
    tarn_code code = tarn_jsonr_next(r, &value, err);
    if (code != TARN_OK || value.token == TARN_J_NULL)
        return code;
    *seen |= bit;
    return m->read(r, &value, m->key, (char *)into + m->offset, err);
}

tarn_code tarn_doc_members(struct tarn_jsonr *r, const struct tarn_doc_member *members, void *into,
                           uint32_t *seen, struct tarn_err *err)
{
    uint32_t had = 0, met = 0;
    for (;;) {
        struct tarn_jsonr_event key;
        tarn_code code = tarn_jsonr_next(r, &key, err);
        if (code == TARN_OK && key.token == TARN_J_OBJECT_END) {
            if (seen)
                *seen = had;
            return TARN_OK;
        }
        unsigned index = 0;
        if (code == TARN_OK) {
            const struct tarn_doc_member *m = find_member(members, key.text, key.len, &index);
            code =
                m ? read_member(r, m, UINT32_C(1) << index, into, &had, &met, err) : tarn_jsonr_skip(r, err);
        }
        if (code != TARN_OK)
            return code;
    }
}

tarn_code tarn_doc_read(struct tarn_jsonr *r, const char *what, const struct tarn_doc_member *members,
                        void *into, uint32_t *seen, struct tarn_err *err)
{
    struct tarn_jsonr_event event;
    tarn_code code = tarn_jsonr_next(r, &event, err);
    if (code != TARN_OK)
        return code;
    if (event.token != TARN_J_OBJECT)
        return tarn_fail(err, TARN_INVALID, "this is not %s: the document is no object", what);
    code = tarn_doc_members(r, members, into, seen, err);
    if (code == TARN_OK)
        code = tarn_jsonr_next(r, &event, err); /* TARN_J_END, or bytes that follow */
    return code;
}

tarn_code tarn_doc_array(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key,
                         tarn_doc_element_fn *read, tarn_doc_deliver_fn *deliver, void *ctx,
                         struct tarn_err *err)
{
    if (first->token != TARN_J_ARRAY)
        return tarn_fail_field(err, key, "must be an array");
    for (size_t i = 0;; i++) {
        struct tarn_jsonr_event event;
        tarn_code code = tarn_jsonr_next(r, &event, err);
        if (code != TARN_OK || event.token == TARN_J_ARRAY_END)
            return code;
        code = read(r, &event, ctx, err);
        if (code != TARN_OK) {
            if (err && err->field[0])
                tarn_err_prefix(err, "%s[%zu]", key, i);
            return code;
        }
        code = deliver ? deliver(ctx, err) : TARN_OK;
        if (code != TARN_OK)
            return code;
    }
}

/* --- values --- */

tarn_code tarn_doc_str(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key,
                       void *target, struct tarn_err *err)
{
    (void)r;
    if (first->token != TARN_J_STRING)
        return tarn_fail_field(err, key, "must be a string");
    char *text = strdup(first->text);
    if (!text)
        return tarn_fail_oom(err);
    *(char **)target = text;
    return TARN_OK;
}

#define EXACT_MAX 9007199254740992.0 /* 2^53 */

tarn_code tarn_doc_count(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key,
                         void *target, struct tarn_err *err)
{
    (void)r;
    bool is_whole = first->token == TARN_J_REAL && first->real >= 0 && first->real <= EXACT_MAX &&
                    first->real == (double)(int64_t)first->real; /* writers that have but one kind of number */
    if (!is_whole && (first->token != TARN_J_INTEGER || first->integer < 0))
        return tarn_fail_field(err, key, "must be an integer from 0");
    *(int64_t *)target = is_whole ? (int64_t)first->real : first->integer;
    return TARN_OK;
}

tarn_code tarn_doc_bool(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key,
                        void *target, struct tarn_err *err)
{
    (void)r;
    if (first->token != TARN_J_TRUE && first->token != TARN_J_FALSE)
        return tarn_fail_field(err, key, "must be true or false");
    *(bool *)target = first->token == TARN_J_TRUE;
    return TARN_OK;
}

tarn_code tarn_doc_path(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key,
                        void *target, struct tarn_err *err)
{
    (void)r;
    struct tarn_buf *buf = target;
    if (first->token != TARN_J_STRING || first->len == 0 || first->len > PATH_MAX_BYTES)
        return tarn_fail_field(err, key, "must be a string of 1 to %d bytes", PATH_MAX_BYTES);
    tarn_buf_clear(buf);
    tarn_buf_add(buf, first->text, first->len);
    return tarn_buf_check(buf, err);
}

tarn_code tarn_doc_object(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key,
                          void *target, struct tarn_err *err)
{
    struct tarn_buf *buf = target;
    if (first->token != TARN_J_OBJECT)
        return tarn_fail_field(err, key, "must be an object");
    tarn_buf_clear(buf);
    buf->ceiling = OBJECT_MAX_BYTES;
    return tarn_jsonr_raw_from(r, first, buf, err);
}

/* --- values of Tarn's own members --- */

tarn_code tarn_doc_lax_str(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key, void *target,
                           struct tarn_err *err)
{
    if (first->token != TARN_J_STRING)
        return tarn_jsonr_skip_from(r, first, err);
    return tarn_doc_str(r, first, key, target, err);
}

tarn_code tarn_doc_lax_object(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key, void *target,
                              struct tarn_err *err)
{
    if (first->token != TARN_J_OBJECT)
        return tarn_jsonr_skip_from(r, first, err);
    return tarn_doc_object(r, first, key, target, err);
}

tarn_code tarn_doc_lax_count(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key, void *target,
                             struct tarn_err *err)
{
    if (first->token != TARN_J_INTEGER || first->integer < 0)
        return tarn_jsonr_skip_from(r, first, err);
    return tarn_doc_count(r, first, key, target, err);
}

/* One element behind another; an element of another type empties the list for good (*is_other). */
static tarn_code add_text(struct tarn_jsonr *r, const struct tarn_jsonr_event *event, struct tarn_buf *buf,
                          bool *is_other, struct tarn_err *err)
{
    if (event->token != TARN_J_STRING || *is_other) {
        *is_other = true;
        return tarn_jsonr_skip_from(r, event, err);
    }
    tarn_buf_addc(buf, buf->len > 0 ? ',' : '[');
    return tarn_jsonr_raw_from(r, event, buf, err);
}

tarn_code tarn_doc_lax_texts(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key, void *target,
                             struct tarn_err *err)
{
    struct tarn_buf *buf = target;
    bool is_other = false;

    (void)key;
    tarn_buf_clear(buf);
    buf->ceiling = OBJECT_MAX_BYTES;
    if (first->token != TARN_J_ARRAY)
        return tarn_jsonr_skip_from(r, first, err);
    for (;;) {
        struct tarn_jsonr_event event;
        tarn_code code = tarn_jsonr_next(r, &event, err);
        if (code == TARN_OK && event.token == TARN_J_ARRAY_END)
            break;
        if (code == TARN_OK)
            code = add_text(r, &event, buf, &is_other, err);
        if (code != TARN_OK)
            return code;
    }
    if (is_other)
        tarn_buf_clear(buf);
    else if (buf->len > 0)
        tarn_buf_addc(buf, ']');
    return tarn_buf_check(buf, err);
}

static int64_t in_range(int64_t ms) { return ms >= k_year_2000_ms && ms < k_year_2100_ms ? ms : -1; }

/* Seconds with a fraction, as Python's time() gives them. */
static int64_t from_real(double seconds)
{
    return seconds >= 0 && seconds < 1e11 ? in_range((int64_t)(seconds * 1000.0)) : -1;
}

tarn_code tarn_doc_instant(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key,
                           void *target, struct tarn_err *err)
{
    (void)r;
    struct tarn_doc_instant *out = target;
    if (first->token != TARN_J_STRING && first->token != TARN_J_INTEGER && first->token != TARN_J_REAL)
        return tarn_fail_field(err, key, "must be an instant");
    char *text = strdup(first->text);
    if (!text)
        return tarn_fail_oom(err);
    free(out->text);
    *out = (struct tarn_doc_instant){ .text = text, .ms = -1, .form = TARN_TIME_EPOCH };

    int64_t ms = -1;
    if (first->token == TARN_J_REAL)
        out->ms = from_real(first->real);
    else if (first->token == TARN_J_INTEGER && tarn_time_from_epoch(first->integer, &ms, NULL) == TARN_OK)
        out->ms = in_range(ms);
    else if (first->token == TARN_J_STRING && tarn_time_read(text, &ms, &out->form))
        out->ms = in_range(ms);
    return TARN_OK;
}

tarn_code tarn_doc_lax_instant(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key,
                               void *target, struct tarn_err *err)
{
    if (first->token != TARN_J_STRING)
        return tarn_jsonr_skip_from(r, first, err);
    return tarn_doc_instant(r, first, key, target, err);
}

/* --- a file --- */

/* Below 0 it is no size, but not what makes a whole document unreadable: TARN_SIZE_NEGATIVE. */
static tarn_code read_size(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key, void *target,
                           struct tarn_err *err)
{
    bool is_negative = first->token == TARN_J_INTEGER && first->integer < 0;

    if (!is_negative)
        return tarn_doc_count(r, first, key, target, err);
    *(int64_t *)target = TARN_SIZE_NEGATIVE;
    return TARN_OK;
}

enum { FILE_PATH, FILE_TYPE, FILE_SIZE, FILE_PARTITION, FILE_STATS, FILE_RECORDS, FILE_SCHEMA };
static const struct tarn_doc_member k_file[] = {
    [FILE_PATH] = { "path", tarn_doc_path, offsetof(struct tarn_doc_file, path) },
    [FILE_TYPE] = { "type", tarn_doc_path, offsetof(struct tarn_doc_file, type) },
    [FILE_SIZE] = { "size", read_size, offsetof(struct tarn_doc_file, size) },
    [FILE_PARTITION] = { "partitionValues", tarn_doc_object,
                         offsetof(struct tarn_doc_file, partition_values) },
    [FILE_STATS] = { "columnStats", tarn_doc_object, offsetof(struct tarn_doc_file, column_stats) },
    [FILE_RECORDS] = { "numRecords", tarn_doc_count, offsetof(struct tarn_doc_file, records) },
    [FILE_SCHEMA] = { "schemaVersion", tarn_doc_count, offsetof(struct tarn_doc_file, schema_version) },
    { NULL, NULL, 0 },
};

static const char *text_if(const struct tarn_doc_file *file, unsigned member, const struct tarn_buf *buf)
{
    return file->seen & (1u << member) ? buf->data : NULL;
}

tarn_code tarn_doc_file_read(struct tarn_jsonr *r, const struct tarn_jsonr_event *first,
                             struct tarn_doc_file *into, struct tarn_file *view, struct tarn_err *err)
{
    if (first->token != TARN_J_OBJECT)
        return tarn_fail_field(err, "path", "is missing: the entry is no object");
    tarn_buf_clear(&into->type);
    into->size = into->records = -1;
    into->schema_version = 0;
    tarn_code code = tarn_doc_members(r, k_file, into, &into->seen, err);
    if (code != TARN_OK)
        return code;
    if (!(into->seen & (1u << FILE_PATH)))
        return tarn_fail_field(err, "path", "is missing");
    *view = (struct tarn_file){
        .path = into->path.data,
        .size = into->size,
        .records = into->records,
        .schema_version = into->schema_version,
        .partition_values = text_if(into, FILE_PARTITION, &into->partition_values),
        .column_stats = text_if(into, FILE_STATS, &into->column_stats),
        .removed_version = -1,
    };
    return TARN_OK;
}

void tarn_doc_file_done(struct tarn_doc_file *file)
{
    tarn_buf_done(&file->type);
    tarn_buf_done(&file->path);
    tarn_buf_done(&file->partition_values);
    tarn_buf_done(&file->column_stats);
}
