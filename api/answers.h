/* answers.h - rendered answers of the hottest reads, kept for as long as nothing that they were made of
 * changed (tarn_store_touched) and no clock turned them. Any thread. */
#ifndef TARN_API_ANSWERS_H
#define TARN_API_ANSWERS_H
#include "base/buf.h"
#include "catalog/store.h"

enum tarn_answer_kind { TARN_ANSWER_STATUS, TARN_ANSWER_TABLE, TARN_ANSWER_LOAD, TARN_ANSWER_LOAD_REFS };
#define TARN_ANSWER_TAG 1024 /* bytes of a tag with its NUL */

struct tarn_answers;
/* At most `bytes_max` are held, the oldest go first. `store` is borrowed. */
TARN_MUST tarn_code tarn_answers_new(struct tarn_store *store, size_t bytes_max, struct tarn_answers **out,
                                     struct tarn_err *err);
void tarn_answers_free(struct tarn_answers *answers);
TARN_DEFINE_AUTO(answers, struct tarn_answers)

/* Appends the kept answer of a table to `out` and copies its tag (NULL: not wanted): the entity tag, of a
 * load what it shows (api/iceberg/iceberg.h). false: there is none that holds, or `answers` is NULL. */
bool tarn_answers_find(struct tarn_answers *answers, enum tarn_answer_kind kind,
                       const struct tarn_ident *ident, int64_t now_ms, struct tarn_buf *out,
                       char tag[TARN_ANSWER_TAG]);
/* Keeps a copy. `clock` was taken before the read; the answer holds until
 * `until_ms` (INT64_MAX: no clock turns it). `tag` may be NULL. Quietly does
 * nothing without memory, for long answers and tags, and when `answers` is NULL. */
void tarn_answers_keep(struct tarn_answers *answers, enum tarn_answer_kind kind,
                       const struct tarn_ident *ident, int64_t table_id, uint64_t clock, int64_t until_ms,
                       const struct tarn_buf *body, const char *tag);
#endif
