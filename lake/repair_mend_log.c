/* repair_mend_log.c - the log: entries of Tarn's own commits are held against what the catalog
 * says and made again, from the same rows; entries from before Tarn are only looked at, since
 * the catalog does not know what they did. Whatever else lies there is somebody else's. */
#include "base/text.h"
#include "base/time.h"
#include "formats/manifest/manifest.h"
#include "lake/expire.h"
#include "lake/lease.h"
#include "lake/repair_mend.h"
#include <stdio.h>
#include <string.h>

#define PATH_MAX_ (TARN_TXN_ID_MAX + 32)

static void path_of(const char *id, char out[PATH_MAX_])
{
    snprintf(out, PATH_MAX_, TARN_DIR_LOG "/%.*s.json", TARN_TXN_ID_MAX, id);
}

/* --- what lies there --- */

/* "_transactions/<id>.json"; false when it is none. */
static bool id_of(const char *path, char id[TARN_TXN_ID_MAX + 1])
{
    const char *name = path + strlen(TARN_DIR_LOG "/");
    size_t len = strlen(name);

    if (!tarn_ends_with(name, ".json") || len - strlen(".json") > TARN_TXN_ID_MAX)
        return false;
    snprintf(id, TARN_TXN_ID_MAX + 1, "%.*s", (int)(len - strlen(".json")), name);
    return true;
}

static tarn_code note_name(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct tarn_mend *m = ctx;
    char id[TARN_TXN_ID_MAX + 1];

    if (object->is_folder || object->is_symlink)
        return TARN_OK;
    if (tarn_ends_with(object->path, TARN_CHECKPOINT_SUFFIX)) {
        tarn_buf_add(&m->checkpoints, object->path, strlen(object->path) + 1);
        return tarn_buf_check(&m->checkpoints, err);
    }
    if (!id_of(object->path, id))
        return TARN_OK;
    const struct tarn_fileset_entry *known = tarn_fileset_find(&m->ids, id);
    if (!known || !(known->flags & TARN_FILE_LISTED))
        tarn_buf_add(&m->entries, object->path, strlen(object->path) + 1);
    return tarn_buf_check(&m->entries, err);
}

static void mark_seen(struct tarn_mend *m, const char *id)
{
    struct tarn_fileset_entry *known = tarn_fileset_find(&m->ids, id);

    if (known)
        known->flags = (known->flags | TARN_FILE_SEEN) & TARN_FILE_FLAGS;
}

static bool is_ours(const struct tarn_mend *m, const char *catalog, const char *uuid)
{
    return catalog && uuid && strcmp(catalog, m->run.lake->catalog_id) == 0 &&
           strcmp(uuid, m->run.table->uuid) == 0;
}

static tarn_code ahead(const struct tarn_mend *m, const char *path, int64_t version, struct tarn_err *err)
{
    return tarn_fail(err, TARN_STORAGE_AHEAD,
                     "%s/%s is version %lld of this table, which the catalog has lost: recover the table first",
                     m->run.table->location, path, (long long)version);
}

/* An entry of the history from before under a wrong name gets its own; when that
 * is taken it is a copy, and goes. Zeros before the number are no wrong name. */
static tarn_code give_name(struct tarn_mend *m, const char *path, const char *name, const char *id,
                           struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    struct tarn_object object = { 0 };
    char to[PATH_MAX_];
    TARN_ERR(fault);

    if (strcmp(name, id) == 0)
        return TARN_OK;
    path_of(id, to);
    tarn_code code = tarn_place_stat(m->run.place, to, &object, &fault);
    if (code == TARN_OK)
        return tarn_mend_away(m, path, err);
    if (code == TARN_NOT_FOUND && tarn_txn_id_same(name, id))
        return TARN_OK;
    if (code == TARN_NOT_FOUND)
        code = tarn_place_read_all(m->run.place, path, SIZE_MAX / 4, &text, NULL, &fault);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    code = tarn_mend_put(m, to, text.data ? text.data : "", text.len, err);
    return code == TARN_OK ? tarn_mend_away(m, path, err) : code;
}

