/* repair.c - POST /api/table/{table}/repair: the plan, or what
 * a run of it did and how the table is judged afterwards. */
#include "api/native/cure.h"
#include "api/native/native.h"
#include "lake/repair.h"
#include "monitors/monitors.h"
#include <stdio.h>

#define OPERATIONS_SHOWN 10000 /* beside their number */

struct call {
    struct tarn_repair_use repair; /* first */
    struct tarn_cure cure;
};

static int64_t grace_ms(const void *ctx, const struct tarn_table *table)
{
    return tarn_monitors_grace_ms(ctx, table->monitors, "unregistered_data_file");
}

static tarn_code parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct call *call = state;
    struct tarn_commit_use *commit = &call->repair.commit;
    tarn_code code = tarn_request_ident(req, &commit->ident, err);

    if (code != TARN_OK)
        return code;
    commit->lake = req->app->lake;
    commit->principal = req->who.name;
    commit->method = req->method;
    commit->path = req->path;
    call->repair.grace_ms = grace_ms;
    call->repair.grace_ctx = req->app->monitors;
    call->cure.scan.defaults = req->app->monitors;
    return tarn_repair_parse(req->json, &call->repair, err);
}

/* --- the steps --- */

static bool needs_check(const struct tarn_lake *lake, const void *state)
{
    return tarn_repair.needs_check(lake, state);
}

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    return tarn_repair.check(lake, state, err);
}

static tarn_code change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    return tarn_repair.change(tx, state, err);
}

static bool needs_after(const void *state) { return ((const struct call *)state)->repair.runs; }

static tarn_code after(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct call *call = state;
    tarn_code code = tarn_repair.needs_after(state) ? tarn_repair.after(lake, state, err) : TARN_OK;

    if (code == TARN_OK)
        tarn_cure_judge(&call->cure, lake, call->repair.table_id);
    return code;
}

static void done(void *state)
{
    struct call *call = state;

    tarn_scan.done(&call->cure.scan);
    tarn_repair.done(&call->repair);
}

/* --- the answer --- */

static void write_list(struct tarn_jsonw *w, const char *key, const struct tarn_repair_list *list)
{
    char total[32];

    tarn_jsonw_key(w, key);
    tarn_jsonw_json(w, list->items);
    snprintf(total, sizeof total, "%s_total", key);
    tarn_jsonw_ki64(w, total, list->total);
}

static void write_operation(struct tarn_jsonw *w, const struct tarn_commit_op *op)
{
    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "type", op->is_add ? "add_file" : "remove_file");
    tarn_jsonw_kstr(w, "path", op->file.path);
    if (op->is_add) {
        tarn_jsonw_ki64(w, "size", op->file.size);
        tarn_jsonw_kraw(w, "partitionValues", op->file.partition_values);
        tarn_jsonw_kraw(w, "columnStats", op->file.column_stats);
        tarn_jsonw_key(w, "numRecords");
        if (op->file.records >= 0)
            tarn_jsonw_i64(w, op->file.records);
        else
            tarn_jsonw_null(w);
        tarn_jsonw_ki64(w, "schemaVersion", op->file.schema_version);
    }
    tarn_jsonw_object_end(w);
}

static void write_operations(struct tarn_jsonw *w, const struct tarn_commit_use *commit)
{
    tarn_jsonw_key(w, "operations");
    tarn_jsonw_array(w);
    for (size_t i = 0; i < commit->op_count && i < OPERATIONS_SHOWN; i++)
        write_operation(w, &commit->ops[i]);
    tarn_jsonw_array_end(w);
    tarn_jsonw_ki64(w, "operations_total", (int64_t)commit->op_count);
}

static void write_commit(struct tarn_jsonw *w, const struct tarn_repair_use *repair)
{
    tarn_jsonw_key(w, "commit");
    if (repair->committed)
        tarn_native_commit_write(w, &repair->commit);
    else
        tarn_jsonw_null(w);
}

static tarn_code answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                        struct tarn_err *err)
{
    const struct call *call = state;
    const struct tarn_repair_use *repair = &call->repair;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);
    char dotted[TARN_DOTTED_MAX];

    (void)req;
    reply->status = repair->committed ? 201 : 200;
    tarn_ident_format(repair->commit.ident.namespace_, repair->commit.ident.name, dotted);
    tarn_jsonw_object(&w);
    tarn_jsonw_kstr(&w, "table", dotted);
    tarn_jsonw_kstr(&w, "plan", tarn_repair_plan_text(repair->plan));
    tarn_jsonw_kbool(&w, "dry_run", !repair->runs);
    tarn_jsonw_ki64(&w, "version", repair->version);
    tarn_jsonw_kstr(&w, "ends", tarn_block_text(repair->ends));
    write_operations(&w, &repair->commit);
    write_list(&w, "writes", &repair->writes);
    write_list(&w, "moves", &repair->moves);
    write_list(&w, "left_out", &repair->left_out);
    tarn_jsonw_ki64(&w, "more", repair->more);
    write_commit(&w, repair);
    tarn_cure_write(&call->cure, &w);
    tarn_jsonw_object_end(&w);
    return tarn_buf_check(&reply->body, err);
}

static const struct tarn_use k_use = {
    .name = "repair",
    .size = sizeof(struct call),
    .needs_check = needs_check,
    .check = check,
    .change = change,
    .needs_after = needs_after,
    .after = after,
    .done = done,
};
const struct tarn_flow tarn_native_repair = { .use = &k_use, .parse = parse, .answer = answer };
