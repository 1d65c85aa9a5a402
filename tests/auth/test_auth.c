/* Tokens: made once, checked from memory, gone when revoked; and the first key of the house. */
#include "auth/auth.h"
#include "base/hash.h"
#include "catalog/sqlite/sqlite.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NOW_MS INT64_C(1706797935000)

static const char *folder;
static struct tarn_store *store;

static void set_up(void)
{
    TARN_ERR(err);
    folder = tarn_tmp();
    const struct tarn_sqlite_options options = { .path = tarn_path(folder, "tarn.sqlite"), .migrate = true };
    cr_assert(eq(int, (int)tarn_sqlite_open(&options, &store, &err), (int)TARN_OK));
}
static void tear_down(void)
{
    tarn_store_free(store);
    tarn_tmp_remove();
}

static struct tarn_auth *open_auth(bool *made)
{
    TARN_ERR(err);
    struct tarn_auth *auth = NULL;
    *made = false;
    cr_assert(eq(int, (int)tarn_auth_open(TARN_AUTH_TOKENS, store, folder, made, &auth, &err), (int)TARN_OK), "%s",
              err.detail);
    return auth;
}

static tarn_code insert_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tokens.insert(tx, ctx, err);
}
static tarn_code revoke_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tokens.revoke(tx, ctx, NOW_MS, err);
}

static void insert(const char *name, const char *secret, enum tarn_scope scope, int64_t expires_at)
{
    TARN_ERR(err);
    char text[64], tables[] = "sales.*";
    snprintf(text, sizeof text, "%s", name);
    struct tarn_token token = { .name = text, .scope = scope, .tables = tables, .created_at = NOW_MS,
                                .expires_at = expires_at, .revoked_at = -1 };
    tarn_sha256_hex(secret, strlen(secret), token.hash);
    cr_assert(eq(int, (int)tarn_store_write(store, insert_tx, &token, &err), (int)TARN_OK), "%s", err.detail);
}

