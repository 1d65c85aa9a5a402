/* facts.c - the facts of a table of the manifest format, in the order that keeps them honest: pointer before log before
 * manifest, and names of what lies there last. When the manifest was replaced meanwhile and something looks wrong, all is
 * looked at again and only what looks wrong both times is: a writer at work is no fault. */
#include "formats/manifest/gather.h"
#include "formats/footer_note.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ATTEMPTS = 3 };

static void gather_done(struct tarn_gather *g)
{
    tarn_batch_links_done(&g->batch_links);
    tarn_suspects_done(&g->odd_entries);
    tarn_fileset_done(&g->files);
    tarn_fileset_done(&g->links);
    tarn_folders_done(&g->listed);
    tarn_fileset_done(&g->doubles);
    tarn_pathset_done(&g->met);
    tarn_buf_done(&g->room);
    tarn_picks_done(&g->picks);
    tarn_picks_done(&g->known_picks);
    tarn_schema_past_done(&g->past);
    tarn_schema_doc_done(&g->doc);
    tarn_coverage_free(g->coverage);
    json_decref(g->partition_keys);
}

tarn_code tarn_gather_doubt(struct tarn_gather *g, struct tarn_suspects *list, const char *path, const char *note,
                            int64_t observed, int64_t expected, int64_t mtime_ms, struct tarn_err *err)
{
    if (!tarn_fileset_put(&g->facts->doubts, path))
        return tarn_fail_oom(err);
    if (g->options->doubted && !tarn_fileset_find(g->options->doubted, path))
        return TARN_OK;
    return tarn_suspects_add(list, path, note, observed, expected, mtime_ms, err);
}

static bool has_suspects(const struct tarn_facts *f)
{
    return f->doubts.count > 0 || f->corrupt.total > 0 || f->manifest == TARN_DOC_BAD || f->foreign_manifest ||
           f->foreign_schema || f->pointer_differs;
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
    *moved = strcmp(object.token, g->manifest_token) != 0 || strcmp(g->first_token, g->manifest_token) != 0;
    return TARN_OK;
}

/* What log and manifest, or the catalog, say. */
static tarn_code read_all(struct tarn_gather *g, struct tarn_err *err)
{
    tarn_code code = tarn_gather_log(g, err);
    if (code == TARN_OK)
        code = tarn_gather_listing(g, err);
    if (code == TARN_OK)
        code = tarn_gather_contradictions(g, err);
    return code;
}

/* The sums of the listing take the place of those of the one before. */
static tarn_code take_listed(struct tarn_gather *g, struct tarn_err *err)
{
    struct tarn_folders *folders = &g->recall->folders;

    for (size_t i = 0; i < folders->count; i++)
        folders->items[i].listed = (struct tarn_tally){ 0 };
    g->recall->is_listed = true;
    g->recall->has_odd_paths = g->has_odd_paths;
    for (size_t i = 0; i < g->listed.count; i++) {
        const struct tarn_folder *from = &g->listed.items[i];
        const char *path = tarn_folder_path(&g->listed, from);
        struct tarn_folder *to = tarn_folders_put(folders, path, strlen(path));
        if (!to)
            return tarn_fail_oom(err);
        to->listed = from->listed;
    }
    tarn_folders_done(&g->listed);
    return TARN_OK;
}

static tarn_code gather_words(struct tarn_gather *g, bool *told, struct tarn_err *err)
{
    uint64_t key = 0;

    tarn_code code = g->options->recall ? tarn_gather_key(g, &key, err) : TARN_OK;
    if (code == TARN_OK && !g->is_full)
        code = tarn_gather_tell_again(g, key, told, err);
    if (code == TARN_OK && !*told)
        code = tarn_gather_probe(g, told, err);
    if (code != TARN_OK || *told)
        return code;
    tarn_memo_done(&g->recall->memo);
    code = read_all(g, err);
    if (code == TARN_OK && g->options->recall)
        code = tarn_gather_keep(g, key, err);
    return code;
}

/* --- the walk, beside that where there is much of both --- */

struct beside { struct tarn_gather *g; tarn_code code; struct tarn_err *err; };

static void *walk_main(void *ctx)
{
    struct beside *b = ctx;

    b->code = tarn_gather_walk(b->g, b->err);
    return NULL;
}

static bool is_wide(const struct tarn_gather *g)
{
    enum { BYTES = 1 << 20, FILES = 10000 };
    const struct tarn_facts_catalog *catalog = g->options->catalog;

    return g->is_full && (g->first_bytes > BYTES || (catalog && catalog->table->file_count > FILES));
}

static tarn_code walk_and_read(struct tarn_gather *g, struct tarn_err *err)
{
    TARN_ERR(fault);
    struct beside b = { .g = g, .err = &fault };
    bool told = false;
    pthread_t thread;

    bool is_beside = is_wide(g) && pthread_create(&thread, NULL, walk_main, &b) == 0;
    if (!is_beside)
        (void)walk_main(&b);
    tarn_code code = is_beside || b.code == TARN_OK ? gather_words(g, &told, err) : TARN_OK;
    if (code == TARN_OK)
        code = tarn_gather_undecided(g, err);
    if (is_beside)
        (void)pthread_join(thread, NULL);
    if (code == TARN_OK && b.code != TARN_OK)
        return tarn_err_move(err, &fault);
    return code == TARN_OK && !told ? take_listed(g, err) : code;
}

