/* fill DATABASE TABLES - puts so many managed, unpublished, already scanned tables into a migrated database that no
 * server has open: t000000, t000001, ... in the namespace default. For the benchmarks only. */
#include "base/time.h"
#include "catalog/sqlite/sqlite.h"
#include <stdio.h>

#define CHUNK 1000 /* tables a transaction */

struct chunk {
    long first, end;
    int64_t now_ms;
};

static tarn_code put_table(struct tarn_tx *tx, long number, int64_t now_ms, struct tarn_err *err)
{
    char name[32], location[64];
    snprintf(name, sizeof name, "t%06ld", number);
    snprintf(location, sizeof location, "/bench/lake/t%06ld", number);
    struct tarn_table table = {
        .namespace_ = (char *)"default", .name = name, .location = location, .mode = TARN_MANAGED,
        .published_version = -1, .partition_keys = (char *)"[\"date\",\"hour\"]", .properties = (char *)"{}",
        .monitors = (char *)"{}", .created_at = now_ms, .committed_at = now_ms, .dropped_at = -1,
    };
    snprintf(table.uuid, sizeof table.uuid, "00000000-0000-4000-8000-%012ld", number);
    tarn_code code = tx->ops->tables.reserve_id(tx, &table.id, err);
    if (code == TARN_OK)
        code = tx->ops->tables.insert(tx, &table, err);
    if (code != TARN_OK)
        return code;

    /* Judged, and not due again while a benchmark runs. */
    struct tarn_scan_row scan = {
        .table_id = table.id, .checked_at = now_ms, .next_probe_at = now_ms + 86400000,
        .next_sweep_at = now_ms + 86400000, .first_failed_at = -1, .version = -1, .last_updated = now_ms,
        .file_count = -1, .total_bytes = -1, .schema_version = -1, .has_manifest_age = true, .manifest_age_ms = 1000,
        .last_data_commit = -1, .last_run = -1, .top_version = -1, .details = (char *)"{}", .verdict = TARN_SEV_OK, .judged = true,
        .verdict_since = now_ms,
    };
    return tx->ops->monitors.put(tx, &scan, err);
}

static tarn_code put_chunk(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct chunk *chunk = ctx;
    tarn_code code = TARN_OK;

    for (long n = chunk->first; n < chunk->end && code == TARN_OK; n++)
        code = put_table(tx, n, chunk->now_ms, err);
    return code;
}

int main(int argc, char **argv)
{
    struct tarn_err err = { 0 };
    TARN_AUTO(store) struct tarn_store *store = NULL;
    if (argc != 3) {
        fputs("usage: fill DATABASE TABLES\n", stderr);
        return 64;
    }
    long tables = strtol(argv[2], NULL, 10);
    struct tarn_sqlite_options options = { .path = argv[1], .migrate = true };
    tarn_code code = tarn_sqlite_open(&options, &store, &err);

    for (long n = 0; n < tables && code == TARN_OK; n += CHUNK) {
        struct chunk chunk = { .first = n, .end = n + CHUNK < tables ? n + CHUNK : tables, .now_ms = tarn_now_ms() };
        code = tarn_store_write(store, put_chunk, &chunk, &err);
    }
    if (code != TARN_OK) {
        fprintf(stderr, "fill: %s\n", err.detail);
        return 1;
    }
    return 0;
}
