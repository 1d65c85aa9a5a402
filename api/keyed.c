/* keyed.c - answers by Idempotency-Key: found, given again, noted. */
#include "api/keyed.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/time.h"
#include <string.h>

#define KEPT_BYTES_MAX (1 << 20) /* a larger answer is not noted; the request is judged anew */

static tarn_code fingerprint(const struct tarn_request *req, char out[65], struct tarn_err *err)
{
    TARN_AUTO(mem) char *body = req->json ? tarn_json_canonical(req->json) : strdup("");
    __attribute__((cleanup(tarn_buf_done))) struct tarn_buf text = { 0 };

    if (!body)
        return tarn_fail_oom(err);
    tarn_buf_addf(&text, "%s\n%s\n", req->method, req->path);
    for (size_t i = 0; i < req->query_count; i++)
        tarn_buf_addf(&text, "%s=%s\n", req->query[i].key, req->query[i].value);
    tarn_buf_adds(&text, body);
    tarn_code code = tarn_buf_check(&text, err);
    if (code == TARN_OK)
        tarn_sha256_hex(text.data, text.len, out);
    return code;
}

tarn_code tarn_keyed_read(const struct tarn_request *req, struct tarn_keyed *out, struct tarn_err *err)
{
    const char *key =
        req->route->face == TARN_FACE_ICEBERG ? tarn_request_header(req, "Idempotency-Key") : NULL;

    out->key[0] = '\0';
    if (!key)
        return TARN_OK;
    if (!*key || strlen(key) > TARN_KEY_MAX)
        return tarn_fail_field(err, "Idempotency-Key", "has 1 to %d bytes", TARN_KEY_MAX);
    snprintf(out->key, sizeof out->key, "%s", key);
    return fingerprint(req, out->fingerprint, err);
}

struct look {
    const struct tarn_request *req;
    const struct tarn_keyed *keyed;
    struct tarn_answered row;
    bool found;
};

static tarn_code look_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct look *look = ctx;
    TARN_ERR(fault);

    tarn_answered_done(&look->row);
    look->row = (struct tarn_answered){ .status = 0 };
    tarn_code code = tx->ops->requests.get(tx, look->req->who.name, look->keyed->key, &look->row, &fault);
    look->found = code == TARN_OK;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code give_again(const struct look *look, struct tarn_reply *reply, struct tarn_err *err)
{
    tarn_handler_fn *again = look->req->route->again;

    if (strcmp(look->row.fingerprint, look->keyed->fingerprint) != 0)
        return tarn_fail_field(err, "Idempotency-Key", "The idempotency key was used for another request");
    if (!look->row.body[0] && again)
        return again(look->req, reply, err);
    reply->status = (unsigned)look->row.status;
    tarn_buf_adds(&reply->body, look->row.body);
    return tarn_buf_check(&reply->body, err);
}

tarn_code tarn_keyed_replay(const struct tarn_request *req, const struct tarn_keyed *keyed,
                            struct tarn_reply *reply, bool *found, struct tarn_err *err)
{
    struct look look = { .req = req, .keyed = keyed };
    tarn_code code = tarn_store_read(req->app->lake->store, look_tx, &look, err);

    *found = code == TARN_OK && look.found;
    if (*found)
        code = give_again(&look, reply, err);
    tarn_answered_done(&look.row);
    return code;
}

tarn_code tarn_keyed_check(struct tarn_tx *tx, const struct tarn_request *req, const struct tarn_keyed *keyed,
                           struct tarn_err *err)
{
    struct look look = { .req = req, .keyed = keyed };
    tarn_code code = look_tx(tx, &look, err);

    tarn_answered_done(&look.row);
    if (code == TARN_OK && look.found)
        return tarn_fail(err, TARN_VERSION_CONFLICT, "another request under this key came first");
    return code;
}

tarn_code tarn_keyed_note(struct tarn_tx *tx, const struct tarn_request *req, const struct tarn_keyed *keyed,
                          void *use, struct tarn_err *err)
{
    const struct tarn_route *route = req->route;
    struct tarn_answered row = { .status = 200 };
    struct tarn_reply reply = { .status = 0 };
    bool is_kept = !route->again || (route->is_kept && route->is_kept(use));
    tarn_code code = TARN_OK;

    if (is_kept) {
        code = route->flow->answer(req, use, &reply, err);
        row.status = reply.status;
        row.body = reply.body.len > 0 ? reply.body.data : NULL;
    }
    memcpy(row.fingerprint, keyed->fingerprint, sizeof row.fingerprint);
    if (code == TARN_OK && reply.body.len <= KEPT_BYTES_MAX)
        code = tx->ops->requests.put(tx, req->who.name, keyed->key, &row, tarn_now_ms(), err);
    tarn_reply_done(&reply);
    return code;
}
