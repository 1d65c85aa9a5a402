/* publications.c - how far storage has followed the catalog, and what was written there last. What is
 * still to publish is never stored: it is what the table's row says it is ahead by. */
#include "catalog/sqlite/internal.h"

enum { S_GET, S_PUT, S_MOVE, S_SCHEMA, S_PENDING, S_MARK };
/* clang-format off */
const char *const tarn_sqlite_publications_sql[] = {
    [S_GET] =
        "SELECT t.published_version, p.manifest_sha256, p.manifest_token, t.republish, p.links FROM tables t "
        "LEFT JOIN publications p ON p.table_id = t.id WHERE t.id = ?1",
    [S_PUT] =
        "INSERT INTO publications (table_id, version, manifest_sha256, manifest_token, links) "
        "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (table_id) DO UPDATE "
        "SET version = ?2, manifest_sha256 = ?3, manifest_token = ?4, links = ?5",
    /* Publication may have been switched off meanwhile: then the table goes on saying so. */
    [S_MOVE] =
        "UPDATE tables "
        "SET published_version = CASE publish WHEN 1 THEN ?2 ELSE published_version END, "
        "published_schema = ?3, republish = max(republish - ?4, 0) WHERE id = ?1",
    [S_SCHEMA] = "SELECT published_schema FROM tables WHERE id = ?1",
    /* The conditions are those of the index tables_unpublished, word for word. */
    [S_PENDING] =
        "SELECT id FROM tables INDEXED BY tables_unpublished "
        "WHERE dropped_at IS NULL AND mode = 'managed' AND publish = 1 AND block IS NULL AND "
        "(published_version < version OR published_schema < schema_version OR republish > 0) AND id > ?1 "
        "ORDER BY id LIMIT ?2",
    [S_MARK] = "UPDATE tables SET republish = republish + 1 WHERE id = ?1",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which)
{
    return stmt_of(tx, TARN_SQLITE_PUBLICATIONS, which);
}

static tarn_code gone(struct tarn_err *err)
{
    return tarn_fail(err, TARN_TABLE_NOT_FOUND, "the table no longer exists");
}

static tarn_code get(struct tarn_tx *tx, int64_t table_id, struct tarn_publication *out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_i64(st, 1, table_id);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK)
        return code;
    if (!found)
        return gone(err);
    out->version = column_i64(st, 0);
    column_fixed(st, 1, out->manifest_sha256, sizeof out->manifest_sha256);
    column_fixed(st, 2, out->manifest_token, sizeof out->manifest_token);
    out->marks = column_i64(st, 3);
    out->links = column_i64(st, 4) != 0;
    return TARN_OK;
}

static tarn_code move(struct tarn_tx *tx, int64_t table_id, const struct tarn_publication *pub,
                      int64_t schema_version, struct tarn_err *err)
{
    tarn_changes_note(tx->store, table_id);
    AUTO_STMT *st = stmt(tx, S_MOVE);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, pub->version);
    bind_i64(st, 3, schema_version);
    bind_i64(st, 4, pub->marks);
    tarn_code code = tarn_sqlite_run(tx, st, err);
    return code == TARN_OK && tarn_sqlite_changed(tx) == 0 ? gone(err) : code;
}

static tarn_code put(struct tarn_tx *tx, int64_t table_id, const struct tarn_publication *pub,
                     int64_t published_schema, struct tarn_err *err)
{
    tarn_code code = move(tx, table_id, pub, published_schema, err);
    if (code != TARN_OK)
        return code;
    AUTO_STMT *st = stmt(tx, S_PUT);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, pub->version);
    bind_text(st, 3, pub->manifest_sha256);
    bind_text(st, 4, pub->manifest_token);
    bind_i64(st, 5, pub->links);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code schema_published(struct tarn_tx *tx, int64_t table_id, int64_t *schema_version,
                                  struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_SCHEMA);
    bind_i64(st, 1, table_id);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code == TARN_OK && found)
        *schema_version = column_i64(st, 0);
    return code == TARN_OK && !found ? gone(err) : code;
}

static tarn_code pending(struct tarn_tx *tx, int64_t after_id, int64_t limit, int64_t *ids, int64_t *count,
                         struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_PENDING);
    bind_i64(st, 1, after_id);
    bind_i64(st, 2, limit);
    return tarn_sqlite_ids(tx, st, ids, count, err);
}

static tarn_code mark(struct tarn_tx *tx, int64_t table_id, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_MARK);
    bind_i64(st, 1, table_id);
    return tarn_sqlite_run(tx, st, err);
}

void tarn_sqlite_publications_ops(struct tarn_store_ops *ops)
{
    ops->publications.get = get;
    ops->publications.put = put;
    ops->publications.schema_published = schema_published;
    ops->publications.pending = pending;
    ops->publications.mark = mark;
}
