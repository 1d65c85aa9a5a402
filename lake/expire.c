/* expire.c - which tables, and how far: oldest_version moves first, in one short transaction, so
 * that nobody reads what goes after it, and nobody who walks over the documents writes it again;
 * then the rows, and last the log (expire_log.c). A round that ends early is simply run again. */
#include "lake/expire.h"
#include "base/log.h"
#include "lake/expire_run.h"
#include "lake/inherit.h"
#include "lake/lease.h"
#include "lake/publish_run.h"
#include <string.h>

/* --- how far --- */

struct point {
    int64_t committed_at;
};

static tarn_code note_point(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    (void)err;
    ((struct point *)ctx)->committed_at = row->committed_at;
    return TARN_OK;
}

/* Was `version` still the newest at some time after `cutoff`? Until the next one was committed. */
static tarn_code is_recent(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t cutoff,
                           bool *recent, struct tarn_err *err)
{
    struct point point = { INT64_MAX };
    tarn_code code = tx->ops->commits.list(tx, table_id, version + 2, 1, note_point, &point, err);

    *recent = point.committed_at >= cutoff;
    return code;
}

/* The highest that oldest_version may become. */
static int64_t ceiling_of(const struct tarn_lake *lake, const struct tarn_table *table)
{
    int64_t versions = lake->history_versions > 1 ? lake->history_versions : 1;
    int64_t ceiling = table->version - versions + 1;

    if (table->publish && table->published_version < ceiling)
        ceiling = table->published_version;
    return ceiling;
}

/* What the table's namespaces say, else the server. */
static tarn_code find_retention(struct tarn_tx *tx, const struct tarn_lake *lake,
                                const struct tarn_table *table, int64_t *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_inherited_done))) struct tarn_inherited in = { 0 };
    tarn_code code = tarn_inherited_read(tx, table->namespace_, &in, err);

    *out = code == TARN_OK && in.history_retention_ms >= 0 ? in.history_retention_ms : lake->history_retention_ms;
    return code;
}

/* committed_at never goes back: the versions are searched by halves. */
static tarn_code find_oldest(struct tarn_tx *tx, const struct tarn_lake *lake, const struct tarn_table *table,
                             int64_t now_ms, int64_t *out, struct tarn_err *err)
{
    int64_t low = table->oldest_version, high = ceiling_of(lake, table), retention_ms = 0;
    tarn_code code = low < high ? find_retention(tx, lake, table, &retention_ms, err) : TARN_OK;

    while (low < high && code == TARN_OK) {
        int64_t middle = low + (high - low) / 2;
        bool recent = false;
        code = is_recent(tx, table->id, middle, now_ms - retention_ms, &recent, err);
        if (recent)
            high = middle;
        else
            low = middle + 1;
    }
    if (code == TARN_OK)
        *out = low;
    return code;
}

/* Is the table one whose history ends now? Not while a large
 * commit is under way, nor while it waits for a repair. */
static bool may_expire(const struct tarn_table *table)
{
    return table->mode == TARN_MANAGED && table->format == TARN_FORMAT_MANIFEST && table->dropped_at < 0 &&
           table->block == TARN_BLOCK_NONE && table->staging == 0;
}

static tarn_code note_row(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)file;
    (void)err;
    ((struct tarn_expiry *)ctx)->left = true;
    return TARN_OK;
}

/* What there is to do, mostly nothing. */
static tarn_code plan_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_expiry *x = ctx;
    const struct tarn_file_cursor start = { 0 };
    struct tarn_file_cursor at;

    tarn_table_free(x->table);
    x->table = NULL;
    x->left = false;
    tarn_code code = tx->ops->tables.get_by_id(tx, x->table_id, &x->table, err);
    if (code == TARN_OK)
        code = find_oldest(tx, x->lake, x->table, x->now_ms, &x->oldest, err);
    if (code == TARN_OK)
        code = tx->ops->files.removed_page(tx, x->table_id, x->oldest, INT64_MAX, &start, 1, note_row, x, &at,
                                           err);
    return code;
}

static tarn_code move_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_expiry *x = ctx;

    tarn_table_free(x->table);
    x->table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, x->table_id, &x->table, err);
    if (code != TARN_OK || !may_expire(x->table) || x->table->oldest_version >= x->oldest)
        return code;
    x->table->oldest_version = x->oldest;
    return tx->ops->tables.update(tx, x->table, err);
}

/* Never while a repair walks over the documents: it writes again what was to be kept when it began. */
static tarn_code move_in_turn(struct tarn_expiry *x, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_publish_turn_end))) struct tarn_publish_turn turn = { x->lake, x->table_id,
                                                                                      NULL };

    tarn_publish_turn_begin(&turn);
    return tarn_store_write(x->lake->store, move_tx, x, err);
}

/* --- the rows --- */

/* The table as it is now, for a step: a large commit that began meanwhile goes first. */
static tarn_code retire_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_expiry *x = ctx;
    TARN_AUTO(table) struct tarn_table *now = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, x->table_id, &now, err);

    x->left = false;
    if (code != TARN_OK || !may_expire(now))
        return code;
    tarn_pace_begin(&x->pace);
    int64_t rows = tarn_pace_rows(&x->pace);
    code = tx->ops->retired.retire(tx, x->table_id, now->oldest_version, rows, &x->left, err);
    if (x->left)
        tarn_pace_end(&x->pace, rows);
    return code;
}

