/* avro.h - Avro object container files, read record by record with bounded memory: for Iceberg's manifest lists and
 * manifests. Fields are known by their field-id (an attribute that Iceberg puts into the writer's schema), so that names may
 * differ between versions. Source: Apache Avro 1.11 specification, "Object Container Files", "Binary Encoding"; Iceberg table
 * specification, "Appendix A: Format-specific Requirements". */
#ifndef TARN_FORMATS_AVRO_H
#define TARN_FORMATS_AVRO_H
#include "base/err.h"
#include "base/jsonr.h"
#include "base/own.h"
#include <stdbool.h>
#include <stdint.h>

#define TARN_AVRO_BLOCK_MAX (64u << 20)  /* bytes of one block, packed and unpacked */
#define TARN_AVRO_SCHEMA_MAX (4u << 20)  /* bytes of the header's texts together */
#define TARN_AVRO_DEPTH_MAX 32

struct tarn_avro;
/* Reads the header. TARN_INVALID: no such file, or a codec or schema that is not understood. `source` is borrowed. */
TARN_MUST tarn_code tarn_avro_open(tarn_source_fn *fill, void *source, struct tarn_avro **out, struct tarn_err *err);
void tarn_avro_free(struct tarn_avro *avro);
TARN_DEFINE_AUTO(avro, struct tarn_avro)

enum tarn_avro_kind { TARN_AVRO_NULL, TARN_AVRO_BOOLEAN, TARN_AVRO_LONG /* int too */, TARN_AVRO_REAL, TARN_AVRO_BYTES /* string, fixed too */ };
struct tarn_avro_value {
    enum tarn_avro_kind kind;
    int64_t number;           /* boolean, long */
    double real;
    const char *bytes;        /* borrowed for the call, not ended by NUL */
    size_t len;
};
/* A field of the record, also of records inside it; what lies in arrays and maps is passed over. */
typedef tarn_code tarn_avro_field_fn(void *ctx, int64_t field_id, const struct tarn_avro_value *value, struct tarn_err *err);
/* The next record: `fn` for each of its fields that has a field-id. *found false: the end. */
TARN_MUST tarn_code tarn_avro_next(struct tarn_avro *avro, tarn_avro_field_fn *fn, void *ctx, bool *found,
                                   struct tarn_err *err);
#endif
