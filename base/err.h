/* err.h - the one error type. A fallible function returns tarn_code and takes
 * `struct tarn_err *err` last; *err is written only on failure, once, where the
 * fault is known, and never overwritten on the way up. Library code never logs. */
#ifndef TARN_BASE_ERR_H
#define TARN_BASE_ERR_H
#include <jansson.h>

/* code                          http  slug                       title
 * The slug is the `code` member of an answer and the end of its `type` /problems/<slug>. */
#define TARN_CODES(X)                                                                              \
    X(TARN_OK,                      200, "ok",                      "Done")                        \
    X(TARN_INVALID,                 400, "invalid_request",         "The request is not valid")    \
    X(TARN_UNAUTHORIZED,            401, "unauthorized",            "A valid token is needed")     \
    X(TARN_FORBIDDEN,               403, "forbidden",               "The token does not allow this") \
    X(TARN_LOCATION_NOT_ALLOWED,    403, "location_not_allowed",    "The location lies outside the storage roots") \
    X(TARN_NOT_FOUND,               404, "not_found",               "There is nothing here")       \
    X(TARN_TABLE_NOT_FOUND,         404, "table_not_found",         "The table does not exist")    \
    X(TARN_TRANSACTION_NOT_FOUND,   404, "transaction_not_found",   "The transaction does not exist") \
    X(TARN_SCHEMA_VERSION_NOT_FOUND,404, "schema_version_not_found","The schema version does not exist") \
    X(TARN_VERSION_NOT_FOUND,       404, "version_not_found",       "The version does not exist")  \
    X(TARN_VERSION_EXPIRED,         404, "version_expired",         "The version is no longer kept") \
    X(TARN_NAMESPACE_NOT_FOUND,     404, "namespace_not_found",     "The namespace does not exist") \
    X(TARN_VIEW_NOT_FOUND,          404, "view_not_found",          "The view does not exist")     \
    X(TARN_METHOD_NOT_ALLOWED,      405, "method_not_allowed",      "The method does not exist here") \
    X(TARN_TABLE_EXISTS,            409, "table_exists",            "The name is taken")           \
    X(TARN_VIEW_EXISTS,             409, "view_exists",             "A view has the name")         \
    X(TARN_UUID_TAKEN,              409, "uuid_taken",              "Another table has the uuid")  \
    X(TARN_NAMESPACE_EXISTS,        409, "namespace_exists",        "The namespace exists")        \
    X(TARN_VERSION_CONFLICT,        409, "version_conflict",        "Another commit came first")   \
    X(TARN_TRANSACTION_EXISTS,      409, "transaction_exists",      "The transaction id is used with another body") \
    X(TARN_TRANSACTION_ROLLED_BACK, 409, "transaction_rolled_back", "The transaction was rolled back since") \
    X(TARN_BATCH_COMPLETED,         409, "batch_completed",         "The batch is already applied") \
    X(TARN_BATCH_MISMATCH,          409, "batch_mismatch",          "The batch has another size")  \
    X(TARN_FILE_CONFLICT,           409, "file_conflict",           "A file is not in the state the commit needs") \
    X(TARN_SCHEMA_CONFLICT,         409, "schema_conflict",         "Another schema version came first") \
    X(TARN_NAMESPACE_NOT_EMPTY,     409, "namespace_not_empty",     "The namespace still has tables") \
    X(TARN_TABLE_PROTECTED,         409, "table_protected",         "The table is protected")      \
    X(TARN_TABLE_NOT_MANAGED,       409, "table_not_managed",       "This table's commits do not come over this API") \
    X(TARN_TABLE_NOT_POINTED,       409, "table_not_pointed",       "The table has no metadata pointer") \
    X(TARN_LOCATION_TAKEN,          409, "location_taken",          "Another table owns the location") \
    X(TARN_LOCATION_NOT_EMPTY,      409, "location_not_empty",      "The location holds files that are in no manifest") \
    X(TARN_ADOPTION_CONFLICT,       409, "adoption_conflict",       "Manifest and log disagree")   \
    X(TARN_FOREIGN_WRITE,           409, "foreign_write",           "Someone else wrote the table's documents") \
    X(TARN_STORAGE_AHEAD,           409, "storage_ahead",           "Storage knows commits that the catalog lost") \
    X(TARN_EVENTS_EXPIRED,          410, "events_expired",          "The events are no longer kept") \
    X(TARN_PRECONDITION_FAILED,     412, "precondition_failed",     "The table changed since")     \
    X(TARN_PAYLOAD_TOO_LARGE,       413, "payload_too_large",       "The body is too large")       \
    X(TARN_URI_TOO_LONG,            414, "uri_too_long",            "The address is too long")     \
    X(TARN_UNSUPPORTED_MEDIA_TYPE,  415, "unsupported_media_type",  "The body must be JSON")       \
    X(TARN_INCOMPATIBLE_SCHEMA,     422, "incompatible_schema",     "The schema does not fit")     \
    X(TARN_VERIFICATION_FAILED,     422, "verification_failed",     "A file is not what the commit says") \
    X(TARN_SNAPSHOT_INCOMPLETE,     422, "snapshot_incomplete",     "Files of the snapshot are gone") \
    X(TARN_LOCATION_UNREACHABLE,    422, "location_unreachable",    "The location cannot be read") \
    X(TARN_RATE_LIMITED,            429, "rate_limited",            "Too many requests")           \
    X(TARN_HEADERS_TOO_LARGE,       431, "headers_too_large",       "The headers are too large")   \
    X(TARN_INTERNAL,                500, "internal",                "A fault in Tarn")             \
    X(TARN_COMMIT_STATE_UNKNOWN,    500, "commit_state_unknown",    "The outcome is not known")    \
    X(TARN_OVERLOADED,              503, "overloaded",              "Too much is waiting")         \
    X(TARN_STORAGE_UNAVAILABLE,     503, "storage_unavailable",     "Storage does not answer")     \
    X(TARN_INSUFFICIENT_STORAGE,    507, "insufficient_storage",    "No space is left")            \
    /* Never leave the process: */                                                                 \
    X(TARN_RECHECK,                 500, "recheck",                 "What the check relied on changed") \
    X(TARN_BUSY,                    503, "busy",                    "The database is locked")

