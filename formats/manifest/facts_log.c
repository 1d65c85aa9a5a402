/* facts_log.c - the names in _transactions/, put into the order in which they count. A log of a million entries costs some 70 bytes an entry. */
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

struct tarn_log_entry *tarn_log_add(struct tarn_log_facts *log, const char *id, struct tarn_err *err)
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
    struct tarn_log_entry *entry = tarn_log_add(log, id, err);

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

/* "txn-2 (1).json", as a file manager calls a copy: no id, but what is inside may be an entry. */
static bool is_odd_entry(const struct tarn_object *object)
{
    const char *name = strrchr(object->path, '/') + 1;
    size_t len = strlen(name);

    return !object->is_folder && name[0] != '.' && name[0] != '_' && tarn_ends_with(name, ".json") && len > strlen(".json") &&
           !tarn_ends_with(name, ".checkpoint.json") && len - strlen(".json") <= TARN_TXN_ID_MAX;
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

/* An entry whose writer died before it got its name. */
static tarn_code note_leftover(struct tarn_gather *g, const struct tarn_object *object, struct tarn_err *err)
{
    if (object->is_folder || object->mtime_ms >= g->options->now_ms - g->options->leftover_grace_ms)
        return TARN_OK;
    g->facts->leftovers.bytes += object->size;
    return tarn_suspects_add(&g->facts->leftovers, object->path, NULL, object->size, -1, object->mtime_ms, err);
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
    else if (tarn_is_leftover(object->path))
        return note_leftover(g, object, err);
    else if (id_of(object, ".json", is_managed, id))
        return keep_entry(&g->facts->log, id, object, err);
    else if (!is_managed && is_odd_entry(object))
        return tarn_suspects_add(&g->odd_entries, object->path, NULL, object->size, -1, object->mtime_ms, err);
    return TARN_OK;
}

/* The id inside counts. What has none, or cannot be read, is somebody's note. */
static tarn_code keep_odd_entry(struct tarn_gather *g, const struct tarn_suspect *odd, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { 0 };
    struct tarn_object object = { .mtime_ms = odd->mtime_ms, .size = odd->observed };
    char name[TARN_TXN_ID_MAX + 1];
    TARN_ERR(fault);

    tarn_code code = tarn_entry_read_at(g->place, odd->subject, &head, NULL, NULL, NULL, &fault);
    if (code == TARN_INVALID || code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (!head.id || tarn_txn_id_check(head.id, "id", NULL) != TARN_OK)
        return TARN_OK;
    const char *slash = strrchr(odd->subject, '/');
    snprintf(name, sizeof name, "%.*s", (int)(strlen(slash + 1) - strlen(".json")), slash + 1);
    code = keep_entry(&g->facts->log, name, &object, err);
    return code == TARN_OK ? tarn_log_rename(&g->facts->log, &g->facts->log.entries[g->facts->log.count - 1], head.id, err) : code;
}

static tarn_code keep_odd_entries(struct tarn_gather *g, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < g->odd_entries.count && code == TARN_OK; i++)
        code = keep_odd_entry(g, &g->odd_entries.items[i], err);
    tarn_suspects_done(&g->odd_entries);
    return code;
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

/* --- all together --- */

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
    if (code == TARN_OK)
        code = keep_odd_entries(g, err);
    if (code == TARN_OK && catalog)
        code = tarn_log_match(g, err);
    order_entries(log);
    if (code == TARN_OK && !catalog)
        code = peek_manifest(g, err);
    if (code == TARN_OK && !catalog)
        tarn_log_mark(g);
    if (code == TARN_OK)
        code = tarn_gather_replay(g, &renamed, err);
    if (code == TARN_OK && renamed) {
        if (catalog)
            tarn_log_join(log);
        order_entries(log);
        if (!catalog)
            tarn_log_mark(g);
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
