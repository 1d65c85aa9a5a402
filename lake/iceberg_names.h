/* iceberg_names.h - Iceberg tables dropped and renamed; properties of namespaces. */
#ifndef TARN_LAKE_ICEBERG_NAMES_H
#define TARN_LAKE_ICEBERG_NAMES_H
#include "lake/iceberg.h"

struct tarn_iceberg_drop_use {
    struct tarn_lake *lake;
    struct tarn_ident ident;
    bool purge;     /* its files go too, later */
    int64_t now_ms; /* 0: the clock */
};
extern const struct tarn_use tarn_iceberg_drop; /* TARN_TABLE_NOT_FOUND, TARN_TABLE_PROTECTED */

struct tarn_iceberg_rename_use {
    struct tarn_lake *lake;
    struct tarn_ident from, to;
    int64_t now_ms;
};
/* TARN_TABLE_NOT_FOUND, TARN_NAMESPACE_NOT_FOUND (of the target), TARN_TABLE_EXISTS, TARN_VIEW_EXISTS. */
extern const struct tarn_use tarn_iceberg_rename;

struct tarn_namespace_properties_use {
    char name[TARN_NAMESPACE_MAX + 1];
    const json_t *removals, *updates;   /* borrowed; NULL: none */
    json_t *updated, *removed, *missing; /* out, owned arrays of names */
};
/* TARN_NAMESPACE_NOT_FOUND; TARN_INCOMPATIBLE_SCHEMA (422) when a key is to be set and removed. */
extern const struct tarn_use tarn_namespace_properties;

/* A namespace around one that a table brought with it has no row of its own, and is there all the same. Inside a transaction:
 * is there a row, is it there, and is it there with a row from now on? Or what it says: that of one without a row is nothing.
 * TARN_NAMESPACE_NOT_FOUND. */
TARN_MUST tarn_code tarn_namespace_row(struct tarn_tx *tx, const char *name, struct tarn_err *err);
TARN_MUST tarn_code tarn_namespace_ensure(struct tarn_tx *tx, const char *name, struct tarn_err *err);
TARN_MUST tarn_code tarn_namespace_check(struct tarn_tx *tx, const char *name, struct tarn_err *err);
TARN_MUST tarn_code tarn_namespace_get(struct tarn_tx *tx, const char *name, tarn_namespace_fn *fn, void *ctx, struct tarn_err *err);
#endif
