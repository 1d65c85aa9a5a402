/* facts_replay.c - what the log says of each file. The entries are read newest first and the first word on a path
 * is the last word of the log; behind a hole or an unreadable entry nothing is held against the manifest, because
 * what is missing there may explain it. */
#include "formats/manifest/gather.h"
#include <stdio.h>
#include <string.h>

enum {
    WINDOW_PROBE = 1000, WINDOW_SWEEP = 200000, /* newest entries read */
    WORDS_KEPT = 1000
};

struct replay {
    struct tarn_gather *g;
    const struct tarn_log_entry *entry;
    bool certain;      /* every newer committed entry was read */
    struct tarn_fileset words; /* the entry's last one on each path */
    bool brings;       /* the entry added data that no later one removed again */
    bool tells;        /* all words are known: those that are contradicted are told */
    size_t left;       /* of those */
    int64_t adopted;   /* managed: the highest number from before Tarn, -1: none */
};

static void replay_done(struct replay *r) { tarn_fileset_done(&r->words); }

static void mark(struct tarn_fileset_entry *file, unsigned flags)
{
    file->flags = (file->flags | flags) & TARN_FILE_FLAGS;
}

/* Is this the newest word on the path, and may it be held against what is listed? Of a managed table the catalog has
 * decided, but for one that was adopted while manifest and log disagreed. */
static bool decides(const struct replay *r, struct tarn_fileset_entry *file)
{
    if (file->flags & TARN_FILE_DECIDED)
        return false;
    mark(file, TARN_FILE_DECIDED | (r->certain ? TARN_FILE_CERTAIN : 0u));
    const struct tarn_facts_catalog *catalog = r->g->options->catalog;
    bool is_log_asked = !catalog || catalog->table->block == TARN_BLOCK_ADOPTION;
    return r->entry->committed && r->certain && is_log_asked;
}

/* Of a word that is contradicted by what is listed, told once. */
static tarn_code tell(struct replay *r, const struct tarn_entry_op *op, const char *path, struct tarn_err *err)
{
    struct tarn_facts *facts = r->g->facts;
    struct tarn_fileset_entry *file = tarn_fileset_find(&r->g->files, path);
    unsigned word = op->is_add ? TARN_FILE_SHOULD : TARN_FILE_SHOULD_NOT;

    if (!file || !(file->flags & word) || op->is_add == (bool)(file->flags & TARN_FILE_LISTED))
        return TARN_OK;
    file->flags &= ~word & TARN_FILE_FLAGS;
    r->left--;
    return tarn_gather_doubt(r->g, op->is_add ? &facts->not_in_manifest : &facts->still_listed, path,
                             tarn_log_id(&facts->log, r->entry), -1, -1, r->entry->mtime_ms, err);
}

/* Operations count in their order: a file that one entry removes and adds is there afterwards, one that it adds and removes
 * is not. So the entry's last word on a path is its word. */
static tarn_code note_op(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    struct replay *r = ctx;
    struct tarn_listed_path as;
    tarn_code code = tarn_listed_path_read(op->file.path, tarn_place_location(r->g->place), &r->g->room, &as, err);

    if (code != TARN_OK || as.is_outside)
        return code;
    if (r->tells)
        return tell(r, op, as.path, err);
    struct tarn_fileset_entry *word = tarn_fileset_put(&r->words, as.path);
    if (!word)
        return tarn_fail_oom(err);
    word->flags = op->is_add ? TARN_FILE_ADDED : TARN_FILE_REMOVED;
    return TARN_OK;
}

