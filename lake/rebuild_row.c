/* rebuild_row.c - the row of a table that is rebuilt, before
 * its first version: what its documents tell besides files. */
#include "base/json.h"
#include "base/time.h"
#include "lake/publish.h"
#include "lake/rebuild_run.h"
#include <stdio.h>
#include <string.h>

/* Documents that older servers wrote do not say where the table began. */
static int64_t first_version_of(const struct tarn_rebuilding *b)
{
    const struct tarn_traces *t = &b->traces;
    int64_t lowest = t->entries.count > 0 ? t->entries.items[0].version : 1;

    if (t->manifest_own && t->manifest.created_at >= 0 && t->manifest.first_version <= t->manifest.version)
        return t->manifest.first_version;
    if (t->checkpoints.count > 0 && t->checkpoints.items[0].version <= lowest)
        return 0; /* its history was cut there */
    return lowest - 1;
}

static int64_t created_of(const struct tarn_rebuilding *b)
{
    const struct tarn_traces *t = &b->traces;

    if (t->manifest.created_at >= 0)
        return t->manifest.created_at;
    if (t->entries.count > 0 && t->entries.items[0].timestamp >= 0)
        return t->entries.items[0].timestamp;
    return t->manifest.last_updated >= 0 ? t->manifest.last_updated : tarn_now_ms();
}

static tarn_code reserve_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tables.reserve_id(tx, &((struct tarn_rebuilding *)ctx)->table->id, err);
}

static tarn_code meet(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    (void)object;
    (void)err;
    *(bool *)ctx = true;
    return TARN_OK;
}

/* The lists are there, so somebody wants them: left alone they would tell of the present for ever. */
static tarn_code properties_of(struct tarn_rebuilding *b, char **out, struct tarn_err *err)
{
    bool has_links = false;
    tarn_code code = tarn_place_list(b->place, TARN_DIR_LINKS, true, meet, &has_links, err);

    if (code == TARN_OK)
        *out = strdup(has_links ? "{\"" TARN_PROPERTY_LINKS "\":true}" : "{}");
    return code != TARN_OK || *out ? code : tarn_fail_oom(err);
}

struct keys {
    char *text; /* owned */
};

/* Where the manifest does not tell the keys: those of its first file that has values. */
static tarn_code note_keys(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct keys *keys = ctx;
    json_auto_t *values =
        file->partition_values && !keys->text ? json_loads(file->partition_values, 0, NULL) : NULL;
    json_auto_t *names = values ? json_array() : NULL;
    const char *name;
    json_t *value;

    if (!names || json_object_size(values) == 0)
        return TARN_OK;
    json_object_foreach (values, name, value)
        if (json_array_append_new(names, json_string(name)) != 0)
            return tarn_fail_oom(err);
    keys->text = tarn_json_text(names);
    return keys->text ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code partition_keys_of(struct tarn_rebuilding *b, char **out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    struct keys keys = { NULL };
    TARN_ERR(fault);
    tarn_code code = TARN_OK;

    if (b->traces.manifest_own && b->traces.manifest.partition_keys)
        keys.text = strdup(b->traces.manifest.partition_keys);
    else if (b->traces.manifest_own && b->traces.manifest.created_at < 0)
        code = tarn_manifest_read_at(b->place, &head, NULL, note_keys, &keys, &fault);
    *out = keys.text ? keys.text : strdup("[]");
    return !*out ? tarn_fail_oom(err) : code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

tarn_code tarn_rebuild_row(struct tarn_rebuilding *b, struct tarn_err *err)
{
    const struct tarn_rebuild_candidate *c = b->candidate;
    struct tarn_table *t = b->table = calloc(1, sizeof *t);

    if (!t)
        return tarn_fail_oom(err);
    snprintf(t->uuid, sizeof t->uuid, "%.*s", (int)sizeof t->uuid - 1, c->uuid);
    t->namespace_ = strdup(c->ident.namespace_);
    t->name = strdup(c->ident.name);
    t->location = strdup(c->location);
    t->monitors = strdup("{}");
    if (!t->namespace_ || !t->name || !t->location || !t->monitors)
        return tarn_fail_oom(err);
    t->format = TARN_FORMAT_MANIFEST;
    t->mode = TARN_MANAGED;
    t->publish = true;
    t->dropped_at = -1;
    t->revision = 1;
    t->created_at = created_of(b);
    t->first_version = t->oldest_version = t->version = first_version_of(b);
    t->schema_version = b->schemas.count > 0 ? b->schemas.rows[b->schemas.count - 1].version : 0;
    tarn_code code = properties_of(b, &t->properties, err);
    if (code == TARN_OK)
        code = partition_keys_of(b, &t->partition_keys, err);
    return code == TARN_OK ? tarn_store_write(b->rebuild->lake->store, reserve_tx, b, err) : code;
}
