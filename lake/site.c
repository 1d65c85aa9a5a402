/* site.c - a first look at a folder: is there a table, of which format, or only data files, or nothing? */
#include "base/text.h"
#include "formats/manifest/manifest.h"
#include "lake/adopt.h"
#include <stdio.h>
#include <string.h>

struct looking {
    struct tarn_place *place;
    struct tarn_site *site;
    bool has_metadata;
};

static void note_format(struct tarn_site *site, enum tarn_format format)
{
    site->has_format = true;
    site->format = format;
}

static tarn_code note_name(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    static const struct {
        const char *folder;
        enum tarn_format format;
    } k_folders[] = {
        { "_delta_log", TARN_FORMAT_DELTA },
        { ".hoodie", TARN_FORMAT_HUDI },
    };
    struct looking *l = ctx;

    (void)err;
    for (size_t i = 0; i < TARN_COUNT(k_folders); i++)
        if (object->is_folder && strcmp(object->path, k_folders[i].folder) == 0)
            note_format(l->site, k_folders[i].format);
    l->has_metadata |= object->is_folder && strcmp(object->path, "metadata") == 0;
    l->site->has_manifest |= !object->is_folder && strcmp(object->path, TARN_DOC_MANIFEST) == 0;
    l->site->has_log |= (object->is_folder && strcmp(object->path, TARN_DIR_LOG) == 0) ||
                        strcmp(object->path, TARN_DOC_POINTER) == 0;
    return TARN_OK;
}

static tarn_code note_metadata(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct looking *l = ctx;

    (void)err;
    if (!object->is_folder && tarn_ends_with(object->path, ".metadata.json"))
        note_format(l->site, TARN_FORMAT_ICEBERG);
    return TARN_OK;
}

/* Stops the walk at the first data file; the caller looks at the site, not at the code. */
static tarn_code note_data(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct looking *l = ctx;

    if (object->is_folder || object->is_symlink || !tarn_is_data_file(object->path))
        return TARN_OK;
    snprintf(l->site->data_file, sizeof l->site->data_file, "%s", object->path);
    return tarn_fail(err, TARN_PRECONDITION_FAILED, "one data file is enough");
}

static tarn_code look_inside(struct looking *l, struct tarn_err *err)
{
    TARN_ERR(stopped);
    tarn_code code = tarn_place_list(l->place, "", false, note_name, l, err);

    if (code == TARN_OK && l->has_metadata)
        code = tarn_place_list(l->place, "metadata", false, note_metadata, l, err);
    if (code != TARN_OK || l->site->has_manifest)
        return code;
    code = tarn_place_list(l->place, "", true, note_data, l, &stopped);
    return code == TARN_OK || l->site->data_file[0] ? TARN_OK : tarn_err_move(err, &stopped);
}

tarn_code tarn_site_look(struct tarn_storage *storage, const char *location, struct tarn_site *out,
                         struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_site site = { 0 };
    struct looking l = { .site = &site };
    TARN_ERR(missing);
    tarn_code code = tarn_place_open(storage, location, false, &place, &missing);

    if (code == TARN_NOT_FOUND) {
        *out = site;
        return TARN_OK;
    }
    if (code != TARN_OK)
        return tarn_err_move(err, &missing);
    site.exists = true;
    l.place = place;
    code = look_inside(&l, err);
    if (code != TARN_OK)
        return code;
    if (site.has_manifest || (!site.has_format && site.has_log))
        note_format(&site, TARN_FORMAT_MANIFEST);
    if (!site.has_format && site.data_file[0])
        note_format(&site, TARN_FORMAT_PARQUET);
    *out = site;
    return TARN_OK;
}
