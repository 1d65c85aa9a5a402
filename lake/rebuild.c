/* rebuild.c - names for what was found, and then one table after the other. */
#include "lake/discovery.h"
#include "lake/iceberg.h"
#include "lake/rebuild_search.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NUMBERS_MAX 1000 /* tries to make a name free */

void tarn_rebuild_tell(struct tarn_rebuild *rebuild, const char *location, const char *table, const char *fmt,
                       ...)
{
    char message[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    rebuild->told++;
    const struct tarn_rebuild_line line = { .kind = TARN_REBUILD_TOLD, .location = location, .table = table,
                                            .message = message };
    rebuild->tell(rebuild->ctx, &line);
}

/* --- names --- */

struct name_ctx {
    const struct tarn_ident *ident;
    bool is_free;
};

static tarn_code name_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct name_ctx *n = ctx;
    TARN_ERR(taken);
    tarn_code code = tarn_name_free(tx, n->ident->namespace_, n->ident->name, &taken);

    n->is_free = code == TARN_OK;
    return code == TARN_TABLE_EXISTS || code == TARN_VIEW_EXISTS || code == TARN_OK
               ? TARN_OK
               : tarn_err_move(err, &taken);
}

/* Among the candidates before it, and in the catalog. */
static tarn_code is_free(struct tarn_search *s, const struct tarn_ident *ident, bool *free_,
                         struct tarn_err *err)
{
    struct name_ctx n = { .ident = ident };
    char dotted[TARN_DOTTED_MAX];

    *free_ = false;
    tarn_ident_format(ident->namespace_, ident->name, dotted);
    if (tarn_fileset_find(&s->names, dotted))
        return TARN_OK;
    tarn_code code = tarn_store_read(s->rebuild->lake->store, name_tx, &n, err);
    *free_ = n.is_free;
    return code;
}

static tarn_code number_name(struct tarn_search *s, struct tarn_rebuild_candidate *c,
                             const struct tarn_ident *wanted, struct tarn_err *err)
{
    char is[TARN_DOTTED_MAX], was[TARN_DOTTED_MAX];
    bool free_ = false;
    tarn_code code = TARN_OK;

    c->ident = *wanted;
    for (int n = 2; code == TARN_OK && !free_ && n <= NUMBERS_MAX; n++) {
        snprintf(c->ident.name, sizeof c->ident.name, "%.*s_%d", TARN_NAME_MAX - 12, wanted->name, n);
        code = is_free(s, &c->ident, &free_, err);
    }
    if (code != TARN_OK)
        return code;
    c->left_out = !free_;
    tarn_ident_format(wanted->namespace_, wanted->name, was);
    tarn_ident_format(c->ident.namespace_, c->ident.name, is);
    if (free_)
        tarn_rebuild_tell(s->rebuild, c->location, is, "another table or view has the name %s: this one, which may have been dropped, is %s",
                          was, is);
    else
        tarn_rebuild_tell(s->rebuild, c->location, was, "no name is free: left out");
    return TARN_OK;
}

static tarn_code name_one(struct tarn_search *s, struct tarn_rebuild_candidate *c, struct tarn_err *err)
{
    struct tarn_ident wanted;
    bool is_name = c->named && tarn_ident_parse(c->named, "table", &wanted, NULL) == TARN_OK, free_ = false;
    bool is_iceberg = c->format == TARN_FORMAT_ICEBERG; /* no document of those has a name */
    tarn_code code = is_name ? TARN_OK : tarn_name_from_folders(c->root, c->location, &wanted, &is_name, err);

    if (code != TARN_OK)
        return code;
    if (!is_name) {
        c->left_out = true;
        tarn_rebuild_tell(s->rebuild, c->location, NULL, "%s: left out",
                          is_iceberg ? "its folders give it no name" : "neither its manifest nor its folders give it a name");
        return TARN_OK;
    }
    if (!is_iceberg && (!c->named || strcmp(c->named, "") == 0))
        tarn_rebuild_tell(s->rebuild, c->location, NULL, "its manifest tells no name: the folders do");
    code = is_free(s, &wanted, &free_, err);
    if (code == TARN_OK && free_)
        c->ident = wanted;
    return code == TARN_OK && !free_ ? number_name(s, c, &wanted, err) : code;
}

static tarn_code give_name(struct tarn_search *s, struct tarn_rebuild_candidate *c, struct tarn_err *err)
{
    char dotted[TARN_DOTTED_MAX];
    tarn_code code = name_one(s, c, err);

    if (code != TARN_OK || c->left_out)
        return code;
    tarn_ident_format(c->ident.namespace_, c->ident.name, dotted);
    return tarn_fileset_put(&s->names, dotted) ? TARN_OK : tarn_fail_oom(err);
}

