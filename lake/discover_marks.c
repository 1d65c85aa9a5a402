/* discover_marks.c - what one folder shows of the table that it may be. */
#include "base/text.h"
#include "formats/iceberg/iceberg.h"
#include "formats/manifest/manifest.h"
#include "lake/discover.h"
#include <stdio.h>
#include <string.h>

#define DIR_DELTA "_delta_log"
#define DIR_HUDI ".hoodie"
#define DIR_METADATA "metadata"

void tarn_marks_note(struct tarn_marks *marks, const char *name, bool is_folder)
{
    if (is_folder) {
        marks->log |= strcmp(name, TARN_DIR_LOG) == 0;
        marks->delta |= strcmp(name, DIR_DELTA) == 0;
        marks->hudi |= strcmp(name, DIR_HUDI) == 0;
        marks->metadata |= strcmp(name, DIR_METADATA) == 0;
        return;
    }
    marks->manifest |= strcmp(name, TARN_DOC_MANIFEST) == 0;
    marks->log |= strcmp(name, TARN_DOC_POINTER) == 0;
    marks->apart |= tarn_iceberg_is_file_name(name);
    if (!tarn_is_data_file(name))
        return;
    marks->data = true;
    marks->data_files++;
}

static char *join(const char *folder, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0 ? NULL : path;
}

tarn_code tarn_marks_ask(struct tarn_place *place, const char *folder, struct tarn_marks *marks,
                         struct tarn_err *err)
{
    static const char *const k_names[] = { TARN_DOC_MANIFEST, TARN_DOC_POINTER, TARN_DIR_LOG,
                                           DIR_DELTA,         DIR_HUDI,         DIR_METADATA };

    for (size_t i = 0; i < TARN_COUNT(k_names); i++) {
        TARN_AUTO(mem) char *path = join(folder, k_names[i]);
        struct tarn_object object = { 0 };
        TARN_ERR(none);
        tarn_code code = path ? tarn_place_stat(place, path, &object, &none) : tarn_fail_oom(&none);
        if (code != TARN_OK && code != TARN_NOT_FOUND)
            return tarn_err_move(err, &none);
        if (code == TARN_OK && !object.is_symlink)
            tarn_marks_note(marks, k_names[i], object.is_folder);
    }
    return TARN_OK;
}

/* Web pages and packages have a manifest.json too: it is the lake's
 * when it lists files, stands beside a log, or cannot be read. */
static tarn_code judge_manifest(struct tarn_place *place, const char *folder, const struct tarn_marks *marks,
                                bool *is_table, char **table, struct tarn_err *err)
{
    TARN_AUTO_DONE(manifest_peek) struct tarn_manifest_peek peek = { 0 };
    TARN_AUTO(mem) char *path = join(folder, TARN_DOC_MANIFEST);
    tarn_code code = path ? TARN_OK : tarn_fail_oom(err);

    if (code == TARN_OK && marks->manifest)
        code = tarn_manifest_peek(place, path, &peek, err);
    *is_table = code == TARN_OK && (marks->log || (marks->manifest && (peek.has_files || !peek.is_whole)));
    if (*is_table)
        *table = tarn_take(&peek.table);
    return code;
}

static tarn_code note_iceberg(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    const char *slash = strrchr(object->path, '/');
    const char *name = slash ? slash + 1 : object->path;

    if (object->is_folder ||
        (!tarn_ends_with(name, ".metadata.json") && !tarn_ends_with(name, ".metadata.json.gz") &&
         strcmp(name, "version-hint.text") != 0))
        return TARN_OK;
    *(bool *)ctx = true;
    return tarn_fail(err, TARN_RECHECK, "found"); /* ends the listing, by a code that no storage gives */
}

static tarn_code judge_iceberg(struct tarn_place *place, const char *folder, bool *is_table,
                               struct tarn_err *err)
{
    TARN_AUTO(mem) char *path = join(folder, DIR_METADATA);
    TARN_ERR(stop);
    tarn_code code =
        path ? tarn_place_list(place, path, false, note_iceberg, is_table, &stop) : tarn_fail_oom(&stop);

    return code == TARN_OK || code == TARN_RECHECK ? TARN_OK : tarn_err_move(err, &stop);
}

tarn_code tarn_marks_judge(struct tarn_place *place, const char *folder, const struct tarn_marks *marks,
                           bool *is_table, enum tarn_format *format, char **table, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    *is_table = false;
    *format = TARN_FORMAT_MANIFEST;
    if (marks->manifest || marks->log)
        code = judge_manifest(place, folder, marks, is_table, table, err);
    if (code != TARN_OK || *is_table)
        return code;
    *format = marks->delta ? TARN_FORMAT_DELTA : TARN_FORMAT_HUDI;
    *is_table = marks->delta || marks->hudi;
    if (!*is_table && marks->metadata) {
        *format = TARN_FORMAT_ICEBERG;
        code = judge_iceberg(place, folder, is_table, err);
    }
    if (code == TARN_OK && !*is_table && marks->data) {
        *format = TARN_FORMAT_PARQUET;
        *is_table = true;
    }
    return code;
}
