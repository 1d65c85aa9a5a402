/* ident_path.c - where things lie: data paths inside a table, and locations of tables. A
 * location is compared by its text, so one folder must have one spelling; that is settled
 * here, by text alone, without asking a file system. */
#include "base/buf.h"
#include "base/text.h"
#include "catalog/ident.h"
#include <stdlib.h>
#include <string.h>

#define LOCATION_MAX 4096 /* bytes; PATH_MAX of Linux */
#define COMPONENT_MAX 255 /* bytes; NAME_MAX of Linux: a longer one can be no file's and no folder's */

/* Documents of the lake at a table's root (formats/manifest/manifest.h names them; a floor above). */
static const char *const k_documents[] = { "manifest.json", "last_committed_txn", "schema.json",
                                           "schema_cache.json" };
/* Folders whose content is not yet, or no longer, data. */
static const char *const k_reserved_folders[] = { "staging", "processed" };

static bool among(const char *const *words, size_t count, const char *text, size_t len)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0)
            return true;
    }
    return false;
}

static tarn_code component_check(const char *at, size_t len, const char *field, struct tarn_err *err)
{
    if (len == 0)
        return tarn_fail_field(err, field, "a data path must not have an empty component");
    if (len > COMPONENT_MAX)
        return tarn_fail_field(err, field, "a component of a data path has at most %d bytes, this one has %zu", COMPONENT_MAX, len);
    if (at[0] == '.' || at[0] == '_')
        return tarn_fail_field(err, field, "no component of a data path may start with \"%c\"", at[0]);
    return TARN_OK;
}

static tarn_code root_check(const char *path, const char *field, struct tarn_err *err)
{
    size_t first = strcspn(path, "/");

    if (among(k_reserved_folders, 2, path, first))
        return tarn_fail_field(err, field, "%.*s/ is not a place for data files of a table", (int)first,
                               path);
    if (path[first] == '\0' && among(k_documents, 4, path, first))
        return tarn_fail_field(err, field, "%s is a document of the lake, not a data file", path);
    return TARN_OK;
}

tarn_code tarn_data_path_check(const char *path, const char *field, struct tarn_err *err)
{
    size_t len = strlen(path);

    if (len == 0 || len > TARN_PATH_MAX)
        return tarn_fail_field(err, field, "a data path has 1 to %d bytes, this one has %zu", TARN_PATH_MAX,
                               len);
    if (path[0] == '/')
        return tarn_fail_field(err, field, "a data path is relative to its table's location");
    if (!tarn_utf8_valid(path, len) || tarn_has_control(path, len))
        return tarn_fail_field(err, field, "a data path must be UTF-8 without control characters");
    for (const char *at = path;;) {
        size_t part = strcspn(at, "/");
        tarn_code code = component_check(at, part, field, err);
        if (code != TARN_OK)
            return code;
        if (at[part] == '\0')
            break;
        at += part + 1;
    }
    return root_check(path, field, err);
}

#define BATCH_PART_MAX 250 /* bytes; with ".json" a file's name */

static tarn_code batch_part_check(const char *at, size_t len, const char *field, struct tarn_err *err)
{
    static const char k_document[] = ".json";
    size_t end = sizeof k_document - 1;

    if (len == 0 || len > BATCH_PART_MAX)
        return tarn_fail_field(err, field, "each part of a batch id has 1 to %d bytes", BATCH_PART_MAX);
    if (at[0] == '.')
        return tarn_fail_field(err, field, "no part of a batch id may start with a dot");
    if (at[len] == '/' && len >= end && memcmp(at + len - end, k_document, end) == 0)
        return tarn_fail_field(err, field, "only the last part of a batch id may end with \"%s\"", k_document);
    return TARN_OK;
}

tarn_code tarn_batch_id_check(const char *id, const char *field, struct tarn_err *err)
{
    size_t len = strlen(id);

    if (len == 0 || len > TARN_BATCH_ID_MAX)
        return tarn_fail_field(err, field, "a batch id has 1 to %d bytes", TARN_BATCH_ID_MAX);
    if (!tarn_utf8_valid(id, len) || tarn_has_control(id, len))
        return tarn_fail_field(err, field, "a batch id must be UTF-8 without control characters");
    for (const char *at = id;;) {
        size_t part = strcspn(at, "/");
        tarn_code code = batch_part_check(at, part, field, err);
        if (code != TARN_OK || at[part] == '\0')
            return code;
        at += part + 1;
    }
}

static bool is_dots(const char *at, size_t len)
{
    return (len == 1 && at[0] == '.') || (len == 2 && at[0] == '.' && at[1] == '.');
}

