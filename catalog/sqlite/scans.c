/* scans.c - what the last scan of a table saw, and when the next one is due. The row comes into being with
 * the table (tables.c) and goes with it, so that being due never depends on having been scanned. */
#include "catalog/sqlite/internal.h"

enum { S_DUE, S_GET, S_PUT, S_HURRY };
/* clang-format off */
const char *const tarn_sqlite_scans_sql[] = {
    [S_DUE] = "SELECT table_id, next_probe_at FROM scans WHERE parked = 0 ORDER BY next_probe_at LIMIT ?1",
    [S_GET] = "SELECT " TARN_SQLITE_SCAN_COLUMNS " FROM scans s WHERE s.table_id = ?1 AND s.scanned = 1",
    [S_PUT] =
        "UPDATE scans "
        "SET scanned = 1, checked_at = ?2, checked_version = ?3, next_probe_at = ?4, next_sweep_at = ?5, "
        "failures = ?6, first_failed_at = ?7, version = ?8, latest_transaction = ?9, last_updated = ?10, "
        "file_count = ?11, total_bytes = ?12, schema_version = ?13, partition_keys = ?14, manifest_age_ms "
        "= ?15, last_data_commit = ?16, details = ?17, verdict = ?18, judged = ?19, verdict_since = ?20, "
        "duration_ms = ?21, failures_total = ?22, "
        "last_run = ?23, top_version = ?24, top_transaction = ?25, flapping = ?26, "
        "top_uuid = ?27, top_files = ?28 "
        "WHERE table_id = ?1",
    [S_HURRY] = "UPDATE scans SET next_probe_at = 0 WHERE table_id = ?1",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_SCANS, which); }

/* One more than wanted is read: the first that is not given out tells when to look again. */
static tarn_code due(struct tarn_tx *tx, int64_t now_ms, int64_t limit, int64_t *ids, int64_t *count,
                     int64_t *next_due, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_DUE);
    bind_i64(st, 1, limit + 1);
    int64_t n = 0, next = INT64_MAX;
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        next = column_i64(st, 1);
        if (next > now_ms || n == limit)
            break;
        ids[n++] = column_i64(st, 0);
        next = INT64_MAX;
    }
    if (code != TARN_OK)
        return code;
    *count = n;
    *next_due = next;
    return TARN_OK;
}

static tarn_code get(struct tarn_tx *tx, int64_t table_id, struct tarn_scan_row *out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_i64(st, 1, table_id);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK)
        return code;
    if (!found)
        return tarn_fail(err, TARN_NOT_FOUND, "the table was not scanned yet");
    struct tarn_scan_row row;
    code = tarn_sqlite_scan_row(st, 0, &row, err);
    if (code == TARN_OK)
        code = tarn_sqlite_scan_own(&row, err);
    if (code == TARN_OK)
        *out = row;
    return code;
}

/* A table that went meanwhile has no row any more, and nothing to note. */
static tarn_code put(struct tarn_tx *tx, const struct tarn_scan_row *row, struct tarn_err *err)
{
    tarn_changes_note(tx->store, row->table_id);
    AUTO_STMT *st = stmt(tx, S_PUT);
    bind_i64(st, 1, row->table_id);
    bind_opt(st, 2, row->checked_at);
    bind_i64(st, 3, row->checked_version);
    bind_i64(st, 4, row->next_probe_at);
    bind_i64(st, 5, row->next_sweep_at);
    bind_i64(st, 6, row->failures);
    bind_opt(st, 7, row->first_failed_at);
    bind_opt(st, 8, row->version);
    bind_text(st, 9, row->latest_transaction);
    bind_opt(st, 10, row->last_updated);
    bind_opt(st, 11, row->file_count);
    bind_opt(st, 12, row->total_bytes);
    bind_opt(st, 13, row->schema_version);
    bind_text(st, 14, row->partition_keys);
    if (row->has_manifest_age)
        bind_i64(st, 15, row->manifest_age_ms);
    else
        bind_text(st, 15, NULL);
    bind_opt(st, 16, row->last_data_commit);
    bind_text(st, 17, row->details ? row->details : "{}");
    bind_text(st, 18, tarn_severity_text(row->verdict));
    bind_i64(st, 19, row->judged);
    bind_i64(st, 20, row->verdict_since);
    bind_opt(st, 21, row->duration_ms);
    bind_i64(st, 22, row->failures_total);
    bind_opt(st, 23, row->last_run);
    bind_opt(st, 24, row->top_version);
    bind_text(st, 25, row->top_transaction);
    bind_i64(st, 26, row->flapping);
    bind_text(st, 27, row->top_uuid);
    bind_opt(st, 28, row->top_files);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code hurry(struct tarn_tx *tx, int64_t table_id, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_HURRY);
    bind_i64(st, 1, table_id);
    return tarn_sqlite_run(tx, st, err);
}

void tarn_sqlite_scans_ops(struct tarn_store_ops *ops)
{
    ops->monitors.due = due;
    ops->monitors.get = get;
    ops->monitors.put = put;
    ops->monitors.hurry = hurry;
}
