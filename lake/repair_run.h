/* repair_run.h - one look of a repair while it runs: shared by the files lake/repair*.c only. */
#ifndef TARN_LAKE_REPAIR_RUN_H
#define TARN_LAKE_REPAIR_RUN_H
#include "formats/fileset.h"
#include "lake/repair.h"

struct tarn_repair_run {
    struct tarn_lake *lake;
    struct tarn_repair_use *use;
    struct tarn_table *table;        /* owned: as the look found it, with what it inherits */
    struct tarn_schema_rows schemas; /* owned: every version */
    struct tarn_publication pub;
    struct tarn_place *place;        /* owned */
};

/* --- the plans: what is to be done goes into run->use; what a run does on storage before the decision is done --- */
typedef tarn_code tarn_repair_plan_fn(struct tarn_repair_run *run, struct tarn_err *err);
tarn_repair_plan_fn tarn_repair_republish, tarn_repair_register, tarn_repair_forget, tarn_repair_adopt;
tarn_repair_plan_fn tarn_repair_iceberg; /* republish, of an Iceberg table: without schemas, publication and place */

/* --- repair_tell.c: the report, and the operations of the commit --- */
/* `reason` is a word, `message` one line. */
TARN_MUST tarn_code tarn_repair_leave_out(struct tarn_repair_use *use, const char *path, const char *reason,
                                          const char *message, struct tarn_err *err);
TARN_MUST tarn_code tarn_repair_tell_write(struct tarn_repair_use *use, const char *path,
                                           struct tarn_err *err);
TARN_MUST tarn_code tarn_repair_tell_move(struct tarn_repair_use *use, const char *from, const char *to,
                                          struct tarn_err *err);
/* One operation more, its path copied; *out is good until the next. */
TARN_MUST tarn_code tarn_repair_op(struct tarn_repair_use *use, bool is_add, const char *path,
                                   struct tarn_commit_op **out, struct tarn_err *err);
/* Takes the newest operation back. */
void tarn_repair_drop_op(struct tarn_repair_use *use);
/* What an earlier look found is forgotten. */
TARN_MUST tarn_code tarn_repair_begin(struct tarn_repair_use *use, struct tarn_err *err);
/* Author and description of the commit. */
TARN_MUST tarn_code tarn_repair_describe(struct tarn_repair_use *use, struct tarn_err *err);

/* --- repair_names.c: which files `paths` names --- */
struct tarn_repair_names {
    bool given;               /* else every file is asked for, and none by name */
    struct tarn_fileset exact;
    const char **folders;     /* owned array of borrowed texts, each ending in "/" */
    size_t folder_count;
};
void tarn_repair_names_done(struct tarn_repair_names *names);
TARN_MUST tarn_code tarn_repair_names_read(const json_t *paths, struct tarn_repair_names *out,
                                           struct tarn_err *err);
bool tarn_repair_names_has(const struct tarn_repair_names *names, const char *path);
/* Each path that is named by itself, once. */
typedef tarn_code tarn_repair_name_fn(void *ctx, const char *path, struct tarn_err *err);
TARN_MUST tarn_code tarn_repair_names_each(const json_t *paths, tarn_repair_name_fn *fn, void *ctx,
                                           struct tarn_err *err);

/* --- repair_known.c: what the catalog knows --- */
/* Every path that it knows: TARN_FILE_LISTED with its size when it is live at the version of *table; else
 * TARN_FILE_REMOVED, also what the log from before Tarn names. */
TARN_MUST tarn_code tarn_repair_known_files(struct tarn_repair_run *run, struct tarn_fileset *out,
                                            struct tarn_err *err);
/* Transactions: TARN_FILE_LISTED of Tarn's commits, TARN_FILE_ADDED
 * of those from before. *adopted: how many of these. */
TARN_MUST tarn_code tarn_repair_known_ids(struct tarn_repair_run *run, struct tarn_fileset *out,
                                          int64_t *adopted, struct tarn_err *err);
/* The files at a version, page by page, each its own short read. */
TARN_MUST tarn_code tarn_repair_files_at(struct tarn_repair_run *run, int64_t version, tarn_file_fn *fn,
                                         void *ctx, struct tarn_err *err);
/* Each object of the table's folder that may be data. */
TARN_MUST tarn_code tarn_repair_list_files(struct tarn_repair_run *run, tarn_object_fn *fn, void *ctx,
                                           struct tarn_err *err);
#endif
