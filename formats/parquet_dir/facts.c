/* facts.c - a folder of Parquet files without any table metadata, partitioned as Hive does it: the files that lie
 * there are the table. Empty files, summary files and everything hidden are none of it. */
#include "formats/coverage.h"
#include "formats/facts.h"
#include "formats/footers.h"
#include "formats/recall.h"
#include "formats/manifest/manifest.h"
#include "formats/small_files.h"
#include <string.h>

struct dir {
    const struct tarn_facts_options *options;
    struct tarn_facts *facts;
    struct tarn_picks picks;
    struct tarn_folders walked;  /* all folders */
    struct tarn_schema_past past;
    json_t *partition_keys; /* owned: as given, then as found */
    struct tarn_coverage *coverage;
    struct tarn_folders folders;
};

static void dir_done(struct dir *d)
{
    tarn_picks_done(&d->picks);
    tarn_schema_past_done(&d->past);
    tarn_coverage_free(d->coverage);
    tarn_folders_done(&d->folders);
    tarn_folders_done(&d->walked);
    json_decref(d->partition_keys);
}

static tarn_code note_folder(struct dir *d, const struct tarn_object *object, struct tarn_err *err)
{
    struct tarn_folder *folder = tarn_folders_put(&d->folders, object->path, tarn_folder_len(object->path));

    if (!folder)
        return tarn_fail_oom(err);
    tarn_tally_add(&folder->lying, tarn_hash128(object->path, strlen(object->path)), object->size);
    if (folder->lying.count == 1 || object->mtime_ms > folder->newest_ms)
        folder->newest_ms = object->mtime_ms;
    return TARN_OK;
}

static tarn_code note_file(struct dir *d, const struct tarn_object *object, struct tarn_err *err)
{
    struct tarn_facts *facts = d->facts;

    facts->file_count++;
    facts->total_bytes += object->size;
    if (object->mtime_ms > facts->newest_listed_ms && object->mtime_ms <= d->options->now_ms + TARN_SKEW_MS)
        facts->newest_listed_ms = object->mtime_ms;
    if (object->mtime_ms > facts->newest_data_ms) {
        char *path = strdup(object->path);
        if (!path)
            return tarn_fail_oom(err);
        free(facts->newest_data_path);
        facts->newest_data_path = path;
        facts->newest_data_ms = object->mtime_ms;
    }
    const struct tarn_file file = { .path = object->path, .size = object->size, .records = -1 };
    tarn_code code = tarn_coverage_note(d->coverage, &file, err);
    if (code == TARN_OK)
        code = note_folder(d, object, err);
    return code == TARN_OK ? tarn_picks_offer(&d->picks, object->path, object->size, object->mtime_ms, 0, err) : code;
}

static tarn_code note_stray(struct dir *d, const struct tarn_object *object, struct tarn_err *err)
{
    const char *format = tarn_stray_format(object->path);
    char note[64];

    if (!format || object->mtime_ms >= d->options->now_ms - d->options->unexpected_grace_ms)
        return TARN_OK;
    snprintf(note, sizeof note, "%s, among the data", format);
    return tarn_suspects_add(&d->facts->unexpected, object->path, note, -1, -1, object->mtime_ms, err);
}

/* Under a name that no reader takes for data. */
static tarn_code note_leftover(struct dir *d, const struct tarn_object *object, struct tarn_err *err)
{
    if (object->mtime_ms >= d->options->now_ms - d->options->leftover_grace_ms)
        return TARN_OK;
    d->facts->leftovers.bytes += object->size;
    return tarn_suspects_add(&d->facts->leftovers, object->path, NULL, object->size, -1, object->mtime_ms, err);
}

static tarn_code note_object(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct dir *d = ctx;

    if (d->options->stops && atomic_load_explicit(d->options->stops, memory_order_relaxed))
        return tarn_fail(err, TARN_OVERLOADED, "the server stops");
    if (object->is_folder)
        return tarn_folders_put(&d->walked, object->path, strlen(object->path)) ? TARN_OK : tarn_fail_oom(err);
    if (object->is_symlink)
        return tarn_suspects_add(&d->facts->symlinks, object->path, NULL, -1, -1, object->mtime_ms, err);
    if (tarn_is_data_file(object->path))
        return object->size > 0 ? note_file(d, object, err) : TARN_OK;
    return tarn_is_leftover(object->path) ? note_leftover(d, object, err) : note_stray(d, object, err);
}

