/* rollback.c - the steps of a rollback. What changed since the target is found by two indexes: what was added
 * since goes, what was removed since comes back. However much it is, it is written as a large commit is. */
#include "lake/rollback.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "lake/lease.h"
#include "lake/lineage.h"
#include "lake/snapshot.h"
#include <stdio.h>
#include <string.h>

enum {
    PAGE_ROWS = 1000,
    PATHS_MAX = 20,        /* named in a refusal */
    BATCHES_A_TX = 5000
};

/* --- the target --- */

/* Inside the transactions that count: the history may be cut meanwhile. */
static tarn_code judge_target(struct tarn_tx *tx, const struct tarn_commit_use *commit,
                              const struct tarn_table *table, struct tarn_err *err)
{
    const struct tarn_rollback_use *use = (const struct tarn_rollback_use *)commit;
    const struct tarn_snapshot_ask ask = { .by = TARN_ASK_VERSION, .version = use->to_version };
    __attribute__((cleanup(tarn_snapshot_done))) struct tarn_snapshot target = { 0 };

    if (use->to_version == table->version)
        return tarn_fail_field(err, "to_version", "the table is at that version");
    tarn_code code = tarn_snapshot_find(tx, table, &ask, &target, err);
    if (err && err->field[0])
        snprintf(err->field, sizeof err->field, "to_version");
    return code;
}

/* --- are the files still there? --- */

struct inspection {
    const struct tarn_rollback_use *use;
    int64_t table_id, version; /* the table as the check found it */
    struct tarn_place *place;  /* owned */
    struct tarn_file_cursor from, to;
    struct tarn_buf paths; /* of a page: NUL-terminated, one after the other */
    int64_t sizes[PAGE_ROWS];
    size_t count;
    json_t *missing; /* owned array, PATHS_MAX at most */
    int64_t total;   /* missing, all of them */
};

static void inspection_freep(struct inspection **in)
{
    if (*in) {
        tarn_place_free((*in)->place);
        tarn_buf_done(&(*in)->paths);
        json_decref((*in)->missing);
    }
    free(*in);
}

static tarn_code note_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct inspection *in = ctx;

    in->sizes[in->count++] = file->size;
    tarn_buf_add(&in->paths, file->path, strlen(file->path) + 1);
    return tarn_buf_check(&in->paths, err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct inspection *in = ctx;

    in->count = 0;
    tarn_buf_clear(&in->paths);
    return tx->ops->files.removed_page(tx, in->table_id, in->version, in->use->to_version, &in->from,
                                       PAGE_ROWS, note_file, in, &in->to, err);
}

static tarn_code note_missing(struct inspection *in, const char *path, struct tarn_err *err)
{
    in->total++;
    if (json_array_size(in->missing) == PATHS_MAX ||
        json_array_append_new(in->missing, json_string(path)) == 0)
        return TARN_OK;
    return tarn_fail_oom(err);
}

static tarn_code stat_page(struct inspection *in, struct tarn_err *err)
{
    const char *path = in->paths.data;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < in->count && code == TARN_OK; i++, path += strlen(path) + 1) {
        struct tarn_object object = { 0 };
        TARN_ERR(fault);
        code = tarn_place_stat(in->place, path, &object, &fault);
        if (code == TARN_NOT_FOUND || (code == TARN_OK && object.size != in->sizes[i]))
            code = note_missing(in, path, err);
        else if (code != TARN_OK)
            return tarn_err_move(err, &fault);
    }
    return code;
}

static tarn_code incomplete(const struct inspection *in, struct tarn_err *err)
{
    tarn_fail_code_field(err, TARN_SNAPSHOT_INCOMPLETE, "to_version",
                         "%lld files of version %lld are gone or have another size", (long long)in->total,
                         (long long)in->use->to_version);
    (void)tarn_err_add(err, "paths", json_incref(in->missing));
    return tarn_err_add(err, "total", json_integer(in->total));
}

