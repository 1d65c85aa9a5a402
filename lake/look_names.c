/* look_names.c - names that tables were given since the backup and that other tables had when it was
 * their turn: all of them at once, so that tables that changed names with each other come out right. */
#include "base/time.h"
#include "lake/event.h"
#include "lake/look.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MAX 1000

struct rename {
    struct tarn_table *table; /* owned: fresh, with the name it had */
    struct tarn_ident wanted;
    bool is_wanted;
};
struct names {
    const struct tarn_look_name *items;
    size_t count;
    struct rename *renames; /* owned */
};

static void names_done(struct names *n)
{
    for (size_t i = 0; n->renames && i < n->count; i++)
        tarn_table_free(n->renames[i].table);
    free(n->renames);
    n->renames = NULL;
}

static tarn_code set_name(struct tarn_tx *tx, const struct rename *r, const struct tarn_ident *to,
                          struct tarn_err *err)
{
    char namespace_[TARN_NAMESPACE_MAX + 1], name[TARN_NAME_MAX + 1];
    struct tarn_table row = *r->table; /* borrows */

    snprintf(namespace_, sizeof namespace_, "%s", to->namespace_);
    snprintf(name, sizeof name, "%s", to->name);
    row.namespace_ = namespace_;
    row.name = name;
    return tx->ops->tables.update(tx, &row, err);
}

static tarn_code read_one(struct tarn_tx *tx, const struct tarn_look_name *item, struct rename *r,
                          struct tarn_err *err)
{
    struct tarn_ident aside;
    tarn_code code = tx->ops->tables.get_by_id(tx, item->table_id, &r->table, err);

    r->is_wanted = code == TARN_OK && tarn_ident_parse(item->name, "table", &r->wanted, NULL) == TARN_OK;
    if (!r->is_wanted)
        return code;
    snprintf(aside.namespace_, sizeof aside.namespace_, "%s", r->table->namespace_);
    snprintf(aside.name, sizeof aside.name, "\x01%lld", (long long)r->table->id); /* no name that anybody may give */
    return set_name(tx, r, &aside, err);
}

static tarn_code is_free(struct tarn_tx *tx, const struct tarn_ident *ident, bool *free_,
                         struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *same = NULL;
    TARN_ERR(none);
    tarn_code code = tx->ops->tables.get(tx, ident->namespace_, ident->name, &same, &none);

    *free_ = code == TARN_TABLE_NOT_FOUND;
    return code == TARN_OK || code == TARN_TABLE_NOT_FOUND ? TARN_OK : tarn_err_move(err, &none);
}

/* The one wanted, else the one it had, else that with a number. */
static tarn_code give_one(struct tarn_tx *tx, const struct rename *r, struct tarn_err *err)
{
    struct tarn_ident had, to = r->wanted;
    bool free_ = false;
    char was[TARN_DOTTED_MAX];
    tarn_code code = is_free(tx, &to, &free_, err);

    snprintf(had.namespace_, sizeof had.namespace_, "%s", r->table->namespace_);
    snprintf(had.name, sizeof had.name, "%s", r->table->name);
    for (int n = 1; code == TARN_OK && !free_ && n <= NUMBERS_MAX; n++) {
        to = had;
        if (n > 1)
            snprintf(to.name, sizeof to.name, "%.*s_%d", TARN_NAME_MAX - 5, had.name, n);
        code = is_free(tx, &to, &free_, err);
    }
    if (code == TARN_OK)
        code = set_name(tx, r, &to, err);
    if (code != TARN_OK || (strcmp(to.name, had.name) == 0 && strcmp(to.namespace_, had.namespace_) == 0))
        return code;
    tarn_ident_format(had.namespace_, had.name, was);
    struct tarn_table now = *r->table; /* borrows */
    now.namespace_ = to.namespace_;
    now.name = to.name;
    return tarn_event_add(tx, TARN_EVENT_RENAMED, &now, tarn_now_ms(), json_pack("{s:s}", "from", was), err);
}

static tarn_code names_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct names *n = ctx;
    tarn_code code = TARN_OK;

    names_done(n);
    n->renames = calloc(n->count, sizeof *n->renames);
    if (!n->renames)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < n->count && code == TARN_OK; i++)
        code = read_one(tx, &n->items[i], &n->renames[i], err);
    for (size_t i = 0; i < n->count && code == TARN_OK; i++)
        if (n->renames[i].is_wanted)
            code = give_one(tx, &n->renames[i], err);
    return code;
}

tarn_code tarn_look_rename(struct tarn_lake *lake, const struct tarn_look_name *items, size_t count,
                           struct tarn_err *err)
{
    __attribute__((cleanup(names_done))) struct names n = { .items = items, .count = count };

    return count > 0 ? tarn_store_write(lake->store, names_tx, &n, err) : TARN_OK;
}
