/* race_snapshots: writers and readers on one SQLite store, reading threads that come and go, under the thread
 * sanitizer. Within one read the table's row and its files must agree, whatever is committed meanwhile. */
#include "catalog/sqlite/sqlite.h"
#include "tests/race/folder.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define WRITERS 6
#define READERS 6
#define COMMITS 60

struct work {
    pthread_t thread;
    struct tarn_store *store;
    int64_t table_id;
    int number;
    int done; /* commits acknowledged */
};
struct commit {
    int64_t table_id;
    char transaction[32];
};
static _Atomic bool stop;
static _Atomic int faults;

static tarn_code make_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_table table = { .uuid = "u",
                                .namespace_ = (char *)"default",
                                .name = (char *)"orders",
                                .location = (char *)"/lake/orders",
                                .partition_keys = (char *)"[]",
                                .properties = (char *)"{}",
                                .monitors = (char *)"{}",
                                .published_version = -1,
                                .dropped_at = -1 };
    tarn_code code = tx->ops->tables.reserve_id(tx, &table.id, err);
    if (code == TARN_OK)
        code = tx->ops->tables.insert(tx, &table, err);
    *(int64_t *)ctx = table.id;
    return code;
}

static tarn_code commit_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct commit *c = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, c->table_id, &table, err);
    if (code != TARN_OK)
        return code;
    struct tarn_commit_row row = { .version = table->version + 1,
                                   .transaction = c->transaction,
                                   .file_count = table->file_count + 1 };
    struct tarn_file file = { .path = c->transaction, .size = 1, .records = -1 };
    code = tx->ops->files.add(tx, table->id, row.version, &file, err);
    if (code == TARN_OK)
        code = tx->ops->commits.insert(tx, table->id, &row, err);
    return code == TARN_OK ? tx->ops->tables.commit(tx, table->id, table->version, &row, err) : code;
}

static void *write_main(void *arg)
{
    struct work *w = arg;
    for (int i = 0; i < COMMITS; i++) {
        struct commit c = { .table_id = w->table_id };
        snprintf(c.transaction, sizeof c.transaction, "t-%d-%d", w->number, i);
        w->done += tarn_store_write(w->store, commit_tx, &c, NULL) == TARN_OK;
    }
    return NULL;
}

static tarn_code count_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)file;
    (void)err;
    (*(int64_t *)ctx)++;
    return TARN_OK;
}

/* Within one read the row and the files agree. */
static tarn_code read_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct work *w = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    int64_t files = 0;
    tarn_code code = tx->ops->tables.get_by_id(tx, w->table_id, &table, err);
    if (code == TARN_OK)
        code = tx->ops->files.page(tx, w->table_id, table->version, "", 100000, count_file, &files, err);
    if (code == TARN_OK && (files != table->version || table->file_count != table->version))
        atomic_fetch_add(&faults, 1);
    return code;
}

static void *read_once(void *arg)
{
    if (tarn_store_read(((struct work *)arg)->store, read_tx, arg, NULL) != TARN_OK)
        atomic_fetch_add(&faults, 1);
    return NULL;
}

/* A thread of its own each time: connections come and go. */
static void *read_main(void *arg)
{
    while (!stop) {
        pthread_t one;
        if (pthread_create(&one, NULL, read_once, arg) == 0)
            pthread_join(one, NULL);
        (void)read_once(arg);
    }
    return NULL;
}

static int run(struct tarn_store *store, int64_t table_id)
{
    static struct work writers[WRITERS], readers[READERS];
    int acknowledged = 0;
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct work){ .store = store, .table_id = table_id };
        pthread_create(&readers[i].thread, NULL, read_main, &readers[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct work){ .store = store, .table_id = table_id, .number = i };
        pthread_create(&writers[i].thread, NULL, write_main, &writers[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        acknowledged += writers[i].done;
    }
    stop = true;
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i].thread, NULL);
    return acknowledged;
}

int main(void)
{
    char folder[RACE_FOLDER_MAX], path[RACE_PATH_MAX];
    if (!race_folder_make(folder))
        return 1;
    snprintf(path, sizeof path, "%s/catalog.db", folder);
    struct tarn_sqlite_options options = { .path = path, .migrate = true };
    struct tarn_store *store = NULL;
    int64_t table_id = 0;
    TARN_ERR(err);
    if (tarn_sqlite_open(&options, &store, &err) != TARN_OK ||
        tarn_store_write(store, make_tx, &table_id, &err) != TARN_OK) {
        fprintf(stderr, "race_snapshots: %s\n", err.detail);
        return 1;
    }
    int acknowledged = run(store, table_id);

    tarn_store_free(store); /* SQLite takes its log away with the last connection */
    (void)race_folder_remove(folder);
    printf("race_snapshots: %d commits, %d faults\n", acknowledged, faults);
    return acknowledged == WRITERS * COMMITS && faults == 0 ? 0 : 1;
}
