/* facts.h - what a reader can say of a table: what lies there, and what its pointer, log, manifest, schema and the
 * catalog say. Gathering does I/O and judges nothing; monitors/ judges and does no I/O. Memory is bounded: paths
 * are kept as hashes, suspects by name at most TARN_EXAMPLES_MAX a kind, with their total. */
#ifndef TARN_FORMATS_FACTS_H
#define TARN_FORMATS_FACTS_H
#include "base/buf.h"
#include "base/own.h"
#include "catalog/schema.h"
#include "catalog/types.h"
#include "formats/fileset.h"
#include "formats/life.h"
#include "storage/storage.h"
#include <jansson.h>
#include <stdatomic.h>

#define TARN_EXAMPLES_MAX 20
#define TARN_ORPHAN_MS (INT64_C(7) * 24 * 3600 * 1000)

struct tarn_suspect {
    char *subject;      /* a path or an id, owned */
    char *note;         /* why, in a few words, owned; or NULL */
    int64_t observed, expected; /* -1: none */
    int64_t mtime_ms;   /* of the object, -1: not known */
};
struct tarn_suspects {
    struct tarn_suspect items[TARN_EXAMPLES_MAX]; /* the first ones met */
    size_t count;
    int64_t total;      /* of all, examples or not */
    int64_t bytes;      /* of all */
    int64_t oldest_ms;  /* smallest mtime of all; 0 when there is none */
};
/* `note` may be NULL. TARN_INTERNAL: out of memory. */
TARN_MUST tarn_code tarn_suspects_add(struct tarn_suspects *list, const char *subject, const char *note, int64_t observed,
                                      int64_t expected, int64_t mtime_ms, struct tarn_err *err);
/* Adds all of `from`, each with `note` (NULL: its own). */
TARN_MUST tarn_code tarn_suspects_join(struct tarn_suspects *list, const struct tarn_suspects *from, const char *note,
                                       struct tarn_err *err);
void tarn_suspects_done(struct tarn_suspects *list);

enum tarn_facts_state {
    TARN_FACTS_READ,        /* everything below is what it says */
    TARN_FACTS_UNREACHABLE, /* storage does not answer, or the folder is missing: `why` */
    TARN_FACTS_NO_TABLE,    /* a folder without a table */
    TARN_FACTS_UNSUPPORTED  /* a format that no reader here understands */
};
enum tarn_doc_state { TARN_DOC_ABSENT, TARN_DOC_READ, TARN_DOC_BAD /* there, but not what it should be */ };

/* What this scan looked at: a finding counts as looked at only when its part was. */
enum {
    TARN_SAW_DOCUMENTS = 1 << 0, /* pointer, manifest, schema */
    TARN_SAW_LOG = 1 << 1,       /* names of the log, its newest entries read */
    TARN_SAW_LISTING = 1 << 2,   /* every data file that lies there; parts of them: tarn_facts_looked_at */
    TARN_SAW_FOOTERS = 1 << 3,   /* the footer of every file of the table */
    TARN_SAW_STAGING = 1 << 4,
    TARN_SAW_STORAGE = 1 << 5,   /* the folder at all */
    TARN_SAW_ENTRIES = 1 << 6,   /* what is told of each listed file */
    TARN_SAW_BATCHES = 1 << 7,   /* which batches the commits applied */
    TARN_SAW_MANIFEST = 1 << 8,  /* which files are the table's: the manifest could be read, or the catalog says so */
    TARN_SAW_SCHEMA = 1 << 9,    /* what the table's columns are, or that nobody says */
    TARN_SAW_WORDS = 1 << 10,    /* the log's last word on every file that was asked about; parts: tarn_facts.undecided */
    TARN_SAW_COMMITTED = 1 << 11, /* how far the log is committed, by pointer or manifest, or the catalog */
    TARN_SAW_POINTER = 1 << 12,  /* what last_committed_txn says */
    TARN_SAW_TEXTS = 1 << 13,    /* what every committed entry says; parts: the entries' flags */
    TARN_SAW_LIFE = 1 << 14      /* when data came last */
};
/* What a table without a log cannot fail to show. */
#define TARN_SAW_NO_LOG (TARN_SAW_WORDS | TARN_SAW_COMMITTED | TARN_SAW_POINTER | TARN_SAW_TEXTS | TARN_SAW_LIFE)

