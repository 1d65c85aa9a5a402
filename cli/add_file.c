/* add_file.c - what `tarn commit --add` says of a file, so that people need not write it by hand. */
#include "cli/add_file.h"
#include "base/json.h"
#include "formats/parquet/parquet.h"
#include "formats/partition.h"
#include <string.h>

static tarn_code read_footer(struct tarn_place *place, const char *path, int64_t size,
                             struct tarn_parquet **out, struct tarn_err *err)
{
    TARN_AUTO(parquet) struct tarn_parquet *parquet = NULL;

    tarn_code code = tarn_parquet_read(place, path, size, &parquet, err);
    if (code != TARN_OK)
        return code;
    if (parquet->state != TARN_PARQUET_OK)
        return tarn_fail(err, TARN_INVALID, "%s: %s", path, parquet->reason);
    *out = tarn_take(&parquet);
    return TARN_OK;
}

static tarn_code stats_json(const struct tarn_parquet *parquet, json_t **out, struct tarn_err *err)
{
    TARN_AUTO(mem) char *text = tarn_parquet_column_stats(parquet);

    return text ? tarn_json_parse(text, strlen(text), NULL, out, err) : TARN_OK;
}

tarn_code tarn_add_file_op(struct tarn_place *place, const char *path, json_t **out, struct tarn_err *err)
{
    TARN_AUTO(parquet) struct tarn_parquet *parquet = NULL;
    struct tarn_object object = { 0 };
    json_t *partition = NULL, *stats = NULL;

    tarn_code code = tarn_place_stat(place, path, &object, err);
    if (code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_INVALID, "%s: there is no such file in %s", path, tarn_place_location(place));
    if (code == TARN_OK)
        code = read_footer(place, path, object.size, &parquet, err);
    if (code == TARN_OK)
        code = stats_json(parquet, &stats, err);
    if (code == TARN_OK)
        code = tarn_partition_from_path(path, &partition, err);
    if (code != TARN_OK || !parquet) {
        json_decref(stats);
        return code;
    }
    *out = json_pack("{s:s, s:s, s:I, s:I, s:o*, s:o*}", "type", "add_file", "path", path, "size",
                     (json_int_t)object.size, "numRecords", (json_int_t)parquet->rows, "partitionValues",
                     partition, "columnStats", stats);
    return *out ? TARN_OK : tarn_fail(err, TARN_INVALID, "%s: the path is not UTF-8", path);
}
