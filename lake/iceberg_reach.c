/* iceberg_reach.c - what a request may reach on storage: whatever a document names, nothing is written or taken away outside the
 * roots of server and token, or in another table's folder. */
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "lake/iceberg_place.h"
#include "lake/register.h"
#include <string.h>

/* Folders that a purge takes files from, beside the table's own. */
static const char *const k_folders[] = { "write.data.path", "write.metadata.path", "write.object-storage.path" };

tarn_code tarn_iceberg_allowed(const struct tarn_lake *lake, const char *location, const struct tarn_iceberg_who *who,
                               struct tarn_err *err)
{
    TARN_AUTO(mem) char *canonical = NULL;
    tarn_code code = tarn_iceberg_locate(location, &canonical, err);

    if (code == TARN_OK)
        code = tarn_storage_allows(lake->storage, canonical, err);
    if (code == TARN_OK && who->may_use && !who->may_use(who->who, canonical))
        code = tarn_fail(err, TARN_LOCATION_NOT_ALLOWED, "%.400s: the token's roots do not include it", canonical);
    return code;
}

struct owner_ctx { struct tarn_lake *lake; const char *location; int64_t own_id; };

static tarn_code owner_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct owner_ctx *c = ctx;
    TARN_AUTO(table) struct tarn_table *owner = NULL;
    tarn_code code = tarn_location_owner(tx, c->lake, c->location, true, c->own_id, tarn_now_ms(), &owner, err);

    return code == TARN_OK && owner ? tarn_location_taken(owner, c->location, err) : code;
}

static tarn_code check_free(struct tarn_lake *lake, const char *location, int64_t own_id, struct tarn_err *err)
{
    TARN_AUTO(mem) char *canonical = NULL;
    tarn_code code = tarn_iceberg_locate(location, &canonical, err);
    struct owner_ctx c = { lake, canonical, own_id };

    return code == TARN_OK ? tarn_store_read(lake->store, owner_tx, &c, err) : code;
}

/* A folder outside the server's roots is the engines' own affair: nothing here touches it. */
static tarn_code check_folder(struct tarn_lake *lake, const char *folder, const struct tarn_iceberg_who *who, struct tarn_err *err)
{
    TARN_AUTO(mem) char *canonical = NULL;
    TARN_ERR(outside);

    if (tarn_iceberg_locate(folder, &canonical, &outside) != TARN_OK ||
        tarn_storage_allows(lake->storage, canonical, &outside) != TARN_OK)
        return TARN_OK;
    return tarn_iceberg_allowed(lake, canonical, who, err);
}

static bool names_folders(const struct tarn_iceberg_meta *meta)
{
    for (size_t i = 0; i < TARN_COUNT(k_folders); i++)
        if (tarn_iceberg_property(meta, k_folders[i]))
            return true;
    return false;
}

/* `before`: the row's properties, a JSON text, or NULL. What they name already was checked then. */
static tarn_code check_folders(struct tarn_lake *lake, const struct tarn_iceberg_meta *meta, const struct tarn_iceberg_who *who,
                               const char *before, struct tarn_err *err)
{
    json_t *old = NULL;

    if (!names_folders(meta))
        return TARN_OK;
    tarn_code code = before ? tarn_json_parse(before, strlen(before), NULL, &old, err) : TARN_OK;
    for (size_t i = 0; i < TARN_COUNT(k_folders) && code == TARN_OK; i++) {
        const char *now = tarn_iceberg_property(meta, k_folders[i]), *was = json_string_value(json_object_get(old, k_folders[i]));
        if (now && *now && !(was && strcmp(was, now) == 0))
            code = check_folder(lake, now, who, err);
    }
    json_decref(old);
    return code;
}

tarn_code tarn_iceberg_check_paths(struct tarn_lake *lake, const struct tarn_iceberg_meta *meta, const char *file,
                                   const struct tarn_iceberg_who *who, int64_t own_id, const char *before, struct tarn_err *err)
{
    const char *folder = tarn_iceberg_property(meta, "write.metadata.path");
    tarn_code code = check_folders(lake, meta, who, before, err);

    bool is_apart = file && folder && *folder;

    if (code == TARN_OK && is_apart)
        code = tarn_iceberg_allowed(lake, file, who, err);
    return code == TARN_OK && is_apart ? check_free(lake, file, own_id, err) : code;
}

static bool lies_in(const char *file, const char *folder)
{
    TARN_AUTO(mem) char *inner = NULL, *outer = NULL;
    TARN_ERR(ignored);

    return folder && *folder && tarn_iceberg_locate(file, &inner, &ignored) == TARN_OK &&
           tarn_iceberg_locate(folder, &outer, &ignored) == TARN_OK && tarn_location_within(inner, outer);
}

bool tarn_iceberg_owns_file(struct tarn_lake *lake, const struct tarn_iceberg_meta *meta, int64_t own_id, const char *file)
{
    TARN_ERR(taken);

    if (!tarn_ends_with(file, ".metadata.json") && !tarn_ends_with(file, ".metadata.json.gz"))
        return false;
    if (lies_in(file, meta->location))
        return true;
    return lies_in(file, tarn_iceberg_property(meta, "write.metadata.path")) &&
           check_free(lake, file, own_id, &taken) == TARN_OK;
}