/* Of a managed table the catalog knows both. */
static unsigned documents_seen(const struct tarn_gather *g)
{
    const struct tarn_facts *facts = g->facts;
    bool is_listed = g->options->catalog || facts->manifest == TARN_DOC_READ;
    bool is_pointed = facts->publication_off || facts->pointer == TARN_DOC_READ;
    bool is_marked = g->options->catalog || (is_listed && (is_pointed || facts->manifest_transaction));
    bool is_typed = g->options->catalog || g->options->schema || (facts->schema != TARN_DOC_BAD && !facts->schema_not_in_history);

    return TARN_SAW_DOCUMENTS | (is_listed ? TARN_SAW_MANIFEST : 0u) | (is_typed ? TARN_SAW_SCHEMA : 0u) |
           (is_pointed ? TARN_SAW_POINTER : 0u) | (is_marked ? TARN_SAW_COMMITTED : 0u);
}

static tarn_code gather_all(struct tarn_gather *g, struct tarn_err *err)
{
    tarn_code code = tarn_gather_remember(g, err);
    if (code == TARN_OK)
        code = tarn_gather_heads(g, err);
    if (code == TARN_OK)
        code = walk_and_read(g, err);
    if (code == TARN_OK)
        code = tarn_gather_files(g, err);
    if (code == TARN_OK)
        code = tarn_gather_staging(g, err);
    if (code == TARN_OK)
        code = tarn_gather_footers(g, err);
    if (code == TARN_OK)
        g->facts->saw |= documents_seen(g);
    return code;
}

/* Neither manifest nor log nor pointer: nothing that makes a table. */
static bool is_no_table(const struct tarn_facts *facts)
{
    return facts->manifest == TARN_DOC_ABSENT && facts->pointer == TARN_DOC_ABSENT && facts->log.count == 0;
}

/* What the next scan of the table may start from. A file so young may have been in the middle of being written. */
static tarn_code leave(struct tarn_gather *g, struct tarn_err *err)
{
    int64_t racy_since_ms = tarn_now_ms() - tarn_gather_racy_ms(g);

    for (size_t i = 0; i < g->picks.count; i++) {
        struct tarn_pick *pick = &g->picks.heap[i];
        if (pick->mtime_ms <= racy_since_ms)
            continue;
        tarn_footer_note_drop(pick->note);
        pick->note = NULL;
    }
    tarn_picks_done(&g->recall->picks);
    g->recall->picks = g->picks;
    g->picks = (struct tarn_picks){ 0 };
    return tarn_folders_settle(&g->recall->folders, err);
}

/* *again: somebody wrote meanwhile, or files have to be read that were passed over (then options->full is set). */
static tarn_code attempt(struct tarn_place *place, struct tarn_facts_options *options, struct tarn_recall *recall,
                         struct tarn_facts *out, bool *again, struct tarn_err *err)
{
    __attribute__((cleanup(gather_done))) struct tarn_gather g = { .place = place,
                                                                   .options = options,
                                                                   .recall = recall,
                                                                   .facts = out,
                                                                   .picks = { .max = TARN_PICKS_KEPT(tarn_gather_footers_most(options)) } };
    TARN_ERR(fault);

    tarn_facts_done(out);
    tarn_code code = gather_all(&g, err);
    *again = g.is_short;
    options->full |= g.is_short;
    if (code == TARN_OK && has_suspects(out) && !g.is_short)
        code = manifest_moved(&g, again, err);
    tarn_code left = leave(&g, &fault);
    return code == TARN_OK && left != TARN_OK ? tarn_err_move(err, &fault) : code;
}

static tarn_code gather_attempts(struct tarn_place *place, const struct tarn_facts_options *options,
                                 struct tarn_recall *recall, struct tarn_facts *out, struct tarn_err *err)
{
    TARN_AUTO_DONE(fileset) struct tarn_fileset doubts = { 0 };
    struct tarn_facts_options own = *options;
    tarn_code code = TARN_OK;
    bool again = true;

    for (int i = 0; i < ATTEMPTS && again && code == TARN_OK; i++) {
        code = attempt(place, &own, recall, out, &again, err);
        if (code != TARN_OK || !again)
            break;
        tarn_fileset_done(&doubts);
        doubts = out->doubts;
        out->doubts = (struct tarn_fileset){ 0 };
        own.doubted = &doubts;
    }
    return code;
}

tarn_code tarn_manifest_facts(struct tarn_place *place, const struct tarn_facts_options *options,
                              struct tarn_facts *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_recall_done))) struct tarn_recall own = { 0 };
    struct tarn_recall *recall = options->recall ? options->recall : &own;

    tarn_code code = gather_attempts(place, options, recall, out, err);
    if (code == TARN_INTERNAL) /* nobody knows in the middle of what */
        tarn_recall_done(recall);
    if (code == TARN_OK && !options->catalog && is_no_table(out)) {
        tarn_facts_done(out);
        out->state = TARN_FACTS_NO_TABLE;
        snprintf(out->why, sizeof out->why, "no manifest, no transaction log and no pointer lie there");
    }
    return code;
}
