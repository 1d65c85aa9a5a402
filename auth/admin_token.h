/* admin_token.h - the first key of the house: <data>/admin.token. */
#ifndef TARN_AUTH_ADMIN_TOKEN_H
#define TARN_AUTH_ADMIN_TOKEN_H
#include "catalog/store.h"

#define TARN_ADMIN_TOKEN_FILE "admin.token"

/* When no admin token is live: takes the file's secret when the file exists and its secret was never
 * revoked, else writes a fresh one (mode 0600, fsynced) and stores its hash after that. */
TARN_MUST tarn_code tarn_admin_token_ensure(struct tarn_store *store, const char *data_dir, int64_t now_ms,
                                            bool *wrote, struct tarn_err *err);
#endif
