/* snapshot.c - from a version, a transaction or an instant to one snapshot. Every version has a row in the
 * history but the first one: version 0, or the one that was adopted. */
#include "lake/snapshot.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

void tarn_snapshot_done(struct tarn_snapshot *snapshot)
{
    free(snapshot->transaction);
    *snapshot = (struct tarn_snapshot){ 0 };
}

/* --- the history --- */

/* A row as far as a search needs it. */
struct point {
    bool found;
    int64_t version, committed_at;
};

static tarn_code note_point(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    (void)err;
    *(struct point *)ctx = (struct point){ true, row->version, row->committed_at };
    return TARN_OK;
}

/* The newest commit up to `version`. */
static tarn_code point_at(struct tarn_tx *tx, int64_t table_id, int64_t version, struct point *out,
                          struct tarn_err *err)
{
    *out = (struct point){ 0 };
    return tx->ops->commits.list(tx, table_id, version + 1, 1, note_point, out, err);
}

/* *found false: the version has no row. */
static tarn_code read_row(struct tarn_tx *tx, int64_t table_id, int64_t version, bool *found,
                          struct tarn_commit_row *out, struct tarn_err *err)
{
    TARN_ERR(none);
    tarn_code code = tx->ops->commits.get(tx, table_id, version, out, &none);

    *found = code == TARN_OK;
    return code == TARN_OK || code == TARN_VERSION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &none);
}

/* An adopted version: it came from storage, and no commit of Tarn's tells of it. */
struct birth {
    bool is_kept;      /* the oldest version is an adopted one */
    char *transaction; /* owned; NULL: not known */
    int64_t at;
};

static void birth_done(struct birth *birth) { free(birth->transaction); }

static tarn_code note_entry(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct birth *birth = ctx;

    birth->transaction = strdup(row->transaction);
    if (row->committed_at >= 0 && row->committed_at < birth->at)
        birth->at = row->committed_at;
    return birth->transaction ? TARN_OK : tarn_fail_oom(err);
}

/* It dates from the newest entry of the log that was adopted with it, at the latest from the registration;
 * one that was adopted again, from the last commit before Tarn gave the table away. */
static tarn_code read_birth(struct tarn_tx *tx, const struct tarn_table *table, struct birth *out,
                            struct tarn_err *err)
{
    struct point last = { 0 };

    *out = (struct birth){ .at = table->created_at };
    if (table->first_version == 0 || table->oldest_version > table->first_version)
        return TARN_OK;
    out->is_kept = true;
    tarn_code code = point_at(tx, table->id, table->first_version, &last, err);
    if (code == TARN_OK && !last.found)
        return tx->ops->commits.list_adopted(tx, table->id, INT64_MAX, 1, note_entry, out, err);
    if (last.committed_at > out->at)
        out->at = last.committed_at;
    return code;
}

/* --- refusals --- */

static tarn_code expired(const struct tarn_table *table, const char *field, const char *what,
                         struct tarn_err *err)
{
    tarn_fail_code_field(err, TARN_VERSION_EXPIRED, field, "%s is no longer kept; the oldest version is %lld",
                         what, (long long)table->oldest_version);
    (void)tarn_err_add(err, "oldest_version", json_integer(table->oldest_version));
    return TARN_VERSION_EXPIRED;
}

static tarn_code before_adoption(const struct tarn_table *table, const char *field, struct tarn_err *err)
{
    tarn_fail_code_field(err, TARN_VERSION_NOT_FOUND, field,
                         "Tarn took the table over at version %lld and does not know what was before",
                         (long long)table->first_version);
    (void)tarn_err_add(err, "oldest_version", json_integer(table->oldest_version));
    return TARN_VERSION_NOT_FOUND;
}

/* Every version but the first has its row, unless a recovery found none of its traces. */
static tarn_code lost(int64_t version, struct tarn_err *err)
{
    return tarn_fail_code_field(err, TARN_VERSION_NOT_FOUND, "version",
                                "version %lld is lost: its log entry was missing when the table was recovered",
                                (long long)version);
}

/* From before what is kept. */
static tarn_code too_old(const struct tarn_table *table, const char *field, struct tarn_err *err)
{
    bool was_kept = table->oldest_version > table->first_version;

    return was_kept ? expired(table, field, "it", err) : before_adoption(table, field, err);
}

tarn_code tarn_snapshot_kept(const struct tarn_table *table, int64_t version, struct tarn_err *err)
{
    char what[48];

    if (version >= table->oldest_version)
        return TARN_OK;
    snprintf(what, sizeof what, "version %lld", (long long)version);
    return expired(table, "version", what, err);
}

/* --- the searches: each gives the version --- */

static tarn_code by_version(const struct tarn_table *table, const struct tarn_snapshot_ask *ask, int64_t *out,
                            struct tarn_err *err)
{
    if (ask->version > table->version || ask->version < 0) {
        tarn_fail_code_field(err, TARN_VERSION_NOT_FOUND, "version", "the table is at version %lld",
                             (long long)table->version);
        (void)tarn_err_add(err, "current_version", json_integer(table->version));
        return TARN_VERSION_NOT_FOUND;
    }
    if (ask->version < table->first_version)
        return before_adoption(table, "version", err);
    if (ask->version < table->oldest_version)
        return tarn_snapshot_kept(table, ask->version, err);
    *out = ask->version;
    return TARN_OK;
}

