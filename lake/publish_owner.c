/* publish_owner.c - one owner: before manifest.json and the pointer are overwritten, what lies there must be
 * what Tarn left there (by token, or by digest when somebody only copied or touched it), or what a crash kept
 * Tarn from noting: the manifest of a version above the noted one that says what its commit says. An old writer
 * that reads the manifest, adds a file and writes it back keeps Tarn's ids, so these prove nothing. */
#include "lake/publish_run.h"
#include "formats/manifest/manifest.h"
#include "lake/source.h"
#include <string.h>

static tarn_code foreign(const struct tarn_publish_run *run, const char *document, struct tarn_err *err)
{
    return tarn_fail(err, TARN_FOREIGN_WRITE, "%s/%s was not written by this catalog last: publication stops",
                     run->table->location, document);
}

struct unnoted {
    const struct tarn_publish_run *run;
    const struct tarn_manifest_head *head;
    bool is_so;
};

/* A version without a commit (0, or adopted) is known by its ids alone. */
static tarn_code unnoted_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct unnoted *u = ctx;
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    TARN_ERR(fault);
    tarn_code code = tx->ops->commits.get(tx, u->run->table_id, u->head->version, &row, &fault);
    u->is_so = code == TARN_VERSION_NOT_FOUND ||
               (code == TARN_OK && u->head->transaction && strcmp(u->head->transaction, row.transaction) == 0 &&
                u->head->last_updated == row.committed_at);
    return code == TARN_OK || code == TARN_VERSION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code judge_unnoted(const struct tarn_publish_run *run, const struct tarn_manifest_head *head, bool *out,
                               struct tarn_err *err)
{
    struct unnoted unnoted = { .run = run, .head = head };
    *out = false;
    if (!head->catalog || strcmp(head->catalog, run->lake->catalog_id) != 0 || !head->table_uuid ||
        strcmp(head->table_uuid, run->table->uuid) != 0 || head->version <= run->table->published_version ||
        head->version > run->table->version)
        return TARN_OK;
    tarn_code code = tarn_store_read(run->lake->store, unnoted_tx, &unnoted, err);
    *out = unnoted.is_so;
    return code;
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
        code = judge_unnoted(run, &head, &is_ours, err);
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
