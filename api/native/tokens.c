/* tokens.c - /api/tokens: who may ask. A secret is shown once, in the answer that made it. */
#include "api/native/native.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include <stdio.h>
#include <string.h>

static json_t *token_json(const struct tarn_token *token)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "name", token->name, "scope",
                     tarn_scope_text(token->scope), "tables", tarn_json_str_or_null(token->tables), "roots",
                     tarn_json_str_or_null(token->roots), "created_at", tarn_json_time(token->created_at),
                     "expires_at", tarn_json_time(token->expires_at), "revoked_at",
                     tarn_json_time(token->revoked_at));
}

static tarn_code list_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_tokens *tokens = ctx;
    tarn_tokens_done(tokens);
    *tokens = (struct tarn_tokens){ 0 };
    return tx->ops->tokens.list(tx, tokens, err);
}

tarn_code tarn_native_tokens_list(const struct tarn_request *req, struct tarn_reply *reply,
                                  struct tarn_err *err)
{
    TARN_AUTO_DONE(tokens) struct tarn_tokens tokens = { 0 };
    tarn_code code = tarn_store_read(req->app->lake->store, list_tx, &tokens, err);
    if (code != TARN_OK)
        return code;
    json_t *list = json_array();
    for (size_t i = 0; i < tokens.count; i++)
        json_array_append_new(list, token_json(&tokens.items[i]));
    return tarn_reply_json(reply, 200, json_pack("{s:o, s:n}", "tokens", list, "next_page_token"), err);
}

/* --- make one --- */

struct token_create {
    struct tarn_auth *auth;  /* borrowed */
    struct tarn_token token; /* text members borrowed from the request */
    char name[128], secret[64];
};

/* "status:read" or several with commas: each includes those below, so the highest counts. */
static tarn_code read_scope(const char *text, enum tarn_scope *out, struct tarn_err *err)
{
    enum tarn_scope highest = TARN_SCOPE_NONE;
    while (*text) {
        char word[32];
        size_t len = strcspn(text, ",");
        enum tarn_scope scope;
        snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), text);
        if (!tarn_scope_parse(word, &scope))
            return tarn_fail_field(err, "scope",
                                   "'%s' is no scope: status:read, catalog:read, catalog:write, admin", word);
        highest = scope > highest ? scope : highest;
        text += len + (text[len] == ',');
    }
    *out = highest;
    return highest == TARN_SCOPE_NONE ? tarn_fail_field(err, "scope", "names no scope") : TARN_OK;
}

/* A narrowed principal hands on its own pattern or an exact name that it covers. */
static bool within(const char *own, const char *asked)
{
    if (!own[0])
        return true;
    if (!asked)
        return false;
    return strcmp(own, asked) == 0 || (!strchr(asked, '*') && tarn_glob_match(own, asked));
}

static tarn_code check_rights(const struct tarn_principal *who, const struct tarn_token *token,
                              struct tarn_err *err)
{
    if (token->scope == TARN_SCOPE_ADMIN && (token->tables || token->roots))
        return tarn_fail_field(err, token->tables ? "tables" : "roots", "an admin token cannot be narrowed");
    if (token->scope > who->scope)
        return tarn_fail_code_field(err, TARN_FORBIDDEN, "scope",
                                    "a token makes only tokens within its own rights");
    if (!within(who->tables, token->tables))
        return tarn_fail_code_field(err, TARN_FORBIDDEN, "tables",
                                    "a token makes only tokens within its own rights");
    if (!within(who->roots, token->roots))
        return tarn_fail_code_field(err, TARN_FORBIDDEN, "roots",
                                    "a token makes only tokens within its own rights");
    return TARN_OK;
}

static tarn_code read_expiry(const char *text, int64_t now_ms, int64_t *out, struct tarn_err *err)
{
    TARN_ERR(why);
    int64_t length_ms;
    if (tarn_duration_parse(text, &length_ms, &why) != TARN_OK || length_ms <= 0 ||
        length_ms > 36500 * TARN_DAY_MS)
        return tarn_fail_field(err, "expires", "must be a duration such as 30d");
    *out = now_ms + length_ms;
    return TARN_OK;
}

