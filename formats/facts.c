/* facts.c - the life of facts, and which reader gathers them. */
#include "formats/facts.h"
#include "base/text.h"
#include "formats/manifest/manifest.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Names on storage may be any bytes; what is told must be text. Owned. */
static char *text_of(const char *name)
{
    char *out = strdup(name);

    if (out)
        tarn_utf8_mend(out);
    return out;
}

tarn_code tarn_suspects_add(struct tarn_suspects *list, const char *subject, const char *note, int64_t observed,
                            int64_t expected, int64_t mtime_ms, struct tarn_err *err)
{
    if (list->count < TARN_EXAMPLES_MAX) {
        struct tarn_suspect item = { .subject = text_of(subject),
                                     .note = note ? text_of(note) : NULL,
                                     .observed = observed,
                                     .expected = expected,
                                     .mtime_ms = mtime_ms };
        if (!item.subject || (note && !item.note)) {
            free(item.subject);
            free(item.note);
            return tarn_fail_oom(err);
        }
        list->items[list->count++] = item;
    }
    if (list->total == 0 || mtime_ms < list->oldest_ms)
        list->oldest_ms = mtime_ms;
    list->total++;
    return TARN_OK;
}

tarn_code tarn_suspects_join(struct tarn_suspects *list, const struct tarn_suspects *from, const char *note,
                             struct tarn_err *err)
{
    int64_t total = list->total + from->total, bytes = list->bytes + from->bytes;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < from->count && code == TARN_OK; i++) {
        const struct tarn_suspect *item = &from->items[i];
        code = tarn_suspects_add(list, item->subject, note ? note : item->note, item->observed, item->expected,
                                 item->mtime_ms, err);
    }
    if (from->total > 0 && from->oldest_ms < list->oldest_ms)
        list->oldest_ms = from->oldest_ms;
    list->total = total;
    list->bytes = bytes;
    return code;
}

void tarn_suspects_done(struct tarn_suspects *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].subject);
        free(list->items[i].note);
    }
    *list = (struct tarn_suspects){ 0 };
}

void tarn_facts_init(struct tarn_facts *facts)
{
    *facts = (struct tarn_facts){
        .gathered_at = -1,
        .version = -1,
        .file_count = -1,
        .rows = -1,
        .total_bytes = -1,
        .schema_version = -1,
        .last_data_commit = -1,
        .life_maybe = -1,
        .life = { .last_data = -1, .last_empty = -1, .last_commit = -1 },
        .newest_listed_ms = -1,
        .born_at = -1,
        .manifest_mtime_ms = -1,
        .pointer_mtime_ms = -1,
        .last_updated = -1,
        .shown_version = -1,
        .behind_since = -1,
        .oldest_version = -1,
        .newest_data_ms = -1,
        .staging_files = -1,
        .staging_oldest_ms = -1,
    };
}

static void drifts_done(struct tarn_facts *facts)
{
    for (size_t i = 0; i < facts->drift_count; i++) {
        struct tarn_drift_fact *drift = &facts->drifts[i];
        free(drift->column);
        free(drift->possible_rename);
        for (size_t k = 0; k < TARN_COUNT(drift->examples); k++)
            free(drift->examples[k]);
    }
    free(facts->drifts);
    for (size_t i = 0; i < facts->null_count; i++) {
        free(facts->nulls[i].column);
        free(facts->nulls[i].example);
    }
    free(facts->nulls);
}

void tarn_facts_done(struct tarn_facts *facts)
{
    char *texts[] = { facts->table,      facts->latest_transaction, facts->partition_keys, facts->last_updated_text,
                      facts->pointer_id, facts->newest_data_path,   facts->manifest_catalog, facts->manifest_uuid,
                      facts->manifest_transaction, facts->lost_root, facts->block_document };
    struct tarn_suspects *lists[] = {
        &facts->log.twice,       &facts->log.misnamed,        &facts->log.undated,     &facts->duplicate_batches,
        &facts->duplicates,      &facts->missing,             &facts->sizes,           &facts->unregistered,
        &facts->leftovers,       &facts->not_in_manifest,     &facts->still_listed,    &facts->symlinks,
        &facts->corrupt,         &facts->encrypted,           &facts->running,         &facts->unlinked,
        &facts->unexpected,      &facts->invalid_paths, &facts->metadata_missing,       &facts->small_files,     &facts->footer_too_large,
        &facts->manifest_lists_missing, &facts->metadata_newer,
        &facts->partition_drift, &facts->no_partition_values, &facts->no_column_stats, &facts->unread,
    };

    for (size_t i = 0; i < TARN_COUNT(texts); i++)
        free(texts[i]);
    for (size_t i = 0; i < TARN_COUNT(lists); i++)
        tarn_suspects_done(lists[i]);
    free(facts->log.entries);
    free(facts->log.taken);
    free(facts->log.told);
    tarn_buf_done(&facts->log.names);
    tarn_fileset_done(&facts->footer_paths);
    tarn_fileset_done(&facts->young_footers);
    tarn_fileset_done(&facts->looked_set);
    tarn_fileset_done(&facts->doubts);
    tarn_fileset_done(&facts->undecided);
    tarn_fileset_done(&facts->unread_markers);
    drifts_done(facts);
    tarn_facts_init(facts);
}

