/* schema_rows.c - rows that outlive their transaction: mappings and comparisons take longer than one may. */
#include "lake/schema_rows.h"
#include "base/json.h"
#include "base/text.h"
#include "catalog/schema.h"
#include <string.h>

void tarn_schema_rows_done(struct tarn_schema_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        tarn_schema_row_done(&rows->rows[i]);
    free(rows->rows);
    *rows = (struct tarn_schema_rows){ .from = rows->from };
}

static tarn_code take_row(void *ctx, const struct tarn_schema_row *row, struct tarn_err *err)
{
    struct tarn_schema_rows *s = ctx;
    bool failed = false;

    if (row->version < s->from)
        return TARN_OK;
    if (s->count == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        struct tarn_schema_row *more = reallocarray(s->rows, cap, sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        s->rows = more;
        s->cap = cap;
    }
    struct tarn_schema_row *copy = &s->rows[s->count++];
    *copy = (struct tarn_schema_row){ row->version, tarn_text_copy(row->schema, &failed),
                                      tarn_text_copy(row->renames, &failed), row->created_at };
    return failed ? tarn_fail_oom(err) : TARN_OK;
}

tarn_code tarn_schema_rows_read(struct tarn_tx *tx, int64_t table_id, struct tarn_schema_rows *rows,
                                struct tarn_err *err)
{
    tarn_schema_rows_done(rows);
    return tx->ops->schemas.list(tx, table_id, take_row, rows, err);
}

bool tarn_schema_same(const struct tarn_schema *there, const char *text)
{
    json_auto_t *tree = NULL, *left = NULL, *right = NULL;
    TARN_AUTO(schema) struct tarn_schema *schema = NULL;

    if (tarn_json_parse(text, strlen(text), NULL, &tree, NULL) != TARN_OK ||
        tarn_schema_parse(tree, "schema", &schema, NULL) != TARN_OK)
        return false;
    left = tarn_schema_to_json(there);
    right = tarn_schema_to_json(schema);
    return left && right && json_equal(left, right);
}