/* `withdraws`: what the entry removes is not rewritten into other files. */
static tarn_code take_word(struct replay *r, const struct tarn_fileset_entry *word, bool withdraws, struct tarn_err *err)
{
    const struct tarn_hash128 hash = { .hi = word->hi, .lo = word->lo };
    struct tarn_fileset_entry *file = tarn_fileset_put_hash(&r->g->files, hash);
    bool is_add = word->flags == TARN_FILE_ADDED;

    if (!file)
        return tarn_fail_oom(err);
    if (r->entry->committed)
        mark(file, word->flags);
    if (is_add)
        r->brings |= !(file->flags & TARN_FILE_WITHDRAWN);
    else if (withdraws && !(file->flags & TARN_FILE_DECIDED))
        mark(file, TARN_FILE_WITHDRAWN);
    if (decides(r, file))
        mark(file, is_add ? TARN_FILE_SHOULD : TARN_FILE_SHOULD_NOT);
    return TARN_OK;
}

static tarn_code take_words(struct replay *r, const struct tarn_entry_head *head, struct tarn_err *err)
{
    bool withdraws = head->data_change && r->entry->committed;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < r->words.cap && code == TARN_OK; i++)
        if (r->words.slots[i].used)
            code = take_word(r, &r->words.slots[i], withdraws, err);
    return code;
}

/* The id inside counts, not the file's name; padding makes no difference. */
static tarn_code check_id(struct replay *r, struct tarn_log_entry *entry, const char *id, bool *renamed,
                          struct tarn_err *err)
{
    struct tarn_log_facts *log = &r->g->facts->log;
    const char *file = tarn_log_file(log, entry);

    if (!id || entry->id_at != entry->file_at || tarn_txn_id_same(id, file) || tarn_txn_id_check(id, "id", NULL) != TARN_OK)
        return TARN_OK;
    *renamed = true;
    return tarn_log_rename(log, entry, id, err);
}

static tarn_code read_entry(struct replay *r, struct tarn_log_entry *entry, struct tarn_entry_head *head,
                            struct tarn_err *err)
{
    char path[TARN_TXN_ID_MAX + 32];

    snprintf(path, sizeof path, TARN_DIR_LOG "/%s.json", tarn_log_file(&r->g->facts->log, entry));
    r->entry = entry;
    r->brings = false;
    if (r->words.count > WORDS_KEPT)
        tarn_fileset_done(&r->words); /* else every small entry after a huge one would pay for it */
    tarn_fileset_clear(&r->words);
    tarn_code code = tarn_entry_read_at(r->g->place, path, head, NULL, note_op, r, err);
    return code == TARN_OK ? take_words(r, head, err) : code;
}

/* Of a managed table: an entry that the catalog does not know, and that another hand wrote. One of its own may be a
 * commit that is published right now. */
static bool is_foreign(const struct replay *r, const struct tarn_log_entry *entry, const struct tarn_entry_head *head)
{
    const struct tarn_facts_catalog *catalog = r->g->options->catalog;

    return catalog && !entry->committed && !tarn_gather_names_table(catalog, head);
}

/* What lay there when the table was adopted is no fault; the first commit of Tarn's own shows when that was. */
static bool is_since_takeover(const struct replay *r, const struct tarn_log_entry *entry)
{
    const struct tarn_log_facts *log = &r->g->facts->log;

    if (r->g->options->catalog->table->first_version == 0)
        return true;
    return log->told_count > 0 && entry->mtime_ms > log->told[log->told_count - 1].committed_at;
}

static void mark_foreign(const struct replay *r, struct tarn_log_entry *entry)
{
    entry->foreign = true;
    entry->intruder = is_since_takeover(r, entry);
}

