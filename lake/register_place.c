/* register_place.c - where a new table may lie. One folder has one managed owner: a location is refused when
 * it equals another table's, lies inside it or around it. */
#include "base/time.h"
#include "catalog/ident.h"
#include "lake/register.h"
#include <string.h>

#define NUMBERS_MAX 1000 /* tries to make a default location unique */

tarn_code tarn_location_owner(struct tarn_tx *tx, const struct tarn_lake *lake, const char *location,
                              bool is_managed, int64_t except_id, int64_t now_ms, struct tarn_table **out,
                              struct tarn_err *err)
{
    return tx->ops->tables.at_location(tx, location, now_ms - lake->dropped_retention_ms, except_id,
                                       !is_managed, out, err);
}

tarn_code tarn_location_taken(const struct tarn_table *owner, const char *location, struct tarn_err *err)
{
    char name[TARN_DOTTED_MAX];

    tarn_ident_format(owner->namespace_, owner->name, name);
    tarn_fail_code_field(err, TARN_LOCATION_TAKEN, "location", "%s belongs to table %s%s", location, name,
                         owner->dropped_at >= 0 ? " (dropped, still restorable)" : "");
    (void)tarn_err_add(err, "table", json_string(name));
    return tarn_err_add(err, "location", json_string(owner->location));
}

/* One level as a folder's name: what a path cannot hold is percent-encoded. */
static void add_level(struct tarn_buf *out, const char *level, size_t len)
{
    tarn_buf_addc(out, '/');
    for (size_t i = 0; i < len; i++) {
        if (level[i] == '/' || level[i] == '%' || (i == 0 && level[i] == '.'))
            tarn_buf_addf(out, "%%%02X", (unsigned char)level[i]);
        else
            tarn_buf_addc(out, level[i]);
    }
}

/* The levels of a canonical namespace: split outside quotes, "" is one quote. */
static void add_levels(struct tarn_buf *out, const char *namespace_)
{
    char level[TARN_NAMESPACE_MAX + 1];
    size_t len = 0;
    bool quoted = false;

    for (const char *c = namespace_;; c++) {
        if (*c == '\0' || (*c == '.' && !quoted)) {
            add_level(out, level, len);
            len = 0;
            if (*c == '\0')
                return;
        } else if (*c == '"' && quoted && c[1] == '"') {
            level[len++] = *c++;
        } else if (*c == '"') {
            quoted = !quoted;
        } else {
            level[len++] = *c;
        }
    }
}

struct owner_ctx {
    const struct tarn_register_use *use;
    const char *location;
    struct tarn_table *owner;
};

static tarn_code owner_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct owner_ctx *c = ctx;

    tarn_table_free(c->owner);
    c->owner = NULL;
    return tarn_location_owner(tx, c->use->lake, c->location, true, 0, tarn_now_ms(), &c->owner, err);
}

