/* iceberg.h - tables whose commits come as Iceberg metadata updates: created, committed to, registered, several at once. The
 * document is built on a worker and written to storage under a name of its own; then one transaction moves the pointer, the
 * catalog's row and the kept document together, or nothing. */
#ifndef TARN_LAKE_ICEBERG_H
#define TARN_LAKE_ICEBERG_H
#include "formats/iceberg/iceberg.h"
#include "lake/lake.h"

/* What the token of the request reaches; NULL functions: everything. */
struct tarn_iceberg_who {
    bool (*may_use)(const void *who, const char *location); /* canonical */
    bool (*may_see)(const void *who, const char *namespace_, const char *name);
    const void *who;
};

/* --- iceberg_file.c: metadata files, by their full location --- */
/* A location of a metadata document to its canonical text. *out owned. */
TARN_MUST tarn_code tarn_iceberg_locate(const char *location, char **out, struct tarn_err *err);
/* Makes the folder that the file will lie in. Errors as below. Blocks. */
TARN_MUST tarn_code tarn_iceberg_file_folder(struct tarn_lake *lake, const char *file, struct tarn_err *err);
/* Creates it, packed where its name says so; TARN_LOCATION_NOT_ALLOWED, storage's errors. Blocks. */
TARN_MUST tarn_code tarn_iceberg_file_write(struct tarn_lake *lake, const char *file, const struct tarn_buf *text,
                                            struct tarn_err *err);
/* The whole text, unpacked. TARN_NOT_FOUND "Failed to open input stream for file: ...". Blocks. */
TARN_MUST tarn_code tarn_iceberg_file_read(struct tarn_lake *lake, const char *file, struct tarn_buf *out,
                                           struct tarn_err *err);
/* The same as a value; also TARN_INVALID. *out owned. Blocks. */
TARN_MUST tarn_code tarn_iceberg_file_parse(struct tarn_lake *lake, const char *file, struct tarn_iceberg_meta **out,
                                            struct tarn_err *err);
/* Is it there? TARN_NOT_FOUND as above. Blocks. */
TARN_MUST tarn_code tarn_iceberg_file_stat(struct tarn_lake *lake, const char *file, struct tarn_err *err);
/* Is it known not to be there? Of an engine's file that lies outside the roots, or where no storage here is, nothing is known. Blocks. */
TARN_MUST tarn_code tarn_iceberg_file_is_missed(struct tarn_lake *lake, const char *file, bool *out, struct tarn_err *err);
/* Does it lie on local storage? Elsewhere its absence is left to the monitors. */
bool tarn_iceberg_file_is_local(const char *file);
/* Nothing says that it is not there: on local storage the system knows in memory that it is. Never waits. */
bool tarn_iceberg_file_is_seen(const struct tarn_lake *lake, const char *file);
/* Of a file that was there, before one is written beside it or again: TARN_STORAGE_UNAVAILABLE when its storage root is gone, as far
 * as can be told. A mount that is not there is an empty folder, on whose disk the table's folders would be made anew. Blocks. */
TARN_MUST tarn_code tarn_iceberg_file_check_root(const struct tarn_lake *lake, const char *file, struct tarn_err *err);
/* Does what it can: a file that stays is a leftover, no damage. Blocks. */
void tarn_iceberg_file_remove(struct tarn_lake *lake, const char *file);

/* --- iceberg_work.c: one table's change on its way --- */
struct tarn_iceberg_step { const json_t *requirements, *updates; }; /* borrowed from the request; NULL: none */
struct tarn_iceberg_work {
    /* in */
    struct tarn_ident ident;
    struct tarn_iceberg_step *steps; /* applied one after the other; owned array */
    size_t step_count;
    struct tarn_iceberg_who who;
    int64_t now_ms;            /* 0: the clock */
    /* out, owned: what is answered */
    struct tarn_table *table;  /* the row: before the change as it was read, after it as it is */
    char *metadata_location;
    struct tarn_buf metadata;  /* the document, all snapshots */
    /* inside */
    bool creates;              /* assert-create: there was no table */
    bool is_same;              /* nothing was to be done: nothing was written */
    struct tarn_buf refs;      /* the other form, empty: the same */
    struct tarn_iceberg_meta *meta;
    size_t base_bytes;         /* of memory that `meta` took as it was read */
    bool is_changed;           /* `meta` is not the base any more */
    char *base_file;           /* owned; NULL: a create */
    int64_t base_snapshot;
    struct tarn_buf gone;      /* files that left metadata-log and may go: texts, each ended by NUL */
    bool is_written, is_landed;
    int attempts;
};
/* Reads the base, judges, builds and writes the file; what an earlier attempt left is removed first. Blocks.
 * TARN_TABLE_NOT_FOUND, TARN_VERSION_CONFLICT, TARN_INVALID. */