/* One transaction: an entry of the log, or one that the catalog knows and the log lacks. */
struct tarn_log_entry {
    int64_t number;     /* at the end of its id; -1: the id ends in none */
    int64_t mtime_ms;
    int64_t size;       /* bytes of its file */
    uint32_t id_at;     /* of its id in tarn_log_facts.names */
    uint32_t file_at;   /* of its file's name without ".json" */
    bool committed;     /* at or below the pointer (observed), known to the catalog (managed) */
    bool absent;        /* its file is not there */
    bool unreadable;    /* there, but no log entry */
    bool adopted;       /* managed: it lay there before Tarn took the table over */
    bool foreign;       /* managed: no commit, and not written by this catalog */
    bool intruder;      /* managed: foreign, and written since the table is Tarn's */
    bool overwritten;   /* managed: a commit, but its entry tells another one */
    bool read;          /* its operations were looked at */
    bool sure;          /* and those of every newer committed one */
    bool own_table, other_table; /* observed: it names the manifest's table_uuid, or another one */
    int64_t version;    /* inside it; of an absent one the catalog's; -1: none */
    int64_t timestamp;  /* inside it, -1: none */
    uint64_t owner;     /* hash of the table_uuid inside it, 0: none */
    uint32_t told;      /* managed: 1 more than its place in tarn_log_facts.told; 0: the catalog tells nothing */
};
/* What the catalog says of a commit of its own. */
struct tarn_told_commit {
    int64_t version, committed_at;
    int64_t files_added, files_removed, bytes_added; /* of its entry, when */
    bool follows; /* the version before it is known too: else they are a snapshot's that a recovery took */
    int64_t schema_version;
    bool data_change;
};
/* A scan keeps a copy for the next one (manifest/facts_memo.c): what is owned here is copied there. */
struct tarn_log_facts {
    struct tarn_log_entry *entries; /* owned; ascending: by number when `numbered`, else by time */
    size_t count, cap;
    struct tarn_buf names;          /* the texts of id_at and file_at */
    struct tarn_told_commit *told;  /* owned; newest first */
    size_t told_count, told_cap;
    bool was_cut;                   /* older entries were not read: what they did is not known */
    bool is_whole;                  /* every committed entry was read: nothing is cut, gone from the middle or unreadable */
    bool numbered;                  /* all ids share one prefix and end in a decimal */
    char why_not[96];               /* not numbered: why */
    char prefix[TARN_TXN_ID_MAX + 1];
    int width;                      /* digits when the ids are padded with zeros, else 0 */
    char checkpoint[TARN_TXN_ID_MAX + 1]; /* the transaction of the newest checkpoint, "" without one: what is older may be gone */
    int64_t checkpoint_ms;                /* modification of its document */
    int64_t naive;                        /* entries whose instant has no zone */
    struct tarn_suspects undated;         /* they tell an instant that is none */
    int64_t *taken;                 /* managed: numbers without an entry that no commit may have; owned, ascending */
    size_t taken_count;
    struct tarn_suspects misnamed;  /* the id inside is another than the file's name; note: the id inside */
    struct tarn_suspects twice;     /* an id that two entries have; note: their files */
};
const char *tarn_log_id(const struct tarn_log_facts *log, const struct tarn_log_entry *entry);
const char *tarn_log_file(const struct tarn_log_facts *log, const struct tarn_log_entry *entry);
/* "txn-12344" of a number, padded as the others are. */
void tarn_log_number_id(const struct tarn_log_facts *log, int64_t number, char out[TARN_TXN_ID_MAX + 24]);

/* A column that does not fit in some files, over all files looked at. */
struct tarn_drift_fact {
    enum tarn_drift_kind kind;
    char *column;            /* dotted, owned */
    char *possible_rename;   /* owned or NULL */
    char registered[64], found[64]; /* types as text, "" when there is none */
    bool severe;
    int64_t files;           /* that have it */
    int64_t newer_files;     /* of those: written after the schema version that brought the column */
    char *examples[3];       /* paths, owned */
};
/* A column without a single value in the newest files, told when there is at least one such file. */
struct tarn_null_fact {
    char *column;      /* owned */
    int64_t files;     /* the newest ones without a value, in a row */
    char *example;     /* the newest of them, owned */
};

