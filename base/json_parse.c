/* json_parse.c - one JSON text to a tree, built from the pull reader's tokens: one parser for all of Tarn,
 * and the limits hold while the tree grows, not after. */
#include "base/json.h"
#include "base/jsonr.h"
#include <string.h>

const struct tarn_json_limits tarn_json_limits_default = { .max_depth = 64, .max_values = 2000000 };

struct builder {
    const struct tarn_json_limits *limits;
    json_t *open[TARN_JSONR_DEPTH]; /* borrowed from root */
    json_t *root;                   /* owned */
    struct tarn_buf key;            /* of the member to come */
    size_t values;
    const char *fault; /* static text, NULL: none */
};

static json_t *value_of(struct builder *b, const struct tarn_jsonr_event *e)
{
    switch (e->token) {
    case TARN_J_OBJECT: return json_object();
    case TARN_J_ARRAY: return json_array();
    case TARN_J_STRING: return json_stringn_nocheck(e->text, e->len);
    case TARN_J_INTEGER: return json_integer(e->integer);
    case TARN_J_TRUE: return json_true();
    case TARN_J_FALSE: return json_false();
    case TARN_J_NULL: return json_null();
    case TARN_J_REAL:
        if (e->text[strcspn(e->text, ".eE")] == '\0')
            b->fault = "an integer beyond 64 bits";
        return json_real(e->real);
    default: return NULL;
    }
}

/* Hang `value` (stolen) under what is open. */
static tarn_code attach(struct builder *b, size_t depth, json_t *value, struct tarn_err *err)
{
    json_t *parent = depth ? b->open[depth - 1] : NULL;
    int rc = 0;

    if (!parent) {
        b->root = value;
    } else if (json_is_array(parent)) {
        rc = json_array_append_new(parent, value);
    } else {
        size_t before = json_object_size(parent);
        rc = json_object_set_new_nocheck(parent, b->key.data, value);
        if (rc == 0 && json_object_size(parent) == before)
            b->fault = "a member that is there twice";
    }
    return rc == 0 ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code take_event(struct builder *b, const struct tarn_jsonr_event *e, struct tarn_err *err)
{
    if (e->token == TARN_J_KEY) {
        tarn_buf_clear(&b->key);
        tarn_buf_add(&b->key, e->text, e->len);
        return tarn_buf_check(&b->key, err);
    }
    if (e->token == TARN_J_OBJECT_END || e->token == TARN_J_ARRAY_END || e->token == TARN_J_END)
        return TARN_OK;
    bool container = e->token == TARN_J_OBJECT || e->token == TARN_J_ARRAY;
    if (++b->values > b->limits->max_values)
        b->fault = "too many values";
    else if (container && e->depth >= b->limits->max_depth)
        b->fault = "nesting that is too deep";
    if (b->fault)
        return TARN_OK;
    json_t *value = value_of(b, e);
    if (!value)
        return tarn_fail_oom(err);
    if (container)
        b->open[e->depth] = value;
    return attach(b, e->depth, value, err);
}

static tarn_code fail_at(const char *text, size_t offset, const char *fault, struct tarn_err *err)
{
    size_t line = 1, start = 0;

    for (size_t i = 0; i < offset; i++)
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    return tarn_fail(err, TARN_INVALID, "no valid JSON: %s at line %zu, column %zu", fault, line, offset - start + 1);
}

static tarn_code build(struct builder *b, struct tarn_jsonr *r, const char *text, struct tarn_err *err)
{
    struct tarn_jsonr_event e = { 0 };
    size_t offset = 0;

    do {
        tarn_code code = tarn_jsonr_next(r, &e, err);
        const char *fault = tarn_jsonr_fault(r, &offset);
        if (code != TARN_OK)
            return fault ? fail_at(text, offset, fault, err) : code;
        code = take_event(b, &e, err);
        if (code != TARN_OK)
            return code;
        if (b->fault)
            return fail_at(text, tarn_jsonr_offset(r), b->fault, err);
    } while (e.token != TARN_J_END);
    return TARN_OK;
}

tarn_code tarn_json_parse(const char *text, size_t len, const struct tarn_json_limits *limits, json_t **out,
                          struct tarn_err *err)
{
    TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new_mem(text, len, len + 1);
    struct builder b = { .limits = limits ? limits : &tarn_json_limits_default };

    tarn_code code = r ? build(&b, r, text, err) : tarn_fail_oom(err);
    tarn_buf_done(&b.key);
    if (code != TARN_OK) {
        json_decref(b.root);
        return code;
    }
    *out = b.root;
    return TARN_OK;
}
