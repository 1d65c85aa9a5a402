/* tables.c - POST /api/tables and GET /api/table/{table}. */
#include "api/answers.h"
#include "api/native/native.h"
#include "base/json.h"
#include "lake/adopt.h"
#include "lake/inherit.h"
#include "lake/register.h"
#include "lake/settings.h"
#include "monitors/monitors.h"
#include <stdio.h>
#include <string.h>

/* --- one table --- */

_Static_assert(TARN_ETAG_TEXT <= TARN_ANSWER_TAG, "a tag is kept whole");

struct find_ctx {
    struct tarn_ident ident;
    struct tarn_table_seen *seen;
};

void tarn_table_seen_done(struct tarn_table_seen *seen)
{
    tarn_table_free(seen->table);
    tarn_scan_row_done(&seen->scan);
    *seen = (struct tarn_table_seen){ 0 };
}

static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct find_ctx *c = ctx;
    TARN_ERR(none);

    tarn_table_seen_done(c->seen);
    tarn_code code = tx->ops->tables.get(tx, c->ident.namespace_, c->ident.name, &c->seen->table, err);
    if (code == TARN_OK)
        code = tarn_inherit_shown(tx, c->seen->table, err);
    if (code != TARN_OK || c->seen->table->mode != TARN_OBSERVED)
        return code;
    code = tx->ops->monitors.get(tx, c->seen->table->id, &c->seen->scan, &none);
    c->seen->has_scan = code == TARN_OK;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &none);
}

tarn_code tarn_native_table_find(const struct tarn_request *req, struct tarn_table_seen *out,
                                 struct tarn_err *err)
{
    struct find_ctx c = { .seen = out };
    tarn_code code = tarn_request_ident(req, &c.ident, err);

    return code == TARN_OK ? tarn_store_read(req->app->lake->store, find_tx, &c, err) : code;
}

/* The body stands in the reply; 304 where the client has it. Only of managed tables: a scan changes what is
 * shown of an observed one, and no revision. */
static tarn_code answer_managed(const struct tarn_request *req, struct tarn_reply *reply, const char *etag)
{
    const char *have = tarn_request_header(req, "If-None-Match");

    tarn_reply_header(reply, "ETag", "%s", etag);
    reply->status = have && tarn_etag_matches(have, etag) ? 304 : 200;
    if (reply->status == 304)
        tarn_buf_clear(&reply->body);
    return TARN_OK;
}

tarn_code tarn_native_table_get(const struct tarn_request *req, struct tarn_reply *reply,
                                struct tarn_err *err)
{
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);
    struct tarn_app *app = req->app;
    struct tarn_ident ident;
    char etag[TARN_ANSWER_TAG];
    tarn_code code = tarn_request_ident(req, &ident, err);

    if (code != TARN_OK)
        return code;
    if (tarn_answers_find(app->answers, TARN_ANSWER_TABLE, &ident, req->now_ms, &reply->body, etag))
        return answer_managed(req, reply, etag);
    uint64_t clock = tarn_store_clock(app->lake->store);
    code = tarn_native_table_find(req, &seen, err);
    if (code != TARN_OK)
        return code;
    tarn_table_etag(seen.table, etag);
    tarn_native_table_write(&w, seen.table, seen.has_scan ? &seen.scan : NULL);
    code = tarn_buf_check(&reply->body, err);
    if (code == TARN_OK && seen.table->mode == TARN_MANAGED) {
        tarn_answers_keep(app->answers, TARN_ANSWER_TABLE, &ident, seen.table->id, clock, INT64_MAX,
                          &reply->body, etag);
        return answer_managed(req, reply, etag);
    }
    tarn_reply_header(reply, "ETag", "%s", etag);
    reply->status = 200;
    return code;
}

/* --- registration --- */

static bool may_use(const void *who, const char *location) { return tarn_principal_may_use(who, location); }

/* `name` alone is dotted; with an array of levels it is literal; with a dotted namespace it continues that.
 */
static tarn_code read_ident(const char *name, const json_t *namespace_, struct tarn_ident *out,
                            struct tarn_err *err)
{
    if (!namespace_)
        return tarn_ident_parse(name, "name", out, err);
    if (json_is_array(namespace_)) {
        tarn_code code = tarn_name_check(name, "name", err);
        if (code == TARN_OK)
            code = tarn_namespace_from_levels(namespace_, "namespace", out->namespace_, err);
        if (code == TARN_OK)
            snprintf(out->name, sizeof out->name, "%s", name);
        return code;
    }
    if (!json_is_string(namespace_))
        return tarn_fail_field(err, "namespace", "must be an array of levels or dotted text");
    TARN_AUTO_DONE(buf) struct tarn_buf dotted = { 0 };
    tarn_code code = tarn_namespace_parse(json_string_value(namespace_), "namespace", out->namespace_, err);
    tarn_buf_addf(&dotted, "%s.%s", json_string_value(namespace_), name);
    if (code == TARN_OK)
        code = tarn_buf_check(&dotted, err);
    return code == TARN_OK ? tarn_ident_parse(dotted.data, "name", out, err) : code;
}

struct words {
    const char *format, *mode, *enforcement, *verify;
};

