/* import.c - data files without a manifest become a table: each file is taken with what its footer and its
 * path tell. A file that is no Parquet is left out and told. */
#include "base/time.h"
#include "catalog/schema.h"
#include "formats/manifest/manifest.h"
#include "lake/adopt.h"
#include "lake/footer.h"
#include <stdio.h>
#include <string.h>

#define REMARKS_MAX 20

struct import {
    struct tarn_place *place;
    struct tarn_stage *stage;
    struct tarn_adopted *out;
    struct tarn_schema *types;  /* owned: of the given schema, NULL: none */
    struct tarn_schema *newest; /* owned: of the newest file */
    int64_t newest_ms;
    int64_t left_out;
    bool wants_schema;
};

static void import_done(struct import *i)
{
    tarn_stage_free(i->stage);
    tarn_schema_free(i->types);
    tarn_schema_free(i->newest);
}

static tarn_code leave_out(struct import *i, const char *path, const char *reason, struct tarn_err *err)
{
    char message[TARN_PATH_MAX + 256];

    if (++i->left_out > REMARKS_MAX)
        return TARN_OK;
    snprintf(message, sizeof message, "corrupt_data_file: %s: %s (left out)", path, reason);
    return tarn_adopted_remark(i->out, "corrupt_data_file", TARN_SEV_ERROR, path, message, err);
}

static void note_schema(struct import *i, struct tarn_parquet *parquet, int64_t mtime_ms)
{
    if (!parquet->schema || (i->newest && mtime_ms < i->newest_ms))
        return;
    tarn_schema_free(i->newest);
    i->newest = tarn_take(&parquet->schema);
    i->newest_ms = mtime_ms;
}

static tarn_code take(struct import *i, const struct tarn_object *object, const struct tarn_parquet *parquet,
                      struct tarn_err *err)
{
    TARN_AUTO(mem) char *values = NULL, *stats = NULL;
    struct tarn_file file = {
        .path = object->path, .size = object->size, .records = -1, .removed_version = -1
    };
    tarn_code code = tarn_hive_values(object->path, i->types, &values, err);

    if (code == TARN_OK && !i->out->partition_keys)
        code = tarn_hive_keys(object->path, &i->out->partition_keys, err);
    if (code != TARN_OK)
        return code;
    if (parquet->state == TARN_PARQUET_OK) {
        file.records = parquet->rows;
        file.column_stats = stats = tarn_parquet_column_stats(parquet);
    }
    file.partition_values = values;
    file.schema_version = i->wants_schema || i->types ? 1 : 0;
    if (__builtin_add_overflow(i->out->total_bytes, file.size, &i->out->total_bytes))
        return tarn_fail_field(err, "location", "the sum of sizes is out of range");
    i->out->file_count++;
    return tarn_stage_file(i->stage, 1, &file, err);
}

static tarn_code visit(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct import *i = ctx;
    TARN_AUTO(parquet) struct tarn_parquet *parquet = NULL;
    TARN_ERR(fault);

    if (object->is_folder || object->is_symlink || !tarn_is_data_file(object->path))
        return TARN_OK;
    if (tarn_data_path_check(object->path, "path", &fault) != TARN_OK)
        return leave_out(i, object->path, fault.detail, err);
    tarn_code code = tarn_parquet_read(i->place, object->path, object->size, &parquet, &fault);
    if (code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (parquet->state == TARN_PARQUET_CORRUPT)
        return leave_out(i, object->path, parquet->reason, err);
    code = take(i, object, parquet, err);
    if (code == TARN_OK && i->wants_schema)
        note_schema(i, parquet, object->mtime_ms);
    return code;
}

static tarn_code take_schema(struct import *i, struct tarn_err *err)
{
    json_auto_t *json = i->newest ? tarn_schema_to_json(i->newest) : NULL;

    if (!i->newest)
        return TARN_OK;
    if (!json)
        return tarn_fail_oom(err);
    i->out->schema_version = 1;
    return tarn_adopted_schema(i->out, 1, json, NULL, tarn_now_ms(), err);
}

static tarn_code take_transaction(struct import *i, struct tarn_err *err)
{
    i->out->is_import = true;
    i->out->version = 1;
    i->out->transaction = strdup("txn-1");
    return i->out->transaction ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_import(struct tarn_lake *lake, struct tarn_place *place, const json_t *schema, bool dry_run,
                      struct tarn_adopted *adopted, struct tarn_err *err)
{
    __attribute__((cleanup(import_done))) struct import i = { .place = place,
                                                              .out = adopted,
                                                              .wants_schema = schema == NULL };
    tarn_code code = TARN_OK;

    if (schema)
        code = tarn_schema_parse(schema, "schema", &i.types, err);
    if (code == TARN_OK)
        code = tarn_stage_new(lake, dry_run, &i.stage, err);
    if (code == TARN_OK)
        code = tarn_place_list(place, "", true, visit, &i, err);
    if (code == TARN_OK)
        code = take_schema(&i, err);
    if (code == TARN_OK)
        code = take_transaction(&i, err);
    return code == TARN_OK ? tarn_stage_end(i.stage, &adopted->id, err) : code;
}
