/* folders.c - the map of a table's folders: an array, and an index of hashes into it. */
#include "formats/folders.h"
#include <string.h>

/* Well mixed, so that sizes swapped between two files do not cancel out. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

void tarn_tally_add(struct tarn_tally *tally, struct tarn_hash128 hash, int64_t size)
{
    tally->names_hi += hash.hi;
    tally->names_lo += hash.lo;
    tally->count++;
    if (size < 0) {
        tally->unsized++;
        return;
    }
    tally->sizes += mix(hash.hi ^ mix((uint64_t)size + 1));
    if (tally->bytes <= INT64_MAX - size)
        tally->bytes += size;
}

static bool same_names(const struct tarn_tally *a, const struct tarn_tally *b)
{
    return a->count == b->count && a->names_hi == b->names_hi && a->names_lo == b->names_lo;
}

bool tarn_tally_same(const struct tarn_tally *a, const struct tarn_tally *b)
{
    return same_names(a, b) && a->sizes == b->sizes && a->unsized == b->unsized;
}

bool tarn_tally_fits(const struct tarn_tally *lying, const struct tarn_tally *listed)
{
    if (!same_names(lying, listed))
        return false;
    return listed->unsized == 0 ? lying->sizes == listed->sizes : listed->unsized == listed->count;
}

void tarn_folders_done(struct tarn_folders *folders)
{
    free(folders->items);
    free(folders->index);
    tarn_buf_done(&folders->paths);
    *folders = (struct tarn_folders){ 0 };
}

const char *tarn_folder_path(const struct tarn_folders *folders, const struct tarn_folder *folder)
{
    return folders->paths.data + folder->path_at;
}

static bool is_key(const struct tarn_folder *folder, struct tarn_hash128 key)
{
    return folder->key.hi == key.hi && folder->key.lo == key.lo;
}

/* The place of the key in the index, or the free one where it belongs. */
static uint32_t *place_of(const struct tarn_folders *folders, struct tarn_hash128 key)
{
    size_t at = (size_t)key.lo & (folders->index_cap - 1);

    while (folders->index[at] != 0 && !is_key(&folders->items[folders->index[at] - 1], key))
        at = (at + 1) & (folders->index_cap - 1);
    return &folders->index[at];
}

static struct tarn_folder *find(struct tarn_folders *folders, struct tarn_hash128 key)
{
    if (folders->count == 0)
        return NULL;
    if (folders->last < folders->count && is_key(&folders->items[folders->last], key))
        return &folders->items[folders->last];
    uint32_t at = *place_of(folders, key);
    if (at == 0)
        return NULL;
    folders->last = at - 1;
    return &folders->items[at - 1];
}

struct tarn_folder *tarn_folders_find(struct tarn_folders *folders, const char *path, size_t len)
{
    return find(folders, tarn_hash128(path, len));
}

static bool index_all(struct tarn_folders *folders, size_t cap)
{
    uint32_t *index = calloc(cap, sizeof *index);

    if (!index)
        return false;
    free(folders->index);
    folders->index = index;
    folders->index_cap = cap;
    for (size_t i = 0; i < folders->count; i++)
        *place_of(folders, folders->items[i].key) = (uint32_t)i + 1;
    return true;
}

static bool make_room(struct tarn_folders *folders)
{
    if (folders->count == TARN_FOLDERS_MAX)
        return false;
    if (folders->count == folders->cap) {
        size_t cap = folders->cap ? folders->cap + folders->cap / 2 : 16;
        struct tarn_folder *more = realloc(folders->items, cap * sizeof *more);
        if (!more)
            return false;
        folders->items = more;
        folders->cap = cap;
    }
    if (4 * (folders->count + 1) <= 3 * folders->index_cap)
        return true;
    return index_all(folders, folders->index_cap ? 2 * folders->index_cap : 32);
}

struct tarn_folder *tarn_folders_put(struct tarn_folders *folders, const char *path, size_t len)
{
    struct tarn_hash128 key = tarn_hash128(path, len);
    struct tarn_folder *known = find(folders, key);

    if (known)
        return known;
    size_t path_at = folders->paths.len;
    tarn_buf_add(&folders->paths, path, len);
    tarn_buf_addc(&folders->paths, '\0');
    if (folders->paths.failed || !make_room(folders))
        return NULL;
    *place_of(folders, key) = (uint32_t)folders->count + 1;
    folders->last = folders->count;
    folders->items[folders->count] = (struct tarn_folder){ .key = key, .path_at = path_at,
                                                                    .newest_ms = INT64_MIN, .newest_at = TARN_NO_NAME };
    return &folders->items[folders->count++];
}

size_t tarn_folder_len(const char *file_path)
{
    const char *slash = strrchr(file_path, '/');

    return slash ? (size_t)(slash - file_path) : 0;
}

const char *tarn_folder_newest(const struct tarn_folders *folders, const struct tarn_folder *folder)
{
    return folder->newest_at == TARN_NO_NAME ? NULL : folders->paths.data + folder->newest_at;
}

tarn_code tarn_folder_set_newest(struct tarn_folders *folders, struct tarn_folder *folder, int64_t newest_ms,
                                 const char *name, struct tarn_err *err)
{
    const char *known = tarn_folder_newest(folders, folder);

    folder->newest_ms = newest_ms;
    if (name && known && strcmp(name, known) == 0)
        return TARN_OK;
    folder->newest_at = name ? folders->paths.len : TARN_NO_NAME;
    if (name)
        tarn_buf_add(&folders->paths, name, strlen(name) + 1);
    return tarn_buf_check(&folders->paths, err);
}

/* Copied behind `paths`; where it stands then. */
static size_t copy_text(struct tarn_buf *paths, const char *text)
{
    size_t at = paths->len;

    tarn_buf_add(paths, text, strlen(text) + 1);
    return at;
}

static void keep(struct tarn_folders *folders, struct tarn_folder *folder, struct tarn_buf *paths)
{
    const char *newest = tarn_folder_newest(folders, folder);

    folder->flags &= ~(unsigned)TARN_FOLDER_OF_SCAN;
    folder->path_at = copy_text(paths, tarn_folder_path(folders, folder));
    folder->newest_at = newest ? copy_text(paths, newest) : TARN_NO_NAME;
}

tarn_code tarn_folders_settle(struct tarn_folders *folders, struct tarn_err *err)
{
    struct tarn_buf paths = { 0 };
    size_t kept = 0;

    for (size_t i = 0; i < folders->count; i++) {
        struct tarn_folder *folder = &folders->items[i];
        if (!(folder->flags & TARN_FOLDER_FOUND) && folder->listed.count == 0)
            continue;
        keep(folders, folder, &paths);
        folders->items[kept++] = *folder;
    }
    tarn_buf_done(&folders->paths);
    folders->paths = paths;
    folders->count = kept;
    folders->last = 0;
    if (folders->index)
        memset(folders->index, 0, folders->index_cap * sizeof *folders->index);
    for (size_t i = 0; i < kept; i++)
        *place_of(folders, folders->items[i].key) = (uint32_t)i + 1;
    return tarn_buf_check(&folders->paths, err);
}

size_t tarn_folders_bytes(const struct tarn_folders *folders)
{
    return folders->cap * sizeof *folders->items + folders->index_cap * sizeof *folders->index + folders->paths.cap;
}
