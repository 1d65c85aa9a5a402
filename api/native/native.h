/* native.h - the handlers and flows of the native face, one block a file, for the route table
 * (api/routes.c). Each: parse, one use case or read, answer. */
#ifndef TARN_API_NATIVE_NATIVE_H
#define TARN_API_NATIVE_NATIVE_H
#include "api/http.h"

/* health.c */
tarn_handler_fn tarn_native_health, tarn_native_ready; /* handle */
/* api/metrics/scrape.c */
tarn_handler_fn tarn_native_metrics; /* work */
/* openapi.c */
tarn_handler_fn tarn_native_openapi; /* handle */
/* problems.c */
tarn_handler_fn tarn_native_problem_page; /* handle */

/* tables.c, table_change.c, tables_list.c; query of the list:
 * namespace format mode prefix state page_size page_token */
extern const struct tarn_flow tarn_native_table_register; /* POST /api/tables */
extern const struct tarn_flow tarn_native_table_patch;    /* PATCH /api/table/{table} */
extern const struct tarn_flow tarn_native_table_drop;     /* DELETE, no body */
extern const struct tarn_flow tarn_native_table_restore;  /* POST .../restore, body optional */
tarn_handler_fn tarn_native_tables_list; /* work */
tarn_handler_fn tarn_native_table_get;   /* handle */
/* The {table} of the request as it lives; of an observed one
 * with its last scan (zeroed when there is none, else owned). */
struct tarn_table_seen { struct tarn_table *table; struct tarn_scan_row scan; bool has_scan; };
TARN_MUST tarn_code tarn_native_table_find(const struct tarn_request *req, struct tarn_table_seen *out,
                                           struct tarn_err *err);
/* 200 with the table and its ETag. */
TARN_MUST tarn_code tarn_native_answer_table(const struct tarn_table *table, struct tarn_reply *reply,
                                             struct tarn_err *err);
void tarn_table_seen_done(struct tarn_table_seen *seen);
/* table_write.c: a table as GET shows it; `scan` (of an observed table) may be NULL. */
void tarn_native_table_members(struct tarn_jsonw *w, const struct tarn_table *table,
                               const struct tarn_scan_row *scan);
void tarn_native_table_write(struct tarn_jsonw *w, const struct tarn_table *table,
                             const struct tarn_scan_row *scan);

/* commits.c, history.c, entry.c; query of the list: page_size page_token */
extern const struct tarn_flow tarn_native_commit; /* POST .../commits */
struct tarn_commit_use;
void tarn_native_commit_write(struct tarn_jsonw *w, const struct tarn_commit_use *use); /* as it is answered */
/* Table, lake and what a replay is known by. */
TARN_MUST tarn_code tarn_native_commit_begin(const struct tarn_request *req, struct tarn_commit_use *use,
                                             struct tarn_err *err);
/* rollback.c */
extern const struct tarn_flow tarn_native_rollback; /* POST .../rollback */
/* The Idempotency-Key of the request, NULL without one. */
TARN_MUST tarn_code tarn_native_key(const struct tarn_request *req, const char **out, struct tarn_err *err);

tarn_handler_fn tarn_native_commits_list;         /* work */
tarn_handler_fn tarn_native_commit_get;           /* work: .../commits/{transaction} */

/* pointer.c */
extern const struct tarn_flow tarn_native_pointer; /* PUT .../pointer */

/* namespaces.c; query of the list: page_size page_token */
tarn_handler_fn tarn_native_namespaces_list; /* work */
tarn_handler_fn tarn_native_namespace_get;   /* handle */
extern const struct tarn_flow tarn_native_namespace_add, tarn_native_namespace_change,
    tarn_native_namespace_remove;

/* events.c; query: after wait limit */
tarn_handler_fn tarn_native_events; /* work */

/* transactions.c */
extern const struct tarn_flow tarn_native_transaction; /* POST /api/transactions */
/* batches.c; query of the list: status prefix page_size page_token */
extern const struct tarn_flow tarn_native_batch_tell; /* POST .../batches */
tarn_handler_fn tarn_native_batches_list;             /* work */

/* manifest.c; query: version */
tarn_handler_fn tarn_native_manifest_get; /* work */

/* files.c; query: version transaction as_of partition.* at_least.* at_most.* equals.* page_size page_token */
tarn_handler_fn tarn_native_files_list; /* work */

/* reclaimable.c */
tarn_handler_fn tarn_native_reclaimable_list; /* work */

/* schemas.c */
extern const struct tarn_flow tarn_native_schema_add; /* POST .../schemas */
tarn_handler_fn tarn_native_schemas_list;             /* work */
tarn_handler_fn tarn_native_schema_get;               /* handle: .../schemas/{n} */
tarn_handler_fn tarn_native_schema_mapping;           /* work: .../schemas/{n}/mapping */

/* status.c: handle; check.c: a flow; status_list.c: work; query of it: status severity namespace
 * format page_size page_token */
tarn_handler_fn tarn_native_status_get, tarn_native_status_list;
/* findings.c: work, query: state page_size page_token; acknowledge.c: .../findings/{id}/ack and accept */
tarn_handler_fn tarn_native_findings_list;
extern const struct tarn_flow tarn_native_finding_ack, tarn_native_finding_unack, tarn_native_finding_accept,
    tarn_native_finding_unaccept;
extern const struct tarn_flow tarn_native_check; /* POST .../check; query: depth */

/* discover.c */
tarn_handler_fn tarn_native_discover; /* work */
/* repair.c */
extern const struct tarn_flow tarn_native_repair, tarn_native_recover; /* POST .../repair */

/* samples.c; query: metric from to step page_size page_token */
tarn_handler_fn tarn_native_samples_list; /* work: .../history */
/* silences.c; query of the list: state page_size page_token */
tarn_handler_fn tarn_native_silences_list; /* work */
tarn_handler_fn tarn_native_silence_get;   /* handle */
extern const struct tarn_flow tarn_native_silence_add, tarn_native_silence_remove;

/* tokens.c */
tarn_handler_fn tarn_native_tokens_list; /* handle */
extern const struct tarn_flow tarn_native_tokens_create, tarn_native_tokens_revoke;
/* backup.c */
tarn_handler_fn tarn_native_backup; /* work */
/* --- reports.c --- */
tarn_handler_fn tarn_native_reports_list; /* work */
#endif
