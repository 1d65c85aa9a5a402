/* catalog_facts.c - the catalog's word on a managed table. Long lists are chains of short reads, so that no scan pins
 * the database's log. */
#include "monitors/catalog_facts.h"
#include "lake/entry_same.h"
#include "base/json.h"
#include "base/text.h"
#include <string.h>

enum {
    PAGE = 2000,
    COMMITS_MAX = 20000 /* newest commits looked at for their log entries */
};

void tarn_catalog_facts_done(struct tarn_catalog_facts *facts)
{
    tarn_table_free(facts->table);
    free(facts->shown_transaction);
    for (size_t i = 0; i < facts->schema_count; i++)
        tarn_schema_free(facts->schemas[i]);
    free(facts->schemas);
    tarn_schema_past_done(&facts->past);
    *facts = (struct tarn_catalog_facts){ 0 };
}

/* --- what the log must hold --- */

struct commit_page {
    struct tarn_catalog_facts *facts;
    int64_t below;
    bool adopted;
    struct tarn_buf ids;
    struct { uint32_t id_at; struct tarn_told_commit told; } rows[PAGE];
    size_t count;
};

static void commit_page_freep(struct commit_page **page)
{
    if (*page)
        tarn_buf_done(&(*page)->ids);
    free(*page);
}

/* Newest first: each settles whether the one before follows from it. */
static tarn_code keep_commit(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct commit_page *page = ctx;

    if (page->count > 0)
        page->rows[page->count - 1].told.follows |= row->version == page->rows[page->count - 1].told.version - 1;
    if (page->count == PAGE)
        return TARN_OK;
    page->rows[page->count].id_at = (uint32_t)page->ids.len;
    page->rows[page->count].told = (struct tarn_told_commit){ .version = row->version,
                                                              .committed_at = row->committed_at,
                                                              .files_added = row->files_added,
                                                              .files_removed = row->files_removed,
                                                              .bytes_added = row->bytes_added,
                                                              .schema_version = row->schema_version,
                                                              .data_change = row->data_change,
                                                              .follows = tarn_table_is_base(page->facts->table, row->version - 1) };
    tarn_buf_add(&page->ids, row->transaction, strlen(row->transaction) + 1);
    page->count++;
    return tarn_buf_check(&page->ids, err);
}

static tarn_code commits_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct commit_page *page = ctx;
    int64_t id = page->facts->table->id;

    page->count = 0;
    tarn_buf_clear(&page->ids);
    if (page->adopted)
        return tx->ops->commits.list_adopted(tx, id, page->below, PAGE, keep_commit, page, err);
    return tx->ops->commits.list(tx, id, page->below, PAGE + 1, keep_commit, page, err);
}

typedef tarn_code commit_row_fn(void *ctx, const struct commit_page *page, size_t i, struct tarn_err *err);

/* Newest first, from below `below`; of the adopted ones `below` is a position. */
static tarn_code each_commit(struct tarn_catalog_facts *facts, bool adopted, int64_t below, commit_row_fn *fn, void *ctx,
                             struct tarn_err *err)
{
    __attribute__((cleanup(commit_page_freep))) struct commit_page *page = calloc(1, sizeof *page);
    tarn_code code = page ? TARN_OK : tarn_fail_oom(err);

    for (int64_t seen = 0; code == TARN_OK && seen < COMMITS_MAX; seen += PAGE) {
        page->facts = facts;
        page->adopted = adopted;
        page->below = below;
        code = tarn_store_read(facts->lake->store, commits_tx, page, err);
        for (size_t i = 0; code == TARN_OK && i < page->count; i++)
            code = fn(ctx, page, i, err);
        if (code != TARN_OK || page->count < PAGE)
            break;
        int64_t last = page->rows[page->count - 1].told.version;
        below = adopted ? -last : last;
    }
    return code;
}

struct id_walk {
    struct tarn_catalog_facts *facts;
    tarn_committed_fn *fn;
    void *fn_ctx;
    bool saw_shown; /* the transaction that storage should show */
};

