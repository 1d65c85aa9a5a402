/* tokens.c - who may come in: names, rights and hashes; no secret is stored. */
#include "catalog/sqlite/internal.h"
#include <stddef.h>

enum { S_INSERT, S_LIST, S_REVOKE };
/* clang-format off */
const char *const tarn_sqlite_tokens_sql[] = {
    [S_INSERT] =
        "INSERT INTO tokens (name, hash, scope, tables, roots, created_at, expires_at, revoked_at) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [S_LIST] =
        "SELECT name, hash, scope, tables, roots, created_at, expires_at, revoked_at FROM tokens "
        "ORDER BY name",
    [S_REVOKE] = "UPDATE tokens SET revoked_at = coalesce(revoked_at, ?2) WHERE name = ?1",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_TOKENS, which); }

static tarn_code insert(struct tarn_tx *tx, const struct tarn_token *token, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_INSERT);
    bind_text(st, 1, token->name);
    bind_text(st, 2, token->hash);
    bind_text(st, 3, tarn_scope_text(token->scope));
    bind_text(st, 4, token->tables);
    bind_text(st, 5, token->roots);
    bind_i64(st, 6, token->created_at);
    bind_opt(st, 7, token->expires_at);
    bind_opt(st, 8, token->revoked_at);
    return tarn_sqlite_run(tx, st, err);
}

/* The row a statement stands on, as the list's next item, owned. */
static tarn_code append(sqlite3_stmt *st, struct tarn_tokens *list, struct tarn_err *err)
{
    static const size_t k_texts[] = { offsetof(struct tarn_token, name), offsetof(struct tarn_token, tables),
                                      offsetof(struct tarn_token, roots) };
    struct tarn_token *items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (!items)
        return tarn_fail_oom(err);
    list->items = items;
    struct tarn_token row = {
        .name = column_text(st, 0),
        .tables = column_text(st, 3),
        .roots = column_text(st, 4),
        .created_at = column_i64(st, 5),
        .expires_at = column_opt(st, 6),
        .revoked_at = column_opt(st, 7),
    };
    column_fixed(st, 1, row.hash, sizeof row.hash);
    if (!tarn_scope_parse(column_text(st, 2), &row.scope))
        return tarn_fail(err, TARN_INTERNAL, "the database holds a scope that this version does not know");
    tarn_code code = tarn_sqlite_own(&row, k_texts, TARN_COUNT(k_texts), err);
    if (code == TARN_OK)
        items[list->count++] = row;
    return code;
}

static tarn_code list(struct tarn_tx *tx, struct tarn_tokens *out, struct tarn_err *err)
{
    TARN_AUTO_DONE(tokens) struct tarn_tokens made = { 0 };
    AUTO_STMT *st = stmt(tx, S_LIST);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err))
        code = append(st, &made, err);
    if (code != TARN_OK)
        return code;
    *out = made;
    made = (struct tarn_tokens){ 0 };
    return TARN_OK;
}

static tarn_code revoke(struct tarn_tx *tx, const char *name, int64_t now_ms, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_REVOKE);
    bind_text(st, 1, name);
    bind_i64(st, 2, now_ms);
    tarn_code code = tarn_sqlite_run(tx, st, err);
    if (code == TARN_OK && tarn_sqlite_changed(tx) == 0)
        return tarn_fail(err, TARN_NOT_FOUND, "there is no token '%s'", name);
    return code;
}

void tarn_sqlite_tokens_ops(struct tarn_store_ops *ops)
{
    ops->tokens.insert = insert;
    ops->tokens.list = list;
    ops->tokens.revoke = revoke;
}
