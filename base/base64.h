/* base64.h - base64url without padding (RFC 4648 section 5): secrets and page tokens. */
#ifndef TARN_BASE_BASE64_H
#define TARN_BASE_BASE64_H
#include <stdbool.h>
#include <stddef.h>

#define TARN_BASE64_TEXT(len) (((len) * 4 + 2) / 3 + 1) /* bytes of the text with the NUL */

/* `out` has room for TARN_BASE64_TEXT(len). */
void tarn_base64url_encode(const void *data, size_t len, char *out);
/* `out` has room for strlen(text) bytes; false: not base64url, or bits left over that are not zero. */
bool tarn_base64url_decode(const char *text, void *out, size_t *len);
#endif
