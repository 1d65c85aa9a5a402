/* rebuild_known.c - what the catalog has already stays as it is: at its place, around it, and of its uuid. */
#include "lake/iceberg.h"
#include "lake/rebuild_search.h"
#include <stdio.h>
#include <string.h>

enum { PAGE_TABLES = 1000 };

/* --- uuids --- */

struct page {
    struct tarn_search *search;
    struct tarn_table_filter filter;
    char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1];
    int64_t rows;
};

static tarn_code note_table(void *ctx, const struct tarn_table *table, struct tarn_err *err)
{
    struct page *page = ctx;

    page->rows++;
    snprintf(page->namespace_, sizeof page->namespace_, "%s", table->namespace_);
    snprintf(page->name, sizeof page->name, "%s", table->name);
    page->filter.after_id = table->id;
    return tarn_fileset_put(&page->search->uuids, table->uuid) ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *page = ctx;
    char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1];
    struct tarn_table_filter filter = page->filter;

    memcpy(namespace_, page->namespace_, sizeof namespace_);
    memcpy(name, page->name, sizeof name);
    filter.after_namespace = namespace_;
    filter.after_name = name;
    page->rows = 0;
    return tx->ops->tables.list(tx, &filter, note_table, page, err);
}

static tarn_code read_uuids(struct tarn_search *s, bool dropped, struct tarn_err *err)
{
    struct page page = { .search = s,
                         .filter = { .format = -1, .mode = -1, .dropped = dropped, .limit = PAGE_TABLES },
                         .rows = PAGE_TABLES };
    tarn_code code = TARN_OK;

    while (code == TARN_OK && page.rows == PAGE_TABLES)
        code = tarn_store_read(s->rebuild->lake->store, page_tx, &page, err);
    return code;
}

/* --- views --- */

enum { EVERY = 1000000000 }; /* no page: nobody else waits for this database */

struct views { struct tarn_search *search; struct tarn_tx *tx; };

static tarn_code note_view(void *ctx, const struct tarn_view *view, struct tarn_err *err)
{
    struct tarn_search *s = ctx;
    TARN_AUTO(mem) char *location = NULL;
    tarn_code code = tarn_iceberg_locate(view->location, &location, err);

    return code != TARN_OK || tarn_fileset_put(&s->views, location) ? code : tarn_fail_oom(err);
}

static tarn_code note_namespace(void *ctx, const struct tarn_namespace *namespace_, struct tarn_err *err)
{
    const struct views *v = ctx;

    return v->tx->ops->views.list(v->tx, namespace_->name, "", EVERY, note_view, v->search, err);
}

static tarn_code views_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct views v = { ctx, tx };

    return tx->ops->namespaces.list(tx, "", EVERY, note_namespace, &v, err);
}

/* Dropped tables may still be restored. */
tarn_code tarn_search_catalog(struct tarn_search *s, struct tarn_err *err)
{
    tarn_code code = read_uuids(s, false, err);

    if (code == TARN_OK)
        code = read_uuids(s, true, err);
    return code == TARN_OK ? tarn_store_read(s->rebuild->lake->store, views_tx, s, err) : code;
}

/* --- places --- */

struct at {
    const struct tarn_rebuild_candidate *c;
    struct tarn_table *owner; /* owned */
};

static void at_done(struct at *at) { tarn_table_free(at->owner); }

static tarn_code owner_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct at *at = ctx;

    tarn_table_free(tarn_take(&at->owner));
    return tx->ops->tables.at_location(tx, at->c->location, 0, 0, false, &at->owner, err);
}

tarn_code tarn_search_pointed(struct tarn_search *s, struct tarn_rebuild_candidate *c, struct tarn_err *err)
{
    __attribute__((cleanup(at_done))) struct at at = { .c = c };
    tarn_code code = tarn_store_read(s->rebuild->lake->store, owner_tx, &at, err);

    c->left_out = code == TARN_OK && at.owner && at.owner->format == TARN_FORMAT_ICEBERG &&
                  strcmp(at.owner->location, c->location) == 0;
    return code;
}

static tarn_code judge(struct tarn_search *s, struct tarn_rebuild_candidate *c, struct tarn_err *err)
{
    __attribute__((cleanup(at_done))) struct at at = { .c = c };
    tarn_code code = tarn_store_read(s->rebuild->lake->store, owner_tx, &at, err);
    bool is_known = tarn_fileset_find(&s->uuids, c->uuid) != NULL;

    if (code != TARN_OK)
        return code;
    c->left_out = at.owner || is_known;
    if (at.owner && strcmp(at.owner->uuid, c->uuid) != 0)
        tarn_rebuild_tell(s->rebuild, c->location, c->named, "the catalog has another table there, %s: left out", at.owner->uuid);
    else if (!at.owner && is_known)
        tarn_rebuild_tell(s->rebuild, c->location, c->named, "the catalog has that table, %s, at another place: left out", c->uuid);
    return TARN_OK;
}

tarn_code tarn_search_known(struct tarn_search *s, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < s->count && code == TARN_OK; i++)
        if (!s->items[i].left_out)
            code = judge(s, &s->items[i], err);
    return code;
}
