/* facts_staging.c - staging/ against processed/: which staged batches wait, which markers say that a merge runs, and
 * which finished batches no transaction names. Of a managed table the catalog knows the batches; a marker of one that
 * it knows only follows it. */
#include "formats/manifest/gather.h"
#include "base/json.h"
#include "base/text.h"
#include <string.h>
#include <strings.h>

enum {
    MARKERS_READ = 1000,      /* markers whose content is read; the others count as completed */
    MARKER_MAX_BYTES = 65536
};

struct staging {
    struct tarn_gather *g;
    struct tarn_fileset done;  /* ids of completed batches, as named by their markers or the catalog */
    struct tarn_fileset known; /* markers of batches that the catalog knows */
    int64_t markers;
};

static void staging_done(struct staging *s)
{
    tarn_fileset_done(&s->done);
    tarn_fileset_done(&s->known);
}

struct marker { const char *batch_id, *status, *transaction; int64_t records, start_ms, end_ms; };

static tarn_code keep_done(struct staging *s, const char *batch_id, struct tarn_err *err)
{
    return tarn_fileset_put(&s->done, batch_id) ? TARN_OK : tarn_fail_oom(err);
}

/* "processed/a/b.json" stands for the batch "a/b.parquet", and so does "processed/a/b.parquet.json". */
static tarn_code id_by_name(const char *path, struct tarn_buf *id, struct tarn_err *err)
{
    const char *name = path + strlen("processed/");

    tarn_buf_add(id, name, strlen(name) - strlen(".json"));
    if (!tarn_ends_with(path, ".parquet.json"))
        tarn_buf_adds(id, ".parquet");
    return tarn_buf_check(id, err);
}

static struct marker marker_of(const json_t *root, const char *fallback, int64_t mtime_ms)
{
    const json_t *records = json_object_get(root, "num_records");
    const char *start = json_string_value(json_object_get(root, "start_time"));
    const char *end = json_string_value(json_object_get(root, "end_time"));
    const char *batch_id = json_string_value(json_object_get(root, "batch_id"));
    const char *status = json_string_value(json_object_get(root, "status"));
    struct marker m = { .batch_id = batch_id ? batch_id : fallback,
                        .status = status ? status : "completed",
                        .transaction = json_string_value(json_object_get(root, "transaction")),
                        .records = json_is_integer(records) ? json_integer_value(records) : -1,
                        .start_ms = mtime_ms,
                        .end_ms = -1 };
    enum tarn_time_form form;

    if (start)
        (void)!tarn_time_read(start, &m.start_ms, &form);
    if (end)
        (void)!tarn_time_read(end, &m.end_ms, &form);
    return m;
}

/* A batch that found nothing proves that somebody looked. */
static void note_alive(struct staging *s, int64_t told, int64_t otherwise)
{
    struct tarn_life *life = &s->g->facts->life;
    int64_t at = tarn_life_instant(told, otherwise, s->g->options->now_ms);

    tarn_life_add(life, at);
    if (at > life->last_empty)
        life->last_empty = at;
}

/* A finished batch that brought rows and that neither its marker nor a commit connects with the other. In the founding form no
 * batch is: that proves nothing. Where the log names others it does, as far back as the log was read. */
static tarn_code note_unlinked(struct staging *s, const struct marker *m, int64_t mtime_ms, struct tarn_err *err)
{
    const struct tarn_named_batches *named = &s->g->recall->batches;
    struct tarn_facts *facts = s->g->facts;
    int64_t since = m->end_ms >= 0 ? m->end_ms : mtime_ms;
    bool is_named = false;

    tarn_code code = tarn_batch_is_named(&named->names, m->batch_id, &is_named, err);
    facts->linked_batches += is_named && named->is_certain;
    bool is_due = since < s->g->options->now_ms - s->g->options->processed_grace_ms;
    bool is_before = since < named->since_ms && (named->names.count > 0 || facts->log.was_cut);
    if (code != TARN_OK || is_named || !is_due || is_before)
        return code;
    return tarn_suspects_add(&facts->unlinked, m->batch_id, NULL, -1, -1, mtime_ms, err);
}

static tarn_code note_marker(struct staging *s, const struct marker *m, int64_t mtime_ms, struct tarn_err *err)
{
    struct tarn_facts *facts = s->g->facts;

    if (strcasecmp(m->status, "running") == 0)
        return tarn_suspects_add(&facts->running, m->batch_id, NULL, -1, -1, m->start_ms, err);
    if (strcasecmp(m->status, "completed") != 0)
        return TARN_OK;
    if (m->records == 0)
        note_alive(s, m->end_ms, mtime_ms);
    tarn_code code = keep_done(s, m->batch_id, err);
    if (code == TARN_OK && m->records != 0 && !m->transaction && !s->g->options->catalog)
        code = note_unlinked(s, m, mtime_ms, err);
    return code;
}

