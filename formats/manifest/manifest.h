/* manifest.h - the documents of the manifest format, in and out: manifest.json,
 * _transactions/<id>.json, last_committed_txn, schema.json, schema_cache.json.
 * Shapes: docs/FORMAT.md (the founding text, seed 000, plus the members that Tarn adds:
 * `catalog`, `table_uuid`, `version`, ...). Manifests and entries are read and written by
 * streaming: nothing here holds a file list. Readers keep going over what they do not know. */
#ifndef TARN_FORMATS_MANIFEST_H
#define TARN_FORMATS_MANIFEST_H
#include "base/jsonr.h"
#include "base/time.h"
#include "catalog/schema.h"
#include "catalog/types.h"
#include "storage/storage.h"

#define TARN_DOC_MANIFEST "manifest.json"
#define TARN_DOC_POINTER "last_committed_txn"
#define TARN_DOC_SCHEMA "schema.json"
#define TARN_DOC_SCHEMA_CACHE "schema_cache.json"
#define TARN_DIR_LOG "_transactions"
#define TARN_CHECKPOINT_SUFFIX ".checkpoint.json" /* of a snapshot in the log's folder */
#define TARN_DIR_PROCESSED "processed"
#define TARN_DIR_LINKS "_symlink_format_manifest"

/* A data file of the table: parquet by name, no component that starts with "." or "_", not under staging/,
 * processed/, not a document of the lake. For listings; paths of commits go by tarn_data_path_check. */
bool tarn_is_data_file(const char *path);
/* Left behind by a writer that stopped: a temporary name, or data under _temp/ or a hidden name. */
bool tarn_is_leftover(const char *path);
/* May a folder at the top of a table hold one of the two? */
bool tarn_holds_data(const char *folder);
/* Data of another format by its name ("csv", "json", "orc", ...; compressed too), static; NULL: not. For files that are
 * listed as data of the table. */
const char *tarn_other_format(const char *path);
/* The same of a file that nobody lists: only what lies where data lies and is no note, document or metadata. */
const char *tarn_stray_format(const char *path);

/* A path as some document writes it, made what a listing gives: "./a//b" is "a/b", an absolute path or URI below
 * `location` is relative to it. */
struct tarn_listed_path {
    const char *path;  /* borrowed from `written` or `room`; as written when it is outside */
    const char *fault; /* why no data file may have it, static; NULL: it may */
    bool is_outside;   /* of the table's folder, or of no file: never to be looked at */
};
TARN_MUST tarn_code tarn_listed_path_read(const char *written, const char *location, struct tarn_buf *room,
                                          struct tarn_listed_path *out, struct tarn_err *err);

/* --- in --- */

/* The members of a manifest besides its files. Strings are owned. */
struct tarn_manifest_head {
    int64_t version;          /* -1: absent */
    int64_t last_updated;     /* UTC ms, -1: absent or unusable */
    enum tarn_time_form last_updated_form;
    bool last_updated_bad;    /* there, but no instant in 2000..2100 */
    char *last_updated_text;  /* as written, NULL: absent */
    char *table, *catalog, *table_uuid, *transaction; /* NULL: absent */
    int64_t schema_version;   /* -1: absent */
    int64_t created_at;       /* of the table, UTC ms, -1: absent */
    int64_t first_version;    /* 0: absent */
    char *partition_keys;     /* JSON array, NULL: absent */
};
void tarn_manifest_head_done(struct tarn_manifest_head *head);

/* Read a manifest from `source`. `fn` (may be NULL) gets each entry of `files` in document order; the head is whole
 * only at the end, since members come in any order. An entry without a usable `path` or a document that is not a
 * manifest is TARN_INVALID naming the place ("files[3].path"). Unknown members are skipped. What an entry does not
 * tell is -1 (size, records), 0 (schema_version) or NULL; a negative size is TARN_SIZE_NEGATIVE. */
#define TARN_SIZE_NEGATIVE INT64_C(-2)
TARN_MUST tarn_code tarn_manifest_read(tarn_source_fn *source, void *from, struct tarn_manifest_head *head,
                                       tarn_file_fn *fn, void *ctx, struct tarn_err *err);
/* The same of a place's manifest.json. TARN_NOT_FOUND when there is none. `object` may be NULL. */
TARN_MUST tarn_code tarn_manifest_read_at(struct tarn_place *place, struct tarn_manifest_head *head,
                                          struct tarn_object *object, tarn_file_fn *fn, void *ctx,
                                          struct tarn_err *err);

/* The members before its list of files, from the first 64 KiB alone; `path` is the document's. Nothing that lies there is
 * an error: what cannot be read tells nothing. */
struct tarn_manifest_peek {
    bool has_files;            /* a member `files` that is a list was met */
    bool is_whole;             /* read to its end: what was not met is not in it */
    char *table, *transaction; /* owned, NULL: not met */
};
void tarn_manifest_peek_done(struct tarn_manifest_peek *peek);
TARN_MUST tarn_code tarn_manifest_peek(struct tarn_place *place, const char *path, struct tarn_manifest_peek *out,
                                       struct tarn_err *err);

/* The same, one file after the other. Opening reads the whole document once: TARN_NOT_FOUND, TARN_INVALID when it is
 * no manifest. `place` must outlive it. */
struct tarn_manifest_pull;
TARN_MUST tarn_code tarn_manifest_pull_open(struct tarn_place *place, struct tarn_manifest_pull **out,
                                            struct tarn_err *err);
