/* batch_links.c - a batch is named by the entry's own `batch_ids`, or in commitMetadata as writers do it: batch_id, the staged
 * file under `source`, the checkpoint of a Flink job, the epoch of a Spark query. */
#include "formats/batch_links.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 1024, LABEL_USES = 4 };

void tarn_batch_links_done(struct tarn_batch_links *links)
{
    tarn_fileset_done(&links->first);
    tarn_fileset_done(&links->named);
    tarn_buf_done(&links->commits);
    tarn_suspects_done(&links->twice);
    *links = (struct tarn_batch_links){ 0 };
}

/* One commit's names, each once. */
struct naming {
    struct tarn_batch_links *links;
    const char *transaction;
    size_t at;     /* of the transaction in links->commits */
    bool counts;
    bool names_any;
};

static struct tarn_suspect *find_twice(struct tarn_suspects *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].subject, name) == 0)
            return &list->items[i];
    return NULL;
}

static tarn_code note_twice(struct naming *n, const char *name, size_t first, struct tarn_err *err)
{
    struct tarn_suspects *twice = &n->links->twice;
    struct tarn_suspect *known = find_twice(twice, name);
    char note[2 * TARN_TXN_ID_MAX + 8];

    if (known) {
        known->observed++;
        return TARN_OK;
    }
    snprintf(note, sizeof note, "%.128s, %.128s", n->transaction, n->links->commits.data + first);
    return tarn_suspects_add(twice, name, note, 2, 1, -1, err);
}

/* A name without a digit is what somebody calls all their batches. */
static bool is_id(const char *name)
{
    size_t len = strlen(name);
    return len > 0 && len <= NAME_MAX_BYTES && strpbrk(name, "0123456789");
}

static tarn_code bare_name(const char *name, struct tarn_buf *out, struct tarn_err *err)
{
    size_t len = strlen(name);

    tarn_buf_clear(out);
    tarn_buf_add(out, name, tarn_ends_with(name, ".parquet") ? len - strlen(".parquet") : len);
    tarn_buf_addc(out, '\0');
    return tarn_buf_check(out, err);
}

