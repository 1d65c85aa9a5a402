/* squeeze.c - zlib, snappy and zstd behind one function each way. */
#include "base/squeeze.h"
#include <snappy-c.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { STEP = 64 * 1024 };

static tarn_code too_large(size_t max, struct tarn_err *err)
{
    return tarn_fail(err, TARN_PAYLOAD_TOO_LARGE, "the compressed data unpacks to more than %zu bytes", max);
}

static tarn_code inflate_all(z_stream *z, size_t max, struct tarn_buf *out, struct tarn_err *err)
{
    size_t start = out->len;
    int rc = Z_OK;

    while (rc != Z_STREAM_END) {
        char *room = tarn_buf_reserve(out, STEP);
        if (!room)
            return tarn_fail_oom(err);
        z->next_out = (Bytef *)room;
        z->avail_out = STEP;
        rc = inflate(z, Z_NO_FLUSH);
        size_t got = STEP - z->avail_out;
        out->len += got;
        if (out->len - start > max)
            return too_large(max, err);
        if (rc != Z_OK && rc != Z_STREAM_END)
            return tarn_fail(err, TARN_INVALID, "the compressed data is broken: %s", z->msg ? z->msg : "it ends early");
        if (rc == Z_OK && got == 0 && z->avail_in == 0)
            return tarn_fail(err, TARN_INVALID, "the compressed data is broken: it ends early");
    }
    return TARN_OK;
}

static tarn_code unzip(const void *data, size_t len, int window, size_t max, struct tarn_buf *out,
                       struct tarn_err *err)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)data };

    if (len > UINT32_MAX)
        return too_large(max, err);
    z.avail_in = (uInt)len;
    if (inflateInit2(&z, window) != Z_OK)
        return tarn_fail_oom(err);
    tarn_code code = inflate_all(&z, max, out, err);
    (void)inflateEnd(&z);
    return code;
}

static tarn_code unsnap(const void *data, size_t len, size_t max, struct tarn_buf *out, struct tarn_err *err)
{
    size_t size = 0;

    if (snappy_uncompressed_length(data, len, &size) != SNAPPY_OK)
        return tarn_fail(err, TARN_INVALID, "the compressed data is broken: it is not snappy");
    if (size > max)
        return too_large(max, err);
    char *room = tarn_buf_reserve(out, size + 1);
    if (!room)
        return tarn_fail_oom(err);
    if (snappy_uncompress(data, len, room, &size) != SNAPPY_OK)
        return tarn_fail(err, TARN_INVALID, "the compressed data is broken: it is not snappy");
    out->len += size;
    return TARN_OK;
}

static tarn_code unzstd(const void *data, size_t len, size_t max, struct tarn_buf *out, struct tarn_err *err)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = { data, len, 0 };
    size_t start = out->len, rc = 1;
    tarn_code code = stream ? TARN_OK : tarn_fail_oom(err);

    while (code == TARN_OK && (in.pos < in.size || rc != 0)) {
        char *room = tarn_buf_reserve(out, STEP);
        ZSTD_outBuffer step = { room, STEP, 0 };
        size_t before = in.pos;
        if (!room) {
            code = tarn_fail_oom(err);
            break;
        }
        rc = ZSTD_decompressStream(stream, &step, &in);
        out->len += step.pos;
        if (ZSTD_isError(rc))
            code = tarn_fail(err, TARN_INVALID, "the compressed data is broken: %s", ZSTD_getErrorName(rc));
        else if (out->len - start > max)
            code = too_large(max, err);
        else if (in.pos == before && step.pos == 0 && rc != 0)
            code = tarn_fail(err, TARN_INVALID, "the compressed data is broken: it ends early");
    }
    ZSTD_freeDStream(stream);
    return code;
}

tarn_code tarn_unsqueeze(enum tarn_codec codec, const void *data, size_t len, size_t max,
                         struct tarn_buf *out, struct tarn_err *err)
{
    switch (codec) {
    case TARN_CODEC_NONE:
        if (len > max)
            return too_large(max, err);
        tarn_buf_add(out, data, len);
        return tarn_buf_check(out, err);
    case TARN_CODEC_DEFLATE:
        return unzip(data, len, -MAX_WBITS, max, out, err);
    case TARN_CODEC_GZIP:
        return unzip(data, len, MAX_WBITS + 16, max, out, err);
    case TARN_CODEC_SNAPPY:
        return unsnap(data, len, max, out, err);
    case TARN_CODEC_ZSTD:
        return unzstd(data, len, max, out, err);
    }
    return tarn_fail(err, TARN_INTERNAL, "unknown codec %d", (int)codec);
}

tarn_code tarn_gzip(const void *data, size_t len, struct tarn_buf *out, struct tarn_err *err)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)data };
    int rc = Z_OK;

    if (len > UINT32_MAX)
        return tarn_fail(err, TARN_PAYLOAD_TOO_LARGE, "%zu bytes are too many for one gzip file", len);
    z.avail_in = (uInt)len;
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return tarn_fail_oom(err);
    while (rc == Z_OK) {
        char *room = tarn_buf_reserve(out, STEP);
        if (!room)
            break;
        z.next_out = (Bytef *)room;
        z.avail_out = STEP;
        rc = deflate(&z, Z_FINISH);
        out->len += STEP - z.avail_out;
    }
    (void)deflateEnd(&z);
    return rc == Z_STREAM_END ? tarn_buf_check(out, err) : tarn_fail_oom(err);
}

bool tarn_is_gzip(const void *data, size_t len)
{
    return len >= 2 && memcmp(data, "\x1f\x8b", 2) == 0;
}

uint32_t tarn_crc32(const void *data, size_t len)
{
    return (uint32_t)crc32_z(0, data, len);
}
