/* facts_picks.c - the newest listed files whose footers are read, and the schema version that each of them was written with:
 * what lies there does not tell it, the listing does. */
#include "formats/manifest/gather.h"
#include "formats/footer_note.h"

struct versions { struct tarn_gather *g; struct tarn_fileset index; /* paths; the size is the pick's place */ };

static void versions_done(struct versions *v) { tarn_fileset_done(&v->index); }

static tarn_code note_version(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct versions *v = ctx;
    const struct tarn_fileset_entry *at = tarn_fileset_find(&v->index, file->path);
    tarn_code code = tarn_gather_goes_on(v->g, err);

    if (code == TARN_OK && at && v->g->picks.heap[at->size].behind == TARN_BEHIND_UNKNOWN)
        v->g->picks.heap[at->size].behind = tarn_schema_past_behind(tarn_gather_past(v->g), file->schema_version);
    return code;
}

/* With one version only, no file is behind it. */
static tarn_code set_versions(struct tarn_gather *g, size_t most, struct tarn_err *err)
{
    __attribute__((cleanup(versions_done))) struct versions v = { .g = g };
    const struct tarn_schema_past *past = tarn_gather_past(g);
    bool is_one = !past->rows || past->count <= 1;

    for (size_t i = 0; i < most; i++) {
        struct tarn_pick *pick = &g->picks.heap[i];
        if (is_one && pick->behind == TARN_BEHIND_UNKNOWN)
            pick->behind = 0;
        if (pick->behind != TARN_BEHIND_UNKNOWN)
            continue;
        struct tarn_fileset_entry *entry = tarn_fileset_put(&v.index, pick->path);
        if (!entry)
            return tarn_fail_oom(err);
        entry->size = i & TARN_FILE_NO_SIZE;
    }
    if (v.index.count == 0)
        return TARN_OK;
    if (!g->options->catalog)
        return tarn_gather_listed(g, note_version, &v, err);
    tarn_code code = TARN_OK;
    for (size_t i = 0; i < most && code == TARN_OK; i++)
        if (g->picks.heap[i].behind == TARN_BEHIND_UNKNOWN)
            code = tarn_gather_listed_file(g, g->picks.heap[i].path, note_version, &v, err);
    return code;
}

/* --- notes of footers that were read before --- */

static uint64_t key_of_notes(const struct tarn_gather *g)
{
    const struct tarn_schema_past *past = tarn_gather_past(g);
    TARN_AUTO(mem) char *keys = g->partition_keys ? json_dumps(g->partition_keys, JSON_COMPACT) : NULL;
    TARN_AUTO_DONE(buf) struct tarn_buf buf = { 0 };

    for (size_t i = 0; past->rows && i < past->count; i++)
        tarn_buf_addf(&buf, "%lld %s %s\n", (long long)past->rows[i].version, past->rows[i].schema,
                      past->rows[i].renames ? past->rows[i].renames : "");
    tarn_buf_addf(&buf, "%s %s %lld", keys ? keys : "", g->schema_token, g->options->schema ? (long long)g->options->revision : -1);
    return buf.failed ? 0 : tarn_hash128(buf.data, buf.len).lo | 1;
}

static void forget_notes(struct tarn_picks *picks)
{
    for (size_t i = 0; i < picks->count; i++) {
        tarn_footer_note_drop(picks->heap[i].note);
        picks->heap[i].note = NULL;
        picks->heap[i].behind = TARN_BEHIND_UNKNOWN;
    }
}

/* With another schema all footers are read again, and when somebody asks for everything. */
static void check_notes(struct tarn_gather *g)
{
    uint64_t key = key_of_notes(g);

    if (key == 0 || key != g->recall->notes_key || (g->options->full && g->options->sweep)) {
        forget_notes(&g->picks);
        forget_notes(&g->known_picks);
    }
    g->recall->notes_key = key;
}

/* A file is the one that was read when path, length, time and schema version are. */
static tarn_code take_notes(struct tarn_gather *g, size_t most, struct tarn_err *err)
{
    TARN_AUTO_DONE(fileset) struct tarn_fileset index = { 0 };
    const struct tarn_picks *known = &g->known_picks;

    for (size_t i = 0; i < known->count; i++) {
        struct tarn_fileset_entry *entry = known->heap[i].note ? tarn_fileset_put(&index, known->heap[i].path) : NULL;
        if (known->heap[i].note && !entry)
            return tarn_fail_oom(err);
        if (entry)
            entry->size = i & TARN_FILE_NO_SIZE;
    }
    for (size_t i = 0; i < most && index.count > 0; i++) {
        struct tarn_pick *pick = &g->picks.heap[i];
        const struct tarn_fileset_entry *at = pick->note ? NULL : tarn_fileset_find(&index, pick->path);
        const struct tarn_pick *same = at ? &known->heap[at->size] : NULL;
        if (same && same->size == pick->size && same->mtime_ms == pick->mtime_ms && same->behind == pick->behind)
            pick->note = tarn_footer_note_hold(same->note);
    }
    return TARN_OK;
}

tarn_code tarn_gather_footers(struct tarn_gather *g, struct tarn_err *err)
{
    size_t most = g->options->sweep ? tarn_gather_footers_most(g->options) : TARN_FOOTERS_PROBE;

    if (g->is_unknown)
        return TARN_OK;
    int64_t wanted = (int64_t)most < g->picks.offered ? (int64_t)most : g->picks.offered;
    g->is_short = g->options->sweep && (int64_t)tarn_picks_certain(&g->picks) < wanted;
    tarn_picks_sort(&g->picks);
    if (most > g->picks.count)
        most = g->picks.count;
    check_notes(g);
    tarn_code code = set_versions(g, most, err);
    for (size_t i = 0; i < most; i++)
        if (g->picks.heap[i].behind == TARN_BEHIND_UNKNOWN)
            g->picks.heap[i].behind = 0; /* no longer listed */
    if (code == TARN_OK)
        code = take_notes(g, most, err);
    if (code == TARN_OK)
        code = tarn_footers_gather(g->place, &g->picks, most, tarn_gather_past(g), g->partition_keys, g->options, g->facts, err);
    if (!(g->facts->saw & TARN_SAW_LISTING)) /* there are others, of which nothing is known */
        g->facts->saw &= ~(unsigned)TARN_SAW_FOOTERS;
    return code;
}
