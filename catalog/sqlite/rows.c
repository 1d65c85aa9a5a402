/* rows.c - what every operation does with a statement: step it, tell what SQLite's answer means, and
 * turn its columns into the rows of catalog/types.h. */
#include "catalog/sqlite/internal.h"
#include <stddef.h>
#include <string.h>

/* The only constraints that a caller can break by what it asks for. Every other one guards against our own
 * faults. SQLite names a constraint by its columns. */
static const struct {
    const char *text;
    tarn_code code;
    const char *detail;
} k_constraints[] = {
    { "UNIQUE constraint failed: tables.namespace_id, tables.name", TARN_TABLE_EXISTS,
      "a table of that name exists" },
    { "UNIQUE constraint failed: files.table_id, files.path", TARN_FILE_CONFLICT,
      "the file is already in the table" },
    { "UNIQUE constraint failed: files.table_id, files.added_version, files.path", TARN_FILE_CONFLICT,
      "the file is added twice" },
    { "UNIQUE constraint failed: commits.table_id, commits.transaction", TARN_TRANSACTION_EXISTS,
      "the transaction id is taken" },
    { "UNIQUE constraint failed: tokens.name", TARN_INVALID, "a token of that name exists; a revoked one keeps its name" },
};

static tarn_code constraint_fail(struct tarn_sqlite_conn *conn, int rc, struct tarn_err *err)
{
    const char *text = sqlite3_errmsg(conn->db);
    for (size_t i = 0; i < TARN_COUNT(k_constraints); i++) {
        if (strcmp(text, k_constraints[i].text) == 0)
            return tarn_fail(err, k_constraints[i].code, "%s", k_constraints[i].detail);
    }
    return tarn_fail(err, TARN_INTERNAL, "a rule of the database was broken (sqlite %d)", rc);
}

/* `sick`: the connection is opened again before anything else is believed. */
static const struct {
    int rc;
    bool sick;
    const char *text;
} k_broken[] = {
    { SQLITE_IOERR, true, "the database cannot be read or written" },
    { SQLITE_CORRUPT, true, "the database is damaged" },
    { SQLITE_NOTADB, true, "the file is no database, or a damaged one" },
    { SQLITE_CANTOPEN, true, "the database cannot be opened" },
    { SQLITE_READONLY, false, "the database or its folder cannot be written" },
    { SQLITE_PERM, false, "the database cannot be accessed" },
};

static tarn_code broken(struct tarn_sqlite_conn *conn, int rc, struct tarn_err *err)
{
    const char *text = "the database failed";
    for (size_t i = 0; i < TARN_COUNT(k_broken); i++) {
        if (k_broken[i].rc != (rc & 0xff))
            continue;
        text = k_broken[i].text;
        conn->sick |= k_broken[i].sick;
    }
    return tarn_fail(err, TARN_INTERNAL, "%s (sqlite %d)", text, rc);
}

tarn_code tarn_sqlite_fail(struct tarn_sqlite_conn *conn, int rc, struct tarn_err *err)
{
    switch (rc & 0xff) {
    case SQLITE_CONSTRAINT:
        return constraint_fail(conn, rc, err);
    case SQLITE_FULL:
        return tarn_fail(err, TARN_INSUFFICIENT_STORAGE, "no space is left for the database (sqlite %d)", rc);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return tarn_fail(err, TARN_OVERLOADED, "another process holds the database (sqlite %d)", rc);
    case SQLITE_NOMEM:
        return tarn_fail_oom(err);
    default:
        return broken(conn, rc, err);
    }
}

static int step(struct tarn_tx *tx, sqlite3_stmt *stmt)
{
    return stmt ? sqlite3_step(stmt) : tarn_sqlite_conn_of(tx)->unready;
}

tarn_code tarn_sqlite_next(struct tarn_tx *tx, sqlite3_stmt *stmt, bool *row, struct tarn_err *err)
{
    int rc = step(tx, stmt);
    *row = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? TARN_OK
                                                 : tarn_sqlite_fail(tarn_sqlite_conn_of(tx), rc, err);
}

bool tarn_sqlite_each(struct tarn_tx *tx, sqlite3_stmt *stmt, tarn_code *code, struct tarn_err *err)
{
    bool row = false;
    if (*code == TARN_OK)
        *code = tarn_sqlite_next(tx, stmt, &row, err);
    return *code == TARN_OK && row;
}

tarn_code tarn_sqlite_run(struct tarn_tx *tx, sqlite3_stmt *stmt, struct tarn_err *err)
{
    int rc = step(tx, stmt);
    while (rc == SQLITE_ROW)
        rc = step(tx, stmt);
    return rc == SQLITE_DONE ? TARN_OK : tarn_sqlite_fail(tarn_sqlite_conn_of(tx), rc, err);
}

tarn_code tarn_sqlite_expire(struct tarn_tx *tx, sqlite3_stmt *stmt, int64_t before, int64_t limit,
                             bool *left, struct tarn_err *err)
{
    bind_i64(stmt, 1, before);
    bind_i64(stmt, 2, limit);
    tarn_code code = tarn_sqlite_run(tx, stmt, err);
    if (code == TARN_OK)
        *left = tarn_sqlite_changed(tx) == limit;
    return code;
}

