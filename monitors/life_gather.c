/* life_gather.c - what a scan knows of a registered table's life besides its own facts: since when Tarn has it, the
 * incidents that teach nothing, and of a table with more commits than are kept what was at the same time before. */
#include "monitors/gather.h"
#include "monitors/judge.h"
#include "monitors/rhythm.h"

struct life {
    const struct tarn_gather_ask *ask;
    struct tarn_facts *facts;
    int64_t from[TARN_GLIMPSES_MAX];
    size_t wanted;
};

/* --- of a managed table: its commits, searched by halves; committed_at never goes back --- */

static tarn_code keep_row(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    (void)err;
    *(struct tarn_commit_row *)ctx = *row;
    return TARN_OK;
}

enum { STEP = 100 };
struct first { int64_t after, at; };

/* Rows come newest first: the last that fits stays. */
static tarn_code note_first(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct first *first = ctx;

    (void)err;
    if (row->data_change && row->committed_at > first->after)
        first->at = row->committed_at;
    return TARN_OK;
}

static tarn_code first_commit(struct tarn_tx *tx, const struct tarn_table *table, int64_t after, int64_t *at, struct tarn_err *err)
{
    int64_t low = table->log_from > table->first_version ? table->log_from : table->first_version, high = table->version + 1;
    struct tarn_commit_row row = { .version = -1 };
    tarn_code code = TARN_OK;

    *at = -1;
    while (low + 1 < high && code == TARN_OK) { /* the last version that is not after it */
        int64_t middle = low + (high - low) / 2;
        row = (struct tarn_commit_row){ .version = -1 };
        code = tx->ops->commits.instants(tx, table->id, middle + 1, 1, keep_row, &row, err);
        if (row.version >= 0 && row.committed_at > after)
            high = row.version;
        else
            low = middle;
    }
    if (code != TARN_OK || row.version < 0)
        return code;
    row = (struct tarn_commit_row){ .version = -1 };
    code = tx->ops->commits.instants(tx, table->id, low + 1, 1, keep_row, &row, err);
    struct first first = { .after = after, .at = -1 };
    if (code == TARN_OK && row.version >= 0 && row.committed_at <= after)
        code = tx->ops->commits.instants(tx, table->id, low + 1 + STEP, STEP, note_first, &first, err);
    *at = first.at;
    return code;
}

static tarn_code glimpse_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct life *l = ctx;
    struct tarn_life *life = &l->facts->life;
    tarn_code code = TARN_OK;

    life->glimpse_count = 0;
    for (size_t i = 0; i < l->wanted && code == TARN_OK; i++) {
        int64_t at = -1;
        code = first_commit(tx, l->ask->table, l->from[i], &at, err);
        if (code == TARN_OK && at >= 0)
            life->glimpses[life->glimpse_count++] = (struct tarn_glimpse){ l->from[i], at };
    }
    return code;
}

/* --- of an observed one: the files of its log --- */

static void glimpse_log(struct life *l)
{
    const struct tarn_log_facts *log = &l->facts->log;
    struct tarn_life *life = &l->facts->life;

    for (size_t i = 0; i < l->wanted && log->count > 0; i++) {
        size_t k = 0;
        while (k < log->count && log->entries[k].mtime_ms <= l->from[i])
            k++;
        if (k > 0 && k < log->count)
            life->glimpses[life->glimpse_count++] = (struct tarn_glimpse){ l->from[i], log->entries[k].mtime_ms };
    }
}

/* --- all of it --- */

static tarn_code incidents_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct life *l = ctx;
    struct tarn_life *life = &l->facts->life;

    return tx->ops->monitors.spans(tx, l->ask->table->id, "freshness", life->at[0], TARN_SPANS_MAX, life->untaught,
                                   &life->untaught_count, err);
}

tarn_code tarn_life_gather(struct tarn_lake *lake, const struct tarn_gather_ask *ask, struct tarn_facts *facts,
                           struct tarn_err *err)
{
    struct life l = { .ask = ask, .facts = facts };
    const struct tarn_rhythm_ask rhythm = { .life = &facts->life,
                                            .zone = ask->settings->zone,
                                            .maintenance = &ask->settings->maintenance,
                                            .interval_ms = ask->settings->interval_ms };
    tarn_code code = TARN_OK;

    facts->born_at = ask->table->created_at;
    if (facts->state != TARN_FACTS_READ || facts->life.count <= TARN_RHYTHM_SAMPLES)
        return TARN_OK;
    code = tarn_store_read(lake->store, incidents_tx, &l, err);
    l.wanted = code == TARN_OK ? tarn_rhythm_asks(&rhythm, l.from) : 0;
    if (l.wanted > 0 && facts->managed)
        code = tarn_store_read(lake->store, glimpse_tx, &l, err);
    else if (l.wanted > 0)
        glimpse_log(&l);
    return code;
}
