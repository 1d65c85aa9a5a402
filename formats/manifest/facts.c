/* facts.c - the facts of a table of the manifest format, in the order that keeps them honest: pointer before
 * manifest before log before listing, each at least as new as the one before. When the manifest was replaced meanwhile
 * and something looks wrong, everything is read again: a writer at work is no fault. */
#include "formats/manifest/gather.h"
#include <string.h>

enum { ATTEMPTS = 3 };

static void gather_done(struct tarn_gather *g)
{
    tarn_fileset_done(&g->files);
    tarn_fileset_done(&g->folders);
    tarn_fileset_done(&g->links);
    tarn_buf_done(&g->last_folder);
    tarn_buf_done(&g->room);
    tarn_picks_done(&g->picks);
    tarn_schema_past_done(&g->past);
    tarn_schema_doc_done(&g->doc);
    tarn_coverage_free(g->coverage);
    json_decref(g->partition_keys);
}

static bool has_suspects(const struct tarn_facts *f)
{
    return f->missing.total + f->sizes.total + f->unregistered.total + f->not_in_manifest.total + f->still_listed.total +
               f->corrupt.total > 0 ||
           f->manifest == TARN_DOC_BAD || f->foreign_manifest || f->pointer_differs;
}

static tarn_code manifest_moved(struct tarn_gather *g, bool *moved, struct tarn_err *err)
{
    struct tarn_object object = { 0 };
    TARN_ERR(fault);

    *moved = false;
    if (g->facts->manifest == TARN_DOC_ABSENT)
        return TARN_OK;
    tarn_code code = tarn_place_stat(g->place, TARN_DOC_MANIFEST, &object, &fault);
    if (code != TARN_OK && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &fault);
    *moved = strcmp(object.token, g->manifest_token) != 0;
    return TARN_OK;
}

static tarn_code note_partition_keys(struct tarn_gather *g, struct tarn_err *err)
{
    if (!g->partition_keys)
        g->partition_keys = json_array();
    g->facts->partition_keys = g->partition_keys ? json_dumps(g->partition_keys, JSON_COMPACT) : NULL;
    return g->facts->partition_keys ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code gather_all(struct tarn_gather *g, struct tarn_err *err)
{
    tarn_code code = tarn_gather_documents(g, err);
    if (code == TARN_OK)
        code = note_partition_keys(g, err);
    if (code == TARN_OK)
        code = tarn_gather_log(g, err);
    if (code == TARN_OK)
        code = tarn_gather_files(g, err);
    if (code == TARN_OK)
        code = tarn_gather_staging(g, err);
    if (code == TARN_OK)
        code = tarn_footers_gather(g->place, &g->picks, tarn_gather_past(g), g->partition_keys, g->facts, err);
    if (code == TARN_OK)
        g->facts->saw |= TARN_SAW_DOCUMENTS;
    return code;
}

/* Neither manifest nor log nor pointer: nothing that makes a table. */
static bool is_no_table(const struct tarn_facts *facts)
{
    return facts->manifest == TARN_DOC_ABSENT && facts->pointer == TARN_DOC_ABSENT && facts->log.count == 0;
}

tarn_code tarn_manifest_facts(struct tarn_place *place, const struct tarn_facts_options *options,
                              struct tarn_facts *out, struct tarn_err *err)
{
    tarn_code code = TARN_OK;
    bool moved = true;

    for (int attempt = 0; attempt < ATTEMPTS && moved && code == TARN_OK; attempt++) {
        __attribute__((cleanup(gather_done))) struct tarn_gather g = { .place = place, .options = options, .facts = out };
        tarn_facts_done(out);
        code = gather_all(&g, err);
        moved = false;
        if (code == TARN_OK && has_suspects(out))
            code = manifest_moved(&g, &moved, err);
    }
    if (code == TARN_OK && !options->catalog && is_no_table(out)) {
        tarn_facts_done(out);
        out->state = TARN_FACTS_NO_TABLE;
        snprintf(out->why, sizeof out->why, "no manifest, no transaction log and no pointer lie there");
    }
    return code;
}
