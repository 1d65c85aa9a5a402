/* fuzz_iceberg_view.c - view metadata of hostile bytes, a newline, and a list of updates: a verdict, never a crash; what is
 * built can be read again. */
#include "base/json.h"
#include "formats/iceberg/view.h"
#include <stdlib.h>
#include <string.h>

static void round_trip(const struct tarn_iceberg_view *view)
{
    TARN_AUTO(iceberg_view) struct tarn_iceberg_view *other = NULL;
    struct tarn_buf once = { 0 }, twice = { 0 };

    if (tarn_iceberg_view_write(view, &once, NULL) != TARN_OK ||
        tarn_iceberg_view_parse(once.data, once.len, &other, NULL) != TARN_OK ||
        tarn_iceberg_view_write(other, &twice, NULL) != TARN_OK || strcmp(once.data, twice.data) != 0)
        abort();
    tarn_buf_done(&once);
    tarn_buf_done(&twice);
}

static void update(struct tarn_iceberg_view *view, const char *text, size_t len)
{
    json_t *updates = NULL;
    bool changed = false;
    TARN_ERR(err);

    if (tarn_json_parse(text, len, NULL, &updates, NULL) != TARN_OK)
        return;
    TARN_ERR(unmet);
    if (tarn_iceberg_view_require(view, updates, &unmet) != TARN_OK && unmet.code == TARN_OK)
        abort();
    if (tarn_iceberg_view_update(view, updates, 5000, &changed, &err) == TARN_OK)
        round_trip(view);
    else if (err.code == TARN_OK)
        abort();
    json_decref(updates);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TARN_AUTO(iceberg_view) struct tarn_iceberg_view *view = NULL;
    const char *text = (const char *)data, *cut = size > 0 ? memchr(text, '\n', size) : NULL;
    size_t len = cut ? (size_t)(cut - text) : size;
    TARN_ERR(err);

    if (tarn_iceberg_view_parse(text, len, &view, &err) != TARN_OK) {
        if (err.code == TARN_OK || view)
            abort();
        return 0;
    }
    round_trip(view);
    if (cut)
        update(view, cut + 1, size - len - 1);
    return 0;
}
