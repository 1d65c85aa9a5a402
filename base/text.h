/* text.h - small facts about bytes. */
#ifndef TARN_BASE_TEXT_H
#define TARN_BASE_TEXT_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

bool tarn_utf8_valid(const char *text, size_t len);
bool tarn_has_control(const char *text, size_t len); /* C0, DEL or C1 */
/* Longest prefix of at most `max` bytes that ends on a character boundary. */
size_t tarn_utf8_cut(const char *text, size_t len, size_t max);
/* Bytes that are no UTF-8 become '?': names on storage may be any bytes, and a printf cuts where it likes. */
void tarn_utf8_mend(char *text);
/* `*` matches any run of bytes, everything else itself. */
bool tarn_glob_match(const char *pattern, const char *text);
bool tarn_starts_with(const char *text, const char *prefix);
bool tarn_ends_with(const char *text, const char *suffix);
/* Percent-decode one segment in place into out (len + 1 bytes); plus_is_space for queries.
 * TARN_INVALID: a broken escape, %00 or bad UTF-8. */
TARN_MUST tarn_code tarn_percent_decode(const char *text, size_t len, bool plus_is_space, char *out,
                                        struct tarn_err *err);
#endif