/* A merge engine is not done with a batch because its marker is torn. */
static tarn_code note_unread(struct staging *s, const char *batch_id, struct tarn_err *err)
{
    struct tarn_fileset *unread = &s->g->facts->unread_markers;
    const char *slash = strrchr(batch_id, '/');

    s->g->facts->saw &= ~(unsigned)TARN_SAW_STAGING;
    return tarn_fileset_put(unread, batch_id) && tarn_fileset_put(unread, slash ? slash + 1 : batch_id) ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code note_processed(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct staging *s = ctx;
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 }, id = { 0 };
    json_auto_t *root = NULL;
    TARN_ERR(fault);

    if (object->is_symlink || !tarn_ends_with(object->path, ".json") || strrchr(object->path, '/')[1] == '.')
        return TARN_OK;
    if (tarn_fileset_find(&s->known, object->path))
        return TARN_OK;
    tarn_code code = id_by_name(object->path, &id, err);
    if (code != TARN_OK || s->markers++ >= MARKERS_READ)
        return code == TARN_OK ? keep_done(s, id.data, err) : code;
    code = tarn_place_read_all(s->g->place, object->path, MARKER_MAX_BYTES, &text, NULL, &fault);
    if (code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code == TARN_OK)
        code = tarn_json_parse(text.data ? text.data : "", text.len, NULL, &root, &fault);
    if (code == TARN_INVALID || code == TARN_PAYLOAD_TOO_LARGE || (code == TARN_OK && !json_is_object(root)))
        return note_unread(s, id.data, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    struct marker m = marker_of(root, id.data, object->mtime_ms);
    return note_marker(s, &m, object->mtime_ms, err);
}

static tarn_code note_staged(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct staging *s = ctx;
    struct tarn_facts *facts = s->g->facts;
    const char *path = object->path + strlen("staging/");
    const char *name = strrchr(object->path, '/') + 1;

    (void)err;
    if (object->is_symlink || !tarn_ends_with(path, ".parquet") || name[0] == '.' || name[0] == '_')
        return TARN_OK;
    if (tarn_fileset_find(&s->done, path) || tarn_fileset_find(&s->done, name))
        return TARN_OK;
    facts->staging_files++;
    facts->staging_bytes += object->size;
    if (facts->staging_oldest_ms < 0 || object->mtime_ms < facts->staging_oldest_ms)
        facts->staging_oldest_ms = object->mtime_ms;
    return TARN_OK;
}

/* The catalog knows which commit applied a batch; one that is said to be completed and was not, is lost data. */
static tarn_code note_completed(struct staging *s, const struct tarn_batch *batch, struct tarn_err *err)
{
    int64_t since = batch->end_time >= 0 ? batch->end_time : batch->updated_at;
    bool is_due = since < s->g->options->now_ms - s->g->options->processed_grace_ms;
    tarn_code code = keep_done(s, batch->batch_id, err);

    s->g->facts->linked_batches += batch->version >= 0;
    if (code != TARN_OK || batch->version >= 0 || batch->num_records == 0 || !is_due)
        return code;
    return tarn_suspects_add(&s->g->facts->unlinked, batch->batch_id, NULL, -1, -1, since, err);
}

static tarn_code note_batch(void *ctx, const struct tarn_batch *batch, struct tarn_err *err)
{
    struct staging *s = ctx;
    char path[TARN_BATCH_DOC_PATH];

    tarn_batch_doc_path(batch->batch_id, path);
    if (!tarn_fileset_put(&s->known, path))
        return tarn_fail_oom(err);
    if (batch->status == TARN_BATCH_IS_COMPLETED && batch->num_records == 0)
        note_alive(s, batch->end_time, batch->updated_at);
    if (batch->status == TARN_BATCH_IS_COMPLETED)
        return note_completed(s, batch, err);
    if (batch->status != TARN_BATCH_IS_RUNNING)
        return TARN_OK;
    int64_t since = batch->start_time >= 0 ? batch->start_time : batch->updated_at;
    return tarn_suspects_add(&s->g->facts->running, batch->batch_id, NULL, -1, -1, since, err);
}

/* Is there a folder of that name? */
static tarn_code note_folder(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    bool *has = ctx;

    (void)err;
    *has |= object->is_folder && (strcmp(object->path, "staging") == 0 || strcmp(object->path, "processed") == 0);
    return TARN_OK;
}

tarn_code tarn_gather_staging(struct tarn_gather *g, struct tarn_err *err)
{
    __attribute__((cleanup(staging_done))) struct staging s = { .g = g };
    bool has_any = false;

    const struct tarn_facts_catalog *catalog = g->options->catalog;
    tarn_code code = tarn_place_list(g->place, "", false, note_folder, &has_any, err);
    if (code == TARN_OK && catalog)
        code = catalog->batches(catalog->ctx, note_batch, &s, err);
    if (code == TARN_OK)
        g->facts->saw |= TARN_SAW_STAGING; /* that there is none was seen too: what was told of it ends */
    if (code != TARN_OK || (!has_any && !catalog))
        return code;
    if (has_any)
        g->facts->staging_files = 0;
    if (code == TARN_OK)
        code = tarn_place_list(g->place, "processed", true, note_processed, &s, err);
    if (code == TARN_OK)
        code = tarn_place_list(g->place, "staging", true, note_staged, &s, err);
    return code;
}
