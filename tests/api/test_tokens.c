/* /api/tokens through the whole of api/, without sockets. */
#include "api/http.h"
#include "catalog/sqlite/sqlite.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tarn_lake lake;
static struct tarn_auth *auth;
static struct tarn_app app;
static char admin[64];

static void set_up(void)
{
    TARN_ERR(err);
    bool made;
    const char *folder = tarn_tmp();
    const struct tarn_sqlite_options options = { .path = tarn_path(folder, "tarn.sqlite"), .migrate = true };
    cr_assert(eq(int, (int)tarn_sqlite_open(&options, &lake.store, &err), (int)TARN_OK));
    cr_assert(eq(int, (int)tarn_auth_open(TARN_AUTH_TOKENS, lake.store, folder, &made, &auth, &err), (int)TARN_OK));
    char *text = tarn_read_file(tarn_path(folder, "admin.token"), NULL);
    snprintf(admin, sizeof admin, "%.48s", text);
    free(text);
    app = (struct tarn_app){ .lake = &lake, .auth = auth };
}
static void tear_down(void)
{
    tarn_auth_free(auth);
    tarn_store_free(lake.store);
    tarn_tmp_remove();
}

/* The status; *out (may be NULL) gets the body. */
static int ask(const char *token, const char *method, const char *target, const char *body, json_t **out)
{
    struct tarn_reply reply = { 0 };
    tarn_api_call(&app, method, target, token, body, &reply);
    int status = (int)reply.status;
    if (out)
        *out = reply.body.len ? json_loadb(reply.body.data, reply.body.len, 0, NULL) : NULL;
    tarn_reply_done(&reply);
    return status;
}

static const char *text(const json_t *json, const char *key)
{
    const char *value = json_string_value(json_object_get(json, key));
    return value ? value : "";
}

TestSuite(tokens, .init = set_up, .fini = tear_down);

Test(tokens, one_is_made_used_listed_without_its_secret_and_revoked)
{
    json_auto_t *made = NULL, *list = NULL;
    cr_assert(eq(int, ask(admin, "POST", "/api/tokens", "{\"name\":\"ci\",\"scope\":\"admin\",\"expires\":\"30d\"}", &made),
                 201));
    cr_expect(eq(sz, strlen(text(made, "token")), 48));
    cr_expect(ne(str, (char *)text(made, "expires_at"), ""));
    cr_assert(eq(int, ask(text(made, "token"), "GET", "/api/tokens", NULL, &list), 200));
    const json_t *tokens = json_object_get(list, "tokens");
    cr_assert(eq(sz, json_array_size(tokens), 2));
    cr_expect(eq(ptr, json_object_get(json_array_get(tokens, 1), "token"), NULL));
    cr_expect(eq(int, ask(admin, "DELETE", "/api/tokens/ci", NULL, NULL), 204));
    cr_expect(eq(int, ask(text(made, "token"), "GET", "/api/tokens", NULL, NULL), 401));
    cr_expect(eq(int, ask(admin, "POST", "/api/tokens", "{\"name\":\"ci\",\"scope\":\"admin\"}", NULL), 400));
}

Test(tokens, each_scope_includes_those_below_and_no_more)
{
    json_auto_t *made = NULL;
    cr_assert(eq(int, ask(admin, "POST", "/api/tokens", "{\"name\":\"w\",\"scope\":\"status:read,catalog:write\"}", &made),
                 201));
    cr_expect(eq(str, (char *)text(made, "scope"), "catalog:write"));
    json_auto_t *problem = NULL;
    cr_expect(eq(int, ask(text(made, "token"), "GET", "/api/tokens", NULL, &problem), 403));
    cr_expect(eq(str, (char *)text(problem, "code"), "forbidden"));
    cr_expect(eq(int, ask(NULL, "GET", "/api/tokens", NULL, NULL), 401));
    cr_expect(eq(int, ask(NULL, "GET", "/healthz", NULL, NULL), 200));
}

Test(tokens, a_bad_body_names_its_field)
{
    static const struct { const char *body, *field; } k_rows[] = {
        { "{}", "name" },
        { "{\"name\":\"\",\"scope\":\"admin\"}", "name" },
        { "{\"name\":\"a\\nb\",\"scope\":\"admin\"}", "name" },
        { "{\"name\":\"a\"}", "scope" },
        { "{\"name\":\"a\",\"scope\":\"root\"}", "scope" },
        { "{\"name\":\"a\",\"scope\":\",\"}", "scope" },
        { "{\"name\":\"a\",\"scope\":\"admin\",\"tables\":\"x\"}", "tables" },
        { "{\"name\":\"a\",\"scope\":\"admin\",\"roots\":\"/x\"}", "roots" },
        { "{\"name\":\"a\",\"scope\":\"admin\",\"expires\":\"soon\"}", "expires" },
        { "{\"name\":\"a\",\"scope\":\"admin\",\"expires\":\"0s\"}", "expires" },
        { "{\"name\":\"a\",\"scope\":\"admin\",\"secret\":\"x\"}", "secret" },
        { "{\"name\":7,\"scope\":\"admin\"}", "name" },
        { "{\"name\":\"admin\",\"scope\":\"admin\"}", "name" }, /* there is one */
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        json_auto_t *problem = NULL;
        cr_expect(eq(int, ask(admin, "POST", "/api/tokens", k_rows[i].body, &problem), 400), "%s", k_rows[i].body);
        cr_expect(eq(str, (char *)text(problem, "field"), (char *)k_rows[i].field), "%s", k_rows[i].body);
    }
}

Test(tokens, every_error_has_a_page)
{
    for (int i = TARN_OK + 1; i < TARN_RECHECK; i++) {
        char target[96];
        snprintf(target, sizeof target, "/problems/%s", tarn_code_slug((tarn_code)i));
        cr_expect(eq(int, ask(NULL, "GET", target, NULL, NULL), 200), "%s", target);
    }
    cr_expect(eq(int, ask(NULL, "GET", "/problems/recheck", NULL, NULL), 404));
}
