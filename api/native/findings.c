/* findings.c - GET /api/table/{table}/findings: the open
 * ones, worst first, then the closed ones, newest first. */
#include "api/native/list.h"
#include "api/native/native.h"
#include "base/json.h"
#include "lake/inherit.h"
#include "monitors/monitors.h"
#include <string.h>

struct listed {
    struct tarn_list list; /* first */
    int64_t table_id, now_ms;
    const struct tarn_monitor_defaults *defaults;
    bool wants_closed;
    bool is_closed;        /* the open ones are through */
    /* the position: of the open ones all three, of the closed ones the instant and the id */
    char *code, *subject;  /* owned; code NULL: from the start */
    enum tarn_severity severity;
    int64_t closed_at;
    char id[40];
};

static void list_free(struct tarn_list *list)
{
    struct listed *l = (struct listed *)list;

    free(l->code);
    free(l->subject);
    free(l);
}

static char *list_token(const struct tarn_list *list)
{
    const struct listed *l = (const struct listed *)list;
    json_auto_t *at = l->is_closed
                          ? json_pack("[I,s]", (json_int_t)l->closed_at, l->id)
                          : json_pack("[s,s,s]", tarn_severity_text(l->severity), l->code, l->subject);
    return at ? tarn_json_text(at) : NULL;
}

/* --- the open ones --- */

static tarn_code move_open(struct listed *l, const struct tarn_finding *finding, struct tarn_err *err)
{
    char *code = strdup(finding->code), *subject = strdup(finding->subject);

    if (!code || !subject) {
        free(code);
        free(subject);
        return tarn_fail_oom(err);
    }
    free(l->code);
    free(l->subject);
    l->code = code;
    l->subject = subject;
    l->severity = finding->severity;
    return TARN_OK;
}

/* In the order of the list: worst first, then by code and subject. */
static bool is_behind(const struct listed *l, const struct tarn_finding *finding)
{
    if (!l->code || finding->severity != l->severity)
        return !l->code || finding->severity < l->severity;
    int order = strcmp(finding->code, l->code);
    return order > 0 || (order == 0 && strcmp(finding->subject, l->subject) > 0);
}

/* What keeps them quiet is as of now. */
static tarn_code mark(struct tarn_tx *tx, const struct listed *l, struct tarn_findings *open,
                      struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    int64_t until_ms;
    tarn_code code = tx->ops->tables.get_by_id(tx, l->table_id, &table, err);

    if (code == TARN_OK)
        code = tarn_inherit_all(tx, table, err);
    return code == TARN_OK ? tarn_findings_mark(tx, table, l->defaults, l->now_ms, open, &until_ms, err)
                           : code;
}

static tarn_code page_open(struct tarn_tx *tx, struct listed *l, struct tarn_err *err)
{
    TARN_AUTO_DONE(findings) struct tarn_findings open = { 0 };
    tarn_code code = tx->ops->monitors.findings(tx, l->table_id, &open, err);

    if (code == TARN_OK)
        code = mark(tx, l, &open, err);
    for (size_t i = 0; i < open.count && code == TARN_OK && l->list.rows < l->list.ask; i++) {
        const struct tarn_finding *finding = &open.items[i];
        if (!tarn_finding_is_shown(finding) || !is_behind(l, finding))
            continue;
        if (!tarn_list_row(&l->list))
            return TARN_OK;
        tarn_finding_write(&l->list.w, finding, true, l->now_ms);
        code = move_open(l, finding, err);
    }
    l->is_closed = l->wants_closed && l->list.rows < l->list.ask;
    return code;
}

/* --- the closed ones --- */

static tarn_code page_closed(struct tarn_tx *tx, struct listed *l, struct tarn_err *err)
{
    TARN_AUTO_DONE(findings) struct tarn_findings closed = { 0 };
    tarn_code code = tx->ops->monitors.closed(tx, l->table_id, l->closed_at, l->id,
                                              l->list.ask - l->list.rows, &closed, err);

    for (size_t i = 0; i < closed.count && code == TARN_OK; i++) {
        const struct tarn_finding *finding = &closed.items[i];
        if (!tarn_list_row(&l->list))
            return TARN_OK;
        tarn_finding_write(&l->list.w, finding, true, l->now_ms);
        l->closed_at = finding->closed_at;
        memcpy(l->id, finding->id, sizeof l->id);
    }
    return code;
}

static tarn_code page(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct listed *l = ctx;
    tarn_code code = l->is_closed ? TARN_OK : page_open(tx, l, err);

    return code == TARN_OK && l->is_closed && !l->list.more ? page_closed(tx, l, err) : code;
}

/* --- the request --- */

static tarn_code read_position(struct listed *l, const char *token, struct tarn_err *err)
{
    json_auto_t *at = NULL;
    const char *severity = NULL, *code = NULL, *subject = NULL, *id = NULL;
    json_int_t closed_at = 0;
    TARN_ERR(fault);

    if (!token)
        return TARN_OK;
    if (tarn_json_parse(token, strlen(token), NULL, &at, &fault) != TARN_OK)
        return tarn_fail_field(err, "page_token", "is not one of this list");
    if (json_unpack(at, "[I,s!]", &closed_at, &id) == 0 && strlen(id) < sizeof l->id && l->wants_closed) {
        l->is_closed = true;
        l->closed_at = closed_at;
        snprintf(l->id, sizeof l->id, "%s", id);
        return TARN_OK;
    }
    if (json_unpack(at, "[s,s,s!]", &severity, &code, &subject) != 0 || l->is_closed ||
        !tarn_severity_parse(severity, &l->severity))
        return tarn_fail_field(err, "page_token", "is not one of this list");
    l->code = strdup(code);
    l->subject = strdup(subject);
    return l->code && l->subject ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code read_state(const struct tarn_request *req, struct listed *l, struct tarn_err *err)
{
    const char *state = tarn_query(req, "state");

    if (state && strcmp(state, "open") != 0 && strcmp(state, "closed") != 0 && strcmp(state, "all") != 0)
        return tarn_fail_field(err, "state", "must be open, closed or all");
    l->wants_closed = !state || strcmp(state, "open") != 0;
    l->is_closed = state && strcmp(state, "closed") == 0;
    l->closed_at = INT64_MAX;
    return TARN_OK;
}

static void listed_freep(struct listed **l)
{
    if (*l)
        list_free(&(*l)->list);
}

tarn_code tarn_native_findings_list(const struct tarn_request *req, struct tarn_reply *reply,
                                    struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page_of = { 0 };
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    __attribute__((cleanup(listed_freep))) struct listed *l = calloc(1, sizeof *l);

    if (!l)
        return tarn_fail_oom(err);
    tarn_code code = read_state(req, l, err);
    if (code == TARN_OK)
        code = tarn_native_table_find(req, &seen, err);
    if (code == TARN_OK)
        code = tarn_request_page(req, &page_of, err);
    if (code == TARN_OK)
        code = read_position(l, page_of.token, err);
    if (code != TARN_OK)
        return code;
    l->table_id = seen.table->id;
    l->now_ms = req->now_ms;
    l->defaults = req->app->monitors;
    l->list = (struct tarn_list){ .store = req->app->lake->store,
                                  .page = page,
                                  .token = list_token,
                                  .free = list_free,
                                  .size = page_of.size };
    tarn_list_reply(&tarn_take(&l)->list, NULL, "findings", reply);
    return TARN_OK;
}
