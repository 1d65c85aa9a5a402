/* event.c - events on their way into the feed. That of a commit is written without a tree: it is the one that
 * comes by the ten thousand a second. */
#include "lake/event.h"
#include "base/json.h"
#include <inttypes.h>
#include <stdio.h>

static tarn_code add(struct tarn_tx *tx, const char *type, const struct tarn_table *table, int64_t at_ms,
                     const char *data, struct tarn_err *err)
{
    const struct tarn_event event = { .type = type,
                                      .table_id = table->id,
                                      .namespace_ = table->namespace_,
                                      .name = table->name,
                                      .at = at_ms,
                                      .data = data };
    return tx->ops->events.add(tx, &event, err);
}

tarn_code tarn_event_add(struct tarn_tx *tx, const char *type, const struct tarn_table *table, int64_t at_ms,
                         json_t *data, struct tarn_err *err)
{
    json_auto_t *owned = data;
    TARN_AUTO(mem) char *text = owned ? tarn_json_text(owned) : NULL;

    return text ? add(tx, type, table, at_ms, text, err) : tarn_fail_oom(err);
}

/* No text in it needs an escape: ids are made of letters, digits and ._- */
tarn_code tarn_event_committed(struct tarn_tx *tx, const struct tarn_table *table,
                               const struct tarn_commit_row *row, struct tarn_err *err)
{
    char data[TARN_TXN_ID_MAX + 320], group[64] = "";

    if (row->group[0])
        (void)snprintf(group, sizeof group, ",\"group\":\"%s\"", row->group);
    (void)snprintf(data, sizeof data,
                   "{\"version\":%" PRId64 ",\"transaction\":\"%s\",\"schema_version\":%" PRId64
                   ",\"data_change\":%s,\"files_added\":%" PRId64 ",\"files_removed\":%" PRId64 "%s}",
                   row->version, row->transaction, row->schema_version, row->data_change ? "true" : "false",
                   row->files_added, row->files_removed, group);
    return add(tx, TARN_EVENT_COMMITTED, table, row->committed_at, data, err);
}
