/* pointer.c - a swap is a commit without files: it has a version, an id,
 * a place in the history and in the feed, and is answered again when it
 * is sent again. What lies behind the pointer is the outside writer's. */
#include "lake/pointer.h"
#include "base/json.h"
#include "base/time.h"
#include "lake/event.h"
#include "lake/inherit.h"
#include "lake/settings.h"
#include <string.h>

/* --- the request --- */

static tarn_code judge_location(const struct tarn_pointer_use *use, struct tarn_err *err)
{
    TARN_AUTO(mem) char *location = NULL;
    tarn_code code = tarn_location_normalise(use->metadata_location, "metadata_location", &location, err);

    if (code != TARN_OK)
        return code;
    code = tarn_storage_allows(use->lake->storage, location, err);
    if (code == TARN_OK && use->may_use && !use->may_use(use->who, location))
        code = tarn_fail(err, TARN_LOCATION_NOT_ALLOWED, "%s: the token's roots do not include it", location);
    if (code == TARN_LOCATION_NOT_ALLOWED)
        (void)tarn_err_prefix(err, "metadata_location");
    return code;
}

static tarn_code hash_body(json_t *body, struct tarn_commit_use *commit, struct tarn_err *err)
{
    (void)json_object_del(body, "expected_version");
    TARN_AUTO(mem) char *text = tarn_json_canonical(body);
    if (!text)
        return tarn_fail_oom(err);
    tarn_sha256_hex(text, strlen(text), commit->body_hash);
    return TARN_OK;
}

tarn_code tarn_pointer_parse(json_t *body, struct tarn_pointer_use *use, struct tarn_err *err)
{
    struct tarn_commit_use *commit = &use->commit;
    const char *transaction = NULL;
    const struct tarn_field fields[] = {
        TARN_I64("expected_version", &commit->expected_version, 0, INT64_MAX - 1),
        TARN_STR("metadata_location", &use->metadata_location, 1, 4096),
        TARN_OPT_STR("transaction", &transaction, 1, TARN_TXN_ID_MAX),
        TARN_FIELDS_END,
    };
    tarn_code code = tarn_json_read(body, fields, err);

    if (code == TARN_OK && transaction)
        code = tarn_txn_id_check(transaction, "transaction", err);
    if (code == TARN_OK)
        code = judge_location(use, err);
    if (code != TARN_OK)
        return code;
    commit->has_expected = true;
    commit->has_transaction = transaction != NULL;
    if (transaction)
        snprintf(commit->transaction, sizeof commit->transaction, "%s", transaction);
    json_auto_t *metadata = json_pack("{s:s}", "metadata_location", use->metadata_location);
    use->metadata = metadata ? tarn_json_text(metadata) : NULL;
    return use->metadata ? hash_body(body, commit, err) : tarn_fail_oom(err);
}

/* --- steps --- */

static bool needs_check(const struct tarn_lake *lake, const void *state)
{
    (void)lake;
    return ((const struct tarn_pointer_use *)state)->must_check;
}

static tarn_code missing(const struct tarn_pointer_use *use, struct tarn_err *err)
{
    tarn_fail_code_field(err, TARN_VERIFICATION_FAILED, "metadata_location", "%s: the file is not there",
                         use->metadata_location);
    return tarn_err_add(err, "path", json_string(use->metadata_location));
}

/* The file that the pointer is to name, in its own folder. */
static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_pointer_use *use = state;
    TARN_AUTO(mem) char *location = NULL;
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_object object = { 0 };
    TARN_ERR(fault);

    use->must_check = false;
    tarn_code code = tarn_location_normalise(use->metadata_location, "metadata_location", &location, err);
    if (code != TARN_OK)
        return code;
    char *name = strrchr(location, '/');
    if (!name || name == location)
        return missing(use, err);
    *name++ = '\0';
    code = tarn_place_open(lake->storage, location, false, &place, &fault);
    if (code == TARN_OK)
        code = tarn_place_stat(place, name, &object, &fault);
    if (code == TARN_NOT_FOUND)
        return missing(use, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    use->is_there = true;
    return TARN_OK;
}

