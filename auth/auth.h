/* auth.h - who asks, and what they may. Tokens are random 256-bit secrets, stored as SHA-256; the few there
 * are live in memory and are read again when one changes. */
#ifndef TARN_AUTH_AUTH_H
#define TARN_AUTH_AUTH_H
#include "base/err.h"
#include "catalog/store.h"
#include "catalog/types.h"

enum tarn_auth_mode { TARN_AUTH_TOKENS, TARN_AUTH_NONE };

struct tarn_principal {
    char name[128];
    enum tarn_scope scope;
    char tables[256]; /* glob on dotted names, "": all */
    char roots[256];  /* glob on locations, "": all */
};
bool tarn_principal_sees(const struct tarn_principal *who, const char *namespace_, const char *name);
/* Does the token reach every table of the namespace? Only then it sees the namespace itself. */
bool tarn_principal_sees_namespace(const struct tarn_principal *who, const char *namespace_);
bool tarn_principal_may_use(const struct tarn_principal *who, const char *location);

struct tarn_auth;
/* Reads the tokens. In mode tokens without any admin: adopts `<data>/admin.token` when it exists, else makes
 * it (mode 0600, fsynced before its hash is stored); *made tells. */
TARN_MUST tarn_code tarn_auth_open(enum tarn_auth_mode mode, struct tarn_store *store, const char *data_dir,
                                   bool *made, struct tarn_auth **out, struct tarn_err *err);
void tarn_auth_free(struct tarn_auth *auth);
TARN_DEFINE_AUTO(auth, struct tarn_auth)
enum tarn_auth_mode tarn_auth_mode(const struct tarn_auth *auth);
/* `authorization`: the header's value or NULL. TARN_UNAUTHORIZED.
 * In mode none everybody is admin. Any thread. */
TARN_MUST tarn_code tarn_auth_check(struct tarn_auth *auth, const char *authorization, int64_t now_ms,
                                    struct tarn_principal *out, struct tarn_err *err);
/* The same for a bare secret, with the instant its token ends (-1: never). */
TARN_MUST tarn_code tarn_auth_check_secret(struct tarn_auth *auth, const char *secret, int64_t now_ms,
                                           struct tarn_principal *out, int64_t *expires_at,
                                           struct tarn_err *err);
/* Read the tokens again (one was made or revoked). Any thread. */
TARN_MUST tarn_code tarn_auth_reload(struct tarn_auth *auth, struct tarn_err *err);
/* A fresh secret ("tarn_" and 43 characters of base64url); store its hash with tx->ops->tokens.insert. */
TARN_MUST tarn_code tarn_token_secret(char out[64], char hash[65], struct tarn_err *err);
#endif