/* One component onto the canonical path: "." and nothing stay away, ".." takes the last one off. */
static void path_step(struct tarn_buf *path, const char *at, size_t len)
{
    if (len == 0 || (len == 1 && at[0] == '.'))
        return;
    if (!is_dots(at, len)) {
        tarn_buf_addc(path, '/');
        tarn_buf_add(path, at, len);
        return;
    }
    while (path->len > 0 && path->data[path->len - 1] != '/')
        path->len--;
    if (path->len > 0)
        path->len--;
}

static tarn_code normalise_path(const char *path, const char *field, char **out, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf b = { 0 };

    for (const char *at = path; *at != '\0';) {
        size_t len = strcspn(at, "/");
        if (len > COMPONENT_MAX)
            return tarn_fail_field(err, field, "a component of a path has at most %d bytes, this one has %zu", COMPONENT_MAX, len);
        path_step(&b, at, len);
        at += len + (at[len] == '/' ? 1 : 0);
    }
    if (b.len == 0)
        tarn_buf_addc(&b, '/');
    else if (!b.failed)
        b.data[b.len] = '\0'; /* path_step may have cut it */
    char *text = tarn_buf_take(&b);
    if (!text)
        return tarn_fail_oom(err);
    *out = text;
    return TARN_OK;
}

/* What follows "file:": "/p", "///p", "//localhost/p", with percent escapes. */
static tarn_code normalise_file_uri(const char *rest, const char *field, char **out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_mem_freep))) char *path = NULL;

    if (tarn_starts_with(rest, "//localhost/"))
        rest += strlen("//localhost");
    else if (tarn_starts_with(rest, "//"))
        rest += 2;
    if (rest[0] != '/')
        return tarn_fail_field(err, field,
                               "a file URI must name an absolute path on this host: file:///path");
    if (strpbrk(rest, "?#"))
        return tarn_fail_field(err, field, "a file URI has no query and no fragment; write %%3F and %%23");
    if (strstr(rest, "%2F") || strstr(rest, "%2f"))
        return tarn_fail_field(err, field, "a file URI must not hold an escaped slash");
    path = malloc(strlen(rest) + 1);
    if (!path)
        return tarn_fail_oom(err);
    if (tarn_percent_decode(rest, strlen(rest), false, path, NULL) != TARN_OK)
        return tarn_fail_field(err, field, "a file URI holds a broken percent escape");
    if (tarn_has_control(path, strlen(path)))
        return tarn_fail_field(err, field, "a location must not hold control characters");
    return normalise_path(path, field, out, err);
}

static bool is_bucket(const char *at, size_t len)
{
    static const char k_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

    return len >= 3 && len <= 63 && strspn(at, k_chars) >= len && strchr(".-_", at[0]) == NULL;
}

/* What follows "s3://". Keys are bytes: nothing is decoded, and a double slash would be another key. */
static tarn_code normalise_s3(const char *rest, const char *field, char **out, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf b = { 0 };
    size_t bucket = strcspn(rest, "/"), end = strlen(rest);

    if (!is_bucket(rest, bucket))
        return tarn_fail_field(err, field,
                               "s3:// is followed by a bucket of 3 to 63 letters, digits, '.', '-'");
    if (rest[end - 1] == '/')
        end--;
    for (size_t at = bucket; at < end;) {
        size_t len = strcspn(rest + at + 1, "/");
        if (len == 0 || is_dots(rest + at + 1, len))
            return tarn_fail_field(err, field,
                                   "an s3 location must not have an empty, \".\" or \"..\" component");
        at += len + 1;
    }
    tarn_buf_adds(&b, "s3://");
    tarn_buf_add(&b, rest, end);
    char *text = tarn_buf_take(&b);
    if (!text)
        return tarn_fail_oom(err);
    *out = text;
    return TARN_OK;
}

tarn_code tarn_location_normalise(const char *location, const char *field, char **out, struct tarn_err *err)
{
    size_t len = strlen(location);

    if (len == 0 || len > LOCATION_MAX)
        return tarn_fail_field(err, field, "a location has 1 to %d bytes", LOCATION_MAX);
    if (!tarn_utf8_valid(location, len) || tarn_has_control(location, len))
        return tarn_fail_field(err, field, "a location must be UTF-8 without control characters");
    if (location[0] == '/')
        return normalise_path(location, field, out, err);
    if (tarn_starts_with(location, "file:"))
        return normalise_file_uri(location + strlen("file:"), field, out, err);
    if (tarn_starts_with(location, "s3://"))
        return normalise_s3(location + strlen("s3://"), field, out, err);
    return tarn_fail_field(err, field, "a location is an absolute path, a file:// or an s3:// URI");
}

bool tarn_location_within(const char *inner, const char *outer)
{
    size_t len = strlen(outer);

    if (len > 0 && outer[len - 1] == '/') /* the root folder */
        len--;
    return strncmp(inner, outer, len) == 0 && (inner[len] == '\0' || inner[len] == '/');
}
