/* race_rollbacks: clients roll one table forth and back and commit to it, and some give a rollback up in the middle, with a
 * publisher and a sweeper beside them, under the thread sanitizer. Every acknowledged answer must be one version, and
 * in the end nothing may be staged. */
#include "lake/publish.h"
#include "lake/rollback.h"
#include "lake/sweep.h"
#include "tests/race/served.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { CLIENTS = 8, EACH = 12 };

static atomic_int acknowledged, failed;

/* A rollback whose client is gone before the decision: what it wrote is the sweeper's. */
static void give_up(int64_t version)
{
    char text[96];
    struct tarn_rollback_use use = { .commit = { .lake = &lake, .ident = { "default", "t" } } };
    TARN_ERR(err);

    snprintf(text, sizeof text, "{\"expected_version\":%lld,\"to_version\":%lld}", (long long)version,
             (long long)(version / 2));
    json_auto_t *json = json_loads(text, 0, NULL);
    tarn_code code = tarn_rollback_parse(json, &use, &err);
    if (code == TARN_OK)
        code = tarn_rollback.check(&lake, &use, &err); /* refused or staged: both are fine */
    (void)code;
    tarn_rollback.done(&use);
}

/* 409 and 503 are what the others make of it. */
static void try_once(int client, int n)
{
    int64_t version = 0, ignored;
    char body[200];

    if (ask("GET", "/api/table/t", NULL, &version) != 200)
        atomic_fetch_add(&failed, 1);
    if (n % 4 == 3) {
        give_up(version);
        return;
    }
    bool rolls = n % 2 == 1 && version > 1;
    if (rolls)
        snprintf(body, sizeof body, "{\"expected_version\":%lld,\"to_version\":%lld}", (long long)version,
                 (long long)(version - 1));
    else
        snprintf(body, sizeof body, "{\"operations\":[{\"type\":\"add_file\",\"path\":\"c%d/%d\",\"size\":0}]}", client, n);
    unsigned status = ask("POST", rolls ? "/api/table/t/rollback" : "/api/table/t/commits", body, &ignored);
    if (status == 201)
        atomic_fetch_add(&acknowledged, 1);
    else if (status != 409 && status != 503 && status != 422)
        atomic_fetch_add(&failed, 1);
}

static void *work(void *arg)
{
    for (int i = 0; i < EACH; i++)
        try_once(*(int *)arg, i);
    return NULL;
}

static tarn_code staging_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    int64_t id = 0;
    return tx->ops->tables.staged(tx, 0, 1, &id, ctx, err);
}

static int run(struct tarn_err *err)
{
    const struct tarn_publisher_options options = { .wait_ms = 5000, .backlog_max = 1000 };
    struct tarn_publisher *publisher = NULL;
    struct tarn_sweeper *sweeper = NULL;
    pthread_t threads[CLIENTS];
    int numbers[CLIENTS];
    int64_t version = 0, staged = -1;

    if (open_all(err) != TARN_OK || ask("POST", "/api/tables", "{\"name\":\"t\"}", &version) != 201 ||
        tarn_publisher_start(&lake, &options, &publisher, err) != TARN_OK ||
        tarn_sweeper_start(&lake, &sweeper, err) != TARN_OK)
        return 1;
    for (int i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    tarn_sweeper_stop(sweeper);
    tarn_publisher_stop(publisher, 10000);
    tarn_code code = tarn_lake_sweep(&lake, 1, err);
    if (code == TARN_OK)
        code = tarn_store_read(lake.store, staging_tx, &staged, err);
    unsigned status = ask("GET", "/api/table/t", NULL, &version);
    close_all();
    printf("%d acknowledged, %d failed, version %lld\n", atomic_load(&acknowledged), atomic_load(&failed),
           (long long)version);
    return code != TARN_OK || status != 200 || staged != 0 || version != atomic_load(&acknowledged) ||
           atomic_load(&failed) > 0;
}

int main(void) { return race_served("race_rollbacks", run); }