static tarn_code note_foreign(struct tarn_mend *m, const char *path, struct tarn_err *err)
{
    char token[TARN_TOKEN_TEXT] = "";

    if (!m->keeps_foreign)
        return tarn_mend_away(m, path, err);
    tarn_code code = tarn_mend_aside(m, path, NULL, token, err);
    tarn_buf_add(&m->foreign, path, strlen(path) + 1);
    tarn_buf_add(&m->foreign, token, strlen(token) + 1);
    return code == TARN_OK ? tarn_buf_check(&m->foreign, err) : code;
}

/* One that is no commit of Tarn's. */
static tarn_code judge_entry(struct tarn_mend *m, const char *path, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .version = -1 };
    char id[TARN_TXN_ID_MAX + 1] = "";
    TARN_ERR(fault);

    id_of(path, id);
    const struct tarn_fileset_entry *by_name = tarn_fileset_find(&m->ids, id);
    tarn_code code = tarn_entry_read_at(m->run.place, path, &head, NULL, NULL, NULL, &fault);
    if (code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code == TARN_INVALID && by_name)
        return tarn_mend_away(m, path, err);
    if (code == TARN_INVALID)
        return note_foreign(m, path, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    /* An old one may be left of a history that has expired; one of a kept version would be a commit. */
    if (is_ours(m, head.catalog, head.table_uuid) && head.version > m->run.table->version)
        return ahead(m, path, head.version, err);
    if (is_ours(m, head.catalog, head.table_uuid))
        return head.version < m->run.table->log_from ? TARN_OK : note_foreign(m, path, err);
    const struct tarn_fileset_entry *inside = head.id ? tarn_fileset_find(&m->ids, head.id) : NULL;
    if (inside && inside->flags & TARN_FILE_ADDED) {
        mark_seen(m, head.id);
        return give_name(m, path, id, head.id, err);
    }
    if (!by_name)
        return note_foreign(m, path, err);
    mark_seen(m, id);
    return TARN_OK;
}

static tarn_code judge_names(struct tarn_mend *m, struct tarn_err *err)
{
    tarn_code code = tarn_place_list(m->run.place, TARN_DIR_LOG, false, note_name, m, err);

    for (size_t at = 0; code == TARN_OK && at < m->entries.len; at += strlen(m->entries.data + at) + 1) {
        code = tarn_lake_goes_on(m->r->lake, err);
        if (code == TARN_OK)
            code = judge_entry(m, m->entries.data + at, err);
    }
    return code;
}

/* --- what must lie there --- */

/* Without all its operations at hand: is it a whole entry of that version? */
static tarn_code is_readable(struct tarn_mend *m, const char *path, const struct tarn_publish_entry *entry,
                             bool *there, bool *good, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .version = -1 };
    tarn_code code = tarn_publish_own_entry(&m->run, path, entry->version, &head, there, good, err);

    if (*good && entry->huge)
        *good = head.adds == entry->huge->files_added && head.removes == entry->huge->files_removed &&
                head.bytes_added == entry->huge->bytes_added;
    return code;
}

static tarn_code look_at(struct tarn_mend *m, const char *path, const struct tarn_publish_entry *entry,
                         enum tarn_publish_found *found, struct tarn_err *err)
{
    bool there = false, good = false;

    if (entry->text && entry->is_whole)
        return tarn_publish_compare(&m->run, path, entry->text, entry->len, found, err);
    tarn_code code = is_readable(m, path, entry, &there, &good, err);
    *found = good ? TARN_FOUND_SAME : there ? TARN_FOUND_OTHER : TARN_FOUND_NOTHING;
    return code;
}

static tarn_code write_again(struct tarn_mend *m, const char *path, const struct tarn_publish_entry *entry,
                             struct tarn_err *err)
{
    if (entry->text)
        return tarn_mend_put(m, path, entry->text, entry->len, err);
    tarn_code code = tarn_repair_tell_write(m->r->use, path, err);
    return code == TARN_OK && m->applies ? tarn_publish_huge(&m->run, entry->huge, TARN_PUT_REPLACE, err)
                                         : code;
}

