/* table_change.c - what changes Iceberg tables: create, register, commit, several at once, rename, drop. */
#include "api/iceberg/iceberg.h"
#include "formats/iceberg/value.h"
#include "lake/iceberg_names.h"
#include "monitors/monitors.h"
#include <string.h>

/* --- answers --- */

static tarn_code answer_work(const struct tarn_iceberg_work *work, bool is_staged, struct tarn_reply *reply, struct tarn_err *err)
{
    const struct tarn_iceberg_shown shown = { work->table ? work->table->id : 0, work->table ? work->table->version : 0,
                                              is_staged ? NULL : work->metadata_location };

    return tarn_iceberg_answer_table(reply, &shown, work->metadata.data, work->metadata.len, TARN_ICEBERG_ALL, err);
}

/* A new table is judged at once. */
static void first_scan(const struct tarn_request *req)
{
    if (req->app->runner)
        tarn_runner_nudge(req->app->runner);
}

/* --- create --- */

static tarn_code create_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_create_use *use = state;
    tarn_code code = tarn_iceberg_new_ident(req, "tables", &use->ident, err);

    use->lake = req->app->lake;
    use->who = tarn_iceberg_who_of(req);
    if (code == TARN_OK)
        code = tarn_iceberg_opt_bool(req->json, "stage-create", &use->is_staged, err);
    if (code == TARN_OK)
        code = tarn_iceberg_need_object(req->json, "schema", &use->ask.schema, err);
    if (code == TARN_OK)
        code = tarn_iceberg_opt_object(req->json, "partition-spec", &use->ask.spec, err);
    if (code == TARN_OK)
        code = tarn_iceberg_opt_object(req->json, "write-order", &use->ask.order, err);
    if (code == TARN_OK)
        code = tarn_iceberg_opt_object(req->json, "properties", &use->ask.properties, err);
    return code == TARN_OK ? tarn_iceberg_opt_str(req->json, "location", &use->location, err) : code;
}

static tarn_code create_answer(const struct tarn_request *req, void *state, struct tarn_reply *reply, struct tarn_err *err)
{
    const struct tarn_iceberg_create_use *use = state;

    first_scan(req);
    return answer_work(&use->work, use->is_staged, reply, err);
}

/* Asked again under its key: the table of the body as it is now. */
tarn_code tarn_iceberg_named_again(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct tarn_ident ident;
    const char *name = NULL;
    tarn_code code = tarn_iceberg_path_namespace(req, ident.namespace_, err);

    if (code == TARN_OK)
        code = tarn_iceberg_need_str(req->json, "name", &name, err);
    if (code != TARN_OK)
        return code;
    snprintf(ident.name, sizeof ident.name, "%s", name);
    return tarn_iceberg_answer_present(req, &ident, reply, err);
}

bool tarn_iceberg_is_staged(const void *state) { return ((const struct tarn_iceberg_create_use *)state)->is_staged; }

/* --- register --- */

static tarn_code register_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_register_use *use = state;
    tarn_code code = tarn_iceberg_new_ident(req, "tables", &use->ident, err);

    use->lake = req->app->lake;
    use->who = tarn_iceberg_who_of(req);
    if (code == TARN_OK)
        code = tarn_iceberg_need_str(req->json, "metadata-location", &use->metadata_location, err);
    return code == TARN_OK ? tarn_iceberg_opt_bool(req->json, "overwrite", &use->overwrite, err) : code;
}

static tarn_code register_answer(const struct tarn_request *req, void *state, struct tarn_reply *reply, struct tarn_err *err)
{
    first_scan(req);
    return answer_work(&((const struct tarn_iceberg_register_use *)state)->work, false, reply, err);
}

/* --- commit --- */

static tarn_code add_step(struct tarn_iceberg_work *work, const json_t *change, struct tarn_err *err)
{
    struct tarn_iceberg_step step = { NULL, NULL };
    tarn_code code = tarn_iceberg_opt_array(change, "requirements", &step.requirements, err);

    if (code == TARN_OK)
        code = tarn_iceberg_need_array(change, "updates", &step.updates, err);
    if (code != TARN_OK)
        return code;
    struct tarn_iceberg_step *steps = realloc(work->steps, (work->step_count + 1) * sizeof *steps);
    if (!steps)
        return tarn_fail_oom(err);
    work->steps = steps;
    work->steps[work->step_count++] = step;
    return TARN_OK;
}

