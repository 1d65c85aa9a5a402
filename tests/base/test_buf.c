/* test_buf.c - the growing buffer and its sticking failure. */
#include "base/buf.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

Test(buf, appended_pieces_make_one_text)
{
    TARN_AUTO_DONE(buf) struct tarn_buf b = { 0 };

    tarn_buf_adds(&b, "one");
    tarn_buf_addc(&b, ' ');
    tarn_buf_addf(&b, "%d-%s", 2, "three");
    tarn_buf_add(&b, "xyz", 2);
    cr_expect(eq(str, b.data, "one 2-threexy"));
    cr_expect(eq(sz, b.len, 13));
    TARN_ERR(err);
    cr_expect(eq(int, tarn_buf_check(&b, &err), TARN_OK));
}

Test(buf, many_single_bytes_stay_terminated)
{
    TARN_AUTO_DONE(buf) struct tarn_buf b = { 0 };

    for (size_t i = 0; i < 1000; i++) {
        tarn_buf_addc(&b, 'a');
        cr_assert(eq(sz, strlen(b.data), i + 1));
    }
}

Test(buf, a_formatted_text_of_any_length_fits)
{
    TARN_AUTO_DONE(buf) struct tarn_buf b = { 0 };

    for (int width = 250; width < 262; width++) {
        tarn_buf_clear(&b);
        tarn_buf_addf(&b, "%*s|", width, "x");
        cr_expect(eq(sz, b.len, (size_t)width + 1));
        cr_expect(eq(chr, b.data[b.len - 1], '|'));
    }
}

Test(buf, the_ceiling_holds_and_the_failure_sticks)
{
    TARN_AUTO_DONE(buf) struct tarn_buf b = { .ceiling = 5 };
    TARN_ERR(err);

    tarn_buf_adds(&b, "12345");
    cr_expect(not(b.failed));
    tarn_buf_addc(&b, '6');
    cr_expect(b.failed);
    tarn_buf_clear(&b);
    tarn_buf_adds(&b, "123456");
    tarn_buf_adds(&b, "1");
    cr_expect(eq(int, tarn_buf_check(&b, &err), TARN_PAYLOAD_TOO_LARGE));
    cr_expect(tarn_buf_take(&b) == NULL);
    cr_expect(tarn_buf_reserve(&b, 1) == NULL);
    tarn_buf_clear(&b);
    tarn_buf_addf(&b, "%s", "1234");
    cr_expect(eq(str, b.data, "1234"));
}

Test(buf, taking_hands_the_text_over_and_leaves_it_empty)
{
    TARN_AUTO_DONE(buf) struct tarn_buf b = { 0 };
    TARN_AUTO(mem) char *empty = tarn_buf_take(&b);

    cr_expect(eq(str, empty, ""));
    tarn_buf_adds(&b, "x");
    TARN_AUTO(mem) char *text = tarn_buf_take(&b);
    cr_expect(eq(str, text, "x"));
    cr_expect(b.data == NULL);
    cr_expect(eq(sz, b.len, 0));
    tarn_buf_adds(&b, "again");
    cr_expect(eq(str, b.data, "again"));
}

Test(buf, reserved_room_is_the_callers_to_fill)
{
    TARN_AUTO_DONE(buf) struct tarn_buf b = { 0 };
    char *room = tarn_buf_reserve(&b, 300);

    cr_assert(room != NULL);
    memset(room, 'z', 300);
    b.len += 200;
    tarn_buf_adds(&b, "end");
    cr_expect(eq(sz, strlen(b.data), 203));
    cr_expect(tarn_buf_reserve(&b, SIZE_MAX) == NULL);
    cr_expect(b.failed);
}
