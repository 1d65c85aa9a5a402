/* parquet_file.h - a whole Parquet file of one row group without real pages: what a reader of footers asks for. */
#ifndef TARN_TESTS_SUPPORT_PARQUET_FILE_H
#define TARN_TESTS_SUPPORT_PARQUET_FILE_H
#include <stdint.h>

/* `spec` as compact_schema takes it, leaves of lists and maps aside. The first column has `nulls` nulls, others none
 * (-1: nobody counted any). Bounds of i32 and i64 columns without annotation are 1 and `rows`. The file's size. */
int64_t parquet_file(const char *path, const char *spec, int64_t rows, int64_t nulls);
#endif