static tarn_code retire_files(struct tarn_expiry *x, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (x->left = true; code == TARN_OK && x->left;) {
        code = tarn_lake_goes_on(x->lake, err);
        if (code == TARN_OK)
            code = tarn_store_write(x->lake->store, retire_tx, x, err);
        if (x->left)
            tarn_pace_rest(&x->pace);
    }
    return code;
}

static void expiry_done(struct tarn_expiry *x) { tarn_table_free(x->table); }

tarn_code tarn_expire_table(struct tarn_lake *lake, int64_t table_id, int64_t now_ms, struct tarn_err *err)
{
    __attribute__((cleanup(expiry_done))) struct tarn_expiry x = { .lake = lake,
                                                                   .table_id = table_id,
                                                                   .now_ms = now_ms };
    tarn_code code = tarn_store_read(lake->store, plan_tx, &x, err);

    if (code == TARN_OK && x.oldest > x.table->oldest_version)
        code = move_in_turn(&x, err);
    if (code != TARN_OK || !may_expire(x.table))
        return code;
    bool retires = x.left;
    if (retires)
        code = retire_files(&x, err);
    if (code == TARN_OK)
        code = tarn_expire_log(&x, err);
    return code == TARN_OK && retires ? tarn_expire_gone(&x, err) : code;
}

/* --- for who writes the log again --- */

struct begin { struct tarn_lake *lake; int64_t table_id, now_ms, out; };

static tarn_code begin_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct begin *b = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, b->table_id, &table, err);
    int64_t oldest = code == TARN_OK ? table->oldest_version : 0;

    if (code == TARN_OK && may_expire(table))
        code = find_oldest(tx, b->lake, table, b->now_ms, &oldest, err);
    if (code == TARN_OK)
        code = tarn_expire_begin(tx, table, oldest, &b->out, err);
    if (code == TARN_OK && b->out < table->log_from)
        b->out = table->log_from;
    return code;
}

/* Also what the next sweep takes: a catalog that was put back may remember what an earlier one ended. */
tarn_code tarn_expire_log_begin(struct tarn_lake *lake, int64_t table_id, int64_t now_ms, int64_t *begin,
                                struct tarn_err *err)
{
    struct begin b = { lake, table_id, now_ms, 0 };
    tarn_code code = tarn_store_read(lake->store, begin_tx, &b, err);

    *begin = b.out;
    return code;
}

/* --- all tables --- */

#define PAGE_TABLES 500

struct page {
    const struct tarn_lake *lake;
    char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1];
    int64_t rows, count;
    int64_t ids[PAGE_TABLES];
};

/* Cheap, and true of few: more versions than must be kept, or a log that an earlier round did not finish. */
static bool is_candidate(const struct tarn_lake *lake, const struct tarn_table *table)
{
    return may_expire(table) &&
           (table->oldest_version < ceiling_of(lake, table) || table->log_from < table->oldest_version);
}

static tarn_code note_table(void *ctx, const struct tarn_table *table, struct tarn_err *err)
{
    struct page *p = ctx;

    (void)err;
    p->rows++;
    snprintf(p->namespace_, sizeof p->namespace_, "%s", table->namespace_);
    snprintf(p->name, sizeof p->name, "%s", table->name);
    if (is_candidate(p->lake, table))
        p->ids[p->count++] = table->id;
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *p = ctx;
    char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1];
    struct tarn_table_filter filter = { .format = TARN_FORMAT_MANIFEST,
                                        .mode = TARN_MANAGED,
                                        .limit = PAGE_TABLES };

    memcpy(namespace_, p->namespace_, sizeof namespace_);
    memcpy(name, p->name, sizeof name);
    if (name[0]) {
        filter.after_namespace = namespace_;
        filter.after_name = name;
    }
    p->rows = p->count = 0;
    return tx->ops->tables.list(tx, &filter, note_table, p, err);
}

/* A table that cannot be tidied now does not keep the others from it. */
static void expire_one(struct tarn_lake *lake, int64_t table_id, int64_t now_ms)
{
    TARN_ERR(fault);

    if (tarn_expire_table(lake, table_id, now_ms, &fault) != TARN_OK && fault.code != TARN_TABLE_NOT_FOUND &&
        !atomic_load(&lake->stopping))
        tarn_log_err(TARN_LOG_WARN, "history_not_expired", &fault);
}

tarn_code tarn_expire_all(struct tarn_lake *lake, int64_t now_ms, bool (*is_over)(void *ctx), void *ctx,
                          struct tarn_err *err)
{
    struct page page = { .lake = lake, .rows = PAGE_TABLES };
    tarn_code code = TARN_OK;

    while (code == TARN_OK && page.rows == PAGE_TABLES) {
        code = tarn_store_read(lake->store, page_tx, &page, err);
        for (int64_t i = 0; code == TARN_OK && i < page.count; i++) {
            if (is_over && is_over(ctx))
                return TARN_OK;
            expire_one(lake, page.ids[i], now_ms);
        }
    }
    return code;
}
