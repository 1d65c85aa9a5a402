/* read.c - the footer of a file on storage: one read of the tail finds nearly all of them. */
#include "formats/parquet/footer.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TAIL_BYTES 65536
#define FILE_MIN 12 /* bytes: the magic twice and the length of the footer */

static tarn_code verdict(enum tarn_parquet_state state, const char *reason, struct tarn_parquet **out,
                         struct tarn_err *err)
{
    struct tarn_parquet *parquet = calloc(1, sizeof *parquet);

    if (!parquet)
        return tarn_fail_oom(err);
    parquet->state = state;
    snprintf(parquet->reason, sizeof parquet->reason, "%s", reason);
    *out = parquet;
    return TARN_OK;
}

static uint32_t footer_length(const char *tail, size_t len)
{
    const unsigned char *at = (const unsigned char *)tail + len - 8;

    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The last eight bytes judged: TARN_PARQUET_OK when a footer of *footer_len bytes may be read. */
static enum tarn_parquet_state judge_end(const char *tail, size_t len, int64_t file_size,
                                         uint32_t *footer_len, char reason[128])
{
    const char *magic = tail + len - 4;

    if (memcmp(magic, "PARE", 4) == 0) {
        snprintf(reason, 128, "the footer is encrypted");
        return TARN_PARQUET_ENCRYPTED;
    }
    if (memcmp(magic, "PAR1", 4) != 0) {
        snprintf(reason, 128, "no Parquet file, or cut: it does not end in PAR1");
        return TARN_PARQUET_CORRUPT;
    }
    *footer_len = footer_length(tail, len);
    if (*footer_len == 0 || *footer_len > file_size - FILE_MIN) {
        snprintf(reason, 128, "a footer of %" PRIu32 " bytes in a file of %" PRId64, *footer_len, file_size);
        return TARN_PARQUET_CORRUPT;
    }
    if (*footer_len > TARN_FOOTER_MAX) {
        snprintf(reason, 128, "the footer has %" PRIu32 " bytes, more than Tarn reads", *footer_len);
        return TARN_PARQUET_TOO_LARGE;
    }
    return TARN_PARQUET_OK;
}

static tarn_code read_range(struct tarn_place *place, const char *path, int64_t offset, size_t len,
                            struct tarn_buf *out, bool *whole, struct tarn_err *err)
{
    tarn_code code = tarn_place_read(place, path, offset, len, out, err);

    *whole = code == TARN_OK && out->len == len;
    return code;
}

static tarn_code read_long_footer(struct tarn_place *place, const char *path, int64_t file_size,
                                  uint32_t footer_len, struct tarn_parquet **out, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf footer = { 0 };
    bool whole = false;
    tarn_code code =
        read_range(place, path, file_size - 8 - (int64_t)footer_len, footer_len, &footer, &whole, err);

    if (code != TARN_OK)
        return code;
    if (!whole)
        return verdict(TARN_PARQUET_CORRUPT, "the file became shorter while it was read", out, err);
    return tarn_parquet_footer(footer.data, footer.len, file_size, out, err);
}

tarn_code tarn_parquet_read(struct tarn_place *place, const char *path, int64_t file_size,
                            struct tarn_parquet **out, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf tail = { 0 };
    char reason[128] = "";
    uint32_t footer_len = 0;
    bool whole = false;

    if (file_size < FILE_MIN) {
        snprintf(reason, sizeof reason, "%" PRId64 " bytes are too few for a Parquet file", file_size);
        return verdict(TARN_PARQUET_CORRUPT, reason, out, err);
    }
    size_t want = file_size < TAIL_BYTES ? (size_t)file_size : TAIL_BYTES;
    tarn_code code = read_range(place, path, file_size - (int64_t)want, want, &tail, &whole, err);
    if (code != TARN_OK)
        return code;
    if (!whole)
        return verdict(TARN_PARQUET_CORRUPT, "the file is shorter than it was listed", out, err);
    enum tarn_parquet_state state = judge_end(tail.data, tail.len, file_size, &footer_len, reason);
    if (state != TARN_PARQUET_OK)
        return verdict(state, reason, out, err);
    if (footer_len > tail.len - 8)
        return read_long_footer(place, path, file_size, footer_len, out, err);
    return tarn_parquet_footer(tail.data + tail.len - 8 - footer_len, footer_len, file_size, out, err);
}
