/* publish_owner.c - one owner: before manifest.json and the pointer are overwritten, what lies
 * there must be what Tarn left there (by token, or by digest when somebody only copied or touched
 * it), or what a crash kept Tarn from noting: the manifest of a version above the noted one that
 * says what its commit says, or the noted one once more under another name. An old writer that
 * reads the manifest, adds a file and writes it back keeps Tarn's ids, so these prove nothing. */
#include "lake/publish_run.h"
#include "formats/manifest/manifest.h"
#include "lake/source.h"
#include <string.h>

static tarn_code foreign(const struct tarn_publish_run *run, const char *document, struct tarn_err *err)
{
    tarn_fail(err, TARN_FOREIGN_WRITE, "%s/%s was not written by this catalog last: publication stops",
              run->table->location, document);
    return tarn_err_add(err, TARN_FOREIGN_DOCUMENT, json_string(document));
}

struct find {
    int64_t table_id, version;
    struct tarn_commit_row row; /* transaction NULL: there is none of that version */
};

static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct find *f = ctx;
    TARN_ERR(fault);
    tarn_commit_row_done(&f->row);
    f->row = (struct tarn_commit_row){ 0 };
    tarn_code code = tx->ops->commits.get(tx, f->table_id, f->version, &f->row, &fault);
    return code == TARN_OK || code == TARN_VERSION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

static void find_done(struct find *f) { tarn_commit_row_done(&f->row); }

static bool is_of_table(const struct tarn_publish_run *run, const struct tarn_manifest_head *head)
{
    return head->catalog && strcmp(head->catalog, run->lake->catalog_id) == 0 && head->table_uuid &&
           strcmp(head->table_uuid, run->table->uuid) == 0 &&
           head->version >= run->table->published_version && head->version <= run->table->version;
}

static bool says_the_same(const struct tarn_manifest_head *head, const struct tarn_commit_row *row)
{
    return head->transaction && strcmp(head->transaction, row->transaction) == 0 &&
           head->last_updated == row->committed_at;
}

/* The noted version once more. `row`: its commit, or none: then the table's own row tells the same. */
static tarn_code judge_again(struct tarn_publish_run *run, const struct tarn_manifest_head *head,
                             const struct tarn_commit_row *row, const char *digest, bool *out,
                             struct tarn_err *err)
{
    const struct tarn_table *t = run->table;
    const struct tarn_commit_row own = { .version = t->version,
                                         .transaction = t->latest_transaction,
                                         .committed_at = t->committed_at,
                                         .schema_version = t->schema_version };
    if (row->transaction)
        return says_the_same(head, row) ? tarn_publish_manifest_is(run, row, head, digest, out, err)
                                        : TARN_OK;
    return head->version == t->version ? tarn_publish_manifest_is(run, &own, head, digest, out, err)
                                       : TARN_OK;
}

/* A version above the noted one is known by what its commit says; one without a
 * commit (0, or adopted) by its ids alone. The noted version is written once
 * more when only the table's name or its links changed: then the bytes tell. */
static tarn_code judge_unnoted(struct tarn_publish_run *run, const struct tarn_manifest_head *head,
                               const char *digest, bool *out, struct tarn_err *err)
{
    __attribute__((cleanup(find_done))) struct find f = { .table_id = run->table_id,
                                                          .version = head->version };
    *out = false;
    if (!is_of_table(run, head))
        return TARN_OK;
    tarn_code code = tarn_store_read(run->lake->store, find_tx, &f, err);
    if (code != TARN_OK)
        return code;
    if (head->version == run->table->published_version)
        return judge_again(run, head, &f.row, digest, out, err);
    *out = !f.row.transaction || says_the_same(head, &f.row);
    return TARN_OK;
}

tarn_code tarn_publish_manifest_owned(struct tarn_publish_run *run, struct tarn_err *err)
{
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_place_stat(run->place, TARN_DOC_MANIFEST, &object, &fault);
    if (code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (strcmp(object.token, run->pub.manifest_token) == 0)
        return TARN_OK;

    TARN_AUTO(hashed) struct tarn_hashed *source = NULL;
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    char digest[TARN_SHA256_HEX];
    code = tarn_hashed_open(run->place, TARN_DOC_MANIFEST, &source, NULL, err);
    if (code != TARN_OK)
        return code;
    tarn_code parsed = tarn_manifest_read(tarn_hashed_fill, source, &head, NULL, NULL, &fault);
    if (parsed != TARN_OK && parsed != TARN_INVALID)
        return tarn_err_move(err, &fault);
    code = tarn_hashed_end(source, digest, err);
    if (code != TARN_OK)
        return code;
    bool is_ours = strcmp(digest, run->pub.manifest_sha256) == 0;
    if (!is_ours && parsed == TARN_OK)
        code = judge_unnoted(run, &head, digest, &is_ours, err);
    if (code != TARN_OK || is_ours)
        return code;
    return foreign(run, TARN_DOC_MANIFEST, err);
}

/* --- the pointer --- */

struct known {
    const struct tarn_publish_run *run;
    const char *transaction;
    bool found;
};

static tarn_code known_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct known *k = ctx;
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    TARN_ERR(fault);
    tarn_code code = tx->ops->commits.by_transaction(tx, k->run->table_id, k->transaction, &row, &fault);
    k->found = code == TARN_OK && row.version <= k->run->table->version;
    if (code != TARN_TRANSACTION_NOT_FOUND)
        return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
    code = tx->ops->commits.adopted_by_transaction(tx, k->run->table_id, k->transaction, &row, &fault);
    k->found = code == TARN_OK;
    return code == TARN_OK || code == TARN_TRANSACTION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

/* It names a transaction of the history, or the table was adopted and Tarn never wrote it: then whatever lay
 * there at the adoption is accepted. */
static tarn_code pointer_owned(struct tarn_publish_run *run, struct tarn_err *err)
{
    if (run->table->published_version > 0 && !run->published_by_tarn)
        return TARN_OK;
    TARN_ERR(fault);
    __attribute__((cleanup(tarn_mem_freep))) char *id = NULL;
    tarn_code code = tarn_pointer_read(run->place, &id, NULL, &fault);
    if (code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code == TARN_INVALID)
        return foreign(run, TARN_DOC_POINTER, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    struct known known = { .run = run, .transaction = id };
    code = tarn_store_read(run->lake->store, known_tx, &known, err);
    if (code == TARN_OK && !known.found)
        return foreign(run, TARN_DOC_POINTER, err);
    return code;
}

tarn_code tarn_publish_owned(struct tarn_publish_run *run, struct tarn_err *err)
{
    tarn_code code = tarn_publish_manifest_owned(run, err);
    return code != TARN_OK ? code : pointer_owned(run, err);
}