tarn_code tarn_sqlite_ids(struct tarn_tx *tx, sqlite3_stmt *stmt, int64_t *ids, int64_t *count,
                          struct tarn_err *err)
{
    tarn_code code = TARN_OK;
    int64_t n = 0;
    while (tarn_sqlite_each(tx, stmt, &code, err))
        ids[n++] = column_i64(stmt, 0);
    if (code == TARN_OK)
        *count = n;
    return code;
}

int tarn_sqlite_changed(struct tarn_tx *tx) { return sqlite3_changes(tarn_sqlite_conn_of(tx)->db); }

tarn_code tarn_sqlite_own(void *row, const size_t *offsets, size_t count, struct tarn_err *err)
{
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        char **text = (char **)((char *)row + offsets[i]);
        char *copy = *text && !failed ? strdup(*text) : NULL;
        failed = failed || (*text && !copy);
        *text = copy;
    }
    if (!failed)
        return TARN_OK;
    for (size_t i = 0; i < count; i++) {
        char **text = (char **)((char *)row + offsets[i]);
        free(*text);
        *text = NULL;
    }
    return tarn_fail_oom(err);
}

static tarn_code unknown_word(struct tarn_err *err)
{
    return tarn_fail(err, TARN_INTERNAL, "the database holds a word that this version does not know");
}

tarn_code tarn_sqlite_depth(sqlite3_stmt *st, int at, enum tarn_enforcement *enforcement,
                            bool *enforcement_given, enum tarn_verify *verify, bool *verify_given,
                            struct tarn_err *err)
{
    const char *hold = column_text(st, at), *depth = column_text(st, at + 1);
    *enforcement_given = hold != NULL;
    *verify_given = depth != NULL;
    *enforcement = TARN_ENFORCE_OFF;
    *verify = TARN_VERIFY_OFF;
    bool known =
        (!hold || tarn_enforcement_parse(hold, enforcement)) && (!depth || tarn_verify_parse(depth, verify));
    return known ? TARN_OK : unknown_word(err);
}

/* The order is that of TARN_SQLITE_TABLE_COLUMNS. */
tarn_code tarn_sqlite_table_row(sqlite3_stmt *st, struct tarn_table *out, struct tarn_err *err)
{
    struct tarn_table t = {
        .id = column_i64(st, 0),
        .namespace_ = column_text(st, 2),
        .name = column_text(st, 3),
        .location = column_text(st, 6),
        .metadata_location = column_text(st, 7),
        .version = column_i64(st, 8),
        .published_version = column_i64(st, 9),
        .oldest_version = column_i64(st, 10),
        .latest_transaction = column_text(st, 11),
        .schema_version = column_i64(st, 12),
        .file_count = column_i64(st, 13),
        .total_bytes = column_i64(st, 14),
        .partition_keys = column_text(st, 15),
        .properties = column_text(st, 16),
        .owner = column_text(st, 17),
        .monitors = column_text(st, 18),
        .publish = column_i64(st, 21) != 0,
        .protected_ = column_i64(st, 22) != 0,
        .created_at = column_i64(st, 24),
        .committed_at = column_i64(st, 25),
        .revision = column_i64(st, 26),
        .dropped_at = column_opt(st, 27),
        .first_version = column_i64(st, 28),
        .staging = column_i64(st, 29),
        .log_from = column_i64(st, 30),
        .block_document = column_text(st, 31),
    };
    column_fixed(st, 1, t.uuid, sizeof t.uuid);
    const char *block = column_text(st, 23);
    if (!tarn_format_parse(column_text(st, 4), &t.format) || !tarn_mode_parse(column_text(st, 5), &t.mode) ||
        (block && !tarn_block_parse(block, &t.block)))
        return unknown_word(err);
    *out = t;
    return tarn_sqlite_depth(st, 19, &out->enforcement, &out->enforcement_given, &out->verify,
                             &out->verify_given, err);
}

tarn_code tarn_sqlite_table_own(const struct tarn_table *row, struct tarn_table **out, struct tarn_err *err)
{
    static const size_t k_texts[] = {
        offsetof(struct tarn_table, namespace_),         offsetof(struct tarn_table, name),
        offsetof(struct tarn_table, location),           offsetof(struct tarn_table, metadata_location),
        offsetof(struct tarn_table, latest_transaction), offsetof(struct tarn_table, partition_keys),
        offsetof(struct tarn_table, properties),         offsetof(struct tarn_table, owner),
        offsetof(struct tarn_table, monitors),           offsetof(struct tarn_table, block_document),
    };
    struct tarn_table *made = malloc(sizeof *made);
    if (!made)
        return tarn_fail_oom(err);
    *made = *row;
    TARN_AUTO(table) struct tarn_table *table = made;
    tarn_code code = tarn_sqlite_own(table, k_texts, TARN_COUNT(k_texts), err);
    if (code == TARN_OK)
        *out = tarn_take(&table);
    return code;
}

