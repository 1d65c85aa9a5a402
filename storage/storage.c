/* storage.c - roots, and the dispatch to the store that a location belongs to. Everything that holds for
 * every store is judged here, once: does the location lie under a root, is the path one that stays inside the
 * place. */
#include "storage/storage.h"
#include "storage/place.h"
#include <string.h>

static const struct tarn_place_ops *const k_kinds[] = { &tarn_local_ops };

struct tarn_storage {
    char **roots; /* owned, each owned */
    size_t count;
};

static const struct tarn_place_ops *kind_of(const char *location)
{
    for (size_t i = 0; i < TARN_COUNT(k_kinds); i++) {
        if (strncmp(location, k_kinds[i]->prefix, strlen(k_kinds[i]->prefix)) == 0)
            return k_kinds[i];
    }
    return NULL;
}

/* Equal or below, by path component; both canonical. */
static bool lies_within(const char *inner, const char *outer)
{
    size_t len = strlen(outer);
    if (len > 0 && outer[len - 1] == '/')
        len--;
    return strncmp(inner, outer, len) == 0 && (inner[len] == '\0' || inner[len] == '/');
}

static const char *root_of(const struct tarn_storage *storage, const char *location)
{
    for (size_t i = 0; i < storage->count; i++) {
        if (lies_within(location, storage->roots[i]))
            return storage->roots[i];
    }
    return NULL;
}

/* --- roots --- */

tarn_code tarn_storage_new(const char *const *roots, size_t count, struct tarn_storage **out,
                           struct tarn_err *err)
{
    TARN_AUTO(storage) struct tarn_storage *storage = calloc(1, sizeof *storage);
    if (!storage)
        return tarn_fail_oom(err);
    storage->roots = calloc(count ? count : 1, sizeof *storage->roots);
    if (!storage->roots)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < count; i++) {
        if (!kind_of(roots[i]))
            return tarn_fail(err, TARN_INVALID,
                             "storage root '%s' is of a kind that this build does not know", roots[i]);
        storage->roots[i] = strdup(roots[i]);
        if (!storage->roots[i])
            return tarn_fail_oom(err);
        storage->count++;
    }
    *out = tarn_take(&storage);
    return TARN_OK;
}

void tarn_storage_free(struct tarn_storage *storage)
{
    if (!storage)
        return;
    for (size_t i = 0; i < storage->count; i++)
        free(storage->roots[i]);
    free(storage->roots);
    free(storage);
}

tarn_code tarn_storage_allows(const struct tarn_storage *storage, const char *location, struct tarn_err *err)
{
    if (!root_of(storage, location))
        return tarn_fail(err, TARN_LOCATION_NOT_ALLOWED, "'%s' lies under none of the storage roots (--root)",
                         location);
    return TARN_OK;
}

const char *tarn_storage_root(const struct tarn_storage *storage, const char *location)
{
    return root_of(storage, location);
}

static tarn_code note_any(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    (void)object;
    *(bool *)ctx = true;
    return tarn_fail(err, TARN_RECHECK, "found"); /* one is enough */
}

bool tarn_storage_root_is_lost(const struct tarn_storage *storage, const char *location)
{
    const char *root = root_of(storage, location);
    TARN_AUTO(place) struct tarn_place *place = NULL;
    bool has_any = false;
    TARN_ERR(ignored);

    if (!root)
        return false;
    if (tarn_place_open(storage, root, false, &place, &ignored) == TARN_OK)
        (void)!tarn_place_list(place, "", false, note_any, &has_any, &ignored);
    return !has_any;
}

bool tarn_storage_sees(const struct tarn_storage *storage, const char *location)
{
    const char *root = root_of(storage, location);
    const struct tarn_place_ops *ops = root ? kind_of(root) : NULL;
    return ops && ops->sees && ops->sees(root, location);
}

/* --- places --- */

tarn_code tarn_place_open(const struct tarn_storage *storage, const char *location, bool create,
                          struct tarn_place **out, struct tarn_err *err)
{
    const char *root = root_of(storage, location);
    if (!root)
        return tarn_storage_allows(storage, location, err);
    return kind_of(root)->open(root, location, create, out, err);
}

