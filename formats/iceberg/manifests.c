/* manifests.c - the few fields of manifest lists and manifests that are asked for, by their ids. */
#include "formats/iceberg/manifests.h"
#include "base/buf.h"
#include <string.h>

/* Ids of the specification. */
enum { STATUS = 0, CONTENT = 134, PATH = 100, RECORDS = 103, SIZE = 104 };
enum { LIST_PATH = 500, LIST_LENGTH = 501, LIST_CONTENT = 517, LIST_SEQUENCE = 515 };

static tarn_code take_path(struct tarn_buf *path, const struct tarn_avro_value *value, struct tarn_err *err)
{
    if (value->kind != TARN_AVRO_BYTES || memchr(value->bytes, '\0', value->len))
        return tarn_fail(err, TARN_INVALID, "a path in the manifest is none");
    tarn_buf_clear(path);
    tarn_buf_add(path, value->bytes, value->len);
    return tarn_buf_check(path, err);
}

static void take_number(int64_t *out, const struct tarn_avro_value *value)
{
    if (value->kind == TARN_AVRO_LONG)
        *out = value->number;
}

/* --- lists --- */

struct list { struct tarn_iceberg_manifest row; struct tarn_buf path; };

static tarn_code list_field(void *ctx, int64_t id, const struct tarn_avro_value *value, struct tarn_err *err)
{
    struct list *l = ctx;

    if (id == LIST_PATH)
        return take_path(&l->path, value, err);
    if (id == LIST_LENGTH)
        take_number(&l->row.length, value);
    else if (id == LIST_CONTENT)
        take_number(&l->row.content, value);
    else if (id == LIST_SEQUENCE)
        take_number(&l->row.sequence_number, value);
    return TARN_OK;
}

tarn_code tarn_iceberg_manifest_list(tarn_source_fn *fill, void *source, tarn_iceberg_manifest_fn *fn, void *ctx,
                                     struct tarn_err *err)
{
    TARN_AUTO(avro) struct tarn_avro *avro = NULL;
    struct list l = { .path = { 0 } };
    bool found = true;
    tarn_code code = tarn_avro_open(fill, source, &avro, err);

    while (code == TARN_OK && found) {
        tarn_buf_clear(&l.path);
        l.row = (struct tarn_iceberg_manifest){ .length = -1, .sequence_number = -1 };
        code = tarn_avro_next(avro, list_field, &l, &found, err);
        if (code == TARN_OK && found && l.path.len == 0)
            code = tarn_fail(err, TARN_INVALID, "a row of the manifest list has no manifest_path");
        l.row.path = l.path.data;
        if (code == TARN_OK && found)
            code = fn(ctx, &l.row, err);
    }
    tarn_buf_done(&l.path);
    return code;
}

/* --- manifests --- */

struct files { struct tarn_iceberg_file row; struct tarn_buf path; };

static tarn_code file_field(void *ctx, int64_t id, const struct tarn_avro_value *value, struct tarn_err *err)
{
    struct files *f = ctx;

    if (id == PATH)
        return take_path(&f->path, value, err);
    if (id == STATUS)
        take_number(&f->row.status, value);
    else if (id == CONTENT)
        take_number(&f->row.content, value);
    else if (id == RECORDS)
        take_number(&f->row.records, value);
    else if (id == SIZE)
        take_number(&f->row.size, value);
    return TARN_OK;
}

tarn_code tarn_iceberg_manifest_files(tarn_source_fn *fill, void *source, tarn_iceberg_file_fn *fn, void *ctx,
                                      struct tarn_err *err)
{
    TARN_AUTO(avro) struct tarn_avro *avro = NULL;
    struct files f = { .path = { 0 } };
    bool found = true;
    tarn_code code = tarn_avro_open(fill, source, &avro, err);

    while (code == TARN_OK && found) {
        tarn_buf_clear(&f.path);
        f.row = (struct tarn_iceberg_file){ .records = -1, .size = -1 };
        code = tarn_avro_next(avro, file_field, &f, &found, err);
        f.row.path = f.path.data;
        if (code == TARN_OK && found && f.path.len > 0) /* an entry without a path names nothing */
            code = fn(ctx, &f.row, err);
    }
    tarn_buf_done(&f.path);
    return code;
}
