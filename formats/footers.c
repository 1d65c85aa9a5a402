/* footers.c - the footers of the newest files: read side by side, noted one by one, folded in the order of the files into few
 * facts: one a kind of drift and column, not one a file, so that a thousand files with the same fault are one line. */
#include "formats/footers.h"
#include "base/text.h"
#include "catalog/schema_map.h"
#include "formats/footer_note.h"
#include <pthread.h>
#include <string.h>

enum {
    DRIFTS_MAX = 500,  /* kinds and columns told apart */
    THREADS_MAX = 4,   /* that read, the caller's too */
    A_THREAD = 64      /* footers for which another thread is worth its start */
};

/* --- reading --- */

struct reading {
    struct tarn_place *place;
    struct tarn_pick *picks;
    size_t count;
    const struct tarn_schema_past *past;
    const json_t *partition_keys;
    struct tarn_schema_map **maps; /* owned, by how far behind; those that are needed */
    char **whys;                   /* owned, by pick: why it could not be read; NULL: it was, or is gone */
    pthread_mutex_t lock;          /* guards what follows */
    size_t next;
    tarn_code code;
    struct tarn_err *err;
};

static void reading_done(struct reading *r)
{
    for (size_t i = 0; r->maps && i < TARN_BEHIND_MAX; i++)
        tarn_schema_map_free(r->maps[i]);
    free(r->maps);
    for (size_t i = 0; r->whys && i < r->count; i++)
        free(r->whys[i]);
    free(r->whys);
    pthread_mutex_destroy(&r->lock);
}

/* A file that names an older version is held to that one: what changed since is no fault of the file. */
static tarn_code make_maps(struct reading *r, struct tarn_err *err)
{
    const struct tarn_schema_past *past = r->past;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < r->count && code == TARN_OK; i++) {
        size_t behind = r->picks[i].behind;
        if (behind == 0 || behind >= TARN_BEHIND_MAX || r->picks[i].note || !past->current)
            continue;
        if (!r->maps)
            r->maps = calloc(TARN_BEHIND_MAX, sizeof *r->maps);
        if (!r->maps)
            return tarn_fail_oom(err);
        if (!r->maps[behind])
            code = tarn_schema_map_of(past->rows, past->count, past->rows[past->count - 1 - behind].version,
                                      &r->maps[behind], err);
    }
    return code;
}

static tarn_code read_one(struct reading *r, struct tarn_pick *pick, struct tarn_err *err)
{
    TARN_AUTO(parquet) struct tarn_parquet *parquet = NULL;
    bool is_long_ago = pick->behind >= TARN_BEHIND_MAX; /* too long to be told apart */
    const struct tarn_footer_rule rule = { .schema = is_long_ago ? NULL : r->past->current,
                                           .map = r->maps && !is_long_ago ? r->maps[pick->behind] : NULL,
                                           .partition_keys = r->partition_keys };

    tarn_code code = tarn_parquet_read(r->place, pick->path, pick->size, &parquet, err);
    return code == TARN_OK ? tarn_footer_note_make(parquet, pick->path, &rule, &pick->note, err) : code;
}

/* The next one that has no note, SIZE_MAX: none, or somebody failed. */
static size_t take_next(struct reading *r)
{
    size_t at = SIZE_MAX;

    pthread_mutex_lock(&r->lock);
    while (r->next < r->count && r->picks[r->next].note)
        r->next++;
    if (r->next < r->count && r->code == TARN_OK)
        at = r->next++;
    pthread_mutex_unlock(&r->lock);
    return at;
}

/* What storage does not give is a fact about that file; everything else ends the reading. */
static void note_fault(struct reading *r, size_t at, tarn_code code, struct tarn_err *fault)
{
    if (code == TARN_NOT_FOUND)
        return;
    if (code == TARN_STORAGE_UNAVAILABLE)
        r->whys[at] = strdup(fault->detail);
    if (code == TARN_STORAGE_UNAVAILABLE && r->whys[at])
        return;
    pthread_mutex_lock(&r->lock);
    if (r->code == TARN_OK)
        r->code = tarn_err_move(r->err, fault);
    pthread_mutex_unlock(&r->lock);
}

static void *read_many(void *ctx)
{
    struct reading *r = ctx;

    for (size_t at = take_next(r); at != SIZE_MAX; at = take_next(r)) {
        TARN_ERR(fault);
        tarn_code code = read_one(r, &r->picks[at], &fault);
        if (code != TARN_OK)
            note_fault(r, at, code, &fault);
    }
    return NULL;
}

