/* fill_growth DATABASE LAKE FILES COMMITS - a table with a long past, and a folder to adopt, for bench/growth.
 *
 * `grown` in LAKE/grown: FILES live files after COMMITS commits. The last one took a quarter of FILES away and
 * brought as many others, so that a rollback of it touches half of FILES; those that would come back lie there.
 * LAKE/adopt: a manifest of FILES files, and the files. All files are empty. The database is migrated, and no
 * server has it open. */
#include "base/time.h"
#include "catalog/sqlite/sqlite.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define A_TX         5000 /* files a transaction; commits a transaction are a tenth */
#define A_FOLDER     1000
#define COMMIT_EVERY 20000 /* ms between two commits */

struct fill {
    const char *lake;
    int64_t id, files, commits;
    int64_t version, live, next; /* of the table so far; `next`: number of the next file */
    int64_t until;               /* of the step at hand */
    int64_t began_ms;
};

static void path_of(char kind, int64_t number, char out[96])
{
    snprintf(out, 96, "%c/p=%05" PRId64 "/part-%08" PRId64 ".parquet", kind, number / A_FOLDER, number);
}

/* --- on storage --- */

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "fill_growth: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void touch_all(const char *folder, char kind, int64_t count)
{
    char path[96], name[8192];

    for (int64_t n = 0; n < count; n++) {
        path_of(kind, n, path);
        if (n % A_FOLDER == 0) {
            snprintf(name, sizeof name, "mkdir -p %s/%c/p=%05" PRId64, folder, kind, n / A_FOLDER);
            must(system(name) == 0, name);
        }
        snprintf(name, sizeof name, "%s/%s", folder, path);
        int fd = open(name, O_CREAT | O_WRONLY, 0644);
        must(fd >= 0, name);
        close(fd);
    }
}

static void write_manifest(const char *folder, int64_t count)
{
    char path[96], name[8192];

    snprintf(name, sizeof name, "%s/manifest.json", folder);
    FILE *out = fopen(name, "w");
    must(out != NULL, name);
    fputs("{\"version\":1,\"last_updated\":\"2024-02-01T14:30:00Z\",\"files\":[", out);
    for (int64_t n = 0; n < count; n++) {
        path_of('a', n, path);
        fprintf(out, "%s\n{\"path\":\"%s\",\"size\":0,\"partitionValues\":{\"p\":\"%05" PRId64 "\"}}", n ? "," : "", path,
                n / A_FOLDER);
    }
    fputs("]}\n", out);
    must(fclose(out) == 0, name);
}

/* --- in the catalog --- */

static tarn_code make_table(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct fill *f = ctx;
    char location[4096];

    snprintf(location, sizeof location, "%s/grown", f->lake);
    struct tarn_table table = {
        .namespace_ = (char *)"default",
        .name = (char *)"grown",
        .uuid = "00000000-0000-4000-a000-000000000001",
        .location = location,
        .mode = TARN_MANAGED,
        .published_version = -1,
        .partition_keys = (char *)"[\"p\"]",
        .properties = (char *)"{}",
        .monitors = (char *)"{}",
        .created_at = f->began_ms,
        .committed_at = f->began_ms,
        .dropped_at = -1,
    };
    tarn_code code = tx->ops->tables.reserve_id(tx, &table.id, err);
    f->id = table.id;
    return code == TARN_OK ? tx->ops->tables.insert(tx, &table, err) : code;
}

static tarn_code add_file(struct tarn_tx *tx, const struct fill *f, char kind, int64_t number, int64_t version,
                          struct tarn_err *err)
{
    char path[96], values[32], stats[128];

    path_of(kind, number, path);
    snprintf(values, sizeof values, "{\"p\":\"%05" PRId64 "\"}", number / A_FOLDER);
    snprintf(stats, sizeof stats, "{\"id\":{\"min\":%" PRId64 ",\"max\":%" PRId64 ",\"nullCount\":0}}", number, number + 999);
    const struct tarn_file file = { .path = path, .records = 1000, .partition_values = values, .column_stats = stats };
    return tx->ops->files.add(tx, f->id, version, &file, err);
}

