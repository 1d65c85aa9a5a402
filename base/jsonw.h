/* jsonw.h - JSON written straight into a buffer: for the hot answers and for
 * documents that are never held as a tree. Commas and escapes are its business. */
#ifndef TARN_BASE_JSONW_H
#define TARN_BASE_JSONW_H
#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

struct tarn_jsonw {
    struct tarn_buf *out; /* borrowed */
    bool comma;           /* a value came before at this level */
};

static inline struct tarn_jsonw tarn_jsonw_to(struct tarn_buf *out)
{
    return (struct tarn_jsonw){ out, false };
}
void tarn_jsonw_object(struct tarn_jsonw *w); /* { */
void tarn_jsonw_object_end(struct tarn_jsonw *w);
void tarn_jsonw_array(struct tarn_jsonw *w); /* [ */
void tarn_jsonw_array_end(struct tarn_jsonw *w);
void tarn_jsonw_key(struct tarn_jsonw *w, const char *key);
void tarn_jsonw_str(struct tarn_jsonw *w, const char *text); /* NULL: null */
void tarn_jsonw_strn(struct tarn_jsonw *w, const char *text, size_t len);
void tarn_jsonw_i64(struct tarn_jsonw *w, int64_t value);
void tarn_jsonw_real(struct tarn_jsonw *w, double value);
void tarn_jsonw_bool(struct tarn_jsonw *w, bool value);
void tarn_jsonw_null(struct tarn_jsonw *w);
void tarn_jsonw_raw(struct tarn_jsonw *w, const char *json); /* a ready JSON value; NULL: null */
void tarn_jsonw_json(struct tarn_jsonw *w, const json_t *value);
/* key and value in one line */
void tarn_jsonw_kstr(struct tarn_jsonw *w, const char *key, const char *text);
void tarn_jsonw_ki64(struct tarn_jsonw *w, const char *key, int64_t value);
void tarn_jsonw_kbool(struct tarn_jsonw *w, const char *key, bool value);
void tarn_jsonw_ktime(struct tarn_jsonw *w, const char *key, int64_t ms); /* RFC 3339; negative: null */
void tarn_jsonw_kraw(struct tarn_jsonw *w, const char *key, const char *json);
#endif
