/* jsonr.c - the grammar of the pull reader: which token may follow which. Open containers are bits of a few
 * words, so that a hostile document costs no memory but its largest string. */
#include "base/jsonr_lex.h"
#include "base/jsonw.h"

#define MAX_STRING_DEFAULT (1u << 20)

enum state {
    S_START,       /* nothing read */
    S_FIRST_VALUE, /* a value or ']' */
    S_FIRST_KEY,   /* a key or '}' */
    S_AFTER_KEY,   /* ':' and a value */
    S_AFTER_VALUE  /* ',' or the container's end; at depth 0 the document's end */
};

struct tarn_jsonr {
    struct tarn_lex lex;
    enum state state;
    size_t depth;
    uint64_t objects[TARN_JSONR_DEPTH / 64]; /* bit i: the container at depth i is an object */
};

static struct tarn_jsonr *reader_new(size_t max_string)
{
    struct tarn_jsonr *r = calloc(1, sizeof *r);

    if (r)
        r->lex.max_string = max_string ? max_string : MAX_STRING_DEFAULT;
    return r;
}

struct tarn_jsonr *tarn_jsonr_new(tarn_source_fn *fn, void *source, size_t max_string)
{
    struct tarn_jsonr *r = reader_new(max_string);

    if (r) {
        r->lex.fn = fn;
        r->lex.source = source;
    }
    return r;
}

struct tarn_jsonr *tarn_jsonr_new_mem(const char *data, size_t len, size_t max_string)
{
    struct tarn_jsonr *r = reader_new(max_string);

    if (r) {
        r->lex.data = data;
        r->lex.end = len;
    }
    return r;
}

void tarn_jsonr_free(struct tarn_jsonr *r)
{
    if (!r)
        return;
    tarn_buf_done(&r->lex.text);
    free(r->lex.chunk);
    free(r);
}

const char *tarn_jsonr_fault(const struct tarn_jsonr *r, size_t *offset)
{
    *offset = r->lex.fault_at;
    return r->lex.fault;
}

size_t tarn_jsonr_offset(const struct tarn_jsonr *r) { return r->lex.base + r->lex.pos; }

static bool in_object(const struct tarn_jsonr *r)
{
    size_t at = r->depth - 1;

    return r->depth > 0 && (r->objects[at / 64] >> at % 64 & 1);
}