/* `objects` gathers those that are simply not there. */
struct gathered {
    struct tarn_new_object objects[TARN_PUBLISH_ENTRIES];
    char names[TARN_PUBLISH_ENTRIES][TARN_TXN_ID_MAX + 8];
    size_t count;
};

static tarn_code gather(struct tarn_mend *m, struct gathered *g, const char *path,
                        const struct tarn_publish_entry *entry, struct tarn_err *err)
{
    snprintf(g->names[g->count], sizeof g->names[0], "%.*s.json", TARN_TXN_ID_MAX, entry->transaction);
    g->objects[g->count] = (struct tarn_new_object){ g->names[g->count], entry->text, entry->len, false };
    g->count++;
    return tarn_repair_tell_write(m->r->use, path, err);
}

/* Of a history that ends: what is left of it only must not be in the way. */
static tarn_code mend_ending(struct tarn_mend *m, const char *path, const struct tarn_publish_entry *entry,
                             struct tarn_err *err)
{
    bool there = false, good = false;
    tarn_code code = is_readable(m, path, entry, &there, &good, err);

    return code == TARN_OK && there && !good ? tarn_mend_away(m, path, err) : code;
}

static tarn_code mend_entry(struct tarn_mend *m, struct gathered *g, const struct tarn_publish_entry *entry,
                            struct tarn_err *err)
{
    enum tarn_publish_found found = TARN_FOUND_SAME;
    bool is_due = entry->version <= m->run.table->published_version; /* a newer one is the publisher's to write */
    char path[PATH_MAX_];

    path_of(entry->transaction, path);
    if (entry->version < m->log_begin)
        return mend_ending(m, path, entry, err);
    tarn_code code = look_at(m, path, entry, &found, err);
    if (code != TARN_OK || found == TARN_FOUND_SAME || (found == TARN_FOUND_NOTHING && !is_due))
        return code;
    if (!entry->is_whole && entry->version > m->lost_version)
        m->lost_version = entry->version;
    if (!entry->is_whole)
        return found == TARN_FOUND_OTHER ? tarn_mend_away(m, path, err) : TARN_OK;
    if (found == TARN_FOUND_NOTHING && entry->text)
        return gather(m, g, path, entry, err);
    if (found == TARN_FOUND_OTHER)
        code = tarn_mend_aside(m, path, NULL, NULL, err);
    return code == TARN_OK ? write_again(m, path, entry, err) : code;
}

static tarn_code mend_entries(void *ctx, const struct tarn_publish_entry *entries, size_t count,
                              struct tarn_err *err)
{
    struct tarn_mend *m = ctx;
    struct gathered g = { .count = 0 };
    tarn_code code = tarn_lake_goes_on(m->r->lake, err);

    for (size_t i = 0; code == TARN_OK && i < count; i++)
        code = mend_entry(m, &g, &entries[i], err);
    if (code != TARN_OK || g.count == 0 || !m->applies)
        return code;
    return tarn_place_create_all(m->run.place, TARN_DIR_LOG, g.objects, g.count, err);
}

/* --- the transaction that the table was adopted with, when no entry of it was ever seen --- */

static tarn_code expect_latest(struct tarn_mend *m, struct tarn_err *err)
{
    const char *latest = m->run.table->latest_transaction;

    if (!latest || tarn_fileset_find(&m->ids, latest))
        return TARN_OK;
    struct tarn_fileset_entry *entry = tarn_fileset_put(&m->ids, latest);
    if (!entry)
        return tarn_fail_oom(err);
    entry->flags = TARN_FILE_ADDED;
    m->adopted++;
    return TARN_OK;
}

tarn_code tarn_mend_log(struct tarn_mend *m, struct tarn_err *err)
{
    int64_t now = m->r->use->commit.now_ms ? m->r->use->commit.now_ms : tarn_now_ms();
    tarn_code code = tarn_expire_log_begin(m->run.lake, m->run.table_id, now, &m->log_begin, err);

    if (code == TARN_OK)
        code = expect_latest(m, err);
    if (code == TARN_OK)
        code = judge_names(m, err);
    return code == TARN_OK ? tarn_publish_entries(&m->run, m->run.table->log_from, mend_entries, m, err)
                           : code;
}
