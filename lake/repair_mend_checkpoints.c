/* repair_mend_checkpoints.c - snapshots beside the log. One that is missing or damaged is
 * written again, as long as the catalog still has its version; and where the log has gaps that
 * nobody can fill, or begins before Tarn, a new one stands for all that lies before it. */
#include "formats/manifest/manifest.h"
#include "lake/repair_mend.h"
#include <stdio.h>
#include <string.h>

enum { PAGE_ROWS = 5000 }; /* of one table, a thousand commits apart */

static void path_of(const char *transaction, char out[TARN_PATH_MAX])
{
    snprintf(out, TARN_PATH_MAX, TARN_DIR_LOG "/%.*s" TARN_CHECKPOINT_SUFFIX, TARN_TXN_ID_MAX, transaction);
}

struct row { int64_t version; char transaction[TARN_TXN_ID_MAX + 1]; };
struct page {
    struct tarn_mend *m;
    int64_t below;
    struct row rows[PAGE_ROWS];
    size_t count;
};

static tarn_code note_row(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct page *p = ctx;

    (void)err;
    p->rows[p->count].version = row->version;
    snprintf(p->rows[p->count++].transaction, TARN_TXN_ID_MAX + 1, "%s", row->transaction);
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *p = ctx;

    p->count = 0;
    return tx->ops->history.checkpoints(tx, p->m->run.table_id, p->below, PAGE_ROWS, note_row, p, err);
}

struct note { struct tarn_mend *m; const struct row *row; };

static tarn_code add_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct note *n = ctx;
    return tx->ops->history.add_checkpoint(tx, n->m->run.table_id, n->row->version, n->row->transaction, err);
}

static tarn_code drop_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct note *n = ctx;
    return tx->ops->history.drop_checkpoint(tx, n->m->run.table_id, n->row->version, err);
}

/* *good: a whole manifest of this table, of that version (-1: any). */
static tarn_code look_at(struct tarn_mend *m, const char *path, int64_t version, bool *there, bool *good,
                         struct tarn_err *err)
{
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    TARN_AUTO(reader) struct tarn_reader *reader = NULL;
    TARN_ERR(fault);
    tarn_code code = tarn_place_reader(m->run.place, path, &reader, NULL, &fault);

    if (code == TARN_OK)
        code = tarn_manifest_read(tarn_reader_fill, reader, &head, NULL, NULL, &fault);
    *there = code != TARN_NOT_FOUND;
    *good = code == TARN_OK && head.catalog && strcmp(head.catalog, m->run.lake->catalog_id) == 0 && head.table_uuid &&
            strcmp(head.table_uuid, m->run.table->uuid) == 0 && (version < 0 || head.version == version);
    return code == TARN_OK || code == TARN_INVALID || code == TARN_NOT_FOUND ? TARN_OK
                                                                             : tarn_err_move(err, &fault);
}

static tarn_code write_one(struct tarn_mend *m, const struct row *row, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row commit = { 0 };
    struct note note = { m, row };
    char path[TARN_PATH_MAX];

    path_of(row->transaction, path);
    tarn_code code = tarn_repair_tell_write(m->r->use, path, err);
    if (code != TARN_OK || !m->applies)
        return code;
    code = tarn_mend_commit(m, row->version, &commit, err);
    if (code == TARN_OK)
        code = tarn_publish_checkpoint_write(&m->run, &commit, err);
    return code == TARN_OK ? tarn_store_write(m->run.lake->store, add_tx, &note, err) : code;
}

static tarn_code mend_one(struct tarn_mend *m, const struct row *row, struct tarn_err *err)
{
    struct note note = { m, row };
    bool there = false, good = false;
    char path[TARN_PATH_MAX];

    path_of(row->transaction, path);
    tarn_code code = look_at(m, path, row->version, &there, &good, err);
    bool can_be_made = row->version >= m->run.table->oldest_version;
    if (code == TARN_OK && !good && there)
        code = can_be_made ? tarn_mend_aside(m, path, NULL, NULL, err) : tarn_mend_away(m, path, err);
    if (code == TARN_OK && !good && can_be_made)
        code = write_one(m, row, err);
    if (code != TARN_OK)
        return code;
    if (good || can_be_made) {
        m->good_checkpoint = row->version;
        return TARN_OK;
    }
    /* The log before it stands on nothing now. */
    if (row->version > m->lost_version)
        m->lost_version = row->version;
    return m->applies ? tarn_store_write(m->run.lake->store, drop_tx, &note, err) : TARN_OK;
}

/* Newest first would do as well; pages go down from the newest. */
static tarn_code mend_known(struct tarn_mend *m, struct tarn_err *err)
{
    struct page *p = calloc(1, sizeof *p);
    tarn_code code = p ? TARN_OK : tarn_fail_oom(err);

    if (!p)
        return code;
    *p = (struct page){ .m = m, .below = INT64_MAX };
    code = tarn_store_read(m->run.lake->store, page_tx, p, err);
    for (size_t i = 0; code == TARN_OK && i < p->count; i++)
        code = mend_one(m, &p->rows[i], err);
    free(p);
    return code;
}

/* A name that the catalog does not know: of a publication that a crash cut short, or somebody else's. */
static tarn_code mend_unknown(struct tarn_mend *m, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t at = 0; code == TARN_OK && at < m->checkpoints.len;
         at += strlen(m->checkpoints.data + at) + 1) {
        bool there = false, good = false;
        code = look_at(m, m->checkpoints.data + at, -1, &there, &good, err);
        if (code == TARN_OK && there && !good)
            code = tarn_mend_away(m, m->checkpoints.data + at, err);
    }
    return code;
}

static bool is_wanted(const struct tarn_mend *m)
{
    return m->good_checkpoint < m->lost_version ||
           (m->adopted > 0 && m->good_checkpoint < m->run.table->first_version);
}

tarn_code tarn_mend_checkpoints(struct tarn_mend *m, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row commit = { 0 };
    struct row row = { .version = m->run.table->published_version };
    tarn_code code = mend_known(m, err);

    if (code == TARN_OK)
        code = mend_unknown(m, err);
    if (code != TARN_OK || !is_wanted(m) || row.version < 0)
        return code;
    code = tarn_mend_commit(m, row.version, &commit, err);
    if (code != TARN_OK || !commit.transaction)
        return code;
    snprintf(row.transaction, sizeof row.transaction, "%s", commit.transaction);
    return write_one(m, &row, err);
}