static tarn_code give_id(void *ctx, const struct commit_page *page, size_t i, struct tarn_err *err)
{
    struct id_walk *walk = ctx;
    const char *id = page->ids.data + page->rows[i].id_at;
    const char *shown = walk->facts->facts.shown_transaction;

    walk->saw_shown |= shown && strcmp(shown, id) == 0;
    return walk->fn(walk->fn_ctx, id, &page->rows[i].told, page->adopted, err);
}

/* What the log must hold. The newest transaction of an adopted table may be one whose entry was lost before. */
static tarn_code walk_commits(void *ctx, tarn_committed_fn *fn, void *fn_ctx, struct tarn_err *err)
{
    struct tarn_catalog_facts *facts = ctx;
    struct id_walk walk = { .facts = facts, .fn = fn, .fn_ctx = fn_ctx };
    const char *shown = facts->facts.shown_transaction;

    tarn_code code = each_commit(facts, false, facts->facts.shown_version + 1, give_id, &walk, err);
    if (code == TARN_OK)
        code = each_commit(facts, true, INT64_MAX, give_id, &walk, err);
    const struct tarn_told_commit told = { .version = -1, .committed_at = facts->table->committed_at };
    if (code == TARN_OK && shown && !walk.saw_shown)
        code = fn(fn_ctx, shown, &told, true, err);
    return code;
}

/* --- the rows --- */

static tarn_code keep_schema(void *ctx, const struct tarn_schema_row *row, struct tarn_err *err)
{
    struct tarn_catalog_facts *facts = ctx;
    json_auto_t *json = NULL;
    size_t count = facts->schema_count;
    bool failed = false;

    tarn_code code = tarn_json_parse(row->schema, strlen(row->schema), NULL, &json, err);
    struct tarn_schema **schemas = realloc(facts->schemas, (count + 1) * sizeof *schemas);
    if (schemas)
        facts->schemas = schemas;
    int64_t *since = realloc(facts->past.since_ms, (count + 1) * sizeof *since);
    if (since)
        facts->past.since_ms = since;
    struct tarn_schema_row *rows = realloc(facts->past.rows, (count + 1) * sizeof *rows);
    if (rows)
        facts->past.rows = rows;
    if (code == TARN_OK && (!schemas || !since || !rows))
        return tarn_fail_oom(err);
    if (code == TARN_OK)
        code = tarn_schema_parse(json, "schema", &facts->schemas[count], err);
    if (code != TARN_OK)
        return code;
    rows[count] = (struct tarn_schema_row){ .version = row->version, .schema = tarn_text_copy(row->schema, &failed),
                                            .renames = tarn_text_copy(row->renames, &failed) };
    facts->past.since_ms[count] = row->version == 1 ? INT64_MIN : row->created_at;
    facts->past.count = facts->schema_count = count + 1;
    return failed ? tarn_fail_oom(err) : TARN_OK;
}

static tarn_code link_past(struct tarn_catalog_facts *facts, struct tarn_err *err)
{
    facts->past.versions = calloc(facts->schema_count + 1, sizeof *facts->past.versions);
    if (!facts->past.versions)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < facts->schema_count; i++)
        facts->past.versions[i] = facts->schemas[i];
    facts->past.current = facts->schema_count > 0 ? facts->schemas[facts->schema_count - 1] : NULL;
    return TARN_OK;
}

/* When a version was committed; -1: before Tarn. */
static tarn_code committed_at(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t *at, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    TARN_ERR(fault);

    *at = -1;
    tarn_code code = tx->ops->commits.get(tx, table_id, version, &row, &fault);
    if (code == TARN_VERSION_NOT_FOUND || code == TARN_VERSION_EXPIRED)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    *at = row.committed_at;
    return TARN_OK;
}

/* The oldest version that storage does not show. */
static int64_t next_version(const struct tarn_table *table)
{
    return table->published_version < 0 ? 1 : table->published_version + 1;
}

struct read { struct tarn_catalog_facts *out; int64_t table_id; char *shown_transaction; };

