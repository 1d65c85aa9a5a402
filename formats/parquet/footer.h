/* footer.h - what the files of this folder share: the footer while it is read. */
#ifndef TARN_FORMATS_PARQUET_FOOTER_H
#define TARN_FORMATS_PARQUET_FOOTER_H
#include "formats/parquet/parquet.h"
#include "formats/parquet/thrift.h"

/* Numbers of parquet.thrift. */
enum tarn_pq_physical {
    TARN_PQ_BOOLEAN, TARN_PQ_INT32, TARN_PQ_INT64, TARN_PQ_INT96, TARN_PQ_FLOAT, TARN_PQ_DOUBLE,
    TARN_PQ_BYTE_ARRAY, TARN_PQ_FIXED, /* FIXED_LEN_BYTE_ARRAY */
    TARN_PQ_PHYSICAL_END
};
enum tarn_pq_repetition { TARN_PQ_REQUIRED, TARN_PQ_OPTIONAL, TARN_PQ_REPEATED };
/* LogicalType; a ConvertedType is turned into the one that took its place. */
enum tarn_pq_logical {
    TARN_PQ_NONE = 0,
    TARN_PQ_STRING = 1,
    TARN_PQ_MAP = 2,
    TARN_PQ_LIST = 3,
    TARN_PQ_ENUM = 4,
    TARN_PQ_DECIMAL = 5,
    TARN_PQ_DATE = 6,
    TARN_PQ_TIME = 7,
    TARN_PQ_TIMESTAMP = 8,
    TARN_PQ_INTEGER = 10,
    TARN_PQ_UNKNOWN = 11,
    TARN_PQ_JSON = 12,
    TARN_PQ_BSON = 13,
    TARN_PQ_UUID = 14,
    TARN_PQ_FLOAT16 = 15,
    TARN_PQ_INTERVAL = 100 /* has a ConvertedType alone */
};

struct tarn_pq_element {
    struct tarn_thrift_bytes name; /* borrowed from the footer */
    int physical;                  /* -1: a group */
    int width;                     /* bytes of TARN_PQ_FIXED */
    int repetition;
    int64_t children;
    int logical;
    int scale, precision;
    enum tarn_time_unit unit;
    bool utc;
    int bits; /* of TARN_PQ_INTEGER */
    bool is_signed;
};

/* A bound of a column: the raw bytes, borrowed; data NULL: none. */
struct tarn_pq_leaf {
    const struct tarn_pq_element *element; /* borrowed */
    struct tarn_thrift_bytes min, max;
    bool bounds_lost; /* a row group had no usable bounds: the file has none */
    bool nulls_lost;
};

struct tarn_pq {
    struct tarn_parquet *out;         /* borrowed; columns[i] belongs to leaves[i] */
    int64_t data_end;                 /* offset of the footer in the file: no chunk reaches beyond it */
    bool encrypted_columns;
    struct tarn_pq_element *elements; /* owned, depth first; [0] is the root */
    size_t element_count;
    struct tarn_pq_leaf *leaves;      /* owned */
    bool oom;
};

/* Sets the state and its reason; the first one stays. Always false. */
bool tarn_pq_corrupt(struct tarn_pq *pq, const char *fmt, ...) TARN_PRINTF(2, 3);

/* elements.c: the list of SchemaElements at hand. */
bool tarn_pq_elements(struct tarn_pq *pq, struct tarn_thrift *t, const struct tarn_thrift_field *field);
/* schema.c: elements to out->schema, out->columns and leaves. */
bool tarn_pq_schema(struct tarn_pq *pq);
/* leaf.c: the type of one leaf. */
bool tarn_pq_leaf_type(struct tarn_pq *pq, const struct tarn_pq_element *element, struct tarn_type *type);
/* row_groups.c: sizes, places and statistics of all column chunks. */
bool tarn_pq_row_groups(struct tarn_pq *pq, struct tarn_thrift *t, const struct tarn_thrift_field *field);
/* stats.c: widens a leaf's bounds by those of one more chunk; an empty range is no bound. */
void tarn_pq_bounds_add(struct tarn_pq_leaf *leaf, struct tarn_thrift_bytes min,
                        struct tarn_thrift_bytes max);
/* A bound as a JSON scalar; owned, NULL when it has none (or memory ran out). */
char *tarn_pq_bound_json(const struct tarn_pq_element *element, struct tarn_thrift_bytes bound);
/* Do the deprecated members (signed comparison) hold for this leaf? */
bool tarn_pq_old_bounds_hold(const struct tarn_pq_element *element);
#endif
