/* copy.c - tables first, some at a time, and last the id: cut short it is done again from the start. */
#include "lake/copy.h"
#include "base/hash.h"
#include <stdio.h>
#include <string.h>

#define META_COPY "restored_copy" /* the id that the database gave itself as a copy */
enum { TABLES_A_TX = 500 };

struct copy {
    struct tarn_lake *lake;
    bool is_one;    /* already */
    bool dropped;   /* the dropped tables */
    char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1]; /* where the walk has come to */
    int64_t after_id;
    int64_t ids[TABLES_A_TX];
    size_t count;
    struct {
        char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1];
        int64_t id;
    } last;
    char id[TARN_UUID_TEXT];
};

static tarn_code get_text(struct tarn_tx *tx, const char *key, char out[64], struct tarn_err *err)
{
    TARN_AUTO(mem) char *text = NULL;
    TARN_ERR(unset);
    tarn_code code = tx->ops->meta.get(tx, key, &text, &unset);

    snprintf(out, 64, "%s", code == TARN_OK ? text : "");
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &unset);
}

/* A backup of a copy, put in place somewhere, is a copy of its own. */
static tarn_code is_one_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct copy *c = ctx;
    char copy[64] = "", backup[64] = "";
    tarn_code code = get_text(tx, META_COPY, copy, err);

    if (code == TARN_OK)
        code = get_text(tx, TARN_META_BACKUP, backup, err);
    c->is_one = code == TARN_OK && !backup[0] && strcmp(copy, c->lake->catalog_id) == 0;
    return code;
}

static tarn_code note_table(void *ctx, const struct tarn_table *table, struct tarn_err *err)
{
    struct copy *c = ctx;

    (void)err;
    c->ids[c->count++] = table->id;
    snprintf(c->last.namespace_, sizeof c->last.namespace_, "%s", table->namespace_);
    snprintf(c->last.name, sizeof c->last.name, "%s", table->name);
    c->last.id = table->id;
    return TARN_OK;
}

static tarn_code hide_one(struct tarn_tx *tx, int64_t id, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, id, &table, err);

    if (code != TARN_OK || !table->publish)
        return code;
    table->publish = false;
    return tx->ops->tables.update(tx, table, err);
}

static tarn_code hide_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct copy *c = ctx;
    const struct tarn_table_filter filter = { .format = -1,
                                              .mode = TARN_MANAGED,
                                              .dropped = c->dropped,
                                              .after_namespace = c->namespace_,
                                              .after_name = c->name,
                                              .after_id = c->after_id,
                                              .limit = TABLES_A_TX };
    c->count = 0;
    tarn_code code = tx->ops->tables.list(tx, &filter, note_table, c, err);
    for (size_t i = 0; i < c->count && code == TARN_OK; i++)
        code = hide_one(tx, c->ids[i], err);
    return code;
}

static tarn_code hide_all(struct copy *c, bool dropped, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    c->dropped = dropped;
    c->namespace_[0] = c->name[0] = '\0';
    c->after_id = 0;
    do {
        code = tarn_store_write(c->lake->store, hide_tx, c, err);
        memcpy(c->namespace_, c->last.namespace_, sizeof c->namespace_);
        memcpy(c->name, c->last.name, sizeof c->name);
        c->after_id = c->last.id;
    } while (code == TARN_OK && c->count == TABLES_A_TX);
    return code;
}

static tarn_code id_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct copy *c = ctx;
    tarn_code code = tx->ops->meta.set(tx, "catalog_id", c->id, err);

    if (code == TARN_OK)
        code = tx->ops->meta.set(tx, META_COPY, c->id, err);
    return code == TARN_OK ? tx->ops->meta.set(tx, TARN_META_BACKUP, "", err) : code;
}

static tarn_code become(struct copy *c, struct tarn_err *err)
{
    tarn_code code = tarn_store_read(c->lake->store, is_one_tx, c, err);

    if (code != TARN_OK || c->is_one)
        return code;
    code = hide_all(c, false, err);
    if (code == TARN_OK)
        code = hide_all(c, true, err);
    if (code == TARN_OK)
        code = tarn_uuid(c->id, err);
    if (code == TARN_OK)
        code = tarn_store_write(c->lake->store, id_tx, c, err);
    if (code == TARN_OK)
        snprintf(c->lake->catalog_id, sizeof c->lake->catalog_id, "%s", c->id);
    return code;
}

tarn_code tarn_lake_become_copy(struct tarn_lake *lake, bool *became, struct tarn_err *err)
{
    struct copy *c = calloc(1, sizeof *c);

    if (!c)
        return tarn_fail_oom(err);
    c->lake = lake;
    tarn_code code = become(c, err);
    *became = code == TARN_OK && !c->is_one;
    free(c);
    return code;
}
