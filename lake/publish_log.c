/* publish_log.c - the log entries of the versions that storage lacks, in version order. An entry is created,
 * never overwritten: one that is there already must say the same. Small ones are rendered many at a time in
 * one read transaction; a huge one is streamed (publish_huge.c). */
#include "lake/publish_run.h"
#include "base/json.h"
#include "formats/manifest/manifest.h"
#include "lake/entry_pages.h"
#include <stdio.h>
#include <string.h>

enum {
    BATCH_ENTRIES = TARN_PUBLISH_ENTRIES,
    BATCH_BYTES = 4 * 1024 * 1024,
    COMPARED_BYTES = 8 * 1024 * 1024 /* documents that are compared as trees */
};
static const struct tarn_json_limits k_tree_limits = { .max_depth = 64, .max_values = 2000000 };

struct entry {
    char transaction[TARN_TXN_ID_MAX + 1];
    size_t start, len; /* in the batch's text */
    int64_t version;
    bool follows, is_whole;
};

struct batch {
    struct tarn_publish_run *run;
    int64_t from, to; /* the first version and the last one */
    int64_t next; /* the first one that is not in it */
    bool follows; /* the version before `next` is known, and so what the commit of `next` did */
    struct tarn_commit_row
        huge; /* owned: of `next`, when that is too large for memory; transaction NULL else */
    struct tarn_buf text;
    struct entry entries[BATCH_ENTRIES];
    size_t count;
};

static void batch_done(struct batch *b)
{
    tarn_commit_row_done(&b->huge);
    tarn_buf_done(&b->text);
}

tarn_code tarn_publish_foreign_entry(const struct tarn_publish_run *run, const char *path,
                                     struct tarn_err *err)
{
    tarn_fail(err, TARN_FOREIGN_WRITE, "%s/%s is there already and says something else: publication stops",
              run->table->location, path);
    return tarn_err_add(err, TARN_FOREIGN_DOCUMENT, json_string(path));
}

/* --- what is there already --- */

static bool is_remove(const json_t *op)
{
    const char *type = json_string_value(json_object_get(op, "type"));
    return type && strcmp(type, "remove_file") == 0;
}

/* One that tells the path alone. */
static bool is_bare_remove(const json_t *op) { return is_remove(op) && json_object_size(op) == 2; }

static void strip_remove(json_t *op)
{
    static const char *const k_facts[] = { "size", "partitionValues", "columnStats", "numRecords",
                                           "schemaVersion" };
    for (size_t i = 0; i < TARN_COUNT(k_facts); i++)
        (void)json_object_del(op, k_facts[i]);
}

/* What older servers did not write; and what a rebuilt catalog cannot: that a file which a
 * commit removed had been adopted is known no more when its history begins after that. */
static void drop_newer_members(json_t *entry, json_t *there)
{
    static const char *const k_newer[] = { "schema_version", "rollback_to", "body_sha256" };
    for (size_t i = 0; i < TARN_COUNT(k_newer); i++) {
        if (!json_object_get(there, k_newer[i]))
            (void)json_object_del(entry, k_newer[i]);
    }
    const json_t *ops = json_object_get(entry, "operations"), *old = json_object_get(there, "operations");
    for (size_t i = 0; i < json_array_size(ops); i++) {
        json_t *ours = json_array_get(ops, i), *theirs = json_array_get(old, i);
        if (is_bare_remove(theirs))
            strip_remove(ours);
        else if (is_bare_remove(ours) && is_remove(theirs))
            strip_remove(theirs);
    }
}

bool tarn_publish_same_entry(const struct tarn_buf *there, const char *text, size_t len)
{
    if (there->len == len && memcmp(there->data, text, len) == 0)
        return true;
    json_auto_t *left = NULL, *right = NULL;
    if (tarn_json_parse(there->data ? there->data : "", there->len, &k_tree_limits, &left, NULL) != TARN_OK ||
        tarn_json_parse(text, len, &k_tree_limits, &right, NULL) != TARN_OK)
        return false;
    drop_newer_members(right, left);
    return json_equal(left, right);
}

tarn_code tarn_publish_compare(struct tarn_publish_run *run, const char *path, const char *text, size_t len,
                               enum tarn_publish_found *out, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf there = { 0 };
    TARN_ERR(fault);
    size_t max = len > COMPARED_BYTES ? len : COMPARED_BYTES;
    tarn_code code = tarn_place_read_all(run->place, path, max, &there, NULL, &fault);
    if (code != TARN_OK && code != TARN_NOT_FOUND && code != TARN_PAYLOAD_TOO_LARGE)
        return tarn_err_move(err, &fault);
    *out = code == TARN_NOT_FOUND                            ? TARN_FOUND_NOTHING
           : code == TARN_OK && tarn_publish_same_entry(&there, text, len) ? TARN_FOUND_SAME
                                                             : TARN_FOUND_OTHER;
    return TARN_OK;
}

