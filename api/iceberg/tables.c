/* tables.c - lists, looks at and loads Iceberg tables. A load is one read of what is kept beside the row; on local storage it
 * also asks whether the metadata file is still there. */
#include "api/iceberg/iceberg.h"
#include "api/native/list.h"
#include "lake/iceberg_names.h"
#include <string.h>

/* --- the list --- */

struct names {
    struct tarn_list list; /* first */
    struct tarn_principal who;
    char mark[TARN_ICEBERG_MARK];
    char namespace_[TARN_NAMESPACE_MAX + 1];
    char after[TARN_NAME_MAX + 1];
};

static void names_free(struct tarn_list *list) { free(list); }

static char *names_token(const struct tarn_list *list)
{
    const struct names *n = (const struct names *)list;

    return tarn_iceberg_token(n->mark, n->after);
}

static tarn_code visit(void *ctx, const struct tarn_table *table, struct tarn_err *err)
{
    struct names *l = ctx;
    bool is_shown = table->mode == TARN_MANAGED && tarn_principal_sees(&l->who, table->namespace_, table->name);

    (void)err;
    if (!is_shown)
        tarn_list_skip(&l->list);
    else if (tarn_list_row(&l->list))
        tarn_iceberg_write_identifier(&l->list.w, table->namespace_, table->name);
    else
        return TARN_OK;
    snprintf(l->after, sizeof l->after, "%s", table->name);
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct names *l = ctx;
    char after[TARN_NAME_MAX + 1];
    const struct tarn_table_filter filter = { .namespace_ = l->namespace_, .format = TARN_FORMAT_ICEBERG, .mode = TARN_MANAGED,
                                              .after_namespace = l->after[0] ? l->namespace_ : NULL,
                                              .after_name = l->after[0] ? after : NULL, .after_id = INT64_MAX,
                                              .limit = l->list.ask };

    memcpy(after, l->after, sizeof after);
    return tx->ops->tables.list(tx, &filter, visit, l, err);
}

static tarn_code there_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err) { return tarn_namespace_check(tx, ctx, err); }

tarn_code tarn_iceberg_tables_list(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page = { 0 };
    struct names *l = calloc(1, sizeof *l);

    if (!l)
        return tarn_fail_oom(err);
    l->who = req->who;
    tarn_iceberg_mark(req, l->mark);
    tarn_code code = tarn_iceberg_path_namespace(req, l->namespace_, err);
    if (code == TARN_OK)
        code = tarn_iceberg_page(req, &page, err);
    if (code == TARN_OK)
        code = tarn_store_read(req->app->lake->store, there_tx, l->namespace_, err);
    if (code != TARN_OK) {
        free(l);
        return code;
    }
    if (page.token)
        snprintf(l->after, sizeof l->after, "%s", page.token);
    l->list = (struct tarn_list){ .store = req->app->lake->store, .page = page_tx, .token = names_token,
                                  .free = names_free, .size = page.size, .token_key = "next-page-token" };
    tarn_list_reply(&l->list, NULL, "identifiers", reply);
    return TARN_OK;
}

/* --- one --- */

struct load {
    struct tarn_ident ident;
    enum tarn_iceberg_form form;
    const char *have;          /* If-None-Match, NULL: none */
    struct tarn_reply *reply;  /* NULL: is it there? */
    char *location;            /* owned */
};

static tarn_code answer(void *ctx, const char *text, size_t len, struct tarn_err *err)
{
    struct load *load = ctx;

    tarn_reply_done(load->reply);
    return tarn_iceberg_answer_table(load->reply, load->location, text, len, load->form, err);
}

static bool has_it(const struct load *load)
{
    char etag[40];

    tarn_iceberg_etag(load->location, load->form, etag);
    return load->have && (strcmp(load->have, "*") == 0 || strstr(load->have, etag));
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
    if (has_it(load)) {
        load->reply->status = 304;
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

static tarn_code read_form(const struct tarn_request *req, enum tarn_iceberg_form *out, struct tarn_err *err)
{
    const char *text = tarn_query(req, "snapshots");

    *out = text && strcmp(text, "refs") == 0 ? TARN_ICEBERG_REFS : TARN_ICEBERG_ALL;
    if (text && *text && *out == TARN_ICEBERG_ALL && strcmp(text, "all") != 0)
        return tarn_fail_field(err, "snapshots", "Invalid snapshots: %.100s (all, refs)", text);
    return TARN_OK;
}

tarn_code tarn_iceberg_table_load(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct load load = { .have = tarn_request_header(req, "If-None-Match"), .reply = reply };
    char etag[40];
    tarn_code code = tarn_iceberg_path_ident(req, TARN_TABLE_NOT_FOUND, &load.ident, err);

    if (code == TARN_OK)
        code = read_form(req, &load.form, err);
    if (code == TARN_OK)
        code = tarn_store_read(req->app->lake->store, load_tx, &load, err);
    TARN_AUTO(mem) char *location = load.location;
    if (code == TARN_OK && location[0] == '/')
        code = tarn_iceberg_file_stat(req->app->lake, location, err);
    else if (code == TARN_OK && strncmp(location, "file:", 5) == 0)
        code = tarn_iceberg_file_stat(req->app->lake, location, err);
    if (code == TARN_OK && reply->status == 304) {
        tarn_iceberg_etag(location, load.form, etag);
        tarn_reply_header(reply, "ETag", "%s", etag);
        tarn_reply_header(reply, "Cache-Control", TARN_ICEBERG_CACHING);
    }
    return code;
}

tarn_code tarn_iceberg_table_exists(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct load load = { 0 };
    tarn_code code = tarn_iceberg_path_ident(req, TARN_TABLE_NOT_FOUND, &load.ident, err);

    if (code == TARN_OK)
        code = tarn_store_read(req->app->lake->store, load_tx, &load, err);
    return code == TARN_OK ? tarn_iceberg_answer_nothing(reply) : code;
}
