/* iceberg.h - Apache Iceberg table metadata, versions 1 to 3, as a value: read, written, checked and changed by pure
 * functions. No I/O, no clock: instants come in. Source: Iceberg table specification ("Table Metadata", "Schemas",
 * "Partitioning", "Sorting", "Snapshots") and REST specification (TableUpdate, TableRequirement).
 *
 * What is known has a member of its own; every member that is not known stays in the JSON object it came in (`doc`, `rest`)
 * and is written again, so that a newer writer's fields survive. Integers are int64 throughout, never doubles.
 *
 * Errors: TARN_INVALID (400) with the field or the reference's message; TARN_VERSION_CONFLICT (409) for a requirement that
 * fails and for what a client may try again after it read the table anew. */
#ifndef TARN_FORMATS_ICEBERG_H
#define TARN_FORMATS_ICEBERG_H
#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define TARN_ICEBERG_FORMAT_MIN 1
#define TARN_ICEBERG_FORMAT_MAX 3
#define TARN_ICEBERG_FORMAT_DEFAULT 2
#define TARN_ICEBERG_NONE INT64_C(-1)         /* no snapshot, no parent, nothing added yet */
#define TARN_ICEBERG_PARTITION_ID_FIRST 1000  /* ids of partition fields start here; an unpartitioned table's last one is 999 */

/* One schema: its JSON (ids inside) and what is asked of it often. */
struct tarn_iceberg_schema {
    int64_t id;
    json_t *doc;        /* owned: the struct with schema-id and identifier-field-ids */
};
struct tarn_iceberg_spec {
    int64_t id;
    json_t *doc;        /* owned: {"spec-id", "fields":[{"source-id","field-id","name","transform"}]} */
};
struct tarn_iceberg_order {
    int64_t id;
    json_t *doc;        /* owned: {"order-id", "fields":[...]} */
};
struct tarn_iceberg_snapshot {
    int64_t id, parent_id;     /* parent_id: TARN_ICEBERG_NONE */
    int64_t sequence_number;   /* 0 in version 1 */
    int64_t timestamp_ms;
    int64_t first_row_id, added_rows; /* -1: absent */
    bool is_replace;           /* its operation is "replace": data was moved, none came */
    char *manifest_list;       /* owned; NULL: version 1, which may have "manifests" instead */
    char *text;                /* owned: the whole object, JSON in one line */
};
struct tarn_iceberg_ref {
    char *name;                /* owned */
    int64_t snapshot_id;
    bool is_tag;
    json_t *doc;               /* owned: type, snapshot-id, retention members */
};
/* Entries of logs, of which there may be ten thousand. `more`, owned: the whole object where it has other members too, else NULL. */
struct tarn_iceberg_log_entry { int64_t timestamp_ms, snapshot_id; json_t *more; }; /* snapshot-log */
struct tarn_iceberg_file_entry { int64_t timestamp_ms; char *file; json_t *more; };  /* metadata-log; file owned */
/* statistics, partition-statistics: by snapshot; encryption-keys: by key-id. The whole object stays. */

#define TARN_ICEBERG_LIST(type) struct { type *items; size_t count, cap; }

struct tarn_iceberg_meta {
    int64_t format_version;
    char *uuid;                /* NULL: version 1 without one */
    char *location;
    int64_t last_sequence_number, last_updated_ms, last_column_id, last_partition_id;
    int64_t current_schema_id, default_spec_id, default_order_id;
    int64_t current_snapshot_id; /* TARN_ICEBERG_NONE: the document says -1, null or nothing */
    int64_t next_row_id;       /* version 3; else -1 */
    TARN_ICEBERG_LIST(struct tarn_iceberg_schema) schemas;
    TARN_ICEBERG_LIST(struct tarn_iceberg_spec) specs;
    TARN_ICEBERG_LIST(struct tarn_iceberg_order) orders;
    TARN_ICEBERG_LIST(struct tarn_iceberg_snapshot) snapshots; /* in the order of the document */
    TARN_ICEBERG_LIST(struct tarn_iceberg_ref) refs;
    TARN_ICEBERG_LIST(struct tarn_iceberg_log_entry) snapshot_log;
    TARN_ICEBERG_LIST(struct tarn_iceberg_file_entry) metadata_log;
    json_t *properties;        /* owned object, values text */
    json_t *statistics, *partition_statistics, *encryption_keys; /* owned arrays */
    json_t *rest;              /* owned object: members of the document that are none of these */
};
void tarn_iceberg_free(struct tarn_iceberg_meta *meta);
/* About how many bytes of memory the value of a document of `len` bytes takes. */
size_t tarn_iceberg_weight(const struct tarn_iceberg_meta *meta, size_t len);
TARN_DEFINE_AUTO(iceberg, struct tarn_iceberg_meta) /* TARN_AUTO(iceberg) struct tarn_iceberg_meta *m = NULL; */

/* --- read.c, write.c --- */
/* Of any version; fallbacks of the specification for version 1 (schema, partition-spec), missing refs, missing sort orders.
 * What the reference's constructor refuses is refused (check.c). TARN_INVALID names the member. */
TARN_MUST tarn_code tarn_iceberg_parse(const char *text, size_t len, struct tarn_iceberg_meta **out, struct tarn_err *err);
enum tarn_iceberg_form {
    TARN_ICEBERG_ALL,
    TARN_ICEBERG_REFS /* only the snapshots that a ref names; logs untouched */
};
/* Appends the document, one line. */
TARN_MUST tarn_code tarn_iceberg_write(const struct tarn_iceberg_meta *meta, enum tarn_iceberg_form form,
                                       struct tarn_buf *out, struct tarn_err *err);
