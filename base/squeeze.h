/* squeeze.h - compressed bytes, in and out: the one door of zlib, snappy and
 * zstd. Output is bounded by the caller: foreign bytes may claim any size. */
#ifndef TARN_BASE_SQUEEZE_H
#define TARN_BASE_SQUEEZE_H
#include "base/buf.h"

enum tarn_codec {
    TARN_CODEC_NONE,
    TARN_CODEC_DEFLATE, /* RFC 1951, without a header */
    TARN_CODEC_GZIP,    /* RFC 1952 */
    TARN_CODEC_SNAPPY,  /* one block, unframed */
    TARN_CODEC_ZSTD     /* one or more frames */
};
/* Appends what `data` unpacks to, at most `max` bytes
 * (TARN_PAYLOAD_TOO_LARGE). TARN_INVALID: the bytes are broken. */
TARN_MUST tarn_code tarn_unsqueeze(enum tarn_codec codec, const void *data, size_t len, size_t max,
                                   struct tarn_buf *out, struct tarn_err *err);
/* Appends `data` packed as gzip. */
TARN_MUST tarn_code tarn_gzip(const void *data, size_t len, struct tarn_buf *out, struct tarn_err *err);
bool tarn_is_gzip(const void *data, size_t len);
uint32_t tarn_crc32(const void *data, size_t len); /* as in gzip and in Avro's snappy blocks */
#endif
