/* test_hash.c - digests (FIPS 180-4 examples), ids, comparison. */
#include "base/hash.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

Test(hash, sha256_is_that_of_the_standard)
{
    static const struct { const char *text, *hex; } k_rows[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        char hex[TARN_SHA256_HEX];
        tarn_sha256_hex(k_rows[i].text, strlen(k_rows[i].text), hex);
        cr_expect(eq(str, hex, (char *)k_rows[i].hex));
    }
}

Test(hash, a_stream_has_the_digest_of_the_whole)
{
    char million[1000], hex[TARN_SHA256_HEX];
    struct tarn_sha256 *s = tarn_sha256_new();

    memset(million, 'a', sizeof million);
    for (int i = 0; i < 1000; i++)
        tarn_sha256_add(s, million, sizeof million);
    tarn_sha256_end(s, hex);
    cr_expect(eq(str, hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

Test(hash, keys_of_sets_differ_and_repeat)
{
    struct tarn_hash128 a = tarn_hash128("a", 1), b = tarn_hash128("b", 1), again = tarn_hash128("a", 1);

    cr_expect(a.hi != b.hi && a.lo != b.lo);
    cr_expect(a.hi == again.hi && a.lo == again.lo);
}

Test(hash, a_uuid_is_of_version_4_and_new_each_time)
{
    char a[TARN_UUID_TEXT], b[TARN_UUID_TEXT];
    TARN_ERR(err);

    for (int i = 0; i < 100; i++) {
        cr_assert(eq(int, tarn_uuid(a, &err), TARN_OK));
        cr_assert(eq(int, tarn_uuid(b, &err), TARN_OK));
        cr_expect(eq(sz, strlen(a), 36));
        cr_expect(a[8] == '-' && a[13] == '-' && a[18] == '-' && a[23] == '-');
        cr_expect(eq(chr, a[14], '4'));
        cr_expect(strchr("89ab", a[19]) != NULL, "%s", a);
        cr_expect(eq(sz, strspn(a, "0123456789abcdef-"), 36));
        cr_expect(ne(str, a, b));
    }
}

Test(hash, random_bytes_fill_the_room)
{
    unsigned char bytes[4096] = { 0 };
    int zeros = 0;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_random(bytes, sizeof bytes, &err), TARN_OK));
    for (size_t i = 0; i < sizeof bytes; i++)
        zeros += bytes[i] == 0;
    cr_expect(lt(int, zeros, 64)); /* 16 expected */
}

Test(hash, equal_texts_are_equal)
{
    cr_expect(tarn_equal_ct("", "") && tarn_equal_ct("abc", "abc"));
    cr_expect(not(tarn_equal_ct("abc", "abd") || tarn_equal_ct("abc", "ab") || tarn_equal_ct("", "a")));
}