/* Not one of Tarn's own: the newest one of an adopted table is the version that was adopted. */
static tarn_code by_adopted(struct tarn_tx *tx, const struct tarn_table *table, const char *transaction,
                            const struct birth *birth, int64_t *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };

    if (table->latest_transaction && strcmp(transaction, table->latest_transaction) == 0) {
        *out = table->version;
        return TARN_OK;
    }
    if (birth->transaction && strcmp(transaction, birth->transaction) == 0) {
        *out = table->first_version;
        return TARN_OK;
    }
    tarn_code code = tx->ops->commits.adopted_by_transaction(tx, table->id, transaction, &row, err);
    return code == TARN_OK ? before_adoption(table, "transaction", err) : code;
}

static tarn_code by_transaction(struct tarn_tx *tx, const struct tarn_table *table,
                                const struct tarn_snapshot_ask *ask, const struct birth *birth, int64_t *out,
                                struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    TARN_ERR(none);
    tarn_code code = tx->ops->commits.by_transaction(tx, table->id, ask->transaction, &row, &none);

    if (code == TARN_TRANSACTION_NOT_FOUND)
        return by_adopted(tx, table, ask->transaction, birth, out, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &none);
    if (row.version < table->first_version)
        return before_adoption(table, "transaction", err);
    if (row.version < table->oldest_version)
        return expired(table, "transaction", "its version", err);
    *out = row.version;
    return TARN_OK;
}

/* committed_at never goes back, so the versions are searched by halves. */
static tarn_code newest_until(struct tarn_tx *tx, const struct tarn_table *table, int64_t instant,
                              int64_t *out, struct tarn_err *err)
{
    int64_t low = table->oldest_version, high = table->version;
    struct point point;

    *out = -1;
    while (low <= high) {
        int64_t middle = low + (high - low) / 2;
        tarn_code code = point_at(tx, table->id, middle, &point, err);
        if (code != TARN_OK)
            return code;
        bool is_there = point.found && point.version >= low;
        if (is_there && point.committed_at > instant) {
            high = point.version - 1;
            continue;
        }
        if (is_there)
            *out = point.version;
        low = middle + 1;
    }
    return TARN_OK;
}

static tarn_code by_instant(struct tarn_tx *tx, const struct tarn_table *table,
                            const struct tarn_snapshot_ask *ask, const struct birth *birth, int64_t *out,
                            struct tarn_err *err)
{
    int64_t version = -1;
    tarn_code code = newest_until(tx, table, ask->as_of, &version, err);

    if (code != TARN_OK)
        return code;
    bool is_first = table->oldest_version == 0 || (birth->is_kept && ask->as_of >= birth->at);
    if (version < 0 && !is_first)
        return too_old(table, "as_of", err);
    *out = version < 0 ? table->oldest_version : version;
    return TARN_OK;
}

static tarn_code find_version(struct tarn_tx *tx, const struct tarn_table *table,
                              const struct tarn_snapshot_ask *ask, const struct birth *birth, int64_t *out,
                              struct tarn_err *err)
{
    switch (ask->by) {
    case TARN_ASK_VERSION:
        return by_version(table, ask, out, err);
    case TARN_ASK_TRANSACTION:
        return by_transaction(tx, table, ask, birth, out, err);
    case TARN_ASK_AS_OF:
        return by_instant(tx, table, ask, birth, out, err);
    case TARN_ASK_NEWEST:
        break;
    }
    *out = table->version;
    return TARN_OK;
}

/* --- what is known of the version --- */

/* A version without a row, the first one. Its schema is the
 * newest one until the next commit, which tells it. */
static tarn_code describe_first(struct tarn_tx *tx, const struct tarn_table *table, const struct birth *birth,
                                struct tarn_snapshot *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row next = { 0 };
    bool is_newest = out->version == table->version, found = false;
    const char *transaction = is_newest ? table->latest_transaction : birth->transaction;
    tarn_code code = is_newest ? TARN_OK : read_row(tx, table->id, out->version + 1, &found, &next, err);

    if (code != TARN_OK)
        return code;
    out->committed_at = is_newest ? table->committed_at : birth->at;
    out->schema_version = is_newest ? table->schema_version : next.schema_version;
    return tarn_text_set(&out->transaction, transaction) ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code describe(struct tarn_tx *tx, const struct tarn_table *table, const struct birth *birth,
                          struct tarn_snapshot *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    bool found = false;
    tarn_code code = read_row(tx, table->id, out->version, &found, &row, err);

    if (code != TARN_OK)
        return code;
    if (!found && out->version != table->first_version)
        return lost(out->version, err);
    if (!found)
        return describe_first(tx, table, birth, out, err);
    out->committed_at = row.committed_at;
    out->schema_version = row.schema_version;
    out->transaction = tarn_take(&row.transaction);
    return TARN_OK;
}

tarn_code tarn_snapshot_find(struct tarn_tx *tx, const struct tarn_table *table,
                             const struct tarn_snapshot_ask *ask, struct tarn_snapshot *out,
                             struct tarn_err *err)
{
    __attribute__((cleanup(birth_done))) struct birth birth = { 0 };
    struct tarn_snapshot found = { 0 };
    tarn_code code = read_birth(tx, table, &birth, err);

    if (code == TARN_OK)
        code = find_version(tx, table, ask, &birth, &found.version, err);
    if (code == TARN_OK)
        code = describe(tx, table, &birth, &found, err);
    if (code != TARN_OK)
        return code;
    found.reads_schema = ask->by == TARN_ASK_NEWEST ? table->schema_version : found.schema_version;
    tarn_snapshot_done(out);
    *out = found;
    return TARN_OK;
}
