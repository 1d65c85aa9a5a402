/* errors.c - refusals in the protocol's own form. Clients match on status and type: both are the reference's for the same
 * fault (its table of exceptions). */
#include "api/iceberg/iceberg.h"
#include "base/text.h"

static const struct row {
    tarn_code code;
    unsigned status;
    const char *type;
} k_rows[] = {
    { TARN_INVALID, 400, "BadRequestException" },
    { TARN_UNAUTHORIZED, 401, "NotAuthorizedException" },
    { TARN_FORBIDDEN, 403, "ForbiddenException" },
    { TARN_LOCATION_NOT_ALLOWED, 403, "ForbiddenException" },
    { TARN_NOT_FOUND, 404, "NotFoundException" },
    { TARN_NAMESPACE_NOT_FOUND, 404, "NoSuchNamespaceException" },
    { TARN_TABLE_NOT_FOUND, 404, "NoSuchTableException" },
    { TARN_VIEW_NOT_FOUND, 404, "NoSuchViewException" },
    { TARN_METHOD_NOT_ALLOWED, 405, "UnsupportedOperationException" },
    { TARN_TABLE_EXISTS, 409, "AlreadyExistsException" },
    { TARN_VIEW_EXISTS, 409, "AlreadyExistsException" },
    { TARN_UUID_TAKEN, 409, "AlreadyExistsException" },
    { TARN_NAMESPACE_EXISTS, 409, "AlreadyExistsException" },
    { TARN_LOCATION_TAKEN, 409, "AlreadyExistsException" },
    { TARN_NAMESPACE_NOT_EMPTY, 409, "NamespaceNotEmptyException" },
    { TARN_VERSION_CONFLICT, 409, "CommitFailedException" },
    { TARN_TABLE_PROTECTED, 403, "ForbiddenException" },
    { TARN_PAYLOAD_TOO_LARGE, 413, "BadRequestException" },
    { TARN_URI_TOO_LONG, 414, "BadRequestException" },
    { TARN_UNSUPPORTED_MEDIA_TYPE, 415, "BadRequestException" },
    { TARN_INCOMPATIBLE_SCHEMA, 422, "UnprocessableEntityException" },
    { TARN_RATE_LIMITED, 429, "SlowDownException" },
    { TARN_HEADERS_TOO_LARGE, 431, "BadRequestException" },
    { TARN_COMMIT_STATE_UNKNOWN, 500, "CommitStateUnknownException" },
    { TARN_OVERLOADED, 503, "SlowDownException" },
    { TARN_RECHECK, 503, "SlowDownException" },
    { TARN_BUSY, 503, "SlowDownException" },
    { TARN_STORAGE_UNAVAILABLE, 503, "ServiceUnavailableException" },
    { TARN_INSUFFICIENT_STORAGE, 507, "ServiceFailureException" },
};

static struct row row_of(tarn_code code)
{
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        if (k_rows[i].code == code)
            return k_rows[i];
    return (struct row){ code, tarn_code_http(code) == 500 ? 500 : 400, tarn_code_http(code) == 500 ? "InternalServerError"
                                                                                                  : "BadRequestException" };
}

const char *tarn_iceberg_detail(const struct tarn_err *err, char out[TARN_ICEBERG_DETAIL_MAX])
{
    static const char *const k_verbs[] = { "is ", "has ", "must ", "holds ", "cannot ", "names " };

    for (size_t i = 0; i < TARN_COUNT(k_verbs) && err->field[0]; i++) {
        if (!tarn_starts_with(err->detail, k_verbs[i]))
            continue;
        snprintf(out, TARN_ICEBERG_DETAIL_MAX, "%s %s", err->field, err->detail);
        return out;
    }
    return err->detail[0] ? err->detail : tarn_code_title(err->code);
}

void tarn_iceberg_reply_error(struct tarn_reply *reply, const struct tarn_request *req, const struct tarn_err *err)
{
    const struct row row = row_of(err->code);
    char said[2 * TARN_DOTTED_MAX + 64], detail[TARN_ICEBERG_DETAIL_MAX];
    bool is_said = tarn_iceberg_say(req, err->code, said, sizeof said);
    struct tarn_jsonw w;
    const char *exception = json_string_value(json_object_get(err->more, "exception"));

    if (req->route && req->route->body == TARN_BODY_FORM) {
        tarn_iceberg_reply_oauth_error(reply, err);
        return;
    }
    tarn_reply_done(reply);
    w = tarn_jsonw_to(&reply->body);
    reply->status = row.status;
    tarn_jsonw_object(&w);
    tarn_jsonw_key(&w, "error");
    tarn_jsonw_object(&w);
    tarn_jsonw_kstr(&w, "message", is_said ? said : tarn_iceberg_detail(err, detail));
    tarn_jsonw_kstr(&w, "type", exception ? exception : row.type);
    tarn_jsonw_ki64(&w, "code", row.status);
    tarn_jsonw_object_end(&w);
    tarn_jsonw_object_end(&w);
    if (row.status == 401)
        tarn_reply_header(reply, "WWW-Authenticate", "Bearer realm=\"tarn\"");
    if (row.status == 429 || (row.status == 503 && err->code != TARN_STORAGE_UNAVAILABLE))
        tarn_reply_header(reply, "Retry-After", "1");
}
