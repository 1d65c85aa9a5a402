/* facts_life.c - what a log entry tells of the life of an observed table, newest entry first. Of a managed one the catalog
 * tells. */
#include "formats/manifest/gather.h"

tarn_code tarn_gather_life(struct tarn_gather *g, const struct tarn_log_entry *entry, const struct tarn_entry_head *head,
                           bool brings, struct tarn_err *err)
{
    struct tarn_facts *facts = g->facts;
    struct tarn_life *life = &facts->life;
    int64_t at = tarn_life_instant(head->timestamp, entry->mtime_ms, g->options->now_ms);
    bool is_undone = g->restored_version >= 0 && head->version > g->restored_version;

    if (g->options->catalog || !entry->committed)
        return TARN_OK;
    if (!is_undone && head->rollback_to >= 0)
        g->restored_version = head->rollback_to;
    if (at > life->last_commit)
        life->last_commit = at;
    if (head->timestamp >= 0 && head->timestamp_form == TARN_TIME_NAIVE)
        facts->log.naive++;
    if (head->data_change && head->adds + head->removes > 0) {
        tarn_life_add(life, at);
        if (!is_undone && at > life->last_data)
            life->last_data = at;
    } else if (life->last_data < 0) {
        life->idle_commits++;
    }
    tarn_code code = TARN_OK;
    if (!is_undone)
        code = tarn_batch_links_note(&g->batch_links, tarn_log_id(&facts->log, entry), brings && head->data_change, head->batch_ids,
                                     head->metadata, err);
    if (code != TARN_OK || !head->timestamp_bad)
        return code;
    return tarn_suspects_add(&facts->log.undated, tarn_log_id(&facts->log, entry), NULL, -1, -1, entry->mtime_ms, err);
}