static tarn_code visit(struct replay *r, struct tarn_log_entry *entry, bool *renamed, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .version = -1, .timestamp = -1 };
    TARN_ERR(fault);

    tarn_code code = entry->absent ? TARN_NOT_FOUND : read_entry(r, entry, &head, &fault);
    if (code == TARN_INVALID || code == TARN_NOT_FOUND) {
        entry->unreadable = code == TARN_INVALID;
        /* One in the middle of the history from before could not be taken over with it. */
        if (entry->unreadable && entry->number >= 0 && entry->number < r->adopted)
            entry->committed = entry->adopted = true;
        if (entry->unreadable && r->g->options->catalog && !entry->committed)
            mark_foreign(r, entry);
        r->certain &= !entry->committed;
        return TARN_OK;
    }
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    entry->read = true;
    entry->sure = r->certain;
    entry->version = head.version;
    entry->timestamp = head.timestamp;
    entry->owner = head.table_uuid ? tarn_hash128(head.table_uuid, strlen(head.table_uuid)).lo : 0;
    if (is_foreign(r, entry, &head))
        mark_foreign(r, entry);
    code = tarn_gather_life(r->g, entry, &head, r->brings, err);
    return code == TARN_OK ? check_id(r, entry, head.id, renamed, err) : code;
}

/* Of a managed table the catalog tells what was done; only what came before Tarn is read from the log, and what the
 * catalog does not know. */
static bool needs_reading(const struct replay *r, const struct tarn_log_entry *entry)
{
    return !r->g->options->catalog || entry->adopted || !entry->committed;
}

static int64_t highest_adopted(const struct tarn_log_facts *log)
{
    int64_t highest = -1;

    for (size_t i = 0; log->numbered && i < log->count; i++)
        if (log->entries[i].adopted && log->entries[i].number > highest)
            highest = log->entries[i].number;
    return highest;
}

static void start_over(struct tarn_gather *g)
{
    tarn_fileset_unflag(&g->files, TARN_FILE_ADDED | TARN_FILE_REMOVED | TARN_FILE_DECIDED | TARN_FILE_SHOULD |
                                       TARN_FILE_SHOULD_NOT | TARN_FILE_WITHDRAWN | TARN_FILE_CERTAIN);
    tarn_batch_links_done(&g->batch_links);
    tarn_suspects_done(&g->facts->log.undated);
    g->facts->log.naive = 0;
    g->restored_version = -1;
    tarn_life_init(&g->facts->life);
    g->facts->life_maybe = -1;
}

/* A log that begins with its first number is read from there; of another one nobody knows what came before. */
static void keep_named(struct tarn_gather *g, const struct replay *r)
{
    const struct tarn_log_facts *log = &g->facts->log;
    struct tarn_named_batches *kept = &g->recall->batches;
    bool is_whole = !log->was_cut && log->numbered && log->count > 0 && log->entries[0].number <= 1;

    tarn_fileset_done(&kept->names);
    kept->names = g->batch_links.named;
    g->batch_links.named = (struct tarn_fileset){ 0 };
    kept->is_certain = r->certain;
    kept->since_ms = is_whole ? INT64_MIN : log->was_cut ? g->unread_before_ms : log->count > 0 ? log->entries[0].mtime_ms : INT64_MAX;
}

/* A commit that cannot be read may have brought data: at the latest when the next one was written. */
static void note_unsure(struct replay *r, int64_t at)
{
    struct tarn_facts *facts = r->g->facts;

    facts->log.is_whole = false;
    if (facts->life.last_data < 0 && at > facts->life_maybe)
        facts->life_maybe = at;
}

/* Is a number missing between this entry and the newer one? The same number again is a copy. */
static void note_hole(struct replay *r, const struct tarn_log_entry *entry, int64_t *newer, int64_t *newer_ms)
{
    bool is_hole = *newer > 0 && entry->number < *newer - 1;

    r->certain &= !is_hole;
    if (is_hole)
        note_unsure(r, *newer_ms);
    *newer = entry->number;
    *newer_ms = entry->mtime_ms;
}

