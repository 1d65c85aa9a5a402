/* status.c - what the status answers need: a table beside what its last scan saw, one or a list of them, and
 * for the list what is open. */
#include "catalog/sqlite/internal.h"
#include <string.h>

#define SELECT_ROW                                                                                           \
    "SELECT " TARN_SQLITE_TABLE_COLUMNS ", s.scanned, " TARN_SQLITE_SCAN_COLUMNS TARN_SQLITE_TABLE_FROM      \
    "LEFT JOIN scans s ON s.table_id = t.id "

enum { S_LOOK, S_LIVE, S_DROPPED, S_OPEN };
/* clang-format off */
const char *const tarn_sqlite_status_sql[] = {
    [S_LOOK] = SELECT_ROW "WHERE n.name = ?1 AND t.name = ?2 AND t.dropped_at IS NULL",
    [S_LIVE] = SELECT_ROW TARN_SQLITE_WALK_LIVE,
    [S_DROPPED] = SELECT_ROW TARN_SQLITE_WALK_DROPPED,
    [S_OPEN] =
        "SELECT " TARN_SQLITE_FINDING_COLUMNS " FROM findings f "
        "WHERE f.table_id = ?1 AND f.closed_at IS NULL AND f.accept_reason IS NULL "
        "AND (f.opened_at IS NOT NULL OR f.suppressed_by IS NOT NULL) "
        "ORDER BY f.code, f.subject",
    NULL
};
/* clang-format on */

/* The row a statement stands on, borrowed. */
static tarn_code read_row(sqlite3_stmt *st, struct tarn_table *table, struct tarn_scan_row *scan,
                          bool *scanned, struct tarn_err *err)
{
    *scanned = column_i64(st, TARN_SQLITE_TABLE_WIDTH) == 1;
    tarn_code code = tarn_sqlite_table_row(st, table, err);
    if (code == TARN_OK && *scanned)
        code = tarn_sqlite_scan_row(st, TARN_SQLITE_TABLE_WIDTH + 1, scan, err);
    return code;
}

static tarn_code look(struct tarn_tx *tx, const char *namespace_, const char *name, struct tarn_table **table,
                      struct tarn_scan_row *scan, bool *scanned, struct tarn_err *err)
{
    AUTO_STMT *st = stmt_of(tx, TARN_SQLITE_STATUS, S_LOOK);
    bind_text(st, 1, namespace_);
    bind_text(st, 2, name);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code == TARN_OK && !found)
        return tarn_sqlite_table_not_found(namespace_, name, err);
    struct tarn_table row;
    struct tarn_scan_row seen = { 0 };
    bool has = false;
    if (code == TARN_OK)
        code = read_row(st, &row, &seen, &has, err);
    TARN_AUTO(table) struct tarn_table *made = NULL;
    if (code == TARN_OK)
        code = tarn_sqlite_table_own(&row, &made, err);
    if (code == TARN_OK && has)
        code = tarn_sqlite_scan_own(&seen, err);
    if (code != TARN_OK)
        return code;
    if (has)
        *scan = seen;
    *scanned = has;
    *table = tarn_take(&made);
    return TARN_OK;
}

/* What is open of the table at hand. */
struct open {
    int64_t errors, warnings, infos;
    bool any, is_first;
    struct tarn_finding worst; /* owned; the first of the worst severity, or one that comes before all */
    bool (*comes_first)(const char *code); /* NULL: none does */
    struct tarn_open_code codes[TARN_OPEN_CODES_MAX];
    size_t code_count;
};

struct visit {
    tarn_status_fn *fn;
    void *ctx;
    struct open open; /* too large for a stack that is walked row by row */
};

