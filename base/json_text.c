/* json_text.c - a tree as compact text, through jsonw rather than jansson's own dump: reals come out in
 * their shortest form (0.1, not 0.10000000000000001), and there is one place that escapes. */
#include "base/json.h"
#include "base/jsonw.h"
#include "base/own.h"
#include "base/text.h"
#include "base/time.h"
#include <string.h>

static void write_value(struct tarn_jsonw *w, const json_t *value, bool sorted);

struct member { const char *key; const json_t *value; };

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static void write_member(struct tarn_jsonw *w, const char *key, const json_t *value, bool sorted)
{
    tarn_jsonw_key(w, key);
    write_value(w, value, sorted);
}

static void write_sorted(struct tarn_jsonw *w, const json_t *object)
{
    size_t count = json_object_size(object), i = 0;
    TARN_AUTO(mem) struct member *members = calloc(count ? count : 1, sizeof *members);
    const char *key;
    json_t *value;

    if (!members) {
        w->out->failed = true;
        return;
    }
    json_object_foreach((json_t *)object, key, value)
        members[i++] = (struct member){ key, value };
    qsort(members, count, sizeof *members, by_key);
    for (i = 0; i < count; i++)
        write_member(w, members[i].key, members[i].value, true);
}

static void write_object(struct tarn_jsonw *w, const json_t *object, bool sorted)
{
    const char *key;
    json_t *value;

    tarn_jsonw_object(w);
    if (sorted) {
        write_sorted(w, object);
    } else {
        json_object_foreach((json_t *)object, key, value)
            write_member(w, key, value, false);
    }
    tarn_jsonw_object_end(w);
}

static void write_array(struct tarn_jsonw *w, const json_t *array, bool sorted)
{
    tarn_jsonw_array(w);
    for (size_t i = 0; i < json_array_size(array); i++)
        write_value(w, json_array_get(array, i), sorted);
    tarn_jsonw_array_end(w);
}

static void write_value(struct tarn_jsonw *w, const json_t *value, bool sorted)
{
    if (!value) {
        w->out->failed = true;
        return;
    }
    switch (json_typeof(value)) {
    case JSON_OBJECT: write_object(w, value, sorted); break;
    case JSON_ARRAY: write_array(w, value, sorted); break;
    case JSON_STRING: tarn_jsonw_strn(w, json_string_value(value), json_string_length(value)); break;
    case JSON_INTEGER: tarn_jsonw_i64(w, json_integer_value(value)); break;
    case JSON_REAL: tarn_jsonw_real(w, json_real_value(value)); break;
    case JSON_TRUE: tarn_jsonw_bool(w, true); break;
    case JSON_FALSE: tarn_jsonw_bool(w, false); break;
    case JSON_NULL: tarn_jsonw_null(w); break;
    }
}

void tarn_jsonw_json(struct tarn_jsonw *w, const json_t *value) { write_value(w, value, false); }

static char *text_of(const json_t *value, bool sorted)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&out);

    write_value(&w, value, sorted);
    return tarn_buf_take(&out);
}

char *tarn_json_text(const json_t *value) { return text_of(value, false); }
char *tarn_json_canonical(const json_t *value) { return text_of(value, true); }

json_t *tarn_json_time(int64_t ms)
{
    char text[TARN_TIME_TEXT];

    return ms < 0 ? json_null() : json_string(tarn_time_format(ms, text));
}

json_t *tarn_json_str(const char *text)
{
    json_t *plain = json_string(text);
    TARN_AUTO(mem) char *mended = plain ? NULL : strdup(text);

    if (!mended)
        return plain;
    tarn_utf8_mend(mended);
    return json_string(mended);
}

json_t *tarn_json_str_or_null(const char *text) { return text ? tarn_json_str(text) : json_null(); }
