/* traces.c - reading the traces: the manifest's head, and the head of each log
 * entry that the catalog does not know. A million names cost some 60 bytes each. */
#include "lake/traces.h"
#include "base/text.h"
#include "lake/lease.h"
#include "lake/source.h"
#include <stdio.h>
#include <string.h>

enum { KNOWN_A_READ = 1000 };
#define VERSION_MAX (INT64_MAX / 2) /* above there is no room to count on: no version of Tarn's */

void tarn_traces_done(struct tarn_traces *traces)
{
    struct tarn_trace_list *const lists[] = { &traces->entries, &traces->checkpoints, &traces->others,
                                              &traces->bad };

    for (size_t i = 0; i < TARN_COUNT(lists); i++) {
        free(lists[i]->items);
        *lists[i] = (struct tarn_trace_list){ 0 };
    }
    tarn_manifest_head_done(&traces->manifest);
    tarn_buf_done(&traces->names);
}

const char *tarn_trace_id(const struct tarn_traces *traces, const struct tarn_trace *trace)
{
    return traces->names.data + trace->id_at;
}

static tarn_code keep(struct tarn_trace_list *list, struct tarn_trace trace, struct tarn_err *err)
{
    if (list->count == list->cap) {
        size_t cap = list->cap ? 2 * list->cap : 64;
        struct tarn_trace *more = reallocarray(list->items, cap, sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        list->items = more;
        list->cap = cap;
    }
    list->items[list->count++] = trace;
    return TARN_OK;
}

static bool is_own(const struct tarn_traces *traces, const char *catalog, const char *uuid)
{
    return catalog && uuid && strcmp(catalog, traces->catalog) == 0 && strcmp(uuid, traces->uuid) == 0;
}

/* --- the manifest --- */

tarn_code tarn_traces_manifest(struct tarn_place *place, struct tarn_traces *traces, struct tarn_err *err)
{
    TARN_AUTO(hashed) struct tarn_hashed *source = NULL;
    struct tarn_object object = { 0 };
    TARN_ERR(fault);

    traces->manifest_is = TARN_TRACE_NONE;
    traces->manifest_own = false;
    tarn_manifest_head_done(&traces->manifest);
    tarn_code code = tarn_hashed_open(place, TARN_DOC_MANIFEST, &source, &object, &fault);
    if (code == TARN_NOT_FOUND)
        return TARN_OK;
    memcpy(traces->manifest_token, object.token, sizeof traces->manifest_token);
    if (code == TARN_OK)
        code = tarn_manifest_read(tarn_hashed_fill, source, &traces->manifest, NULL, NULL, &fault);
    if (code == TARN_INVALID) {
        traces->manifest_is = TARN_TRACE_BAD;
        return TARN_OK;
    }
    if (code == TARN_OK)
        code = tarn_hashed_end(source, traces->manifest_sha256, &fault);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    traces->manifest_is = TARN_TRACE_READ;
    traces->manifest_own = is_own(traces, traces->manifest.catalog, traces->manifest.table_uuid) &&
                           traces->manifest.version <= VERSION_MAX;
    return TARN_OK;
}

/* --- the names --- */

struct listing {
    struct tarn_place *place;
    const struct tarn_traces_ask *ask;
    struct tarn_traces *traces;
    struct tarn_trace_list names; /* of entries, not opened yet */
    struct tarn_trace_list snapshots; /* the same of checkpoints */
};

static void listing_done(struct listing *l)
{
    free(l->names.items);
    free(l->snapshots.items);
}

/* "_transactions/<id><end>" to the id. */
static bool id_of(const char *path, const char *end, char id[TARN_TXN_ID_MAX + 1])
{
    const char *name = path + strlen(TARN_DIR_LOG "/");
    size_t len = strlen(name), end_len = strlen(end);

    if (!tarn_ends_with(name, end) || len - end_len > TARN_TXN_ID_MAX)
        return false;
    snprintf(id, TARN_TXN_ID_MAX + 1, "%.*s", (int)(len - end_len), name);
    return tarn_txn_id_check(id, "id", NULL) == TARN_OK;
}

static tarn_code note_name(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct listing *l = ctx;
    struct tarn_buf *names = &l->traces->names;
    char id[TARN_TXN_ID_MAX + 1];
    bool is_checkpoint = id_of(object->path, TARN_CHECKPOINT_SUFFIX, id);

    if (object->mtime_ms < l->ask->since_ms || (is_checkpoint && l->ask->entries_only))
        return TARN_OK;
    if (!is_checkpoint && !id_of(object->path, ".json", id))
        return TARN_OK;
    const struct tarn_trace trace = {
        .version = -1, .timestamp = -1, .mtime_ms = object->mtime_ms, .id_at = names->len
    };
    tarn_buf_add(names, id, strlen(id) + 1);
    tarn_code code = tarn_buf_check(names, err);
    if (code == TARN_OK && (object->is_symlink || object->is_folder))
        return is_checkpoint ? TARN_OK : keep(&l->traces->bad, trace, err);
    return code == TARN_OK ? keep(is_checkpoint ? &l->snapshots : &l->names, trace, err) : code;
}

/* --- which of them the catalog knows --- */

struct known {
    struct listing *l;
    size_t from, to; /* of the names */
    bool is[KNOWN_A_READ];
};

static tarn_code ask_id(struct tarn_tx *tx, struct known *k, size_t i, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    const char *id = tarn_trace_id(k->l->traces, &k->l->names.items[i]);
    int64_t table_id = k->l->ask->table_id;
    TARN_ERR(none);
    tarn_code code = tx->ops->commits.by_transaction(tx, table_id, id, &row, &none);

    if (code == TARN_TRANSACTION_NOT_FOUND)
        code = tx->ops->commits.adopted_by_transaction(tx, table_id, id, &row, &none);
    k->is[i - k->from] = code == TARN_OK;
    return code == TARN_OK || code == TARN_TRANSACTION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &none);
}

