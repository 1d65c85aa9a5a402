/* tables.c - lists Iceberg tables. */
#include "api/iceberg/iceberg.h"
#include "api/native/list.h"
#include "lake/iceberg_names.h"
#include <string.h>

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
