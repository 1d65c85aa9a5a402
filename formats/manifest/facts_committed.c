/* facts_committed.c - what of the log counts as committed: by pointer and manifest, or by the catalog. */
#include "formats/manifest/gather.h"
#include <string.h>

/* --- observed: pointer and manifest tell --- */

/* Where the log stands that was committed: at an entry, by number or by time. */
struct mark { bool by_number; int64_t number, limit_ms; };

static bool find_mark(const struct tarn_log_facts *log, const char *id, struct mark *out)
{
    size_t prefix_len = 0;
    bool is_found = false;

    if (!id)
        return false;
    out->by_number = log->numbered && tarn_txn_id_number(id, &prefix_len, &out->number) &&
                     strlen(log->prefix) == prefix_len && strncmp(log->prefix, id, prefix_len) == 0;
    for (size_t i = 0; i < log->count && !out->by_number; i++) {
        if (strcmp(tarn_log_id(log, &log->entries[i]), id) != 0)
            continue;
        out->limit_ms = log->entries[i].mtime_ms;
        is_found = true;
    }
    return out->by_number || is_found;
}

/* An entry is committed when it is not after the one that the pointer names, or the manifest, whichever is the
 * later. Without either all of them count, since nothing says otherwise. */
void tarn_log_mark(struct tarn_gather *g)
{
    struct tarn_log_facts *log = &g->facts->log;
    struct mark mark = { 0 }, shown = { 0 };
    bool has_pointer = find_mark(log, g->facts->pointer_id, &mark);

    if (find_mark(log, g->facts->manifest_transaction, &shown)) {
        bool is_later = shown.by_number ? mark.by_number && shown.number > mark.number : shown.limit_ms > mark.limit_ms;
        mark = !has_pointer || is_later ? shown : mark;
    } else if (!has_pointer) {
        mark = (struct mark){ .limit_ms = INT64_MAX };
    }
    for (size_t i = 0; i < log->count; i++) {
        struct tarn_log_entry *entry = &log->entries[i];
        entry->committed = mark.by_number ? entry->number <= mark.number : entry->mtime_ms <= mark.limit_ms;
    }
}

/* --- managed: the catalog tells --- */

struct commits_walk { struct tarn_log_facts *log; struct tarn_fileset *index; };

static tarn_code keep_told(struct tarn_log_facts *log, const struct tarn_told_commit *told, struct tarn_err *err)
{
    if (log->told_count == log->told_cap) {
        size_t cap = log->told_cap ? 2 * log->told_cap : 64;
        struct tarn_told_commit *more = realloc(log->told, cap * sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        log->told = more;
        log->told_cap = cap;
    }
    log->told[log->told_count++] = *told;
    return TARN_OK;
}

/* The catalog knows what is committed; an id without its file becomes an absent entry. */
static tarn_code note_committed(void *ctx, const char *id, const struct tarn_told_commit *told, bool adopted,
                                struct tarn_err *err)
{
    struct commits_walk *walk = ctx;
    const struct tarn_fileset_entry *at = tarn_fileset_find(walk->index, id);
    struct tarn_log_entry *entry = at ? &walk->log->entries[at->size] : tarn_log_add(walk->log, id, err);

    if (!entry)
        return err ? err->code : TARN_INTERNAL;
    if (!at) {
        entry->absent = true;
        entry->mtime_ms = told->committed_at;
        entry->version = adopted ? -1 : told->version;
    }
    entry->committed = true;
    entry->adopted = adopted;
    if (adopted)
        return TARN_OK;
    tarn_code code = keep_told(walk->log, told, err);
    entry->told = code == TARN_OK ? (uint32_t)walk->log->told_count : 0;
    return code;
}

tarn_code tarn_log_match(struct tarn_gather *g, struct tarn_err *err)
{
    struct tarn_log_facts *log = &g->facts->log;
    TARN_AUTO_DONE(fileset) struct tarn_fileset index = { 0 }; /* of ids; the size is the entry's place */
    struct commits_walk walk = { log, &index };

    for (size_t i = 0; i < log->count; i++) {
        struct tarn_fileset_entry *slot = tarn_fileset_put(&index, tarn_log_id(log, &log->entries[i]));
        if (!slot)
            return tarn_fail_oom(err);
        slot->size = i & TARN_FILE_NO_SIZE;
    }
    return g->options->catalog->commits(g->options->catalog->ctx, note_committed, &walk, err);
}

/* The absent entry of that id, NULL: there is none. */
static struct tarn_log_entry *find_absent(struct tarn_log_facts *log, const char *id)
{
    for (size_t i = 0; i < log->count; i++)
        if (log->entries[i].absent && strcmp(tarn_log_id(log, &log->entries[i]), id) == 0)
            return &log->entries[i];
    return NULL;
}

void tarn_log_join(struct tarn_log_facts *log)
{
    size_t kept = 0;

    for (size_t i = 0; i < log->count; i++) {
        struct tarn_log_entry *entry = &log->entries[i];
        bool is_renamed = !entry->absent && entry->id_at != entry->file_at;
        struct tarn_log_entry *absent = is_renamed ? find_absent(log, tarn_log_id(log, entry)) : NULL;
        if (!absent)
            continue;
        entry->committed = absent->committed;
        entry->adopted = absent->adopted;
        entry->foreign = false;
        absent->committed = false; /* no entry of its own any more */
    }
    for (size_t i = 0; i < log->count; i++)
        if (!log->entries[i].absent || log->entries[i].committed)
            log->entries[kept++] = log->entries[i];
    log->count = kept;
}
