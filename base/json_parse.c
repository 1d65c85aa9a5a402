/* json_parse.c - one JSON text to a tree. */
#include "base/json.h"

const struct tarn_json_limits tarn_json_limits_default = { .max_depth = 64, .max_values = 2000000 };

tarn_code tarn_json_parse(const char *text, size_t len, const struct tarn_json_limits *limits, json_t **out,
                          struct tarn_err *err)
{
    json_error_t fault;

    (void)limits;
    json_t *tree = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &fault);
    if (!tree)
        return tarn_fail(err, TARN_INVALID, "line %d, column %d: %s", fault.line, fault.column, fault.text);
    *out = tree;
    return TARN_OK;
}
