/* recover.c - POST /api/table/{table}/recover: what storage
 * knows and the catalog does not, and what a run took of it. */
#include "api/native/cure.h"
#include "api/native/native.h"
#include "base/json.h"
#include "lake/recover.h"
#include "monitors/monitors.h"

#define SHOWN 20 /* of lists of names */

struct call {
    struct tarn_recover_use recover; /* first */
    struct tarn_cure cure;
};

static tarn_code parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct call *call = state;
    bool dry_run = true;
    const struct tarn_field fields[] = { TARN_OPT_BOOL("dry_run", &dry_run), TARN_FIELDS_END };
    tarn_code code = req->json ? tarn_json_read(req->json, fields, err) : TARN_OK;

    call->recover.lake = req->app->lake;
    call->recover.runs = !dry_run;
    call->cure.scan.defaults = req->app->monitors;
    return code == TARN_OK ? tarn_request_ident(req, &call->recover.ident, err) : code;
}

/* --- the steps --- */

static bool needs_check(const struct tarn_lake *lake, const void *state)
{
    return tarn_recover.needs_check(lake, state);
}

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    return tarn_recover.check(lake, state, err);
}

static tarn_code change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    return tarn_recover.change(tx, state, err);
}

static bool needs_after(const void *state) { return ((const struct call *)state)->recover.runs; }

static tarn_code after(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct call *call = state;

    (void)err;
    tarn_cure_judge(&call->cure, lake, call->recover.table_id);
    return TARN_OK;
}

static void done(void *state)
{
    struct call *call = state;

    tarn_scan.done(&call->cure.scan);
    tarn_recover.done(&call->recover);
}

/* --- the answer --- */

static void write_plan(struct tarn_jsonw *w, const struct tarn_retaking *r)
{
    const struct tarn_retake *plan = &r->plan;

    tarn_jsonw_kbool(w, "complete", plan->is_clean);
    tarn_jsonw_kstr(w, "reason", plan->is_clean ? NULL : plan->why);
    tarn_jsonw_ki64(w, "versions", (int64_t)plan->count);
    tarn_jsonw_key(w, "lost_versions");
    tarn_jsonw_array(w);
    for (size_t i = 0; i < plan->gap_count; i++) {
        tarn_jsonw_object(w);
        tarn_jsonw_ki64(w, "from", plan->gaps[i].from);
        tarn_jsonw_ki64(w, "to", plan->gaps[i].to);
        tarn_jsonw_object_end(w);
    }
    tarn_jsonw_array_end(w);
    tarn_jsonw_key(w, "snapshots");
    tarn_jsonw_array(w);
    for (size_t i = 0; i < plan->count; i++)
        if (plan->steps[i].is_snapshot)
            tarn_jsonw_i64(w, plan->steps[i].version);
    tarn_jsonw_array_end(w);
}

static void write_unreadable(struct tarn_jsonw *w, const struct tarn_traces *traces)
{
    tarn_jsonw_key(w, "unreadable");
    tarn_jsonw_array(w);
    for (size_t i = 0; i < traces->bad.count && i < SHOWN; i++)
        tarn_jsonw_str(w, tarn_trace_id(traces, &traces->bad.items[i]));
    tarn_jsonw_array_end(w);
    tarn_jsonw_ki64(w, "unreadable_total", (int64_t)traces->bad.count);
}

static tarn_code answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                        struct tarn_err *err)
{
    const struct call *call = state;
    const struct tarn_retaking *r = &call->recover.retaking;
    const struct tarn_table *table = r->table;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);
    char dotted[TARN_DOTTED_MAX];

    (void)req;
    reply->status = call->recover.made ? 201 : 200;
    tarn_ident_format(table->namespace_, table->name, dotted);
    tarn_jsonw_object(&w);
    tarn_jsonw_kstr(&w, "table", dotted);
    tarn_jsonw_kbool(&w, "dry_run", !call->recover.runs);
    tarn_jsonw_ki64(&w, "from_version", r->version);
    tarn_jsonw_ki64(&w, "to_version", call->recover.runs ? table->version : r->plan.to);
    write_plan(&w, r);
    tarn_jsonw_ki64(&w, "schemas", r->schemas);
    tarn_jsonw_ki64(&w, "batches", r->batches);
    tarn_jsonw_kstr(&w, "name", r->name[0] ? r->name : NULL);
    write_unreadable(&w, &r->traces);
    tarn_jsonw_kbool(&w, "changed", r->changed || r->renamed);
    tarn_jsonw_kstr(&w, "block", tarn_block_text(table->block));
    tarn_cure_write(&call->cure, &w);
    tarn_jsonw_object_end(&w);
    return tarn_buf_check(&reply->body, err);
}

static const struct tarn_use k_use = {
    .name = "recover",
    .size = sizeof(struct call),
    .needs_check = needs_check,
    .check = check,
    .change = change,
    .needs_after = needs_after,
    .after = after,
    .done = done,
};
const struct tarn_flow tarn_native_recover = { .use = &k_use, .parse = parse, .answer = answer };
