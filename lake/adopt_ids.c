/* adopt_ids.c - the names that the log's folder holds and that are no history:
 * entries above the pointer, unreadable ones, links and folders. A commit of
 * such an id could not write its entry, so that no commit may have it. */
#include "base/text.h"
#include "lake/adopt_run.h"
#include <stdio.h>
#include <string.h>

static tarn_code take(struct tarn_adoption *a, const char *id, struct tarn_err *err)
{
    if (tarn_txn_id_check(id, "id", NULL) != TARN_OK)
        return TARN_OK;
    return tarn_stage_id(a->stage, id, err);
}

static bool is_history(const struct tarn_adoption *a, const char *id)
{
    const struct tarn_fileset_entry *known = tarn_fileset_find(&a->ids, id);

    return known && known->flags & TARN_FILE_SEEN;
}

/* Whatever it is: the name is used. */
static tarn_code note_name(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct tarn_adoption *a = ctx;
    const char *name = object->path + strlen(TARN_DIR_LOG "/");
    size_t len = strlen(name);
    char id[TARN_TXN_ID_MAX + 1];

    if (!tarn_ends_with(name, ".json") || len - strlen(".json") > TARN_TXN_ID_MAX)
        return TARN_OK;
    snprintf(id, sizeof id, "%.*s", (int)(len - strlen(".json")), name);
    return is_history(a, id) ? TARN_OK : take(a, id, err);
}

tarn_code tarn_adoption_ids(struct tarn_adoption *a, struct tarn_err *err)
{
    const struct tarn_log_facts *log = &a->facts.log;
    int64_t latest = tarn_txn_id_tail(a->out->transaction);
    tarn_code code = tarn_place_list(a->place, TARN_DIR_LOG, false, note_name, a, err);

    /* By the id inside too; and history above the newest
     * transaction, so that the next number is above all. */
    for (size_t i = 0; i < log->count && code == TARN_OK; i++) {
        const char *id = tarn_log_id(log, &log->entries[i]);
        if (!is_history(a, id) || log->entries[i].number > latest)
            code = take(a, id, err);
    }
    if (code == TARN_OK && a->out->transaction && !is_history(a, a->out->transaction))
        code = take(a, a->out->transaction, err); /* its entry is lost */
    return code;
}
