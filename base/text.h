/* text.h - small facts about bytes, and the texts that a struct owns. */
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

/* --- text_owned.c: NULL is a text that is not there --- */
/* Owned. *failed turns true when there is no memory: for several in a row. */
char *tarn_text_copy(const char *text, bool *failed);
/* *member (owned) becomes a copy; false: no memory, it is as it was. */
TARN_MUST bool tarn_text_set(char **member, const char *text);
/* *member (owned) becomes `text`, which was just made: NULL is no memory. */
TARN_MUST tarn_code tarn_text_own(char **member, char *text, struct tarn_err *err);
#endif
