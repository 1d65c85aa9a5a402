/* problem.c - errors as RFC 9457 problem documents, the one form in which the
 * native face refuses; the Iceberg face has its own (iceberg/errors.c). */
#include "api/http.h"
#include "api/iceberg/iceberg.h"
#include "catalog/ident.h"
#include <stdint.h>
#include <stdio.h>

#define NO_MEMORY_TEXT                                                                                       \
    "{\"type\":\"/problems/internal\",\"title\":\"A fault in Tarn\",\"status\":500,\"detail\":\"out of "     \
    "memory\","                                                                                              \
    "\"code\":\"internal\"}"

/* Codes that steer the inside never reach a client. */
static tarn_code outward(tarn_code code)
{
    if (code == TARN_RECHECK || code == TARN_BUSY)
        return TARN_OVERLOADED;
    return code > TARN_OK && code < TARN_CODES_END ? code : TARN_INTERNAL;
}

static void write_more(struct tarn_jsonw *w, const json_t *more)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)more, key, value)
    {
        tarn_jsonw_key(w, key);
        tarn_jsonw_json(w, value);
    }
}

static void write_problem(struct tarn_buf *out, tarn_code code, const struct tarn_err *err)
{
    struct tarn_jsonw w = tarn_jsonw_to(out);
    tarn_jsonw_object(&w);
    tarn_jsonw_key(&w, "type");
    char type[96];
    snprintf(type, sizeof type, "/problems/%s", tarn_code_slug(code));
    tarn_jsonw_str(&w, type);
    tarn_jsonw_kstr(&w, "title", tarn_code_title(code));
    tarn_jsonw_ki64(&w, "status", tarn_code_http(code));
    tarn_jsonw_kstr(&w, "detail", err->detail[0] ? err->detail : tarn_code_title(code));
    tarn_jsonw_kstr(&w, "code", tarn_code_slug(code));
    if (err->field[0])
        tarn_jsonw_kstr(&w, "field", err->field);
    if (err->more)
        write_more(&w, err->more);
    tarn_jsonw_object_end(&w);
}

/* Whose folder it is, a token that does not see that table is not told. */
static bool hides_owner(const struct tarn_request *req, const struct tarn_err *err)
{
    const char *table = json_string_value(json_object_get(err->more, "table"));
    char dotted[TARN_DOTTED_MAX];
    struct tarn_ident owner;
    TARN_ERR(ignored);

    if (err->code != TARN_LOCATION_TAKEN || !table || !req->who.tables[0])
        return false;
    snprintf(dotted, sizeof dotted, "%s", table);
    return tarn_ident_parse(dotted, "table", &owner, &ignored) != TARN_OK ||
           !tarn_principal_sees(&req->who, owner.namespace_, owner.name);
}

void tarn_reply_problem(struct tarn_reply *reply, const struct tarn_request *req, const struct tarn_err *err)
{
    static const struct tarn_err k_taken = { .code = TARN_LOCATION_TAKEN,
                                             .field = "location",
                                             .detail = "the location belongs to another table" };
    tarn_code code = outward(err->code);

    if (hides_owner(req, err))
        err = &k_taken;
    if (req->is_iceberg) {
        tarn_iceberg_reply_error(reply, req, err);
        return;
    }
    tarn_reply_done(reply);
    reply->status = tarn_code_http(code);
    reply->content_type = "application/problem+json";
    write_problem(&reply->body, code, err);
    if (reply->body.failed) {
        reply->status = 500;
        tarn_buf_clear(&reply->body);
        tarn_buf_adds(&reply->body, NO_MEMORY_TEXT);
    }
    if (code == TARN_UNAUTHORIZED)
        tarn_reply_header(reply, "WWW-Authenticate", "Bearer realm=\"tarn\"");
    if (reply->status == 503 || reply->status == 429)
        tarn_reply_header(reply, "Retry-After", "1");
}