void tarn_manifest_pull_free(struct tarn_manifest_pull *pull);
TARN_DEFINE_AUTO(manifest_pull, struct tarn_manifest_pull)
const struct tarn_manifest_head *tarn_manifest_pull_head(const struct tarn_manifest_pull *pull);
const char *tarn_manifest_pull_token(const struct tarn_manifest_pull *pull); /* storage's, of the document */
/* *file is borrowed until the next call; NULL: that was the last one. */
TARN_MUST tarn_code tarn_manifest_pull_next(struct tarn_manifest_pull *pull, const struct tarn_file **file,
                                            struct tarn_err *err);

struct tarn_entry_op {
    bool is_add; /* else remove_file */
    struct tarn_file file; /* borrowed; a remove has only the path */
};
typedef tarn_code tarn_entry_op_fn(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err);

struct tarn_entry_head {
    char *id;            /* from inside the document; NULL: absent */
    int64_t timestamp;   /* UTC ms, -1: absent or unusable */
    enum tarn_time_form timestamp_form;
    bool timestamp_bad;  /* there, but no instant between 2000 and 2100 */
    char *metadata;      /* commitMetadata as JSON text, NULL: absent */
    bool data_change;    /* true when absent */
    int64_t version;     /* -1: absent (not written by Tarn) */
    char *catalog, *table_uuid, *group; /* NULL: absent */
    int64_t schema_version, rollback_to; /* -1: absent */
    char *body_sha256, *batch_ids;       /* NULL: absent; batch_ids: JSON array of text */
    int64_t adds, removes, bytes_added;
};
void tarn_entry_head_done(struct tarn_entry_head *head);
TARN_MUST tarn_code tarn_entry_read(tarn_source_fn *source, void *from, struct tarn_entry_head *head,
                                    tarn_entry_op_fn *fn, void *ctx, struct tarn_err *err);
TARN_MUST tarn_code tarn_entry_read_at(struct tarn_place *place, const char *path, struct tarn_entry_head *head,
                                       struct tarn_object *object, tarn_entry_op_fn *fn, void *ctx,
                                       struct tarn_err *err);
/* entry_last.c: of the operations that name one path only the last one, which is what the entry leaves. Reads it twice; the
 * first time nothing is given, so that of one that cannot be read nothing is. */
TARN_MUST tarn_code tarn_entry_read_last(struct tarn_place *place, const char *path, tarn_entry_op_fn *fn, void *ctx,
                                         struct tarn_err *err);

/* The pointer's id: byte order mark, blanks and line ends around it are dropped. TARN_NOT_FOUND; TARN_INVALID
 * when what is left is no transaction id. *id is owned. */
TARN_MUST tarn_code tarn_pointer_read(struct tarn_place *place, char **id, struct tarn_object *object,
                                      struct tarn_err *err);

/* schema.json: top-level `schema` is `current_version`; `versions` holds earlier ones (and may hold it too). A bare
 * struct is version 1. */
struct tarn_schema_doc {
    int64_t current_version;
    struct tarn_schema_version {
        int64_t version;
        struct tarn_schema *schema;
        json_t *json, *renames; /* renames: an object, NULL: none */
        int64_t created_at;     /* UTC ms, -1: not told */
    } *versions; /* owned, ascending */
    size_t count;
};
void tarn_schema_doc_done(struct tarn_schema_doc *doc);
const struct tarn_schema *tarn_schema_doc_current(const struct tarn_schema_doc *doc); /* NULL: not in it */
TARN_MUST tarn_code tarn_schema_doc_parse(const char *text, size_t len, struct tarn_schema_doc *out, struct tarn_err *err);
TARN_MUST tarn_code tarn_schema_doc_read_at(struct tarn_place *place, struct tarn_schema_doc *out,
                                            struct tarn_object *object, struct tarn_err *err);

/* --- out --- */

/* One entry of `files` / one operation, in the seed's own member names. */
struct tarn_jsonw;
void tarn_manifest_write_file(struct tarn_jsonw *w, const struct tarn_file *file);
/* Opens the manifest's object with its head members and leaves `files` open. Of *table it tells the name, and what no
 * document else tells: created_at (not above 0: left out), partition_keys (NULL: left out), first_version. */
void tarn_manifest_write_head(struct tarn_jsonw *w, const struct tarn_table *table, const char *catalog_id,
                              int64_t version, const char *transaction, int64_t last_updated, int64_t schema_version);
void tarn_manifest_write_end(struct tarn_jsonw *w);
/* The log entry around its operations: head, then per operation, then end. */
void tarn_entry_write_head(struct tarn_jsonw *w, const struct tarn_table *table, const char *catalog_id,
                           const struct tarn_commit_row *commit);
/* `first_version`: of the table. What it adopted is told whole when it is removed, since no entry of Tarn's added it. */
void tarn_entry_write_op(struct tarn_jsonw *w, const struct tarn_file *file, bool is_add, int64_t first_version);
void tarn_entry_write_end(struct tarn_jsonw *w, const struct tarn_commit_row *commit);
/* The checkpoint of a staged batch: processed/<batch_id without .parquet>.json. */
#define TARN_BATCH_DOC_PATH (TARN_BATCH_ID_MAX + 32)
void tarn_batch_doc_path(const char *batch_id, char out[TARN_BATCH_DOC_PATH]);
void tarn_batch_doc_write(struct tarn_jsonw *w, const struct tarn_table *table, const char *catalog_id,
                          const struct tarn_batch *batch);
/* schema.json of the versions given, oldest first; the last one is current. Owned text. */
TARN_MUST tarn_code tarn_schema_doc_write(const struct tarn_schema_row *rows, size_t count, struct tarn_buf *out,
                                          struct tarn_err *err);
#endif
