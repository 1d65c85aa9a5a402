/* silences.c - GET and POST /api/silences, GET and DELETE /api/silences/{id}. A narrowed token makes
 * silences that reach its tables at most, and sees and removes those that do not reach further. */
#include "api/native/list.h"
#include "api/native/native.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "monitors/monitors.h"
#include <string.h>

enum { WHO_MAX = 127, COMMENT_MAX = 2000 };

static const char *state_of(const struct tarn_silence *row, int64_t now_ms)
{
    return now_ms >= row->ends_at ? "expired" : now_ms >= row->starts_at ? "active" : "pending";
}

static void write_silence(struct tarn_jsonw *w, const struct tarn_silence *row, int64_t now_ms)
{
    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "id", row->id);
    tarn_jsonw_kstr(w, "state", state_of(row, now_ms));
    tarn_jsonw_kraw(w, "matchers", row->matchers);
    tarn_jsonw_kstr(w, "tables", row->tables);
    tarn_jsonw_ktime(w, "starts_at", row->starts_at);
    tarn_jsonw_ktime(w, "ends_at", row->ends_at);
    tarn_jsonw_kstr(w, "created_by", row->created_by);
    tarn_jsonw_kstr(w, "comment", row->comment);
    tarn_jsonw_ktime(w, "created_at", row->created_at);
    tarn_jsonw_object_end(w);
}

/* Does it stay within what the token reaches? */
static bool is_seen(const struct tarn_principal *who, const struct tarn_silence *row)
{
    if (!who->tables[0])
        return true;
    return row->tables && (strcmp(row->tables, who->tables) == 0 ||
                           (!strchr(row->tables, '*') && tarn_glob_match(who->tables, row->tables)));
}

/* --- POST --- */

struct silence_add {
    struct tarn_silence row; /* texts borrowed from the request, but the matchers */
    char *matchers;          /* owned */
};

static tarn_code read_time(const char *field, const char *text, int64_t *out, struct tarn_err *err)
{
    if (text && tarn_time_parse(text, out, NULL, NULL) != TARN_OK)
        return tarn_fail_field(err, field, "must be an instant as in RFC 3339, with its offset");
    return TARN_OK;
}

static tarn_code read_times(struct tarn_silence *row, const char *starts, const char *ends, int64_t now_ms,
                            struct tarn_err *err)
{
    tarn_code code = read_time("starts_at", starts, &row->starts_at, err);

    if (code == TARN_OK)
        code = read_time("ends_at", ends, &row->ends_at, err);
    if (code != TARN_OK)
        return code;
    if (row->ends_at <= now_ms || row->ends_at <= row->starts_at)
        return tarn_fail_field(err, "ends_at", "must lie in the future and after `starts_at`");
    return TARN_OK;
}

/* In one form, whatever was left out. */
static char *matchers_text(const json_t *given)
{
    json_auto_t *list = json_array();

    for (size_t i = 0; i < json_array_size(given); i++) {
        const json_t *m = json_array_get(given, i), *is_equal = json_object_get(m, "isEqual");
        json_array_append_new(list, json_pack("{s:O, s:O, s:b, s:b}", "name", json_object_get(m, "name"),
                                              "value", json_object_get(m, "value"), "isRegex",
                                              (int)json_is_true(json_object_get(m, "isRegex")), "isEqual",
                                              is_equal && json_is_false(is_equal) ? 0 : 1));
    }
    return json_array_size(list) == json_array_size(given) ? tarn_json_text(list) : NULL;
}

static tarn_code add_parse(const struct tarn_request *req, void *use, struct tarn_err *err)
{
    struct silence_add *add = use;
    const char *by = req->who.name, *comment = NULL, *starts = NULL, *ends = NULL;
    json_t *matchers = NULL;
    const struct tarn_field fields[] = { TARN_ARRAY("matchers", &matchers, 1, 20), TARN_STR("ends_at", &ends, 1, 64),
                                         TARN_OPT_STR("starts_at", &starts, 1, 64),
                                         TARN_OPT_STR("created_by", &by, 1, WHO_MAX),
                                         TARN_OPT_STR("comment", &comment, 0, COMMENT_MAX), TARN_FIELDS_END };
    struct tarn_silence row = { .starts_at = req->now_ms, .created_at = req->now_ms };

    tarn_code code = tarn_json_read(req->json, fields, err);
    if (code == TARN_OK)
        code = tarn_silence_check(matchers, err);
    if (code == TARN_OK)
        code = read_times(&row, starts, ends, req->now_ms, err);
    if (code == TARN_OK)
        code = tarn_uuid(row.id, err);
    if (code != TARN_OK)
        return code;
    add->matchers = matchers_text(matchers);
    row.matchers = add->matchers;
    row.tables = (char *)(uintptr_t)(req->who.tables[0] ? req->who.tables : NULL);
    row.created_by = (char *)(uintptr_t)by;
    row.comment = (char *)(uintptr_t)comment;
    add->row = row;
    return row.matchers ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code add_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->silences.insert(tx, &((struct silence_add *)ctx)->row, err);
}

static tarn_code add_answer(const struct tarn_request *req, void *use, struct tarn_reply *reply,
                            struct tarn_err *err)
{
    const struct silence_add *add = use;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    reply->status = 201;
    tarn_reply_header(reply, "Location", "/api/silences/%s", add->row.id);
    write_silence(&w, &add->row, req->now_ms);
    return tarn_buf_check(&reply->body, err);
}