static tarn_code put_commit(struct tarn_tx *tx, struct fill *f, int64_t added, int64_t removed, struct tarn_err *err)
{
    char transaction[32];

    f->version++;
    f->live += added - removed;
    snprintf(transaction, sizeof transaction, "txn-%" PRId64, f->version);
    const struct tarn_commit_row row = {
        .version = f->version,
        .transaction = transaction,
        .committed_at = f->began_ms + f->version * COMMIT_EVERY,
        .metadata = (char *)"{\"author\":\"bench\"}",
        .data_change = true,
        .files_added = added,
        .files_removed = removed,
        .file_count = f->live,
    };
    tarn_code code = tx->ops->commits.insert(tx, f->id, &row, err);
    return code == TARN_OK ? tx->ops->tables.commit(tx, f->id, f->version - 1, &row, err) : code;
}

/* Version 1: the quarter that the last version takes away. Its rows before its commit, in steps. */
static tarn_code first_rows(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct fill *f = ctx;
    tarn_code code = TARN_OK;

    for (; f->next < f->until && code == TARN_OK; f->next++)
        code = add_file(tx, f, 'o', f->next, 1, err);
    return code;
}

static tarn_code first_commit(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct fill *f = ctx;
    return put_commit(tx, f, f->files / 4, 0, err);
}

/* The three quarters that stay, evenly over the commits. */
static tarn_code grow(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct fill *f = ctx;
    tarn_code code = TARN_OK;

    for (int i = 0; i < A_TX / 10 && f->version < f->commits - 1 && code == TARN_OK; i++) {
        int64_t end = (f->files - f->files / 4) * f->version / (f->commits - 2), from = f->next;
        for (; f->next < end && code == TARN_OK; f->next++)
            code = add_file(tx, f, 's', f->next, f->version + 1, err);
        if (code == TARN_OK)
            code = put_commit(tx, f, end - from, 0, err);
    }
    return code;
}

static tarn_code swap_rows(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct fill *f = ctx;
    char path[96];
    int64_t size = 0;
    tarn_code code = TARN_OK;

    for (; f->next < f->until && code == TARN_OK; f->next++) {
        path_of('o', f->next, path);
        code = tx->ops->files.remove(tx, f->id, f->commits, path, &size, err);
        if (code == TARN_OK)
            code = add_file(tx, f, 'n', f->next, f->commits, err);
    }
    return code;
}

static tarn_code last_commit(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct fill *f = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = put_commit(tx, f, f->files / 4, f->files / 4, err);

    if (code == TARN_OK)
        code = tx->ops->tables.get_by_id(tx, f->id, &table, err);
    if (code != TARN_OK)
        return code;
    table->publish = true; /* and storage shows it all */
    table->published_version = table->version;
    return tx->ops->tables.update(tx, table, err);
}

static void write_all(struct tarn_store *store, tarn_tx_fn *fn, struct fill *f)
{
    struct tarn_err err = { 0 };

    if (tarn_store_write(store, fn, f, &err) == TARN_OK)
        return;
    fprintf(stderr, "fill_growth: %s\n", err.detail);
    exit(1);
}

static void in_steps(struct tarn_store *store, tarn_tx_fn *fn, struct fill *f, int64_t count)
{
    f->next = 0;
    while (f->next < count) {
        f->until = f->next + A_TX < count ? f->next + A_TX : count;
        write_all(store, fn, f);
    }
}

int main(int argc, char **argv)
{
    TARN_AUTO(store) struct tarn_store *store = NULL;
    char folder[4096];
    if (argc != 5) {
        fputs("usage: fill_growth DATABASE LAKE FILES COMMITS\n", stderr);
        return 64;
    }
    struct fill f = { .lake = argv[2], .files = strtol(argv[3], NULL, 10), .commits = strtol(argv[4], NULL, 10) };
    f.began_ms = tarn_now_ms() - f.commits * COMMIT_EVERY;
    const struct tarn_sqlite_options options = { .path = argv[1], .migrate = true };
    if (f.files < 4 || f.commits < 3 || tarn_sqlite_open(&options, &store, NULL) != TARN_OK)
        return 1;
    write_all(store, make_table, &f);
    in_steps(store, first_rows, &f, f.files / 4);
    write_all(store, first_commit, &f);
    for (f.next = 0; f.version < f.commits - 1;)
        write_all(store, grow, &f);
    in_steps(store, swap_rows, &f, f.files / 4);
    write_all(store, last_commit, &f);

    snprintf(folder, sizeof folder, "%s/grown", f.lake);
    touch_all(folder, 'o', f.files / 4);
    snprintf(folder, sizeof folder, "%s/adopt", f.lake);
    touch_all(folder, 'a', f.files);
    write_manifest(folder, f.files);
    return 0;
}
