/* findings.c - what is wrong with a table: the live findings, suspects too, and the closed ones for as long
 * as they may come back. */
#include "catalog/sqlite/internal.h"
#include <string.h>

enum { S_LIVE, S_GET, S_CLOSED, S_REOPENABLE, S_SPANS, S_PUT, S_DELETE, S_EXPIRE, S_ROOT };
/* clang-format off */
const char *const tarn_sqlite_findings_sql[] = {
    /* In the order of the index findings_live; the severity is sorted by afterwards. */
    [S_LIVE] =
        "SELECT " TARN_SQLITE_FINDING_COLUMNS " FROM findings f "
        "WHERE f.table_id = ?1 AND f.closed_at IS NULL ORDER BY f.code, f.subject",
    [S_GET] = "SELECT " TARN_SQLITE_FINDING_COLUMNS " FROM findings f WHERE f.id = ?1 AND f.table_id = ?2",
    [S_CLOSED] =
        "SELECT " TARN_SQLITE_FINDING_COLUMNS " FROM findings f "
        "WHERE f.table_id = ?1 AND f.closed_at IS NOT NULL AND f.closed_at <= ?2 AND (f.closed_at < ?2 OR f.id > ?3) "
        "ORDER BY f.closed_at DESC, f.id LIMIT ?4",
    [S_REOPENABLE] =
        "SELECT " TARN_SQLITE_FINDING_COLUMNS " FROM findings f "
        "WHERE f.table_id = ?1 AND f.closed_at >= ?4 AND f.code = ?2 AND f.subject = ?3 "
        "ORDER BY f.closed_at DESC LIMIT 1",
    [S_SPANS] =
        "SELECT f.since, f.closed_at FROM findings f WHERE f.table_id = ?1 AND f.closed_at >= ?3 AND f.code = ?2 "
        "AND f.opened_at IS NOT NULL ORDER BY f.closed_at DESC LIMIT ?4",
    [S_PUT] =
        "INSERT INTO findings (id, table_id, code, subject, message, severity, observed, expected, unit, "
        "cure, evidence, since, opened_at, closed_at, last_bad_at, bad_looks, good_looks, baseline, ack_by, "
        "ack_comment, ack_at, ack_until, accept_reason, accept_by, accept_at, suppressed_by, told_at, "
        "closed_reason) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, "
        "?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28) "
        "ON CONFLICT (id) DO UPDATE "
        "SET message = ?5, severity = ?6, observed = ?7, expected = ?8, unit = ?9, cure = ?10, evidence = "
        "?11, since = ?12, opened_at = ?13, closed_at = ?14, last_bad_at = ?15, bad_looks = ?16, "
        "good_looks = ?17, baseline = ?18, ack_by = ?19, ack_comment = ?20, ack_at = ?21, ack_until = ?22, "
        "accept_reason = ?23, accept_by = ?24, accept_at = ?25, suppressed_by = ?26, told_at = ?27, "
        "closed_reason = ?28",
    [S_DELETE] = "DELETE FROM findings WHERE id = ?1 RETURNING table_id",
    [S_EXPIRE] =
        "DELETE FROM findings WHERE id IN (SELECT id FROM findings WHERE closed_at < ?1 AND closed_at IS NOT NULL "
        "ORDER BY closed_at LIMIT ?2)",
    /* By the index findings_root. */
    [S_ROOT] =
        "SELECT 1 FROM findings f JOIN tables t ON t.id = f.table_id WHERE f.code = 'storage_unreachable' AND "
        "f.closed_at IS NULL AND f.told_at IS NOT NULL AND f.subject = ?1 AND f.table_id <> ?2 AND "
        "f.suppressed_by IS NULL AND t.dropped_at IS NULL LIMIT 1",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_FINDINGS, which); }

/* Room for one more, doubling. */
static tarn_code grow(struct tarn_findings *list, size_t *cap, struct tarn_err *err)
{
    if (list->count < *cap)
        return TARN_OK;
    size_t want = *cap ? *cap * 2 : 4;
    struct tarn_finding *items = realloc(list->items, want * sizeof *items);
    if (!items)
        return tarn_fail_oom(err);
    list->items = items;
    *cap = want;
    return TARN_OK;
}

static int worst_first(const void *a, const void *b)
{
    const struct tarn_finding *x = a, *y = b;
    if (x->severity != y->severity)
        return x->severity > y->severity ? -1 : 1;
    int by_code = strcmp(x->code, y->code);
    return by_code != 0 ? by_code : strcmp(x->subject, y->subject);
}

/* Every row that the statement gives, owned. */
static tarn_code collect(struct tarn_tx *tx, sqlite3_stmt *st, struct tarn_findings *out,
                         struct tarn_err *err)
{
    TARN_AUTO_DONE(findings) struct tarn_findings list = { 0 };
    size_t cap = 0;
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        struct tarn_finding row;
        code = grow(&list, &cap, err);
        if (code == TARN_OK)
            code = tarn_sqlite_finding_row(st, &row, err);
        if (code == TARN_OK)
            code = tarn_sqlite_finding_own(&row, err);
        if (code == TARN_OK)
            list.items[list.count++] = row;
    }
    if (code != TARN_OK)
        return code;
    *out = list;
    list = (struct tarn_findings){ 0 };
    return TARN_OK;
}

