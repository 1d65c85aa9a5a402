/* look.c - storage against the row. Ahead: a manifest or a log entry of this very table above its version.
 * Foreign: a manifest that neither is this table's nor is the one that was adopted or published last. Entries of others
 * are no fault, but no commit may take their ids. */
#include "lake/look.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/text.h"
#include "formats/manifest/manifest.h"
#include "lake/source.h"
#include <stdio.h>
#include <string.h>

#define ENTRIES_MAX    100                   /* newer log entries that are opened */
#define ATTEMPTS       3                     /* while the manifest is replaced under the reader */
#define ENTRY_SLACK_MS (10 * TARN_MINUTE_MS) /* clocks of storage and server may differ */

struct look {
    struct tarn_lake *lake;
    const struct tarn_table *table;
    struct tarn_place *place;
    enum tarn_block block;
    int64_t ahead;               /* the highest version of this table that storage shows */
    char token[TARN_TOKEN_TEXT]; /* of the manifest that was read, "" when there is none */
    struct newer_entry {
        char *path; /* owned */
        bool is_foreign;
    } newer[ENTRIES_MAX]; /* entries younger than the row */
    size_t newer_count;
};

static void forget_entries(struct look *look)
{
    for (size_t i = 0; i < look->newer_count; i++)
        free(look->newer[i].path);
    look->newer_count = 0;
}

static void look_done(struct look *look)
{
    forget_entries(look);
    tarn_place_free(look->place);
}

/* A version of this very table, as storage tells it. */
static void note_version(struct look *look, int64_t version)
{
    if (version > look->ahead)
        look->ahead = version;
    if (version > look->table->version)
        look->block = TARN_BLOCK_STORAGE_AHEAD;
}

static bool is_ours(const struct look *look, const char *catalog, const char *uuid)
{
    return catalog && uuid && strcmp(catalog, look->lake->catalog_id) == 0 &&
           strcmp(uuid, look->table->uuid) == 0;
}

struct publication_ctx {
    int64_t table_id;
    struct tarn_publication pub;
    bool found;
};

static tarn_code publication_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct publication_ctx *c = ctx;
    TARN_ERR(none);
    tarn_code code = tx->ops->publications.get(tx, c->table_id, &c->pub, &none);

    c->found = code == TARN_OK;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &none);
}

/* A manifest that is not by its own words ours may be the one that was adopted: same token or same bytes. */
static tarn_code judge_foreign(struct look *look, const char *sha256, const char *token, struct tarn_err *err)
{
    struct publication_ctx c = { .table_id = look->table->id };
    tarn_code code = tarn_store_read(look->lake->store, publication_tx, &c, err);

    if (code != TARN_OK)
        return code;
    if (c.found && (strcmp(c.pub.manifest_token, token) == 0 || strcmp(c.pub.manifest_sha256, sha256) == 0))
        return TARN_OK;
    look->block = TARN_BLOCK_FOREIGN_WRITE;
    return TARN_OK;
}

static tarn_code look_at_manifest(struct look *look, struct tarn_err *err)
{
    TARN_AUTO(hashed) struct tarn_hashed *source = NULL;
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { 0 };
    struct tarn_object object = { 0 };
    char sha256[TARN_SHA256_HEX];
    TARN_ERR(bad);
    tarn_code code = tarn_hashed_open(look->place, TARN_DOC_MANIFEST, &source, &object, &bad);

    if (code == TARN_NOT_FOUND)
        return TARN_OK; /* publication writes it */
    memcpy(look->token, object.token, sizeof look->token);
    if (code == TARN_OK)
        code = tarn_manifest_read(tarn_hashed_fill, source, &head, NULL, NULL, &bad);
    if (code == TARN_INVALID) {
        look->block = TARN_BLOCK_FOREIGN_WRITE;
        return TARN_OK;
    }
    if (code == TARN_OK)
        code = tarn_hashed_end(source, sha256, &bad);
    if (code != TARN_OK)
        return tarn_err_move(err, &bad);
    if (!is_ours(look, head.catalog, head.table_uuid))
        return judge_foreign(look, sha256, object.token, err);
    note_version(look, head.version);
    return TARN_OK;
}

static tarn_code note_newer(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct look *look = ctx;

    if (tarn_ends_with(object->path, TARN_CHECKPOINT_SUFFIX))
        return TARN_OK;
    if (look->newer_count == ENTRIES_MAX || object->mtime_ms + ENTRY_SLACK_MS < look->table->committed_at)
        return TARN_OK;
    char *path = strdup(object->path);
    if (!path)
        return tarn_fail_oom(err);
    look->newer[look->newer_count++] = (struct newer_entry){ path, object->is_symlink };
    return TARN_OK;
}

