/* fuzz_jsonr.c - the pull reader against jansson: both take a text or both refuse it, and what both take is the same value.
 * Where they differ by intent: jansson refuses integers beyond 64 bits, which the reader gives as reals; it knows no byte
 * order mark, allows 2,048 levels, and takes a NUL behind the document for its end. The first byte of the input is the size of the source's pieces. */
#include "base/json.h"
#include "base/jsonr.h"
#include "tests/support/pieces.h"
#include <stdlib.h>
#include <string.h>

static void need(bool holds)
{
    if (!holds)
        abort();
}

/* The whole document's compact text and whether it was taken; *large: an integer beyond 64 bits is in it. */
static bool raw_text(struct tarn_jsonr *r, struct tarn_buf *out)
{
    struct tarn_jsonr_event e;
    TARN_ERR(err);

    if (tarn_jsonr_raw(r, out, &err) != TARN_OK)
        return false;
    return tarn_jsonr_next(r, &e, &err) == TARN_OK && e.token == TARN_J_END;
}

/* Pieces of any size must give what memory gives. */
static bool read_both(const char *text, size_t len, size_t step, struct tarn_buf *out)
{
    struct tarn_pieces p = { .at = text, .left = len, .step = step };
    TARN_AUTO(jsonr) struct tarn_jsonr *streamed = tarn_jsonr_new(tarn_pieces_fill, &p, 0);
    TARN_AUTO(jsonr) struct tarn_jsonr *whole = tarn_jsonr_new_mem(text, len, 0);
    TARN_AUTO_DONE(buf) struct tarn_buf other = { 0 };

    bool taken = raw_text(whole, out);
    need(raw_text(streamed, &other) == taken);
    if (taken)
        need(out->len == other.len && memcmp(out->data, other.data, out->len) == 0);
    return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tarn_json_limits as_reader = { .max_depth = TARN_JSONR_DEPTH, .max_values = 2000000 };
    if (size < 1)
        return 0;
    const char *text = (const char *)data + 1;
    size_t len = size - 1, step = data[0] ? data[0] : 1;
    TARN_AUTO_DONE(buf) struct tarn_buf raw = { 0 };
    json_auto_t *tree = NULL;
    json_error_t fault;
    TARN_ERR(err);

    bool taken = read_both(text, len, step, &raw);
    if (memchr(text, '\0', len)) {
        need(!taken);
        return 0;
    }
    bool bom = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    json_auto_t *theirs = bom ? NULL : json_loadb(text, len, JSON_DECODE_ANY, &fault);
    if (!bom && !taken && theirs)
        need(strstr(text, "[[[[") != NULL || len > 64); /* only our depth may be why */
    if (!bom && taken && !theirs)
        need(json_error_code(&fault) == json_error_numeric_overflow);
    if (taken && theirs) {
        json_auto_t *ours = json_loadb(raw.data, raw.len, JSON_DECODE_ANY, &fault);
        need(ours && json_equal(ours, theirs));
    }
    /* The tree's parser takes what jansson takes without duplicates, and its own text reads back as the same value. */
    json_auto_t *strict = bom ? NULL : json_loadb(text, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &fault);
    bool parsed = tarn_json_parse(text, len, &as_reader, &tree, &err) == TARN_OK;
    if (!bom && taken)
        need(parsed == (strict != NULL));
    if (parsed && !bom)
        need(json_equal(tree, strict));
    char *written = parsed ? tarn_json_text(tree) : NULL;
    json_auto_t *again = written ? json_loads(written, JSON_DECODE_ANY, &fault) : NULL;
    need(!parsed || (again && json_equal(again, tree)));
    free(written);
    return 0;
}