static tarn_code findings(struct tarn_tx *tx, int64_t table_id, struct tarn_findings *out,
                          struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_LIVE);
    bind_i64(st, 1, table_id);
    tarn_code code = collect(tx, st, out, err);
    if (code == TARN_OK && out->count > 1)
        qsort(out->items, out->count, sizeof *out->items, worst_first);
    return code;
}

static tarn_code closed(struct tarn_tx *tx, int64_t table_id, int64_t before, const char *after_id,
                        int64_t limit, struct tarn_findings *out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_CLOSED);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, before);
    bind_text(st, 3, after_id);
    bind_i64(st, 4, limit);
    return collect(tx, st, out, err);
}

static tarn_code spans(struct tarn_tx *tx, int64_t table_id, const char *code_text, int64_t since,
                       size_t limit, struct tarn_span *out, size_t *count, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_SPANS);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, code_text);
    bind_i64(st, 3, since);
    bind_i64(st, 4, (int64_t)limit);
    tarn_code code = TARN_OK;
    for (*count = 0; tarn_sqlite_each(tx, st, &code, err); (*count)++)
        out[*count] = (struct tarn_span){ column_i64(st, 0), column_i64(st, 1) };
    return code;
}

/* The one row of the statement, owned. */
static tarn_code one(struct tarn_tx *tx, sqlite3_stmt *st, struct tarn_finding *out, struct tarn_err *err)
{
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK)
        return code;
    if (!found)
        return tarn_fail(err, TARN_NOT_FOUND, "there is no such finding");
    struct tarn_finding row;
    code = tarn_sqlite_finding_row(st, &row, err);
    if (code == TARN_OK)
        code = tarn_sqlite_finding_own(&row, err);
    if (code == TARN_OK)
        *out = row;
    return code;
}

static tarn_code get_finding(struct tarn_tx *tx, int64_t table_id, const char *id, struct tarn_finding *out,
                             struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_text(st, 1, id);
    bind_i64(st, 2, table_id);
    return one(tx, st, out, err);
}

static tarn_code reopenable(struct tarn_tx *tx, int64_t table_id, const char *code_, const char *subject,
                            int64_t since, struct tarn_finding *out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_REOPENABLE);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, code_);
    bind_text(st, 3, subject);
    bind_i64(st, 4, since);
    return one(tx, st, out, err);
}

/* What people and windows say, from column 19 on. */
static void bind_said(sqlite3_stmt *st, const struct tarn_finding *f)
{
    bool has_ack = f->ack.by != NULL, is_accepted = f->accept.reason != NULL;
    bind_text(st, 19, f->ack.by);
    bind_text(st, 20, has_ack ? f->ack.comment : NULL);
    bind_opt(st, 21, has_ack ? f->ack.at : -1);
    bind_opt(st, 22, has_ack ? f->ack.until : -1);
    bind_text(st, 23, f->accept.reason);
    bind_text(st, 24, is_accepted ? f->accept.by : NULL);
    bind_opt(st, 25, is_accepted ? f->accept.at : -1);
    bind_text(st, 26, f->suppressed_by);
    bind_opt(st, 27, f->told_at > 0 ? f->told_at : -1);
    bind_text(st, 28, f->closed_reason);
}

static tarn_code put_finding(struct tarn_tx *tx, const struct tarn_finding *f, struct tarn_err *err)
{
    tarn_changes_note(tx->store, f->table_id);
    AUTO_STMT *st = stmt(tx, S_PUT);
    bind_text(st, 1, f->id);
    bind_i64(st, 2, f->table_id);
    bind_text(st, 3, f->code);
    bind_text(st, 4, f->subject);
    bind_text(st, 5, f->message);
    bind_text(st, 6, tarn_severity_text(f->severity));
    bind_text(st, 7, f->observed);
    bind_text(st, 8, f->expected);
    bind_text(st, 9, f->unit);
    bind_text(st, 10, f->cure);
    bind_text(st, 11, f->evidence);
    bind_i64(st, 12, f->since);
    bind_opt(st, 13, f->opened_at);
    bind_opt(st, 14, f->closed_at);
    bind_i64(st, 15, f->last_bad_at);
    bind_i64(st, 16, f->bad_looks);
    bind_i64(st, 17, f->good_looks);
    bind_i64(st, 18, f->baseline);
    bind_said(st, f);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code delete_finding(struct tarn_tx *tx, const char *id, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_DELETE);
    bind_text(st, 1, id);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code == TARN_OK && found)
        tarn_changes_note(tx->store, column_i64(st, 0));
    return code;
}

static tarn_code root_told(struct tarn_tx *tx, const char *root, int64_t table_id, bool *told,
                           struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_ROOT);
    bind_text(st, 1, root);
    bind_i64(st, 2, table_id);
    return tarn_sqlite_next(tx, st, told, err);
}

static tarn_code expire_findings(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left,
                                 struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_EXPIRE);
    return tarn_sqlite_expire(tx, st, before, limit, left, err);
}

void tarn_sqlite_findings_ops(struct tarn_store_ops *ops)
{
    ops->monitors.get_finding = get_finding;
    ops->monitors.root_told = root_told;
    ops->monitors.expire_findings = expire_findings;
    ops->monitors.findings = findings;
    ops->monitors.closed = closed;
    ops->monitors.spans = spans;
    ops->monitors.reopenable = reopenable;
    ops->monitors.put_finding = put_finding;
    ops->monitors.delete_finding = delete_finding;
}
