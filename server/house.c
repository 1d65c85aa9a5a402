/* house.c - the order of a start: what can refuse it cheaply comes first, and nothing is reachable
 * before all of it stands. */
#include "server/house.h"
#include "api/answers.h"
#include "api/traffic.h"
#include "base/log.h"
#include "base/time.h"
#include "catalog/sqlite/sqlite.h"
#include "lake/copy.h"
#include "server/drain.h"
#include "server/roots.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWERS_BYTES (32u << 20) /* of rendered answers, filled as they are asked for */
#define PATIENCE_MS   20000 /* of a client with a check; then it is told where to ask */
#define AIR_MAX       (4096 + TARN_POLLS_MAX) /* requests being worked on, or waiting for events, at once */

static atomic_bool is_ready;

static bool ready(void) { return atomic_load_explicit(&is_ready, memory_order_relaxed); }

static tarn_code backup(struct tarn_app *app, const char *file, struct tarn_err *err)
{
    return tarn_sqlite_backup(app->lake->store, file, err);
}

/* --- steps of the start, in order --- */

static tarn_code open_listener(struct tarn_house *house, struct tarn_err *err)
{
    tarn_code code = tarn_listen(house->config->listen, &house->listener, err);
    if (code != TARN_OK)
        return code;
    bool open = strcmp(house->config->auth_mode, "none") == 0;
    if (open && !house->listener.loopback)
        return tarn_fail_field(err, "auth.mode",
                               "without tokens only a loopback address may be listened on, not %s",
                               house->config->listen);
    return TARN_OK;
}

static tarn_code open_data(struct tarn_house *house, struct tarn_err *err)
{
    tarn_code code = tarn_data_dir_open(house->config->data, &house->data_dir, err);
    if (code != TARN_OK)
        return code;
    const struct tarn_sqlite_options options = { .path = tarn_data_dir_database(house->data_dir),
                                                 .migrate = true };
    return tarn_sqlite_open(&options, &house->store, err);
}

static tarn_code open_storage(struct tarn_house *house, struct tarn_err *err)
{
    tarn_code code = tarn_roots_prepare(house->config, err);
    if (code != TARN_OK)
        return code;
    tarn_roots_warn(house->config);
    return tarn_storage_new((const char *const *)house->config->roots, house->config->root_count,
                            &house->storage, err);
}