static tarn_code known_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct known *k = ctx;
    tarn_code code = TARN_OK;

    for (size_t i = k->from; i < k->to && code == TARN_OK; i++)
        code = ask_id(tx, k, i, err);
    return code;
}

/* Leaves the unknown ones in l->names. */
static tarn_code drop_known(struct listing *l, struct tarn_err *err)
{
    struct known k = { .l = l };
    size_t kept = 0;
    tarn_code code = TARN_OK;

    for (k.from = 0; k.from < l->names.count && code == TARN_OK; k.from = k.to) {
        k.to = k.from + KNOWN_A_READ < l->names.count ? k.from + KNOWN_A_READ : l->names.count;
        code = tarn_store_read(l->ask->lake->store, known_tx, &k, err);
        for (size_t i = k.from; i < k.to && code == TARN_OK; i++)
            if (!k.is[i - k.from])
                l->names.items[kept++] = l->names.items[i];
    }
    l->names.count = kept;
    return code;
}

/* --- their heads --- */

static tarn_code sort_entry(struct listing *l, struct tarn_trace trace, const struct tarn_entry_head *head,
                            struct tarn_err *err)
{
    struct tarn_traces *t = l->traces;
    const char *id = tarn_trace_id(t, &trace);

    trace.timestamp = head->timestamp;
    trace.version = head->version;
    if (!is_own(t, head->catalog, head->table_uuid))
        return keep(&t->others, trace, err);
    /* Tarn's own name their version and themselves. */
    bool is_whole =
        head->version > 0 && head->version <= VERSION_MAX && head->id && strcmp(head->id, id) == 0;
    return keep(is_whole ? &t->entries : &t->bad, trace, err);
}

static tarn_code open_entry(struct listing *l, const struct tarn_trace *trace, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { 0 };
    char path[TARN_TXN_ID_MAX + 32];
    TARN_ERR(bad);

    snprintf(path, sizeof path, TARN_DIR_LOG "/%s.json", tarn_trace_id(l->traces, trace));
    tarn_code code = tarn_entry_read_at(l->place, path, &head, NULL, NULL, NULL, &bad);
    if (code == TARN_OK)
        return sort_entry(l, *trace, &head, err);
    if (code == TARN_NOT_FOUND)
        return TARN_OK;
    return code == TARN_INVALID ? keep(&l->traces->bad, *trace, err) : tarn_err_move(err, &bad);
}

static tarn_code open_checkpoint(struct listing *l, const struct tarn_trace *trace, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    TARN_AUTO(reader) struct tarn_reader *reader = NULL;
    struct tarn_trace told = *trace;
    char path[TARN_TXN_ID_MAX + 48];
    TARN_ERR(bad);

    snprintf(path, sizeof path, TARN_DIR_LOG "/%s" TARN_CHECKPOINT_SUFFIX, tarn_trace_id(l->traces, trace));
    tarn_code code = tarn_place_reader(l->place, path, &reader, NULL, &bad);
    if (code == TARN_OK)
        code = tarn_manifest_read(tarn_reader_fill, reader, &head, NULL, NULL, &bad);
    if (code == TARN_INVALID || code == TARN_NOT_FOUND)
        return TARN_OK; /* what nobody can read is no place to begin from */
    if (code != TARN_OK)
        return tarn_err_move(err, &bad);
    told.version = head.version;
    told.timestamp = head.last_updated;
    return is_own(l->traces, head.catalog, head.table_uuid) && head.version <= VERSION_MAX
               ? keep(&l->traces->checkpoints, told, err) : TARN_OK;
}

typedef tarn_code open_fn(struct listing *l, const struct tarn_trace *trace, struct tarn_err *err);

static tarn_code open_all(struct listing *l, const struct tarn_trace_list *names, open_fn *open,
                          struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < names->count && code == TARN_OK; i++) {
        code = tarn_lake_goes_on(l->ask->lake, err);
        if (code == TARN_OK)
            code = open(l, &names->items[i], err);
    }
    return code;
}

static int by_version(const void *a, const void *b)
{
    const struct tarn_trace *x = a, *y = b;

    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    return x->id_at < y->id_at ? -1 : x->id_at > y->id_at;
}

static void sort(struct tarn_trace_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, by_version);
}

tarn_code tarn_traces_log(struct tarn_place *place, const struct tarn_traces_ask *ask,
                          struct tarn_traces *traces, struct tarn_err *err)
{
    __attribute__((
        cleanup(listing_done))) struct listing l = { .place = place, .ask = ask, .traces = traces };
    tarn_code code = tarn_place_list(place, TARN_DIR_LOG, false, note_name, &l, err);

    if (code == TARN_OK && ask->table_id > 0)
        code = drop_known(&l, err);
    if (code == TARN_OK)
        code = open_all(&l, &l.names, open_entry, err);
    if (code == TARN_OK)
        code = open_all(&l, &l.snapshots, open_checkpoint, err);
    sort(&traces->entries);
    sort(&traces->checkpoints);
    return code;
}
