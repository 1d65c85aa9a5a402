/* err_explain.c - what each error means and what helps, for the pages /problems/<slug>. Apart from err.h,
 * since it is prose that only that page shows. */
#include "base/err.h"

static const char *const k_explanations[] = {
    [TARN_OK] = "Nothing went wrong.",
    [TARN_INVALID] = "The request cannot be understood. `field` names the member or query parameter at fault and "
                     "`detail` says what it must be; sending the same request again gives the same answer.",
    [TARN_UNAUTHORIZED] = "The request carries no token, or one that is unknown, revoked or expired. Send "
                          "`Authorization: Bearer <token>`; `tarn token create` makes one.",
    [TARN_FORBIDDEN] = "The token is good, but its scope does not cover this request. An administrator can make one "
                       "with a wider scope.",
    [TARN_LOCATION_NOT_ALLOWED] = "Tarn only touches storage under its configured roots (`--root`), and a token may "
                                  "be narrowed further. Choose another location, or add a root.",
    [TARN_NOT_FOUND] = "The address names nothing that exists, or nothing that this token may see.",
    [TARN_TABLE_NOT_FOUND] = "No live table has that name, or the token may not see it. `GET /api/tables` lists what "
                             "there is; `?state=dropped` lists tables that can be restored.",
    [TARN_TRANSACTION_NOT_FOUND] = "The table's history has no transaction of that id.",
    [TARN_SCHEMA_VERSION_NOT_FOUND] = "The table has no schema version of that number; `GET .../schemas` lists them.",
    [TARN_VERSION_NOT_FOUND] = "The table never had that version in Tarn. Versions from before an adoption cannot be "
                               "read.",
    [TARN_VERSION_EXPIRED] = "The version existed but is older than the history that is kept; `oldest_version` is "
                             "the oldest one that can be read.",
    [TARN_NAMESPACE_NOT_FOUND] = "No namespace has that name. Namespaces come into being with their first table.",
    [TARN_VIEW_NOT_FOUND] = "No view has that name, or the token may not see it.",
    [TARN_METHOD_NOT_ALLOWED] = "The address exists but not with this method; the `Allow` header lists those that do.",
    [TARN_TABLE_EXISTS] = "Another table of the namespace has the name, whatever its format. Choose another name, or "
                          "drop or rename that table first.",
    [TARN_VIEW_EXISTS] = "A view of the namespace has the name: tables and views share their names. Choose another one, or "
                         "drop or rename the view first.",
    [TARN_UUID_TAKEN] = "Another table of the catalog has the uuid that the table's metadata names, as when the metadata of a copy is "
                        "registered. Two tables are two uuids: give the copy one of its own, or drop or rename the other table.",
    [TARN_NAMESPACE_EXISTS] = "A namespace of that name exists. `PATCH` changes its settings.",
    [TARN_VERSION_CONFLICT] = "Another commit was made since the version that this one builds on. Read the table "
                              "at `current_version`, decide again, and commit with that as `expected_version`.",
    [TARN_TRANSACTION_EXISTS] = "The transaction id or Idempotency-Key was used before with another body. A retry "
                                "must send the same body; a new commit needs a new id.",
    [TARN_TRANSACTION_ROLLED_BACK] = "The transaction was committed and later undone by the rollback that "
                                     "`rolled_back_by` names. Commit again under a new id if it is still wanted.",
    [TARN_BATCH_COMPLETED] = "The batch is already applied, by the commit that the answer names. A worker that sees "
                             "this can drop its files and go on.",
    [TARN_BATCH_MISMATCH] = "The batch is known with another size: two different files were staged under one id.",
    [TARN_FILE_CONFLICT] = "The commit removes a file that is not in the snapshot, or adds one that is; `path` names "
                           "it. Read the snapshot again and decide anew.",
    [TARN_SCHEMA_CONFLICT] = "Another schema version was added since the one that this change builds on. Read the "
                             "schemas again and decide anew.",
    [TARN_NAMESPACE_NOT_EMPTY] = "Only an empty namespace can be deleted. Drop or move its tables first.",
    [TARN_TABLE_PROTECTED] = "The table is marked `protected`, so it cannot be dropped. Set `protected` to false "
                             "first.",
    [TARN_TABLE_NOT_MANAGED] = "Commits, rollbacks and schema changes need a managed table of the manifest format. "
                               "Of an observed table somebody else owns the commits; those of an Iceberg table come over "
                               "the Iceberg REST catalog (`/iceberg`).",
    [TARN_TABLE_NOT_POINTED] = "Only a table that was registered with a `metadata_location` has a pointer to swap.",
    [TARN_LOCATION_TAKEN] = "The location equals, contains or lies inside the location of another table, or of a "
                            "dropped one that can still be restored. One folder has one owner.",
    [TARN_LOCATION_NOT_EMPTY] = "The folder holds data files but no manifest. Register with `\"import\": true` to "
                                "take them as version 1, or choose an empty folder.",
    [TARN_ADOPTION_CONFLICT] = "When the table was adopted its manifest and its log disagreed. Commits wait until "
                               "`repair` has chosen one of them.",
    [TARN_FOREIGN_WRITE] = "A manifest or log entry on storage was written by somebody else after Tarn's last write. "
                           "Tarn does not overwrite it; `repair` takes it (`adopt`) or replaces it (`republish`).",
    [TARN_STORAGE_AHEAD] = "Storage holds commits that the catalog does not know, as after a restored backup. "
                           "Commits wait until `recover` has taken them back.",
    [TARN_EVENTS_EXPIRED] = "The events after that number are no longer kept. Read the present state, then follow "
                            "the feed from its newest number.",
    [TARN_PRECONDITION_FAILED] = "The table changed since the `ETag` that `If-Match` names. Read it again and decide "
                                 "anew.",
    [TARN_PAYLOAD_TOO_LARGE] = "The body is larger than `limits.body` allows. Split the commit, or raise the limit.",
    [TARN_URI_TOO_LONG] = "The address is longer than the server reads.",
    [TARN_UNSUPPORTED_MEDIA_TYPE] = "The body must be JSON: `Content-Type: application/json` or a `+json` type.",
    [TARN_INCOMPATIBLE_SCHEMA] = "The new schema may not follow the current one, or a file does not fit the table. "
                                 "`changes` lists what is not allowed; `compatibility: none` permits it.",
    [TARN_VERIFICATION_FAILED] = "The table asks that added files are checked, and the one that `path` names is "
                                 "missing or is not what the commit says. Nothing was committed.",
    [TARN_SNAPSHOT_INCOMPLETE] = "The snapshot cannot be restored since files of it are gone; `paths` lists up to 20.",
    [TARN_LOCATION_UNREACHABLE] = "The location cannot be read, or what lies there cannot be understood.",
    [TARN_RATE_LIMITED] = "Too many requests came from one place. Wait for `Retry-After` seconds.",
    [TARN_HEADERS_TOO_LARGE] = "The headers are larger than `limits.headers` allows.",
    [TARN_INTERNAL] = "A fault in Tarn or beneath it. The request id leads to the log line.",
    [TARN_COMMIT_STATE_UNKNOWN] = "The disk failed while the commit was made durable, so its outcome is not known. "
                                  "Send the same body with the same id again: it is applied once at most.",
    [TARN_OVERLOADED] = "More is waiting than Tarn may hold. Nothing was changed; try again after a pause.",
    [TARN_STORAGE_UNAVAILABLE] = "Storage does not answer or refuses. Nothing was changed; try again after a pause.",
    [TARN_INSUFFICIENT_STORAGE] = "The disk of the catalog or the table's storage is full. Nothing was changed.",
    [TARN_RECHECK] = "What the request was checked against changed while it ran. Try again.",
    [TARN_BUSY] = "The database is locked by another process. Try again after a pause.",
};
_Static_assert(sizeof k_explanations / sizeof k_explanations[0] == TARN_CODES_END,
               "a code lacks its explanation");

const char *tarn_code_explanation(tarn_code code) { return k_explanations[code]; }
