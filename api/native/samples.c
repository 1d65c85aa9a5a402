/* samples.c - GET /api/table/{table}/history: metrics over time, as scans found them or at even steps. A
 * run of scans that saw the same is told by its two ends; at a step the run that went before holds. */
#include "api/native/list.h"
#include "api/native/native.h"
#include "base/time.h"
#include "monitors/samples.h"
#include <string.h>

enum { RUNS_A_READ = 500, POINTS_MAX = 100000 };
#define SPAN_DEFAULT_MS TARN_DAY_MS
#define HOLDS_MS        TARN_HOUR_MS /* between two scans that are still kept: what is old is thinned to one an hour */

struct samples {
    struct tarn_list list; /* first */
    int64_t table_id;
    tarn_metrics metrics;
    int64_t next, to;      /* what is still to be told: [next, to] */
    int64_t step;          /* 0: as they are */
    int64_t last;          /* the newest one told */
    int64_t runs;          /* of the read at hand */
    bool full;             /* of the page at hand */
    char *held;            /* numbers of the run that went before; owned, inside a page */
    int64_t held_until;
};

static void list_free(struct tarn_list *list)
{
    free(list);
}

static char *list_token(const struct tarn_list *list)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)((const struct samples *)list)->last);
    return strdup(text);
}

/* False when the page is full. */
static bool tell(struct samples *s, const char *numbers, int64_t at_ms)
{
    if (!tarn_list_row(&s->list))
        return false;
    tarn_sample_write(&s->list.w, s->metrics, numbers, at_ms);
    s->last = at_ms;
    s->next = s->step > 0 ? at_ms + s->step : at_ms + 1;
    return true;
}

static bool is_over(const struct samples *s)
{
    return s->full || s->next > s->to || s->list.rows >= s->list.ask;
}

/* --- as they are --- */

/* The part of the run that lies between: its two ends. */
static tarn_code visit_run(void *ctx, const struct tarn_sample *run, struct tarn_err *err)
{
    struct samples *s = ctx;
    int64_t last = run->until < s->to ? run->until : s->to;

    (void)err;
    s->runs++;
    if (s->full || run->until < s->next)
        return TARN_OK;
    int64_t first = run->at > s->next ? run->at : s->next;
    if (run->at < s->next && s->last >= run->at) /* its first end was told */
        first = last;
    s->full =
        (first <= last && !tell(s, run->numbers, first)) || (last > first && !tell(s, run->numbers, last));
    return TARN_OK;
}

static tarn_code page_runs(struct tarn_tx *tx, struct samples *s, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (s->runs = RUNS_A_READ; code == TARN_OK && s->runs == RUNS_A_READ && !is_over(s);) {
        s->runs = 0;
        code = tx->ops->samples.list(tx, s->table_id, s->next, s->to, RUNS_A_READ, visit_run, s, err);
    }
    return code;
}

/* --- at even steps --- */

/* The steps before `end` that the held run reaches. */
static void tell_steps(struct samples *s, int64_t end)
{
    int64_t reach = s->step > HOLDS_MS ? s->step : HOLDS_MS;

    while (!is_over(s) && s->next < end) {
        if (!s->held || s->next > s->held_until + reach)
            s->next += s->step; /* nobody looked then */
        else
            s->full = !tell(s, s->held, s->next);
    }
}

static tarn_code visit_step(void *ctx, const struct tarn_sample *run, struct tarn_err *err)
{
    struct samples *s = ctx;

    s->runs++;
    tell_steps(s, run->at);
    if (is_over(s))
        return TARN_OK;
    free(s->held);
    s->held = strdup(run->numbers);
    s->held_until = run->until;
    return s->held ? TARN_OK : tarn_fail_oom(err);
}