/* A folder that cannot be read to its end, or goes meanwhile, hides its own files alone; without the top nothing is known. */
static tarn_code note_unread(struct dir *d, const char *path, tarn_code code, struct tarn_err *fault, struct tarn_err *err)
{
    bool is_gone = code == TARN_NOT_FOUND;

    if ((!is_gone && code != TARN_STORAGE_UNAVAILABLE) || !path[0])
        return tarn_err_move(err, fault);
    if (!tarn_fileset_put(&d->facts->looked_set, path))
        return tarn_fail_oom(err);
    return tarn_suspects_add(&d->facts->unread, path, is_gone ? "it went away while it was read" : fault->detail, -1, -1, -1,
                             err);
}

/* The folders are met while others are read: `walked` grows behind the one at hand. */
static tarn_code walk(struct dir *d, struct tarn_place *place, struct tarn_err *err)
{
    tarn_code code = tarn_folders_put(&d->walked, "", 0) ? TARN_OK : tarn_fail_oom(err);

    for (size_t i = 0; i < d->walked.count && code == TARN_OK; i++) {
        TARN_AUTO(mem) char *path = strdup(tarn_folder_path(&d->walked, &d->walked.items[i]));
        TARN_ERR(fault);
        code = path ? tarn_place_folder(place, path, NULL, note_object, d, &fault) : tarn_fail_oom(&fault);
        if (code != TARN_OK)
            code = note_unread(d, path ? path : "", code, &fault, err);
    }
    d->facts->looked = TARN_LOOKED_BUT;
    if (code == TARN_OK && d->facts->unread.total == 0)
        d->facts->saw |= TARN_SAW_LISTING | TARN_SAW_ENTRIES;
    return code;
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

static tarn_code end_coverage(struct dir *d, struct tarn_err *err)
{
    json_t *keys = NULL;
    tarn_code code = tarn_coverage_end(d->coverage, d->facts, &keys, NULL, err);

    if (code != TARN_OK)
        return code;
    json_decref(d->partition_keys);
    d->partition_keys = keys;
    d->facts->partition_keys = json_dumps(keys, JSON_COMPACT);
    return d->facts->partition_keys ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_parquet_dir_facts(struct tarn_place *place, const struct tarn_facts_options *options,
                                 struct tarn_facts *out, struct tarn_err *err)
{
    __attribute__((cleanup(dir_done))) struct dir d = { .options = options, .facts = out };

    d.picks.max = options->sweep ? TARN_FOOTERS_SWEEP : TARN_FOOTERS_PROBE;
    out->file_count = out->total_bytes = 0;
    d.partition_keys = options->partition_keys ? json_loads(options->partition_keys, 0, NULL) : NULL;
    d.coverage = tarn_coverage_new(d.partition_keys, NULL);
    if (!d.coverage)
        return tarn_fail_oom(err);
    tarn_code code = walk(&d, place, err);
    if (code != TARN_OK)
        return code;
    if (out->file_count == 0 && out->unread.total == 0) {
        out->state = TARN_FACTS_NO_TABLE;
        snprintf(out->why, sizeof out->why, "no Parquet file lies there");
        return TARN_OK;
    }
    out->files_known = true;
    /* The listing is the manifest; there are no documents and no schema to be looked at. */
    out->saw |= TARN_SAW_DOCUMENTS | TARN_SAW_MANIFEST | TARN_SAW_SCHEMA;
    out->last_updated = out->newest_data_ms;
    code = set_past(&d, options->schema, err);
    if (code == TARN_OK)
        code = end_coverage(&d, err);
    if (code == TARN_OK)
        code = tarn_small_files_gather(&d.folders, false, options, out, err);
    if (code == TARN_OK)
        code = tarn_footers_gather(place, &d.picks, d.picks.max, &d.past, d.partition_keys, options, out, err);
    if (out->unread.total > 0)
        out->saw &= ~(unsigned)TARN_SAW_FOOTERS;
    return code;
}