static tarn_code read_all(struct reading *r, struct tarn_err *err)
{
    pthread_t threads[THREADS_MAX];
    size_t unread = 0, started = 0;

    for (size_t i = 0; i < r->count; i++)
        unread += !r->picks[i].note;
    r->whys = calloc(r->count + 1, sizeof *r->whys);
    tarn_code code = r->whys ? make_maps(r, err) : tarn_fail_oom(err);
    if (code != TARN_OK)
        return code;
    while (started + 1 < THREADS_MAX && (started + 1) * A_THREAD < unread &&
           pthread_create(&threads[started], NULL, read_many, r) == 0)
        started++;
    (void)read_many(r);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    return r->code;
}

/* Files of one writer have one note: neighbours share it. */
static void share_notes(struct tarn_pick *picks, size_t count)
{
    enum { LAST = 8 };
    struct tarn_footer_note *last[LAST] = { 0 };

    for (size_t i = 0, at = 0; i < count; i++) {
        struct tarn_footer_note *note = picks[i].note, *same = NULL;
        for (size_t k = 0; k < LAST && note && !same; k++)
            if (last[k] && tarn_footer_note_equal(last[k], note))
                same = last[k];
        if (!note)
            continue;
        if (!same) {
            last[at++ % LAST] = note;
        } else if (same != note) {
            tarn_footer_note_drop(note);
            picks[i].note = tarn_footer_note_hold(same);
        }
    }
}

/* --- folding --- */

struct folding {
    struct tarn_facts *facts;
    const struct tarn_schema_past *past;
    struct tarn_pick *pick;        /* the file at hand */
    const struct tarn_facts_options *options;
    bool *ended;                   /* per facts->nulls: an older file has values */
};

/* By dotted path; the "list" and "key_value" steps of a file's layout are passed over. */
static bool has_column(const struct tarn_schema *schema, const char *path)
{
    const struct tarn_type *type = &schema->root;

    while (*path) {
        size_t len = strcspn(path, ".");
        const struct tarn_column *column = NULL;
        for (size_t i = 0; i < type->field_count && !column; i++)
            if (strlen(type->fields[i].name) == len && memcmp(type->fields[i].name, path, len) == 0)
                column = &type->fields[i];
        bool is_step = (len == 4 && memcmp(path, "list", 4) == 0) || (len == 9 && memcmp(path, "key_value", 9) == 0);
        if (!column && !is_step)
            return false;
        if (column)
            type = &column->type;
        path += len + (path[len] == '.');
    }
    return true;
}

/* When the column came (missing in a file), or went (extra in a file): files before that are of another time. */
static int64_t changed_at(const struct tarn_schema_past *past, const char *column, bool came)
{
    int64_t at = INT64_MIN;

    for (size_t i = past->count; i > 0; i--) {
        if (has_column(past->versions[i - 1], column) != came)
            return i < past->count ? past->since_ms[i] : INT64_MIN;
        at = past->since_ms[i - 1];
    }
    return came ? at : INT64_MIN;
}

/* The fact of this kind and column, made when missing; *out NULL: too many. */
static tarn_code drift_fact(struct folding *f, const struct tarn_noted_drift *drift, struct tarn_drift_fact **out,
                            struct tarn_err *err)
{
    struct tarn_facts *facts = f->facts;

    *out = NULL;
    for (size_t i = 0; i < facts->drift_count && !*out; i++)
        if (facts->drifts[i].kind == drift->kind && strcmp(facts->drifts[i].column, drift->column) == 0)
            *out = &facts->drifts[i];
    facts->drifts_cut |= !*out && facts->drift_count == DRIFTS_MAX;
    if (*out || facts->drifts_cut)
        return TARN_OK;
    if (!facts->drifts)
        facts->drifts = calloc(DRIFTS_MAX, sizeof *facts->drifts);
    if (!facts->drifts)
        return tarn_fail_oom(err);
    struct tarn_drift_fact *fact = &facts->drifts[facts->drift_count];
    fact->kind = drift->kind;
    memcpy(fact->registered, drift->registered, sizeof fact->registered);
    memcpy(fact->found, drift->found, sizeof fact->found);
    if (!tarn_text_set(&fact->column, drift->column))
        return tarn_fail_oom(err);
    facts->drift_count++;
    *out = fact;
    return tarn_text_set(&fact->possible_rename, drift->possible_rename) ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code fold_drift(struct folding *f, const struct tarn_noted_drift *drift, struct tarn_err *err)
{
    bool is_extra = drift->kind == TARN_DRIFT_EXTRA_COLUMN, is_by_its_own = f->pick->behind > 0;
    struct tarn_drift_fact *fact;
    tarn_code code = drift_fact(f, drift, &fact, err);

    if (code != TARN_OK || !fact)
        return code;
    if (is_by_its_own || f->pick->mtime_ms >= changed_at(f->past, drift->column, !is_extra))
        fact->newer_files++;
    fact->severe |= drift->severe;
    bool is_example = fact->files < (int64_t)TARN_COUNT(fact->examples);
    if (is_example && !tarn_text_set(&fact->examples[fact->files], f->pick->path))
        return tarn_fail_oom(err);
    fact->files++;
    return TARN_OK;
}

/* The column, or the struct around it. */
static bool has_null(const struct tarn_footer_note *note, const char *column)
{
    for (size_t i = 0; i < note->null_count; i++) {
        size_t len = strlen(note->nulls[i]);
        if (strncmp(note->nulls[i], column, len) == 0 && (column[len] == '\0' || column[len] == '.'))
            return true;
    }
    return false;
}

/* The newest file with rows names the candidates. */
static tarn_code start_nulls(struct folding *f, const struct tarn_footer_note *note, struct tarn_err *err)
{
    struct tarn_facts *facts = f->facts;

    facts->nulls = calloc(note->null_count + 1, sizeof *facts->nulls);
    f->ended = calloc(note->null_count + 1, sizeof *f->ended);
    if (!facts->nulls || !f->ended)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < note->null_count; i++) {
        struct tarn_null_fact *fact = &facts->nulls[facts->null_count++];
        fact->files = 1;
        if (!tarn_text_set(&fact->column, note->nulls[i]) || !tarn_text_set(&fact->example, f->pick->path))
            return tarn_fail_oom(err);
    }
    return TARN_OK;
}

