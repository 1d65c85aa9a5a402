/* facts_log.c - the names in _transactions/, put into the order in which they count, with what pointer and catalog
 * say of each. A log of a million entries costs some 70 bytes an entry. */
#include "formats/manifest/gather.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

/* At `at` in the names; UINT32_MAX: out of memory or full. */
static uint32_t keep_name(struct tarn_log_facts *log, const char *text)
{
    size_t at = log->names.len;

    if (at > UINT32_MAX / 2)
        return UINT32_MAX;
    tarn_buf_add(&log->names, text, strlen(text) + 1);
    return log->names.failed ? UINT32_MAX : (uint32_t)at;
}

static struct tarn_log_entry *add_entry(struct tarn_log_facts *log, const char *id, struct tarn_err *err)
{
    if (log->count == log->cap) {
        size_t cap = log->cap ? 2 * log->cap : 64;
        struct tarn_log_entry *more = realloc(log->entries, cap * sizeof *more);
        if (!more) {
            (void)tarn_fail_oom(err);
            return NULL;
        }
        log->entries = more;
        log->cap = cap;
    }
    uint32_t at = keep_name(log, id);
    if (at == UINT32_MAX) {
        (void)tarn_fail_oom(err);
        return NULL;
    }
    struct tarn_log_entry *entry = &log->entries[log->count++];
    *entry = (struct tarn_log_entry){ .number = -1, .mtime_ms = -1, .id_at = at, .file_at = at, .version = -1,
                                      .timestamp = -1 };
    return entry;
}

static tarn_code keep_entry(struct tarn_log_facts *log, const char *id, const struct tarn_object *object,
                            struct tarn_err *err)
{
    struct tarn_log_entry *entry = add_entry(log, id, err);

    if (!entry)
        return err ? err->code : TARN_INTERNAL;
    entry->mtime_ms = object->mtime_ms;
    entry->size = object->size;
    return TARN_OK;
}

tarn_code tarn_log_rename(struct tarn_log_facts *log, struct tarn_log_entry *entry, const char *id, struct tarn_err *err)
{
    uint32_t at = keep_name(log, id);

    if (at == UINT32_MAX)
        return tarn_fail_oom(err);
    entry->id_at = at;
    return TARN_OK;
}

/* "_transactions/<id><end>" to the id. Temporary files and folders are none. Tarn's own ids may begin with "_";
 * elsewhere such a file is a note of somebody else. */
static bool id_of(const struct tarn_object *object, const char *end, bool is_managed, char id[TARN_TXN_ID_MAX + 1])
{
    const char *slash = strrchr(object->path, '/');
    const char *name = slash ? slash + 1 : object->path;
    size_t len = strlen(name), end_len = strlen(end);

    if (object->is_folder || object->is_symlink || name[0] == '.' || (name[0] == '_' && !is_managed) ||
        len <= end_len || len - end_len > TARN_TXN_ID_MAX || !tarn_ends_with(name, end))
        return false;
    memcpy(id, name, len - end_len);
    id[len - end_len] = '\0';
    return tarn_txn_id_check(id, "id", NULL) == TARN_OK;
}

static bool is_newer(const char *id, int64_t mtime_ms, const struct tarn_log_facts *log)
{
    int64_t number, old_number;

    if (log->checkpoint[0] && tarn_txn_id_pair(id, log->checkpoint, &number, &old_number))
        return number > old_number;
    return !log->checkpoint[0] || mtime_ms > log->checkpoint_ms;
}

static void note_checkpoint(struct tarn_log_facts *log, const char *id, int64_t mtime_ms)
{
    if (!is_newer(id, mtime_ms, log))
        return;
    snprintf(log->checkpoint, sizeof log->checkpoint, "%s", id);
    log->checkpoint_ms = mtime_ms;
}

static tarn_code note_entry(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct tarn_gather *g = ctx;
    bool is_managed = g->options->catalog != NULL;
    char id[TARN_TXN_ID_MAX + 1];

    if (object->is_symlink)
        return tarn_suspects_add(&g->facts->symlinks, object->path, NULL, -1, -1, object->mtime_ms, err);
    if (id_of(object, ".checkpoint.json", is_managed, id))
        note_checkpoint(&g->facts->log, id, object->mtime_ms);
    else if (id_of(object, ".json", is_managed, id))
        return keep_entry(&g->facts->log, id, object, err);
    return TARN_OK;
}

