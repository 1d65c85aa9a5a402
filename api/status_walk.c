/* status_walk.c - see status_walk.h. */
#include "api/status_walk.h"
#include "monitors/monitors.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS_A_READ = 500 };

static tarn_code move_to(struct tarn_status_walk *walk, const struct tarn_table *table, struct tarn_err *err)
{
    char *namespace_ = strdup(table->namespace_), *name = strdup(table->name);

    if (!namespace_ || !name) {
        free(namespace_);
        free(name);
        return tarn_fail_oom(err);
    }
    free(walk->after_namespace);
    free(walk->after);
    walk->after_namespace = namespace_;
    walk->after = name;
    walk->after_id = table->id;
    return TARN_OK;
}

static tarn_code show(struct tarn_status_walk *walk, const struct tarn_status_row *row, struct tarn_err *err)
{
    struct tarn_table table = *row->table; /* borrowed texts */
    struct tarn_status_row shown = *row;
    TARN_AUTO(mem) char *monitors = NULL;

    tarn_code code = tarn_inherited_read(walk->tx, table.namespace_, &walk->inherited, err);
    if (code == TARN_OK)
        code = tarn_inherit_monitors(&walk->inherited, table.monitors, &monitors, err);
    if (code != TARN_OK)
        return code;
    tarn_inherit_borrowed(&walk->inherited, &table);
    if (monitors)
        table.monitors = monitors;
    shown.table = &table;
    return walk->fn(walk->ctx, &shown, err);
}

static tarn_code visit(void *ctx, const struct tarn_status_row *row, struct tarn_err *err)
{
    struct tarn_status_walk *walk = ctx;
    tarn_code code = TARN_OK;

    walk->visited++;
    if (walk->is_full)
        return TARN_OK;
    if (tarn_principal_sees(&walk->who, row->table->namespace_, row->table->name))
        code = show(walk, row, err);
    return code == TARN_OK && !walk->is_full ? move_to(walk, row->table, err) : code;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_status_walk *walk = ctx;
    struct tarn_table_filter filter = walk->filter;
    TARN_AUTO(mem) char *namespace_ = walk->after_namespace ? strdup(walk->after_namespace) : NULL;
    TARN_AUTO(mem) char *name = walk->after ? strdup(walk->after) : NULL;

    if ((walk->after_namespace && !namespace_) || (walk->after && !name))
        return tarn_fail_oom(err);
    filter.after_namespace = namespace_; /* the position moves while the filter is in use */
    filter.after_name = name;
    filter.after_id = walk->after_id;
    filter.limit = ROWS_A_READ;
    filter.comes_first = tarn_code_is_unjudged; /* why a table is unknown, not what was wrong with it before */
    walk->visited = 0;
    walk->tx = tx;
    tarn_inherited_done(&walk->inherited); /* it may have changed since the page before */
    return tx->ops->monitors.status(tx, &filter, visit, walk, err);
}

tarn_code tarn_status_walk_page(struct tarn_status_walk *walk, bool *end, struct tarn_err *err)
{
    tarn_code code = tarn_store_read(walk->store, page_tx, walk, err);

    if (code == TARN_OK)
        *end = walk->is_full || walk->visited < ROWS_A_READ;
    return code;
}

void tarn_status_walk_done(struct tarn_status_walk *walk)
{
    tarn_inherited_done(&walk->inherited);
    free(walk->after_namespace);
    free(walk->after);
    walk->after_namespace = walk->after = NULL;
}
