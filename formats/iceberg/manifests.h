/* manifests.h - manifest lists and manifests, Avro files of all format versions, read record by record. Source: Iceberg table
 * specification, "Manifest Lists" (field 500 and on), "Manifests" (fields 0 to 4, data_file 100 and on). */
#ifndef TARN_FORMATS_ICEBERG_MANIFESTS_H
#define TARN_FORMATS_ICEBERG_MANIFESTS_H
#include "formats/avro/avro.h"

struct tarn_iceberg_manifest {
    const char *path;        /* borrowed for the call */
    int64_t length;          /* bytes, -1: not told */
    int64_t content;         /* 0 data, 1 deletes */
    int64_t sequence_number; /* -1: not told (version 1) */
};
typedef tarn_code tarn_iceberg_manifest_fn(void *ctx, const struct tarn_iceberg_manifest *manifest, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_manifest_list(tarn_source_fn *fill, void *source, tarn_iceberg_manifest_fn *fn, void *ctx,
                                               struct tarn_err *err);

struct tarn_iceberg_file {
    int64_t status;          /* 0 existing, 1 added, 2 deleted */
    int64_t content;         /* 0 data, 1 position deletes, 2 equality deletes */
    const char *path;        /* borrowed for the call */
    int64_t records, size;   /* -1: not told */
};
typedef tarn_code tarn_iceberg_file_fn(void *ctx, const struct tarn_iceberg_file *file, struct tarn_err *err);
/* Every entry, deleted ones too. */
TARN_MUST tarn_code tarn_iceberg_manifest_files(tarn_source_fn *fill, void *source, tarn_iceberg_file_fn *fn, void *ctx,
                                                struct tarn_err *err);
#endif
