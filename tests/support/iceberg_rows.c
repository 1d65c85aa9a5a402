/* iceberg_rows.c - rows of updates, applied and compared. */
#include "tests/support/iceberg_rows.h"
#include "base/json.h"
#include <criterion/criterion.h>

static json_t *expected_of(const struct tarn_iceberg_row *row)
{
    json_t *doc = tarn_patched(k_iceberg_table, row->base), *patch;

    if (!row->after)
        return doc;
    patch = json_pack("{s:i, s:[{s:O, s:s}]}", "last-updated-ms", TARN_ROW_NOW, "metadata-log", "timestamp-ms",
                      json_object_get(doc, "last-updated-ms"), "metadata-file", TARN_ROW_FILE);
    json_t *after = tarn_quoted(row->after);
    if (!patch || !tarn_json_merge(doc, patch) || !tarn_json_merge(doc, after))
        cr_assert(false, "no memory");
    if (!json_object_get(doc, "current-snapshot-id")) /* taken away by the patch: version 3 writes null */
        (void)json_object_set_new(doc, "current-snapshot-id", json_null());
    json_decref(patch);
    json_decref(after);
    return doc;
}

static void check_row(const struct tarn_iceberg_row *row)
{
    const struct tarn_iceberg_change change = { TARN_ROW_NOW, TARN_ROW_FILE };
    json_t *base = tarn_patched(k_iceberg_table, row->base), *updates = tarn_quoted(row->updates);
    struct tarn_iceberg_meta *meta = tarn_iceberg_of(base);
    bool changed = false;
    TARN_ERR(err);
    tarn_code code = tarn_iceberg_update(meta, updates, &change, &changed, &err);

    if (row->refused) {
        cr_expect_str_eq(err.detail, row->refused, "%s: \"%s\", not \"%s\"", row->name, err.detail, row->refused);
        cr_expect_eq(code, row->code ? row->code : TARN_INVALID, "%s: code %d", row->name, (int)code);
    } else if (code != TARN_OK) {
        cr_expect(false, "%s: %s", row->name, err.detail);
    } else {
        json_t *expected = expected_of(row), *found = tarn_iceberg_doc(meta);
        cr_expect_eq(changed, row->after != NULL, "%s: changed %d", row->name, changed);
        tarn_expect_same(row->name, found, expected);
        json_decref(expected);
        json_decref(found);
    }
    tarn_iceberg_free(meta);
    json_decref(base);
    json_decref(updates);
}

void tarn_iceberg_rows_check(const struct tarn_iceberg_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i]);
}
