/* facts.c - a folder of Parquet files without any table metadata, partitioned as Hive does it: the files that lie
 * there are the table. Empty files, summary files and everything hidden are none of it. */
#include "formats/facts.h"
#include "formats/footers.h"
#include "formats/manifest/manifest.h"
#include <string.h>

enum { FOOTERS_PROBE = 200, FOOTERS_SWEEP = 5000 }; /* newest files whose footer is read */

struct dir {
    struct tarn_facts *facts;
    struct tarn_picks picks;
    struct tarn_schema_past past;
    json_t *partition_keys; /* owned; NULL until the first file tells */
};

static void dir_done(struct dir *d)
{
    tarn_picks_done(&d->picks);
    tarn_schema_past_done(&d->past);
    json_decref(d->partition_keys);
}

/* The keys of "date=2026-01-01/hour=14/part.parquet". */
static json_t *keys_of_path(const char *path)
{
    json_t *keys = json_array();

    for (const char *slash = strchr(path, '/'); keys && slash; path = slash + 1, slash = strchr(path, '/')) {
        const char *equals = memchr(path, '=', (size_t)(slash - path));
        if (equals && equals > path)
            json_array_append_new(keys, json_stringn(path, (size_t)(equals - path)));
    }
    return keys;
}

static tarn_code note_file(struct dir *d, const struct tarn_object *object, struct tarn_err *err)
{
    struct tarn_facts *facts = d->facts;

    facts->file_count++;
    facts->total_bytes += object->size;
    if (!d->partition_keys) {
        d->partition_keys = keys_of_path(object->path);
        if (!d->partition_keys)
            return tarn_fail_oom(err);
    }
    if (object->mtime_ms > facts->newest_data_ms) {
        char *path = strdup(object->path);
        if (!path)
            return tarn_fail_oom(err);
        free(facts->newest_data_path);
        facts->newest_data_path = path;
        facts->newest_data_ms = object->mtime_ms;
    }
    return tarn_picks_offer(&d->picks, object->path, object->size, object->mtime_ms, 0, err);
}

static tarn_code note_object(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct dir *d = ctx;

    if (object->is_symlink)
        return tarn_suspects_add(&d->facts->symlinks, object->path, NULL, -1, -1, object->mtime_ms, err);
    if (object->size == 0 || !tarn_is_data_file(object->path))
        return TARN_OK;
    return note_file(d, object, err);
}

static tarn_code set_past(struct dir *d, const struct tarn_schema *schema, struct tarn_err *err)
{
    if (!schema)
        return TARN_OK;
    d->past.versions = calloc(1, sizeof *d->past.versions);
    d->past.since_ms = calloc(1, sizeof *d->past.since_ms);
    if (!d->past.versions || !d->past.since_ms)
        return tarn_fail_oom(err);
    d->past.current = d->past.versions[0] = schema;
    d->past.since_ms[0] = INT64_MIN;
    d->past.count = 1;
    return TARN_OK;
}

static tarn_code note_partition_keys(struct dir *d, const char *given, struct tarn_err *err)
{
    if (given) {
        json_decref(d->partition_keys);
        d->partition_keys = json_loads(given, 0, NULL);
    }
    if (!d->partition_keys)
        d->partition_keys = json_array();
    d->facts->partition_keys = d->partition_keys ? json_dumps(d->partition_keys, JSON_COMPACT) : NULL;
    return d->facts->partition_keys ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_parquet_dir_facts(struct tarn_place *place, const struct tarn_facts_options *options,
                                 struct tarn_facts *out, struct tarn_err *err)
{
    __attribute__((cleanup(dir_done))) struct dir d = { .facts = out };

    d.picks.max = options->sweep ? FOOTERS_SWEEP : FOOTERS_PROBE;
    out->file_count = out->total_bytes = 0;
    tarn_code code = tarn_place_list(place, "", true, note_object, &d, err);
    if (code != TARN_OK)
        return code;
    if (out->file_count == 0) {
        out->state = TARN_FACTS_NO_TABLE;
        snprintf(out->why, sizeof out->why, "no Parquet file lies there");
        return TARN_OK;
    }
    out->saw |= TARN_SAW_LISTING;
    out->last_updated = out->newest_data_ms;
    code = set_past(&d, options->schema, err);
    if (code == TARN_OK)
        code = note_partition_keys(&d, options->partition_keys ? options->partition_keys : NULL, err);
    if (code == TARN_OK)
        code = tarn_footers_gather(place, &d.picks, &d.past, d.partition_keys, out, err);
    return code;
}
