/* rebuild_known.c - what the catalog has already stays as it is: at its place, around it, and of its uuid. */
#include "lake/iceberg.h"
#include "lake/rebuild_search.h"
#include <stdio.h>
#include <string.h>

enum { PAGE_TABLES = 1000 };

/* --- uuids --- */

struct known {
    struct tarn_search *search;
    struct tarn_fileset uuids;
    /* the page */
    struct tarn_table_filter filter;
    char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1];
    int64_t rows;
    /* the candidate at hand */
    const struct tarn_rebuild_candidate *c;
    struct tarn_table *owner; /* owned */
};

static void known_done(struct known *k)
{
    tarn_fileset_done(&k->uuids);
    tarn_table_free(k->owner);
}

static tarn_code note(void *ctx, const struct tarn_table *table, struct tarn_err *err)
{
    struct known *k = ctx;

    k->rows++;
    snprintf(k->namespace_, sizeof k->namespace_, "%s", table->namespace_);
    snprintf(k->name, sizeof k->name, "%s", table->name);
    k->filter.after_id = table->id;
    return tarn_fileset_put(&k->uuids, table->uuid) ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct known *k = ctx;
    char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1];
    struct tarn_table_filter filter = k->filter;

    memcpy(namespace_, k->namespace_, sizeof namespace_);
    memcpy(name, k->name, sizeof name);
    filter.after_namespace = namespace_;
    filter.after_name = name;
    k->rows = 0;
    return tx->ops->tables.list(tx, &filter, note, k, err);
}

/* Live ones, and those that may still be restored. */
static tarn_code read_uuids(struct known *k, bool dropped, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    k->filter = (struct tarn_table_filter){ .format = -1, .mode = -1, .dropped = dropped, .limit = PAGE_TABLES };
    k->namespace_[0] = k->name[0] = '\0';
    for (k->rows = PAGE_TABLES; code == TARN_OK && k->rows == PAGE_TABLES;)
        code = tarn_store_read(k->search->rebuild->lake->store, page_tx, k, err);
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

tarn_code tarn_search_views(struct tarn_search *s, struct tarn_err *err)
{
    return tarn_store_read(s->rebuild->lake->store, views_tx, s, err);
}

/* --- places --- */

static tarn_code owner_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct known *k = ctx;

    tarn_table_free(tarn_take(&k->owner));
    return tx->ops->tables.at_location(tx, k->c->location, 0, 0, false, &k->owner, err);
}

tarn_code tarn_search_pointed(struct tarn_search *s, struct tarn_rebuild_candidate *c, struct tarn_err *err)
{
    __attribute__((cleanup(known_done))) struct known k = { .search = s, .c = c };
    tarn_code code = tarn_store_read(s->rebuild->lake->store, owner_tx, &k, err);

    c->left_out = code == TARN_OK && k.owner && k.owner->format == TARN_FORMAT_ICEBERG &&
                  strcmp(k.owner->location, c->location) == 0;
    return code;
}

static tarn_code judge(struct known *k, struct tarn_rebuild_candidate *c, struct tarn_err *err)
{
    struct tarn_rebuild *r = k->search->rebuild;

    k->c = c;
    tarn_code code = tarn_store_read(r->lake->store, owner_tx, k, err);
    if (code != TARN_OK)
        return code;
    bool is_known = tarn_fileset_find(&k->uuids, c->uuid) != NULL;
    c->left_out = k->owner || is_known;
    if (k->owner && strcmp(k->owner->uuid, c->uuid) != 0)
        tarn_rebuild_tell(r, c->location, c->named, "the catalog has another table there, %s: left out", k->owner->uuid);
    else if (!k->owner && is_known)
        tarn_rebuild_tell(r, c->location, c->named, "the catalog has that table, %s, at another place: left out", c->uuid);
    return TARN_OK;
}

tarn_code tarn_search_known(struct tarn_search *s, struct tarn_err *err)
{
    __attribute__((cleanup(known_done))) struct known k = { .search = s };
    tarn_code code = read_uuids(&k, false, err);

    if (code == TARN_OK)
        code = read_uuids(&k, true, err);
    for (size_t i = 0; i < s->count && code == TARN_OK; i++)
        if (!s->items[i].left_out)
            code = judge(&k, &s->items[i], err);
    return code;
}
