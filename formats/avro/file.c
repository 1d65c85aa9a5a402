/* file.c - the container: header, then blocks of records, each closed by the file's own sync mark. One block is in memory. */
#include "base/buf.h"
#include "base/squeeze.h"
#include "formats/avro/node.h"
#include <string.h>

enum {
    SYNC = 16,
    CHUNK = 64 * 1024,
    STEPS = 1024,      /* values that a block may have at least, and for each of its bytes */
    STEPS_A_BYTE = 16
};

struct tarn_avro {
    tarn_source_fn *fill;
    void *source;
    struct tarn_buf in;        /* bytes read and not yet used, from in_at */
    size_t in_at;
    bool at_end;
    struct tarn_avro_schema schema;
    enum tarn_codec codec;
    unsigned char sync[SYNC];
    struct tarn_buf block;     /* unpacked */
    struct tarn_avro_cursor cursor;
    int64_t left;              /* records of the block still to be decoded */
};

void tarn_avro_free(struct tarn_avro *avro)
{
    if (!avro)
        return;
    tarn_buf_done(&avro->in);
    tarn_buf_done(&avro->block);
    tarn_avro_schema_done(&avro->schema);
    free(avro);
}

/* --- bytes of the source --- */

static size_t available(const struct tarn_avro *avro) { return avro->in.len - avro->in_at; }

static tarn_code read_more(struct tarn_avro *avro, struct tarn_err *err)
{
    size_t got = 0, rest = available(avro);

    if (avro->in_at > 0 && rest > 0)
        memmove(avro->in.data, avro->in.data + avro->in_at, rest);
    avro->in.len = rest;
    avro->in_at = 0;
    char *room = tarn_buf_reserve(&avro->in, CHUNK);
    if (!room)
        return tarn_fail_oom(err);
    tarn_code code = avro->fill(avro->source, room, CHUNK, &got, err);
    if (code != TARN_OK)
        return code;
    avro->in.len += got;
    avro->at_end = got == 0;
    return TARN_OK;
}

/* At least `len` bytes lie at in_at; TARN_INVALID when the file ends before. */
static tarn_code want(struct tarn_avro *avro, size_t len, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    while (code == TARN_OK && available(avro) < len && !avro->at_end)
        code = read_more(avro, err);
    if (code == TARN_OK && available(avro) < len)
        return tarn_fail(err, TARN_INVALID, "the Avro file ends early");
    return code;
}

static const unsigned char *here(const struct tarn_avro *avro) { return (const unsigned char *)avro->in.data + avro->in_at; }

static tarn_code next_long(struct tarn_avro *avro, int64_t *out, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    while (code == TARN_OK && available(avro) < 10 && !avro->at_end)
        code = read_more(avro, err);
    if (code != TARN_OK)
        return code;
    struct tarn_avro_cursor in = { here(avro), here(avro) + available(avro), 0 };
    code = tarn_avro_long(&in, out, err);
    if (code == TARN_OK)
        avro->in_at = (size_t)(in.at - (const unsigned char *)avro->in.data);
    return code;
}

/* --- header --- */

static tarn_code next_text(struct tarn_avro *avro, struct tarn_buf *out, struct tarn_err *err)
{
    int64_t len = 0;
    tarn_code code = next_long(avro, &len, err);

    if (code == TARN_OK && (len < 0 || len > (int64_t)TARN_AVRO_SCHEMA_MAX))
        return tarn_fail(err, TARN_INVALID, "the header of the Avro file is broken or larger than %u bytes",
                         TARN_AVRO_SCHEMA_MAX);
    if (code == TARN_OK)
        code = want(avro, (size_t)len, err);
    if (code != TARN_OK)
        return code;
    tarn_buf_clear(out);
    tarn_buf_add(out, here(avro), (size_t)len);
    avro->in_at += (size_t)len;
    return tarn_buf_check(out, err);
}

static tarn_code take_codec(struct tarn_avro *avro, const struct tarn_buf *value, struct tarn_err *err)
{
    static const struct { const char *name; enum tarn_codec codec; } codecs[] = {
        { "null", TARN_CODEC_NONE }, { "deflate", TARN_CODEC_DEFLATE }, { "snappy", TARN_CODEC_SNAPPY }, { "zstandard", TARN_CODEC_ZSTD },
    };

    for (size_t i = 0; i < TARN_COUNT(codecs); i++) {
        if (strlen(codecs[i].name) == value->len && memcmp(codecs[i].name, value->data, value->len) == 0) {
            avro->codec = codecs[i].codec;
            return TARN_OK;
        }
    }
    return tarn_fail(err, TARN_INVALID, "the Avro file is packed with an unknown codec: %.40s", value->len ? value->data : "");
}

static bool is_text(const struct tarn_buf *buf, const char *text)
{
    return buf->len == strlen(text) && (buf->len == 0 || memcmp(buf->data, text, buf->len) == 0);
}

static tarn_code take_pair(struct tarn_avro *avro, const struct tarn_buf *key, const struct tarn_buf *value,
                           struct tarn_err *err)
{
    if (is_text(key, "avro.codec"))
        return take_codec(avro, value, err);
    if (!is_text(key, "avro.schema"))
        return TARN_OK;
    if (avro->schema.root)
        return tarn_fail(err, TARN_INVALID, "the Avro file has two schemas");
    return tarn_avro_schema_read(value->data ? value->data : "", value->len, &avro->schema, err);
}