static tarn_code compare_small(struct tarn_publish_run *run, const char *name, const char *text, size_t len,
                               struct tarn_err *err)
{
    char path[TARN_PATH_MAX];
    enum tarn_publish_found found = TARN_FOUND_OTHER;
    snprintf(path, sizeof path, TARN_DIR_LOG "/%.*s", TARN_TXN_ID_MAX + 5, name); /* ".json" is in it */
    tarn_code code = tarn_publish_compare(run, path, text, len, &found, err);
    return code != TARN_OK || found == TARN_FOUND_SAME ? code : tarn_publish_foreign_entry(run, path, err);
}

/* --- small entries, many at a time --- */

struct op_writer {
    struct tarn_jsonw w;
    int64_t version, first_version, count;
};

static tarn_code write_op(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct op_writer *ops = ctx;
    (void)err;
    ops->count++;
    tarn_entry_write_op(&ops->w, file, file->added_version == ops->version, ops->first_version);
    return TARN_OK;
}

tarn_code tarn_publish_render(struct tarn_tx *tx, const struct tarn_table *table, const char *catalog_id,
                              const struct tarn_commit_row *row, struct tarn_buf *text, bool *is_whole,
                              struct tarn_err *err)
{
    struct op_writer ops = { tarn_jsonw_to(text), row->version, table->first_version, 0 };

    tarn_entry_write_head(&ops.w, table, catalog_id, row);
    tarn_code code = tx->ops->files.of_version(tx, table->id, row->version, write_op, &ops, err);
    if (code != TARN_OK)
        return code;
    tarn_entry_write_end(&ops.w, row);
    *is_whole = ops.count == row->files_added + row->files_removed;
    return tarn_buf_check(text, err);
}

static tarn_code render(struct tarn_tx *tx, struct batch *b, const struct tarn_commit_row *row,
                        struct tarn_err *err)
{
    const struct tarn_publish_run *run = b->run;
    struct entry *e = &b->entries[b->count];
    bool is_whole = false;
    *e = (struct entry){ .start = b->text.len, .version = row->version, .follows = b->follows };
    snprintf(e->transaction, sizeof e->transaction, "%s", row->transaction);
    tarn_code code = tarn_publish_render(tx, run->table, run->lake->catalog_id, row, &b->text, &is_whole, err);
    if (code != TARN_OK)
        return code;
    e->len = b->text.len - e->start;
    e->is_whole = e->follows && is_whole;
    b->count++;
    return TARN_OK;
}

/* --- what a commit did --- */

/* After versions that were lost, or that nobody needs any more, a recovery took a snapshot: its rows are
 * the difference to what was known before, and not what the commit did. That its entry alone can tell. */
static tarn_code find_before(struct tarn_tx *tx, struct batch *b, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row before = { 0 };
    TARN_ERR(fault);
    b->follows = tarn_table_is_base(b->run->table, b->next - 1);
    if (b->follows || b->next == 0)
        return TARN_OK;
    tarn_code code = tx->ops->commits.get(tx, b->run->table_id, b->next - 1, &before, &fault);
    b->follows = code == TARN_OK;
    return code == TARN_OK || code == TARN_VERSION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

/* One version into the batch; sets b->huge when it does not fit there. */
static tarn_code take_version(struct tarn_tx *tx, struct batch *b, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    TARN_ERR(fault);
    tarn_code code = tx->ops->commits.get(tx, b->run->table_id, b->next, &row, &fault);
    if (code == TARN_VERSION_NOT_FOUND) { /* no longer kept, lost, or from before Tarn */
        b->follows = tarn_table_is_base(b->run->table, b->next++);
        return TARN_OK;
    }
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (row.files_added + row.files_removed > TARN_ENTRY_SMALL_OPS) {
        b->huge = row;
        row = (struct tarn_commit_row){ 0 };
        return TARN_OK;
    }
    code = render(tx, b, &row, err);
    b->follows = true;
    if (code == TARN_OK)
        b->next++;
    return code;
}

static tarn_code batch_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct batch *b = ctx;
    tarn_commit_row_done(&b->huge);
    b->huge = (struct tarn_commit_row){ 0 };
    tarn_buf_clear(&b->text);
    b->count = 0;
    b->next = b->from;
    tarn_code code = find_before(tx, b, err);
    while (code == TARN_OK && !b->huge.transaction && b->next <= b->to &&
           b->count < BATCH_ENTRIES && b->text.len < BATCH_BYTES)
        code = take_version(tx, b, err);
    return code;
}

tarn_code tarn_publish_own_entry(struct tarn_publish_run *run, const char *path, int64_t version,
                                 struct tarn_entry_head *head, bool *there, bool *own, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_entry_read_at(run->place, path, head, NULL, NULL, NULL, &fault);
    *there = code != TARN_NOT_FOUND;
    *own = code == TARN_OK && head->catalog && strcmp(head->catalog, run->lake->catalog_id) == 0 && head->table_uuid &&
           strcmp(head->table_uuid, run->table->uuid) == 0 && head->version == version;
    return code == TARN_OK || code == TARN_INVALID || code == TARN_NOT_FOUND ? TARN_OK
                                                                             : tarn_err_move(err, &fault);
}

