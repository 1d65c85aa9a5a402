/* facts_undecided.c - files that a finding is told of because the manifest contradicts the log. When the log
 * can no longer be read that far, that it contradicts nothing any more proves nothing. */
#include "formats/manifest/gather.h"

/* Whether they are listed is of interest, whoever names them. */
tarn_code tarn_gather_asked(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_fileset *asked = g->options->asked;

    for (size_t i = 0; asked && i < asked->cap; i++)
        if (asked->slots[i].used &&
            !tarn_fileset_put_hash(
                &g->files, (struct tarn_hash128){ .hi = asked->slots[i].hi, .lo = asked->slots[i].lo }))
            return tarn_fail_oom(err);
    return TARN_OK;
}

/* Is the file listed against the word that was told of it, and is that word not to be had? */
static bool is_undecided(const struct tarn_gather *g, const struct tarn_fileset_entry *asked)
{
    const struct tarn_hash128 hash = { .hi = asked->hi, .lo = asked->lo };
    const struct tarn_fileset_entry *file = tarn_fileset_find_hash(&g->files, hash);
    bool is_listed = file && file->flags & TARN_FILE_LISTED;

    if (g->facts->log.is_whole || (file && file->flags & TARN_FILE_CERTAIN))
        return false;
    return asked->flags & TARN_FILE_ADDED ? !is_listed : is_listed;
}

tarn_code tarn_gather_undecided(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    const struct tarn_fileset *asked = g->options->asked;
    bool is_log_asked = asked && (!catalog || catalog->table->block == TARN_BLOCK_ADOPTION);

    for (size_t i = 0; is_log_asked && i < asked->cap; i++) {
        const struct tarn_fileset_entry *slot = &asked->slots[i];
        if (!slot->used || !is_undecided(g, slot))
            continue;
        if (!tarn_fileset_put_hash(&g->facts->undecided,
                                   (struct tarn_hash128){ .hi = slot->hi, .lo = slot->lo }))
            return tarn_fail_oom(err);
        g->facts->undecided_listed += slot->flags == TARN_FILE_REMOVED;
    }
    if (g->facts->undecided.count == 0)
        g->facts->saw |= TARN_SAW_WORDS;
    return TARN_OK;
}