static tarn_code replay(struct replay *r, bool *renamed, struct tarn_err *err)
{
    struct tarn_gather *g = r->g;
    struct tarn_log_facts *log = &g->facts->log;
    bool is_dense = tarn_log_is_dense(log);
    int64_t newer = is_dense ? tarn_txn_id_tail(g->facts->pointer_id) + 1 : 0; /* the number that should come before */
    int64_t newer_ms = g->facts->pointer_mtime_ms;
    size_t window = g->options->sweep ? WINDOW_SWEEP : WINDOW_PROBE, visited = 0, own = 0;
    tarn_code code = TARN_OK;

    for (size_t i = log->count; i > 0 && code == TARN_OK; i--) {
        struct tarn_log_entry *entry = &log->entries[i - 1];
        if (visited == window) {
            log->was_cut = true;
            log->is_whole = false;
            g->unread_before_ms = log->entries[i].mtime_ms;
            break;
        }
        if (is_dense && entry->committed)
            note_hole(r, entry, &newer, &newer_ms);
        if (needs_reading(r, entry)) {
            visited++;
            code = visit(r, entry, renamed, err);
        } else if (tarn_gather_own_is_suspect(g, entry, own++)) {
            code = tarn_gather_own_entry(g, entry, err);
        }
        if (entry->committed && (entry->absent || entry->unreadable))
            note_unsure(r, entry->mtime_ms);
    }
    return code;
}

tarn_code tarn_gather_replay(struct tarn_gather *g, bool *renamed, struct tarn_err *err)
{
    struct tarn_log_facts *log = &g->facts->log;
    __attribute__((cleanup(replay_done))) struct replay r = { .g = g, .certain = true, .adopted = highest_adopted(log) };

    start_over(g);
    log->is_whole = true;
    tarn_code code = tarn_gather_asked(g, err);
    if (code == TARN_OK)
        code = replay(&r, renamed, err);
    if (code != TARN_OK)
        return code;
    g->facts->saw |= log->is_whole ? TARN_SAW_TEXTS : 0u;
    g->facts->saw |= g->options->catalog || g->facts->life_maybe < 0 ? TARN_SAW_LIFE : 0u;
    if (!g->options->catalog) {
        tarn_batch_links_take(&g->batch_links, &g->facts->duplicate_batches);
        keep_named(g, &r);
        g->facts->saw |= log->is_whole ? TARN_SAW_BATCHES : 0u;
    }
    return TARN_OK;
}

/* Observed: which table each entry says it is of, held against the manifest. */
static void note_owners(struct tarn_gather *g)
{
    const char *uuid = g->options->catalog ? NULL : g->facts->manifest_uuid;
    uint64_t own = uuid ? tarn_hash128(uuid, strlen(uuid)).lo : 0;

    for (size_t i = 0; uuid && i < g->facts->log.count; i++) {
        struct tarn_log_entry *entry = &g->facts->log.entries[i];
        entry->own_table = entry->owner == own;
        entry->other_table = entry->owner != 0 && !entry->own_table;
    }
}

/* Names and ids of what the listing contradicts: the entries are read once more, until all are told. */
tarn_code tarn_gather_contradictions(struct tarn_gather *g, struct tarn_err *err)
{
    struct tarn_log_facts *log = &g->facts->log;
    __attribute__((cleanup(replay_done))) struct replay r = { .g = g, .tells = true };
    tarn_code code = TARN_OK;

    note_owners(g);
    if (g->facts->manifest != TARN_DOC_READ)
        return TARN_OK;
    r.left = tarn_fileset_count(&g->files, TARN_FILE_SHOULD, TARN_FILE_LISTED) +
             tarn_fileset_count(&g->files, TARN_FILE_SHOULD_NOT | TARN_FILE_LISTED, 0);
    for (size_t i = log->count; i > 0 && r.left > 0 && code == TARN_OK; i--) {
        __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { 0 };
        struct tarn_log_entry *entry = &log->entries[i - 1];
        TARN_ERR(fault);
        if (!entry->read)
            continue;
        code = read_entry(&r, entry, &head, &fault);
        if (code == TARN_INVALID || code == TARN_NOT_FOUND)
            code = TARN_OK;
        else if (code != TARN_OK)
            code = tarn_err_move(err, &fault);
    }
    return code;
}