static tarn_code judge(struct tarn_pointer_use *use, const struct tarn_table *table, struct tarn_err *err)
{
    tarn_code code = tarn_if_match(table, use->if_match, err);

    if (code == TARN_OK)
        code = tarn_commit_judge_version(&use->commit, table, err);
    if (code != TARN_OK || table->verify == TARN_VERIFY_OFF || use->is_there)
        return code;
    use->must_check = true;
    return tarn_fail(err, TARN_RECHECK, "storage is to be looked at first");
}

static tarn_code take_text(char **target, const char *text, struct tarn_err *err)
{
    char *made = strdup(text);

    if (!made)
        return tarn_fail_oom(err);
    free(*target);
    *target = made;
    return TARN_OK;
}

static tarn_code swap(struct tarn_tx *tx, struct tarn_pointer_use *use, struct tarn_table *table,
                      struct tarn_err *err)
{
    int64_t now = use->commit.now_ms ? use->commit.now_ms : tarn_now_ms();
    struct tarn_commit_row row = { .version = table->version + 1,
                                   .transaction = use->commit.transaction,
                                   .committed_at = now > table->committed_at ? now : table->committed_at,
                                   .metadata = use->metadata,
                                   .data_change = true };

    memcpy(row.body_hash, use->commit.body_hash, sizeof row.body_hash);
    tarn_code code = tarn_commit_insert(tx, &use->commit, table, &row, err);
    if (code == TARN_OK)
        code = tarn_commit_keep_key(tx, &use->commit, table, row.version, now, err);
    if (code == TARN_OK)
        code = take_text(&table->metadata_location, use->metadata_location, err);
    if (code == TARN_OK)
        code = take_text(&table->latest_transaction, row.transaction, err);
    table->version = row.version;
    table->committed_at = row.committed_at;
    if (code == TARN_OK)
        code = tx->ops->tables.update(tx, table, err);
    table->revision++; /* as the store bumped it */
    return code == TARN_OK ? tarn_event_committed(tx, table, &row, err) : code;
}

/* The body of a commit calls it transaction_id. */
static tarn_code find_replay(struct tarn_tx *tx, struct tarn_commit_use *commit,
                             const struct tarn_table *table, struct tarn_err *err)
{
    tarn_code code = tarn_commit_find_replay(tx, commit, table, err);

    if (code != TARN_OK && strcmp(err->field, "transaction_id") == 0)
        snprintf(err->field, sizeof err->field, "transaction");
    return code;
}

static tarn_code change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_pointer_use *use = ctx;
    struct tarn_commit_use *commit = &use->commit;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get(tx, commit->ident.namespace_, commit->ident.name, &table, err);

    if (code == TARN_OK && !table->metadata_location)
        code = tarn_fail(err, TARN_TABLE_NOT_POINTED, "the table was registered without a metadata_location");
    if (code == TARN_OK)
        code = find_replay(tx, commit, table, err);
    if (code == TARN_OK && !commit->replayed)
        code = tarn_inherit_depth(tx, table, err);
    if (code == TARN_OK && !commit->replayed)
        code = judge(use, table, err);
    if (code == TARN_OK && !commit->replayed)
        code = swap(tx, use, table, err);
    if (code == TARN_OK)
        code = tarn_inherit_shown(tx, table, err);
    if (code != TARN_OK)
        return code;
    tarn_table_free(use->table);
    use->table = tarn_take(&table);
    return TARN_OK;
}

static void done(void *state)
{
    struct tarn_pointer_use *use = state;

    tarn_table_free(use->table);
    free(use->metadata);
}

const struct tarn_use tarn_pointer = {
    .name = "pointer",
    .size = sizeof(struct tarn_pointer_use),
    .needs_check = needs_check,
    .check = check,
    .change = change,
    .done = done,
};