typedef enum tarn_code {
#define X(code, http, slug, title) code,
    TARN_CODES(X)
#undef X
    TARN_CODES_END
} tarn_code;

/* The fault, owned by whoever declares it. Zero-initialise; end with
 * tarn_err_done, or declare it by TARN_ERR(name). */
struct tarn_err {
    tarn_code code;
    char field[256];  /* JSON path ("operations[0].path") or query parameter at fault, "" if none */
    char detail[512]; /* one line for the client: no secret, no SQL */
    json_t *more;     /* owned: further members of the answer (current_version, path, ...), or NULL */
};

#define TARN_MUST __attribute__((warn_unused_result))
#define TARN_PRINTF(f, a) __attribute__((format(printf, f, a)))
/* On with it or out, with its code: where many steps stand in a row, as in readers of documents. */
#define TARN_TRY(call)                                                                             \
    do {                                                                                           \
        tarn_code tarn_try_ = (call);                                                              \
        if (tarn_try_ != TARN_OK)                                                                  \
            return tarn_try_;                                                                      \
    } while (0)
#define TARN_ERR(name) __attribute__((cleanup(tarn_err_done))) struct tarn_err name = { 0 }

/* Fill *err (may be NULL) and hand the code back: return tarn_fail(err, ...).
 * What *err held before is released. */
tarn_code tarn_fail(struct tarn_err *err, tarn_code code, const char *fmt, ...) TARN_PRINTF(3, 4);
/* TARN_INVALID with the field at fault; `field` is cut at 255 bytes on a character boundary. */
tarn_code tarn_fail_field(struct tarn_err *err, const char *field, const char *fmt, ...)
    TARN_PRINTF(3, 4);
/* The same with another code. */
tarn_code tarn_fail_code_field(struct tarn_err *err, tarn_code code, const char *field,
                               const char *fmt, ...) TARN_PRINTF(4, 5);
tarn_code tarn_fail_oom(struct tarn_err *err);
/* Add a member to the answer; `value` is stolen, NULL is ignored. Returns err->code. */
tarn_code tarn_err_add(struct tarn_err *err, const char *key, json_t *value);
/* Put `prefix` before err->field: "path" becomes "operations[0].path". Returns err->code. */
tarn_code tarn_err_prefix(struct tarn_err *err, const char *fmt, ...) TARN_PRINTF(2, 3);
/* Move *from into *to (which may be NULL); *from is empty afterwards. Returns the code. */
tarn_code tarn_err_move(struct tarn_err *to, struct tarn_err *from);
void tarn_err_done(struct tarn_err *err);

unsigned tarn_code_http(tarn_code code);
const char *tarn_code_slug(tarn_code code);
const char *tarn_code_title(tarn_code code);
/* A sentence or two on what happened and what helps: the text of /problems/<slug>. */
const char *tarn_code_explanation(tarn_code code);
#endif