static int by_number(const void *a, const void *b)
{
    const struct tarn_log_entry *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_time(const void *a, const void *b)
{
    const struct tarn_log_entry *x = a, *y = b;

    if (x->mtime_ms != y->mtime_ms)
        return x->mtime_ms < y->mtime_ms ? -1 : 1;
    if (x->number != y->number)
        return by_number(a, b);
    return x->id_at < y->id_at ? -1 : x->id_at > y->id_at;
}

/* Numbers of all entries when their ids share one prefix; false with the reason when they do not. */
static bool number_entries(struct tarn_log_facts *log)
{
    log->why_not[0] = log->prefix[0] = '\0';
    log->width = 0;
    for (size_t i = 0; i < log->count; i++) {
        const char *id = tarn_log_id(log, &log->entries[i]);
        size_t prefix_len;
        int64_t number;
        if (!tarn_txn_id_number(id, &prefix_len, &number)) {
            snprintf(log->why_not, sizeof log->why_not, "%.60s ends in no number", id);
            return false;
        }
        if (i == 0)
            snprintf(log->prefix, sizeof log->prefix, "%.*s", (int)prefix_len, id);
        if (strlen(log->prefix) != prefix_len || strncmp(log->prefix, id, prefix_len) != 0) {
            snprintf(log->why_not, sizeof log->why_not, "the ids %.30s and %.30s begin differently",
                     tarn_log_id(log, &log->entries[0]), id);
            return false;
        }
        if (id[prefix_len] == '0' && id[prefix_len + 1])
            log->width = (int)strlen(id + prefix_len);
        log->entries[i].number = number;
    }
    return true;
}

static void order_entries(struct tarn_log_facts *log)
{
    if (log->count == 0)
        return;
    log->numbered = number_entries(log);
    qsort(log->entries, log->count, sizeof *log->entries, log->numbered ? by_number : by_time);
}

/* --- ids inside --- */

static tarn_code note_twice(struct tarn_log_facts *log, const struct tarn_log_entry *a, const struct tarn_log_entry *b,
                            struct tarn_err *err)
{
    char note[2 * TARN_TXN_ID_MAX + 32];

    snprintf(note, sizeof note, "in %s.json and %s.json", tarn_log_file(log, a), tarn_log_file(log, b));
    return tarn_suspects_add(&log->twice, tarn_log_id(log, b), note, -1, -1, b->mtime_ms, err);
}

/* The entry before `at` in the log's order with the same id, NULL: none. Without numbers ids are looked up. */
static const struct tarn_log_entry *same_before(const struct tarn_log_facts *log, struct tarn_fileset *ids, size_t at,
                                                tarn_code *code)
{
    if (log->numbered)
        return at > 0 && log->entries[at - 1].number == log->entries[at].number ? &log->entries[at - 1] : NULL;
    size_t known = ids->count;
    struct tarn_fileset_entry *slot = tarn_fileset_put(ids, tarn_log_id(log, &log->entries[at]));
    if (!slot)
        *code = TARN_INTERNAL;
    if (!slot || ids->count == known)
        return slot ? &log->entries[slot->size] : NULL;
    slot->size = at & TARN_FILE_NO_SIZE;
    return NULL;
}

/* A copy of an entry under another name is told as what it is, not as a wrong name too. */
static tarn_code note_ids(struct tarn_log_facts *log, struct tarn_err *err)
{
    TARN_AUTO_DONE(fileset) struct tarn_fileset ids = { 0 };
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < log->count && code == TARN_OK; i++) {
        const struct tarn_log_entry *entry = &log->entries[i], *same = same_before(log, &ids, i, &code);
        bool is_copied = log->numbered && i + 1 < log->count && log->entries[i + 1].number == entry->number;
        if (code == TARN_OK && same)
            code = note_twice(log, same, entry, err);
        if (code == TARN_OK && !same && !is_copied && entry->id_at != entry->file_at)
            code = tarn_suspects_add(&log->misnamed, tarn_log_file(log, entry), tarn_log_id(log, entry), -1, -1,
                                     entry->mtime_ms, err);
    }
    return code == TARN_INTERNAL ? tarn_fail_oom(err) : code;
}

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

