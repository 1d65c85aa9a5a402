/* offline.c - commands on a stopped server go through the very handlers that the server
 * has, so that both ways answer alike. The lock keeps a server from starting meanwhile. */
#include "cli/offline.h"
#include "catalog/sqlite/sqlite.h"
#include "config/config.h"
#include "config/data_dir.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct tarn_offline {
    struct tarn_data_dir *data_dir;
    struct tarn_store *store;
    struct tarn_auth *auth;
    struct tarn_lake lake;
    struct tarn_app app;
};

char *tarn_data_folder(const char *flag)
{
    const char *variable = getenv("TARN_DATA");

    if (flag)
        return strdup(flag);
    return variable && *variable ? strdup(variable) : tarn_config_default_data();
}

static tarn_code check_database(const char *data, struct tarn_err *err)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", data, TARN_DATABASE_FILE);
    if (access(path, F_OK) != 0)
        return tarn_fail(err, TARN_NOT_FOUND, "there is no database in %s", data);
    return TARN_OK;
}

tarn_code tarn_offline_open(const char *data, bool migrate, struct tarn_offline **out, struct tarn_err *err)
{
    TARN_AUTO(offline) struct tarn_offline *offline = calloc(1, sizeof *offline);
    bool made = false;

    if (!offline)
        return tarn_fail_oom(err);
    tarn_code code = check_database(data, err);
    if (code == TARN_OK)
        code = tarn_data_dir_open(data, &offline->data_dir, err);
    if (code != TARN_OK)
        return code;
    const struct tarn_sqlite_options options = {
        .path = tarn_data_dir_database(offline->data_dir), .migrate = migrate
    };
    code = tarn_sqlite_open(&options, &offline->store, err);
    if (code == TARN_OK)
        code = tarn_auth_open(TARN_AUTH_NONE, offline->store, data, &made, &offline->auth, err);
    if (code != TARN_OK)
        return code;
    offline->lake.store = offline->store;
    offline->app = (struct tarn_app){ .lake = &offline->lake, .auth = offline->auth };
    *out = tarn_take(&offline);
    return TARN_OK;
}

void tarn_offline_free(struct tarn_offline *offline)
{
    if (!offline)
        return;
    tarn_auth_free(offline->auth);
    tarn_store_free(offline->store);
    tarn_data_dir_free(offline->data_dir);
    free(offline);
}

struct tarn_store *tarn_offline_store(struct tarn_offline *offline) { return offline->store; }

void tarn_offline_call(struct tarn_offline *offline, const char *method, const char *path, const char *body,
                       struct tarn_reply *reply)
{
    tarn_api_call(&offline->app, method, path, NULL, body, reply);
}
