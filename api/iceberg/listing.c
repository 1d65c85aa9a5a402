/* listing.c - see listing.h. */
#include "api/iceberg/listing.h"
#include "lake/iceberg_names.h"

static void listing_free(struct tarn_list *list) { free(list); }

static char *token(const struct tarn_list *list)
{
    const struct tarn_iceberg_listing *l = (const struct tarn_iceberg_listing *)list;

    return tarn_iceberg_token(l->mark, l->after);
}

void tarn_iceberg_listing_row(struct tarn_iceberg_listing *l, const char *name, bool is_shown)
{
    if (!is_shown || !tarn_principal_sees(&l->who, l->namespace_, name))
        tarn_list_skip(&l->list);
    else if (tarn_list_row(&l->list))
        tarn_iceberg_write_identifier(&l->list.w, l->namespace_, name);
    else
        return;
    snprintf(l->after, sizeof l->after, "%s", name);
}

static tarn_code there_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err) { return tarn_namespace_check(tx, ctx, err); }

tarn_code tarn_iceberg_listing_answer(const struct tarn_request *req, tarn_tx_fn *page, struct tarn_reply *reply,
                                      struct tarn_err *err)
{
    __attribute__((cleanup(tarn_page_done))) struct tarn_page asked = { 0 };
    struct tarn_iceberg_listing *l = calloc(1, sizeof *l);

    if (!l)
        return tarn_fail_oom(err);
    l->who = req->who;
    tarn_iceberg_mark(req, l->mark);
    tarn_code code = tarn_iceberg_path_namespace(req, l->namespace_, err);
    if (code == TARN_OK)
        code = tarn_iceberg_page(req, &asked, err);
    if (code == TARN_OK)
        code = tarn_store_read(req->app->lake->store, there_tx, l->namespace_, err);
    if (code != TARN_OK) {
        free(l);
        return code;
    }
    if (asked.token)
        snprintf(l->after, sizeof l->after, "%s", asked.token);
    l->list = (struct tarn_list){ .store = req->app->lake->store, .page = page, .token = token, .free = listing_free,
                                  .size = asked.size, .token_key = "next-page-token" };
    tarn_list_reply(&l->list, NULL, "identifiers", reply);
    return TARN_OK;
}
