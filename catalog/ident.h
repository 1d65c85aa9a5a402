/* ident.h - names: of tables, namespaces, transactions, data files and locations.
 * CONTRACT.md "Names, locations, versions" fixes the rules. */
#ifndef TARN_CATALOG_IDENT_H
#define TARN_CATALOG_IDENT_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define TARN_NAME_MAX 255       /* bytes of one level or table name */
#define TARN_NAMESPACE_MAX 1024 /* bytes of a dotted namespace */
#define TARN_PATH_MAX 1024      /* bytes of a data path */
#define TARN_TXN_ID_MAX 128
#define TARN_DOTTED_MAX (TARN_NAMESPACE_MAX + 2 * TARN_NAME_MAX + 8)

/* A table's name. `namespace` is the canonical dotted text of its levels (quoted as in SQL
 * where a level holds a dot or a double quote); "default" when none was given. */
struct tarn_ident {
    char namespace_[TARN_NAMESPACE_MAX + 1];
    char name[TARN_NAME_MAX + 1]; /* raw, unquoted */
};

/* `sales."a.b".orders`: the last level is the table. `field` names the place in errors. */
TARN_MUST tarn_code tarn_ident_parse(const char *dotted, const char *field, struct tarn_ident *out,
                                     struct tarn_err *err);
/* A dotted namespace to its canonical text. */
TARN_MUST tarn_code tarn_namespace_parse(const char *dotted, const char *field,
                                         char out[TARN_NAMESPACE_MAX + 1], struct tarn_err *err);
/* Levels given as a JSON array, literally. */
TARN_MUST tarn_code tarn_namespace_from_levels(const json_t *levels, const char *field,
                                               char out[TARN_NAMESPACE_MAX + 1], struct tarn_err *err);
/* Takes the last level off a canonical namespace, in place;
 * false when it has only one (then it is left alone). */
bool tarn_namespace_outer(char namespace_[TARN_NAMESPACE_MAX + 1]);
/* The levels of a canonical namespace, raw; NULL: no memory. */
json_t *tarn_namespace_levels(const char *namespace_);
/* One level or table name as it stands: length, UTF-8, no control characters, not "." or "..". */
TARN_MUST tarn_code tarn_name_check(const char *name, const char *field, struct tarn_err *err);
/* Dotted text as JSON shows it: without `default.`, quoted where needed. */
void tarn_ident_format(const char *namespace_, const char *name, char out[TARN_DOTTED_MAX]);

TARN_MUST tarn_code tarn_txn_id_check(const char *id, const char *field, struct tarn_err *err);
/* Splits "txn-12345" into prefix length and number; false when the id does not end in a decimal of
 * at most 18 digits. */
bool tarn_txn_id_number(const char *id, size_t *prefix_len, int64_t *number);
int64_t tarn_txn_id_tail(const char *id); /* that number; -1: none, or no id (NULL) */
/* Do both end in numbers behind one prefix? Then their numbers. */
bool tarn_txn_id_pair(const char *a, const char *b, int64_t *a_number, int64_t *b_number);
bool tarn_txn_id_same(const char *a, const char *b); /* txn-0007 and txn-7 are one id */

/* A data path: relative, 1..1024 bytes, no empty, "." or ".." component, none of more than 255 bytes or
 * that starts with "." or "_", not under staging/ or processed/, not one of the lake's own documents. */
TARN_MUST tarn_code tarn_data_path_check(const char *path, const char *field, struct tarn_err *err);

/* A batch id: 1..1000 bytes, '/'-separated parts of at most 250 bytes that do not start with a dot;
 * its document is processed/<id without .parquet>.json, so no part but the last ends with ".json". */
#define TARN_BATCH_ID_MAX 1000
TARN_MUST tarn_code tarn_batch_id_check(const char *id, const char *field, struct tarn_err *err);

/* A location ("/abs", "file:///abs", "s3://bucket/key") to its canonical text: absolute path without
 * trailing slash, double slashes, "." or ".." for local ones ("file://" dropped). */
TARN_MUST tarn_code tarn_location_normalise(const char *location, const char *field, char **out,
                                            struct tarn_err *err);
/* `inner` equals `outer` or lies below it, by path component. Both canonical. */
bool tarn_location_within(const char *inner, const char *outer);
#endif
