/* packed.h - a list of whole numbers or texts in few bytes, written once from front
 * to back and read the same way as often as one likes: a scrape keeps a hundred
 * thousand tables in some megabytes while it writes family after family. */
#ifndef TARN_API_METRICS_PACKED_H
#define TARN_API_METRICS_PACKED_H
#include "base/buf.h"

struct tarn_packed {
    struct tarn_buf bytes; /* owned; a failed append sticks */
    size_t at;             /* of the next one to read */
};
void tarn_packed_put(struct tarn_packed *list, int64_t value); /* any value, INT64_MIN too */
void tarn_packed_put_text(struct tarn_packed *list, const char *text, size_t len);
/* The next one; what was put in that order. */
int64_t tarn_packed_get(struct tarn_packed *list);
const char *tarn_packed_get_text(struct tarn_packed *list, size_t *len); /* borrowed, no NUL after it */
void tarn_packed_done(struct tarn_packed *list);
#endif
