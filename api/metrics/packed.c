/* packed.c - see packed.h. Seven bits a byte, the lowest first; 0 is "none" (INT64_MIN), other
 * numbers count to both sides from 1, so that small ones of either sign are one byte. */
#include "api/metrics/packed.h"

static void put(struct tarn_packed *list, uint64_t bits)
{
    char text[10];
    size_t len = 0;

    for (; bits >= 128; bits >>= 7)
        text[len++] = (char)(unsigned char)(bits | 128);
    text[len++] = (char)bits;
    tarn_buf_add(&list->bytes, text, len);
}

static uint64_t get(struct tarn_packed *list)
{
    const unsigned char *data = (const unsigned char *)list->bytes.data;
    uint64_t bits = 0;

    for (unsigned shift = 0; list->at < list->bytes.len; shift += 7) {
        unsigned char byte = data[list->at++];
        bits |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    return bits;
}

/* INT64_MIN has no counterpart: its place on the negative side is the one that wraps to 0. */
void tarn_packed_put(struct tarn_packed *list, int64_t value)
{
    uint64_t both = value < 0 ? ((uint64_t) ~value << 1 | 1) : (uint64_t)value << 1;

    put(list, both + 1);
}

int64_t tarn_packed_get(struct tarn_packed *list)
{
    uint64_t both = get(list) - 1;

    return both & 1 ? ~(int64_t)(both >> 1) : (int64_t)(both >> 1);
}

void tarn_packed_put_text(struct tarn_packed *list, const char *text, size_t len)
{
    put(list, len);
    tarn_buf_add(&list->bytes, text, len);
}

const char *tarn_packed_get_text(struct tarn_packed *list, size_t *len)
{
    uint64_t wanted = get(list);
    size_t left = list->bytes.len - list->at;
    const char *text = list->bytes.data + list->at;

    *len = wanted < left ? (size_t)wanted : left;
    list->at += *len;
    return text;
}

void tarn_packed_done(struct tarn_packed *list) { tarn_buf_done(&list->bytes); }
