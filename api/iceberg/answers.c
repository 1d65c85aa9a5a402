/* answers.c - tables as the Iceberg face answers them. The document is what is kept: it is copied, never parsed. */
#include "api/iceberg/iceberg.h"
#include "base/hash.h"
#include <stdio.h>
#include <string.h>

void tarn_iceberg_etag(const char *location, enum tarn_iceberg_form form, char out[40])
{
    char hash[TARN_SHA256_HEX];

    tarn_sha256_hex(location, strlen(location), hash);
    snprintf(out, 40, "\"%.24s%s\"", hash, form == TARN_ICEBERG_REFS ? "-refs" : "");
}

void tarn_iceberg_answer_tag(struct tarn_reply *reply, const char *location, enum tarn_iceberg_form form)
{
    char etag[40];

    tarn_iceberg_etag(location, form, etag);
    tarn_reply_header(reply, "ETag", "%s", etag);
    tarn_reply_header(reply, "Cache-Control", TARN_ICEBERG_CACHING);
}

tarn_code tarn_iceberg_answer_table(struct tarn_reply *reply, const char *location, const char *metadata, size_t len,
                                    enum tarn_iceberg_form form, struct tarn_err *err)
{
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    reply->status = 200;
    tarn_jsonw_object(&w);
    if (location) {
        tarn_iceberg_answer_tag(reply, location, form);
        tarn_jsonw_kstr(&w, "metadata-location", location);
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
