/* metrics.h - inside api/metrics/: the table of all families, and what a scrape is made of. */
#ifndef TARN_API_METRICS_METRICS_H
#define TARN_API_METRICS_METRICS_H
#include "api/http.h"
#include "api/metrics/packed.h"
#include "api/metrics/expo.h"
#include "api/status_walk.h"
#include "base/process.h"
#include "lake/publish.h"
#include "monitors/numbers.h"

/* The tables that a principal sees, in the order of their names. Everything is of one moment a page. */
struct tarn_metric_tables {
    struct tarn_status_walk walk;
    const struct tarn_monitor_defaults *defaults;
    int64_t now_ms;
    size_t count;
    struct tarn_packed labels;                /* table="..." */
    struct tarn_packed infos;                 /* the labels of tarn_table_info */
    struct tarn_packed active, quiet;         /* a table: how many, then kind and severity of each */
    struct tarn_packed numbers[TARN_NUMBERS];
};
/* tables.c */
void tarn_metric_tables_init(struct tarn_metric_tables *tables, const struct tarn_request *req);
/* Some hundred tables more. */
TARN_MUST tarn_code tarn_metric_tables_read(struct tarn_metric_tables *tables, bool *end,
                                            struct tarn_err *err);
int64_t tarn_metric_tables_bytes(const struct tarn_metric_tables *tables); /* that it holds */
void tarn_metric_tables_done(struct tarn_metric_tables *tables);

/* One answer in the making. */
struct tarn_scrape {
    const struct tarn_app *app;
    struct tarn_expo expo;
    struct tarn_metric_tables tables;
    bool is_gathered;
    int64_t began_us; /* monotonic */
    int64_t held;     /* bytes that were told to the app's traffic */
    /* Of the server, read when all tables are; -1: not known. */
    struct tarn_server_numbers {
        struct tarn_process process;
        struct tarn_store_meters store;
        struct tarn_publisher_meters publisher;
        int64_t scans_running, scans_ended;
        int64_t started_ms, connections;
        int64_t tables, gathering_us;
    } server;
    size_t family, row; /* the one being written, and how many of its tables were */
    const char *labels; /* of the table at hand; borrowed */
    size_t labels_len;
};

/* One of the samples that a family has for each table. */
struct tarn_series {
    const char *labels; /* beside that of the table, "" for none; NULL ends a list */
    enum tarn_number number;
};
struct tarn_family {
    const char *name; /* of its samples; of a histogram without _bucket, _sum, _count */
    enum tarn_metric_type type;
    enum tarn_metric_unit unit;
    const char *labels; /* their names, for the documentation */
    const char *help;
    /* One of these: a sample a table and number (a number that is not known has none; of a state set
     * the number says which of them is 1), a function called for each table, or one called once. */
    const struct tarn_series *series;
    void (*each)(struct tarn_scrape *scrape, const struct tarn_family *family);
    void (*write)(const struct tarn_scrape *scrape, const struct tarn_family *family);
    size_t member; /* for tarn_metric_member: where in struct tarn_server_numbers its int64_t lies */
};
extern const struct tarn_family tarn_families[];
extern const size_t tarn_families_count;
void tarn_metrics_markdown(struct tarn_buf *out); /* docs/METRICS.md */

/* --- writers of families.c's rows --- */
typedef void tarn_family_each(struct tarn_scrape *scrape, const struct tarn_family *family);
typedef void tarn_family_write(const struct tarn_scrape *scrape, const struct tarn_family *family);
tarn_family_each tarn_metric_info, tarn_metric_active, tarn_metric_quiet; /* tables.c */
/* server.c */
void tarn_metric_read_server(struct tarn_scrape *scrape);
tarn_family_write tarn_metric_member, tarn_metric_build, tarn_metric_groups, tarn_metric_conflicts;
/* http.c */
tarn_family_write tarn_metric_answers, tarn_metric_durations, tarn_metric_errors;
#endif