/* Writers tell the staged file's path in one document and its name in the other. */
static tarn_code note_named(struct tarn_fileset *named, const char *name, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf bare = { 0 };

    tarn_code code = bare_name(name, &bare, err);
    if (code != TARN_OK)
        return code;
    const char *slash = strrchr(bare.data, '/');
    bool is_kept = tarn_fileset_put(named, bare.data) && (!slash || tarn_fileset_put(named, slash + 1));
    return is_kept ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_batch_is_named(const struct tarn_fileset *named, const char *batch_id, bool *is_named, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf bare = { 0 };

    tarn_code code = bare_name(batch_id, &bare, err);
    if (code == TARN_OK)
        *is_named = tarn_fileset_find(named, bare.data) != NULL;
    return code;
}

static tarn_code note_name(struct naming *n, const char *name, struct tarn_err *err)
{
    struct tarn_batch_links *links = n->links;

    tarn_code code = note_named(&links->named, name, err);
    if (code != TARN_OK || !n->counts || !is_id(name))
        return code;
    links->carriers += !n->names_any;
    n->names_any = true;
    struct tarn_fileset_entry *entry = tarn_fileset_find(&links->first, name);
    if (entry && strcmp(links->commits.data + entry->size, n->transaction) == 0)
        return TARN_OK; /* named twice by one commit */
    if (entry)
        return note_twice(n, name, (size_t)entry->size, err);
    entry = tarn_fileset_put(&links->first, name);
    if (!entry)
        return tarn_fail_oom(err);
    entry->size = n->at & TARN_FILE_NO_SIZE;
    return TARN_OK;
}

/* A staged file goes by its path below staging/, wherever that lies. A folder is no batch. */
static tarn_code note_staged(struct naming *n, const char *source, struct tarn_err *err)
{
    const char *staging = strstr(source, "staging/");
    size_t len = strlen(source);

    if (!staging || len < 8 || strcmp(source + len - 8, ".parquet") != 0)
        return TARN_OK;
    return note_name(n, staging + strlen("staging/"), err);
}

typedef tarn_code name_fn(struct naming *n, const char *name, struct tarn_err *err);

static tarn_code note_texts(struct naming *n, const json_t *value, name_fn *fn, struct tarn_err *err)
{
    tarn_code code = json_is_string(value) ? fn(n, json_string_value(value), err) : TARN_OK;
    size_t i;
    json_t *item;

    if (!json_is_array(value))
        return code;
    json_array_foreach ((json_t *)(uintptr_t)value, i, item) {
        if (code == TARN_OK && json_is_string(item))
            code = fn(n, json_string_value(item), err);
    }
    return code;
}

static const char *scalar(const json_t *value, char room[32])
{
    if (json_is_string(value))
        return json_string_value(value);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return NULL;
    snprintf(room, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return room;
}

/* Two members that name a batch together. */
static const struct { const char *who, *which; } k_pairs[] = {
    { "flink.job-id", "flink.max-committed-checkpoint-id" },
    { "queryId", "epochId" }, { "queryId", "batchId" }, { "query_id", "epoch_id" }, { "query_id", "batch_id" },
};

static tarn_code note_pairs(struct naming *n, const json_t *metadata, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < TARN_COUNT(k_pairs) && code == TARN_OK; i++) {
        char name[NAME_MAX_BYTES], who_room[32], which_room[32];
        const char *who = scalar(json_object_get(metadata, k_pairs[i].who), who_room);
        const char *which = scalar(json_object_get(metadata, k_pairs[i].which), which_room);
        if (!who || !which || which[0] == '-')
            continue;
        snprintf(name, sizeof name, "%.500s/%.500s", who, which);
        code = note_name(n, name, err);
    }
    return code;
}

static tarn_code note_metadata(struct naming *n, const json_t *metadata, struct tarn_err *err)
{
    static const struct { const char *key; name_fn *fn; } k_members[] = {
        { "batch_id", note_name },     { "batchId", note_name },       { "batch_ids", note_name },
        { "source", note_staged },     { "source_file", note_staged }, { "sourceFile", note_staged },
        { "source_files", note_staged }, { "sources", note_staged },
    };
    bool is_of_query = json_object_get(metadata, "queryId") || json_object_get(metadata, "query_id");
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < TARN_COUNT(k_members) && code == TARN_OK; i++)
        if (!is_of_query || k_members[i].fn == note_staged) /* the number of an epoch alone is no id */
            code = note_texts(n, json_object_get(metadata, k_members[i].key), k_members[i].fn, err);
    return code == TARN_OK ? note_pairs(n, metadata, err) : code;
}

tarn_code tarn_batch_links_note(struct tarn_batch_links *links, const char *transaction, bool counts, const char *batch_ids,
                                const char *metadata, struct tarn_err *err)
{
    struct naming n = { .links = links, .transaction = transaction, .at = links->commits.len, .counts = counts };

    if (!batch_ids && !metadata)
        return TARN_OK;
    json_auto_t *ids = batch_ids ? json_loads(batch_ids, 0, NULL) : NULL;
    json_auto_t *told = metadata ? json_loads(metadata, 0, NULL) : NULL;
    tarn_buf_add(&links->commits, transaction, strlen(transaction) + 1);
    tarn_code code = tarn_buf_check(&links->commits, err);
    if (code == TARN_OK)
        code = note_texts(&n, ids, note_name, err);
    return code == TARN_OK && json_is_object(told) ? note_metadata(&n, told, err) : code;
}

/* A name that most commits carry is the job's, not the batch's. */
static bool is_label(const struct tarn_batch_links *links, const struct tarn_suspect *item)
{
    return item->observed >= LABEL_USES && 2 * item->observed > links->carriers;
}

void tarn_batch_links_take(struct tarn_batch_links *links, struct tarn_suspects *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < links->twice.count; i++) {
        struct tarn_suspect *item = &links->twice.items[i];
        if (!is_label(links, item)) {
            links->twice.items[kept++] = *item;
            continue;
        }
        free(item->subject);
        free(item->note);
        links->twice.total--;
    }
    links->twice.count = kept;
    tarn_suspects_done(out);
    *out = links->twice;
    links->twice = (struct tarn_suspects){ 0 };
}