/* The order is that of TARN_SQLITE_SCAN_COLUMNS. */
tarn_code tarn_sqlite_scan_row(sqlite3_stmt *st, int at, struct tarn_scan_row *out, struct tarn_err *err)
{
    struct tarn_scan_row s = {
        .table_id = column_i64(st, at),
        .checked_at = column_opt(st, at + 1),
        .checked_version = column_i64(st, at + 2),
        .next_probe_at = column_i64(st, at + 3),
        .next_sweep_at = column_i64(st, at + 4),
        .failures = column_i64(st, at + 5),
        .first_failed_at = column_opt(st, at + 6),
        .version = column_opt(st, at + 7),
        .latest_transaction = column_text(st, at + 8),
        .last_updated = column_opt(st, at + 9),
        .file_count = column_opt(st, at + 10),
        .total_bytes = column_opt(st, at + 11),
        .schema_version = column_opt(st, at + 12),
        .partition_keys = column_text(st, at + 13),
        .has_manifest_age = sqlite3_column_type(st, at + 14) != SQLITE_NULL,
        .manifest_age_ms = column_i64(st, at + 14),
        .last_data_commit = column_opt(st, at + 15),
        .details = column_text(st, at + 16),
        .judged = column_i64(st, at + 18) != 0,
        .verdict_since = column_i64(st, at + 19),
        .duration_ms = column_opt(st, at + 20),
        .failures_total = column_i64(st, at + 21),
        .last_run = column_opt(st, at + 22),
        .top_version = column_opt(st, at + 23),
        .top_transaction = column_text(st, at + 24),
        .flapping = column_i64(st, at + 25),
        .top_uuid = column_text(st, at + 26),
        .top_files = column_opt(st, at + 27),
    };
    if (!tarn_severity_parse(column_text(st, at + 17), &s.verdict))
        return unknown_word(err);
    *out = s;
    return TARN_OK;
}

tarn_code tarn_sqlite_scan_own(struct tarn_scan_row *row, struct tarn_err *err)
{
    static const size_t k_texts[] = { offsetof(struct tarn_scan_row, latest_transaction),
                                      offsetof(struct tarn_scan_row, partition_keys),
                                      offsetof(struct tarn_scan_row, top_transaction),
                                      offsetof(struct tarn_scan_row, top_uuid),
                                      offsetof(struct tarn_scan_row, details) };
    return tarn_sqlite_own(row, k_texts, TARN_COUNT(k_texts), err);
}

/* The order is that of TARN_SQLITE_FINDING_COLUMNS. */
tarn_code tarn_sqlite_finding_row(sqlite3_stmt *st, struct tarn_finding *out, struct tarn_err *err)
{
    struct tarn_finding f = {
        .table_id = column_i64(st, 1),
        .code = column_text(st, 2),
        .subject = column_text(st, 3),
        .message = column_text(st, 4),
        .observed = column_text(st, 6),
        .expected = column_text(st, 7),
        .unit = column_text(st, 8),
        .cure = column_text(st, 9),
        .evidence = column_text(st, 10),
        .since = column_i64(st, 11),
        .opened_at = column_opt(st, 12),
        .closed_at = column_opt(st, 13),
        .last_bad_at = column_i64(st, 14),
        .bad_looks = (int)column_i64(st, 15),
        .good_looks = (int)column_i64(st, 16),
        .baseline = column_i64(st, 17) != 0,
        .ack = { column_text(st, 18), column_text(st, 19), column_i64(st, 20), column_opt(st, 21) },
        .accept = { column_text(st, 22), column_text(st, 23), column_i64(st, 24) },
        .suppressed_by = column_text(st, 25),
        .told_at = column_i64(st, 26),
        .closed_reason = column_text(st, 27),
    };
    column_fixed(st, 0, f.id, sizeof f.id);
    if (!tarn_severity_parse(column_text(st, 5), &f.severity))
        return unknown_word(err);
    *out = f;
    return TARN_OK;
}

tarn_code tarn_sqlite_finding_own(struct tarn_finding *row, struct tarn_err *err)
{
    static const size_t k_texts[] = {
        offsetof(struct tarn_finding, code),     offsetof(struct tarn_finding, subject),
        offsetof(struct tarn_finding, message),  offsetof(struct tarn_finding, observed),
        offsetof(struct tarn_finding, expected), offsetof(struct tarn_finding, unit),
        offsetof(struct tarn_finding, cure),     offsetof(struct tarn_finding, evidence),
        offsetof(struct tarn_finding, ack.by),   offsetof(struct tarn_finding, ack.comment),
        offsetof(struct tarn_finding, accept.reason), offsetof(struct tarn_finding, accept.by),
        offsetof(struct tarn_finding, suppressed_by), offsetof(struct tarn_finding, closed_reason),
    };
    return tarn_sqlite_own(row, k_texts, TARN_COUNT(k_texts), err);
}
