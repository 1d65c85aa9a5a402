/* retake_schemas.c - schema versions that schema.json has above the newest row.
 * They are taken when the document tells the others as the catalog does. */
#include "base/json.h"
#include "base/time.h"
#include "lake/event.h"
#include "lake/retake.h"

static const struct tarn_schema_row *row_of(const struct tarn_schema_rows *rows, int64_t version)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].version == version)
            return &rows->rows[i];
    return NULL;
}

/* How many versions the rows lack; -1: the document contradicts them. Those that Tarn wrote say when. */
static int64_t compare(const struct tarn_schema_rows *rows, const struct tarn_schema_doc *doc, int64_t newest)
{
    int64_t missing = 0;

    for (size_t i = 0; i < doc->count; i++) {
        const struct tarn_schema_version *there = &doc->versions[i];
        const struct tarn_schema_row *row = row_of(rows, there->version);
        if (there->version > doc->current_version)
            continue;
        if (row ? !tarn_schema_same(there->schema, row->schema)
                : there->version != newest + missing + 1 || there->created_at < 0)
            return -1;
        missing += !row;
    }
    return missing;
}

static tarn_code rows_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_retaking *r = ctx;

    return tarn_schema_rows_read(tx, r->table_id, &r->rows, err);
}

tarn_code tarn_retake_schemas_look(struct tarn_retaking *r, struct tarn_err *err)
{
    TARN_ERR(fault);

    r->schemas = 0;
    r->schema_conflict = false;
    tarn_schema_doc_done(&r->doc);
    tarn_code code = tarn_store_read(r->lake->store, rows_tx, r, err);
    if (code != TARN_OK)
        return code;
    code = tarn_schema_doc_read_at(r->place, &r->doc, NULL, &fault);
    if (code == TARN_NOT_FOUND || code == TARN_INVALID || code == TARN_PAYLOAD_TOO_LARGE)
        return TARN_OK; /* the monitors tell of it */
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (r->doc.current_version > r->table->schema_version)
        r->schemas = compare(&r->rows, &r->doc, r->table->schema_version);
    r->schema_conflict = r->schemas < 0;
    if (r->schemas < 0)
        r->schemas = 0;
    return TARN_OK;
}

static tarn_code add_row(struct tarn_schema_rows *rows, const struct tarn_schema_version *version,
                         int64_t otherwise_ms, struct tarn_err *err)
{
    struct tarn_schema_row *more = reallocarray(rows->rows, rows->count + 1, sizeof *more);

    if (!more)
        return tarn_fail_oom(err);
    rows->rows = more;
    rows->cap = rows->count + 1;
    struct tarn_schema_row *row = &rows->rows[rows->count++];
    bool renames = json_object_size(version->renames) > 0;
    *row = (struct tarn_schema_row){ .version = version->version,
                                     .schema = tarn_json_text(version->json),
                                     .renames = renames ? tarn_json_text(version->renames) : NULL,
                                     .created_at =
                                         version->created_at >= 0 ? version->created_at : otherwise_ms };
    return row->schema && (row->renames || !renames) ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_schema_rows_of(const struct tarn_schema_doc *doc, int64_t from, int64_t otherwise_ms,
                              struct tarn_schema_rows *out, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < doc->count && code == TARN_OK; i++)
        if (doc->versions[i].version >= from && doc->versions[i].version <= doc->current_version)
            code = add_row(out, &doc->versions[i], otherwise_ms, err);
    return code;
}

struct insertion {
    struct tarn_retaking *r;
    struct tarn_schema_rows rows; /* owned: the missing ones */
};

static void insertion_done(struct insertion *in) { tarn_schema_rows_done(&in->rows); }

static tarn_code tell(struct tarn_tx *tx, const struct tarn_table *table, const struct tarn_schema_row *row,
                      struct tarn_err *err)
{
    return tarn_event_add(tx, TARN_EVENT_SCHEMA_ADDED, table, row->created_at,
                          json_pack("{s:I}", "schema_version", (json_int_t)row->version), err);
}

static tarn_code insert_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct insertion *in = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, in->r->table_id, &table, err);

    for (size_t i = 0; i < in->rows.count && code == TARN_OK; i++) {
        code = tx->ops->schemas.insert(tx, table->id, &in->rows.rows[i], err);
        if (code == TARN_OK)
            code = tell(tx, table, &in->rows.rows[i], err);
        table->schema_version = in->rows.rows[i].version;
    }
    return code == TARN_OK ? tx->ops->tables.update(tx, table, err) : code;
}

tarn_code tarn_retake_schemas(struct tarn_retaking *r, struct tarn_err *err)
{
    __attribute__((cleanup(insertion_done))) struct insertion in = { .r = r };

    if (r->schemas == 0)
        return TARN_OK;
    tarn_code code = tarn_schema_rows_of(&r->doc, r->table->schema_version + 1, tarn_now_ms(), &in.rows, err);
    if (code == TARN_OK)
        code = tarn_store_write(r->lake->store, insert_tx, &in, err);
    if (code == TARN_OK)
        code = tarn_store_read(r->lake->store, rows_tx, r, err);
    if (code != TARN_OK)
        return code;
    r->table->schema_version = r->doc.current_version;
    r->changed = true;
    return TARN_OK;
}