static char *file_secret(void)
{
    char *text = tarn_read_file(tarn_path(folder, "admin.token"), NULL);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static tarn_code check(struct tarn_auth *auth, const char *secret, struct tarn_principal *who)
{
    TARN_ERR(err);
    char header[256];
    snprintf(header, sizeof header, "Bearer %s", secret);
    return tarn_auth_check(auth, header, NOW_MS, who, &err);
}

TestSuite(auth, .init = set_up, .fini = tear_down);

Test(auth, the_first_start_makes_an_admin_token_that_only_its_owner_reads)
{
    bool made;
    struct stat stat_;
    struct tarn_principal who;
    struct tarn_auth *auth = open_auth(&made);
    cr_expect(made);
    cr_assert(eq(int, stat(tarn_path(folder, "admin.token"), &stat_), 0));
    cr_expect(eq(int, (int)(stat_.st_mode & 0777), 0600));
    char *secret = file_secret();
    cr_expect(eq(sz, strlen(secret), 48));
    cr_expect(eq(int, (int)check(auth, secret, &who), (int)TARN_OK));
    cr_expect(eq(int, (int)who.scope, (int)TARN_SCOPE_ADMIN));
    tarn_auth_free(auth);

    auth = open_auth(&made);
    cr_expect(not(made));
    cr_expect(eq(int, (int)check(auth, secret, &who), (int)TARN_OK));
    tarn_auth_free(auth);
    free(secret);
}

Test(auth, a_start_with_the_file_alone_adopts_it)
{
    bool made;
    struct tarn_principal who;
    tarn_write_text(tarn_path(folder, "admin.token"), "  a-secret-that-somebody-chose-0123456789\r\n");
    struct tarn_auth *auth = open_auth(&made);
    cr_expect(not(made));
    cr_expect(eq(int, (int)check(auth, "a-secret-that-somebody-chose-0123456789", &who), (int)TARN_OK));
    tarn_auth_free(auth);
}

Test(auth, a_short_secret_in_the_file_is_refused)
{
    TARN_ERR(err);
    bool made;
    struct tarn_auth *auth = NULL;
    tarn_write_text(tarn_path(folder, "admin.token"), "hello\n");
    cr_expect(eq(int, (int)tarn_auth_open(TARN_AUTH_TOKENS, store, folder, &made, &auth, &err), (int)TARN_INVALID));
}

Test(auth, a_revoked_admin_is_replaced_and_never_comes_back)
{
    TARN_ERR(err);
    bool made;
    struct tarn_principal who;
    char name[] = "admin";
    struct tarn_auth *auth = open_auth(&made);
    char *old = file_secret();
    cr_assert(eq(int, (int)tarn_store_write(store, revoke_tx, name, &err), (int)TARN_OK));
    cr_assert(eq(int, (int)tarn_auth_reload(auth, &err), (int)TARN_OK));
    cr_expect(eq(int, (int)check(auth, old, &who), (int)TARN_UNAUTHORIZED));
    tarn_auth_free(auth);

    auth = open_auth(&made);
    char *fresh = file_secret();
    cr_expect(made);
    cr_expect(ne(str, old, fresh));
    cr_expect(eq(int, (int)check(auth, old, &who), (int)TARN_UNAUTHORIZED));
    cr_expect(eq(int, (int)check(auth, fresh, &who), (int)TARN_OK));
    cr_expect(eq(str, who.name, "admin-2"));
    tarn_auth_free(auth);
    free(old);
    free(fresh);
}

Test(auth, the_header_must_be_a_bearer_of_a_known_and_live_token)
{
    TARN_ERR(err);
    bool made;
    struct tarn_principal who;
    struct tarn_auth *auth = open_auth(&made);
    insert("reader", "tarn_reader", TARN_SCOPE_READ, -1);
    insert("gone", "tarn_gone", TARN_SCOPE_READ, NOW_MS);
    insert("soon", "tarn_soon", TARN_SCOPE_READ, NOW_MS + 1);
    cr_assert(eq(int, (int)tarn_auth_reload(auth, &err), (int)TARN_OK));
    static const struct { const char *header; tarn_code code; } k_rows[] = {
        { "Bearer tarn_reader", TARN_OK },          { "bearer   tarn_reader", TARN_OK },
        { "Bearer tarn_soon", TARN_OK },            { "Bearer tarn_gone", TARN_UNAUTHORIZED },
        { "Bearer tarn_reader \t ", TARN_OK },    { "Bearer TARN_READER", TARN_UNAUTHORIZED },
        { "Basic tarn_reader", TARN_UNAUTHORIZED }, { "Bearer", TARN_UNAUTHORIZED },
        { "Bearer ", TARN_UNAUTHORIZED },           { "", TARN_UNAUTHORIZED },
        { NULL, TARN_UNAUTHORIZED },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_ERR(why);
        cr_expect(eq(int, (int)tarn_auth_check(auth, k_rows[i].header, NOW_MS, &who, &why), (int)k_rows[i].code), "%s",
                  k_rows[i].header);
    }
    tarn_auth_free(auth);
}

Test(auth, a_narrowed_principal_sees_its_tables_alone)
{
    static const struct { const char *glob, *namespace_, *name; bool sees; } k_rows[] = {
        { "", "default", "a", true },          { "sales.*", "sales", "orders", true },
        { "sales.*", "sales.eu", "orders", true }, { "sales.*", "default", "sales", false },
        { "sales.*", "hr", "pay", false },     { "clicks", "default", "clicks", true },
        { "clicks", "web", "clicks", false },  { "*", "hr", "pay", true },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_principal who = { .scope = TARN_SCOPE_READ };
        snprintf(who.tables, sizeof who.tables, "%s", k_rows[i].glob);
        cr_expect(eq(int, tarn_principal_sees(&who, k_rows[i].namespace_, k_rows[i].name), k_rows[i].sees), "%s %s.%s",
                  k_rows[i].glob, k_rows[i].namespace_, k_rows[i].name);
    }
}

Test(auth, a_narrowed_principal_registers_at_and_below_its_roots_alone)
{
    static const struct { const char *glob, *location; bool may; } k_rows[] = {
        { "", "/lake/a", true },              { "/lake/a", "/lake/a", true },
        { "/lake/a", "/lake/a/b/c", true },   { "/lake/a/", "/lake/a/b", true },
        { "/lake/a", "/lake/ab", false },     { "/lake/a", "/lake", false },
        { "/lake/a/b", "/lake/a", false },    { "/lake/sales*", "/lake/sales_eu/x", true },
        { "/lake/sales*", "/lake/hr", false }, { "/lake/*/raw", "/lake/eu/raw/t", true },
        { "/lake/*/raw", "/lake/eu/ra", false }, { "/", "/anywhere", true },
        { "s3://b/a", "s3://b/a/t", true },   { "s3://b/a", "s3://b/c", false },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_principal who = { .scope = TARN_SCOPE_WRITE };
        snprintf(who.roots, sizeof who.roots, "%s", k_rows[i].glob);
        cr_expect(eq(int, tarn_principal_may_use(&who, k_rows[i].location), k_rows[i].may), "%s %s", k_rows[i].glob,
                  k_rows[i].location);
    }
}

Test(auth, secrets_are_48_characters_and_never_the_same)
{
    TARN_ERR(err);
    char one[64], two[64], hash[65], again[65];
    cr_assert(eq(int, (int)tarn_token_secret(one, hash, &err), (int)TARN_OK));
    cr_assert(eq(int, (int)tarn_token_secret(two, again, &err), (int)TARN_OK));
    cr_expect(eq(sz, strlen(one), 48));
    cr_expect(eq(int, strncmp(one, "tarn_", 5), 0));
    cr_expect(ne(str, one, two));
    tarn_sha256_hex(one, strlen(one), again);
    cr_expect(eq(str, hash, again));
}
