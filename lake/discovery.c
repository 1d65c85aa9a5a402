/* discovery.c - the walk of discover.c joined with the catalog, table by table. */
#include "lake/discovery.h"
#include "base/buf.h"
#include "catalog/ident.h"
#include "formats/fileset.h"
#include "lake/register.h"
#include <stdio.h>
#include <string.h>

#define NUMBERS_MAX 100 /* tries to make a name free */

struct tarn_discovery {
    struct tarn_lake *lake;
    struct tarn_discovery_ask ask;
    char *location;                /* owned, canonical */
    struct tarn_place *place;      /* owned */
    struct tarn_walk *walk;        /* owned */
    struct tarn_fileset proposed;  /* names given out, dotted */
    /* of the table at hand */
    struct tarn_buf at;            /* its location */
    const struct tarn_found *found;
    enum tarn_discovered_state state;
    char table[TARN_DOTTED_MAX], name[TARN_DOTTED_MAX]; /* "": none */
};

static const char *const k_states[] = { "new", "registered", "dropped", "overlaps" };

const char *tarn_discovered_text(enum tarn_discovered_state state) { return k_states[state]; }

void tarn_discovery_free(struct tarn_discovery *d)
{
    if (!d)
        return;
    tarn_walk_free(d->walk);
    tarn_place_free(d->place);
    tarn_fileset_done(&d->proposed);
    tarn_buf_done(&d->at);
    free(d->location);
    free(d);
}

const struct tarn_walked *tarn_discovery_walked(const struct tarn_discovery *d)
{
    return tarn_walk_walked(d->walk);
}
const char *tarn_discovery_location(const struct tarn_discovery *d) { return d->location; }

/* --- the beginning --- */

static tarn_code judge_location(struct tarn_discovery *d, struct tarn_err *err)
{
    tarn_code code = tarn_location_normalise(d->ask.location, "location", &d->location, err);

    if (code == TARN_OK)
        code = tarn_storage_allows(d->lake->storage, d->location, err);
    if (code == TARN_OK && d->ask.may_use && !d->ask.may_use(d->ask.who, d->location))
        code = tarn_fail(err, TARN_LOCATION_NOT_ALLOWED, "%s: the token's roots do not include it", d->location);
    if (code == TARN_LOCATION_NOT_ALLOWED)
        (void)tarn_err_prefix(err, "location");
    return code;
}