tarn_code tarn_place_open_local(const char *folder, struct tarn_place **out, struct tarn_err *err)
{
    return tarn_local_ops.open(folder, folder, false, out, err);
}

void tarn_place_free(struct tarn_place *place)
{
    if (place)
        place->ops->free(place);
}

const char *tarn_place_location(const struct tarn_place *place) { return place->location; }

/* Relative, and no part that is empty, "." or "..". */
static bool path_stays_inside(const char *path)
{
    for (const char *part = path;;) {
        size_t len = strcspn(part, "/");
        if (len == 0 || (len == 1 && part[0] == '.') || (len == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        if (part[len] == '\0')
            return true;
        part += len + 1;
    }
}

static tarn_code path_check(const struct tarn_place *place, const char *path, struct tarn_err *err)
{
    if (!path_stays_inside(path))
        return tarn_fail(err, TARN_INVALID, "'%s' is no path inside '%s'", path, place->location);
    return TARN_OK;
}

tarn_code tarn_place_lister(struct tarn_place *place, const char *prefix, bool recursive,
                            struct tarn_lister **out, struct tarn_err *err)
{
    tarn_code code = prefix[0] == '\0' ? TARN_OK : path_check(place, prefix, err);
    return code != TARN_OK ? code : place->ops->lister(place, prefix, recursive, out, err);
}

tarn_code tarn_lister_next(struct tarn_lister *lister, struct tarn_object *out, bool *found,
                           struct tarn_err *err)
{
    return lister->ops->lister_next(lister, out, found, err);
}

void tarn_lister_free(struct tarn_lister *lister)
{
    if (lister)
        lister->ops->lister_free(lister);
}

tarn_code tarn_place_list(struct tarn_place *place, const char *prefix, bool recursive, tarn_object_fn *fn,
                          void *ctx, struct tarn_err *err)
{
    TARN_AUTO(lister) struct tarn_lister *lister = NULL;
    tarn_code code = tarn_place_lister(place, prefix, recursive, &lister, err);

    for (bool found = true; code == TARN_OK && found;) {
        struct tarn_object object = { 0 };
        code = tarn_lister_next(lister, &object, &found, err);
        if (code == TARN_OK && found)
            code = fn(ctx, &object, err);
    }
    return code;
}

tarn_code tarn_place_folder(struct tarn_place *place, const char *folder, tarn_folder_wants_fn *wants,
                            tarn_object_fn *fn, void *ctx, struct tarn_err *err)
{
    tarn_code code = folder[0] == '\0' ? TARN_OK : path_check(place, folder, err);
    return code != TARN_OK ? code : place->ops->folder(place, folder, wants, fn, ctx, err);
}

tarn_code tarn_place_stat(struct tarn_place *place, const char *path, struct tarn_object *out,
                          struct tarn_err *err)
{
    tarn_code code = path_check(place, path, err);
    return code != TARN_OK ? code : place->ops->stat(place, path, out, err);
}

tarn_code tarn_place_read(struct tarn_place *place, const char *path, int64_t offset, size_t len,
                          struct tarn_buf *out, struct tarn_err *err)
{
    tarn_code code = path_check(place, path, err);
    return code != TARN_OK ? code : place->ops->read(place, path, offset, len, out, err);
}

tarn_code tarn_place_reader(struct tarn_place *place, const char *path, struct tarn_reader **out,
                            struct tarn_object *object, struct tarn_err *err)
{
    tarn_code code = path_check(place, path, err);
    return code != TARN_OK ? code : place->ops->reader(place, path, out, object, err);
}

tarn_code tarn_reader_fill(void *reader, char *data, size_t cap, size_t *len, struct tarn_err *err)
{
    struct tarn_reader *r = reader;
    return r->ops->reader_fill(r, data, cap, len, err);
}

void tarn_reader_free(struct tarn_reader *reader)
{
    if (reader)
        reader->ops->reader_free(reader);
}

/* Appends what the reader still gives; more than `max` bytes are refused, whatever stat said. */
static tarn_code read_to_end(struct tarn_reader *reader, const char *path, size_t max, struct tarn_buf *out,
                             struct tarn_err *err)
{
    enum { CHUNK = 64 * 1024 };
    size_t total = 0;
    for (;;) {
        char *room = tarn_buf_reserve(out, CHUNK);
        if (!room)
            return tarn_buf_check(out, err);
        size_t len = 0;
        tarn_code code = tarn_reader_fill(reader, room, CHUNK, &len, err);
        if (code != TARN_OK)
            return code;
        if (len == 0)
            return TARN_OK;
        out->len += len;
        out->data[out->len] = '\0';
        total += len;
        if (total > max)
            return tarn_fail(err, TARN_PAYLOAD_TOO_LARGE, "'%s' is larger than %zu bytes", path, max);
    }
}

tarn_code tarn_place_read_all(struct tarn_place *place, const char *path, size_t max, struct tarn_buf *out,
                              struct tarn_object *object, struct tarn_err *err)
{
    TARN_AUTO(reader) struct tarn_reader *reader = NULL;
    struct tarn_object found = { 0 };
    tarn_code code = tarn_place_reader(place, path, &reader, &found, err);
    if (code != TARN_OK)
        return code;
    if (found.size > 0 && (uint64_t)found.size > max)
        return tarn_fail(err, TARN_PAYLOAD_TOO_LARGE, "'%s' is larger than %zu bytes", path, max);
    code = read_to_end(reader, path, max, out, err);
    if (code == TARN_OK && object) {
        found.path = object->path;
        *object = found;
    }
    return code;
}

/* --- writing --- */

tarn_code tarn_place_writer(struct tarn_place *place, const char *path, struct tarn_writer **out,
                            struct tarn_err *err)
{
    tarn_code code = path_check(place, path, err);
    return code != TARN_OK ? code : place->ops->writer(place, path, out, err);
}

tarn_code tarn_writer_add(struct tarn_writer *writer, const void *data, size_t len, struct tarn_err *err)
{
    return writer->ops->writer_add(writer, data, len, err);
}

tarn_code tarn_writer_commit(struct tarn_writer *writer, enum tarn_put put, char token[TARN_TOKEN_TEXT],
                             struct tarn_err *err)
{
    return writer->ops->writer_commit(writer, put, token, err);
}

void tarn_writer_free(struct tarn_writer *writer)
{
    if (writer)
        writer->ops->writer_free(writer);
}

tarn_code tarn_place_create_all(struct tarn_place *place, const char *folder, struct tarn_new_object *objects,
                                size_t count, struct tarn_err *err)
{
    tarn_code code = path_check(place, folder, err);
    for (size_t i = 0; code == TARN_OK && i < count; i++) {
        objects[i].exists = false;
        code = strchr(objects[i].name, '/') ? TARN_INVALID : path_check(place, objects[i].name, err);
        if (code == TARN_INVALID)
            tarn_fail(err, TARN_INVALID, "'%s' is no name", objects[i].name);
    }
    return code != TARN_OK ? code : place->ops->create_all(place, folder, objects, count, err);
}

tarn_code tarn_place_put(struct tarn_place *place, const char *path, const void *data, size_t len,
                         enum tarn_put put, char token[TARN_TOKEN_TEXT], struct tarn_err *err)
{
    TARN_AUTO(writer) struct tarn_writer *writer = NULL;
    tarn_code code = tarn_place_writer(place, path, &writer, err);
    if (code == TARN_OK)
        code = tarn_writer_add(writer, data, len, err);
    if (code == TARN_OK)
        code = tarn_writer_commit(writer, put, token, err);
    return code;
}

tarn_code tarn_place_remove(struct tarn_place *place, const char *path, struct tarn_err *err)
{
    tarn_code code = path_check(place, path, err);
    return code != TARN_OK ? code : place->ops->remove(place, path, err);
}

tarn_code tarn_place_move(struct tarn_place *place, const char *from, const char *to, struct tarn_err *err)
{
    tarn_code code = path_check(place, from, err);
    if (code == TARN_OK)
        code = path_check(place, to, err);
    return code != TARN_OK ? code : place->ops->move(place, from, to, err);
}

void tarn_place_tidy(struct tarn_place *place, const char *folder, int64_t age_ms)
{
    if (folder[0] == '\0' || path_stays_inside(folder))
        place->ops->tidy(place, folder, age_ms);
}