static void add_done(void *use) { free(((struct silence_add *)use)->matchers); }

static const struct tarn_use k_add = {
    .name = "silence add", .size = sizeof(struct silence_add), .change = add_tx, .done = add_done
};
const struct tarn_flow tarn_native_silence_add = { &k_add, add_parse, add_answer };

/* --- one --- */

struct silence_find {
    const struct tarn_principal *who; /* borrowed from the request */
    const char *id;
    struct tarn_silence row;          /* owned */
};

static void find_done(void *use) { tarn_silence_done(&((struct silence_find *)use)->row); }

static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct silence_find *find = ctx;

    find_done(find);
    tarn_code code = tx->ops->silences.get(tx, find->id, &find->row, err);
    if (code == TARN_OK && !is_seen(find->who, &find->row))
        return tarn_fail(err, TARN_NOT_FOUND, "there is no such silence");
    return code;
}

tarn_code tarn_native_silence_get(const struct tarn_request *req, struct tarn_reply *reply,
                                  struct tarn_err *err)
{
    __attribute__((cleanup(find_done))) struct silence_find find = { .who = &req->who, .id = req->arg[0] };
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);
    tarn_code code = tarn_store_read(req->app->lake->store, find_tx, &find, err);

    if (code != TARN_OK)
        return code;
    reply->status = 200;
    write_silence(&w, &find.row, req->now_ms);
    return tarn_buf_check(&reply->body, err);
}

static tarn_code remove_parse(const struct tarn_request *req, void *use, struct tarn_err *err)
{
    (void)err;
    *(struct silence_find *)use = (struct silence_find){ .who = &req->who, .id = req->arg[0] };
    return TARN_OK;
}

static tarn_code remove_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    tarn_code code = find_tx(tx, ctx, err);

    return code == TARN_OK ? tx->ops->silences.remove(tx, ((struct silence_find *)ctx)->id, err) : code;
}

static const struct tarn_use k_remove = {
    .name = "silence remove", .size = sizeof(struct silence_find), .change = remove_tx, .done = find_done
};
const struct tarn_flow tarn_native_silence_remove = { &k_remove, remove_parse, tarn_flow_nothing };

/* --- the list --- */

struct silences {
    struct tarn_list list; /* first */
    struct tarn_principal who;
    int64_t now_ms;
    const char *state; /* static; NULL: all */
    int64_t at;        /* the position */
    char id[40];
};

static void list_free(struct tarn_list *list) { free(list); }

static char *list_token(const struct tarn_list *list)
{
    const struct silences *l = (const struct silences *)list;
    json_auto_t *at = json_pack("[I,s]", (json_int_t)l->at, l->id);

    return at ? tarn_json_text(at) : NULL;
}

static tarn_code visit(void *ctx, const struct tarn_silence *row, struct tarn_err *err)
{
    struct silences *l = ctx;
    bool is_shown = is_seen(&l->who, row) && (!l->state || strcmp(l->state, state_of(row, l->now_ms)) == 0);

    (void)err;
    if (!is_shown)
        tarn_list_skip(&l->list);
    else if (tarn_list_row(&l->list))
        write_silence(&l->list.w, row, l->now_ms);
    else
        return TARN_OK;
    l->at = row->created_at;
    memcpy(l->id, row->id, sizeof l->id);
    return TARN_OK;
}

static tarn_code page(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct silences *l = ctx;
    char id[sizeof l->id]; /* the position moves while it is in use */

    memcpy(id, l->id, sizeof id);
    return tx->ops->silences.list(tx, l->at, id, l->list.ask, visit, l, err);
}

static tarn_code read_query(const struct tarn_request *req, const struct tarn_page *page_of,
                            struct silences *l, struct tarn_err *err)
{
    static const char *const k_states[] = { "active", "pending", "expired" };
    const char *state = tarn_query(req, "state"), *id = NULL;
    json_auto_t *at = page_of->token ? json_loads(page_of->token, 0, NULL) : NULL;
    json_int_t created_at = 0;

    l->at = INT64_MAX;
    for (size_t i = 0; state && i < TARN_COUNT(k_states); i++)
        if (strcmp(state, k_states[i]) == 0)
            l->state = k_states[i];
    if (state && !l->state)
        return tarn_fail_field(err, "state", "must be active, pending or expired");
    if (!page_of->token)
        return TARN_OK;
    if (json_unpack(at, "[I,s!]", &created_at, &id) != 0 || strlen(id) >= sizeof l->id)
        return tarn_fail_field(err, "page_token", "is not one of this list");
    l->at = created_at;
    snprintf(l->id, sizeof l->id, "%s", id);
    return TARN_OK;
}

tarn_code tarn_native_silences_list(const struct tarn_request *req, struct tarn_reply *reply,
                                    struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page_of = { 0 };
    __attribute__((cleanup(tarn_mem_freep))) struct silences *l = calloc(1, sizeof *l);

    if (!l)
        return tarn_fail_oom(err);
    tarn_code code = tarn_request_page(req, &page_of, err);
    if (code == TARN_OK)
        code = read_query(req, &page_of, l, err);
    if (code != TARN_OK)
        return code;
    l->who = req->who;
    l->now_ms = req->now_ms;
    l->list = (struct tarn_list){ .store = req->app->lake->store, .page = page, .token = list_token,
                                  .free = list_free, .size = page_of.size };
    tarn_list_reply(&tarn_take(&l)->list, NULL, "silences", reply);
    return TARN_OK;
}
