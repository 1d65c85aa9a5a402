/* rebuild_run.h - one table while it is rebuilt: shared by the files lake/rebuild_*.c only. */
#ifndef TARN_LAKE_REBUILD_RUN_H
#define TARN_LAKE_REBUILD_RUN_H
#include "lake/rebuild.h"
#include "lake/replay.h"

struct tarn_rebuilding {
    struct tarn_rebuild *rebuild;
    const struct tarn_rebuild_candidate *candidate;
    char dotted[TARN_DOTTED_MAX];
    struct tarn_place *place;  /* owned */
    struct tarn_traces traces; /* owned */
    struct tarn_retake plan;   /* owned */
    struct tarn_schema_rows schemas; /* owned */
    struct tarn_table *table;  /* owned: the row to come, under a reserved id */
    struct tarn_replay replay;
    size_t strays_from; /* traces.others, sorted, from here on were never committed */
    bool has_shown, foreign;
    struct tarn_publication shown;
    int64_t batches, published_schema;
};
/* rebuild_row.c: b->table, under a fresh id, at its first version. */
TARN_MUST tarn_code tarn_rebuild_row(struct tarn_rebuilding *b, struct tarn_err *err);
/* rebuild_base.c: the files of the first version of a table that was
 * adopted: what a later snapshot still has of them, and what the entries up
 * to it removed. `until`: the snapshot's version, its document `path`. */
TARN_MUST tarn_code tarn_rebuild_base(struct tarn_rebuilding *b, const char *path, int64_t until,
                                      struct tarn_err *err);
/* rebuild_past.c: the log from before Tarn in its order, then, when the versions are there, into
 * the catalog, with the ids that no commit may have; and files that no kept version has. */
void tarn_rebuild_sort(struct tarn_rebuilding *b);
bool tarn_rebuild_is_past(const struct tarn_rebuilding *b, const struct tarn_trace *trace);
TARN_MUST tarn_code tarn_rebuild_entries(struct tarn_rebuilding *b, struct tarn_err *err);
TARN_MUST tarn_code tarn_rebuild_retired(struct tarn_rebuilding *b, struct tarn_err *err);
#endif
