/* lake.h - a whole lake in a temporary folder: database, storage with one root, no server. One a test process. */
#ifndef TARN_TESTS_LAKE_H
#define TARN_TESTS_LAKE_H
#include "api/http.h"
#include "lake/lake.h"

struct tarn_test_lake {
    struct tarn_lake lake;
    struct tarn_store *store;
    struct tarn_storage *storage;
    struct tarn_auth *auth;
    struct tarn_app app;      /* mode none: everybody is admin */
    char folder[400], root[512], database[512];
    char admin[80];           /* the admin token when opened with tokens, else "" */
};
extern struct tarn_test_lake *g_lake;
/* For .init and .fini of a suite. */
void tarn_lake_setup(void);
void tarn_lake_setup_tokens(void); /* with tokens, for scopes and narrowed ones */
void tarn_lake_setup_faulty(void); /* its database on a disk that faultvfs.h breaks */
void tarn_lake_teardown(void);
/* Close and open again: a restart. */
void tarn_lake_restart(void);

/* Ask the API; `body` may be NULL. The answer's status, and its JSON (owned by the helper until the next ask; NULL: none). */
unsigned tarn_ask(const char *method, const char *target, const char *body, ...) TARN_PRINTF(3, 4);
const json_t *tarn_answer(void);
const char *tarn_answer_text(void);      /* the raw body */
const char *tarn_answer_str(const char *key);
int64_t tarn_answer_i64(const char *key); /* INT64_MIN when it is no integer */
const char *tarn_answer_header(const char *name);
/* Headers of the next ask alone; the token of all until it is set again. */
void tarn_ask_header(const char *name, const char *value);
void tarn_ask_token(const char *token);
#endif
