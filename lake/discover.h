/* discover.h - which tables lie below a folder: told by their marks (a manifest
 * or its log, _delta_log, .hoodie, metadata/ with Iceberg's documents, data
 * files), no folder of a table being entered. For discover and recover. */
#ifndef TARN_LAKE_DISCOVER_H
#define TARN_LAKE_DISCOVER_H
#include "base/own.h"
#include "formats/facts.h"

struct tarn_found {
    const char *path;         /* under the place walked, "": the place itself */
    enum tarn_format format;
    const char *table;        /* what its manifest calls it (dotted, as written), NULL: it tells no name */
    bool is_apart;            /* no table: metadata files of an Iceberg table that lies elsewhere, or was written so */
};
/* What a walk met so far. */
struct tarn_walked {
    int64_t tables, folders;  /* found; read */
    int64_t links;            /* symbolic links, which are not followed */
    struct tarn_suspects unreadable; /* folders that could not be listed, with the reason */
    bool is_cut;              /* more folders or deeper ones than a walk reads: there may be more tables */
};
#define TARN_WALK_FOLDERS_MAX INT64_C(1000000)
#define TARN_WALK_DEPTH_MAX 32

/* A walk in steps, each reading a bounded number of folders. In memory: the names of the folders still
 * to be read. A plain folder of Parquet files is one table with all below it; folders named key=value,
 * or by digits as dates are, belong to the table above them. One thread at a time; blocks. */
struct tarn_walk;
/* `place` must outlive it. `stops` (may be NULL): once true the walk ends with TARN_OVERLOADED. */
TARN_MUST tarn_code tarn_walk_new(struct tarn_place *place, const atomic_bool *stops, struct tarn_walk **out,
                                  struct tarn_err *err);
enum tarn_walk_step {
    TARN_WALK_MORE,  /* nothing yet: ask again */
    TARN_WALK_FOUND, /* *found is the next table, or metadata apart from its table; borrowed until the next call */
    TARN_WALK_END
};
/* Errors are storage's, when the place itself cannot be
 * listed; a folder below that cannot is told in walked. */
TARN_MUST tarn_code tarn_walk_next(struct tarn_walk *walk, struct tarn_found *found,
                                   enum tarn_walk_step *step, struct tarn_err *err);
const struct tarn_walked *tarn_walk_walked(const struct tarn_walk *walk);
void tarn_walk_free(struct tarn_walk *walk); /* NULL is fine */
TARN_DEFINE_AUTO(walk, struct tarn_walk)

typedef tarn_code tarn_found_fn(void *ctx, const struct tarn_found *found, struct tarn_err *err);
/* The whole walk in one call; another code of fn's than TARN_OK ends it.
 * *walked (may be NULL) is the caller's to end with tarn_walked_done. */
TARN_MUST tarn_code tarn_discover(struct tarn_place *place, const atomic_bool *stops, tarn_found_fn *fn,
                                  void *ctx, struct tarn_walked *walked, struct tarn_err *err);
void tarn_walked_done(struct tarn_walked *walked);

/* --- discover_marks.c: one folder --- */

/* What a folder shows of itself. */
struct tarn_marks {
    bool manifest, log, delta, hudi, metadata, data;
    bool apart;         /* Iceberg's metadata files in the folder itself */
    int64_t data_files; /* seen, in the folder itself */
};
/* Which table lies in `folder` by its marks: *is_table,
 * *format, and *table (owned or NULL) as its manifest says. */
TARN_MUST tarn_code tarn_marks_judge(struct tarn_place *place, const char *folder,
                                     const struct tarn_marks *marks, bool *is_table, enum tarn_format *format,
                                     char **table, struct tarn_err *err);
void tarn_marks_note(struct tarn_marks *marks, const char *name, bool is_folder);
/* The same by asking for each mark alone, where the listing was left because of too many data files. */
TARN_MUST tarn_code tarn_marks_ask(struct tarn_place *place, const char *folder, struct tarn_marks *marks,
                                   struct tarn_err *err);
#endif
