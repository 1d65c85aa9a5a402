/* answers.c - tables as the Iceberg face answers them. The document is what is kept: it is copied, never parsed. */
#include "api/iceberg/iceberg.h"
#include "base/hash.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tarn_code tarn_iceberg_shown_print(const struct tarn_iceberg_shown *shown, struct tarn_buf *out, struct tarn_err *err)
{
    tarn_buf_addf(out, "%" PRId64 " %" PRId64 " %s", shown->table_id, shown->version, shown->location);
    return tarn_buf_check(out, err);
}

struct tarn_iceberg_shown tarn_iceberg_shown_read(const char *text)
{
    struct tarn_iceberg_shown shown = { .location = text };
    char *rest = NULL;

    shown.table_id = strtoll(text, &rest, 10);
    shown.version = strtoll(rest, &rest, 10);
    shown.location = *rest ? rest + 1 : rest;
    return shown;
}

void tarn_iceberg_etag(const struct tarn_iceberg_shown *shown, enum tarn_iceberg_form form, char out[40])
{
    char hash[TARN_SHA256_HEX];
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    TARN_ERR(no_memory);

    /* Without memory the tag is that of nothing, which no client has; the answer fails by its body. */
    bool is_told = tarn_iceberg_shown_print(shown, &text, &no_memory) == TARN_OK;
    tarn_sha256_hex(is_told ? text.data : "", is_told ? text.len : 0, hash);
    snprintf(out, 40, "\"%.24s%s\"", hash, form == TARN_ICEBERG_REFS ? "-refs" : "");
}

void tarn_iceberg_answer_tag(struct tarn_reply *reply, const struct tarn_iceberg_shown *shown, enum tarn_iceberg_form form)
{
    char etag[40];

    tarn_iceberg_etag(shown, form, etag);
    tarn_reply_header(reply, "ETag", "%s", etag);
    tarn_reply_header(reply, "Cache-Control", TARN_ICEBERG_CACHING);
}

tarn_code tarn_iceberg_answer_table(struct tarn_reply *reply, const struct tarn_iceberg_shown *shown, const char *metadata, size_t len,
                                    enum tarn_iceberg_form form, struct tarn_err *err)
{
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    reply->status = 200;
    tarn_jsonw_object(&w);
    if (shown->location) {
        tarn_iceberg_answer_tag(reply, shown, form);
        tarn_jsonw_kstr(&w, "metadata-location", shown->location);
    }
    tarn_jsonw_key(&w, "metadata");
    tarn_buf_add(&reply->body, metadata, len);
    w.comma = true;
    tarn_jsonw_key(&w, "config");
    tarn_jsonw_object(&w);
    tarn_jsonw_object_end(&w);
    tarn_jsonw_object_end(&w);
    return tarn_buf_check(&reply->body, err);
}
