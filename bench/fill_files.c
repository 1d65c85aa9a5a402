/* fill_files DATABASE TABLE FILES - makes a managed, unpublished table of so many files in a migrated
 * database that no server has open: versions of 5,000 files each, every tenth file of a version removed by
 * the one after. For the benchmarks only. */
#include "base/time.h"
#include "catalog/sqlite/sqlite.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define VERSION_FILES 5000

struct fill {
    const char *name;
    int64_t id, version, from, to, removed; /* files [from, to) come; `removed`: of the version before */
    int64_t live;
};

static void path_of(int64_t number, char out[96])
{
    snprintf(out, 96, "date=2024-%02" PRId64 "-%02" PRId64 "/hour=%02" PRId64 "/part-%08" PRId64 ".parquet",
             number / 28 % 12 + 1, number % 28 + 1, number / 336 % 24, number);
}

static tarn_code make_table(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct fill *fill = ctx;
    char location[64];
    int64_t now_ms = tarn_now_ms();

    snprintf(location, sizeof location, "/bench/lake/%s", fill->name);
    struct tarn_table table = {
        .namespace_ = (char *)"default",
        .name = (char *)fill->name,
        .location = location,
        .mode = TARN_MANAGED,
        .published_version = -1,
        .partition_keys = (char *)"[\"date\",\"hour\"]",
        .properties = (char *)"{}",
        .monitors = (char *)"{}",
        .created_at = now_ms,
        .committed_at = now_ms,
        .dropped_at = -1,
    };
    tarn_code code = tx->ops->tables.reserve_id(tx, &table.id, err);
    snprintf(table.uuid, sizeof table.uuid, "00000000-0000-4000-9000-%012" PRId64, table.id);
    fill->id = table.id;
    return code == TARN_OK ? tx->ops->tables.insert(tx, &table, err) : code;
}

static tarn_code add_file(struct tarn_tx *tx, const struct fill *fill, int64_t number, struct tarn_err *err)
{
    char path[96], values[64], stats[160];

    path_of(number, path);
    snprintf(values, sizeof values, "{\"date\":\"%.10s\",\"hour\":%" PRId64 "}", path + 5, number / 336 % 24);
    snprintf(stats, sizeof stats,
             "{\"user_id\":{\"min\":%" PRId64 ",\"max\":%" PRId64 ",\"nullCount\":0},"
             "\"price\":{\"min\":0.5,\"max\":99.5,\"nullCount\":3}}",
             number, number + 1000);
    const struct tarn_file file = { .path = path,
                                    .size = 1 << 20,
                                    .records = 10000,
                                    .partition_values = values,
                                    .column_stats = stats,
                                    .removed_version = -1 };
    return tx->ops->files.add(tx, fill->id, fill->version, &file, err);
}

static tarn_code make_version(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct fill *fill = ctx;
    char transaction[32], path[96];
    int64_t size = 0, removed = 0;
    tarn_code code = TARN_OK;

    snprintf(transaction, sizeof transaction, "txn-%" PRId64, fill->version);
    for (int64_t n = fill->removed; n < fill->from && code == TARN_OK; n += 10, removed++) {
        path_of(n, path);
        code = tx->ops->files.remove(tx, fill->id, fill->version, path, &size, err);
    }
    for (int64_t n = fill->from; n < fill->to && code == TARN_OK; n++)
        code = add_file(tx, fill, n, err);
    fill->live += fill->to - fill->from - removed;
    const struct tarn_commit_row row = {
        .version = fill->version,
        .transaction = transaction,
        .committed_at = tarn_now_ms(),
        .data_change = true,
        .files_added = fill->to - fill->from,
        .files_removed = removed,
        .bytes_added = (fill->to - fill->from) << 20,
        .file_count = fill->live,
        .total_bytes = fill->live << 20,
    };
    if (code == TARN_OK)
        code = tx->ops->commits.insert(tx, fill->id, &row, err);
    return code == TARN_OK ? tx->ops->tables.commit(tx, fill->id, fill->version - 1, &row, err) : code;
}

int main(int argc, char **argv)
{
    struct tarn_err err = { 0 };
    TARN_AUTO(store) struct tarn_store *store = NULL;
    if (argc != 4) {
        fputs("usage: fill_files DATABASE TABLE FILES\n", stderr);
        return 64;
    }
    struct fill fill = { .name = argv[2] };
    int64_t files = strtol(argv[3], NULL, 10);
    struct tarn_sqlite_options options = { .path = argv[1], .migrate = true };
    tarn_code code = tarn_sqlite_open(&options, &store, &err);
    if (code == TARN_OK)
        code = tarn_store_write(store, make_table, &fill, &err);

    for (int64_t number = 0; fill.live < files && code == TARN_OK; number = fill.to) {
        int64_t gone = fill.version > 0 ? (fill.to - fill.from + 9) / 10 : 0, more = files - fill.live + gone;
        fill.version++;
        fill.removed = fill.from;
        fill.from = number;
        fill.to = number + (more < VERSION_FILES ? more : VERSION_FILES);
        code = tarn_store_write(store, make_version, &fill, &err);
    }
    if (code != TARN_OK) {
        fprintf(stderr, "fill_files: %s\n", err.detail);
        return 1;
    }
    return 0;
}
