/* race_store: many threads submit to the one writer and read beside it, under the thread sanitizer. Every submitted
 * transaction must be answered exactly once, and the sum must be what was added. */
#include "catalog/sqlite/sqlite.h"
#include "tests/race/folder.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, EACH = 200 };

static struct tarn_store *store;
static atomic_int answered, failed, spoiled;

struct add {
    char key[32];
    bool refuse; /* every fifth one: undone alone, its neighbours in the group stay */
};

static tarn_code add_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct add *add = ctx;

    tarn_code code = tx->ops->meta.set(tx, add->key, "1", err);
    if (code == TARN_OK && add->refuse)
        return tarn_fail(err, TARN_VERSION_CONFLICT, "refused on purpose");
    return code;
}

static void add_done(void *ctx, tarn_code code, struct tarn_err *err)
{
    struct add *add = ctx;

    if (code != (add->refuse ? TARN_VERSION_CONFLICT : TARN_OK)) {
        fprintf(stderr, "%s: %s\n", add->key, err ? err->detail : "?");
        atomic_fetch_add(&failed, 1);
    }
    free(add);
    atomic_fetch_add(&answered, 1);
}

static tarn_code look_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    char *value = NULL;
    tarn_code code = tx->ops->meta.get(tx, ctx, &value, err);

    free(value);
    return code;
}

static void *work(void *arg)
{
    int number = *(int *)arg;

    for (int i = 0; i < EACH; i++) {
        struct add *add = calloc(1, sizeof *add);
        if (!add)
            return NULL;
        snprintf(add->key, sizeof add->key, "race-%d-%d", number, i);
        add->refuse = i % 5 == 0;
        tarn_store_submit(store, add_tx, add, add_done);
        TARN_ERR(err);
        char key[32];
        snprintf(key, sizeof key, "race-%d-%d", number, i / 2);
        tarn_code code = tarn_store_read(store, look_tx, key, &err);
        if (code != TARN_OK && code != TARN_NOT_FOUND)
            atomic_fetch_add(&failed, 1);
        if (code == TARN_OK && i / 2 % 5 == 0)
            atomic_fetch_add(&spoiled, 1);
    }
    return NULL;
}

int main(void)
{
    char folder[RACE_FOLDER_MAX], path[RACE_PATH_MAX];
    TARN_ERR(err);
    if (!race_folder_make(folder))
        return 2;
    snprintf(path, sizeof path, "%s/race.db", folder);
    struct tarn_sqlite_options options = { .path = path, .migrate = true };
    if (tarn_sqlite_open(&options, &store, &err) != TARN_OK) {
        fprintf(stderr, "%s\n", err.detail);
        return 1;
    }
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
            return 2;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    tarn_store_free(store); /* answers whoever still waits */
    (void)race_folder_remove(folder);
    printf("%d answered, %d failed, %d refused ones seen\n", answered, failed, spoiled);
    return answered == THREADS * EACH && failed == 0 && spoiled == 0 ? 0 : 1;
}
