/* tables.c - lists Iceberg tables. */
#include "api/iceberg/iceberg.h"
#include "api/iceberg/listing.h"
#include <string.h>

static tarn_code visit(void *ctx, const struct tarn_table *table, struct tarn_err *err)
{
    (void)err;
    tarn_iceberg_listing_row(ctx, table->name, table->mode == TARN_MANAGED);
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_iceberg_listing *l = ctx;
    char after[TARN_NAME_MAX + 1];
    const struct tarn_table_filter filter = { .namespace_ = l->namespace_, .format = TARN_FORMAT_ICEBERG, .mode = TARN_MANAGED,
                                              .after_namespace = l->after[0] ? l->namespace_ : NULL,
                                              .after_name = l->after[0] ? after : NULL, .after_id = INT64_MAX,
                                              .limit = l->list.ask };

    memcpy(after, l->after, sizeof after);
    return tx->ops->tables.list(tx, &filter, visit, l, err);
}

tarn_code tarn_iceberg_tables_list(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    return tarn_iceberg_listing_answer(req, page_tx, reply, err);
}