static tarn_code open_lake(struct tarn_house *house, struct tarn_err *err)
{
    tarn_code code = tarn_lake_open(&house->lake, house->store, house->storage, err);
    if (code != TARN_OK)
        return code;
    house->lake.dropped_retention_ms = house->config->retention_dropped_ms;
    house->lake.history_retention_ms = house->config->history_retention_ms;
    house->lake.history_versions = house->config->history_versions;
    house->lake.events_retention_ms = house->config->retention_events_ms;
    house->lake.samples_retention_ms = house->config->retention_samples_ms;
    house->lake.findings_retention_ms = house->config->retention_findings_ms;
    house->lake.default_root = strdup(house->config->roots[0]);
    return house->lake.default_root ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code open_auth(struct tarn_house *house, struct tarn_err *err)
{
    bool open = strcmp(house->config->auth_mode, "none") == 0;
    return tarn_auth_open(open ? TARN_AUTH_NONE : TARN_AUTH_TOKENS, house->store, house->config->data,
                          &house->made_admin_token, &house->auth, err);
}

static tarn_code settle_copy(struct tarn_house *house, struct tarn_err *err)
{
    bool became = false;
    if (!house->config->restored_copy)
        return TARN_OK;
    tarn_code code = tarn_lake_become_copy(&house->lake, &became, err);
    if (code == TARN_OK)
        tarn_log(TARN_LOG_INFO, "restored_copy", "catalog", house->lake.catalog_id, "detail",
                 became ? "a new catalog id, and no table is published" : "it was one before", NULL);
    return code;
}

/* Of a restored backup nobody sees anything before it is what storage knows. */
static tarn_code settle_backup(struct tarn_house *house, struct tarn_err *err)
{
    int64_t failed = 0;
    bool is_backup = false;
    tarn_code code = tarn_lake_is_backup(&house->lake, &is_backup, err);
    if (code != TARN_OK || !is_backup)
        return code;
    tarn_log(TARN_LOG_INFO, "backup_restored", "detail", "every table is compared with its storage first", NULL);
    code = tarn_lake_settle_backup(&house->lake, &failed, err);
    if (code == TARN_OK)
        tarn_log(failed > 0 ? TARN_LOG_WARN : TARN_LOG_INFO, "backup_compared", "detail",
                 failed > 0 ? "some tables could not be: the next start tries again" : "all tables were", NULL);
    return code;
}

static tarn_code open_background(struct tarn_house *house, struct tarn_err *err)
{
    const struct tarn_config *config = house->config;
    const struct tarn_publisher_options options = { config->publish_wait_ms, config->publish_backlog };
    tarn_code code = tarn_publisher_start(&house->lake, &options, &house->lake.publisher, err);
    if (code == TARN_OK)
        code = tarn_sweeper_start(&house->lake, &house->sweeper, err);
    if (code != TARN_OK)
        return code;
    house->monitors = (struct tarn_monitor_defaults){
        .interval_ms = config->scan_interval_ms,
        .sweep_interval_ms = config->scan_sweep_interval_ms,
        .policy = strcmp(config->status_policy, "strict") == 0 ? TARN_POLICY_STRICT : TARN_POLICY_DEFAULT,
        .monitors = config->monitors,
        .full_interval_ms = config->scan_full_interval_ms,
    };
    code = tarn_recalls_new(config->scan_memory_bytes, &house->monitors.recalls, err);
    if (code != TARN_OK)
        return code;
    return tarn_runner_start(&house->lake, &house->monitors, (unsigned)config->scan_threads, &house->runner,
                             err);
}

static tarn_code open_workers(struct tarn_house *house, struct tarn_err *err)
{
    const struct tarn_config *config = house->config;
    /* Every task in the air and every stream has at most one job, so the queue never is what refuses. */
    size_t queue = AIR_MAX + (size_t)config->limits_connections;
    tarn_code code =
        tarn_pool_new("tarn-worker", (unsigned)config->limits_workers, 0, queue, &house->pool, err);
    if (code != TARN_OK)
        return code;
    tarn_tasks_init(&house->tasks, house->pool, AIR_MAX);
    code = tarn_pool_new("tarn-slow", (unsigned)config->scan_threads, TARN_POOL_GIVES_WAY, queue,
                         &house->slow, err);
    house->tasks.slow = house->slow;
    if (code != TARN_OK)
        return code;
    code = tarn_polls_start(house->store, TARN_POLLS_MAX, &house->polls, err);
    house->tasks.polls = house->polls;
    return code == TARN_OK ? tarn_late_start(&house->tasks, PATIENCE_MS, &house->late, err) : code;
}

static tarn_code open_doors(struct tarn_house *house, struct tarn_err *err)
{
    const struct tarn_config *config = house->config;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    tarn_code code = tarn_answers_new(house->store, ANSWERS_BYTES, &house->answers, err);
    if (code == TARN_OK)
        code = tarn_traffic_new(&house->traffic, err);
    if (code != TARN_OK)
        return code;
    house->app = (struct tarn_app){
        .lake = &house->lake,
        .auth = house->auth,
        .runner = house->runner,
        .config = config,
        .monitors = &house->monitors,
        .answers = house->answers,
        .traffic = house->traffic,
        .ready = ready,
        .backup = backup,
    };
    const struct tarn_mhd_options options = {
        .listen_fd = house->listener.fd,
        .loops = cores > 0 ? (unsigned)cores : 1,
        .body_max = (size_t)config->limits_body_bytes,
        .bodies_max = (size_t)config->limits_bodies_bytes,
        .headers_max = (size_t)config->limits_headers_bytes,
        .connections_max = (unsigned)config->limits_connections,
        .timeout_s = (unsigned)((config->limits_timeout_ms + 999) / 1000),
        .log_requests = strcmp(config->log_level, "debug") == 0,
    };
    house->listener.fd = -1;
    return tarn_mhd_start(&house->app, &house->tasks, &options, &house->mhd, err);
}

tarn_code tarn_house_open(struct tarn_config *config, struct tarn_house **out, struct tarn_err *err)
{
    typedef tarn_code step_fn(struct tarn_house * house, struct tarn_err * err);
    static step_fn *const k_steps[] = { open_listener, open_data,   open_storage,  open_lake,
                                        open_auth,     settle_copy, settle_backup, open_background,
                                        open_workers,  open_doors };
    struct tarn_house *house = calloc(1, sizeof *house);
    if (!house) {
        tarn_config_free(config);
        return tarn_fail_oom(err);
    }
    house->config = config;
    house->listener.fd = -1;
    for (size_t i = 0; i < TARN_COUNT(k_steps); i++) {
        tarn_code code = k_steps[i](house, err);
        if (code != TARN_OK) {
            tarn_house_close(house, 0);
            return code;
        }
    }
    atomic_store(&is_ready, true);
    *out = house;
    return TARN_OK;
}

void tarn_house_close(struct tarn_house *house, int64_t patience_ms)
{
    if (!house)
        return;
    int64_t deadline_ms = tarn_monotonic_ms() + patience_ms;
    atomic_store(&is_ready, false);
    tarn_late_stop(house->late);
    if (house->mhd)
        tarn_drain(house->mhd, &house->tasks, deadline_ms);
    else if (house->polls)
        tarn_polls_end(house->polls);
    tarn_mhd_free(house->mhd);
    atomic_store(&house->lake.stopping, true); /* what the drain did not wait for */
    if (house->pool)
        tarn_tasks_settle(&house->tasks);
    tarn_runner_stop(house->runner);
    tarn_sweeper_stop(house->sweeper);
    tarn_pool_free(house->slow);
    tarn_pool_free(house->pool);
    tarn_recalls_free(house->monitors.recalls);
    tarn_publisher_stop(house->lake.publisher, patience_ms);
    tarn_answers_free(house->answers);
    tarn_traffic_free(house->traffic);
    tarn_lake_done(&house->lake);
    tarn_store_free(house->store);
    tarn_polls_free(house->polls);
    if (house->pool)
        tarn_tasks_done(&house->tasks);
    tarn_auth_free(house->auth);
    tarn_storage_free(house->storage);
    if (house->listener.fd >= 0)
        close(house->listener.fd);
    tarn_data_dir_free(house->data_dir);
    tarn_config_free(house->config);
    free(house);
}
