/* iceberg.h - the Iceberg REST face: its handlers and flows, one block a file, for the route table (api/routes.c). Source: the
 * REST catalog specification of Apache Iceberg (open-api/rest-catalog-open-api.yaml); types and texts of errors are the
 * reference's, which clients compare. */
#ifndef TARN_API_ICEBERG_H
#define TARN_API_ICEBERG_H
#include "api/http.h"
#include "lake/iceberg.h"

/* --- names.c --- */
#define TARN_ICEBERG_SEPARATOR '\x1f' /* between levels of a namespace in a path and in `parent` */
/* Decoded text with separators to a canonical namespace; TARN_INVALID. */
TARN_MUST tarn_code tarn_iceberg_namespace(const char *text, const char *field, char out[TARN_NAMESPACE_MAX + 1],
                                           struct tarn_err *err);
/* The {namespace} of the path, with the principal's eyes: TARN_NAMESPACE_NOT_FOUND. */
TARN_MUST tarn_code tarn_iceberg_path_namespace(const struct tarn_request *req, char out[TARN_NAMESPACE_MAX + 1],
                                                struct tarn_err *err);
/* {namespace} and {table} or {view}; a name that the token may not see is `hidden` (TARN_TABLE_NOT_FOUND, TARN_VIEW_NOT_FOUND). */
TARN_MUST tarn_code tarn_iceberg_path_ident(const struct tarn_request *req, tarn_code hidden, struct tarn_ident *out,
                                            struct tarn_err *err);
/* Of what is to be made: {namespace} of the path, "name" of the body. TARN_FORBIDDEN when the token reaches no `kind` ("views")
 * of that name. */
TARN_MUST tarn_code tarn_iceberg_new_ident(const struct tarn_request *req, const char *kind, struct tarn_ident *out,
                                           struct tarn_err *err);
/* {"namespace":[...],"name":"..."} of a body. */
TARN_MUST tarn_code tarn_iceberg_body_ident(const struct tarn_request *req, const json_t *identifier, const char *field,
                                            tarn_code hidden, struct tarn_ident *out, struct tarn_err *err);
void tarn_iceberg_write_identifier(struct tarn_jsonw *w, const char *namespace_, const char *name);
struct tarn_iceberg_who tarn_iceberg_who_of(const struct tarn_request *req);

#define TARN_ICEBERG_MARK 9 /* bytes of what marks the tokens of one list, with the NUL */
void tarn_iceberg_mark(const struct tarn_request *req, char out[TARN_ICEBERG_MARK]);
char *tarn_iceberg_token(const char *mark, const char *after); /* what a page token holds; owned, NULL: no memory */
/* pageSize and pageToken; without a size, or with an empty token alone, everything comes. */
struct tarn_page;
TARN_MUST tarn_code tarn_iceberg_page(const struct tarn_request *req, struct tarn_page *out, struct tarn_err *err);

/* --- errors.c --- */
/* {"error":{"message","type","code"}}; never fails. */
void tarn_iceberg_reply_error(struct tarn_reply *reply, const struct tarn_request *req, const struct tarn_err *err);

/* --- texts.c --- */
/* The reference's words for this code and request; false: the error's own detail says it best. */
bool tarn_iceberg_say(const struct tarn_request *req, tarn_code code, char *out, size_t size);

/* --- answers.c --- */
#define TARN_ICEBERG_CACHING "private, no-cache" /* for the client alone, which asks with the tag whether it still holds */
/* One document of a table, and what was told of it. A file that is registered again under its name may say something else: its
 * name alone tells nothing. Of a view the two numbers are 0. */
struct tarn_iceberg_shown { int64_t table_id, version; const char *location; };
/* LoadTableResult with its ETag; location NULL: staged. `config` may be NULL. */
TARN_MUST tarn_code tarn_iceberg_answer_table(struct tarn_reply *reply, const struct tarn_iceberg_shown *shown, const char *metadata,
                                              size_t len, enum tarn_iceberg_form form, struct tarn_err *err);
/* The headers ETag and Cache-Control. */
void tarn_iceberg_answer_tag(struct tarn_reply *reply, const struct tarn_iceberg_shown *shown, enum tarn_iceberg_form form);
/* The tag of the document in this form. */
void tarn_iceberg_etag(const struct tarn_iceberg_shown *shown, enum tarn_iceberg_form form, char out[40]);
/* As one text and back, whose location points into it. */
TARN_MUST tarn_code tarn_iceberg_shown_print(const struct tarn_iceberg_shown *shown, struct tarn_buf *out, struct tarn_err *err);
struct tarn_iceberg_shown tarn_iceberg_shown_read(const char *text);

/* --- config.c --- */
tarn_handler_fn tarn_iceberg_config; /* handle */
/* --- oauth.c --- */
tarn_handler_fn tarn_iceberg_oauth_token; /* handle */
void tarn_iceberg_reply_oauth_error(struct tarn_reply *reply, const struct tarn_err *err); /* never fails */
/* The fault as one sentence: these forms have no member for the field, which other details stand beside ("must be text"). */
#define TARN_ICEBERG_DETAIL_MAX (sizeof(((struct tarn_err *)0)->field) + sizeof(((struct tarn_err *)0)->detail))
const char *tarn_iceberg_detail(const struct tarn_err *err, char out[TARN_ICEBERG_DETAIL_MAX]);
/* --- namespaces.c --- */
tarn_handler_fn tarn_iceberg_namespaces_list; /* work */
tarn_handler_fn tarn_iceberg_namespace_get, tarn_iceberg_namespace_exists; /* handle */
extern const struct tarn_flow tarn_iceberg_namespace_create, tarn_iceberg_namespace_drop, tarn_iceberg_namespace_properties;
/* --- tables.c, table_load.c, table_change.c --- */
tarn_handler_fn tarn_iceberg_tables_list, tarn_iceberg_table_load; /* work */
tarn_handler_fn tarn_iceberg_table_recall, tarn_iceberg_table_exists; /* handle */
/* The table as it is, without looking at its file: a commit that is answered again. */
TARN_MUST tarn_code tarn_iceberg_answer_present(const struct tarn_request *req, const struct tarn_ident *ident,
                                                struct tarn_reply *reply, struct tarn_err *err);
extern const struct tarn_flow tarn_iceberg_table_post, tarn_iceberg_table_register, tarn_iceberg_table_commit,
    tarn_iceberg_table_drop, tarn_iceberg_table_rename, tarn_iceberg_transaction;
tarn_handler_fn tarn_iceberg_named_again, tarn_iceberg_commit_again; /* of a request that comes again under its key */
bool tarn_iceberg_is_staged(const void *use);
/* --- reports.c --- */
extern const struct tarn_flow tarn_iceberg_metrics_report;
/* --- views.c --- */
tarn_handler_fn tarn_iceberg_views_list, tarn_iceberg_view_load; /* work */
tarn_handler_fn tarn_iceberg_view_exists; /* handle */
tarn_handler_fn tarn_iceberg_view_again;
extern const struct tarn_flow tarn_iceberg_view_post, tarn_iceberg_view_register, tarn_iceberg_view_replace,
    tarn_iceberg_view_rename, tarn_iceberg_view_drop;
#endif
