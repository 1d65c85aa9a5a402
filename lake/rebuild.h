/* rebuild.h - a catalog from the folders alone: every table of the manifest format under some locations
 * whose documents carry a catalog's ids comes back with its uuid, versions, snapshots, schemas, batches
 * and rollbacks; every Iceberg table, whose documents carry none, with its uuid, its metadata and the
 * commits that its metadata files tell. For `tarn recover`, on a database that nobody serves. */
#ifndef TARN_LAKE_REBUILD_H
#define TARN_LAKE_REBUILD_H
#include "lake/lake.h"

enum tarn_rebuild_kind {
    TARN_REBUILT,         /* a table is in the catalog */
    TARN_REBUILD_TOLD,    /* something that somebody should look at; the rest goes on */
    TARN_REBUILD_PROGRESS
};
struct tarn_rebuild_line {
    enum tarn_rebuild_kind kind;
    const char *location; /* borrowed, as all text; may be NULL */
    const char *table;    /* dotted; NULL: it has no name yet */
    enum tarn_format format; /* TARN_REBUILT, as the next ones */
    const char *uuid;
    int64_t version, oldest_version, files, commits, schemas, batches; /* TARN_REBUILT; progress: version; files -1: not told */
    int64_t done, total;  /* progress: tables */
    const char *message;  /* TARN_REBUILD_TOLD: one line */
};
typedef void tarn_rebuild_fn(void *ctx, const struct tarn_rebuild_line *line);

struct tarn_rebuild {
    /* in */
    struct tarn_lake *lake; /* its storage has the locations among its roots */
    const char *const *locations;
    size_t count;
    const char *catalog;    /* the id whose tables are wanted; NULL: the one that most have */
    bool only_missing;      /* the database has tables: those that it lacks, of its own id */
    tarn_rebuild_fn *tell;
    void *ctx;
    int64_t now_ms;         /* 0: the clock */
    /* out */
    int64_t tables, told;
};
/* TARN_INVALID: the database has tables (and only_missing is false), a location is none. What
 * is in the catalog when it ends early are whole tables; only_missing goes on from there. */
TARN_MUST tarn_code tarn_rebuild(struct tarn_rebuild *rebuild, struct tarn_err *err);

/* --- rebuild_table.c, rebuild_iceberg.c: one of them --- */
struct tarn_rebuild_candidate {
    enum tarn_format format; /* manifest or Iceberg */
    bool is_apart;         /* the metadata files of an Iceberg table lie in the folder itself, as write.metadata.path wants it */
    char *location, *root; /* owned; canonical, and the location given that it was found under */
    char *named;           /* owned: the name in its manifest, NULL: none */
    char *catalog, *uuid;  /* owned: in its documents, NULL: none */
    char *metadata;        /* owned: of an Iceberg table the newest metadata file, as a pointer names it */
    int64_t version, last_updated; /* of an Iceberg table: the number of that file */
    struct tarn_ident ident; /* the name it gets */
    bool left_out;
};
TARN_MUST tarn_code tarn_rebuild_table(struct tarn_rebuild *rebuild,
                                       const struct tarn_rebuild_candidate *candidate, struct tarn_err *err);
TARN_MUST tarn_code tarn_rebuild_iceberg(struct tarn_rebuild *rebuild,
                                         const struct tarn_rebuild_candidate *candidate,
                                         struct tarn_err *err);
void tarn_rebuild_tell(struct tarn_rebuild *rebuild, const char *location, const char *table, const char *fmt,
                       ...) TARN_PRINTF(4, 5);
#endif
