/* inherit.c - the one place that knows the order: table, inner namespace, outer namespace. */
#include "lake/inherit.h"
#include "base/json.h"
#include <string.h>

void tarn_inherited_done(struct tarn_inherited *inherited)
{
    free(inherited->owner);
    json_decref(inherited->monitors);
    *inherited = (struct tarn_inherited){ 0 };
}

/* Calls fn for the namespace and those around it, from the inner to the
 * outer; *stop ends the walk. Those that nobody made are passed over. */
static tarn_code walk(struct tarn_tx *tx, const char *namespace_, tarn_namespace_fn *fn, void *ctx,
                      const bool *stop, struct tarn_err *err)
{
    char name[TARN_NAMESPACE_MAX + 1];
    bool more = true;

    snprintf(name, sizeof name, "%s", namespace_);
    while (more && !*stop) {
        TARN_ERR(fault);
        tarn_code code = tx->ops->namespaces.get(tx, name, fn, ctx, &fault);
        if (code != TARN_OK && code != TARN_NAMESPACE_NOT_FOUND)
            return tarn_err_move(err, &fault);
        more = tarn_namespace_outer(name);
    }
    return TARN_OK;
}

/* --- all of it --- */

/* What the inner ones said goes over what the outer one says. */
static tarn_code take_monitors(struct tarn_inherited *in, const char *text, struct tarn_err *err)
{
    json_auto_t *outer = strcmp(text, "{}") == 0 ? NULL : json_loads(text, 0, NULL);

    if (!outer)
        return TARN_OK;
    if (in->monitors && !tarn_json_merge(outer, in->monitors))
        return tarn_fail_oom(err);
    json_decref(in->monitors);
    in->monitors = json_incref(outer);
    return TARN_OK;
}

static tarn_code take_all(void *ctx, const struct tarn_namespace *row, struct tarn_err *err)
{
    struct tarn_inherited *in = ctx;

    if (row->enforcement_given && !in->enforcement_given)
        in->enforcement = row->enforcement;
    if (row->verify_given && !in->verify_given)
        in->verify = row->verify;
    in->enforcement_given |= row->enforcement_given;
    in->verify_given |= row->verify_given;
    if (in->history_retention_ms < 0)
        in->history_retention_ms = row->history_retention_ms;
    if (row->owner && !in->owner) {
        in->owner = strdup(row->owner);
        if (!in->owner)
            return tarn_fail_oom(err);
    }
    return take_monitors(in, row->monitors, err);
}

tarn_code tarn_inherited_read(struct tarn_tx *tx, const char *namespace_, struct tarn_inherited *out,
                              struct tarn_err *err)
{
    const bool never = false;

    if (strcmp(out->namespace_, namespace_) == 0)
        return TARN_OK;
    tarn_inherited_done(out);
    out->history_retention_ms = -1;
    tarn_code code = walk(tx, namespace_, take_all, out, &never, err);
    if (code == TARN_OK)
        snprintf(out->namespace_, sizeof out->namespace_, "%s", namespace_);
    return code;
}

void tarn_inherit_borrowed(const struct tarn_inherited *from, struct tarn_table *table)
{
    if (!table->enforcement_given)
        table->enforcement = from->enforcement;
    if (!table->verify_given)
        table->verify = from->verify;
    if (!table->owner)
        table->owner = from->owner;
}

tarn_code tarn_inherit_settings(const struct tarn_inherited *from, struct tarn_table *table,
                                struct tarn_err *err)
{
    bool borrows = !table->owner && from->owner;

    tarn_inherit_borrowed(from, table);
    if (!borrows)
        return TARN_OK;
    table->owner = strdup(from->owner);
    return table->owner ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_inherit_shown(struct tarn_tx *tx, struct tarn_table *table, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_inherited_done))) struct tarn_inherited in = { 0 };
    tarn_code code = tarn_inherited_read(tx, table->namespace_, &in, err);

    return code == TARN_OK ? tarn_inherit_settings(&in, table, err) : code;
}

tarn_code tarn_inherit_monitors(const struct tarn_inherited *from, const char *own, char **out,
                                struct tarn_err *err)
{
    *out = NULL;
    if (!from->monitors)
        return TARN_OK;
    json_auto_t *merged = json_deep_copy(from->monitors), *nearest = json_loads(own ? own : "{}", 0, NULL);
    if (!merged || (nearest && !tarn_json_merge(merged, nearest)))
        return tarn_fail_oom(err);
    *out = tarn_json_text(merged);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_inherit_all(struct tarn_tx *tx, struct tarn_table *table, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_inherited_done))) struct tarn_inherited in = { 0 };
    char *monitors = NULL;
    tarn_code code = tarn_inherited_read(tx, table->namespace_, &in, err);

    if (code == TARN_OK)
        code = tarn_inherit_settings(&in, table, err);
    if (code == TARN_OK)
        code = tarn_inherit_monitors(&in, table->monitors, &monitors, err);
    if (code != TARN_OK || !monitors)
        return code;
    free(table->monitors);
    table->monitors = monitors;
    return TARN_OK;
}

/* --- what a commit asks --- */

struct depth {
    struct tarn_table *table;
    bool enforcement_known, verify_known, known;
};

static tarn_code take_depth(void *ctx, const struct tarn_namespace *row, struct tarn_err *err)
{
    struct depth *d = ctx;

    (void)err;
    if (row->enforcement_given && !d->enforcement_known)
        d->table->enforcement = row->enforcement;
    if (row->verify_given && !d->verify_known)
        d->table->verify = row->verify;
    d->enforcement_known |= row->enforcement_given;
    d->verify_known |= row->verify_given;
    d->known = d->enforcement_known && d->verify_known;
    return TARN_OK;
}

tarn_code tarn_inherit_depth(struct tarn_tx *tx, struct tarn_table *table, struct tarn_err *err)
{
    struct depth d = { .table = table, .enforcement_known = table->enforcement_given,
                       .verify_known = table->verify_given };

    d.known = d.enforcement_known && d.verify_known;
    return walk(tx, table->namespace_, take_depth, &d, &d.known, err);
}