static tarn_code create_parse(const struct tarn_request *req, void *use, struct tarn_err *err)
{
    struct token_create *c = use;
    const char *name = NULL, *scope = NULL, *expires = NULL, *tables = NULL, *roots = NULL;
    const struct tarn_field fields[] = {
        TARN_STR("name", &name, 1, sizeof c->name - 1), TARN_STR("scope", &scope, 1, 255),
        TARN_OPT_STR("tables", &tables, 1, 255),        TARN_OPT_STR("roots", &roots, 1, 255),
        TARN_OPT_STR("expires", &expires, 1, 64),       TARN_FIELDS_END
    };
    tarn_code code = tarn_json_read(req->json, fields, err);
    if (code == TARN_OK && tarn_has_control(name, strlen(name)))
        return tarn_fail_field(err, "name", "holds a control character");
    struct tarn_token token = { .created_at = req->now_ms, .expires_at = -1, .revoked_at = -1 };
    token.tables = (char *)(uintptr_t)tables;
    token.roots = (char *)(uintptr_t)roots;
    if (code == TARN_OK)
        code = read_scope(scope, &token.scope, err);
    if (code == TARN_OK && expires)
        code = read_expiry(expires, req->now_ms, &token.expires_at, err);
    if (code == TARN_OK)
        code = check_rights(&req->who, &token, err);
    if (code == TARN_OK)
        code = tarn_token_secret(c->secret, token.hash, err);
    if (code != TARN_OK)
        return code;
    c->auth = req->app->auth;
    c->token = token;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->token.name = c->name;
    return TARN_OK;
}

static tarn_code create_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct token_create *c = ctx;
    tarn_code code = tx->ops->tokens.insert(tx, &c->token, err);
    if (code == TARN_INVALID)
        (void)tarn_err_prefix(err, "name");
    return code;
}

static tarn_code create_after(struct tarn_lake *lake, void *use, struct tarn_err *err)
{
    (void)lake;
    return tarn_auth_reload(((struct token_create *)use)->auth, err);
}

static tarn_code create_answer(const struct tarn_request *req, void *use, struct tarn_reply *reply,
                               struct tarn_err *err)
{
    struct token_create *c = use;
    (void)req;
    json_t *json = token_json(&c->token);
    json_object_set_new(json, "token", json_string(c->secret));
    explicit_bzero(c->secret, sizeof c->secret);
    tarn_reply_header(reply, "Cache-Control", "no-store");
    return tarn_reply_json(reply, 201, json, err);
}

static const struct tarn_use k_create = {
    .name = "token create",
    .size = sizeof(struct token_create),
    .change = create_tx,
    .after = create_after,
};
const struct tarn_flow tarn_native_tokens_create = { &k_create, create_parse, create_answer };

/* --- revoke one --- */

struct token_revoke {
    struct tarn_auth *auth; /* borrowed */
    const char *name;       /* borrowed from the request */
    int64_t now_ms;
};

static tarn_code revoke_parse(const struct tarn_request *req, void *use, struct tarn_err *err)
{
    (void)err;
    *(struct token_revoke *)use = (struct token_revoke){ req->app->auth, req->arg[0], req->now_ms };
    return TARN_OK;
}

static tarn_code revoke_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct token_revoke *c = ctx;
    return tx->ops->tokens.revoke(tx, c->name, c->now_ms, err);
}

static tarn_code revoke_after(struct tarn_lake *lake, void *use, struct tarn_err *err)
{
    (void)lake;
    return tarn_auth_reload(((struct token_revoke *)use)->auth, err);
}

static const struct tarn_use k_revoke = {
    .name = "token revoke",
    .size = sizeof(struct token_revoke),
    .change = revoke_tx,
    .after = revoke_after,
};
const struct tarn_flow tarn_native_tokens_revoke = { &k_revoke, revoke_parse, tarn_flow_nothing };
