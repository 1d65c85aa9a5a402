/* test_avro.c - container files built here byte by byte. Source: Apache Avro 1.11 specification, "Binary Encoding", "Object
 * Container Files"; Iceberg table specification, field ids of manifests. */
#include "formats/iceberg/manifests.h"
#include "tests/support/pieces.h"
#include <criterion/criterion.h>
#include <snappy-c.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* --- writing --- */

static void put_long(struct tarn_buf *out, int64_t value)
{
    uint64_t rest = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);

    for (; rest > 127; rest >>= 7)
        tarn_buf_addc(out, (char)(rest | 128));
    tarn_buf_addc(out, (char)rest);
}

static void put_text(struct tarn_buf *out, const char *text)
{
    put_long(out, (int64_t)strlen(text));
    tarn_buf_adds(out, text);
}

#define SYNC "0123456789abcdef"

static void put_head(struct tarn_buf *out, const char *schema, const char *codec)
{
    tarn_buf_add(out, "Obj\x01", 4);
    put_long(out, codec ? 2 : 1);
    put_text(out, "avro.schema");
    put_text(out, schema);
    if (codec) {
        put_text(out, "avro.codec");
        put_text(out, codec);
    }
    put_long(out, 0);
    tarn_buf_add(out, SYNC, 16);
}

static void put_block(struct tarn_buf *out, int64_t records, const char *data, size_t len)
{
    put_long(out, records);
    put_long(out, (int64_t)len);
    tarn_buf_add(out, data, len);
    tarn_buf_add(out, SYNC, 16);
}

/* --- reading --- */

static tarn_code note_manifest(void *ctx, const struct tarn_iceberg_manifest *row, struct tarn_err *err)
{
    (void)err;
    tarn_buf_addf(ctx, "%s %lld %lld %lld\n", row->path, (long long)row->length, (long long)row->content,
                  (long long)row->sequence_number);
    return TARN_OK;
}

static tarn_code note_file(void *ctx, const struct tarn_iceberg_file *row, struct tarn_err *err)
{
    (void)err;
    tarn_buf_addf(ctx, "%lld %lld %s %lld %lld\n", (long long)row->status, (long long)row->content, row->path,
                  (long long)row->records, (long long)row->size);
    return TARN_OK;
}

static tarn_code read_list(const struct tarn_buf *file, size_t len, size_t step, struct tarn_buf *out, struct tarn_err *err)
{
    struct tarn_pieces source = { .at = file->data, .left = len, .step = step };

    return tarn_iceberg_manifest_list(tarn_pieces_fill, &source, note_manifest, out, err);
}

/* --- a manifest list: a long that may be null, a list and a map that are passed over, a name used again --- */

static const char k_list[] =
    "{\"type\":\"record\",\"name\":\"manifest_file\",\"fields\":["
    "{\"name\":\"manifest_path\",\"type\":\"string\",\"field-id\":500},"
    "{\"name\":\"manifest_length\",\"type\":\"long\",\"field-id\":501},"
    "{\"name\":\"content\",\"type\":[\"null\",\"int\"],\"field-id\":517},"
    "{\"name\":\"partitions\",\"field-id\":507,\"type\":[\"null\",{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"r508\","
    "\"fields\":[{\"name\":\"contains_null\",\"type\":\"boolean\",\"field-id\":509},"
    "{\"name\":\"lower\",\"type\":[\"null\",\"bytes\"],\"field-id\":510}]}}]},"
    "{\"name\":\"again\",\"type\":[\"null\",\"r508\"]},"
    "{\"name\":\"tags\",\"type\":{\"type\":\"map\",\"values\":\"double\"}},"
    "{\"name\":\"seal\",\"type\":{\"type\":\"fixed\",\"name\":\"f4\",\"size\":4}},"
    "{\"name\":\"sequence_number\",\"type\":\"long\",\"field-id\":515}]}";
static const char k_rows[] = "file:///m1.avro 100 0 7\nfile:///m2.avro 9007199254740993 1 -8\n";

