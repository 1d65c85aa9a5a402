/* repair_names.c - the `paths` of a request: files by their names, and with
 * a "/" at the end all files below a folder ("/" alone: of the table). */
#include "lake/repair_run.h"
#include <string.h>

#define FOLDERS_MAX 1000

void tarn_repair_names_done(struct tarn_repair_names *names)
{
    tarn_fileset_done(&names->exact);
    free(names->folders);
    *names = (struct tarn_repair_names){ 0 };
}

static bool is_folder(const char *text) { return text[0] && text[strlen(text) - 1] == '/'; }

/* "a/b/" holds data paths when "a/b/x" is one. */
static tarn_code check_folder(const char *text, struct tarn_err *err)
{
    char inside[TARN_PATH_MAX + 8];
    size_t len = strlen(text);

    if (strcmp(text, "/") == 0)
        return TARN_OK;
    if (len > TARN_PATH_MAX)
        return tarn_fail_field(err, "path", "has more than %d bytes", TARN_PATH_MAX);
    memcpy(inside, text, len);
    memcpy(inside + len, "x", 2);
    return tarn_data_path_check(inside, "path", err);
}

static tarn_code add(struct tarn_repair_names *names, const char *text, struct tarn_err *err)
{
    if (is_folder(text)) {
        if (names->folder_count == FOLDERS_MAX)
            return tarn_fail_field(err, "path", "more than %d folders", FOLDERS_MAX);
        names->folders[names->folder_count++] = text;
        return check_folder(text, err);
    }
    tarn_code code = tarn_data_path_check(text, "path", err);
    struct tarn_fileset_entry *entry = code == TARN_OK ? tarn_fileset_put(&names->exact, text) : NULL;
    return code == TARN_OK && !entry ? tarn_fail_oom(err) : code;
}

tarn_code tarn_repair_names_read(const json_t *paths, struct tarn_repair_names *out, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    out->given = paths != NULL;
    out->folders = calloc(FOLDERS_MAX, sizeof *out->folders);
    if (!out->folders)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < json_array_size(paths) && code == TARN_OK; i++) {
        const char *text = json_string_value(json_array_get(paths, i));
        code = text ? add(out, text, err) : tarn_fail_field(err, "path", "must be a string");
        if (code == TARN_INVALID) {
            err->field[0] = '\0';
            (void)tarn_err_prefix(err, "paths[%zu]", i);
        }
    }
    return code;
}

bool tarn_repair_names_has(const struct tarn_repair_names *names, const char *path)
{
    if (!names->given)
        return false;
    for (size_t i = 0; i < names->folder_count; i++) {
        const char *folder = names->folders[i];
        if (strcmp(folder, "/") == 0 || strncmp(folder, path, strlen(folder)) == 0)
            return true;
    }
    return tarn_fileset_find(&names->exact, path) != NULL;
}

tarn_code tarn_repair_names_each(const json_t *paths, tarn_repair_name_fn *fn, void *ctx,
                                 struct tarn_err *err)
{
    TARN_AUTO_DONE(fileset) struct tarn_fileset seen = { 0 };
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < json_array_size(paths) && code == TARN_OK; i++) {
        const char *text = json_string_value(json_array_get(paths, i));
        if (is_folder(text))
            continue;
        struct tarn_fileset_entry *entry = tarn_fileset_put(&seen, text);
        if (!entry)
            return tarn_fail_oom(err);
        if (entry->flags & TARN_FILE_SEEN)
            continue;
        entry->flags = TARN_FILE_SEEN;
        code = fn(ctx, text, err);
    }
    return code;
}