static tarn_code commit_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_commit_use *use = state;

    use->lake = req->app->lake;
    use->works = calloc(1, sizeof *use->works);
    if (!use->works)
        return tarn_fail_oom(err);
    use->count = 1;
    use->works->who = tarn_iceberg_who_of(req);
    tarn_code code = tarn_iceberg_path_ident(req, TARN_TABLE_NOT_FOUND, &use->works->ident, err);
    return code == TARN_OK ? add_step(use->works, req->json, err) : code;
}

static tarn_code commit_answer(const struct tarn_request *req, void *state, struct tarn_reply *reply, struct tarn_err *err)
{
    (void)req;
    return answer_work(((const struct tarn_iceberg_commit_use *)state)->works, false, reply, err);
}

tarn_code tarn_iceberg_commit_again(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct tarn_ident ident;
    tarn_code code = tarn_iceberg_path_ident(req, TARN_TABLE_NOT_FOUND, &ident, err);

    return code == TARN_OK ? tarn_iceberg_answer_present(req, &ident, reply, err) : code;
}

/* Changes of one table follow one another: they are one work. */
static tarn_code work_of(const struct tarn_request *req, struct tarn_iceberg_commit_use *use, const json_t *change,
                         struct tarn_iceberg_work **out, struct tarn_err *err)
{
    struct tarn_ident ident;
    tarn_code code = tarn_iceberg_body_ident(req, json_object_get(change, "identifier"), "identifier", TARN_TABLE_NOT_FOUND,
                                             &ident, err);

    for (size_t i = 0; i < use->count && code == TARN_OK; i++) {
        if (strcmp(use->works[i].ident.namespace_, ident.namespace_) == 0 && strcmp(use->works[i].ident.name, ident.name) == 0) {
            *out = &use->works[i];
            return TARN_OK;
        }
    }
    if (code != TARN_OK)
        return code;
    *out = &use->works[use->count++];
    (*out)->ident = ident;
    (*out)->who = tarn_iceberg_who_of(req);
    return TARN_OK;
}

static tarn_code transaction_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_commit_use *use = state;
    const json_t *changes = NULL;
    struct tarn_iceberg_work *work = NULL;
    tarn_code code = tarn_iceberg_need_array(req->json, "table-changes", &changes, err);

    if (code == TARN_OK && json_array_size(changes) == 0)
        code = tarn_fail_field(err, "table-changes", "Invalid transaction: it has no changes");
    if (code != TARN_OK)
        return code;
    use->lake = req->app->lake;
    use->works = calloc(json_array_size(changes), sizeof *use->works);
    if (!use->works)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < json_array_size(changes) && code == TARN_OK; i++) {
        const json_t *change = json_array_get(changes, i);
        code = work_of(req, use, change, &work, err);
        if (code == TARN_OK)
            code = add_step(work, change, err);
    }
    return code;
}

/* --- rename, drop --- */

static tarn_code rename_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_rename_use *use = state;
    tarn_code code = tarn_iceberg_body_ident(req, json_object_get(req->json, "source"), "source", TARN_TABLE_NOT_FOUND,
                                             &use->from, err);

    use->lake = req->app->lake;
    return code == TARN_OK ? tarn_iceberg_body_ident(req, json_object_get(req->json, "destination"), "destination",
                                                     TARN_FORBIDDEN, &use->to, err)
                           : code;
}

static tarn_code drop_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_drop_use *use = state;
    const char *purge = tarn_query(req, "purgeRequested");

    use->lake = req->app->lake;
    use->purge = purge && strcasecmp(purge, "true") == 0;
    return tarn_iceberg_path_ident(req, TARN_TABLE_NOT_FOUND, &use->ident, err);
}

const struct tarn_flow tarn_iceberg_table_post = { &tarn_iceberg_table_create, create_parse, create_answer };
const struct tarn_flow tarn_iceberg_table_register = { &tarn_iceberg_register, register_parse, register_answer };
const struct tarn_flow tarn_iceberg_table_commit = { &tarn_iceberg_commit, commit_parse, commit_answer };
const struct tarn_flow tarn_iceberg_transaction = { &tarn_iceberg_commit, transaction_parse, tarn_flow_nothing };
const struct tarn_flow tarn_iceberg_table_rename = { &tarn_iceberg_rename, rename_parse, tarn_flow_nothing };
const struct tarn_flow tarn_iceberg_table_drop = { &tarn_iceberg_drop, drop_parse, tarn_flow_nothing };
