/* native.h - the handlers of /api that act on tables, for the route table. Each: parse, one use case, answer. */
#ifndef TARN_API_NATIVE_H
#define TARN_API_NATIVE_H
#include "api/http.h"

/* tables.c; query of the list: namespace format mode prefix state page_size page_token */
extern const struct tarn_flow tarn_native_table_register; /* POST /api/tables */
extern const struct tarn_flow tarn_native_table_patch;    /* PATCH /api/table/{table} */
extern const struct tarn_flow tarn_native_table_drop;     /* DELETE, no body */
extern const struct tarn_flow tarn_native_table_restore;  /* POST .../restore, body optional */
tarn_handler_fn tarn_native_tables_list; /* work */
tarn_handler_fn tarn_native_table_get;   /* handle */

/* commits.c; query of the list: page_size page_token */
extern const struct tarn_flow tarn_native_commit; /* POST .../commits */
tarn_handler_fn tarn_native_commits_list;         /* work */
tarn_handler_fn tarn_native_commit_get;           /* work: .../commits/{transaction} */

/* manifest.c */
tarn_handler_fn tarn_native_manifest_get; /* work */

/* files.c; query: page_size page_token partition.* */
tarn_handler_fn tarn_native_files_list; /* work */

/* schemas.c */
extern const struct tarn_flow tarn_native_schema_add; /* POST .../schemas */
tarn_handler_fn tarn_native_schemas_list;             /* work */
tarn_handler_fn tarn_native_schema_get;               /* handle: .../schemas/{n} */

/* A table as GET shows it, appended to `out`. */
void tarn_native_table_write(struct tarn_buf *out, const struct tarn_table *table);
#endif
