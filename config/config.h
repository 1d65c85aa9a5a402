/* config.h - the settings of the server: one table of options makes the YAML keys, the flags, the
 * environment variables, --help and docs/CONFIGURATION.md. Flag beats variable beats file beats default. */
#ifndef TARN_CONFIG_CONFIG_H
#define TARN_CONFIG_CONFIG_H
#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Judges `monitors`, whose members config/ does not know:
 * TARN_INVALID with the field ("monitors.freshness.error"). */
typedef tarn_code tarn_config_judge(const json_t *object, const char *key, struct tarn_err *err);

struct tarn_config {
    tarn_config_judge *judge; /* NULL: whatever is an object */
    char *listen;            /* "127.0.0.1:8181" */
    char *data;              /* folder of the database */
    char **roots;            /* canonical locations */
    size_t root_count;
    char *auth_mode;         /* "tokens" or "none" */
    bool metrics_public, restored_copy;
    char *warehouse;         /* NULL: any */
    char *log_level, *log_format;
    char *status_policy;     /* "default", "strict" */
    json_t *monitors;        /* object */
    int64_t publish_wait_ms, publish_backlog;
    int64_t scan_interval_ms, scan_sweep_interval_ms, scan_full_interval_ms, scan_memory_bytes, scan_threads;
    int64_t history_retention_ms, history_versions;
    int64_t retention_dropped_ms, retention_events_ms, retention_samples_ms, retention_findings_ms;
    int64_t limits_body_bytes, limits_bodies_bytes, limits_headers_bytes, limits_json_values,
        limits_json_depth, limits_page, limits_connections, limits_timeout_ms, limits_workers;
};
void tarn_config_free(struct tarn_config *config);
TARN_DEFINE_AUTO(config, struct tarn_config)

/* argv: the flags after the command (argv[0] is the first flag). `--config FILE` and TARN_CONFIG
 * name the file. TARN_INVALID: an unknown or ill-typed key, with "file:line", flag or variable. */
TARN_MUST tarn_code tarn_config_load(int argc, char **argv, struct tarn_config **out, struct tarn_err *err);
/* And what `monitors` holds is judged where it stands. */
TARN_MUST tarn_code tarn_config_load_judged(int argc, char **argv, tarn_config_judge *judge,
                                            struct tarn_config **out, struct tarn_err *err);
/* Where the data lies unless told: /var/lib/tarn for root,
 * else $XDG_STATE_HOME/tarn. Owned; NULL: no memory. */
char *tarn_config_default_data(void);
void tarn_config_help(struct tarn_buf *out);     /* options for --help */
void tarn_config_markdown(struct tarn_buf *out); /* docs/CONFIGURATION.md */
#endif
