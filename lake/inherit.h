/* inherit.h - what a table's namespaces say where the table says nothing: the nearest wins, from the
 * inner namespace to the outer ones. What nobody says is the server's (its configuration) or off. */
#ifndef TARN_LAKE_INHERIT_H
#define TARN_LAKE_INHERIT_H
#include "catalog/store.h"
#include <jansson.h>

/* What the namespaces around a table say together. Zero it before the first use. */
struct tarn_inherited {
    char namespace_[TARN_NAMESPACE_MAX + 1]; /* whose it is, "": nobody's yet */
    enum tarn_enforcement enforcement;
    enum tarn_verify verify;
    bool enforcement_given, verify_given;
    int64_t history_retention_ms; /* -1: not said */
    char *owner;                  /* owned; NULL: not said */
    json_t *monitors;             /* owned object; NULL: nothing */
};
void tarn_inherited_done(struct tarn_inherited *inherited);
/* Reads them; nothing when *out is of that namespace already (rows of a list come namespace by namespace). */
TARN_MUST tarn_code tarn_inherited_read(struct tarn_tx *tx, const char *namespace_,
                                        struct tarn_inherited *out, struct tarn_err *err);

/* `schema_enforcement` and `verify` of a row become what holds for it; the store
 * still keeps what was given. Reads only what it must: on the way of every commit. */
TARN_MUST tarn_code tarn_inherit_depth(struct tarn_tx *tx, struct tarn_table *table, struct tarn_err *err);
/* The same and the owner, in a row (texts owned) that is shown and not written back. */
TARN_MUST tarn_code tarn_inherit_settings(const struct tarn_inherited *from, struct tarn_table *table,
                                          struct tarn_err *err);
/* The same into a copy of a row whose texts are borrowed; the owner is borrowed from `from`. */
void tarn_inherit_borrowed(const struct tarn_inherited *from, struct tarn_table *table);
/* Into a row (texts owned) by reading them. */
TARN_MUST tarn_code tarn_inherit_shown(struct tarn_tx *tx, struct tarn_table *table, struct tarn_err *err);
/* `monitors` of a table as they hold, with what its namespaces
 * say beneath. *out owned; NULL: the table's own hold. */
TARN_MUST tarn_code tarn_inherit_monitors(const struct tarn_inherited *from, const char *own, char **out,
                                          struct tarn_err *err);
/* All of it into a row (texts owned) that is judged or shown and not written back. */
TARN_MUST tarn_code tarn_inherit_all(struct tarn_tx *tx, struct tarn_table *table, struct tarn_err *err);
#endif