static void put_rows(struct tarn_buf *out)
{
    put_text(out, "file:///m1.avro");
    put_long(out, 100);
    put_long(out, 0); /* content: null, which is data */
    put_long(out, 0); /* partitions: null */
    put_long(out, 0);
    put_long(out, 0); /* no tags */
    tarn_buf_add(out, "seal", 4);
    put_long(out, 7);

    put_text(out, "file:///m2.avro");
    put_long(out, INT64_C(9007199254740993));
    put_long(out, 1);
    put_long(out, 1); /* content: 1 */
    put_long(out, 1);
    put_long(out, 2); /* two partitions; then a block that tells its bytes; then the end */
    tarn_buf_add(out, "\x01\x02\x04" "ab" "\x00\x00", 7);
    put_long(out, -1);
    put_long(out, 2);
    tarn_buf_add(out, "\x00\x00", 2);
    put_long(out, 0);
    put_long(out, 1); /* the named record */
    tarn_buf_add(out, "\x01\x00", 2);
    put_long(out, 1); /* one tag */
    put_text(out, "k");
    tarn_buf_add(out, "\0\0\0\0\0\0\0\0", 8);
    put_long(out, 0);
    tarn_buf_add(out, "seal", 4);
    put_long(out, -8);
}

static void pack(const char *codec, const struct tarn_buf *raw, struct tarn_buf *out)
{
    static char room[4096];
    size_t len = sizeof room;

    if (strcmp(codec, "deflate") == 0) {
        z_stream z = { .next_in = (Bytef *)raw->data, .avail_in = (uInt)raw->len, .next_out = (Bytef *)room,
                       .avail_out = sizeof room };
        cr_assert_eq(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
        cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
        len = sizeof room - z.avail_out;
        (void)deflateEnd(&z);
    } else if (strcmp(codec, "snappy") == 0) {
        cr_assert_eq(snappy_compress(raw->data, raw->len, room, &len), SNAPPY_OK);
        uint32_t sum = (uint32_t)crc32_z(0, (const Bytef *)raw->data, raw->len);
        for (int shift = 24; shift >= 0; shift -= 8)
            room[len++] = (char)(sum >> shift);
    } else if (strcmp(codec, "zstandard") == 0) {
        len = ZSTD_compress(room, sizeof room, raw->data, raw->len, 3);
        cr_assert_eq(ZSTD_isError(len), 0);
    } else {
        len = raw->len;
        memcpy(room, raw->data, len);
    }
    tarn_buf_add(out, room, len);
}

static void put_file(const char *codec, struct tarn_buf *out)
{
    TARN_AUTO_DONE(buf) struct tarn_buf rows = { 0 };
    struct tarn_buf packed = { 0 };

    put_rows(&rows);
    pack(codec ? codec : "null", &rows, &packed);
    put_head(out, k_list, codec);
    put_block(out, 2, packed.data, packed.len);
    tarn_buf_done(&packed);
}

static const char *const k_codecs[] = { NULL, "null", "deflate", "snappy", "zstandard" };

Test(avro, a_manifest_list_is_read_whatever_packs_it_and_in_pieces_of_any_length)
{
    for (size_t i = 0; i < sizeof k_codecs / sizeof *k_codecs; i++) {
        for (size_t step = 1; step < 70; step += 4) {
            TARN_AUTO_DONE(buf) struct tarn_buf file = { 0 };
            struct tarn_buf out = { 0 };
            TARN_ERR(err);
            put_file(k_codecs[i], &file);
            cr_expect_eq(read_list(&file, file.len, step, &out, &err), TARN_OK, "%s: %s", k_codecs[i], err.detail);
            cr_expect_str_eq(out.data, k_rows);
            tarn_buf_done(&out);
        }
    }
}

Test(avro, a_file_that_ends_early_is_an_error_wherever_it_ends)
{
    for (size_t i = 0; i < sizeof k_codecs / sizeof *k_codecs; i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf file = { 0 }, head = { 0 };
        put_file(k_codecs[i], &file);
        put_head(&head, k_list, k_codecs[i]);
        for (size_t len = 0; len < file.len; len++) {
            struct tarn_buf out = { 0 };
            char *exact = malloc(len + 1); /* so that a byte too far is seen */
            memcpy(exact, file.data, len);
            const struct tarn_buf cut = { .data = exact, .len = len };
            tarn_code code = read_list(&cut, len, 1000, &out, NULL);
            cr_expect_eq(code, len == head.len ? TARN_OK : TARN_INVALID, "%s: %zu bytes: %d", k_codecs[i], len, (int)code);
            cr_expect_eq(out.len, 0);
            tarn_buf_done(&out);
            free(exact);
        }
        tarn_buf_done(&head);
    }
}

Test(avro, any_byte_that_is_wrong_is_a_verdict_and_no_crash)
{
    for (size_t i = 1; i < sizeof k_codecs / sizeof *k_codecs; i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf file = { 0 };
        put_file(k_codecs[i], &file);
        for (size_t at = 0; at < file.len; at++) {
            struct tarn_buf out = { 0 };
            TARN_ERR(err);
            file.data[at] = (char)(file.data[at] ^ 0x55);
            tarn_code code = read_list(&file, file.len, 1000, &out, &err);
            cr_expect(code == TARN_OK || code == TARN_INVALID || code == TARN_PAYLOAD_TOO_LARGE, "%zu: %d", at, (int)code);
            file.data[at] = (char)(file.data[at] ^ 0x55);
            tarn_buf_done(&out);
        }
    }
}

/* --- what is refused --- */

#define RECORD(fields) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"
#define PATH "{\"name\":\"p\",\"type\":\"string\",\"field-id\":500}"

static const struct bad {
    const char *name, *schema, *codec;
    int64_t records;
    const char *data;
    size_t len;
    const char *refused;
} k_bad[] = {
    { "an unknown codec", RECORD(PATH), "lzma", 1, "\x02" "a", 2, "the Avro file is packed with an unknown codec: lzma" },
    { "no record", "\"string\"", NULL, 1, "\x02" "a", 2, "the Avro schema is no record" },
    { "an unknown type", RECORD("{\"name\":\"p\",\"type\":\"text\"}"), NULL, 1, "", 0, "the Avro schema has an unknown type: text" },
    { "no path", RECORD("{\"name\":\"p\",\"type\":\"string\"}"), NULL, 1, "\x02" "a", 2,
      "a row of the manifest list has no manifest_path" },
    { "a branch that is none", RECORD("{\"name\":\"p\",\"type\":[\"null\",\"string\"],\"field-id\":500}"), NULL, 1, "\x06", 1,
      "the Avro data is broken: a union has no branch 3" },
    { "a branch below zero", RECORD("{\"name\":\"p\",\"type\":[\"null\",\"string\"],\"field-id\":500}"), NULL, 1, "\x01", 1,
      "the Avro data is broken: a union has no branch -1" },
    { "a length below zero", RECORD(PATH), NULL, 1, "\x01", 1, "the Avro data is broken: a length is negative" },
    { "a length beyond the block", RECORD(PATH), NULL, 1, "\x7e" "a", 2, "the Avro data is broken: it ends early" },
    { "a number of 80 bits", RECORD(PATH), NULL, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11,
      "the Avro data is broken: a number has more than 64 bits" },
    { "more items than bytes", RECORD("{\"name\":\"a\",\"type\":{\"type\":\"array\",\"items\":\"null\"}}"), NULL, 1,
      "\xfe\xff\xff\xff\xff\x0f", 6, "the Avro data is broken: it claims more items than there are bytes" },
    { "more records than values", RECORD(PATH), NULL, 9, "\x02" "a", 2, "the Avro data is broken: it ends early" },
    { "records below zero", RECORD(PATH), NULL, -1, "\x02" "a", 2, "a block of the Avro file is broken or larger than 67108864 bytes" },
    { "snappy without a checksum", RECORD(PATH), "snappy", 1, "abc", 3,
      "a block of the Avro file is broken: it has no checksum" },
    { "snappy with a wrong checksum", RECORD(PATH), "snappy", 1, "\x02\x04\x02" "a" "\0\0\0\0", 8,
      "a block of the Avro file is broken: its checksum is wrong" },
    { "a record in itself without end", RECORD("{\"name\":\"a\",\"type\":\"r\"}"), NULL, 1, "", 0,
      "the Avro data is nested deeper than 32 levels" },
};

Test(avro, what_cannot_be_is_refused)
{
    for (size_t i = 0; i < sizeof k_bad / sizeof *k_bad; i++) {
        const struct bad *row = &k_bad[i];
        TARN_AUTO_DONE(buf) struct tarn_buf file = { 0 }, out = { 0 };
        TARN_ERR(err);
        put_head(&file, row->schema, row->codec);
        put_block(&file, row->records, row->data, row->len);
        cr_expect_eq(read_list(&file, file.len, 1000, &out, &err), TARN_INVALID, "%s", row->name);
        cr_expect_str_eq(err.detail, row->refused, "%s: \"%s\"", row->name, err.detail);
        tarn_buf_done(&out);
    }
}

/* Records and values without bytes cost nothing to claim: a file of some hundred bytes must not keep the reader busy. */
Test(avro, values_without_bytes_do_not_go_on_for_ever, .timeout = 20)
{
    TARN_AUTO_DONE(buf) struct tarn_buf file = { 0 }, wide = { 0 };
    struct tarn_pieces source;
    struct tarn_buf out = { 0 };

    put_head(&file, RECORD("{\"name\":\"n\",\"type\":\"null\"}"), NULL);
    put_block(&file, INT64_MAX, "", 0);
    source = (struct tarn_pieces){ .at = file.data, .left = file.len, .step = 1000 };
    cr_expect_eq(tarn_iceberg_manifest_files(tarn_pieces_fill, &source, note_file, &out, NULL), TARN_INVALID);

    /* 20 records, each of ten of the one before. */
    tarn_buf_adds(&wide, "{\"type\":\"record\",\"name\":\"r0\",\"fields\":[]}");
    for (int level = 1; level < 20; level++) {
        struct tarn_buf next = { 0 };
        tarn_buf_addf(&next, "{\"type\":\"record\",\"name\":\"r%d\",\"fields\":[{\"name\":\"f\",\"type\":%s}", level, wide.data);
        for (int i = 0; i < 9; i++)
            tarn_buf_addf(&next, ",{\"name\":\"f%d\",\"type\":\"r%d\"}", i, level - 1);
        tarn_buf_adds(&next, "]}");
        tarn_buf_done(&wide);
        wide = next;
    }
    tarn_buf_clear(&file);
    put_head(&file, wide.data, NULL);
    put_block(&file, 1, "", 0);
    source = (struct tarn_pieces){ .at = file.data, .left = file.len, .step = 1000 };
    cr_expect_eq(tarn_iceberg_manifest_files(tarn_pieces_fill, &source, note_file, &out, NULL), TARN_INVALID);
    tarn_buf_done(&wide);
    tarn_buf_done(&out);
}

Test(avro, a_manifest_has_its_files_inside_a_record_deleted_ones_too)
{
    static const char schema[] =
        "{\"type\":\"record\",\"name\":\"manifest_entry\",\"fields\":[{\"name\":\"status\",\"type\":\"int\",\"field-id\":0},"
        "{\"name\":\"data_file\",\"field-id\":2,\"type\":{\"type\":\"record\",\"name\":\"r2\",\"fields\":["
        "{\"name\":\"content\",\"type\":\"int\",\"field-id\":134},{\"name\":\"any_name\",\"type\":\"string\",\"field-id\":100},"
        "{\"name\":\"record_count\",\"type\":\"long\",\"field-id\":103},{\"name\":\"size\",\"type\":\"long\",\"field-id\":104}]}}]}";
    TARN_AUTO_DONE(buf) struct tarn_buf file = { 0 }, rows = { 0 };
    struct tarn_buf out = { 0 };
    TARN_ERR(err);

    for (int i = 0; i < 3; i++) {
        put_long(&rows, i);
        put_long(&rows, 2 - i);
        put_text(&rows, i == 1 ? "" : "file:///d.parquet");
        put_long(&rows, 10 + i);
        put_long(&rows, 100 + i);
    }
    put_head(&file, schema, "null");
    put_block(&file, 3, rows.data, rows.len);
    put_block(&file, 0, "", 0);
    struct tarn_pieces source = { .at = file.data, .left = file.len, .step = 7 };
    cr_expect_eq(tarn_iceberg_manifest_files(tarn_pieces_fill, &source, note_file, &out, &err), TARN_OK, "%s", err.detail);
    cr_expect_str_eq(out.data, "0 2 file:///d.parquet 10 100\n2 0 file:///d.parquet 12 102\n");
    file.data[file.len - 1] ^= 1; /* the mark of the last block */
    source = (struct tarn_pieces){ .at = file.data, .left = file.len, .step = 7 };
    cr_expect_eq(tarn_iceberg_manifest_files(tarn_pieces_fill, &source, note_file, &out, &err), TARN_INVALID);
    cr_expect_str_eq(err.detail, "a block of the Avro file is broken: its end mark is missing");
    tarn_buf_done(&out);
    tarn_buf_done(&rows);
}
