/* auth.c - the live tokens in memory, sorted by hash, replaced as a whole when one
 * changes: a request takes a read lock and one binary search. */
#include "auth/auth.h"
#include "auth/admin_token.h"
#include "base/hash.h"
#include "base/time.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tarn_auth {
    enum tarn_auth_mode mode;
    struct tarn_store *store; /* borrowed */
    pthread_rwlock_t lock;
    struct tarn_tokens tokens; /* not revoked, sorted by hash; guarded by lock */
};

static int by_hash(const void *a, const void *b)
{
    return strcmp(((const struct tarn_token *)a)->hash, ((const struct tarn_token *)b)->hash);
}

static tarn_code list_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_tokens *tokens = ctx;
    tarn_tokens_done(tokens);
    *tokens = (struct tarn_tokens){ 0 };
    return tx->ops->tokens.list(tx, tokens, err);
}

static void drop_revoked(struct tarn_tokens *tokens)
{
    size_t kept = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        if (tokens->items[i].revoked_at >= 0)
            tarn_token_done(&tokens->items[i]);
        else
            tokens->items[kept++] = tokens->items[i];
    }
    tokens->count = kept;
    if (kept > 1)
        qsort(tokens->items, kept, sizeof *tokens->items, by_hash);
}

tarn_code tarn_auth_reload(struct tarn_auth *auth, struct tarn_err *err)
{
    TARN_AUTO_DONE(tokens) struct tarn_tokens fresh = { 0 };
    tarn_code code = tarn_store_read(auth->store, list_tx, &fresh, err);
    if (code != TARN_OK)
        return code;
    drop_revoked(&fresh);
    pthread_rwlock_wrlock(&auth->lock);
    struct tarn_tokens old = auth->tokens;
    auth->tokens = fresh;
    pthread_rwlock_unlock(&auth->lock);
    fresh = old;
    return TARN_OK;
}

void tarn_auth_free(struct tarn_auth *auth)
{
    if (!auth)
        return;
    pthread_rwlock_destroy(&auth->lock);
    tarn_tokens_done(&auth->tokens);
    free(auth);
}

tarn_code tarn_auth_open(enum tarn_auth_mode mode, struct tarn_store *store, const char *data_dir, bool *made,
                         struct tarn_auth **out, struct tarn_err *err)
{
    TARN_AUTO(auth) struct tarn_auth *auth = calloc(1, sizeof *auth);
    if (!auth)
        return tarn_fail_oom(err);
    auth->mode = mode;
    auth->store = store;
    pthread_rwlock_init(&auth->lock, NULL);
    bool wrote = false;
    tarn_code code = TARN_OK;
    if (mode == TARN_AUTH_TOKENS)
        code = tarn_admin_token_ensure(store, data_dir, tarn_now_ms(), &wrote, err);
    if (code == TARN_OK && mode == TARN_AUTH_TOKENS)
        code = tarn_auth_reload(auth, err);
    if (code != TARN_OK)
        return code;
    *made = wrote;
    *out = tarn_take(&auth);
    return TARN_OK;
}

enum tarn_auth_mode tarn_auth_mode(const struct tarn_auth *auth) { return auth->mode; }

/* The secret of "Bearer <secret>" and its length, blanks around it apart; NULL for anything else. */
static const char *bearer(const char *authorization, size_t *len)
{
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
        return NULL;
    const char *secret = authorization + 7;
    secret += strspn(secret, " \t");
    *len = strlen(secret);
    while (*len > 0 && strchr(" \t", secret[*len - 1]))
        (*len)--;
    return *len > 0 ? secret : NULL;
}

static void principal_of(const struct tarn_token *token, struct tarn_principal *out)
{
    snprintf(out->name, sizeof out->name, "%s", token->name);
    snprintf(out->tables, sizeof out->tables, "%s", token->tables ? token->tables : "");
    snprintf(out->roots, sizeof out->roots, "%s", token->roots ? token->roots : "");
    out->scope = token->scope;
}

/* Hashes of 256-bit secrets tell nothing about the secrets, so the search may take what time it
 * takes; the last comparison is constant all the same. */
static bool find_token(struct tarn_auth *auth, const char *secret, size_t len, int64_t now_ms,
                       struct tarn_principal *out, int64_t *expires_at)
{
    struct tarn_token key = { 0 };
    tarn_sha256_hex(secret, len, key.hash);
    pthread_rwlock_rdlock(&auth->lock);
    const struct tarn_token *token =
        auth->tokens.count == 0 ? NULL
                                : bsearch(&key, auth->tokens.items, auth->tokens.count, sizeof key, by_hash);
    bool valid = token && tarn_equal_ct(token->hash, key.hash) &&
                 (token->expires_at < 0 || token->expires_at > now_ms);
    if (valid) {
        principal_of(token, out);
        *expires_at = token->expires_at;
    }
    pthread_rwlock_unlock(&auth->lock);
    return valid;
}

tarn_code tarn_auth_check_secret(struct tarn_auth *auth, const char *secret, int64_t now_ms,
                                 struct tarn_principal *out, int64_t *expires_at, struct tarn_err *err)
{
    *expires_at = -1;
    if (auth->mode == TARN_AUTH_NONE) {
        *out = (struct tarn_principal){ .name = "anybody", .scope = TARN_SCOPE_ADMIN };
        return TARN_OK;
    }
    if (!find_token(auth, secret, strlen(secret), now_ms, out, expires_at))
        return tarn_fail(err, TARN_UNAUTHORIZED, "the token is not known, revoked or expired");
    return TARN_OK;
}

tarn_code tarn_auth_check(struct tarn_auth *auth, const char *authorization, int64_t now_ms,
                          struct tarn_principal *out, struct tarn_err *err)
{
    if (auth->mode == TARN_AUTH_NONE) {
        *out = (struct tarn_principal){ .name = "anybody", .scope = TARN_SCOPE_ADMIN };
        return TARN_OK;
    }
    size_t len = 0;
    int64_t ends;
    const char *secret = bearer(authorization, &len);
    if (!secret)
        return tarn_fail(err, TARN_UNAUTHORIZED, "send a token as 'Authorization: Bearer <token>'");
    if (!find_token(auth, secret, len, now_ms, out, &ends))
        return tarn_fail(err, TARN_UNAUTHORIZED, "the token is not known, revoked or expired");
    return TARN_OK;
}
