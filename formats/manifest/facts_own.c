/* facts_own.c - entries that Tarn wrote itself. The catalog knows what they did, so that only damage is
 * looked for, and whether they still say what was committed. */
#include "formats/manifest/gather.h"
#include <stdio.h>
#include <string.h>

enum {
    WINDOW_OWN = 20,              /* newest of Tarn's own */
    OWN_SLACK_MS = 60 * 1000,     /* an entry is written after its commit; clocks differ */
    OWN_SMALL_BYTES = 1024 * 1024 /* longer ones are looked at by a sweep, when they are late */
};

bool tarn_gather_names_table(const struct tarn_facts_catalog *catalog, const struct tarn_entry_head *head)
{
    return head->catalog && head->table_uuid && strcmp(head->catalog, catalog->catalog_id) == 0 &&
           strcmp(head->table_uuid, catalog->table->uuid) == 0;
}

/* Does it still tell of that commit? A rebuild believes what it says, and takes one that names another table
 * for none of this one's. Entries of older servers tell no schema version. */
static bool tells_same(const struct tarn_facts_catalog *catalog, const struct tarn_entry_head *head,
                       const char *id, const struct tarn_told_commit *told)
{
    bool did_same =
        !told->follows || (head->adds == told->files_added && head->removes == told->files_removed &&
                           head->bytes_added == told->bytes_added);
    bool was_same = head->version == told->version && head->timestamp == told->committed_at &&
                    head->data_change == told->data_change &&
                    (head->schema_version < 0 || head->schema_version == told->schema_version);

    return head->id && strcmp(head->id, id) == 0 && tarn_gather_names_table(catalog, head) && was_same &&
           did_same;
}

/* Counts and sizes agree: so must author, batches and paths. Of a long entry they are not looked at. */
static tarn_code says_same(struct tarn_gather *g, const char *path, int64_t size, int64_t version, bool *same,
                           struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    TARN_ERR(fault);

    if (!catalog->says_same || size > OWN_SMALL_BYTES)
        return TARN_OK;
    tarn_code code = tarn_place_read_all(g->place, path, OWN_SMALL_BYTES, &text, NULL, &fault);
    if (code == TARN_NOT_FOUND || code == TARN_PAYLOAD_TOO_LARGE)
        return TARN_OK;
    return code == TARN_OK ? catalog->says_same(catalog->ctx, version, &text, same, err)
                           : tarn_err_move(err, &fault);
}

/* An entry that Tarn wrote: the catalog knows what it did, so that only damage is looked for, and whether it
 * still tells of the same commit. */
tarn_code tarn_gather_own_entry(struct tarn_gather *g, struct tarn_log_entry *entry, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .version = -1,
                                                                                   .timestamp = -1 };
    const struct tarn_log_facts *log = &g->facts->log;
    const struct tarn_told_commit *told = &log->told[entry->told - 1];
    char path[TARN_TXN_ID_MAX + 32];
    TARN_ERR(fault);

    snprintf(path, sizeof path, TARN_DIR_LOG "/%s.json", tarn_log_file(log, entry));
    tarn_code code = tarn_entry_read_at(g->place, path, &head, NULL, NULL, NULL, &fault);
    if (code != TARN_OK && code != TARN_INVALID && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &fault);
    entry->unreadable = code == TARN_INVALID;
    bool same = code != TARN_OK || tells_same(g->options->catalog, &head, tarn_log_file(log, entry), told);
    code = code == TARN_OK && same ? says_same(g, path, entry->size, told->version, &same, err) : TARN_OK;
    entry->overwritten = !same;
    return code;
}

/* Tarn writes an entry once, when its commit is published: one that was modified later is looked at, and the
 * newest ones are anyway. */
bool tarn_gather_own_is_suspect(const struct tarn_gather *g, const struct tarn_log_entry *entry, size_t newer)
{
    if (entry->absent || entry->told == 0)
        return false;
    bool is_later = entry->mtime_ms > g->facts->log.told[entry->told - 1].committed_at + OWN_SLACK_MS;
    bool is_small = entry->size <= OWN_SMALL_BYTES;
    return (is_later && (is_small || g->options->sweep)) || entry->size == 0 ||
           (newer < WINDOW_OWN && is_small);
}
