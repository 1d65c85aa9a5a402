/* race_publisher: threads commit to a few tables and wait for the publication of each commit, while others
 * nudge and publish on their own threads, under the thread sanitizer. Every wait is told once, and in the end
 * storage shows the newest version of each table. */
#include "catalog/sqlite/sqlite.h"
#include "formats/manifest/manifest.h"
#include "lake/publish.h"
#include "tests/race/folder.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

enum { TABLES = 3, COMMITTERS = 4, EACH = 15 };

static struct tarn_lake lake;
static char folder[RACE_FOLDER_MAX], root[RACE_PATH_MAX];
static int64_t ids[TABLES];
static atomic_int told, refused, faults;
static atomic_bool stop;

static void fault(const char *what, const struct tarn_err *err)
{
    atomic_fetch_add(&faults, 1);
    fprintf(stderr, "%s: %s\n", what, err->detail);
}

static tarn_code make_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    int64_t *id = ctx;
    char name[16], location[RACE_PATH_MAX + 16];
    tarn_code code = tx->ops->tables.reserve_id(tx, id, err);
    if (code != TARN_OK)
        return code;
    snprintf(name, sizeof name, "t%d", (int)(*id % 1000));
    snprintf(location, sizeof location, "%s/%s", root, name);
    struct tarn_table table = { .id = *id,
                                .namespace_ = "default",
                                .name = name,
                                .location = location,
                                .published_version = -1,
                                .partition_keys = "[]",
                                .properties = "{}",
                                .monitors = "{}",
                                .publish = true,
                                .dropped_at = -1,
                                .revision = 1 };
    snprintf(table.uuid, sizeof table.uuid, "uuid-%s", name);
    return tx->ops->tables.insert(tx, &table, err);
}

struct commit {
    int64_t id, version;
};

static tarn_code commit_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct commit *c = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    char transaction[32], path[40];
    tarn_code code = tx->ops->tables.get_by_id(tx, c->id, &table, err);
    if (code != TARN_OK)
        return code;
    c->version = table->version + 1;
    snprintf(transaction, sizeof transaction, "txn-%lld", (long long)c->version);
    snprintf(path, sizeof path, "f%lld.parquet", (long long)c->version);
    const struct tarn_file file = { .path = path, .size = 1, .records = -1, .removed_version = -1 };
    const struct tarn_commit_row row = { .version = c->version,
                                         .transaction = transaction,
                                         .data_change = true,
                                         .committed_at = 1,
                                         .files_added = 1,
                                         .file_count = c->version };
    code = tx->ops->files.add(tx, c->id, c->version, &file, err);
    if (code == TARN_OK)
        code = tx->ops->commits.insert(tx, c->id, &row, err);
    return code == TARN_OK ? tx->ops->tables.commit(tx, c->id, table->version, &row, err) : code;
}

static void tell(void *ctx, bool done)
{
    (void)ctx;
    atomic_fetch_add(&told, 1);
    if (!done)
        atomic_fetch_add(&refused, 1);
}

static void *commit_many(void *arg)
{
    for (int i = 0; i < EACH; i++) {
        struct commit c = { .id = ids[((size_t)arg + (size_t)i) % TABLES] };
        TARN_ERR(err);
        if (tarn_store_write(lake.store, commit_tx, &c, &err) != TARN_OK)
            fault("commit", &err);
        tarn_publisher_wait(lake.publisher, c.id, c.version, tell, NULL);
    }
    return NULL;
}

static void *publish_too(void *arg)
{
    (void)arg;
    for (size_t i = 0; !atomic_load(&stop); i++) {
        TARN_ERR(err);
        tarn_publisher_nudge(lake.publisher, ids[i % TABLES]);
        if (tarn_publish_table(&lake, ids[i % TABLES], &err) != TARN_OK)
            fault("publish", &err);
    }
    return NULL;
}

static void check(int64_t id)
{
    char location[RACE_PATH_MAX + 16];
    TARN_ERR(err);
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_manifest_head head = { .version = -1 };
    snprintf(location, sizeof location, "%s/t%d", root, (int)(id % 1000));
    if (tarn_place_open_local(location, &place, &err) != TARN_OK ||
        tarn_manifest_read_at(place, &head, NULL, NULL, NULL, &err) != TARN_OK)
        fault("manifest", &err);
    if (head.version != COMMITTERS * EACH / TABLES) {
        fprintf(stderr, "%s shows version %lld\n", location, (long long)head.version);
        atomic_fetch_add(&faults, 1);
    }
    tarn_manifest_head_done(&head);
}

static void run(void)
{
    const struct tarn_publisher_options options = { .wait_ms = 60000, .backlog_max = 1000 };
    struct tarn_publisher *publisher = NULL;
    pthread_t committers[COMMITTERS], other;
    TARN_ERR(err);
    for (int i = 0; i < TABLES; i++)
        if (tarn_store_write(lake.store, make_tx, &ids[i], &err) != TARN_OK)
            fault("table", &err);
    if (tarn_publisher_start(&lake, &options, &publisher, &err) != TARN_OK) {
        fault("start", &err);
        return;
    }
    pthread_create(&other, NULL, publish_too, NULL);
    for (size_t i = 0; i < COMMITTERS; i++)
        pthread_create(&committers[i], NULL, commit_many, (void *)i);
    for (size_t i = 0; i < COMMITTERS; i++)
        pthread_join(committers[i], NULL);
    atomic_store(&stop, true);
    pthread_join(other, NULL);
    tarn_publisher_stop(publisher, 60000);
    for (int i = 0; i < TABLES; i++)
        check(ids[i]);
}

int main(void)
{
    char database[RACE_PATH_MAX];
    const char *roots[] = { root };
    TARN_ERR(err);
    if (!race_folder_make(folder))
        return 1;
    snprintf(root, sizeof root, "%s/lake", folder);
    snprintf(database, sizeof database, "%s/tarn.db", folder);
    (void)mkdir(root, 0755);
    const struct tarn_sqlite_options options = { .path = database, .migrate = true };
    if (tarn_sqlite_open(&options, &lake.store, &err) != TARN_OK ||
        tarn_storage_new(roots, 1, &lake.storage, &err) != TARN_OK)
        return 1;
    snprintf(lake.catalog_id, sizeof lake.catalog_id, "catalog");
    run();
    tarn_store_free(lake.store);
    tarn_storage_free(lake.storage);
    bool is_removed = race_folder_remove(folder);
    printf("%d waits told, %d refused, %d faults\n", atomic_load(&told), atomic_load(&refused),
           atomic_load(&faults));
    return !is_removed || atomic_load(&told) != COMMITTERS * EACH || atomic_load(&refused) > 0 ||
           atomic_load(&faults) > 0;
}
