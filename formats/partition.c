/* partition.c - see partition.h. Writers put the same value as a number in one document, as text in the
 * next and as a folder's name on storage; compared are the texts. */
#include "formats/partition.h"
#include "base/own.h"
#include "base/text.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_TEXT 40 /* bytes that hold any JSON number */

/* Decodes `len` bytes; what cannot be decoded, or is no text then, stays as it is. */
static char *decode(const char *text, size_t len)
{
    char *out = malloc(len + 1);

    if (!out)
        return NULL;
    if (tarn_percent_decode(text, len, false, out, NULL) != TARN_OK) {
        memcpy(out, text, len);
        out[len] = '\0';
    }
    return out;
}

/* Adds key=value, `len` bytes at `folder`; false when memory ran out. */
static bool add_folder(json_t *values, const char *folder, size_t len)
{
    const char *equals = memchr(folder, '=', len);

    if (!equals || equals == folder || !tarn_utf8_valid(folder, len))
        return true;
    size_t key_len = (size_t)(equals - folder);
    __attribute__((cleanup(tarn_mem_freep))) char *key = decode(folder, key_len);
    __attribute__((cleanup(tarn_mem_freep))) char *text = decode(equals + 1, len - key_len - 1);

    if (!key || !text)
        return false;
    if (json_object_get(values, key))
        return true;
    json_t *value = strcmp(text, TARN_PARTITION_NULL) == 0 ? json_null() : json_string(text);
    return json_object_set_new(values, key, value) == 0;
}

tarn_code tarn_partition_from_path(const char *path, json_t **out, struct tarn_err *err)
{
    json_auto_t *values = json_object();
    const char *at = path;

    if (!values)
        return tarn_fail_oom(err);
    for (size_t len = strcspn(at, "/"); at[len] == '/'; len = strcspn(at, "/")) {
        if (!add_folder(values, at, len))
            return tarn_fail_oom(err);
        at += len + 1;
    }
    *out = json_object_size(values) > 0 ? json_incref(values) : NULL;
    return TARN_OK;
}

/* The value's text, in `room` when it has none of its own; NULL: null. */
static const char *text_of(const json_t *value, char room[NUMBER_TEXT])
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_STRING: return json_string_value(value);
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_INTEGER: snprintf(room, NUMBER_TEXT, "%lld", (long long)json_integer_value(value)); return room;
    case JSON_REAL: snprintf(room, NUMBER_TEXT, "%.17g", json_real_value(value)); return room;
    default: return TARN_PARTITION_NULL;
    }
}

bool tarn_partition_is(const json_t *value, const char *text)
{
    char room[NUMBER_TEXT];

    if (json_is_real(value)) { /* 0.1 has many texts */
        char *end = NULL;
        double number = strtod(text, &end);
        return end != text && *end == '\0' && strpbrk(text, ".eE") != NULL &&
               !(number < json_real_value(value)) && !(number > json_real_value(value));
    }
    return strcmp(text_of(value, room), text) == 0;
}

bool tarn_partition_equal(const json_t *a, const json_t *b)
{
    char room[NUMBER_TEXT];

    if (json_is_real(a) && json_is_real(b))
        return json_equal(a, b);
    return json_is_real(a) ? tarn_partition_is(a, text_of(b, room)) : tarn_partition_is(b, text_of(a, room));
}

/* A number has its folder with zeros before it or without: 5 lies in hour=05. */
static bool is_padded(const json_t *given, const json_t *of_folder)
{
    const char *text = json_string_value(of_folder);
    size_t zeros = json_is_integer(given) && json_integer_value(given) >= 0 && text ? strspn(text, "0") : 0;

    if (zeros == 0)
        return false;
    json_auto_t *bare = json_string(text[zeros] ? text + zeros : "0");
    return tarn_partition_equal(given, bare);
}

/* The folder's text for null stands for the empty text too. */
bool tarn_partition_fits(const json_t *given, const json_t *of_folder)
{
    bool is_empty = json_is_string(given) && json_string_length(given) == 0;

    return tarn_partition_equal(given, of_folder) || is_padded(given, of_folder) || (is_empty && json_is_null(of_folder));
}

const char *tarn_partition_contradicts(const json_t *values, const json_t *of_path, char *note, size_t size)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)values, key, value) {
        const json_t *folder = json_object_get(of_path, key);
        if (!folder || tarn_partition_fits(value, folder))
            continue;
        TARN_AUTO(mem) char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        snprintf(note, size, "the path says %.40s=%.40s, partitionValues say %.40s", key,
                 json_is_null(folder) ? TARN_PARTITION_NULL : json_string_value(folder), text ? text : "?");
        return key;
    }
    return NULL;
}