/* Which folders were looked at. */
enum tarn_looked_kind {
    TARN_LOOKED_ONLY, /* those of the set */
    TARN_LOOKED_BUT   /* all but those of the set, and what lies below them */
};

/* What log and listing say is told again while they do not change: such a member is also named in manifest/facts_memo.c. */
struct tarn_facts {
    enum tarn_facts_state state;
    char why[512];              /* state or format at fault, one line */
    enum tarn_format format;
    bool managed;
    bool not_allowed;           /* unreachable: the location lies under no root any more */
    bool broke_off;             /* unreachable: the folder could be opened, and reading failed then */
    char *lost_root;            /* unreachable, and so is all below this root; owned, NULL: it is not the root's fault */
    enum tarn_block block;      /* managed: why it takes no commits */
    char *block_document;       /* of a foreign write; owned, NULL: not known */
    int64_t gathered_at;
    unsigned saw;               /* TARN_SAW_... */
    enum tarn_looked_kind looked;
    struct tarn_fileset looked_set; /* paths of folders */
    struct tarn_suspects unread;    /* folders that could not be read to their end; note: why */
    int64_t folders_read;           /* how often the names of one were read */
    bool files_known;               /* what is counted of the files below holds for the whole table */

    /* the table; -1 or NULL: not known */
    char *table;
    int64_t version, file_count, total_bytes, schema_version;
    int64_t rows;               /* of all files, where each entry tells */
    char *latest_transaction;
    char *partition_keys;       /* JSON array of names or NULL */
    const struct tarn_scan_row *before; /* what earlier scans left, borrowed; NULL: nothing */
    int64_t last_data_commit;   /* newest commit that changed data; of a table without a log its newest file */
    struct tarn_life life;
    int64_t life_maybe;         /* a commit that cannot be read, newer than that, may have brought data then; -1: none */
    int64_t born_at;            /* when the table was registered, -1: it is not */

    /* documents */
    enum tarn_doc_state pointer, manifest, schema;
    char manifest_why[512], pointer_why[512], schema_why[512];
    int64_t manifest_mtime_ms, pointer_mtime_ms; /* -1: absent */
    int64_t last_updated;       /* in the manifest, else its mtime; -1: no manifest */
    bool last_updated_missing, last_updated_naive, last_updated_bad;
    char *last_updated_text;    /* as written, owned or NULL */
    char *manifest_catalog, *manifest_uuid; /* the catalog and table that wrote it; owned, NULL: it tells none */
    char *manifest_transaction;             /* the newest one in it, as it says itself; owned, NULL: it tells none */
    bool schema_not_in_history;
    bool foreign_manifest;      /* managed: another manifest than the one that Tarn wrote last */
    bool foreign_schema;        /* managed: schema.json holds a version that the catalog does not know, or is an older one again */
    bool schema_lost;           /* managed: schema.json was written and is gone */
    bool pointer_differs;       /* managed: the pointer names another transaction than the one shown */
    bool publication_off;       /* managed: storage is not kept up to date, or shows nothing yet */
    int64_t behind_since;       /* managed: commit of the oldest version not shown, -1: storage shows everything */
    int64_t shown_version;      /* managed: what storage should show; else -1 */
    bool history_expired;       /* managed: older versions are no longer kept */
    char *pointer_id;           /* owned or NULL */
    struct tarn_log_facts log;

    /* data files */
    int64_t newest_data_ms;     /* newest modification, -1: none lies there */
    int64_t newest_listed_ms;   /* the same of those that the table has */
    char *newest_data_path;
    struct tarn_suspects duplicates, missing, sizes, unregistered, not_in_manifest, still_listed;
    struct tarn_fileset undecided; /* of the files asked about: listed or not against a word that can no longer be read */
    int64_t undecided_listed;      /* of those: that are listed */
    int64_t reclaimable_files, reclaimable_bytes; /* removed by a commit, still lying there */
    struct tarn_suspects leftovers, symlinks;
    struct tarn_suspects unexpected;    /* data of another format, listed or lying there */
    struct tarn_suspects metadata_missing, manifest_lists_missing; /* Iceberg: documents that readers open first */
    struct tarn_suspects metadata_newer; /* Iceberg: the last of those that follow the catalog's, more than one when they have one number */
    struct tarn_suspects invalid_paths; /* listed, but no path that a data file may have */
    struct tarn_fileset doubts; /* paths of the suspects so far that a writer at work would explain */