/* Observed: an entry is committed when it is not after the one that the pointer names, or the manifest, whichever is the
 * later. Without either all of them count, since nothing says otherwise. */
static void mark_committed(struct tarn_gather *g)
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

/* Managed: the catalog knows what is committed; an id without its file becomes an absent entry. */
static tarn_code note_committed(void *ctx, const char *id, const struct tarn_told_commit *told, bool adopted,
                                struct tarn_err *err)
{
    struct commits_walk *walk = ctx;
    const struct tarn_fileset_entry *at = tarn_fileset_find(walk->index, id);
    struct tarn_log_entry *entry = at ? &walk->log->entries[at->size] : add_entry(walk->log, id, err);

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

static tarn_code match_commits(struct tarn_gather *g, struct tarn_err *err)
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

static void note_latest(struct tarn_gather *g)
{
    struct tarn_facts *facts = g->facts;
    const char *latest = facts->pointer_id;

    if (g->options->catalog)
        latest = g->options->catalog->shown_transaction;
    else if (!latest && facts->log.count > 0)
        latest = tarn_log_id(&facts->log, &facts->log.entries[facts->log.count - 1]);
    free(facts->latest_transaction);
    facts->latest_transaction = latest ? strdup(latest) : NULL;
}

/* Below a checkpoint entries may be gone, and with them the word on files that they removed. */
static void note_cut(struct tarn_gather *g)
{
    const struct tarn_log_facts *log = &g->facts->log;
    int64_t oldest_ms = log->count > 0 ? log->entries[0].mtime_ms : log->checkpoint_ms;

    if (!g->options->catalog && log->checkpoint[0] && oldest_ms > g->unread_before_ms)
        g->unread_before_ms = oldest_ms;
}

/* The absent entry of that id, NULL: there is none. */
static struct tarn_log_entry *find_absent(struct tarn_log_facts *log, const char *id)
{
    for (size_t i = 0; i < log->count; i++)
        if (log->entries[i].absent && strcmp(tarn_log_id(log, &log->entries[i]), id) == 0)
            return &log->entries[i];
    return NULL;
}

/* Managed: what the catalog knows under an id lies there under another name after all. */
static void find_renamed(struct tarn_log_facts *log)
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

/* Ahead of the manifest itself, which is read when the log is known. */
static tarn_code peek_manifest(struct tarn_gather *g, struct tarn_err *err)
{
    TARN_AUTO_DONE(manifest_peek) struct tarn_manifest_peek peek = { 0 };
    tarn_code code = tarn_manifest_peek(g->place, TARN_DOC_MANIFEST, &peek, err);

    free(g->facts->manifest_transaction);
    g->facts->manifest_transaction = tarn_take(&peek.transaction);
    return code;
}

tarn_code tarn_gather_log(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    struct tarn_log_facts *log = &g->facts->log;
    bool renamed = false;

    g->unread_before_ms = INT64_MIN;
    if (g->facts->publication_off) {
        g->facts->saw |= TARN_SAW_LOG; /* there is none to be looked at: the catalog's word is all */
        return TARN_OK;
    }
    tarn_code code = tarn_place_list(g->place, TARN_DIR_LOG, false, note_entry, g, err);
    if (code == TARN_OK && catalog)
        code = match_commits(g, err);
    order_entries(log);
    if (code == TARN_OK && !catalog)
        code = peek_manifest(g, err);
    if (code == TARN_OK && !catalog)
        mark_committed(g);
    if (code == TARN_OK)
        code = tarn_gather_replay(g, &renamed, err);
    if (code == TARN_OK && renamed) {
        if (catalog)
            find_renamed(log);
        order_entries(log);
        if (!catalog)
            mark_committed(g);
        code = tarn_gather_replay(g, &renamed, err);
    }
    if (code == TARN_OK)
        code = note_ids(log, err);
    note_latest(g);
    note_cut(g);
    if (code == TARN_OK)
        g->facts->saw |= TARN_SAW_LOG;
    return code;
}