TARN_MUST tarn_code tarn_iceberg_prepare(struct tarn_lake *lake, struct tarn_iceberg_work *work, struct tarn_err *err);
int64_t tarn_iceberg_now(const struct tarn_iceberg_work *work);

/* --- iceberg_land.c --- */
/* Moves the pointer; TARN_RECHECK when the base is not the newest any more. Inside a transaction. */
TARN_MUST tarn_code tarn_iceberg_land(struct tarn_tx *tx, struct tarn_lake *lake, struct tarn_iceberg_work *work,
                                      struct tarn_err *err);
/* As a commit on `row`, an observed table that is Tarn's from then on: what Tarn knows of it (owner, monitors, findings, history) stays.
 * Takes `row` over. */
TARN_MUST tarn_code tarn_iceberg_take_over(struct tarn_tx *tx, struct tarn_lake *lake, struct tarn_iceberg_work *work,
                                           struct tarn_table *row, struct tarn_err *err);
/* When it is durable; quick. The metadata is kept for the next commit, unless old files have to go first: work->meta is then
 * still there. */
void tarn_iceberg_landed(struct tarn_lake *lake, struct tarn_iceberg_work *work);
/* Old metadata files go where the table asks for it. Blocks. */
void tarn_iceberg_remove_gone(struct tarn_lake *lake, struct tarn_iceberg_work *work);
/* After a refusal: takes back the file, unless the outcome is not known. Blocks. */
void tarn_iceberg_withdraw(struct tarn_lake *lake, struct tarn_iceberg_work *work, tarn_code code);
void tarn_iceberg_work_done(struct tarn_iceberg_work *work);
/* A row with a name and nothing else yet. *out owned. */
TARN_MUST tarn_code tarn_iceberg_blank_row(const struct tarn_ident *ident, struct tarn_table **out, struct tarn_err *err);
/* Fills what the metadata says into the row. */
TARN_MUST tarn_code tarn_iceberg_row(struct tarn_table *table, const struct tarn_iceberg_meta *meta, const char *file,
                                     struct tarn_err *err);
/* A document that was judged and refused is told apart from a request that cannot be read: clients of the reference get another
 * exception. Hands `code` back. */
tarn_code tarn_iceberg_judged(tarn_code code, struct tarn_err *err);
/* Is the name free of tables and views? TARN_TABLE_EXISTS, TARN_VIEW_EXISTS. Inside a transaction. */
TARN_MUST tarn_code tarn_name_free(struct tarn_tx *tx, const char *namespace_, const char *name, struct tarn_err *err);
/* The live Iceberg table that Tarn owns; any other one is TARN_TABLE_NOT_FOUND here. */
TARN_MUST tarn_code tarn_iceberg_find(struct tarn_tx *tx, const struct tarn_ident *ident, struct tarn_table **out,
                                      struct tarn_err *err);

/* --- iceberg_commit.c --- */
struct tarn_iceberg_commit_use {
    struct tarn_lake *lake;
    struct tarn_iceberg_work *works; /* owned; one a table. POST .../tables/{table}: one; transactions/commit: several */
    size_t count;
};
extern const struct tarn_use tarn_iceberg_commit;

/* --- iceberg_create.c --- */
struct tarn_iceberg_create_use {
    struct tarn_lake *lake;
    struct tarn_ident ident;
    struct tarn_iceberg_create ask; /* uuid, now_ms and location are filled in; trees are borrowed */
    const char *location;           /* as asked for; NULL: the namespace's or the default root's */
    bool is_staged;                 /* nothing is stored: the client commits it later */
    struct tarn_iceberg_who who;
    /* out, in work: table (not when staged), metadata_location (NULL: staged), metadata */
    struct tarn_iceberg_work work;
    char *place;                    /* inside: the metadata's location */
};
extern const struct tarn_use tarn_iceberg_table_create;

/* --- iceberg_register.c --- */
struct tarn_iceberg_register_use {
    struct tarn_lake *lake;
    struct tarn_ident ident;
    const char *metadata_location; /* borrowed */
    bool overwrite;
    bool is_own;                   /* the table's own file comes back: what it holds was let in once */
    struct tarn_iceberg_who who;
    int64_t now_ms;
    struct tarn_iceberg_work work; /* out */
};
extern const struct tarn_use tarn_iceberg_register;
#endif
