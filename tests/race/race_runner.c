/* race_runner: the runner scans every table all the time while other threads check them and nudge the
 * runner, under the thread sanitizer. No scan may fail, and no finding may open on a table whose files are there. */
#include "catalog/sqlite/sqlite.h"
#include "lake/register.h"
#include "monitors/monitors.h"
#include "tests/race/folder.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { TABLES = 4, CHECKS = 40 };

static struct tarn_lake lake;
static struct tarn_runner *runner;
static const struct tarn_monitor_defaults k_defaults = { .interval_ms = 1000, .sweep_interval_ms = 1000 };
static atomic_int faults;

static void must(tarn_code code, const struct tarn_err *err)
{
    if (code == TARN_OK)
        return;
    fprintf(stderr, "%s: %s\n", tarn_code_slug(code), err->detail);
    atomic_fetch_add(&faults, 1);
}

static void make_table(int n)
{
    struct tarn_register_use use = { .format = TARN_FORMAT_MANIFEST, .mode = TARN_MANAGED, .publish = true };
    TARN_ERR(err);

    use.lake = &lake;
    snprintf(use.ident.namespace_, sizeof use.ident.namespace_, "default");
    snprintf(use.ident.name, sizeof use.ident.name, "t%d", n);
    must(tarn_use_run(&lake, &tarn_register, &use, &err), &err);
    tarn_register.done(&use);
}

static void *check(void *ctx)
{
    int n = *(int *)ctx;

    for (int i = 0; i < CHECKS; i++) {
        struct tarn_scan_use use = { .confirm = i % 2, .sweep = i % 3 == 0, .defaults = &k_defaults };
        TARN_ERR(err);
        snprintf(use.ident.namespace_, sizeof use.ident.namespace_, "default");
        snprintf(use.ident.name, sizeof use.ident.name, "t%d", n);
        must(tarn_use_run(&lake, &tarn_scan, &use, &err), &err);
        for (size_t k = 0; k < use.findings.count; k++)
            if (use.findings.items[k].opened_at >= 0) {
                fprintf(stderr, "a finding opened: %s\n", use.findings.items[k].message);
                atomic_fetch_add(&faults, 1);
            }
        tarn_scan.done(&use);
        tarn_runner_nudge(runner);
    }
    return NULL;
}

int main(void)
{
    char folder[RACE_FOLDER_MAX], database[RACE_PATH_MAX], root[RACE_PATH_MAX];
    struct tarn_store *store = NULL;
    struct tarn_storage *storage = NULL;
    pthread_t threads[TABLES];
    int numbers[TABLES];
    TARN_ERR(err);

    if (!race_folder_make(folder))
        return 1;
    snprintf(root, sizeof root, "%s/root", folder);
    snprintf(database, sizeof database, "%s/tarn.db", folder);
    mkdir(root, 0700);
    const char *roots[] = { root };
    const struct tarn_sqlite_options options = { .path = database, .migrate = true };
    must(tarn_sqlite_open(&options, &store, &err), &err);
    must(tarn_storage_new(roots, 1, &storage, &err), &err);
    must(tarn_lake_open(&lake, store, storage, &err), &err);
    lake.default_root = strdup(root);
    for (int i = 0; i < TABLES; i++)
        make_table(i);
    must(tarn_runner_start(&lake, &k_defaults, 3, &runner, &err), &err);
    for (int i = 0; i < TABLES; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, check, &numbers[i]);
    }
    for (int i = 0; i < TABLES; i++)
        pthread_join(threads[i], NULL);
    tarn_runner_stop(runner);
    tarn_lake_done(&lake);
    tarn_store_free(store);
    tarn_storage_free(storage);
    faults += !race_folder_remove(folder);
    printf("%d passed, %d failed\n", faults == 0, (int)faults);
    return faults != 0;
}
