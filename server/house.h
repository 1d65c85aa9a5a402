/* house.h - everything that a running server consists of, opened in order and closed in the
 * opposite one. */
#ifndef TARN_SERVER_HOUSE_H
#define TARN_SERVER_HOUSE_H
#include "api/http.h"
#include "config/config.h"
#include "config/data_dir.h"
#include "lake/publish.h"
#include "lake/sweep.h"
#include "monitors/monitors.h"
#include "server/late.h"
#include "server/listen.h"
#include "server/mhd.h"
#include "server/poll.h"
#include "server/task.h"

struct tarn_house {
    struct tarn_config *config;
    struct tarn_data_dir *data_dir;
    struct tarn_listener listener;
    struct tarn_store *store;
    struct tarn_storage *storage;
    struct tarn_lake lake;           /* its publisher is owned here */
    struct tarn_sweeper *sweeper;
    struct tarn_auth *auth;
    struct tarn_answers *answers;
    struct tarn_traffic *traffic;
    struct tarn_monitor_defaults monitors;
    struct tarn_runner *runner;
    struct tarn_pool *pool, *slow;
    struct tarn_polls *polls;
    struct tarn_late *late;
    struct tarn_tasks tasks;
    struct tarn_app app;
    struct tarn_mhd *mhd;
    bool made_admin_token;
};
/* Takes `config` over, also on failure. When it answers TARN_OK the server is reachable. */
TARN_MUST tarn_code tarn_house_open(struct tarn_config *config, struct tarn_house **out,
                                    struct tarn_err *err);
/* Finishes what runs (at most `patience_ms`), then closes. NULL is fine. */
void tarn_house_close(struct tarn_house *house, int64_t patience_ms);
#endif