static tarn_code open_place(struct inspection *in, const struct tarn_table *table, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code =
        tarn_place_open(in->use->commit.lake->storage, table->location, false, &in->place, &fault);

    if (code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "the table's folder %s is not there", table->location);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

/* Every file that comes back, by name and size. No lock: should the table move on, the lease is refused. */
static tarn_code inspect(const struct tarn_rollback_use *use, const struct tarn_table *table,
                         struct tarn_err *err)
{
    __attribute__((cleanup(inspection_freep))) struct inspection *in = calloc(1, sizeof *in);
    json_t *missing = json_array();

    if (!in || !missing) {
        json_decref(missing);
        return tarn_fail_oom(err);
    }
    *in = (struct inspection){ .use = use, .table_id = table->id, .version = table->version, .missing = missing };
    in->from.removed_version = use->to_version + 1;
    tarn_code code = open_place(in, table, err);
    while (code == TARN_OK && !in->from.end) {
        code = tarn_lake_goes_on(use->commit.lake, err);
        if (code == TARN_OK)
            code = tarn_store_read(use->commit.lake->store, page_tx, in, err);
        if (code == TARN_OK)
            code = stat_page(in, err);
        in->from = in->to;
    }
    return code == TARN_OK && in->total > 0 ? incomplete(in, err) : code;
}

/* --- the rows --- */

enum { REMOVES, RETURNS, OVER };

static void begin_phase(struct tarn_commit_lease *lease, int64_t to_version)
{
    lease->cursor = (struct tarn_file_cursor){ 0 };
    if (lease->phase == REMOVES)
        lease->cursor.added_version = to_version + 1;
    else
        lease->cursor.removed_version = to_version + 1;
    lease->at = 1;
}

/* The removes first: a path may be live again in another file. */
static tarn_code step(struct tarn_tx *tx, struct tarn_commit_use *commit, const struct tarn_table *table,
                      int64_t rows, struct tarn_err *err)
{
    const struct tarn_rollback_use *use = (const struct tarn_rollback_use *)commit;
    struct tarn_commit_lease *lease = &commit->lease;
    bool removes = lease->phase == REMOVES;
    struct tarn_file_totals sum = { 0 };
    struct tarn_file_cursor at;

    if (lease->at == 0)
        begin_phase(lease, use->to_version);
    tarn_code code =
        removes ? tx->ops->bulk.remove(tx, table->id, lease->version, &lease->cursor, rows, &at, &sum, err)
                : tx->ops->bulk.bring_back(tx, table->id, lease->version, use->to_version, &lease->cursor,
                                           rows, &at, &sum, err);
    if (code != TARN_OK)
        return code;
    *(removes ? &lease->files_removed : &lease->files_added) += sum.files;
    *(removes ? &lease->bytes_removed : &lease->bytes_added) += sum.bytes;
    lease->cursor = at;
    if (at.end) {
        lease->at = 0;
        lease->phase++;
    }
    lease->is_whole = lease->phase == OVER;
    return TARN_OK;
}

/* --- the steps of the use case --- */

static bool needs_check(const struct tarn_lake *lake, const void *state)
{
    return tarn_commit.needs_check(lake, state);
}

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_rollback_use *use = state;
    struct tarn_commit_use *commit = &use->commit;
    __attribute__((cleanup(tarn_commit_before_done))) struct tarn_commit_before b = { .use = commit };
    tarn_code code = tarn_commit_unstage(commit, err); /* of a check before this one */

    commit->must_check = false;
    if (code == TARN_OK)
        code = tarn_commit_look(lake, &b, err);
    if (code != TARN_OK || b.decided)
        return code;
    commit->checked = (struct tarn_commit_checked){ .table_id = b.table->id,
                                                    .schema_version = b.table->schema_version,
                                                    .enforcement = b.table->enforcement };
    if (lake->storage)
        code = inspect(use, b.table, err);
    return code == TARN_OK ? tarn_commit_stage(commit, b.table, step, err) : code;
}

struct batches {
    struct tarn_tx *tx;
    int64_t table_id, version, at;
    bool left;
};

typedef tarn_code mark_fn(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t to, int64_t by,
                          int64_t now_ms, int64_t limit, bool *left, struct tarn_err *err);

static tarn_code mark(struct batches *b, mark_fn *fn, int64_t from, int64_t to, struct tarn_err *err)
{
    bool left = false;
    tarn_code code = fn(b->tx, b->table_id, from, to, b->version, b->at, BATCHES_A_TX, &left, err);

    b->left |= left;
    return code;
}

static tarn_code take_out(void *ctx, int64_t from, int64_t to, struct tarn_err *err)
{
    struct batches *b = ctx;
    return mark(b, b->tx->ops->batches.roll_back, from, to, err);
}

static tarn_code count_again(void *ctx, int64_t from, int64_t to, struct tarn_err *err)
{
    struct batches *b = ctx;
    return mark(b, b->tx->ops->batches.count_again, from, to, err);
}