static tarn_code open_place(struct tarn_discovery *d, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_place_open(d->lake->storage, d->location, false, &d->place, &fault);

    if (code == TARN_NOT_FOUND)
        return tarn_fail_code_field(err, TARN_LOCATION_UNREACHABLE, "location", "%s", fault.detail);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

tarn_code tarn_discovery_new(struct tarn_lake *lake, const struct tarn_discovery_ask *ask,
                             struct tarn_discovery **out, struct tarn_err *err)
{
    TARN_AUTO(discovery) struct tarn_discovery *d = calloc(1, sizeof *d);

    if (!d)
        return tarn_fail_oom(err);
    d->lake = lake;
    d->ask = *ask;
    tarn_code code = judge_location(d, err);
    if (code == TARN_OK)
        code = open_place(d, err);
    if (code == TARN_OK)
        code = tarn_walk_new(d->place, &lake->stopping, &d->walk, err);
    d->ask.location = NULL;
    if (code == TARN_OK)
        *out = tarn_take(&d);
    return code;
}

/* --- names --- */

static bool is_seen(const struct tarn_discovery *d, const struct tarn_ident *ident)
{
    return !d->ask.may_see || d->ask.may_see(d->ask.who, ident->namespace_, ident->name);
}

static tarn_code is_free(struct tarn_tx *tx, struct tarn_discovery *d, const struct tarn_ident *ident,
                         bool *free_, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    TARN_ERR(none);
    char dotted[TARN_DOTTED_MAX];

    *free_ = false;
    tarn_ident_format(ident->namespace_, ident->name, dotted);
    if (!is_seen(d, ident) || tarn_fileset_find(&d->proposed, dotted))
        return TARN_OK;
    tarn_code code = tx->ops->tables.get(tx, ident->namespace_, ident->name, &table, &none);
    *free_ = code == TARN_TABLE_NOT_FOUND;
    return code == TARN_OK || code == TARN_TABLE_NOT_FOUND ? TARN_OK : tarn_err_move(err, &none);
}

static tarn_code propose_numbered(struct tarn_tx *tx, struct tarn_discovery *d,
                                  const struct tarn_ident *ident, bool *free_, struct tarn_err *err)
{
    struct tarn_ident with_number = *ident;
    tarn_code code = is_free(tx, d, ident, free_, err);

    for (int n = 2;
         code == TARN_OK && !*free_ && n <= NUMBERS_MAX && strlen(ident->name) <= TARN_NAME_MAX - 12; n++) {
        snprintf(with_number.name, sizeof with_number.name, "%.*s_%d", TARN_NAME_MAX - 12, ident->name, n);
        code = is_free(tx, d, &with_number, free_, err);
    }
    if (code == TARN_OK && *free_)
        tarn_ident_format(with_number.namespace_, with_number.name, d->name);
    return code;
}

/* What the manifest calls it, else what the folders say, else that with a number. */
static tarn_code propose(struct tarn_tx *tx, struct tarn_discovery *d, struct tarn_err *err)
{
    struct tarn_ident ident;
    bool is_name = false, free_ = false;
    tarn_code code = TARN_OK;

    if (d->found->table && tarn_ident_parse(d->found->table, "name", &ident, NULL) == TARN_OK)
        code = is_free(tx, d, &ident, &free_, err);
    if (code == TARN_OK && free_) {
        tarn_ident_format(ident.namespace_, ident.name, d->name);
        return TARN_OK;
    }
    if (code == TARN_OK)
        code = tarn_name_from_folders(tarn_storage_root(d->lake->storage, d->at.data), d->at.data, &ident,
                                      &is_name, err);
    if (code == TARN_OK && is_name)
        code = propose_numbered(tx, d, &ident, &free_, err);
    return code;
}

/* --- one table --- */

static void judge_owner(struct tarn_discovery *d, const struct tarn_table *owner)
{
    struct tarn_ident ident;

    d->state = TARN_DISCOVERED_NEW;
    if (!owner)
        return;
    bool same = strcmp(owner->location, d->at.data) == 0;
    d->state = !same ? TARN_DISCOVERED_OVERLAPS
                     : owner->dropped_at >= 0 ? TARN_DISCOVERED_DROPPED : TARN_DISCOVERED_REGISTERED;
    snprintf(ident.namespace_, sizeof ident.namespace_, "%s", owner->namespace_);
    snprintf(ident.name, sizeof ident.name, "%s", owner->name);
    if (is_seen(d, &ident))
        tarn_ident_format(ident.namespace_, ident.name, d->table);
}

static tarn_code join_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_discovery *d = ctx;
    TARN_AUTO(table) struct tarn_table *owner = NULL;

    d->table[0] = d->name[0] = '\0';
    tarn_code code = tarn_location_owner(tx, d->lake, d->at.data, true, 0, d->ask.now_ms, &owner, err);
    if (code != TARN_OK)
        return code;
    judge_owner(d, owner);
    return d->state == TARN_DISCOVERED_NEW ? propose(tx, d, err) : TARN_OK;
}

static tarn_code tell(struct tarn_discovery *d, const struct tarn_found *found, tarn_discovered_fn *fn,
                      void *ctx, struct tarn_err *err)
{
    d->found = found;
    tarn_buf_clear(&d->at);
    tarn_buf_addf(&d->at, "%s%s%s", d->location, *found->path && strcmp(d->location, "/") != 0 ? "/" : "", found->path);
    tarn_code code = tarn_buf_check(&d->at, err);
    if (code == TARN_OK && d->ask.may_use && !d->ask.may_use(d->ask.who, d->at.data))
        return TARN_OK;
    if (code == TARN_OK)
        code = tarn_store_read(d->lake->store, join_tx, d, err);
    if (code == TARN_OK && d->name[0] && !tarn_fileset_put(&d->proposed, d->name))
        code = tarn_fail_oom(err);
    if (code != TARN_OK)
        return code;
    const struct tarn_discovered item = { .location = d->at.data, .format = found->format, .state = d->state,
                                          .table = d->table[0] ? d->table : NULL,
                                          .name = d->name[0] ? d->name : NULL };
    fn(ctx, &item);
    return TARN_OK;
}

tarn_code tarn_discovery_next(struct tarn_discovery *d, tarn_discovered_fn *fn, void *ctx, bool *end,
                              struct tarn_err *err)
{
    struct tarn_found found = { 0 };
    enum tarn_walk_step step = TARN_WALK_MORE;
    tarn_code code = tarn_walk_next(d->walk, &found, &step, err);

    if (code == TARN_OK && step == TARN_WALK_FOUND && !found.is_apart)
        code = tell(d, &found, fn, ctx, err);
    *end = step == TARN_WALK_END;
    return code;
}
