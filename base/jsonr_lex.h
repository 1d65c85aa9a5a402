/* jsonr_lex.h - bytes, strings and numbers below the pull reader; private to jsonr. */
#ifndef TARN_BASE_JSONR_LEX_H
#define TARN_BASE_JSONR_LEX_H
#include "base/jsonr.h"

#define TARN_LEX_END (-1)

struct tarn_lex {
    tarn_source_fn *fn; /* NULL: all bytes are in `data` */
    void *source;
    char *chunk;      /* owned: what fn fills; NULL for memory */
    const char *data; /* bytes at hand */
    size_t pos, end;  /* in data */
    size_t base;      /* offset of data[0] in the document */
    bool ended;
    struct tarn_buf text; /* the string or number read last */
    size_t max_string;
    const char *fault; /* static text, NULL: none */
    size_t fault_at;
    tarn_code broken; /* what every further call answers */
};

/* Note a fault of the document at the byte under the eye. */
tarn_code tarn_lex_fail(struct tarn_lex *lex, const char *fault, struct tarn_err *err);
/* The same as the two below, where more bytes or blanks are in the way. */
tarn_code tarn_lex_peek_far(struct tarn_lex *lex, int *c, struct tarn_err *err);
tarn_code tarn_lex_peek_token_far(struct tarn_lex *lex, int *c, struct tarn_err *err);
/* The byte under the eye, or TARN_LEX_END. */
static inline tarn_code tarn_lex_peek(struct tarn_lex *lex, int *c, struct tarn_err *err)
{
    if (lex->pos == lex->end)
        return tarn_lex_peek_far(lex, c, err);
    *c = (unsigned char)lex->data[lex->pos];
    return TARN_OK;
}
/* The same after blanks. */
static inline tarn_code tarn_lex_peek_token(struct tarn_lex *lex, int *c, struct tarn_err *err)
{
    if (lex->pos == lex->end || (unsigned char)lex->data[lex->pos] <= ' ')
        return tarn_lex_peek_token_far(lex, c, err);
    *c = (unsigned char)lex->data[lex->pos];
    return TARN_OK;
}
tarn_code tarn_lex_skip_bom(struct tarn_lex *lex, struct tarn_err *err);
/* `word` must stand here. */
tarn_code tarn_lex_word(struct tarn_lex *lex, const char *word, struct tarn_err *err);
/* After the opening quote up to and with the closing one, into lex->text. */
tarn_code tarn_lex_string(struct tarn_lex *lex, struct tarn_err *err);
/* A number into lex->text and *event. */
tarn_code tarn_lex_number(struct tarn_lex *lex, struct tarn_jsonr_event *event, struct tarn_err *err);
#endif