/* What the commits applied that no longer count is to be merged again; what a rollback that is undone now
 * had taken out is applied after all. Whoever asks for one batch is told right already (tarn_batch_get). */
tarn_code tarn_rollback_batches(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t to_version,
                                int64_t at_ms, bool *left, struct tarn_err *err)
{
    struct batches b = { .tx = tx, .table_id = table_id, .version = version, .at = at_ms };
    tarn_code code = tarn_lineage_only(tx, table_id, version - 1, to_version, take_out, &b, err);

    if (code == TARN_OK && !b.left)
        code = tarn_lineage_only(tx, table_id, to_version, version - 1, count_again, &b, err);
    *left = b.left;
    return code;
}

static tarn_code mark_batches(struct tarn_tx *tx, struct tarn_rollback_use *use, struct tarn_err *err)
{
    const struct tarn_commit_row *row = &use->commit.row;

    return tarn_rollback_batches(tx, use->commit.table_id, row->version, use->to_version, row->committed_at,
                                 &use->batches_left, err);
}

static tarn_code change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_rollback_use *use = ctx;
    tarn_code code = tarn_commit_change(tx, &use->commit, err);

    use->batches_left = false;
    if (code != TARN_OK || use->commit.replayed)
        return code;
    code = tx->ops->commits.insert_rollback(tx, use->commit.table_id, use->commit.row.version,
                                            use->to_version, err);
    return code == TARN_OK ? mark_batches(tx, use, err) : code;
}

static bool needs_after(const void *state) { return ((const struct tarn_rollback_use *)state)->batches_left; }

static tarn_code batches_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return mark_batches(tx, ctx, err);
}

static tarn_code after(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_rollback_use *use = state;
    tarn_code code = TARN_OK;

    while (code == TARN_OK && use->batches_left)
        code = tarn_store_write(lake->store, batches_tx, use, err);
    return code;
}

static bool publishes(const void *state, int64_t *table_id, int64_t *version)
{
    return tarn_commit.publishes(state, table_id, version);
}

static void published(void *state, bool done) { tarn_commit.published(state, done); }

const struct tarn_use tarn_rollback = {
    .name = "rollback",
    .size = sizeof(struct tarn_rollback_use),
    .needs_check = needs_check,
    .check = check,
    .change = change,
    .needs_after = needs_after,
    .after = after,
    .publishes = publishes,
    .published = published,
    .done = tarn_commit_done,
};

/* --- the request --- */

/* author and description as a commit's metadata; the description says what it is when nobody did. */
static void write_metadata(struct tarn_rollback_use *use, const char *author, const char *description)
{
    struct tarn_jsonw w = tarn_jsonw_to(&use->commit.texts);
    char standard[64];

    snprintf(standard, sizeof standard, "rollback to version %lld", (long long)use->to_version);
    tarn_jsonw_object(&w);
    if (author)
        tarn_jsonw_kstr(&w, "author", author);
    tarn_jsonw_kstr(&w, "description", description ? description : standard);
    tarn_jsonw_object_end(&w);
    tarn_buf_add(&use->commit.texts, "", 1);
}

tarn_code tarn_rollback_parse(json_t *body, struct tarn_rollback_use *use, struct tarn_err *err)
{
    struct tarn_commit_use *commit = &use->commit;
    const char *transaction = NULL, *author = NULL, *description = NULL;
    const struct tarn_field fields[] = {
        TARN_I64("expected_version", &commit->expected_version, 0, INT64_MAX - 1),
        TARN_I64("to_version", &use->to_version, 0, INT64_MAX - 1),
        TARN_OPT_STR("transaction_id", &transaction, 1, TARN_TXN_ID_MAX),
        TARN_OPT_STR("author", &author, 0, 1024),
        TARN_OPT_STR("description", &description, 0, 65536),
        TARN_FIELDS_END,
    };

    tarn_code code = tarn_json_read(body, fields, err);
    if (code == TARN_OK && transaction)
        code = tarn_commit_name(commit, transaction, err);
    if (code != TARN_OK)
        return code;
    commit->has_expected = commit->must_check = commit->is_large = true;
    commit->judge_more = judge_target;
    write_metadata(use, author, description);
    code = tarn_buf_check(&commit->texts, err);
    commit->metadata = commit->texts.data;
    return code == TARN_OK ? tarn_commit_hash(body, commit, err) : code;
}
