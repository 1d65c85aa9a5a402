/* race_commits: many clients commit to one table right after a restart, with a publisher beside them, under the thread
 * sanitizer. Every acknowledged commit must be one version, and the last version their number. */
#include "api/http.h"
#include "catalog/sqlite/sqlite.h"
#include "lake/publish.h"
#include "tests/race/folder.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { CLIENTS = 12, EACH = 6 };

static struct tarn_lake lake;
static struct tarn_app app = { .lake = &lake };
static atomic_int acknowledged, failed;
static char folder[RACE_FOLDER_MAX], root[RACE_PATH_MAX], database[RACE_PATH_MAX];

static unsigned ask(const char *method, const char *target, const char *body, int64_t *current)
{
    struct tarn_reply reply = { 0 };

    tarn_api_call(&app, method, target, NULL, body, &reply);
    unsigned status = reply.status;
    json_auto_t *json = reply.body.len > 0 ? json_loadb(reply.body.data, reply.body.len, 0, NULL) : NULL;
    const json_t *value = json_object_get(json, status == 409 ? "current_version" : "version");
    *current = json_is_integer(value) ? json_integer_value(value) : -1;
    tarn_reply_done(&reply);
    return status;
}

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

static tarn_code open_all(struct tarn_err *err)
{
    const struct tarn_sqlite_options options = { .path = database, .migrate = true };
    const char *roots[] = { root };
    bool made = false;
    tarn_code code = tarn_sqlite_open(&options, &lake.store, err);

    if (code == TARN_OK)
        code = tarn_storage_new(roots, 1, &lake.storage, err);
    if (code == TARN_OK)
        code = tarn_lake_open(&lake, lake.store, lake.storage, err);
    if (code == TARN_OK)
        code = tarn_auth_open(TARN_AUTH_NONE, lake.store, folder, &made, &app.auth, err);
    if (code == TARN_OK)
        lake.default_root = strdup(root);
    return code;
}

static void close_all(void)
{
    tarn_auth_free(app.auth);
    tarn_lake_done(&lake);
    tarn_store_free(lake.store);
    tarn_storage_free(lake.storage);
    app.auth = NULL;
    lake = (struct tarn_lake){ 0 };
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

int main(void)
{
    TARN_ERR(err);

    if (!race_folder_make(folder))
        return 1;
    snprintf(root, sizeof root, "%s/lake", folder);
    snprintf(database, sizeof database, "%s/tarn.db", folder);
    (void)mkdir(root, 0755);
    int fault = run(&err);
    fflush(stdout);
    if (fault)
        fprintf(stderr, "race_commits: %s\n", err.detail);
    else
        fault = !race_folder_remove(folder);
    return fault;
}