/* Rows come by code. */
static struct tarn_open_code *code_of(struct open *open, const struct tarn_finding *row)
{
    for (size_t i = open->code_count; i-- > 0 && strcmp(open->codes[i].code, row->code) == 0;)
        if (open->codes[i].severity == row->severity)
            return &open->codes[i];
    if (open->code_count == TARN_OPEN_CODES_MAX)
        return NULL;
    struct tarn_open_code *fresh = &open->codes[open->code_count++];
    *fresh = (struct tarn_open_code){ .severity = row->severity };
    (void)snprintf(fresh->code, sizeof fresh->code, "%s", row->code);
    return fresh;
}

static void count_code(struct open *open, const struct tarn_finding *row)
{
    struct tarn_open_code *code = code_of(open, row);
    if (!code)
        return;
    code->count += row->opened_at >= 0;
    code->quiet += row->suppressed_by != NULL;
    code->heard += row->opened_at >= 0 && !row->suppressed_by;
}

static tarn_code note_finding(sqlite3_stmt *st, struct open *open, struct tarn_err *err)
{
    struct tarn_finding row;
    tarn_code code = tarn_sqlite_finding_row(st, &row, err);
    if (code != TARN_OK)
        return code;
    count_code(open, &row);
    if (row.opened_at < 0)
        return TARN_OK;
    open->errors += row.severity == TARN_SEV_ERROR;
    open->warnings += row.severity == TARN_SEV_WARNING;
    open->infos += row.severity == TARN_SEV_INFO;
    bool is_first = open->comes_first && open->comes_first(row.code);
    if (open->any && (open->is_first || (!is_first && row.severity <= open->worst.severity)))
        return TARN_OK;
    code = tarn_sqlite_finding_own(&row, err); /* the next step would take the texts away */
    if (code != TARN_OK)
        return code;
    tarn_finding_done(&open->worst);
    open->worst = row;
    open->any = true;
    open->is_first = is_first;
    return TARN_OK;
}

static tarn_code read_open(struct tarn_tx *tx, int64_t table_id, struct open *open, struct tarn_err *err)
{
    AUTO_STMT *st = stmt_of(tx, TARN_SQLITE_STATUS, S_OPEN);
    bind_i64(st, 1, table_id);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err))
        code = note_finding(st, open, err);
    return code;
}

static tarn_code visit_row(struct tarn_tx *tx, sqlite3_stmt *st, void *ctx, struct tarn_err *err)
{
    struct visit *visit = ctx;
    struct tarn_table table;
    struct tarn_scan_row scan;
    struct open *open = &visit->open;
    bool scanned = false;
    open->errors = open->warnings = open->infos = 0;
    open->any = open->is_first = false;
    open->code_count = 0;
    tarn_code code = read_row(st, &table, &scan, &scanned, err);
    if (code == TARN_OK)
        code = read_open(tx, table.id, open, err);
    if (code == TARN_OK) {
        struct tarn_status_row row = { .table = &table,
                                       .scan = scanned ? &scan : NULL,
                                       .open_errors = open->errors,
                                       .open_warnings = open->warnings,
                                       .open_infos = open->infos,
                                       .codes = open->codes,
                                       .code_count = open->code_count,
                                       .worst = open->any ? &open->worst : NULL };
        code = visit->fn(visit->ctx, &row, err);
    }
    tarn_finding_done(&open->worst);
    open->worst = (struct tarn_finding){ 0 };
    return code;
}

static tarn_code status(struct tarn_tx *tx, const struct tarn_table_filter *filter, tarn_status_fn *fn,
                        void *ctx, struct tarn_err *err)
{
    struct visit visit;
    visit.fn = fn;
    visit.ctx = ctx;
    visit.open.worst = (struct tarn_finding){ 0 };
    visit.open.comes_first = filter->comes_first;
    sqlite3_stmt *live = stmt_of(tx, TARN_SQLITE_STATUS, S_LIVE),
                 *dropped = stmt_of(tx, TARN_SQLITE_STATUS, S_DROPPED);
    return tarn_sqlite_walk(tx, filter, live, dropped, visit_row, &visit, err);
}

void tarn_sqlite_status_ops(struct tarn_store_ops *ops)
{
    ops->monitors.look = look;
    ops->monitors.status = status;
}
