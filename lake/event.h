/* event.h - the feed of what happened to tables (GET /api/events). Every change adds its event in its own
 * transaction, so the feed neither misses one nor tells of one that did not happen. */
#ifndef TARN_LAKE_EVENT_H
#define TARN_LAKE_EVENT_H
#include "catalog/store.h"
#include <jansson.h>

#define TARN_EVENT_REGISTERED     "table.registered"
#define TARN_EVENT_UPDATED        "table.updated"
#define TARN_EVENT_RENAMED        "table.renamed"
#define TARN_EVENT_COMMITTED      "table.committed"
#define TARN_EVENT_DROPPED        "table.dropped"
#define TARN_EVENT_RESTORED       "table.restored"
#define TARN_EVENT_RECOVERED      "table.recovered"
#define TARN_EVENT_SCHEMA_ADDED   "schema.added"
#define TARN_EVENT_BATCH_UPDATED  "batch.updated"
#define TARN_EVENT_FINDING_OPENED "finding.opened"
#define TARN_EVENT_FINDING_CLOSED "finding.closed"

/* Inside a write transaction. `data` (stolen; an object of scalars, NULL
 * counts as no memory) holds what the event tells beside type, table and
 * instant. The table is told under the name that it has in *table. */
TARN_MUST tarn_code tarn_event_add(struct tarn_tx *tx, const char *type, const struct tarn_table *table,
                                   int64_t at_ms, json_t *data, struct tarn_err *err);
/* A version of the table, however it came about (commit, rollback, repair, pointer); on the hot path. */
TARN_MUST tarn_code tarn_event_committed(struct tarn_tx *tx, const struct tarn_table *table,
                                         const struct tarn_commit_row *row, struct tarn_err *err);
#endif