    /* what is told of the listed files (coverage.h); notes say what is wrong */
    struct tarn_suspects partition_drift, no_partition_values, no_column_stats;
    int64_t stats_files;        /* files that should have statistics; 0: not judged */
    struct tarn_suspects small_files; /* folders with many of them; observed: how many, expected: how many times the limit it may hold */
    int64_t small_files_most;   /* of all of these, its files by that */
    int64_t orphan_files, orphan_bytes; /* unregistered for longer than TARN_ORPHAN_MS */
    int64_t oldest_version;     /* managed: the oldest kept one, else -1 */

    /* footers */
    int64_t footers_read;
    struct tarn_fileset footer_paths; /* whose footer was read */
    struct tarn_fileset young_footers; /* which say nothing yet: the files are in the middle of being written */
    bool footers_but_young;           /* all but those were read */
    struct tarn_suspects corrupt, encrypted, footer_too_large;
    struct tarn_drift_fact *drifts;
    size_t drift_count;
    bool drifts_cut;            /* more kinds and columns than are kept */
    struct tarn_null_fact *nulls;
    size_t null_count;
    int64_t files_with_rows;    /* footers read that tell of rows */

    /* staging */
    int64_t staging_files, staging_bytes; /* staged and not merged; -1: there is no staging */
    int64_t staging_oldest_ms;            /* mtime of the oldest of them, -1: none */
    struct tarn_suspects running;         /* markers that say "running"; mtime: start */
    struct tarn_suspects unlinked;        /* completed batches that no transaction names */
    struct tarn_fileset unread_markers;   /* batches, by the names of markers that cannot be read */
    int64_t linked_batches;               /* managed: those that a commit applied */
    struct tarn_suspects duplicate_batches; /* applied by two commits that both count; note: "txn-7, txn-5" */
};
void tarn_facts_init(struct tarn_facts *facts); /* everything unknown */
void tarn_facts_done(struct tarn_facts *facts);
/* Was the folder of this file looked at, so that what is not told of it is not so? */
bool tarn_facts_looked_at(const struct tarn_facts *facts, const char *path);

/* Do the numbers run without design gaps? With eight ids or more at least half of the steps must be 1. */
bool tarn_log_is_dense(const struct tarn_log_facts *log);

/* --- gathering --- */

/* The schema with its past, for the age of columns. */
struct tarn_schema_past {
    const struct tarn_schema *current;      /* NULL: none registered */
    size_t count;
    const struct tarn_schema **versions;    /* oldest first; owned array, borrowed schemas */
    int64_t *since_ms;                      /* when each came; INT64_MIN: always; owned */
    struct tarn_schema_row *rows;           /* the same as texts, for mappings; owned, NULL: every file is of the current one */
};
void tarn_schema_past_done(struct tarn_schema_past *past);
/* How many versions a file's own one is behind the current one; 0 when that is not known. At most
 * TARN_BEHIND_MAX, which stands for more too. */
#define TARN_BEHIND_MAX 255
unsigned tarn_schema_past_behind(const struct tarn_schema_past *past, int64_t version);

/* `adopted`: it came before Tarn, and only committed_at is told. */
typedef tarn_code tarn_committed_fn(void *ctx, const char *id, const struct tarn_told_commit *told, bool adopted,
                                    struct tarn_err *err);
