/* table_load.c - loads Iceberg tables, and looks whether one is there. A load is one read of the document kept beside the row; on
 * local storage it also asks whether the metadata file is still there. What was answered lately is answered from memory, on the
 * loop, where the system too knows in memory that the file is there. */
#include "api/answers.h"
#include "api/iceberg/iceberg.h"
#include <string.h>

struct load {
    struct tarn_ident ident;
    enum tarn_iceberg_form form;
    const char *have;          /* If-None-Match, NULL: none */
    struct tarn_reply *reply;  /* NULL: is it there? */
    struct tarn_iceberg_shown shown;
    char *location;            /* owned: the one shown */
};

static tarn_code read_form(const struct tarn_request *req, enum tarn_iceberg_form *out, struct tarn_err *err)
{
    const char *text = tarn_query(req, "snapshots");

    *out = text && strcmp(text, "refs") == 0 ? TARN_ICEBERG_REFS : TARN_ICEBERG_ALL;
    if (text && *text && *out == TARN_ICEBERG_ALL && strcmp(text, "all") != 0)
        return tarn_fail_field(err, "snapshots", "Invalid snapshots: %.100s (all, refs)", text);
    return TARN_OK;
}

static tarn_code begin(const struct tarn_request *req, struct tarn_reply *reply, struct load *load, struct tarn_err *err)
{
    *load = (struct load){ .have = tarn_request_header(req, "If-None-Match"), .reply = reply };
    tarn_code code = tarn_iceberg_path_ident(req, TARN_TABLE_NOT_FOUND, &load->ident, err);

    return code == TARN_OK ? read_form(req, &load->form, err) : code;
}

static bool has_it(const struct load *load, const struct tarn_iceberg_shown *shown)
{
    char etag[40];

    if (!load->have)
        return false;
    tarn_iceberg_etag(shown, load->form, etag);
    return strcmp(load->have, "*") == 0 || strstr(load->have, etag);
}

/* --- from memory --- */

static enum tarn_answer_kind kind_of(const struct load *load)
{
    return load->form == TARN_ICEBERG_REFS ? TARN_ANSWER_LOAD_REFS : TARN_ANSWER_LOAD;
}

tarn_code tarn_iceberg_table_recall(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct load load;
    char tag[TARN_ANSWER_TAG];
    tarn_code code = begin(req, reply, &load, err);

    if (code != TARN_OK ||
        !tarn_answers_find(req->app->answers, kind_of(&load), &load.ident, req->now_ms, &reply->body, tag))
        return code;
    const struct tarn_iceberg_shown shown = tarn_iceberg_shown_read(tag);
    if (!tarn_iceberg_file_is_seen(req->app->lake, shown.location)) {
        tarn_buf_clear(&reply->body);
        return TARN_OK;
    }
    reply->status = has_it(&load, &shown) ? 304 : 200;
    if (reply->status == 304)
        tarn_buf_clear(&reply->body);
    tarn_iceberg_answer_tag(reply, &shown, load.form);
    return TARN_OK;
}

/* --- from the store --- */

static tarn_code answer(void *ctx, const char *text, size_t len, struct tarn_err *err)
{
    struct load *load = ctx;

    tarn_reply_done(load->reply);
    return tarn_iceberg_answer_table(load->reply, &load->shown, text, len, load->form, err);
}

static tarn_code load_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct load *load = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tarn_iceberg_find(tx, &load->ident, &table, err);

    if (code != TARN_OK || !load->reply)
        return code;
    free(load->location);
    load->location = tarn_take(&table->metadata_location);
    load->shown = (struct tarn_iceberg_shown){ table->id, table->version, load->location };
    if (has_it(load, &load->shown)) {
        tarn_reply_done(load->reply);
        load->reply->status = 304;
        tarn_iceberg_answer_tag(load->reply, &load->shown, load->form);
        return TARN_OK;
    }
    return tx->ops->iceberg.get(tx, table->id, load->form == TARN_ICEBERG_REFS, answer, load, err);
}

tarn_code tarn_iceberg_answer_present(const struct tarn_request *req, const struct tarn_ident *ident, struct tarn_reply *reply,
                                      struct tarn_err *err)
{
    struct load load = { .ident = *ident, .reply = reply };
    tarn_code code = tarn_store_read(req->app->lake->store, load_tx, &load, err);

    free(load.location);
    return code;
}

static tarn_code keep(const struct tarn_request *req, const struct load *load, uint64_t clock, const struct tarn_buf *body,
                      struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf tag = { 0 };
    tarn_code code = tarn_iceberg_shown_print(&load->shown, &tag, err);

    if (code == TARN_OK)
        tarn_answers_keep(req->app->answers, kind_of(load), &load->ident, load->shown.table_id, clock, INT64_MAX, body, tag.data);
    return code;
}

tarn_code tarn_iceberg_table_load(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct tarn_lake *lake = req->app->lake;
    struct load load;
    tarn_code code = begin(req, reply, &load, err);
    uint64_t clock = tarn_store_clock(lake->store);

    if (code == TARN_OK)
        code = tarn_store_read(lake->store, load_tx, &load, err);
    TARN_AUTO(mem) char *location = load.location;
    if (code == TARN_OK && tarn_iceberg_file_is_local(location))
        code = tarn_iceberg_file_stat(lake, location, err);
    return code == TARN_OK && reply->status == 200 ? keep(req, &load, clock, &reply->body, err) : code;
}

tarn_code tarn_iceberg_table_exists(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct load load = { 0 };
    tarn_code code = tarn_iceberg_path_ident(req, TARN_TABLE_NOT_FOUND, &load.ident, err);

    if (code == TARN_OK)
        code = tarn_store_read(req->app->lake->store, load_tx, &load, err);
    return code == TARN_OK ? tarn_reply_nothing(reply) : code;
}
