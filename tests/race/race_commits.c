/* race_commits: many clients commit to one table right after a restart, with a publisher beside them, under the thread
 * sanitizer. Every acknowledged commit must be one version, and the last version their number. */
#include "lake/publish.h"
#include "tests/race/served.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { CLIENTS = 12, EACH = 6 };

static atomic_int acknowledged, failed;

static void commit_once(int client, int n)
{
    int64_t expected = 0;
    char body[200];
    unsigned status = 409;

    while (status == 409 && expected >= 0) {
        snprintf(body, sizeof body,
                 "{\"expected_version\":%lld,\"operations\":[{\"type\":\"add_file\",\"path\":\"c%d/%d\",\"size\":1}]}",
                 (long long)expected, client, n);
        status = ask("POST", "/api/table/t/commits", body, &expected);
    }
    atomic_fetch_add(status == 201 ? &acknowledged : &failed, 1);
}

static void *work(void *arg)
{
    for (int i = 0; i < EACH; i++)
        commit_once(*(int *)arg, i);
    return NULL;
}

static int run(struct tarn_err *err)
{
    const struct tarn_publisher_options options = { .wait_ms = 5000, .backlog_max = 1000 };
    struct tarn_publisher *publisher = NULL;
    pthread_t threads[CLIENTS];
    int numbers[CLIENTS];
    int64_t version = 0;

    if (open_all(err) != TARN_OK || ask("POST", "/api/tables", "{\"name\":\"t\"}", &version) != 201)
        return 1;
    close_all();
    if (open_all(err) != TARN_OK || tarn_publisher_start(&lake, &options, &publisher, err) != TARN_OK)
        return 1;
    for (int i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    tarn_publisher_stop(publisher, 10000);
    unsigned status = ask("GET", "/api/table/t", NULL, &version);
    close_all();
    printf("%d acknowledged, %d failed, version %lld\n", atomic_load(&acknowledged), atomic_load(&failed),
           (long long)version);
    return status != 200 || version != CLIENTS * EACH || atomic_load(&acknowledged) != version;
}

int main(void) { return race_served("race_commits", run); }