/* Both forms in place of what the buffers hold; `refs` stays empty where it is the same. */
TARN_MUST tarn_code tarn_iceberg_write_forms(const struct tarn_iceberg_meta *meta, struct tarn_buf *all, struct tarn_buf *refs,
                                             struct tarn_err *err);

/* --- looking things up; NULL: there is none --- */
const struct tarn_iceberg_schema *tarn_iceberg_schema_of(const struct tarn_iceberg_meta *meta, int64_t id);
const struct tarn_iceberg_spec *tarn_iceberg_spec_of(const struct tarn_iceberg_meta *meta, int64_t id);
const struct tarn_iceberg_order *tarn_iceberg_order_of(const struct tarn_iceberg_meta *meta, int64_t id);
const struct tarn_iceberg_snapshot *tarn_iceberg_snapshot_of(const struct tarn_iceberg_meta *meta, int64_t id);
const struct tarn_iceberg_ref *tarn_iceberg_ref_of(const struct tarn_iceberg_meta *meta, const char *name);
/* The whole object, parsed; owned. NULL: no memory, or no snapshot. */
json_t *tarn_iceberg_snapshot_tree(const struct tarn_iceberg_snapshot *snapshot);
const char *tarn_iceberg_property(const struct tarn_iceberg_meta *meta, const char *key);

/* --- create.c: POST .../tables --- */
struct tarn_iceberg_create {
    const json_t *schema;        /* ids are given anew from 1; required */
    const json_t *spec, *order;  /* NULL: unpartitioned, unsorted; bound by name through the given ids */
    const json_t *properties;    /* NULL: none; reserved ones are taken out, format-version chooses the version */
    const char *location;        /* without a trailing slash */
    const char *uuid;
    int64_t now_ms;
};
TARN_MUST tarn_code tarn_iceberg_create(const struct tarn_iceberg_create *ask, struct tarn_iceberg_meta **out,
                                        struct tarn_err *err);

/* --- requirements.c: one table of them --- */
/* All of them against `base` (NULL: the table does not exist). *creates: one is assert-create; then any other one is
 * TARN_INVALID. Failures: TARN_VERSION_CONFLICT with the reference's text ("Requirement failed: ..."). An unknown type is
 * TARN_INVALID; `requirements` NULL: none. */
TARN_MUST tarn_code tarn_iceberg_require(const struct tarn_iceberg_meta *base, const json_t *requirements, bool *creates,
                                         struct tarn_err *err);

/* --- updates.c: one table of them, one small function each --- */
struct tarn_iceberg_change {
    int64_t now_ms;
    const char *base_file;       /* metadata file of what is changed, for metadata-log; NULL: a create */
};
/* Applies the updates in order to *meta and finishes it: logs, last-updated-ms, all validations of build(). *changed false:
 * nothing was to be done, write nothing. After an error *meta is of no use. For a create *meta is tarn_iceberg_empty. */
TARN_MUST tarn_code tarn_iceberg_update(struct tarn_iceberg_meta *meta, const json_t *updates,
                                        const struct tarn_iceberg_change *change, bool *changed, struct tarn_err *err);
/* What a create by assert-create starts from: no schema, version by the first upgrade-format-version (default 2). */
TARN_MUST tarn_code tarn_iceberg_empty(const json_t *updates, struct tarn_iceberg_meta **out, struct tarn_err *err);

/* --- check.c --- */
/* What must hold of every document (TableMetadata's constructor and build()). */
TARN_MUST tarn_code tarn_iceberg_check(const struct tarn_iceberg_meta *meta, struct tarn_err *err);

/* --- offered.c --- */
/* What must hold besides of one that another writer made: every part, of what is past too, is one that readers open. */
TARN_MUST tarn_code tarn_iceberg_check_offered(const struct tarn_iceberg_meta *meta, struct tarn_err *err);

/* --- names.c: metadata files --- */
/* What the last part of its path begins with, before a dash: it rises with each commit. -1: no number. */
int64_t tarn_iceberg_file_number(const char *file);
#define TARN_ICEBERG_NUMBER_END INT64_C(1000000000) /* from there on it was not counted up: the next one is 0 */
/* Is it the name of a metadata file as catalogs give it: NNNNN-<uuid>.metadata.json, packed or not? File-system catalogs write
 * vN.metadata.json: which of those is a table's newest another file tells. */
bool tarn_iceberg_is_file_name(const char *name);
/* Where its next metadata file goes: write.metadata.path or <location>/metadata. Owned; NULL: no memory. */
char *tarn_iceberg_folder(const struct tarn_iceberg_meta *meta);
/* "00003-<uuid>.metadata.json" after `base_file` (NULL: 00000), ".gz" before ".metadata" when write.metadata.compression-codec
 * is gzip. Owned; in the folder above. TARN_INTERNAL: out of memory. */
TARN_MUST tarn_code tarn_iceberg_file_name(const struct tarn_iceberg_meta *meta, const char *base_file, const char *uuid,
                                           char **out, struct tarn_err *err);

/* --- summary.c: what the catalog's row and the monitors say of it --- */
struct tarn_iceberg_summary {
    int64_t snapshot_id;         /* TARN_ICEBERG_NONE */
    int64_t files, bytes, records, delete_files; /* of the current snapshot's summary; -1: not told */
    int64_t last_data_change_ms; /* newest snapshot of main that is append, overwrite or delete; -1: none */
    int64_t schema_id;
    int64_t snapshots;           /* how many */
};
void tarn_iceberg_summarise(const struct tarn_iceberg_meta *meta, struct tarn_iceberg_summary *out);
/* Names of the default spec's fields, void ones left out; JSON array, owned. */
TARN_MUST tarn_code tarn_iceberg_partition_keys(const struct tarn_iceberg_meta *meta, char **out, struct tarn_err *err);
#endif
