/* test_squeeze.c - what other programs packed is unpacked within a bound, and what is broken is refused. */
#include "base/squeeze.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* "tarn tarn tarn" as `printf 'tarn tarn tarn' | gzip -n`, as Python's zlib with window -15, as a snappy block of one literal
 * (length 14, tag 13 << 2), and as a zstd frame (RFC 8878) of one raw block of 14 bytes. */
#define TEXT "tarn tarn tarn"
static const struct {
    enum tarn_codec codec;
    const char *name, *data;
    size_t len;
} k_packed[] = {
    { TARN_CODEC_NONE, "none", TEXT, 14 },
    { TARN_CODEC_DEFLATE, "deflate, stored", "\x01\x0e\x00\xf1\xff" TEXT, 19 },
    { TARN_CODEC_GZIP, "gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x01\x0e\x00\xf1\xff" TEXT "@SUM_LEN", 37 },
    { TARN_CODEC_SNAPPY, "snappy", "\x0e\x34" TEXT, 16 },
    { TARN_CODEC_ZSTD, "zstd", "\x28\xb5\x2f\xfd\x20\x0e\x71\x00\x00" TEXT, 23 },
};

/* The gzip member's end: checksum and length, little endian. */
static void copy_of(size_t row, char out[64])
{
    memcpy(out, k_packed[row].data, k_packed[row].len < 40 ? k_packed[row].len : 40);
    if (k_packed[row].codec != TARN_CODEC_GZIP)
        return;
    uint32_t sum = tarn_crc32(TEXT, 14);
    for (int i = 0; i < 4; i++) {
        out[29 + i] = (char)(sum >> (8 * i));
        out[33 + i] = (char)(i == 0 ? 14 : 0);
    }
}

Test(squeeze, a_checksum_is_that_of_the_specification)
{
    cr_expect_eq(tarn_crc32("123456789", 9), 0xcbf43926u); /* the check value of CRC-32 */
    cr_expect_eq(tarn_crc32("", 0), 0u);
}

Test(squeeze, every_codec_gives_the_text_back)
{
    for (size_t i = 0; i < sizeof k_packed / sizeof *k_packed; i++) {
        char data[64] = { 0 };
        struct tarn_buf out = { 0 };
        TARN_ERR(err);
        copy_of(i, data);
        tarn_buf_adds(&out, "so ");
        cr_expect_eq(tarn_unsqueeze(k_packed[i].codec, data, k_packed[i].len, 14, &out, &err), TARN_OK, "%s: %s",
                     k_packed[i].name, err.detail);
        cr_expect_eq(out.len, 17, "%s: %zu", k_packed[i].name, out.len);
        cr_expect_eq(memcmp(out.data, "so " TEXT, 17), 0, "%s", k_packed[i].name);
        tarn_buf_done(&out);
    }
}

Test(squeeze, more_than_the_bound_is_refused)
{
    for (size_t i = 0; i < sizeof k_packed / sizeof *k_packed; i++) {
        char data[64] = { 0 };
        struct tarn_buf out = { 0 };
        copy_of(i, data);
        cr_expect_eq(tarn_unsqueeze(k_packed[i].codec, data, k_packed[i].len, 13, &out, NULL), TARN_PAYLOAD_TOO_LARGE, "%s",
                     k_packed[i].name);
        tarn_buf_done(&out);
    }
}

Test(squeeze, data_that_ends_early_is_refused)
{
    for (size_t i = 1; i < sizeof k_packed / sizeof *k_packed; i++) {
        for (size_t len = 0; len < k_packed[i].len; len++) {
            char data[64] = { 0 };
            struct tarn_buf out = { 0 };
            copy_of(i, data);
            char *exact = malloc(len + 1);
            memcpy(exact, data, len);
            cr_expect_eq(tarn_unsqueeze(k_packed[i].codec, exact, len, 1000, &out, NULL), TARN_INVALID, "%s: %zu bytes",
                         k_packed[i].name, len);
            free(exact);
            tarn_buf_done(&out);
        }
    }
}

Test(squeeze, a_megabyte_of_nothing_is_not_unpacked_beyond_the_bound)
{
    char *zeros = calloc(1, 1 << 20), packed[4096];
    struct tarn_buf zipped = { 0 }, out = { 0 };
    size_t len = ZSTD_compress(packed, sizeof packed, zeros, 1 << 20, 3);

    cr_assert_eq(tarn_gzip(zeros, 1 << 20, &zipped, NULL), TARN_OK);
    cr_expect(tarn_is_gzip(zipped.data, zipped.len));
    cr_expect_not(tarn_is_gzip("{", 1));
    cr_expect_eq(tarn_unsqueeze(TARN_CODEC_GZIP, zipped.data, zipped.len, 100000, &out, NULL), TARN_PAYLOAD_TOO_LARGE);
    cr_expect_lt(out.len, 300000);
    tarn_buf_clear(&out);
    cr_expect_eq(tarn_unsqueeze(TARN_CODEC_ZSTD, packed, len, 100000, &out, NULL), TARN_PAYLOAD_TOO_LARGE);
    cr_expect_lt(out.len, 300000);
    tarn_buf_clear(&out);
    cr_expect_eq(tarn_unsqueeze(TARN_CODEC_GZIP, zipped.data, zipped.len, 1 << 20, &out, NULL), TARN_OK);
    cr_expect_eq(out.len, 1 << 20);
    cr_expect_eq(memcmp(out.data, zeros, 1 << 20), 0);
    tarn_buf_done(&out);
    tarn_buf_done(&zipped);
    free(zeros);
}
