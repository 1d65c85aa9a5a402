/* weeks.h - tables of the test's own lake that live by a clock of the test's own: use cases at its time, and scans of which none
 * may open a warning while `s_is_quiet`. */
#ifndef TARN_TESTS_MONITORS_WEEKS_H
#define TARN_TESTS_MONITORS_WEEKS_H
#include "base/time.h"
#include "base/zone.h"
#include "lake/batch.h"
#include "lake/commit.h"
#include "lake/publish.h"
#include "lake/register.h"
#include "monitors/judge.h"
#include "tests/monitors/table.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdarg.h>
#include <stdlib.h>

#define COLUMNS "1; req i64 id"

static int64_t s_now;
static const struct tarn_zone *s_zone;
static uint64_t s_random;

/* From -most to +most, the same in every run. */
static inline int64_t jitter(int64_t most)
{
    s_random = s_random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(s_random >> 33) % (2 * most + 1) - most;
}

static inline int64_t clock_now(void) { return s_now + jitter(30 * TARN_SECOND_MS); } /* the machines differ a little */

/* Monday, 4 January 2027, is day 0. */
static inline int64_t at(int day, int hour, int minute)
{
    return tarn_zone_instant(s_zone, tarn_days_from_date(2027, 1, 4) + day, hour * TARN_HOUR_MS + minute * TARN_MINUTE_MS, false);
}

static inline bool is_weekday(int day) { return day % 7 < 5; }

/* --- what happens to a managed table --- */

static inline struct tarn_ident ident(const char *name)
{
    struct tarn_ident out;

    cr_assert(eq(int, tarn_ident_parse(name, "name", &out, NULL), TARN_OK));
    return out;
}

static inline const char *in_table(const char *table, const char *path)
{
    char name[300];

    snprintf(name, sizeof name, "%s/%s", table, path);
    return tarn_path(g_lake->root, name);
}

static inline int64_t table_id(const char *name)
{
    return strcmp(name, "sales") == 0 ? 1 : strcmp(name, "daily") == 0 ? 2 : 3;
}

static inline void run(const struct tarn_use *use, void *state, const char *what)
{
    TARN_ERR(err);

    cr_assert(eq(int, tarn_use_run(&g_lake->lake, use, state, &err), TARN_OK), "%s: %s %s", what, err.field, err.detail);
    use->done(state);
}

static inline void add_table(const char *name, enum tarn_mode mode, const char *monitors)
{
    json_auto_t *settings = json_loads(monitors, 0, NULL);
    struct tarn_register_use use = { .lake = &g_lake->lake, .ident = ident(name), .location = tarn_path(g_lake->root, name),
                                     .mode = mode, .mode_given = true, .monitors = settings, .publish = true, .now_ms = s_now };
    run(&tarn_register, &use, name);
}

static inline void publish(const char *name)
{
    TARN_ERR(err);

    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, table_id(name), &err), TARN_OK), "%s", err.detail);
}

static inline void commit(const char *name, const char *body, ...) TARN_PRINTF(2, 3);
static inline void commit(const char *name, const char *body, ...)
{
    char *text = NULL;
    va_list args;
    TARN_ERR(err);

    va_start(args, body);
    cr_assert(vasprintf(&text, body, args) >= 0);
    va_end(args);
    json_auto_t *json = json_loads(text, 0, NULL);
    struct tarn_commit_use use = { .lake = &g_lake->lake, .ident = ident(name), .now_ms = clock_now() };
    cr_assert(eq(int, tarn_commit_parse(json, &use, &err), TARN_OK), "%s: %s", text, err.detail);
    run(&tarn_commit, &use, text);
    free(text);
    publish(name);
}

static inline void tell_batch(const char *name, const char *id, enum tarn_batch_status status, int64_t records)
{
    struct tarn_batch_use use = { .lake = &g_lake->lake, .ident = ident(name), .batch_id = id, .now_ms = clock_now(),
                                  .told = { .status = status, .start_time = -1, .end_time = -1, .num_records = records, .size = -1, .version = -1 } };
    run(&tarn_batch_use, &use, id);
    publish(name);
}

static inline size_t put(const char *table, const char *path) { return write_parquet(in_table(table, path), COLUMNS, clock_now()); }

/* --- looks --- */

static const struct tarn_monitor_defaults k_defaults = { .interval_ms = TARN_MINUTE_MS, .sweep_interval_ms = 10 * TARN_MINUTE_MS };
static bool s_is_quiet; /* nothing may open */

/* Is a finding of that code open? */
static inline bool look(const char *name, const char *code)
{
    struct tarn_scan_use use = { .table_id = table_id(name), .defaults = &k_defaults, .now = clock_now };
    bool found = false;
    char when[TARN_TIME_TEXT];
    TARN_ERR(err);

    cr_assert(eq(int, tarn_use_run(&g_lake->lake, &tarn_scan, &use, &err), TARN_OK), "%s", err.detail);
    for (size_t i = 0; i < use.findings.count; i++) {
        const struct tarn_finding *finding = &use.findings.items[i];
        bool is_open = finding->opened_at >= 0 && finding->closed_at < 0;
        found |= is_open && code && strcmp(finding->code, code) == 0;
        bool is_loud = is_open && finding->severity >= TARN_SEV_WARNING && s_is_quiet;
        cr_assert(not(is_loud), "%s of %s at %s: %s", finding->code, name, tarn_time_format(s_now, when), finding->message);
    }
    tarn_scan.done(&use);
    return found;
}

/* Between the steps of a writer: not of each one, but of each kind at each hour of the day. */
static bool s_is_watched;
static inline void look_between(const char *name)
{
    if (s_is_watched)
        (void)look(name, NULL);
}

static inline void look_twice(const char *name)
{
    (void)look(name, NULL);
    s_now += TARN_MINUTE_MS;
    (void)look(name, NULL);
}
#endif