/* Its entry may have been there before the recovery, and tells what the rows cannot. */
static tarn_code is_told(struct batch *b, const char *transaction, int64_t version, bool follows, bool *told,
                         struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .version = -1 };
    char path[TARN_PATH_MAX];
    bool there = false;
    *told = false;
    if (follows)
        return TARN_OK;
    snprintf(path, sizeof path, TARN_DIR_LOG "/%.*s.json", TARN_TXN_ID_MAX, transaction);
    return tarn_publish_own_entry(b->run, path, version, &head, &there, told, err);
}

static tarn_code put_entries(struct batch *b, struct tarn_err *err)
{
    struct tarn_new_object objects[BATCH_ENTRIES];
    char names[BATCH_ENTRIES][TARN_TXN_ID_MAX + 8];
    size_t count = 0;
    tarn_code code = TARN_OK;
    for (size_t i = 0; code == TARN_OK && i < b->count; i++) {
        const struct entry *e = &b->entries[i];
        bool told = false;
        code = is_told(b, e->transaction, e->version, e->follows, &told, err);
        if (told)
            continue;
        snprintf(names[count], sizeof names[count], "%s.json", e->transaction);
        objects[count] = (struct tarn_new_object){ names[count], b->text.data + e->start, e->len, false };
        count++;
    }
    if (code == TARN_OK)
        code = tarn_place_create_all(b->run->place, TARN_DIR_LOG, objects, count, err);
    for (size_t i = 0; code == TARN_OK && i < count; i++) {
        if (objects[i].exists)
            code = compare_small(b->run, names[i], objects[i].data, objects[i].len, err);
    }
    return code;
}

static tarn_code put_huge(struct batch *b, struct tarn_err *err)
{
    bool told = false;
    tarn_code code = is_told(b, b->huge.transaction, b->next++, b->follows, &told, err);
    return code == TARN_OK && !told ? tarn_publish_huge(b->run, &b->huge, TARN_PUT_CREATE, err) : code;
}

/* --- all of them --- */

static int64_t first_missing(const struct tarn_publish_run *run)
{
    int64_t shown = run->table->published_version;
    if (run->table->oldest_version > shown)
        shown = run->table->oldest_version;
    return (run->entries_done > shown ? run->entries_done : shown) + 1;
}

tarn_code tarn_publish_log(struct tarn_publish_run *run, struct tarn_err *err)
{
    if (!run->wants_version)
        return TARN_OK;
    __attribute__((cleanup(batch_done))) struct batch b = { .run = run,
                                                           .from = first_missing(run),
                                                           .to = run->table->version };
    while (b.from <= b.to) {
        tarn_code code = tarn_publish_read(run, batch_tx, &b, err);
        if (code == TARN_OK)
            code = put_entries(&b, err);
        if (code == TARN_OK && b.huge.transaction)
            code = put_huge(&b, err);
        if (code != TARN_OK)
            return code;
        run->entries_done = b.next - 1;
        b.from = b.next;
    }
    return TARN_OK;
}

/* --- for who wants to see them --- */

static tarn_code give_entries(const struct batch *b, tarn_publish_entries_fn *fn, void *ctx,
                              struct tarn_err *err)
{
    struct tarn_publish_entry entries[BATCH_ENTRIES];
    for (size_t i = 0; i < b->count; i++) {
        const struct entry *e = &b->entries[i];
        entries[i] = (struct tarn_publish_entry){ .transaction = e->transaction,
                                                  .version = e->version,
                                                  .text = b->text.data + e->start,
                                                  .len = e->len,
                                                  .is_whole = e->is_whole };
    }
    return b->count > 0 ? fn(ctx, entries, b->count, err) : TARN_OK;
}

static tarn_code give_huge(const struct batch *b, tarn_publish_entries_fn *fn, void *ctx,
                           struct tarn_err *err)
{
    const struct tarn_publish_entry entry = { .transaction = b->huge.transaction,
                                              .version = b->huge.version,
                                              .huge = b->follows ? &b->huge : NULL,
                                              .is_whole = b->follows &&
                                                          b->huge.version > b->run->table->oldest_version };
    return fn(ctx, &entry, 1, err);
}

tarn_code tarn_publish_entries(struct tarn_publish_run *run, int64_t from, tarn_publish_entries_fn *fn,
                               void *ctx, struct tarn_err *err)
{
    __attribute__((
        cleanup(batch_done))) struct batch b = { .run = run, .from = from, .to = run->table->version };
    tarn_code code = TARN_OK;
    while (code == TARN_OK && b.from <= b.to) {
        code = tarn_publish_read(run, batch_tx, &b, err);
        if (code == TARN_OK)
            code = give_entries(&b, fn, ctx, err);
        if (code == TARN_OK && b.huge.transaction) {
            code = give_huge(&b, fn, ctx, err);
            b.next++;
        }
        b.from = b.next;
    }
    return code;
}
