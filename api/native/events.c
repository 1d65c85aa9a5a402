/* events.c - GET /api/events: the feed of what happened, in order and resumable. With `wait` an answer
 * without events asks the server to look again when some came (server/poll.c); nothing waits here. */
#include "api/native/native.h"
#include <string.h>

#define LIMIT_DEFAULT 1000
#define WAIT_MAX      60    /* seconds */
#define ROWS_A_READ   1000  /* short enough that no reader pins the database's log */
#define ROWS_A_LOOK   20000 /* that a narrowed token passes over in one request */

struct feed {
    const struct tarn_request *req;
    struct tarn_jsonw w;
    int64_t next;  /* the last one looked at */
    int64_t limit; /* events still wanted */
    int64_t rows;  /* looked at in this read */
    int64_t told;
    bool begun;
};

/* The members of `data` become the event's own. */
static void write_event(struct tarn_jsonw *w, const struct tarn_event *event)
{
    char dotted[TARN_DOTTED_MAX];
    size_t len = strlen(event->data);

    tarn_ident_format(event->namespace_, event->name, dotted);
    tarn_jsonw_object(w);
    tarn_jsonw_ki64(w, "sequence", event->sequence);
    tarn_jsonw_kstr(w, "type", event->type);
    tarn_jsonw_kstr(w, "table", dotted);
    tarn_jsonw_ktime(w, "at", event->at);
    if (len > 2) {
        tarn_buf_addc(w->out, ',');
        tarn_buf_add(w->out, event->data + 1, len - 2);
    }
    tarn_jsonw_object_end(w);
}

/* A lost root is told once, under the table that met it first. It is news for those
 * who see only other tables too: without the name of that table, and of the root. */
static bool is_of_root(const struct tarn_event *event)
{
    return strncmp(event->type, "finding.", 8) == 0 && strstr(event->data, "\"root\":");
}

static void write_root_event(struct tarn_jsonw *w, const struct tarn_event *event)
{
    json_auto_t *data = json_loads(event->data, 0, NULL);

    tarn_jsonw_object(w);
    tarn_jsonw_ki64(w, "sequence", event->sequence);
    tarn_jsonw_kstr(w, "type", event->type);
    tarn_jsonw_kstr(w, "table", NULL);
    tarn_jsonw_ktime(w, "at", event->at);
    tarn_jsonw_kstr(w, "finding", json_string_value(json_object_get(data, "finding")));
    tarn_jsonw_kstr(w, "code", json_string_value(json_object_get(data, "code")));
    tarn_jsonw_kstr(w, "severity", json_string_value(json_object_get(data, "severity")));
    tarn_jsonw_kstr(w, "message", "a storage root is gone or empty");
    tarn_jsonw_object_end(w);
}

static tarn_code visit(void *ctx, const struct tarn_event *event, struct tarn_err *err)
{
    struct feed *feed = ctx;

    (void)err;
    feed->rows++;
    feed->next = event->sequence;
    bool is_seen = tarn_principal_sees(&feed->req->who, event->namespace_, event->name);
    if (!is_seen && !is_of_root(event))
        return TARN_OK;
    if (is_seen)
        write_event(&feed->w, event);
    else
        write_root_event(&feed->w, event);
    feed->limit--;
    feed->told++;
    return TARN_OK;
}

/* Behind the oldest event that is kept, or before the newest one there is (the catalog
 * was restored): what the reader knows cannot be brought up to date by this feed. */
static tarn_code judge_position(struct tarn_tx *tx, int64_t after, struct tarn_err *err)
{
    int64_t first_after = 0, newest = 0;
    tarn_code code = tx->ops->events.bounds(tx, &first_after, &newest, err);

    if (code != TARN_OK || (after >= first_after && after <= newest))
        return code;
    if (after > newest)
        tarn_fail_code_field(err, TARN_EVENTS_EXPIRED, "after",
                             "the newest event is %lld: this is the feed of a catalog from before yours",
                             (long long)newest);
    else
        tarn_fail_code_field(err, TARN_EVENTS_EXPIRED, "after", "events up to %lld are no longer kept",
                             (long long)first_after);
    (void)tarn_err_add(err, "oldest", json_integer(first_after));
    return tarn_err_add(err, "newest", json_integer(newest));
}

static tarn_code read_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct feed *feed = ctx;
    int64_t ask = feed->limit < ROWS_A_READ ? feed->limit : ROWS_A_READ;
    tarn_code code = feed->begun ? TARN_OK : judge_position(tx, feed->next, err);

    feed->begun = true;
    feed->rows = 0;
    return code == TARN_OK ? tx->ops->events.list(tx, feed->next, ask, visit, feed, err) : code;
}

/* *end: the feed has nothing more. */
static tarn_code read_feed(struct feed *feed, bool *end, struct tarn_err *err)
{
    int64_t looked_at = 0;
    tarn_code code = TARN_OK;

    *end = false;
    while (code == TARN_OK && !*end && feed->limit > 0 && looked_at < ROWS_A_LOOK) {
        int64_t asked = feed->limit < ROWS_A_READ ? feed->limit : ROWS_A_READ;
        code = tarn_store_read(feed->req->app->lake->store, read_tx, feed, err);
        looked_at += feed->rows;
        *end = feed->rows < asked;
    }
    return code;
}

tarn_code tarn_native_events(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct feed feed = { .req = req, .w = tarn_jsonw_to(&reply->body), .limit = LIMIT_DEFAULT };
    int64_t wait = 0;
    bool end = false;
    tarn_code code = tarn_query_i64(req, "after", 0, INT64_MAX, &feed.next, err);

    if (code == TARN_OK)
        code = tarn_query_i64(req, "wait", 0, WAIT_MAX, &wait, err);
    if (code == TARN_OK)
        code = tarn_query_i64(req, "limit", 1, 10000, &feed.limit, err);
    if (code != TARN_OK)
        return code;
    tarn_jsonw_object(&feed.w);
    tarn_jsonw_key(&feed.w, "events");
    tarn_jsonw_array(&feed.w);
    code = read_feed(&feed, &end, err);
    if (code != TARN_OK)
        return code;
    tarn_jsonw_array_end(&feed.w);
    tarn_jsonw_ki64(&feed.w, "next", feed.next);
    tarn_jsonw_object_end(&feed.w);
    reply->status = 200;
    reply->wait_ms = feed.told == 0 && end ? wait * 1000 : 0;
    return tarn_buf_check(&reply->body, err);
}
