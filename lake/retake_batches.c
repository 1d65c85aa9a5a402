/* retake_batches.c - the checkpoints under processed/ that carry the table's ids:
 * what they tell of a batch is taken where it is newer than the row, or tells
 * more. Which commit counts is told by the history, never by a checkpoint. */
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "lake/lease.h"
#include "lake/retake.h"
#include <string.h>

enum { PAGE_DOCS = 200, DOC_MAX_BYTES = 65536 };

struct page {
    struct tarn_retake_batches *ask;
    struct tarn_batch docs[PAGE_DOCS]; /* owned; their version is not told */
    size_t count;
    int64_t taken; /* of this page, by the transaction */
};

static void clear(struct page *p)
{
    for (size_t i = 0; i < p->count; i++)
        tarn_batch_done(&p->docs[i]);
    p->count = 0;
}

static void page_freep(struct page **page)
{
    if (*page)
        clear(*page);
    free(*page);
}

/* --- a document --- */

static int64_t instant(const json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    int64_t ms = -1;

    return text && tarn_time_parse(text, &ms, NULL, NULL) == TARN_OK ? ms : -1;
}

static int64_t count(const json_t *root, const char *key)
{
    const json_t *value = json_object_get(root, key);

    return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value) : -1;
}

static bool says(const json_t *root, const char *key, const char *value)
{
    const char *text = json_string_value(json_object_get(root, key));

    return text && strcmp(text, value) == 0;
}

static int64_t newest(int64_t a, int64_t b) { return a > b ? a : b; }

/* False: it is not one of this table's checkpoints. */
static bool parse(const struct tarn_retake_batches *ask, const char *path, const json_t *root,
                  struct tarn_batch *out)
{
    const char *id = json_string_value(json_object_get(root, "batch_id"));
    const char *status = json_string_value(json_object_get(root, "status"));
    char expected[TARN_BATCH_DOC_PATH];

    *out = (struct tarn_batch){ .version = -1 };
    if (!id || !status || !says(root, "catalog", ask->catalog) ||
        !says(root, "table_uuid", ask->table->uuid) || tarn_batch_id_check(id, "batch_id", NULL) != TARN_OK ||
        !tarn_batch_status_parse(status, &out->status))
        return false;
    tarn_batch_doc_path(id, expected);
    if (strcmp(expected, path) != 0)
        return false;
    out->start_time = instant(root, "start_time");
    out->end_time = instant(root, "end_time");
    out->num_records = count(root, "num_records");
    out->size = count(root, "size");
    out->updated_at = newest(instant(root, "updated_at"), newest(out->start_time, out->end_time));
    return true;
}

static tarn_code keep(struct page *p, const json_t *root, const struct tarn_batch *told, struct tarn_err *err)
{
    const char *transaction = json_string_value(json_object_get(root, "transaction"));
    struct tarn_batch *out = &p->docs[p->count++];

    *out = *told;
    out->batch_id = strdup(json_string_value(json_object_get(root, "batch_id")));
    out->transaction = transaction ? strdup(transaction) : NULL;
    return out->batch_id && (out->transaction || !transaction) ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code read_doc(struct page *p, const char *path, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    json_auto_t *root = NULL;
    struct tarn_batch told;
    TARN_ERR(fault);
    tarn_code code = tarn_place_read_all(p->ask->place, path, DOC_MAX_BYTES, &text, NULL, &fault);

    if (code == TARN_NOT_FOUND || code == TARN_PAYLOAD_TOO_LARGE)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (tarn_json_parse(text.len > 0 ? text.data : "", text.len, NULL, &root, NULL) != TARN_OK ||
        !parse(p->ask, path, root, &told))
        return TARN_OK;
    return keep(p, root, &told, err);
}

/* --- against the row --- */

static tarn_code find_version(struct tarn_tx *tx, const struct page *p, const struct tarn_batch *told,
                              int64_t *version, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    TARN_ERR(none);

    *version = -1;
    if (!told->transaction)
        return TARN_OK;
    tarn_code code = tx->ops->commits.by_transaction(tx, p->ask->table->id, told->transaction, &row, &none);
    if (code == TARN_OK)
        *version = row.version;
    return code == TARN_OK || code == TARN_TRANSACTION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &none);
}

static int64_t either(int64_t a, int64_t b) { return a >= 0 ? a : b; }

/* *out: the row as it is to be; it borrows. A checkpoint of
 * the very commit knows better when its merge began. */
static void merge(const struct tarn_batch *row, const struct tarn_batch *told, int64_t version,
                  struct tarn_batch *out)
{
    bool is_newer = told->updated_at > row->updated_at, is_same = version >= 0 && version == row->version;

