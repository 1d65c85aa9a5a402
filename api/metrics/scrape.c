/* scrape.c - GET /metrics. First the tables are read, a page at a time,
 * then the families are written, some tables at a time: a worker makes each
 * piece, and nothing grows with the lake but some hundred bytes a table. */
#include "api/metrics/metrics.h"
#include "api/native/native.h"
#include "api/traffic.h"
#include "base/time.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ROWS_A_STEP = 500 };

#define PLAIN_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define OPEN_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

static void scrape_free(void *state)
{
    struct tarn_scrape *scrape = state;

    if (!scrape)
        return;
    tarn_traffic_hold(scrape->app->traffic, -scrape->held);
    tarn_metric_tables_done(&scrape->tables);
    free(scrape);
}

static void scrape_freep(struct tarn_scrape **scrape) { scrape_free(*scrape); }

/* --- one family, for some tables --- */

static void rewind_lists(struct tarn_metric_tables *tables)
{
    tables->labels.at = tables->infos.at = tables->active.at = tables->quiet.at = 0;
    for (size_t i = 0; i < TARN_NUMBERS; i++)
        tables->numbers[i].at = 0;
}

/* The same number may stand behind several series (a state set): it is read once. */
static void write_numbers(struct tarn_scrape *scrape, const struct tarn_family *family)
{
    int64_t state = 0, value = TARN_NUMBER_NONE;

    for (const struct tarn_series *series = family->series; series->labels; series++, state++) {
        bool is_state = family->type == TARN_M_STATESET;
        if (!is_state || state == 0)
            value = tarn_packed_get(&scrape->tables.numbers[series->number]);
        if (value == TARN_NUMBER_NONE)
            continue;
        tarn_expo_sample(&scrape->expo, family->name, "", scrape->labels, scrape->labels_len, series->labels,
                         family->unit, is_state ? value == state : value);
    }
}

static void write_family(struct tarn_scrape *scrape)
{
    const struct tarn_family *family = &tarn_families[scrape->family];

    if (scrape->row == 0) {
        tarn_expo_head(&scrape->expo, family->name, family->type, family->unit, family->help);
        rewind_lists(&scrape->tables);
    }
    if (family->write)
        family->write(scrape, family);
    for (size_t i = 0; !family->write && i < ROWS_A_STEP && scrape->row < scrape->tables.count;
         i++, scrape->row++) {
        scrape->labels = tarn_packed_get_text(&scrape->tables.labels, &scrape->labels_len);
        if (family->each)
            family->each(scrape, family);
        else
            write_numbers(scrape, family);
    }
    if (!family->write && scrape->row < scrape->tables.count)
        return;
    scrape->row = 0;
    scrape->family++;
}

static tarn_code gather(struct tarn_scrape *scrape, struct tarn_err *err)
{
    tarn_code code = tarn_metric_tables_read(&scrape->tables, &scrape->is_gathered, err);
    int64_t bytes = tarn_metric_tables_bytes(&scrape->tables);

    tarn_traffic_hold(scrape->app->traffic, bytes - scrape->held);
    scrape->held = bytes;
    if (code == TARN_OK && scrape->is_gathered)
        tarn_metric_read_server(scrape);
    return code;
}

static tarn_code produce(void *state, struct tarn_buf *out, bool *end, struct tarn_err *err)
{
    struct tarn_scrape *scrape = state;

    if (!scrape->is_gathered)
        return gather(scrape, err);
    scrape->expo.out = out;
    if (scrape->family < tarn_families_count)
        write_family(scrape);
    *end = scrape->family == tarn_families_count;
    if (*end)
        tarn_expo_end(&scrape->expo);
    return tarn_buf_check(out, err);
}

/* --- which form --- */

/* The weight of the media range that begins at `at`, in thousandths: its q, else 1. */
static int weight_of(const char *at, size_t len)
{
    for (const char *p = at; p + 2 < at + len; p++)
        if ((p == at || p[-1] == ';' || p[-1] == ' ') && (p[0] == 'q' || p[0] == 'Q') && p[1] == '=')
            return (int)(strtod(p + 2, NULL) * 1000 + 0.5);
    return 1000;
}

static bool is_type(const char *at, size_t len, const char *type)
{
    size_t type_len = strlen(type);

    return len >= type_len && strncasecmp(at, type, type_len) == 0 &&
           (len == type_len || strchr("; \t", at[type_len]));
}

/* Another version than 1.0.0 is none that is written here. */
static bool is_our_version(const char *at, size_t len)
{
    for (const char *p = at; p + 8 <= at + len; p++)
        if (strncasecmp(p, "version=", 8) == 0)
            return strncmp(p + 8, "1.0.0", 5) == 0 || strncmp(p + 8, "\"1.0.0\"", 7) == 0;
    return true;
}

/* OpenMetrics only for who names it and does not like plain text better. */
static bool wants_open_metrics(const char *accept)
{
    int open = 0, plain = 0;

    for (const char *at = accept; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        const char *from = at + strspn(at, " \t");
        size_t len = strcspn(from, ",");
        int weight = weight_of(from, len);
        if (is_type(from, len, "application/openmetrics-text") && is_our_version(from, len) && weight > open)
            open = weight;
        if (is_type(from, len, "text/plain") && weight > plain)
            plain = weight;
        at = from;
    }
    return open > 0 && open >= plain;
}

tarn_code tarn_native_metrics(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    __attribute__((cleanup(scrape_freep))) struct tarn_scrape *scrape = NULL;

    if (tarn_traffic_held(req->app->traffic) >= TARN_SCRAPES_BYTES)
        return tarn_fail(err, TARN_OVERLOADED, "too many answers of this kind are being made; try again later");
    scrape = calloc(1, sizeof *scrape);
    if (!scrape)
        return tarn_fail_oom(err);
    scrape->app = req->app;
    scrape->began_us = tarn_monotonic_us();
    scrape->expo.open_metrics = wants_open_metrics(tarn_request_header(req, "Accept"));
    tarn_metric_tables_init(&scrape->tables, req);
    reply->status = 200;
    reply->content_type = scrape->expo.open_metrics ? OPEN_TYPE : PLAIN_TYPE;
    tarn_reply_header(reply, "Vary", "Accept");
    reply->stream =
        (struct tarn_stream){ .produce = produce, .free = scrape_free, .state = tarn_take(&scrape) };
    return TARN_OK;
}