static tarn_code open_container(struct tarn_jsonr *r, bool object, struct tarn_jsonr_event *event,
                                struct tarn_err *err)
{
    if (r->depth == TARN_JSONR_DEPTH)
        return tarn_lex_fail(&r->lex, "nesting that is too deep", err);
    uint64_t bit = UINT64_C(1) << r->depth % 64, *word = &r->objects[r->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    r->depth++;
    r->lex.pos++;
    r->state = object ? S_FIRST_KEY : S_FIRST_VALUE;
    event->token = object ? TARN_J_OBJECT : TARN_J_ARRAY;
    return TARN_OK;
}

static tarn_code close_container(struct tarn_jsonr *r, struct tarn_jsonr_event *event)
{
    event->token = in_object(r) ? TARN_J_OBJECT_END : TARN_J_ARRAY_END;
    event->depth = --r->depth;
    r->lex.pos++;
    r->state = S_AFTER_VALUE;
    return TARN_OK;
}

static tarn_code read_string(struct tarn_jsonr *r, enum tarn_jsonr_token token,
                             struct tarn_jsonr_event *event, struct tarn_err *err)
{
    r->lex.pos++;
    event->token = token;
    return tarn_lex_string(&r->lex, err);
}

static tarn_code read_value(struct tarn_jsonr *r, int c, struct tarn_jsonr_event *event, struct tarn_err *err)
{
    static const struct { char first; const char *word; enum tarn_jsonr_token token; } k_words[] = {
        { 't', "true", TARN_J_TRUE }, { 'f', "false", TARN_J_FALSE }, { 'n', "null", TARN_J_NULL }
    };

    if (c == '{' || c == '[')
        return open_container(r, c == '{', event, err);
    r->state = S_AFTER_VALUE;
    if (c == '"')
        return read_string(r, TARN_J_STRING, event, err);
    if (c == '-' || (c >= '0' && c <= '9'))
        return tarn_lex_number(&r->lex, event, err);
    for (size_t i = 0; i < TARN_COUNT(k_words); i++)
        if (c == k_words[i].first) {
            event->token = k_words[i].token;
            return tarn_lex_word(&r->lex, k_words[i].word, err);
        }
    return tarn_lex_fail(&r->lex, c == TARN_LEX_END ? "an unexpected end" : "a byte that starts no value",
                         err);
}

static tarn_code read_key(struct tarn_jsonr *r, int c, struct tarn_jsonr_event *event, struct tarn_err *err)
{
    if (c != '"')
        return tarn_lex_fail(&r->lex, c == TARN_LEX_END ? "an unexpected end" : "no member name where one must be", err);
    r->state = S_AFTER_KEY;
    return read_string(r, TARN_J_KEY, event, err);
}

static tarn_code after_value(struct tarn_jsonr *r, int c, struct tarn_jsonr_event *event,
                             struct tarn_err *err)
{
    if (r->depth == 0) {
        event->token = TARN_J_END;
        return c == TARN_LEX_END ? TARN_OK : tarn_lex_fail(&r->lex, "something behind the document", err);
    }
    if (c == (in_object(r) ? '}' : ']'))
        return close_container(r, event);
    if (c != ',')
        return tarn_lex_fail(&r->lex, c == TARN_LEX_END ? "an unexpected end" : "no comma where one must be",
                             err);
    r->lex.pos++;
    tarn_code code = tarn_lex_peek_token(&r->lex, &c, err);
    if (code != TARN_OK)
        return code;
    return in_object(r) ? read_key(r, c, event, err) : read_value(r, c, event, err);
}

static tarn_code after_key(struct tarn_jsonr *r, int c, struct tarn_jsonr_event *event, struct tarn_err *err)
{
    if (c != ':')
        return tarn_lex_fail(&r->lex, c == TARN_LEX_END ? "an unexpected end" : "no colon where one must be",
                             err);
    r->lex.pos++;
    tarn_code code = tarn_lex_peek_token(&r->lex, &c, err);
    return code == TARN_OK ? read_value(r, c, event, err) : code;
}

static tarn_code step(struct tarn_jsonr *r, struct tarn_jsonr_event *event, struct tarn_err *err)
{
    int c;

    tarn_code code = r->state == S_START ? tarn_lex_skip_bom(&r->lex, err) : TARN_OK;
    if (code == TARN_OK)
        code = tarn_lex_peek_token(&r->lex, &c, err);
    if (code != TARN_OK)
        return code;
    switch (r->state) {
    case S_FIRST_VALUE: return c == ']' ? close_container(r, event) : read_value(r, c, event, err);
    case S_FIRST_KEY: return c == '}' ? close_container(r, event) : read_key(r, c, event, err);
    case S_AFTER_KEY: return after_key(r, c, event, err);
    case S_AFTER_VALUE: return after_value(r, c, event, err);
    case S_START: break;
    }
    return read_value(r, c, event, err);
}

tarn_code tarn_jsonr_next(struct tarn_jsonr *r, struct tarn_jsonr_event *event, struct tarn_err *err)
{
    if (r->lex.broken != TARN_OK)
        return tarn_fail(err, r->lex.broken, "the document could not be read before");
    *event = (struct tarn_jsonr_event){ .depth = r->depth };
    tarn_code code = step(r, event, err);
    if (code != TARN_OK)
        return code;
    bool has_text = event->token >= TARN_J_KEY && event->token <= TARN_J_REAL;
    event->text = has_text && r->lex.text.data ? r->lex.text.data : "";
    event->len = has_text ? r->lex.text.len : 0;
    return TARN_OK;
}

static void write_event(struct tarn_jsonw *w, const struct tarn_jsonr_event *e)
{
    switch (e->token) {
    case TARN_J_OBJECT: tarn_jsonw_object(w); break;
    case TARN_J_OBJECT_END: tarn_jsonw_object_end(w); break;
    case TARN_J_ARRAY: tarn_jsonw_array(w); break;
    case TARN_J_ARRAY_END: tarn_jsonw_array_end(w); break;
    case TARN_J_KEY: tarn_jsonw_key(w, e->text); break;
    case TARN_J_STRING: tarn_jsonw_strn(w, e->text, e->len); break;
    case TARN_J_INTEGER:
    case TARN_J_REAL: tarn_jsonw_raw(w, e->text); break;
    case TARN_J_TRUE: tarn_jsonw_bool(w, true); break;
    case TARN_J_FALSE: tarn_jsonw_bool(w, false); break;
    case TARN_J_NULL: tarn_jsonw_null(w); break;
    case TARN_J_END: break;
    }
}

/* The value that begins with *first; its text goes to `w` unless that is NULL. */
static tarn_code walk(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, struct tarn_jsonw *w,
                      struct tarn_err *err)
{
    struct tarn_jsonr_event e = *first;

    if (e.token == TARN_J_OBJECT_END || e.token == TARN_J_ARRAY_END || e.token == TARN_J_KEY ||
        e.token == TARN_J_END)
        return tarn_fail(err, TARN_INVALID, "no value where one was expected");
    bool container = e.token == TARN_J_OBJECT || e.token == TARN_J_ARRAY;
    for (;;) {
        if (w)
            write_event(w, &e);
        if (w && w->out->failed)
            return tarn_buf_check(w->out, err);
        if (!container ||
            (e.depth == first->depth && (e.token == TARN_J_OBJECT_END || e.token == TARN_J_ARRAY_END)))
            return TARN_OK;
        tarn_code code = tarn_jsonr_next(r, &e, err);
        if (code != TARN_OK)
            return code;
    }
}

tarn_code tarn_jsonr_skip_from(struct tarn_jsonr *r, const struct tarn_jsonr_event *first,
                               struct tarn_err *err)
{
    return walk(r, first, NULL, err);
}

tarn_code tarn_jsonr_raw_from(struct tarn_jsonr *r, const struct tarn_jsonr_event *first,
                              struct tarn_buf *out, struct tarn_err *err)
{
    struct tarn_jsonw w = tarn_jsonw_to(out);
    struct tarn_jsonr_event copy = *first; /* *first may be the event that the caller reads into */

    return walk(r, &copy, &w, err);
}

tarn_code tarn_jsonr_skip(struct tarn_jsonr *r, struct tarn_err *err)
{
    struct tarn_jsonr_event first;

    tarn_code code = tarn_jsonr_next(r, &first, err);
    return code == TARN_OK ? walk(r, &first, NULL, err) : code;
}

tarn_code tarn_jsonr_raw(struct tarn_jsonr *r, struct tarn_buf *out, struct tarn_err *err)
{
    struct tarn_jsonr_event first;

    tarn_code code = tarn_jsonr_next(r, &first, err);
    return code == TARN_OK ? tarn_jsonr_raw_from(r, &first, out, err) : code;
}
