/* sqlite.c - the store as a whole: opened, closed, and the port's operations put together. */
#include "catalog/sqlite/internal.h"
#include <string.h>
#include <sys/stat.h>

#define QUEUE_MAX 10000
#define CACHE_KIB (16 * 1024)

/* The readers go before the writer's connection: the last one to close copies the log into the database,
 * and that must be the one that checkpoints. */
static void release(struct tarn_store *base)
{
    struct tarn_sqlite_store *store = tarn_sqlite_store_of(base);
    if (store->writer)
        tarn_sqlite_writer_stop(store->writer);
    tarn_sqlite_readers_free(store->readers);
    tarn_sqlite_writer_free(store->writer);
    free(store->path);
    free(store->vfs);
    free(store);
}

/* Sizes by stat alone: who opens and closes a database file drops the process's locks on it. */
static int64_t bytes_of(const char *path, const char *suffix)
{
    char name[4096];
    struct stat st;
    int len = snprintf(name, sizeof name, "%s%s", path, suffix);
    return len > 0 && (size_t)len < sizeof name && stat(name, &st) == 0 ? (int64_t)st.st_size : -1;
}

static void meters(struct tarn_store *base, struct tarn_store_meters *out)
{
    const struct tarn_sqlite_store *store = tarn_sqlite_store_of(base);
    tarn_sqlite_writer_meters(store->writer, out);
    out->database_bytes = bytes_of(store->path, "");
    out->log_bytes = bytes_of(store->path, "-wal");
}

static const struct tarn_store_driver k_driver = { tarn_sqlite_read, tarn_sqlite_rest, tarn_sqlite_submit,
                                                   release, meters };

static void fill_ops(struct tarn_store_ops *ops)
{
    ops->name = "sqlite";
    tarn_sqlite_meta_ops(ops);
    tarn_sqlite_tables_ops(ops);
    tarn_sqlite_lists_ops(ops);
    tarn_sqlite_locations_ops(ops);
    tarn_sqlite_loose_ops(ops);
    tarn_sqlite_files_ops(ops);
    tarn_sqlite_bulk_ops(ops);
    tarn_sqlite_history_ops(ops);
    tarn_sqlite_commits_ops(ops);
    tarn_sqlite_adopted_ops(ops);
    tarn_sqlite_schemas_ops(ops);
    tarn_sqlite_retired_ops(ops);
    tarn_sqlite_batches_ops(ops);
    tarn_sqlite_publications_ops(ops);
    tarn_sqlite_scans_ops(ops);
    tarn_sqlite_findings_ops(ops);
    tarn_sqlite_status_ops(ops);
    tarn_sqlite_tokens_ops(ops);
    tarn_sqlite_events_ops(ops);
    tarn_sqlite_namespaces_ops(ops);
    tarn_sqlite_silences_ops(ops);
    tarn_sqlite_samples_ops(ops);
    tarn_sqlite_iceberg_ops(ops);
    tarn_sqlite_views_ops(ops);
    tarn_sqlite_requests_ops(ops);
    tarn_sqlite_purges_ops(ops);
    tarn_sqlite_reports_ops(ops);
}

static tarn_code store_new(const struct tarn_sqlite_options *options, struct tarn_store **out,
                           struct tarn_err *err)
{
    struct tarn_sqlite_store *store = calloc(1, sizeof *store);
    if (!store)
        return tarn_fail_oom(err);
    store->head.driver = &k_driver;
    TARN_AUTO(store) struct tarn_store *guard = &store->head;
    fill_ops(&store->ops);
    store->cache_kib = options->cache_kib > 0 ? options->cache_kib : CACHE_KIB;
    store->path = strdup(options->path);
    store->vfs = options->vfs ? strdup(options->vfs) : NULL;
    if (!store->path || (options->vfs && !store->vfs))
        return tarn_fail_oom(err);
    *out = tarn_take(&guard);
    return TARN_OK;
}

/* The writing connection, over a database of the newest shape. */
static tarn_code open_writing(struct tarn_sqlite_store *store, bool migrate, struct tarn_sqlite_conn **out,
                              struct tarn_err *err)
{
    struct stat st;
    bool fresh = stat(store->path, &st) != 0;
    __attribute__((cleanup(tarn_sqlite_conn_freep))) struct tarn_sqlite_conn *conn = NULL;
    tarn_code code = tarn_sqlite_conn_open(store, true, &conn, err);
    if (code == TARN_OK && fresh)
        (void)chmod(store->path,
                    S_IRUSR | S_IWUSR); /* its log follows; a failure leaves the umask's rights */
    if (code == TARN_OK)
        code = tarn_sqlite_migrate(conn, migrate, err);
    if (code == TARN_OK)
        code = tarn_sqlite_conn_prepare(conn, err);
    if (code == TARN_OK)
        code = tarn_sqlite_meta_start(conn, err);
    if (code == TARN_OK)
        code = tarn_sqlite_loose_start(conn, &store->loose_before, err);
    if (code == TARN_OK)
        *out = tarn_take(&conn);
    return code;
}

static tarn_code open_store(const struct tarn_sqlite_options *options, struct tarn_store **out,
                            struct tarn_err *err)
{
    TARN_AUTO(store) struct tarn_store *base = NULL;
    tarn_code code = store_new(options, &base, err);
    if (code != TARN_OK)
        return code;
    struct tarn_sqlite_store *store = tarn_sqlite_store_of(base);
    struct tarn_sqlite_conn *conn = NULL;
    code = open_writing(store, options->migrate, &conn, err);
    if (code != TARN_OK)
        return code;
    size_t queue_max = options->queue_max > 0 ? options->queue_max : QUEUE_MAX;
    code = tarn_sqlite_writer_new(store, conn, queue_max, err);
    if (code == TARN_OK)
        code = tarn_sqlite_readers_new(store, err);
    if (code == TARN_OK)
        *out = tarn_take(&base);
    return code;
}

void tarn_sqlite_counters(struct tarn_store *store, int64_t *groups, int64_t *transactions)
{
    struct tarn_store_meters meters;
    tarn_store_meters_read(store, &meters);
    *groups = 0;
    for (size_t i = 0; i < TARN_GROUP_SIZES; i++)
        *groups += meters.groups[i];
    *transactions = meters.transactions;
}

/* Which file it was is told here alone: answers of the API do not name it. */
tarn_code tarn_sqlite_open(const struct tarn_sqlite_options *options, struct tarn_store **out,
                           struct tarn_err *err)
{
    TARN_ERR(why);
    tarn_code code = open_store(options, out, &why);
    return code == TARN_OK ? TARN_OK : tarn_fail(err, code, "%s: %s", options->path, why.detail);
}
