/* pieces.h - bytes in memory as a reader's source, so many at a time. A header alone, for the fuzz targets too. */
#ifndef TARN_TESTS_PIECES_H
#define TARN_TESTS_PIECES_H
#include "base/err.h"
#include <string.h>

struct tarn_pieces {
    const void *at;
    size_t left, step;      /* step: bytes a call, 0: as many as are wanted */
    tarn_code fault_at_end; /* TARN_OK: an end */
};

static inline tarn_code tarn_pieces_fill(void *source, char *data, size_t cap, size_t *len, struct tarn_err *err)
{
    struct tarn_pieces *p = source;

    if (p->left == 0 && p->fault_at_end != TARN_OK)
        return tarn_fail(err, p->fault_at_end, "the disk is gone");
    *len = p->left < cap ? p->left : cap;
    if (p->step && *len > p->step)
        *len = p->step;
    memcpy(data, p->at, *len);
    p->at = (const char *)p->at + *len;
    p->left -= *len;
    return TARN_OK;
}
#endif
