/* repair_mend_way.c - a folder or a symbolic link that has the name of a
 * document, and a file that has the log's: no reader takes it for one, and
 * nothing can be written over it. It goes to _conflicts/<time>/ as it is. */
#include "base/text.h"
#include "formats/manifest/manifest.h"
#include "lake/repair_mend.h"
#include <stdio.h>
#include <string.h>

struct way {
    struct tarn_buf names; /* paths of what is in the way, each with its NUL */
    bool has_log;          /* a folder of that name */
};

static void way_done(struct way *way)
{
    tarn_buf_done(&way->names);
}

static bool is_document(const char *name)
{
    static const char *const k_documents[] = { TARN_DOC_MANIFEST, TARN_DOC_POINTER, TARN_DOC_SCHEMA,
                                               TARN_DOC_SCHEMA_CACHE };
    bool is = false;

    for (size_t i = 0; i < TARN_COUNT(k_documents); i++)
        is |= strcmp(name, k_documents[i]) == 0;
    return is;
}

/* A link in the log's place may lead to the log: it is left to who put it there. */
static tarn_code note_top(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct way *way = ctx;
    bool is_file = !object->is_folder && !object->is_symlink;
    bool is_log = strcmp(object->path, TARN_DIR_LOG) == 0;

    way->has_log |= is_log && object->is_folder;
    if ((is_log && is_file) || (is_document(object->path) && !is_file))
        tarn_buf_add(&way->names, object->path, strlen(object->path) + 1);
    return tarn_buf_check(&way->names, err);
}

static tarn_code note_entry(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct way *way = ctx;

    if ((object->is_folder || object->is_symlink) && tarn_ends_with(object->path, ".json"))
        tarn_buf_add(&way->names, object->path, strlen(object->path) + 1);
    return tarn_buf_check(&way->names, err);
}

static tarn_code clear(struct tarn_mend *m, const char *path, struct tarn_err *err)
{
    char to[2 * TARN_PATH_MAX];
    TARN_ERR(fault);

    snprintf(to, sizeof to, "%s/%s", m->r->use->folder, path);
    tarn_code code = tarn_repair_tell_move(m->r->use, path, to, &fault);
    if (code == TARN_OK && m->applies)
        code = tarn_place_move(m->run.place, path, to, &fault);
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

tarn_code tarn_mend_way(struct tarn_mend *m, struct tarn_err *err)
{
    __attribute__((cleanup(way_done))) struct way way = { .has_log = false };
    tarn_code code = tarn_place_list(m->run.place, "", false, note_top, &way, err);

    if (code == TARN_OK && way.has_log)
        code = tarn_place_list(m->run.place, TARN_DIR_LOG, false, note_entry, &way, err);
    for (size_t at = 0; code == TARN_OK && at < way.names.len; at += strlen(way.names.data + at) + 1)
        code = clear(m, way.names.data + at, err);
    return code;
}