/* Each read finds the run that holds at the next step anew. */
static tarn_code page_steps(struct tarn_tx *tx, struct samples *s, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (s->runs = RUNS_A_READ; code == TARN_OK && s->runs == RUNS_A_READ && !is_over(s);) {
        s->runs = 0;
        code = tx->ops->samples.list(tx, s->table_id, s->next, s->to, RUNS_A_READ, visit_step, s, err);
    }
    if (code == TARN_OK)
        tell_steps(s, s->to + 1);
    free(s->held);
    s->held = NULL;
    return code;
}

static tarn_code page(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct samples *s = ctx;

    s->full = false;
    return s->step == 0 ? page_runs(tx, s, err) : page_steps(tx, s, err);
}

/* --- the request --- */

static tarn_code read_time(const struct tarn_request *req, const char *key, int64_t *out,
                           struct tarn_err *err)
{
    const char *text = tarn_query(req, key);

    if (text && tarn_time_parse(text, out, NULL, NULL) != TARN_OK)
        return tarn_fail_field(err, key, "must be an instant as in RFC 3339, with its offset");
    return TARN_OK;
}

static tarn_code read_step(const struct tarn_request *req, struct samples *s, struct tarn_err *err)
{
    const char *text = tarn_query(req, "step");

    if (!text)
        return TARN_OK;
    if (tarn_duration_parse(text, &s->step, NULL) != TARN_OK || s->step < TARN_SECOND_MS)
        return tarn_fail_field(err, "step", "must be a duration of at least a second, such as \"5m\"");
    if ((s->to - s->next) / s->step >= POINTS_MAX)
        return tarn_fail_field(err, "step", "makes more than %d samples", POINTS_MAX);
    return TARN_OK;
}

static tarn_code read_span(const struct tarn_request *req, struct samples *s, struct tarn_err *err)
{
    s->to = req->now_ms;
    tarn_code code = read_time(req, "to", &s->to, err);
    s->next = s->to - SPAN_DEFAULT_MS;
    if (code == TARN_OK)
        code = read_time(req, "from", &s->next, err);
    if (code == TARN_OK && s->next > s->to)
        return tarn_fail_field(err, "from", "must not lie after `to`");
    s->last = -1;
    return code == TARN_OK ? read_step(req, s, err) : code;
}

static tarn_code read_position(struct samples *s, const char *token, struct tarn_err *err)
{
    char *end = NULL;
    long long at = token ? strtoll(token, &end, 10) : 0;

    if (!token)
        return TARN_OK;
    if (end == token || *end != '\0' || at < 0 || at > s->to)
        return tarn_fail_field(err, "page_token", "is not one of this list");
    s->last = at;
    s->next = s->step > 0 ? at + s->step : at + 1;
    return TARN_OK;
}

static tarn_code read_request(const struct tarn_request *req, struct samples *s, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page_of = { 0 };
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };

    tarn_code code = tarn_native_table_find(req, &seen, err);
    if (code == TARN_OK)
        code = tarn_metrics_parse(tarn_query(req, "metric"), "metric", &s->metrics, err);
    if (code == TARN_OK)
        code = tarn_request_page(req, &page_of, err);
    if (code == TARN_OK)
        code = read_span(req, s, err);
    if (code == TARN_OK)
        code = read_position(s, page_of.token, err);
    if (code != TARN_OK)
        return code;
    s->table_id = seen.table->id;
    s->list = (struct tarn_list){ .store = req->app->lake->store, .page = page, .token = list_token,
                                  .free = list_free, .size = page_of.size };
    return TARN_OK;
}

tarn_code tarn_native_samples_list(const struct tarn_request *req, struct tarn_reply *reply,
                                   struct tarn_err *err)
{
    __attribute__((cleanup(tarn_mem_freep))) struct samples *s = calloc(1, sizeof *s);

    if (!s)
        return tarn_fail_oom(err);
    tarn_code code = read_request(req, s, err);
    if (code != TARN_OK)
        return code;
    tarn_list_reply(&tarn_take(&s)->list, NULL, "samples", reply);
    return TARN_OK;
}