/* Who tells its name itself has it first, and of those who was committed to last. */
static int by_right(const void *a, const void *b)
{
    const struct tarn_rebuild_candidate *x = a, *y = b;

    if (!x->named != !y->named)
        return x->named ? -1 : 1;
    if (x->last_updated != y->last_updated)
        return x->last_updated > y->last_updated ? -1 : 1;
    return strcmp(x->location, y->location);
}

/* --- what the catalog has --- */

static tarn_code meet_table(void *ctx, const struct tarn_table *table, struct tarn_err *err)
{
    (void)table;
    (void)err;
    *(bool *)ctx = true;
    return TARN_OK;
}

static tarn_code tables_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_table_filter filter = {
        .format = -1, .mode = -1, .after_namespace = "", .after_name = "", .limit = 1
    };
    tarn_code code = tx->ops->tables.list(tx, &filter, meet_table, ctx, err);

    filter.dropped = true;
    return code == TARN_OK ? tx->ops->tables.list(tx, &filter, meet_table, ctx, err) : code;
}

static tarn_code id_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->meta.set(tx, "catalog_id", ctx, err);
}

static tarn_code settle_catalog(struct tarn_search *s, struct tarn_err *err)
{
    struct tarn_rebuild *r = s->rebuild;
    const char *catalog = r->only_missing ? r->lake->catalog_id : r->catalog;
    tarn_code code = tarn_search_owners(s, &catalog, err);

    if (code != TARN_OK || !catalog || r->only_missing)
        return code;
    snprintf(r->lake->catalog_id, sizeof r->lake->catalog_id, "%s", catalog);
    return tarn_store_write(r->lake->store, id_tx, r->lake->catalog_id, err);
}

/* --- all of it --- */

static tarn_code rebuild_one(struct tarn_rebuild *r, const struct tarn_rebuild_candidate *c,
                             struct tarn_err *err)
{
    char dotted[TARN_DOTTED_MAX];
    TARN_ERR(fault);
    tarn_code code = c->format == TARN_FORMAT_ICEBERG ? tarn_rebuild_iceberg(r, c, &fault)
                                                      : tarn_rebuild_table(r, c, &fault);

    if (code == TARN_OK)
        return TARN_OK;
    tarn_ident_format(c->ident.namespace_, c->ident.name, dotted);
    if (code == TARN_OVERLOADED || code == TARN_INSUFFICIENT_STORAGE || code == TARN_INTERNAL)
        return tarn_err_move(err, &fault);
    tarn_rebuild_tell(r, c->location, dotted, "%s%s%s: left out", fault.field, fault.field[0] ? ": " : "", fault.detail);
    return TARN_OK;
}

static tarn_code rebuild_all(struct tarn_search *s, struct tarn_err *err)
{
    struct tarn_rebuild_line line = { .kind = TARN_REBUILD_PROGRESS };
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < s->count; i++)
        line.total += !s->items[i].left_out;
    for (size_t i = 0; i < s->count && code == TARN_OK; i++) {
        if (s->items[i].left_out)
            continue;
        line.location = s->items[i].location;
        s->rebuild->tell(s->rebuild->ctx, &line);
        code = rebuild_one(s->rebuild, &s->items[i], err);
        line.done++;
    }
    return code;
}

static tarn_code name_all(struct tarn_search *s, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    if (s->count > 1)
        qsort(s->items, s->count, sizeof *s->items, by_right);
    for (size_t i = 0; i < s->count && code == TARN_OK; i++)
        if (!s->items[i].left_out)
            code = give_name(s, &s->items[i], err);
    return code;
}

tarn_code tarn_rebuild(struct tarn_rebuild *r, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_search_done))) struct tarn_search s = { .rebuild = r };
    bool has_tables = false;
    tarn_code code = tarn_store_read(r->lake->store, tables_tx, &has_tables, err);

    if (code == TARN_OK && has_tables && !r->only_missing)
        return tarn_fail(err, TARN_INVALID, "the catalog has tables: --missing takes those that it lacks");
    for (size_t i = 0; i < r->count && code == TARN_OK; i++)
        code = tarn_search_walk(&s, r->locations[i], err);
    /* A wrong folder, most likely: an empty catalog is nobody's wish. */
    if (code == TARN_OK && s.count == 0 && r->told == 0)
        tarn_rebuild_tell(r, r->locations[0], NULL, r->count > 1 ? "no table was found, nor under the other locations"
                                                                 : "no table was found");
    if (code == TARN_OK && r->only_missing)
        code = tarn_search_catalog(&s, err);
    if (code == TARN_OK)
        code = tarn_search_heads(&s, err);
    if (code == TARN_OK)
        code = settle_catalog(&s, err);
    if (code == TARN_OK && r->only_missing)
        code = tarn_search_known(&s, err);
    if (code == TARN_OK)
        code = name_all(&s, err);
    return code == TARN_OK ? rebuild_all(&s, err) : code;
}