static tarn_code read_words(const struct words *words, struct tarn_register_use *use, struct tarn_err *err)
{
    use->format_auto = words->format && strcmp(words->format, "auto") == 0;
    if (words->format && !use->format_auto && !tarn_format_parse(words->format, &use->format))
        return tarn_fail_field(
            err, "format", "must be \"manifest\", \"iceberg\", \"delta\", \"hudi\", \"parquet\" or \"auto\"");
    if (words->mode && !tarn_mode_parse(words->mode, &use->mode))
        return tarn_fail_field(err, "mode", "must be \"managed\" or \"observed\"");
    use->mode_given = words->mode != NULL;
    use->enforcement_given = words->enforcement != NULL;
    use->verify_given = words->verify != NULL;
    if (words->enforcement && !tarn_enforcement_parse(words->enforcement, &use->enforcement))
        return tarn_fail_field(err, "schema_enforcement", "must be \"off\", \"warn\" or \"reject\"");
    if (words->verify && !tarn_verify_parse(words->verify, &use->verify))
        return tarn_fail_field(err, "verify", "must be \"off\", \"size\" or \"footer\"");
    return TARN_OK;
}

static tarn_code read_body(const struct tarn_request *req, struct tarn_register_use *use,
                           struct tarn_err *err)
{
    const char *name = NULL;
    json_t *namespace_ = NULL;
    struct words words = { 0 };
    const struct tarn_field fields[] = {
        TARN_STR("name", &name, 1, TARN_DOTTED_MAX),
        TARN_OPT_ANY("namespace", &namespace_),
        TARN_OPT_STR("location", &use->location, 1, 4096),
        TARN_OPT_STR("metadata_location", &use->metadata_location, 1, 4096),
        TARN_OPT_STR("format", &words.format, 1, 16),
        TARN_OPT_STR("mode", &words.mode, 1, 16),
        TARN_OPT_OBJECT("schema", &use->schema),
        TARN_OPT_ARRAY("partition_keys", &use->partition_keys, 0, 100),
        TARN_OPT_OBJECT("properties", &use->properties),
        TARN_OPT_STR("owner", &use->owner, 1, 255),
        TARN_OPT_OBJECT("monitors", &use->monitors),
        TARN_OPT_BOOL("import", &use->import),
        TARN_OPT_BOOL("dry_run", &use->dry_run),
        TARN_OPT_STR("schema_enforcement", &words.enforcement, 1, 16),
        TARN_OPT_STR("verify", &words.verify, 1, 16),
        TARN_OPT_BOOL("publish", &use->publish),
        TARN_OPT_BOOL("protected", &use->protected_),
        TARN_FIELDS_END,
    };
    tarn_code code = tarn_json_read(req->json, fields, err);

    if (code == TARN_OK)
        code = read_words(&words, use, err);
    if (code == TARN_OK)
        code = read_ident(name, namespace_, &use->ident, err);
    return code;
}

static tarn_code register_parse(const struct tarn_request *req, void *state, struct tarn_err *err)
{
    struct tarn_register_use *use = state;

    use->lake = req->app->lake;
    use->publish = true;
    use->may_use = may_use;
    use->who = &req->who;
    tarn_code code = read_body(req, use, err);
    if (code == TARN_OK && use->monitors)
        code = tarn_monitors_check(use->monitors, "monitors", err);
    if (code != TARN_OK)
        return code;
    if (!tarn_principal_sees(&req->who, use->ident.namespace_, use->ident.name))
        return tarn_fail_code_field(err, TARN_FORBIDDEN, "name",
                                    "the token does not reach tables of this name");
    return TARN_OK;
}

static void location_header(struct tarn_reply *reply, const struct tarn_table *table)
{
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    char dotted[TARN_DOTTED_MAX];

    tarn_ident_format(table->namespace_, table->name, dotted);
    for (const char *c = dotted; *c != '\0'; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                     strchr("-._~", *c);
        tarn_buf_addf(&path, plain ? "%c" : "%%%02X", (unsigned char)*c);
    }
    if (!path.failed)
        tarn_reply_header(reply, "Location", "/api/table/%s", path.data);
}

static tarn_code register_answer(const struct tarn_request *req, void *state, struct tarn_reply *reply,
                                 struct tarn_err *err)
{
    const struct tarn_register_use *use = state;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);
    char etag[TARN_ETAG_TEXT];
    tarn_code code = tarn_inherit_settings(&use->inherited, use->table, err);

    if (code != TARN_OK)
        return code;
    if (!use->dry_run && req->app->runner)
        tarn_runner_nudge(req->app->runner);
    if (!use->dry_run) {
        tarn_table_etag(use->table, etag);
        tarn_reply_header(reply, "ETag", "%s", etag);
        location_header(reply, use->table);
    }
    reply->status = use->dry_run ? 200 : 201;
    tarn_jsonw_object(&w);
    tarn_native_table_members(&w, use->table, NULL);
    tarn_jsonw_ki64(&w, "files", use->table->file_count);
    tarn_jsonw_ki64(&w, "total_size_bytes", use->table->total_bytes);
    tarn_jsonw_ki64(&w, "transactions", use->adopted->entries);
    tarn_jsonw_key(&w, "found");
    tarn_jsonw_json(&w, use->adopted->found);
    tarn_jsonw_kbool(&w, "dry_run", use->dry_run);
    tarn_jsonw_object_end(&w);
    return tarn_buf_check(&reply->body, err);
}

const struct tarn_flow tarn_native_table_register = {
    .use = &tarn_register,
    .parse = register_parse,
    .answer = register_answer,
};
