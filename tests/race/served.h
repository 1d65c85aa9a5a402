/* served.h - a lake without a server in a folder of its own, asked over the API: for races between requests. */
#ifndef TARN_TESTS_RACE_SERVED_H
#define TARN_TESTS_RACE_SERVED_H
#include "api/http.h"
#include "catalog/sqlite/sqlite.h"
#include "tests/race/folder.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct tarn_lake lake;
static struct tarn_app app = { .lake = &lake };
static char folder[RACE_FOLDER_MAX], root[RACE_PATH_MAX], database[RACE_PATH_MAX];

/* The status; *current: the version that the answer tells, -1: none. */
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

/* main of such a race: 0 when `run` was without fault and its folder could be removed. */
static int race_served(const char *name, int (*run)(struct tarn_err *err))
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
        fprintf(stderr, "%s: %s\n", name, err.detail);
    else
        fault = !race_folder_remove(folder);
    return fault;
}
#endif
