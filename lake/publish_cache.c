/* publish_cache.c - the mappings that readers of the snapshot need, beside schema.json, so that they need
 * not compose them. Which versions are in use is learned while the manifest is written, which passes over
 * every file anyway. The document follows from the catalog alone: whatever lies there is replaced. */
#include "lake/publish_cache.h"
#include "catalog/schema_map.h"
#include "formats/manifest/manifest.h"
#include "lake/schema_rows.h"
#include <inttypes.h>
#include <string.h>

#define CACHE_MAX (64u << 20) /* bytes; a longer one is not written, readers then compose by schema.json */

/* --- the versions in use --- */

void tarn_versions_used_done(struct tarn_versions_used *used)
{
    free(used->versions);
    *used = (struct tarn_versions_used){ 0 };
}

static bool has(const struct tarn_versions_used *used, int64_t version)
{
    for (size_t i = 0; i < used->count; i++)
        if (used->versions[i] == version)
            return true;
    return false;
}

void tarn_versions_used_add(struct tarn_versions_used *used, int64_t version)
{
    if (version <= 0 || used->failed || has(used, version))
        return;
    if (used->count == used->cap) {
        size_t cap = used->cap ? 2 * used->cap : 8;
        int64_t *more = reallocarray(used->versions, cap, sizeof *more);
        used->failed = more == NULL;
        if (!more)
            return;
        used->versions = more;
        used->cap = cap;
    }
    size_t at = used->count++;
    for (; at > 0 && used->versions[at - 1] > version; at--)
        used->versions[at] = used->versions[at - 1];
    used->versions[at] = version;
}

/* --- the document --- */

struct list {
    int64_t table_id;
    struct tarn_schema_rows rows;
};

static void list_done(struct list *list) { tarn_schema_rows_done(&list->rows); }

static tarn_code list_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct list *list = ctx;
    return tarn_schema_rows_read(tx, list->table_id, &list->rows, err);
}

static void write_mapping(const struct tarn_schema_map *map, struct tarn_jsonw *w)
{
    char version[24];
    snprintf(version, sizeof version, "%" PRId64, tarn_schema_map_from(map));
    tarn_jsonw_key(w, version);
    tarn_schema_map_write(map, w);
}

/* Newest first: a mapping is the one before it and one step more. */
static tarn_code write_mappings(const struct tarn_schema_rows *rows, const struct tarn_versions_used *used,
                                struct tarn_jsonw *w, struct tarn_err *err)
{
    TARN_AUTO(schema_map) struct tarn_schema_map *map = NULL;
    size_t i = rows->count - 1;
    tarn_code code = tarn_schema_map_new(&rows->rows[i], &map, err);
    if (code == TARN_OK)
        write_mapping(map, w);
    while (code == TARN_OK && i-- > 0 && !w->out->failed) {
        code = tarn_schema_map_back(map, &rows->rows[i], err);
        if (code == TARN_OK && has(used, rows->rows[i].version))
            write_mapping(map, w);
    }
    return code;
}

static tarn_code write_document(const struct tarn_schema_rows *rows, const struct tarn_versions_used *used,
                                struct tarn_buf *out, struct tarn_err *err)
{
    struct tarn_jsonw w = tarn_jsonw_to(out);
    out->ceiling = CACHE_MAX;
    tarn_jsonw_object(&w);
    tarn_jsonw_ki64(&w, "current_version", rows->rows[rows->count - 1].version);
    tarn_jsonw_key(&w, "mappings");
    tarn_jsonw_object(&w);
    tarn_code code = write_mappings(rows, used, &w, err);
    tarn_jsonw_object_end(&w);
    tarn_jsonw_object_end(&w);
    tarn_buf_addc(out, '\n');
    return code == TARN_OK ? tarn_buf_check(out, err) : code;
}

static tarn_code put(struct tarn_publish_run *run, const struct tarn_buf *text, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf there = { 0 };
    if (tarn_place_read_all(run->place, TARN_DOC_SCHEMA_CACHE, text->len, &there, NULL, NULL) == TARN_OK &&
        there.len == text->len && memcmp(there.data, text->data, text->len) == 0)
        return TARN_OK;
    run->cache_differs = true;
    if (run->looks_only)
        return TARN_OK;
    return tarn_place_put(run->place, TARN_DOC_SCHEMA_CACHE, text->data, text->len, TARN_PUT_REPLACE, NULL,
                          err);
}

/* What the document follows from, so that it is not put together for every manifest. */
static void key_of(const struct tarn_publish_run *run, const struct tarn_versions_used *used,
                   char out[TARN_SHA256_HEX])
{
    struct tarn_sha256 *sha256 = tarn_sha256_new();
    out[0] = '\0'; /* without memory: of no document */
    if (!sha256)
        return;
    tarn_sha256_add(sha256, &run->table->schema_version, sizeof run->table->schema_version);
    tarn_sha256_add(sha256, used->versions, used->count * sizeof *used->versions);
    tarn_sha256_end(sha256, out);
}

tarn_code tarn_publish_cache(struct tarn_publish_run *run, const struct tarn_versions_used *used,
                             struct tarn_err *err)
{
    char key[TARN_SHA256_HEX];
    if (run->table->schema_version <= 1)
        return TARN_OK;
    key_of(run, used, key);
    if (used->failed)
        return tarn_fail_oom(err);
    if (key[0] != '\0' && strcmp(key, run->cache_key) == 0)
        return TARN_OK;

    __attribute__((cleanup(list_done))) struct list list = { .table_id = run->table_id };
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    TARN_ERR(fault);
    list.rows.from = used->count > 0 ? used->versions[0] : run->table->schema_version;
    tarn_code code = tarn_store_read(run->lake->store, list_tx, &list, err);
    if (code != TARN_OK || list.rows.count == 0)
        return code;
    code = write_document(&list.rows, used, &text, &fault);
    if (code == TARN_OK)
        code = put(run, &text, &fault);
    if (code != TARN_OK && code != TARN_PAYLOAD_TOO_LARGE)
        return tarn_err_move(err, &fault);
    memcpy(run->cache_key, key, sizeof key);
    return TARN_OK;
}

/* --- without a manifest --- */

struct walk {
    struct tarn_sink sink; /* first; nothing is written to it */
    struct tarn_versions_used used;
};

static void walk_done(struct walk *walk)
{
    tarn_sink_done(&walk->sink);
    tarn_versions_used_done(&walk->used);
}

static void note_version(struct tarn_sink *sink, const struct tarn_file *file, int64_t version)
{
    (void)version;
    tarn_versions_used_add(&((struct walk *)sink)->used, file->schema_version);
}

tarn_code tarn_publish_cache_alone(struct tarn_publish_run *run, struct tarn_err *err)
{
    __attribute__((cleanup(walk_done))) struct walk walk = { 0 };
    if (run->table->schema_version <= 1)
        return TARN_OK;
    walk.sink.w = tarn_jsonw_to(&walk.sink.buf);
    tarn_code code = tarn_sink_snapshot(&walk.sink, run, run->table->version, note_version, err);
    return code == TARN_OK ? tarn_publish_cache(run, &walk.used, err) : code;
}
