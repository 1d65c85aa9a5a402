/* discovery_name.c - the name that a table's folders make: the other
 * way of lake/register_place.c, which makes folders of names. */
#include "base/text.h"
#include "catalog/ident.h"
#include "lake/discovery.h"
#include <stdio.h>
#include <string.h>

/* One folder's name to a level: escapes that register_place.c
 * writes are undone, as are others that decode. */
static json_t *level_of(const char *folder, size_t len)
{
    TARN_AUTO(mem) char *plain = malloc(len + 1);

    if (plain && tarn_percent_decode(folder, len, false, plain, NULL) == TARN_OK)
        return json_string(plain);
    return json_stringn(folder, len);
}

static json_t *levels_of(const char *path)
{
    json_t *levels = json_array();

    while (levels && *path) {
        size_t len = strcspn(path, "/");
        if (len > 0 && json_array_append_new(levels, level_of(path, len)) != 0) {
            json_decref(levels);
            return NULL;
        }
        path += len + (path[len] == '/');
    }
    return levels;
}

/* The last level is the table; a table alone lies in the namespace `default`. */
static bool take_levels(json_t *levels, struct tarn_ident *out)
{
    size_t count = json_array_size(levels);
    const char *name = json_string_value(json_array_get(levels, count - 1));

    if (!name || tarn_name_check(name, "name", NULL) != TARN_OK)
        return false;
    snprintf(out->name, sizeof out->name, "%s", name);
    if (count == 1) {
        snprintf(out->namespace_, sizeof out->namespace_, "default");
        return true;
    }
    json_array_remove(levels, count - 1);
    return tarn_namespace_from_levels(levels, "name", out->namespace_, NULL) == TARN_OK;
}

tarn_code tarn_name_from_folders(const char *root, const char *location, struct tarn_ident *out,
                                 bool *is_name, struct tarn_err *err)
{
    size_t len = strlen(root);
    const char *slash = strrchr(location, '/');
    const char *path = location[len] != '\0' ? location + len : slash ? slash + 1 : location;
    json_auto_t *levels = levels_of(path);

    *is_name = false;
    if (!levels)
        return tarn_fail_oom(err);
    *is_name = json_array_size(levels) > 0 && take_levels(levels, out);
    return TARN_OK;
}