    *out = *row;
    out->size = either(row->size, told->size);
    if (is_newer && told->status != TARN_BATCH_IS_COMPLETED && row->status == TARN_BATCH_IS_COMPLETED &&
        row->version >= 0)
        is_newer = told->status == TARN_BATCH_IS_ROLLED_BACK && is_same;
    if (is_newer || is_same) {
        out->start_time = told->start_time;
        out->end_time = told->end_time;
        out->num_records = told->num_records;
    } else if (!told->transaction && told->start_time >= 0 && told->start_time < row->start_time) {
        out->start_time = told->start_time;
        out->num_records = either(row->num_records, told->num_records);
    }
    if (!is_newer)
        return;
    out->updated_at = told->updated_at;
    if (!is_same) { /* another attempt */
        out->status = told->status;
        out->version = version;
        out->shown_from = version >= 0 ? version : 0;
    }
}

static bool equal(const struct tarn_batch *a, const struct tarn_batch *b)
{
    return a->status == b->status && a->start_time == b->start_time && a->end_time == b->end_time &&
           a->num_records == b->num_records && a->size == b->size;
}

static tarn_code note_shown(struct tarn_tx *tx, int64_t table_id, const struct tarn_batch *told,
                            struct tarn_err *err)
{
    __attribute__((cleanup(tarn_batch_done))) struct tarn_batch now = { 0 };
    tarn_code code = tx->ops->batches.get(tx, table_id, told->batch_id, &now, err);

    if (code != TARN_OK || !equal(&now, told) || now.published >= now.revision)
        return code;
    return tx->ops->batches.shown(tx, table_id, told->batch_id, now.revision, false, err);
}

static tarn_code take_doc(struct tarn_tx *tx, struct page *p, const struct tarn_batch *told,
                          struct tarn_err *err)
{
    __attribute__((cleanup(tarn_batch_done))) struct tarn_batch row = { 0 };
    struct tarn_batch wanted = *told;
    int64_t table_id = p->ask->table->id, version = -1;
    TARN_ERR(none);
    tarn_code code = find_version(tx, p, told, &version, err);

    if (code != TARN_OK)
        return code;
    code = tx->ops->batches.get(tx, table_id, told->batch_id, &row, &none);
    bool is_new = code == TARN_NOT_FOUND;
    if (code != TARN_OK && !is_new)
        return tarn_err_move(err, &none);
    wanted.version = version;
    wanted.shown_from = version >= 0 ? version : 0;
    if (!is_new)
        merge(&row, told, version, &wanted);
    bool differs = is_new || !equal(&wanted, &row) || wanted.version != row.version;
    p->taken += differs;
    if (p->ask->dry_run)
        return TARN_OK;
    code = differs ? tx->ops->batches.put(tx, table_id, &wanted, err) : TARN_OK;
    return code == TARN_OK ? note_shown(tx, table_id, told, err) : code;
}

static tarn_code take_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *p = ctx;
    tarn_code code = TARN_OK;

    p->taken = 0;
    for (size_t i = 0; i < p->count && code == TARN_OK; i++)
        code = take_doc(tx, p, &p->docs[i], err);
    return code;
}

static tarn_code take_page(struct page *p, struct tarn_err *err)
{
    struct tarn_store *store = p->ask->lake->store;
    tarn_code code = tarn_lake_goes_on(p->ask->lake, err);

    if (code == TARN_OK && p->count > 0)
        code = p->ask->dry_run ? tarn_store_read(store, take_tx, p, err)
                               : tarn_store_write(store, take_tx, p, err);
    if (code == TARN_OK)
        p->ask->count += p->taken;
    p->taken = 0;
    clear(p);
    return code;
}

tarn_code tarn_retake_batches(struct tarn_retake_batches *ask, struct tarn_err *err)
{
    __attribute__((cleanup(page_freep))) struct page *p = calloc(1, sizeof *p);
    TARN_AUTO(lister) struct tarn_lister *lister = NULL;
    struct tarn_object object = { 0 };
    bool found = true;

    ask->count = 0;
    if (!p)
        return tarn_fail_oom(err);
    p->ask = ask;
    tarn_code code = tarn_place_lister(ask->place, TARN_DIR_PROCESSED, true, &lister, err);
    while (code == TARN_OK && found) {
        code = tarn_lister_next(lister, &object, &found, err);
        if (code == TARN_OK && found && !object.is_symlink && tarn_ends_with(object.path, ".json"))
            code = read_doc(p, object.path, err);
        if (code == TARN_OK && (p->count == PAGE_DOCS || !found))
            code = take_page(p, err);
    }
    return code;
}
