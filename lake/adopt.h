/* adopt.h - what a registration takes over from the folder: gathered on a worker, made visible by one short
 * transaction. Used by register.c and, for a change of mode, by settings.c. */
#ifndef TARN_LAKE_ADOPT_H
#define TARN_LAKE_ADOPT_H
#include "base/own.h"
#include "lake/lake.h"
#include <jansson.h>

/* What lies in a folder, as far as a registration must know. */
struct tarn_site {
    bool exists, has_manifest, has_log;
    bool has_format; /* some table format was recognised: */
    enum tarn_format format;
    char data_file[TARN_PATH_MAX + 1]; /* one data file, "" when there is none */
};
TARN_MUST tarn_code tarn_site_look(struct tarn_storage *storage, const char *location, struct tarn_site *out,
                                   struct tarn_err *err);

struct tarn_adopted {
    int64_t id;           /* the reserved table id that rows are staged under; 0: none */
    int64_t version;      /* of the snapshot */
    char *transaction;    /* latest, owned; NULL: none */
    int64_t committed_at; /* -1: now */
    int64_t file_count, total_bytes;
    int64_t entries;                 /* of the log, now history */
    struct tarn_schema_row *schemas; /* owned, ascending */
    size_t schema_count;
    int64_t schema_version;   /* the current one, 0: none */
    int64_t published_schema; /* what schema.json shows */
    char *partition_keys;     /* owned JSON array or NULL */
    bool is_import;           /* the files are version 1, a commit of Tarn's own */
    bool has_publication;
    struct tarn_publication publication; /* the manifest as it lies there */
    enum tarn_block block;
    json_t *found; /* owned array of remarks */
};
struct tarn_adopted *tarn_adopted_new(void); /* NULL: out of memory */
void tarn_adopted_free(struct tarn_adopted *adopted);
TARN_DEFINE_AUTO(adopted, struct tarn_adopted)
/* A remark; `subject` may be NULL. */
TARN_MUST tarn_code tarn_adopted_remark(struct tarn_adopted *adopted, const char *code,
                                        enum tarn_severity severity, const char *subject, const char *message,
                                        struct tarn_err *err);
/* Takes over a schema given as JSON (borrowed, valid) as `version`; `renames` may be NULL. */
TARN_MUST tarn_code tarn_adopted_schema(struct tarn_adopted *adopted, int64_t version, const json_t *schema,
                                        const json_t *renames, int64_t created_at, struct tarn_err *err);

/* adopt.c: manifest, log, schema. With `dry_run` nothing is staged. TARN_LOCATION_UNREACHABLE names the
 * document. */
TARN_MUST tarn_code tarn_adopt(struct tarn_lake *lake, struct tarn_place *place, bool dry_run,
                               struct tarn_adopted *adopted, struct tarn_err *err);
/* readopt.c: the same for a table that is in the catalog already (observed until now): its file rows become
 * what the manifest says, as one new version that nobody sees until the table's row names it. */
TARN_MUST tarn_code tarn_readopt(struct tarn_lake *lake, struct tarn_place *place,
                                 const struct tarn_table *table, struct tarn_adopted *adopted,
                                 struct tarn_err *err);
/* import.c: every data file that lies there, as version 1. `schema` (the one given, or NULL) types partition
 * values. */
TARN_MUST tarn_code tarn_import(struct tarn_lake *lake, struct tarn_place *place, const json_t *schema,
                                bool dry_run, struct tarn_adopted *adopted, struct tarn_err *err);

/* Rows of a table to come, written in chunks from a worker. */
struct tarn_stage;
struct tarn_entry_head;
/* Reserves an id unless `dry_run` (then nothing is written). */
TARN_MUST tarn_code tarn_stage_new(struct tarn_lake *lake, bool dry_run, struct tarn_stage **out,
                                   struct tarn_err *err);
/* Into a table that exists (readopt.c). */
TARN_MUST tarn_code tarn_stage_into(struct tarn_lake *lake, int64_t table_id, struct tarn_stage **out,
                                    struct tarn_err *err);
/* A path that is staged already is passed over. */
TARN_MUST tarn_code tarn_stage_file(struct tarn_stage *stage, int64_t version, const struct tarn_file *file,
                                    struct tarn_err *err);
/* An entry of the log from before, whose file is as old as `mtime_ms`. */
TARN_MUST tarn_code tarn_stage_entry(struct tarn_stage *stage, int64_t position, const char *transaction,
                                     const struct tarn_entry_head *head, int64_t mtime_ms,
                                     struct tarn_err *err);
/* An id that no commit may take. */
TARN_MUST tarn_code tarn_stage_id(struct tarn_stage *stage, const char *id, struct tarn_err *err);
TARN_MUST tarn_code tarn_stage_end(struct tarn_stage *stage, int64_t *id,
                                   struct tarn_err *err); /* writes what is left */
void tarn_stage_free(struct tarn_stage *stage);
TARN_DEFINE_AUTO(stage, struct tarn_stage)
#endif
