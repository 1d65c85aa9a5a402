/* fuzz_iceberg.c - table metadata of hostile bytes, a newline, and a list of updates: a verdict, never a crash; what is
 * accepted is written so that it is read again as the same, and what is built can be read. */
#include "base/json.h"
#include "formats/iceberg/iceberg.h"
#include <stdlib.h>
#include <string.h>

/* Owned text of what the text `doc` reads as; aborts when it is refused. */
static char *again(const char *doc, size_t len)
{
    TARN_AUTO(iceberg) struct tarn_iceberg_meta *meta = NULL;
    struct tarn_buf out = { 0 };
    TARN_ERR(err);

    if (tarn_iceberg_parse(doc, len, &meta, &err) != TARN_OK || tarn_iceberg_write(meta, TARN_ICEBERG_ALL, &out, &err) != TARN_OK)
        abort();
    return tarn_buf_take(&out);
}

static void round_trip(const struct tarn_iceberg_meta *meta)
{
    struct tarn_buf out = { 0 };

    if (tarn_iceberg_write(meta, TARN_ICEBERG_ALL, &out, NULL) != TARN_OK)
        abort();
    char *once = again(out.data, out.len);
    if (strcmp(once, out.data) != 0)
        abort();
    free(once);
    tarn_buf_done(&out);
}

static void update(struct tarn_iceberg_meta *meta, const char *text, size_t len)
{
    const struct tarn_iceberg_change change = { 5000, "file:///t/metadata/00000-a.metadata.json" };
    json_t *updates = NULL;
    bool changed = false, creates = false;
    TARN_ERR(err);

    if (tarn_json_parse(text, len, NULL, &updates, NULL) != TARN_OK)
        return;
    TARN_ERR(unmet);
    if (tarn_iceberg_require(meta, updates, &creates, &unmet) != TARN_OK && unmet.code == TARN_OK)
        abort();
    if (tarn_iceberg_update(meta, updates, &change, &changed, &err) == TARN_OK)
        round_trip(meta);
    else if (err.code == TARN_OK)
        abort();
    json_decref(updates);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TARN_AUTO(iceberg) struct tarn_iceberg_meta *meta = NULL;
    const char *text = (const char *)data, *cut = size > 0 ? memchr(text, '\n', size) : NULL;
    size_t len = cut ? (size_t)(cut - text) : size;
    struct tarn_iceberg_summary summary;
    TARN_ERR(err);

    if (tarn_iceberg_parse(text, len, &meta, &err) != TARN_OK) {
        if (err.code == TARN_OK || meta)
            abort();
        return 0;
    }
    round_trip(meta);
    tarn_iceberg_summarise(meta, &summary);
    if (cut)
        update(meta, cut + 1, size - len - 1);
    return 0;
}