static tarn_code look_at_entry(struct look *look, struct newer_entry *entry, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { 0 };
    TARN_ERR(bad);
    tarn_code code = entry->is_foreign
                         ? TARN_INVALID
                         : tarn_entry_read_at(look->place, entry->path, &head, NULL, NULL, NULL, &bad);

    if (code != TARN_OK && code != TARN_INVALID && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &bad);
    bool is_own = code == TARN_OK && is_ours(look, head.catalog, head.table_uuid);
    entry->is_foreign = code != TARN_NOT_FOUND && !is_own;
    if (is_own)
        note_version(look, head.version);
    return TARN_OK;
}

static tarn_code look_at_log(struct look *look, struct tarn_err *err)
{
    tarn_code code = tarn_place_list(look->place, TARN_DIR_LOG, true, note_newer, look, err);

    for (size_t i = 0; code == TARN_OK && look->block == TARN_BLOCK_NONE && i < look->newer_count; i++)
        code = look_at_entry(look, &look->newer[i], err);
    return code;
}

/* "_transactions/<id>.json": false when it is none. */
static bool id_of(const char *path, char id[TARN_TXN_ID_MAX + 1])
{
    const char *name = strrchr(path, '/') + 1;
    size_t len = strlen(name);

    if (!tarn_ends_with(name, ".json") || len - strlen(".json") > TARN_TXN_ID_MAX)
        return false;
    snprintf(id, TARN_TXN_ID_MAX + 1, "%.*s", (int)(len - strlen(".json")), name);
    return tarn_txn_id_check(id, "id", NULL) == TARN_OK;
}

static tarn_code take_ids(struct tarn_tx *tx, const struct look *look, struct tarn_err *err)
{
    char id[TARN_TXN_ID_MAX + 1];
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < look->newer_count && code == TARN_OK; i++)
        if (look->newer[i].is_foreign && id_of(look->newer[i].path, id))
            code = tx->ops->commits.take_id(tx, look->table->id, id, err);
    return code;
}

/* Commits and their publication may have gone on meanwhile: what storage shows is held against the row as it
 * is now. */
static tarn_code block(struct tarn_tx *tx, const struct look *look, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, look->table->id, &table, err);

    if (code != TARN_OK || table->block != TARN_BLOCK_NONE)
        return code;
    if (look->block == TARN_BLOCK_STORAGE_AHEAD && look->ahead <= table->version)
        return TARN_OK;
    if (look->block == TARN_BLOCK_FOREIGN_WRITE && tarn_looked_has(look->lake->looked, table->id))
        return TARN_OK;
    table->block = look->block;
    return tx->ops->tables.update(tx, table, err);
}

static tarn_code note_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct look *look = ctx;
    tarn_code code = take_ids(tx, look, err);

    return code == TARN_OK && look->block != TARN_BLOCK_NONE ? block(tx, look, err) : code;
}

static tarn_code look_once(struct look *look, struct tarn_err *err)
{
    look->block = TARN_BLOCK_NONE;
    look->ahead = -1;
    look->token[0] = '\0';
    forget_entries(look);
    tarn_code code = look_at_manifest(look, err);
    return code == TARN_OK && look->block == TARN_BLOCK_NONE ? look_at_log(look, err) : code;
}

static bool has_found(const struct look *look)
{
    bool found = look->block != TARN_BLOCK_NONE;

    for (size_t i = 0; i < look->newer_count; i++)
        found |= look->newer[i].is_foreign;
    return found;
}

static bool has_moved(struct look *look)
{
    struct tarn_object object = { 0 };
    TARN_ERR(ignored);

    return tarn_place_stat(look->place, TARN_DOC_MANIFEST, &object, &ignored) == TARN_OK &&
           strcmp(object.token, look->token) != 0;
}

tarn_code tarn_look(struct tarn_lake *lake, const struct tarn_table *table, struct tarn_err *err)
{
    __attribute__((cleanup(look_done))) struct look look = { .lake = lake, .table = table };
    bool again = true;

    if (!table->publish || !lake->storage)
        return TARN_OK;
    tarn_code code = tarn_place_open(lake->storage, table->location, false, &look.place, err);
    if (code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "the table's folder %s is not there",
                         table->location);
    for (int i = 0; i < ATTEMPTS && again && code == TARN_OK; i++) {
        code = look_once(&look, err);
        again = code == TARN_OK && look.block != TARN_BLOCK_NONE && has_moved(&look);
    }
    if (code != TARN_OK || !has_found(&look))
        return code;
    return tarn_store_write(lake->store, note_tx, &look, err);
}
