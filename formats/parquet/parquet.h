/* parquet.h - what a Parquet footer says. An own, bounded reader of the thrift compact
 * FileMetaData (parquet-format, parquet.thrift; observability reference section 5): no data page is read. */
#ifndef TARN_FORMATS_PARQUET_H
#define TARN_FORMATS_PARQUET_H
#include "catalog/schema.h"
#include "storage/storage.h"

#define TARN_FOOTER_MAX (64u << 20) /* bytes; above: TARN_PARQUET_TOO_LARGE */

enum tarn_parquet_state {
    TARN_PARQUET_OK,
    TARN_PARQUET_CORRUPT,    /* not Parquet, cut, or a footer that contradicts itself or the file */
    TARN_PARQUET_ENCRYPTED,  /* PARE: the footer cannot be read without keys */
    TARN_PARQUET_TOO_LARGE   /* footer above the cap: not judged */
};
struct tarn_parquet_column { /* a leaf */
    char *path;              /* dotted, owned */
    bool repeated;           /* below a list or map: its numbers count elements, not rows */
    bool has_null_count, has_min_max;
    int64_t null_count;      /* over all row groups */
    char *min, *max;         /* JSON scalars as text, owned; NULL: none or not comparable */
    int64_t compressed_bytes;
};
struct tarn_parquet {
    enum tarn_parquet_state state;
    char reason[128];        /* why it is not OK */
    int64_t rows, row_groups;
    char *created_by;        /* owned or NULL */
    struct tarn_schema *schema; /* owned; NULL unless OK */
    struct tarn_parquet_column *columns; /* owned */
    size_t column_count;
};
void tarn_parquet_free(struct tarn_parquet *parquet);
TARN_DEFINE_AUTO(parquet, struct tarn_parquet)

/* A footer (the bytes between the data and the length word) of a file of `file_size` bytes. Bad bytes are no
 * error but a state; an error is only a lack of memory. */
TARN_MUST tarn_code tarn_parquet_footer(const void *footer, size_t len, int64_t file_size,
                                        struct tarn_parquet **out, struct tarn_err *err);
/* Reads the last 64 KiB, more when the footer is longer. TARN_NOT_FOUND and storage's faults are errors. */
TARN_MUST tarn_code tarn_parquet_read(struct tarn_place *place, const char *path, int64_t file_size,
                                      struct tarn_parquet **out, struct tarn_err *err);
/* The columns' statistics in the manifest's form {"user_id":{"min":1,"max":5,"nullCount":0}}: of the first
 * 10,000 leaves that are not repeated. Owned text; NULL: nothing is known, or no memory. */
char *tarn_parquet_column_stats(const struct tarn_parquet *parquet);
#endif
