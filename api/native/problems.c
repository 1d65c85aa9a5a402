/* problems.c - /problems/{code}: what an error means and what to do about it, in words. */
#include "api/native/native.h"
#include <string.h>

/* A row for every code that a client can see; a test holds the table to TARN_CODES. */
static const struct { tarn_code code; const char *text; } k_texts[] = {
    { TARN_INVALID, "The request breaks a rule of the contract; `detail` says which and `field` where. Correct it; the "
                    "same request will fail again." },
    { TARN_UNAUTHORIZED, "No token was sent, or it is unknown, revoked or expired. Send `Authorization: Bearer "
                         "<token>`; the first admin token lies in <data>/admin.token on the server." },
    { TARN_FORBIDDEN, "The token is valid but its scope, tables or roots do not allow this; or, under --auth none, the "
                      "Host or Origin header names another place." },
    { TARN_LOCATION_NOT_ALLOWED, "The location lies under none of the server's storage roots (--root), or outside those "
                                 "of the token." },
    { TARN_NOT_FOUND, "No endpoint or object has this address. /openapi.yaml lists the endpoints." },
    { TARN_TABLE_NOT_FOUND, "No live table has this name, or the token may not see it. A dropped table can be restored "
                            "until its retention ends." },
    { TARN_TRANSACTION_NOT_FOUND, "The table's history holds no transaction of this id." },
    { TARN_SCHEMA_VERSION_NOT_FOUND, "The table has no schema of this version." },
    { TARN_VERSION_NOT_FOUND, "The table has no such version: it was never made, or lies before the adoption." },
    { TARN_VERSION_EXPIRED, "The version is older than history.retention keeps; `oldest_version` can still be read." },
    { TARN_NAMESPACE_NOT_FOUND, "The namespace does not exist; it comes into being with its first table." },
    { TARN_METHOD_NOT_ALLOWED, "The address exists, the method does not; the Allow header lists those that do." },
    { TARN_TABLE_EXISTS, "A live table of the namespace has this name, in whatever format." },
    { TARN_VERSION_CONFLICT, "Another commit came first. Read the table, rebase on `current_version` and commit again; "
                             "pure appends may leave expected_version out." },
    { TARN_TRANSACTION_EXISTS, "This transaction id or Idempotency-Key was used with another body. Take a new one." },
    { TARN_TRANSACTION_ROLLED_BACK, "The commit did land and was undone later by `rolled_back_by`." },
    { TARN_BATCH_COMPLETED, "The batch was applied by an earlier commit, named in the answer: drop its files and go on." },
    { TARN_BATCH_MISMATCH, "The batch is known with another size: two producers use one batch id." },
    { TARN_FILE_CONFLICT, "A file to be removed is not in the snapshot, or one to be added is; `path` names it." },
    { TARN_SCHEMA_CONFLICT, "Another schema version came first. Read the schemas and send the change against "
                            "`current_version`." },
    { TARN_NAMESPACE_NOT_EMPTY, "The namespace still holds tables." },
    { TARN_TABLE_PROTECTED, "The table is protected against dropping. Set `protected` to false first." },
    { TARN_TABLE_NOT_MANAGED, "Commits, rollbacks and schema changes go to managed tables of the manifest format only." },
    { TARN_TABLE_NOT_POINTED, "Only tables registered with a metadata_location have a pointer to swap." },
    { TARN_LOCATION_TAKEN, "A managed table owns this folder, one inside it or one around it." },
    { TARN_LOCATION_NOT_EMPTY, "The folder holds data files but no manifest. Register with \"import\": true to take them." },
    { TARN_ADOPTION_CONFLICT, "When the table was adopted, manifest and log disagreed. A repair chooses one." },
    { TARN_FOREIGN_WRITE, "A document of the table was written by someone else; publication stopped. A repair "
                          "(republish or adopt) cures it." },
    { TARN_STORAGE_AHEAD, "Storage shows commits that this database does not know, as after a restored backup. `tarn "
                          "recover` takes them back." },
    { TARN_EVENTS_EXPIRED, "Events this old are no longer kept. Start again from a listing." },
    { TARN_PRECONDITION_FAILED, "The table changed since the ETag in If-Match was read." },
    { TARN_PAYLOAD_TOO_LARGE, "The body is larger than limits.body_bytes. Split it." },
    { TARN_URI_TOO_LONG, "The address is longer than 8 KiB." },
    { TARN_UNSUPPORTED_MEDIA_TYPE, "Bodies are application/json, not compressed." },
    { TARN_INCOMPATIBLE_SCHEMA, "`changes` lists what readers of old files could not follow. Change the schema, or send "
                                "compatibility none." },
    { TARN_VERIFICATION_FAILED, "A file of the commit is missing, has another size, or a footer that does not fit; "
                                "`path` names it." },
    { TARN_SNAPSHOT_INCOMPLETE, "Files of the snapshot to be restored are gone; `paths` names some." },
    { TARN_LOCATION_UNREACHABLE, "The location cannot be read, or what lies there is no table that can be taken." },
    { TARN_RATE_LIMITED, "Too many requests; Retry-After says when to ask again." },
    { TARN_HEADERS_TOO_LARGE, "The request's headers are larger than limits.headers_bytes." },
    { TARN_INTERNAL, "A fault in Tarn. The server's log has a line with the X-Request-Id of the answer." },
    { TARN_COMMIT_STATE_UNKNOWN, "The disk failed while the commit was made durable: it may or may not have landed. Ask "
                                 "for the transaction, or send the same request again; a replay is recognised." },
    { TARN_OVERLOADED, "Too much is waiting, or the server is stopping. Nothing was changed; ask again later." },
    { TARN_STORAGE_UNAVAILABLE, "Storage did not answer. Nothing was changed; ask again later." },
    { TARN_INSUFFICIENT_STORAGE, "The disk of the catalog is full. Nothing was changed." },
};

tarn_code tarn_api_problem_page(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    for (size_t i = 0; i < TARN_COUNT(k_texts); i++) {
        tarn_code code = k_texts[i].code;
        if (strcmp(tarn_code_slug(code), req->arg[0]) != 0)
            continue;
        reply->status = 200;
        reply->content_type = "text/plain; charset=utf-8";
        tarn_buf_addf(&reply->body, "%s (%u)\n%s.\n\n%s\n", req->arg[0], tarn_code_http(code), tarn_code_title(code),
                      k_texts[i].text);
        return tarn_buf_check(&reply->body, err);
    }
    return tarn_fail(err, TARN_NOT_FOUND, "there is no error '%s'", req->arg[0]);
}
