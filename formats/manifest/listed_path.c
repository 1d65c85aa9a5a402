/* listed_path.c - paths as other writers put them into documents: spelled in many ways, leading out of the table, or to
 * places where no data file of a table lies. Nothing is followed here; it is all text. */
#include "formats/manifest/manifest.h"
#include "base/text.h"
#include <string.h>

/* "file:///lake/t/a" and "file:/lake/t/a" to "/lake/t/a"; other schemes stay. */
static const char *without_file_scheme(const char *path)
{
    if (tarn_starts_with(path, "file:///"))
        return path + strlen("file://");
    return tarn_starts_with(path, "file:/") ? path + strlen("file:") : path;
}

static bool is_absolute(const char *path) { return path[0] == '/' || strstr(path, "://") != NULL; }

/* What of an absolute path lies below the location; NULL: it does not. */
static const char *below(const char *path, const char *location)
{
    size_t len = strlen(location);

    return strncmp(path, location, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

static bool is_part(const char *at, size_t len, const char *part) { return strlen(part) == len && memcmp(at, part, len) == 0; }

/* Without empty and "." components. Parts are never resolved against each other: ".." is left to the judge. */
static tarn_code tidy(const char *path, struct tarn_buf *room, struct tarn_err *err)
{
    tarn_buf_clear(room);
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");
        if (len > 0 && !is_part(at, len, ".")) {
            if (room->len > 0)
                tarn_buf_adds(room, "/");
            tarn_buf_add(room, at, len);
        }
        at += len + (at[len] == '/');
    }
    tarn_buf_adds(room, "");
    return tarn_buf_check(room, err);
}

static bool is_tidy(const char *path)
{
    size_t len = strlen(path);

    return path[0] != '/' && strcmp(path, ".") != 0 && strncmp(path, "./", 2) != 0 && !strstr(path, "//") && !strstr(path, "/./") && len > 0 &&
           path[len - 1] != '/';
}

static bool leaves(const char *path)
{
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");
        if (is_part(at, len, ".."))
            return true;
        at += len + (at[len] == '/');
    }
    return false;
}

/* "_date=1" names a partition; else a leading "_" or "." hides. */
static bool is_hidden(const char *path)
{
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");
        bool is_key = at[0] == '_' && at[len] == '/' && memchr(at, '=', len);
        if (at[0] == '.' || (at[0] == '_' && !is_key))
            return true;
        at += len + (at[len] == '/');
    }
    return false;
}

static bool is_document(const char *path)
{
    static const char *const k_names[] = { TARN_DOC_MANIFEST, TARN_DOC_POINTER, TARN_DOC_SCHEMA, TARN_DOC_SCHEMA_CACHE };

    for (size_t i = 0; i < TARN_COUNT(k_names); i++)
        if (strcmp(path, k_names[i]) == 0)
            return true;
    return false;
}

static const char *fault_of(const char *path)
{
    if (tarn_starts_with(path, "staging/"))
        return "it lies under staging/";
    if (tarn_starts_with(path, TARN_DIR_PROCESSED "/"))
        return "it lies under " TARN_DIR_PROCESSED "/";
    if (is_document(path))
        return "it is a document of the lake";
    return is_hidden(path) ? "it is hidden" : NULL;
}

/* Most paths are spelled as a listing spells them and lie below a folder: told by one look at each byte. */
static bool is_plain(const char *path)
{
    bool begins = true, has_folder = false;

    for (const char *at = path; *at; at++) {
        bool is_odd = begins ? *at == '/' || *at == '.' || *at == '_' : *at == ':';
        if (is_odd)
            return false;
        begins = *at == '/';
        has_folder |= begins;
    }
    return !begins && has_folder && !tarn_starts_with(path, "staging/") && !tarn_starts_with(path, TARN_DIR_PROCESSED "/");
}

tarn_code tarn_listed_path_read(const char *written, const char *location, struct tarn_buf *room,
                                struct tarn_listed_path *out, struct tarn_err *err)
{
    const char *path = without_file_scheme(written);

    *out = (struct tarn_listed_path){ .path = written };
    if (is_plain(written))
        return TARN_OK;
    if (is_absolute(path))
        path = below(path, location);
    if (!path || leaves(path)) {
        out->fault = "it leads out of the table's folder";
        out->is_outside = true;
        return TARN_OK;
    }
    if (!is_tidy(path)) {
        size_t len = strlen(path);
        tarn_code code = tidy(path, room, err);
        if (code != TARN_OK)
            return code;
        out->is_outside = room->len == 0 || path[len - 1] == '/';
        path = room->data;
    }
    out->path = out->is_outside ? written : path;
    out->fault = out->is_outside ? "it names no file" : fault_of(path);
    return TARN_OK;
}