/* Folders alone hold nothing: a staged create that was never finished leaves some. */
static tarn_code holds_files(const struct tarn_storage *storage, const char *location, bool *out,
                             struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_AUTO(lister) struct tarn_lister *lister = NULL;
    struct tarn_object object;
    TARN_ERR(fault);
    tarn_code code = tarn_place_open(storage, location, false, &place, &fault);

    if (code == TARN_OK)
        code = tarn_place_lister(place, "", true, &lister, &fault);
    if (code == TARN_OK)
        code = tarn_lister_next(lister, &object, out, &fault);
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

struct candidate {
    bool taken;
    size_t owner_len; /* of the location of the table around it, 0: there is none */
};

static tarn_code judge_candidate(const struct tarn_register_use *use, const char *location,
                                 struct candidate *out, struct tarn_err *err)
{
    struct owner_ctx c = { .use = use, .location = location };
    tarn_code code = tarn_store_read(use->lake->store, owner_tx, &c, err);
    TARN_AUTO(table) struct tarn_table *owner = c.owner;

    *out = (struct candidate){ .taken = owner != NULL };
    if (code == TARN_OK && owner && strcmp(owner->location, location) != 0 &&
        tarn_location_within(location, owner->location))
        out->owner_len = strlen(owner->location);
    return code != TARN_OK || owner ? code : holds_files(use->lake->storage, location, &out->taken, err);
}

tarn_code tarn_location_of_namespace(const struct tarn_lake *lake, const char *namespace_,
                                     struct tarn_buf *out, struct tarn_err *err)
{
    if (!lake->default_root)
        return tarn_fail_field(err, "location", "is required: the server has no default root");
    tarn_buf_adds(out, lake->default_root);
    add_levels(out, namespace_);
    return tarn_buf_check(out, err);
}

/* <parent>/<name>, or <root>/<levels>/<name> */
static tarn_code default_path(const struct tarn_register_use *use, const char *parent, struct tarn_buf *out,
                              struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    if (parent)
        tarn_buf_adds(out, parent);
    else
        code = tarn_location_of_namespace(use->lake, use->ident.namespace_, out, err);
    add_level(out, use->ident.name, strlen(use->ident.name));
    return code == TARN_OK ? tarn_buf_check(out, err) : code;
}

/* Encoded, or with a number, a name may be longer than a folder's: then a location must be given. */
static tarn_code check_default(const struct tarn_buf *path, struct tarn_err *err)
{
    TARN_AUTO(mem) char *canonical = NULL;
    tarn_code code = tarn_buf_check(path, err);

    return code == TARN_OK ? tarn_location_normalise(path->data, "location", &canonical, err) : code;
}

/* A number makes the last level unique, or, where that would still lie
 * inside a table (a.b beside a.b.c), the level that is this table's. */
static tarn_code locate_default(const struct tarn_register_use *use, const char *parent, char **out,
                                struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf base = { 0 };
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    struct candidate candidate = { .taken = true };
    tarn_code code = default_path(use, parent, &base, err);
    size_t numbered = base.len; /* the number stands behind these bytes */

    for (int n = 1; code == TARN_OK && candidate.taken && n <= NUMBERS_MAX; n++) {
        tarn_buf_clear(&path);
        tarn_buf_add(&path, base.data, numbered);
        if (n > 1)
            tarn_buf_addf(&path, "-%d", n);
        tarn_buf_adds(&path, base.data + numbered);
        code = check_default(&path, err);
        if (code == TARN_OK)
            code = judge_candidate(use, path.data, &candidate, err);
        if (code == TARN_OK && candidate.owner_len > 0 && candidate.owner_len < numbered) {
            numbered = candidate.owner_len;
            n = 1;
        }
    }
    if (code == TARN_OK && candidate.taken)
        return tarn_fail_field(err, "location", "is required: the default one is taken %d times over",
                               NUMBERS_MAX);
    if (code == TARN_OK)
        *out = tarn_buf_take(&path);
    return code;
}

static tarn_code judge_roots(const struct tarn_register_use *use, const char *location, const char *field,
                             struct tarn_err *err)
{
    tarn_code code = tarn_storage_allows(use->lake->storage, location, err);

    if (code == TARN_OK && use->may_use && !use->may_use(use->who, location))
        code = tarn_fail(err, TARN_LOCATION_NOT_ALLOWED, "%s: the token's roots do not include it", location);
    if (code == TARN_LOCATION_NOT_ALLOWED)
        (void)tarn_err_prefix(err, "%s", field);
    return code;
}

static tarn_code judge_metadata(const struct tarn_register_use *use, struct tarn_err *err)
{
    TARN_AUTO(mem) char *location = NULL;

    if (!use->metadata_location)
        return TARN_OK;
    tarn_code code = tarn_location_normalise(use->metadata_location, "metadata_location", &location, err);
    return code == TARN_OK ? judge_roots(use, location, "metadata_location", err) : code;
}

tarn_code tarn_register_locate(const struct tarn_register_use *use, char **out, struct tarn_err *err)
{
    TARN_AUTO(mem) char *location = NULL;
    tarn_code code = judge_metadata(use, err);

    if (code == TARN_OK && use->location)
        code = tarn_location_normalise(use->location, "location", &location, err);
    else if (code == TARN_OK)
        code = locate_default(use, NULL, &location, err);
    if (code == TARN_OK)
        code = judge_roots(use, location, "location", err);
    if (code == TARN_OK)
        *out = tarn_take(&location);
    return code;
}

tarn_code tarn_location_choose(struct tarn_lake *lake, const struct tarn_ident *ident, const char *parent,
                               char **out, struct tarn_err *err)
{
    const struct tarn_register_use use = { .lake = lake, .ident = *ident };

    return locate_default(&use, parent, out, err);
}
