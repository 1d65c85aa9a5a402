/* doors.c - see doors.h. */
#include "tests/support/doors.h"
#include "base/log.h"
#include "base/time.h"
#include "catalog/sqlite/sqlite.h"
#include "server/drain.h"
#include "tests/support/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(tarn_code code, struct tarn_err *err)
{
    if (code == TARN_OK)
        return;
    fprintf(stderr, "doors: %s\n", err->detail);
    abort();
}

static tarn_code backup(struct tarn_app *app, const char *file, struct tarn_err *err)
{
    return tarn_sqlite_backup(app->lake->store, file, err);
}

static void read_token(struct tarn_doors *doors)
{
    char *text = tarn_read_file(tarn_path(doors->folder, "admin.token"), NULL);
    snprintf(doors->token, sizeof doors->token, "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
}

void tarn_doors_open(struct tarn_doors *doors, const struct tarn_mhd_options *options)
{
    TARN_ERR(err);
    bool made;
    *doors = (struct tarn_doors){ 0 };
    if (getenv("TARN_TEST_LOG"))
        tarn_log_setup(TARN_LOG_DEBUG, TARN_LOG_LOGFMT);
    snprintf(doors->folder, sizeof doors->folder, "%s", tarn_tmp());
    doors->config.data = doors->folder;
    const struct tarn_sqlite_options sqlite = { .path = tarn_path(doors->folder, "tarn.sqlite"), .migrate = true };
    must(tarn_sqlite_open(&sqlite, &doors->lake.store, &err), &err);
    must(tarn_auth_open(TARN_AUTH_TOKENS, doors->lake.store, doors->folder, &made, &doors->auth, &err), &err);
    read_token(doors);
    must(tarn_pool_new("worker", 2, 0, 1000, &doors->pool, &err), &err);
    tarn_tasks_init(&doors->tasks, doors->pool, 500);
    must(tarn_polls_start(doors->lake.store, 3, &doors->polls, &err), &err);
    doors->tasks.polls = doors->polls;
    must(tarn_listen("127.0.0.1:0", &doors->listener, &err), &err);
    doors->app = (struct tarn_app){ .lake = &doors->lake, .auth = doors->auth, .config = &doors->config,
                                    .backup = backup };
    struct tarn_mhd_options o = *options;
    o.listen_fd = doors->listener.fd;
    o.loops = 2;
    o.body_max = o.body_max ? o.body_max : 64u << 20;
    o.bodies_max = o.bodies_max ? o.bodies_max : 256u << 20;
    o.headers_max = o.headers_max ? o.headers_max : 32u << 10;
    o.connections_max = o.connections_max ? o.connections_max : 500;
    o.timeout_s = o.timeout_s ? o.timeout_s : 30;
    must(tarn_mhd_start(&doors->app, &doors->tasks, &o, &doors->mhd, &err), &err);
}

void tarn_doors_close(struct tarn_doors *doors, long patience_ms)
{
    if (doors->mhd)
        tarn_drain(doors->mhd, &doors->tasks, tarn_monotonic_ms() + patience_ms);
    else
        tarn_polls_end(doors->polls);
    tarn_mhd_free(doors->mhd);
    tarn_tasks_settle(&doors->tasks);
    tarn_pool_free(doors->pool);
    tarn_tasks_done(&doors->tasks);
    tarn_auth_free(doors->auth);
    tarn_store_free(doors->lake.store);
    tarn_polls_free(doors->polls);
}