static tarn_code fold_nulls(struct folding *f, const struct tarn_footer_note *note, struct tarn_err *err)
{
    struct tarn_facts *facts = f->facts;

    if (!note->has_rows)
        return TARN_OK;
    if (facts->files_with_rows++ == 0)
        return start_nulls(f, note, err);
    for (size_t i = 0; i < facts->null_count; i++) {
        f->ended[i] |= !has_null(note, facts->nulls[i].column);
        facts->nulls[i].files += !f->ended[i];
    }
    return TARN_OK;
}

static bool is_young(const struct folding *f)
{
    const struct tarn_facts_options *o = f->options;
    int64_t at = f->pick->mtime_ms;

    return o->corrupt_grace_ms > 0 && at >= o->now_ms - o->corrupt_grace_ms && at <= o->now_ms + TARN_SKEW_MS;
}

static tarn_code fold_one(struct folding *f, const struct tarn_footer_note *note, struct tarn_err *err)
{
    struct tarn_facts *facts = f->facts;
    struct tarn_suspects *lists[] = { NULL, &facts->corrupt, &facts->encrypted, &facts->footer_too_large };
    tarn_code code = TARN_OK;

    if (note->state == TARN_PARQUET_CORRUPT && is_young(f)) {
        tarn_footer_note_drop(tarn_take(&f->pick->note));
        return tarn_fileset_put(&facts->young_footers, f->pick->path) ? TARN_OK : tarn_fail_oom(err);
    }
    facts->footers_read++;
    if (!tarn_fileset_put(&facts->footer_paths, f->pick->path))
        return tarn_fail_oom(err);
    if (note->state != TARN_PARQUET_OK)
        return tarn_suspects_add(lists[note->state], f->pick->path, note->reason, -1, -1, f->pick->mtime_ms, err);
    for (size_t i = 0; i < note->drift_count && code == TARN_OK; i++)
        code = fold_drift(f, &note->drifts[i], err);
    return code == TARN_OK ? fold_nulls(f, note, err) : code;
}

static tarn_code fold_all(const struct reading *r, const struct tarn_facts_options *options, struct tarn_facts *facts,
                          struct tarn_err *err)
{
    struct folding f = { .facts = facts, .past = r->past, .options = options };
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < r->count && code == TARN_OK; i++) {
        f.pick = &r->picks[i];
        if (f.pick->note)
            code = fold_one(&f, f.pick->note, err);
        else if (r->whys[i])
            code = tarn_suspects_add(&facts->unread, f.pick->path, r->whys[i], -1, -1, f.pick->mtime_ms, err);
    }
    free(f.ended);
    return code;
}

tarn_code tarn_footers_gather(struct tarn_place *place, struct tarn_picks *picks, size_t most,
                              const struct tarn_schema_past *past, const json_t *partition_keys,
                              const struct tarn_facts_options *options, struct tarn_facts *facts, struct tarn_err *err)
{
    __attribute__((cleanup(reading_done))) struct reading r = { .place = place, .past = past,
                                                                .partition_keys = partition_keys, .err = err };

    pthread_mutex_init(&r.lock, NULL);
    tarn_picks_sort(picks);
    r.picks = picks->heap;
    r.count = most < picks->count ? most : picks->count;
    int64_t unread = facts->unread.total;
    tarn_code code = read_all(&r, err);
    if (code == TARN_OK) {
        share_notes(r.picks, r.count);
        code = fold_all(&r, options, facts, err);
    }
    facts->footers_but_young = code == TARN_OK && (int64_t)r.count == picks->offered && facts->unread.total == unread;
    if (facts->footers_but_young && facts->young_footers.count == 0)
        facts->saw |= TARN_SAW_FOOTERS;
    return code;
}