/* The transaction of the version that storage shows; the table's own when both are the same. */
static tarn_code shown_transaction(struct tarn_tx *tx, struct read *r, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    const struct tarn_table *table = r->out->table;
    TARN_ERR(fault);

    if (table->published_version == table->version) {
        r->out->facts.shown_transaction = table->latest_transaction;
        return TARN_OK;
    }
    tarn_code code = tx->ops->commits.get(tx, table->id, table->published_version, &row, &fault);
    if (code == TARN_VERSION_NOT_FOUND || code == TARN_VERSION_EXPIRED)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    free(r->shown_transaction);
    r->shown_transaction = tarn_take(&row.transaction);
    return TARN_OK;
}

static tarn_code read_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct read *r = ctx;
    struct tarn_catalog_facts *out = r->out;
    int64_t oldest_at = -1;

    tarn_catalog_facts_done(out);
    tarn_code code = tx->ops->tables.get_by_id(tx, r->table_id, &out->table, err);
    if (code == TARN_OK && out->table->dropped_at >= 0)
        code = tarn_fail(err, TARN_TABLE_NOT_FOUND, "the table was dropped");
    if (code == TARN_OK)
        code = tx->ops->publications.get(tx, r->table_id, &out->publication, err);
    if (code == TARN_OK)
        code = tx->ops->publications.schema_published(tx, r->table_id, &out->facts.published_schema, err);
    if (code == TARN_OK)
        code = tx->ops->schemas.list(tx, r->table_id, keep_schema, out, err);
    if (code == TARN_OK)
        code = tarn_catalog_life(tx, out, err);
    if (code == TARN_OK)
        code = committed_at(tx, r->table_id, out->table->published_version, &out->facts.shown_at, err);
    if (code == TARN_OK)
        code = committed_at(tx, r->table_id, next_version(out->table), &out->behind_since, err);
    if (code == TARN_OK)
        code = committed_at(tx, r->table_id, out->table->oldest_version, &oldest_at, err);
    /* An adoption begins at a version that is no commit of Tarn's. */
    out->facts.history_expired = out->table->oldest_version > 0 && oldest_at >= 0;
    return code == TARN_OK ? shown_transaction(tx, r, err) : code;
}

static tarn_code says_same(void *ctx, int64_t version, const struct tarn_buf *text, bool *same, struct tarn_err *err)
{
    const struct tarn_catalog_facts *facts = ctx;

    return tarn_entry_is_same(facts->lake, facts->table, version, text, same, err);
}

static void link_facts(struct tarn_lake *lake, struct tarn_catalog_facts *out)
{
    struct tarn_facts_catalog *facts = &out->facts;
    bool is_shown = out->table->publish && out->table->published_version >= 0;

    out->lake = lake;
    facts->table = out->table;
    facts->catalog_id = lake->catalog_id;
    facts->shown_version = is_shown ? out->table->published_version : -1;
    facts->publication = out->publication.manifest_token[0] ? &out->publication : NULL;
    facts->behind_since = out->table->publish ? out->behind_since : -1;
    facts->files = tarn_catalog_files;
    facts->files_in = tarn_catalog_files_in;
    facts->file = tarn_catalog_file;
    facts->removed = tarn_catalog_removed;
    facts->says_same = says_same;
    facts->batches = tarn_catalog_batches;
    facts->commits = walk_commits;
    facts->schemas = &out->past;
    facts->ctx = out;
}

tarn_code tarn_catalog_facts_read(struct tarn_lake *lake, int64_t table_id, struct tarn_catalog_facts *out,
                                  struct tarn_err *err)
{
    struct read r = { .out = out, .table_id = table_id };

    tarn_code code = tarn_store_read(lake->store, read_tx, &r, err);
    if (code == TARN_OK)
        code = link_past(out, err);
    if (code == TARN_OK && r.shown_transaction) {
        out->shown_transaction = tarn_take(&r.shown_transaction);
        out->facts.shown_transaction = out->shown_transaction;
    }
    free(r.shown_transaction);
    if (code == TARN_OK)
        link_facts(lake, out);
    else
        tarn_catalog_facts_done(out);
    return code;
}