static tarn_code read_pairs(struct tarn_avro *avro, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf key = { 0 }, value = { 0 };
    int64_t count = 1, ignored = 0;
    size_t total = 0;
    tarn_code code = TARN_OK;

    while (code == TARN_OK && count != 0) {
        code = next_long(avro, &count, err);
        if (code == TARN_OK && count < 0) {
            code = next_long(avro, &ignored, err);
            count = count == INT64_MIN ? INT64_MAX : -count;
        }
        for (int64_t i = 0; i < count && code == TARN_OK; i++) {
            code = next_text(avro, &key, err);
            if (code == TARN_OK)
                code = next_text(avro, &value, err);
            total += key.len + value.len + 2;
            if (code == TARN_OK && total > TARN_AVRO_SCHEMA_MAX)
                code = tarn_fail(err, TARN_INVALID, "the header of the Avro file is larger than %u bytes", TARN_AVRO_SCHEMA_MAX);
            if (code == TARN_OK)
                code = take_pair(avro, &key, &value, err);
        }
    }
    tarn_buf_done(&value);
    return code;
}

static tarn_code read_header(struct tarn_avro *avro, struct tarn_err *err)
{
    tarn_code code = want(avro, 4, err);

    if (code == TARN_OK && memcmp(here(avro), "Obj\x01", 4) != 0)
        return tarn_fail(err, TARN_INVALID, "the file is no Avro file");
    avro->in_at += 4;
    if (code == TARN_OK)
        code = read_pairs(avro, err);
    if (code == TARN_OK && !avro->schema.root)
        return tarn_fail(err, TARN_INVALID, "the Avro file has no schema");
    if (code == TARN_OK)
        code = want(avro, SYNC, err);
    if (code != TARN_OK)
        return code;
    memcpy(avro->sync, here(avro), SYNC);
    avro->in_at += SYNC;
    return TARN_OK;
}

tarn_code tarn_avro_open(tarn_source_fn *fill, void *source, struct tarn_avro **out, struct tarn_err *err)
{
    TARN_AUTO(avro) struct tarn_avro *avro = calloc(1, sizeof *avro);

    if (!avro)
        return tarn_fail_oom(err);
    avro->fill = fill;
    avro->source = source;
    tarn_code code = read_header(avro, err);
    if (code == TARN_OK)
        *out = tarn_take(&avro);
    return code;
}

/* --- blocks --- */

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

/* A block of snappy ends with the checksum of what it unpacks to. */
static tarn_code unpack(struct tarn_avro *avro, size_t len, struct tarn_err *err)
{
    bool has_sum = avro->codec == TARN_CODEC_SNAPPY;

    if (has_sum && len < 4)
        return tarn_fail(err, TARN_INVALID, "a block of the Avro file is broken: it has no checksum");
    tarn_buf_clear(&avro->block);
    tarn_code code = tarn_unsqueeze(avro->codec, here(avro), has_sum ? len - 4 : len, TARN_AVRO_BLOCK_MAX, &avro->block, err);
    if (code == TARN_OK && has_sum && tarn_crc32(avro->block.data, avro->block.len) != big_endian(here(avro) + len - 4))
        return tarn_fail(err, TARN_INVALID, "a block of the Avro file is broken: its checksum is wrong");
    return code;
}

static tarn_code read_block(struct tarn_avro *avro, struct tarn_err *err)
{
    int64_t len = 0;
    tarn_code code = next_long(avro, &avro->left, err);

    if (code == TARN_OK)
        code = next_long(avro, &len, err);
    if (code == TARN_OK && (avro->left < 0 || len < 0 || len > (int64_t)TARN_AVRO_BLOCK_MAX))
        return tarn_fail(err, TARN_INVALID, "a block of the Avro file is broken or larger than %u bytes", TARN_AVRO_BLOCK_MAX);
    if (code == TARN_OK)
        code = want(avro, (size_t)len + SYNC, err);
    if (code == TARN_OK && memcmp(here(avro) + len, avro->sync, SYNC) != 0)
        return tarn_fail(err, TARN_INVALID, "a block of the Avro file is broken: its end mark is missing");
    if (code == TARN_OK)
        code = unpack(avro, (size_t)len, err);
    if (code != TARN_OK)
        return code;
    avro->in_at += (size_t)len + SYNC;
    const unsigned char *data = (const unsigned char *)(avro->block.data ? avro->block.data : "");
    avro->cursor = (struct tarn_avro_cursor){ data, data + avro->block.len, STEPS + STEPS_A_BYTE * avro->block.len };
    return TARN_OK;
}

tarn_code tarn_avro_next(struct tarn_avro *avro, tarn_avro_field_fn *fn, void *ctx, bool *found, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    *found = false;
    while (code == TARN_OK && avro->left == 0) {
        if (available(avro) == 0 && !avro->at_end)
            code = read_more(avro, err);
        if (code == TARN_OK && available(avro) == 0)
            return TARN_OK;
        if (code == TARN_OK)
            code = read_block(avro, err);
    }
    if (code != TARN_OK)
        return code;
    avro->left--;
    *found = true;
    return tarn_avro_decode(&avro->cursor, avro->schema.root, -1, fn, ctx, 0, err);
}
