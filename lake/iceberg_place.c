/* iceberg_place.c - where a new Iceberg table or view lies: where it was asked for, else under its namespace's `location`, else
 * under the first root. */
#include "lake/iceberg_place.h"
#include "base/json.h"
#include "lake/iceberg_names.h"
#include "lake/register.h"
#include <string.h>

/* --- the namespace's property --- */

static tarn_code take_location(void *ctx, const struct tarn_namespace *namespace_, struct tarn_err *err)
{
    char **out = ctx;
    json_t *properties = NULL;
    tarn_code code = tarn_json_parse(namespace_->properties, strlen(namespace_->properties), NULL, &properties, err);
    const char *location = json_string_value(json_object_get(properties, "location"));

    if (code == TARN_OK && location && *location && !(*out = strdup(location)))
        code = tarn_fail_oom(err);
    json_decref(properties);
    return code;
}

struct parent_ctx { const char *namespace_; char *location; };

static tarn_code parent_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct parent_ctx *c = ctx;

    free(tarn_take(&c->location));
    TARN_ERR(fault);
    tarn_code code = tx->ops->namespaces.get(tx, c->namespace_, take_location, &c->location, &fault);
    if (code == TARN_NAMESPACE_NOT_FOUND)
        return tarn_namespace_check(tx, c->namespace_, err);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

/* --- the place --- */

/* Engines read a path without a scheme each in its own way: local ones are given as URIs. */
static tarn_code as_uri(const char *canonical, char **out, struct tarn_err *err)
{
    struct tarn_buf uri = { 0 };

    if (canonical[0] == '/')
        tarn_buf_adds(&uri, "file://");
    tarn_buf_adds(&uri, canonical);
    *out = tarn_buf_take(&uri);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_iceberg_namespace_place(const struct tarn_lake *lake, const char *namespace_, char **out,
                                       struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    tarn_code code = tarn_location_of_namespace(lake, namespace_, &path, err);

    return code == TARN_OK ? as_uri(path.data, out, err) : code;
}

static tarn_code as_asked(const char *asked, char **out, struct tarn_err *err)
{
    size_t len = strlen(asked);

    while (len > 1 && asked[len - 1] == '/')
        len--;
    *out = strndup(asked, len);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_iceberg_place(struct tarn_lake *lake, const struct tarn_ident *ident, const char *asked,
                             const struct tarn_iceberg_who *who, char **out, struct tarn_err *err)
{
    struct parent_ctx parent = { .namespace_ = ident->namespace_ };
    TARN_AUTO(mem) char *canonical = NULL, *folder = NULL;
    tarn_code code = tarn_store_read(lake->store, parent_tx, &parent, err);
    TARN_AUTO(mem) char *location = parent.location;

    if (code == TARN_OK && !asked && location)
        code = tarn_iceberg_locate(location, &folder, err);
    if (code == TARN_OK)
        code = asked ? tarn_iceberg_locate(asked, &canonical, err)
                     : tarn_location_choose(lake, ident, folder, &canonical, err);
    if (code == TARN_OK)
        code = tarn_iceberg_allowed(lake, canonical, who, err);
    if (code != TARN_OK)
        return code;
    return asked ? as_asked(asked, out, err) : as_uri(canonical, out, err);
}