static bool is_in_set(const struct tarn_facts *facts, const char *path, size_t len)
{
    return tarn_fileset_find_hash(&facts->looked_set, tarn_hash128(path, len)) != NULL;
}

bool tarn_facts_looked_at(const struct tarn_facts *facts, const char *path)
{
    if (facts->saw & TARN_SAW_LISTING)
        return true;
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;
    if (facts->looked == TARN_LOOKED_ONLY)
        return is_in_set(facts, path, len);
    while (!is_in_set(facts, path, len)) {
        if (len == 0)
            return true;
        for (len--; len > 0 && path[len] != '/';)
            len--;
    }
    return false;
}

const char *tarn_log_id(const struct tarn_log_facts *log, const struct tarn_log_entry *entry)
{
    return log->names.data + entry->id_at;
}

const char *tarn_log_file(const struct tarn_log_facts *log, const struct tarn_log_entry *entry)
{
    return log->names.data + entry->file_at;
}

void tarn_log_number_id(const struct tarn_log_facts *log, int64_t number, char out[TARN_TXN_ID_MAX + 24])
{
    snprintf(out, TARN_TXN_ID_MAX + 24, "%s%0*" PRId64, log->prefix, log->width, number);
}

bool tarn_log_is_dense(const struct tarn_log_facts *log)
{
    size_t ones = 0;

    if (!log->numbered)
        return false;
    for (size_t i = 1; i < log->count; i++)
        ones += log->entries[i].number - log->entries[i - 1].number == 1;
    return log->count < 8 || 2 * ones >= log->count - 1;
}

void tarn_schema_past_done(struct tarn_schema_past *past)
{
    free(past->versions);
    free(past->since_ms);
    for (size_t i = 0; past->rows && i < past->count; i++)
        tarn_schema_row_done(&past->rows[i]);
    free(past->rows);
    *past = (struct tarn_schema_past){ 0 };
}

unsigned tarn_schema_past_behind(const struct tarn_schema_past *past, int64_t version)
{
    for (size_t i = past->rows ? past->count : 0; i > 0; i--) {
        if (past->rows[i - 1].version != version)
            continue;
        return past->count - i < TARN_BEHIND_MAX ? (unsigned)(past->count - i) : TARN_BEHIND_MAX;
    }
    return 0;
}

/* What a folder shows at its top, by which the formats are told apart. */
struct marks { bool manifest, delta, iceberg, hudi, parquet; };

static tarn_code note_mark(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct marks *marks = ctx;
    const char *path = object->path;

    (void)err;
    marks->manifest |= strcmp(path, "manifest.json") == 0 || strcmp(path, "_transactions") == 0 ||
                       strcmp(path, "last_committed_txn") == 0;
    marks->delta |= strcmp(path, "_delta_log") == 0;
    marks->hudi |= strcmp(path, ".hoodie") == 0;
    return TARN_OK;
}

static tarn_code note_iceberg(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct marks *marks = ctx;

    (void)err;
    marks->iceberg |= strstr(object->path, ".metadata.json") || strstr(object->path, "version-hint.text");
    return TARN_OK;
}

/* Stops the walk at the first data file, by a code that no storage gives. */
static tarn_code note_parquet(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct marks *marks = ctx;

    if (!tarn_is_data_file(object->path))
        return TARN_OK;
    marks->parquet = true;
    return tarn_fail(err, TARN_RECHECK, "found");
}