/* What the catalog says of a managed table. The walks are chains of short reads. */
struct tarn_facts_catalog {
    const struct tarn_table *table;
    const char *catalog_id;
    int64_t shown_version;      /* what storage should show, -1: publication is off */
    const char *shown_transaction; /* of that version, NULL: none */
    const struct tarn_publication *publication; /* NULL: nothing was published yet */
    int64_t behind_since;       /* commit of the oldest version that storage does not show, -1: none */
    int64_t published_schema;   /* the schema version that schema.json was written for last, 0: none */
    const struct tarn_life *life; /* of its commits */
    bool knows_all;             /* no commit is older than those that `life` is made of */
    int64_t shown_at;           /* when that version was committed, -1: before Tarn */
    bool history_expired;       /* older versions than the oldest one were kept once */
    tarn_code (*files)(void *ctx, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err);   /* live at shown_version */
    /* Of one folder ("": the top), not below it; and one file, none when it is not live. */
    tarn_code (*files_in)(void *ctx, const char *folder, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err);
    tarn_code (*file)(void *ctx, const char *path, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err);
    /* By any commit; with removed_version as long as a kept version has it. */
    tarn_code (*removed)(void *ctx, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err);
    tarn_code (*batches)(void *ctx, tarn_batch_fn *fn, void *fn_ctx, struct tarn_err *err); /* id, status, times, num_records, version */
    tarn_code (*commits)(void *ctx, tarn_committed_fn *fn, void *fn_ctx, struct tarn_err *err); /* shown ones */
    /* Does the entry of that version's commit say what the catalog knows of it? */
    tarn_code (*says_same)(void *ctx, int64_t version, const struct tarn_buf *text, bool *same, struct tarn_err *err);
    const struct tarn_schema_past *schemas;
    void *ctx;
};

struct tarn_recall; /* formats/recall.h */
struct tarn_facts_options {
    int64_t now_ms;
    bool sweep;                    /* everything; else what is new */
    int64_t unregistered_grace_ms; /* a file younger than this may still be registered */
    int64_t leftover_grace_ms;
    int64_t corrupt_grace_ms;      /* a file younger than this may be in the middle of being written */
    int64_t processed_grace_ms;    /* a batch that was completed since may still be committed */
    int64_t unexpected_grace_ms;   /* a file of another format that nobody lists may still go */
    int64_t small_files_least;     /* that a folder must exceed to be told; 0: none is */
    int64_t small_files_grace_ms;  /* a folder with a file younger than this is in use */
    const struct tarn_schema *schema;   /* instead of the one found there; NULL: none */
    const char *partition_keys;         /* JSON array, NULL: as found */
    const struct tarn_scan_row *before; /* NULL: nothing */
    const struct tarn_facts_catalog *catalog; /* NULL: observed */
    const atomic_bool *stops;           /* once true, gathering ends with TARN_OVERLOADED; NULL: never */
    const struct tarn_fileset *asked;   /* files of open findings: TARN_FILE_ADDED where the manifest lacked it, TARN_FILE_REMOVED
                                         * where it still listed it; NULL: none */
    const struct tarn_fileset *doubted; /* doubts of a look before: no others count any more; NULL: the first look */
    struct tarn_recall *recall;         /* of the last scan of the same table, for the next one; NULL: nothing is kept */
    bool full;                          /* a sweep reads every folder, changed or not */
    int64_t full_every_ms;              /* and every so often it does; 0: always */
    int64_t files_expected;             /* so many lay there when it was looked at last; 0: not known */
    int64_t last_data_known;            /* when data came last, by the last scan; for a probe that looks at no file; 0 or less: not known */
    int64_t revision;                   /* of the table's row: of what is given here besides */
    size_t footers_most;                /* of the newest files, for a sweep; 0: 5,000 */
    int64_t settled_ms;                 /* what changed later than that before it was read may change unnoticed; 0: 2 s */
};

/* Which format lies there: TARN_OK and *format, or TARN_NOT_FOUND when it is none. */
TARN_MUST tarn_code tarn_facts_detect(struct tarn_place *place, enum tarn_format *format, struct tarn_err *err);
/* Errors are storage's (the facts then say nothing) or a lack of memory. */
TARN_MUST tarn_code tarn_manifest_facts(struct tarn_place *place, const struct tarn_facts_options *options,
                                        struct tarn_facts *out, struct tarn_err *err);
TARN_MUST tarn_code tarn_parquet_dir_facts(struct tarn_place *place, const struct tarn_facts_options *options,
                                           struct tarn_facts *out, struct tarn_err *err);
/* By format. An error of storage becomes the state TARN_FACTS_UNREACHABLE; only a lack of memory fails. */
TARN_MUST tarn_code tarn_facts_gather(struct tarn_place *place, enum tarn_format format,
                                      const struct tarn_facts_options *options, struct tarn_facts *out,
                                      struct tarn_err *err);
#endif
