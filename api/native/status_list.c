/* status_list.c - GET /api/status: a bare array of flat rows, one a table, as dashboards like it. Without
 * page_size it is streamed, a chain of short reads; with it one page, and a Link header names the next. */
#include "api/native/native.h"
#include "api/status_walk.h"
#include "base/json.h"
#include "monitors/monitors.h"
#include <stdio.h>
#include <string.h>

struct status_list {
    struct tarn_status_walk walk;
    const struct tarn_monitor_defaults *defaults;
    int64_t now_ms;
    char namespace_[TARN_NAMESPACE_MAX + 1];
    char *status, *severity; /* wanted words, separated by commas; owned; NULL: all */
    int64_t size, told;      /* rows wanted (0: all), rows written */
    bool began;
    struct tarn_buf *out;    /* of the read at hand */
};

static void list_free(void *state)
{
    struct status_list *l = state;

    if (!l)
        return;
    tarn_status_walk_done(&l->walk);
    free(l->status);
    free(l->severity);
    free(l);
}

static void list_freep(struct status_list **l) { list_free(*l); }

/* Is the word one of the list? */
static bool is_wanted(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    return !list;
}

static bool is_shown(const struct status_list *l, const struct tarn_status_row *row)
{
    const char *status, *severity;

    tarn_status_row_words(row, l->defaults, l->now_ms, &status, &severity);
    return is_wanted(l->status, status) && is_wanted(l->severity, severity);
}

static tarn_code show(void *ctx, const struct tarn_status_row *row, struct tarn_err *err)
{
    struct status_list *l = ctx;

    if (!is_shown(l, row))
        return TARN_OK;
    l->walk.is_full = l->size > 0 && l->told == l->size;
    if (l->walk.is_full)
        return TARN_OK;
    tarn_buf_adds(l->out, l->told++ > 0 ? ",\n" : "");
    tarn_status_row_write(l->out, row, l->defaults, l->now_ms);
    return tarn_buf_check(l->out, err);
}

static tarn_code produce(void *state, struct tarn_buf *out, bool *end, struct tarn_err *err)
{
    struct status_list *l = state;

    l->out = out;
    tarn_buf_adds(out, l->began ? "" : "[");
    l->began = true;
    tarn_code code = tarn_status_walk_page(&l->walk, end, err);
    if (code != TARN_OK)
        return code;
    tarn_buf_adds(out, *end ? "]\n" : "");
    return tarn_buf_check(out, err);
}

/* --- the request --- */

static tarn_code read_words(const struct tarn_request *req, const char *key, const char *known, char **out,
                            struct tarn_err *err)
{
    const char *text = tarn_query(req, key);
    char word[32];

    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        if (!word[0] || !is_wanted(known, word))
            return tarn_fail_field(err, key, "must be some of %s", known);
    }
    if (!text)
        return TARN_OK;
    *out = strdup(text);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code read_filter(const struct tarn_request *req, struct status_list *l, struct tarn_err *err)
{
    const char *format = tarn_query(req, "format"), *namespace_ = tarn_query(req, "namespace");
    enum tarn_format parsed;

    l->walk.filter.format = l->walk.filter.mode = -1;
    if (format && !tarn_format_parse(format, &parsed))
        return tarn_fail_field(err, "format", "must be manifest, iceberg, delta, hudi or parquet");
    if (format)
        l->walk.filter.format = (int)parsed;
    tarn_code code = read_words(req, "status", "healthy,degraded,unhealthy,unknown", &l->status, err);
    if (code == TARN_OK)
        code = read_words(req, "severity", "ok,warning,error,unknown", &l->severity, err);
    if (code != TARN_OK || !namespace_)
        return code;
    l->walk.filter.namespace_ = l->namespace_;
    return tarn_namespace_parse(namespace_, "namespace", l->namespace_, err);
}

static tarn_code read_position(struct status_list *l, const char *token, struct tarn_err *err)
{
    json_auto_t *position = NULL;
    const char *namespace_ = NULL, *name = NULL;
    json_int_t id = 0;
    TARN_ERR(fault);

    if (!token)
        return TARN_OK;
    tarn_code code = tarn_json_parse(token, strlen(token), NULL, &position, &fault);
    if (code != TARN_OK || json_unpack(position, "[s,s,I!]", &namespace_, &name, &id) != 0)
        return tarn_fail_field(err, "page_token", "is not one of this list");
    l->walk.after_id = id;
    l->walk.after_namespace = strdup(namespace_);
    l->walk.after = strdup(name);
    return l->walk.after_namespace && l->walk.after ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code link_next(const struct tarn_request *req, const struct status_list *l,
                           struct tarn_reply *reply, struct tarn_err *err)
{
    json_auto_t *position =
        json_pack("[s,s,I]", l->walk.after_namespace, l->walk.after, (json_int_t)l->walk.after_id);
    TARN_AUTO(mem) char *content = position ? tarn_json_text(position) : NULL;

    return content ? tarn_reply_next(reply, req, content, err) : tarn_fail_oom(err);
}

static tarn_code answer_page(const struct tarn_request *req, struct status_list *l, struct tarn_reply *reply,
                             struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (bool end = false; !end && code == TARN_OK;)
        code = produce(l, &reply->body, &end, err);
    reply->status = 200;
    return code == TARN_OK && l->walk.is_full ? link_next(req, l, reply, err) : code;
}

tarn_code tarn_native_status_list(const struct tarn_request *req, struct tarn_reply *reply,
                                  struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page = { 0 };
    __attribute__((cleanup(list_freep))) struct status_list *l = calloc(1, sizeof *l);

    if (!l)
        return tarn_fail_oom(err);
    l->walk.store = req->app->lake->store;
    l->walk.who = req->who;
    l->walk.fn = show;
    l->walk.ctx = l;
    l->defaults = req->app->monitors;
    l->now_ms = req->now_ms;
    tarn_code code = tarn_request_page(req, &page, err);
    if (code == TARN_OK)
        code = read_filter(req, l, err);
    if (code == TARN_OK)
        code = read_position(l, page.token, err);
    if (code != TARN_OK)
        return code;
    l->size = page.size;
    if (page.size > 0)
        return answer_page(req, l, reply, err);
    reply->status = 200;
    reply->stream = (struct tarn_stream){ .produce = produce, .free = list_free, .state = tarn_take(&l) };
    return TARN_OK;
}