tarn_code tarn_facts_detect(struct tarn_place *place, enum tarn_format *format, struct tarn_err *err)
{
    struct marks marks = { 0 };
    tarn_code code = tarn_place_list(place, "", false, note_mark, &marks, err);
    if (code == TARN_OK)
        code = tarn_place_list(place, "metadata", false, note_iceberg, &marks, err);
    if (code == TARN_OK && !marks.manifest && !marks.delta && !marks.hudi && !marks.iceberg) {
        TARN_ERR(stop);
        code = tarn_place_list(place, "", true, note_parquet, &marks, &stop);
        code = code == TARN_RECHECK ? TARN_OK : tarn_err_move(err, &stop);
    }
    if (code != TARN_OK)
        return code;

    const struct { bool mark; enum tarn_format format; } k_order[] = {
        { marks.manifest, TARN_FORMAT_MANIFEST }, { marks.delta, TARN_FORMAT_DELTA },
        { marks.hudi, TARN_FORMAT_HUDI },         { marks.iceberg, TARN_FORMAT_ICEBERG },
        { marks.parquet, TARN_FORMAT_PARQUET },
    };
    for (size_t i = 0; i < TARN_COUNT(k_order); i++) {
        if (!k_order[i].mark)
            continue;
        *format = k_order[i].format;
        return TARN_OK;
    }
    return tarn_fail(err, TARN_NOT_FOUND, "no table of a known format lies there");
}

/* Storage's fault is a fact about the table; a lack of memory is ours. */
static tarn_code as_fact(tarn_code code, struct tarn_facts *out, struct tarn_err *fault, struct tarn_err *err)
{
    if (code == TARN_OK)
        return TARN_OK;
    if (code == TARN_INTERNAL || code == TARN_OVERLOADED)
        return tarn_err_move(err, fault);
    tarn_facts_done(out);
    out->state = TARN_FACTS_UNREACHABLE;
    out->broke_off = true;
    snprintf(out->why, sizeof out->why, "%s", fault->detail);
    return TARN_OK;
}

/* Without a word in a log, the newest file of the table tells when data came last. */
static void end_life(struct tarn_facts *out, const struct tarn_facts_options *options)
{
    const struct tarn_life *of_catalog = options->catalog ? options->catalog->life : NULL;
    struct tarn_life *life = &out->life;

    if (of_catalog) {
        for (size_t i = 0; i < of_catalog->count; i++)
            tarn_life_add(life, of_catalog->at[i]);
        life->was_cut |= of_catalog->was_cut;
        life->last_data = of_catalog->last_data;
        life->last_commit = of_catalog->last_commit;
        life->idle_commits = of_catalog->idle_commits;
    }
    bool is_whole = !options->catalog || options->catalog->knows_all;
    if (out->state == TARN_FACTS_READ && !out->files_known && options->last_data_known > 0)
        out->newest_listed_ms = options->last_data_known;
    if (life->last_data < 0 && out->newest_listed_ms >= 0 && is_whole) {
        life->last_data = out->newest_listed_ms;
        tarn_life_add(life, life->last_data);
    }
    tarn_life_end(life, options->now_ms);
    out->last_data_commit = life->last_data;
}

tarn_code tarn_facts_gather(struct tarn_place *place, enum tarn_format format, const struct tarn_facts_options *options,
                            struct tarn_facts *out, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = TARN_OK;

    tarn_facts_init(out);
    switch (format) {
    case TARN_FORMAT_MANIFEST:
        code = tarn_manifest_facts(place, options, out, &fault);
        break;
    case TARN_FORMAT_PARQUET:
        code = tarn_parquet_dir_facts(place, options, out, &fault);
        break;
    case TARN_FORMAT_ICEBERG:
    case TARN_FORMAT_DELTA:
    case TARN_FORMAT_HUDI:
        out->state = TARN_FACTS_UNSUPPORTED;
        snprintf(out->why, sizeof out->why, "%s tables are not judged yet", tarn_format_text(format));
        break;
    }
    code = as_fact(code, out, &fault, err);
    out->format = format;
    out->gathered_at = options->now_ms;
    out->behind_since = options->catalog ? options->catalog->behind_since : -1;
    out->managed = options->catalog != NULL;
    end_life(out, options);
    out->oldest_version = options->catalog ? options->catalog->table->oldest_version : -1;
    out->block = options->catalog ? options->catalog->table->block : TARN_BLOCK_NONE;
    out->before = options->before;
    const char *document = options->catalog ? options->catalog->table->block_document : NULL;
    out->block_document = document ? strdup(document) : NULL;
    if (code == TARN_OK && out->state != TARN_FACTS_UNREACHABLE)
        out->saw |= TARN_SAW_STORAGE | (format == TARN_FORMAT_MANIFEST ? 0u : (unsigned)TARN_SAW_NO_LOG);
    return code;
}
