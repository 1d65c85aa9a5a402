/* look.h - before a table's first commit since the start, its storage is compared with its row: a database
 * restored from a backup must not write over commits that it has forgotten. */
#ifndef TARN_LAKE_LOOK_H
#define TARN_LAKE_LOOK_H
#include "base/own.h"
#include "lake/lake.h"

/* The tables compared since the start. Any thread. */
struct tarn_looked;
struct tarn_looked *tarn_looked_new(void); /* NULL: out of memory */
void tarn_looked_free(struct tarn_looked *looked);
bool tarn_looked_has(struct tarn_looked *looked,
                     int64_t table_id); /* true when looked is NULL: nothing to compare */
void tarn_looked_set(struct tarn_looked *looked, int64_t table_id, bool is_compared);

/* Was it not compared yet? A table that is not published
 * writes over nothing: it is compared when that changes. */
bool tarn_look_is_due(const struct tarn_lake *lake, const struct tarn_table *table);

/* Compares, once a table. Where storage is ahead of the row, what it knows is taken
 * back when nothing of it is missing; else, and where it is foreign, the table's
 * block is set in the store. Blocks; on a worker. TARN_STORAGE_UNAVAILABLE when the
 * folder cannot be read, TARN_OVERLOADED while somebody else takes back or undoes. */
TARN_MUST tarn_code tarn_look(struct tarn_lake *lake, const struct tarn_table *table, struct tarn_err *err);
/* A name that a table was given, and that another table had when it was to be taken. */
struct tarn_look_name {
    int64_t table_id;
    char name[TARN_DOTTED_MAX]; /* "": none */
};
/* The same for who has the table's turn (lake/publish_run.h). `is_thorough`: batches and name are compared
 * too, as after a restored backup. `taken` (may be NULL) gets the name that could not be taken. */
TARN_MUST tarn_code tarn_look_in_turn(struct tarn_lake *lake, const struct tarn_table *table,
                                      bool is_thorough, struct tarn_look_name *taken, struct tarn_err *err);
/* look_names.c: all of them in one transaction; a table
 * whose name is still another's keeps the one it has. */
TARN_MUST tarn_code tarn_look_rename(struct tarn_lake *lake, const struct tarn_look_name *items, size_t count,
                                     struct tarn_err *err);
/* look_all.c: all managed tables, one after the other. What cannot be read
 * is told to the log, counted in *failed, and looked at again before the
 * table's first commit. `is_over` (may be NULL) is asked between tables. */
TARN_MUST tarn_code tarn_look_all(struct tarn_lake *lake, bool is_thorough, bool (*is_over)(void *ctx),
                                  void *ctx, int64_t *failed, struct tarn_err *err);
#endif
