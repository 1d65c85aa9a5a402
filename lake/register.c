/* register.c - a table comes into the catalog. The worker looks at the folder and stages what it holds; the
 * writer then makes it visible with one row, after asking again whether name and location are still free. */
#include "lake/register.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "formats/manifest/manifest.h"
#include "lake/adopt.h"
#include "lake/event.h"
#include "lake/iceberg.h"
#include "lake/look.h"
#include "lake/publish.h"
#include <string.h>

#define IMPORT_TRANSACTION "txn-1"
#define IMPORT_METADATA    "{\"author\":\"tarn\",\"description\":\"import of the files that lay there\"}"

static int64_t now_of(const struct tarn_register_use *use)
{
    return use->now_ms ? use->now_ms : tarn_now_ms();
}

/* Name and location, asked twice: before the folder is looked at, and in the deciding transaction. */
static tarn_code judge_free(struct tarn_tx *tx, const struct tarn_register_use *use,
                            const struct tarn_table *table, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *owner = NULL;
    tarn_code code = tarn_name_free(tx, table->namespace_, table->name, err);

    if (code != TARN_OK)
        return code;
    code = tarn_location_owner(tx, use->lake, table->location, table->mode == TARN_MANAGED, 0, now_of(use),
                               &owner, err);
    if (code != TARN_OK || !owner)
        return code;
    if (!use->location)
        return tarn_fail(err, TARN_RECHECK, "the default location was taken meanwhile");
    return tarn_location_taken(owner, table->location, err);
}

struct free_ctx {
    const struct tarn_register_use *use;
    const struct tarn_table *table;
};

static tarn_code free_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct free_ctx *c = ctx;

    return judge_free(tx, c->use, c->table, err);
}

static char *text_or(const json_t *json, const char *otherwise)
{
    return json ? tarn_json_text(json) : strdup(otherwise);
}

/* The row as far as the request tells it. */
static tarn_code make_row(struct tarn_register_use *use, struct tarn_table **out, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *t = calloc(1, sizeof *t);
    bool failed = false;

    if (!t)
        return tarn_fail_oom(err);
    t->namespace_ = tarn_text_copy(use->ident.namespace_, &failed);
    t->name = tarn_text_copy(use->ident.name, &failed);
    t->metadata_location = tarn_text_copy(use->metadata_location, &failed);
    t->owner = tarn_text_copy(use->owner, &failed);
    t->partition_keys = text_or(use->partition_keys, "[]");
    t->properties = text_or(use->properties, "{}");
    t->monitors = text_or(use->monitors, "{}");
    if (failed || !t->partition_keys || !t->properties || !t->monitors)
        return tarn_fail_oom(err);
    t->format = use->format;
    t->mode = use->mode;
    t->enforcement = use->enforcement;
    t->verify = use->verify;
    t->enforcement_given = use->enforcement_given;
    t->verify_given = use->verify_given;
    t->publish = use->publish;
    t->protected_ = use->protected_;
    t->created_at = t->committed_at = now_of(use);
    t->published_version = -1;
    t->dropped_at = -1;
    t->revision = 1;
    tarn_code code = tarn_uuid(t->uuid, err);
    if (code == TARN_OK)
        *out = tarn_take(&t);
    return code;
}

/* auto, and what mode a format allows. */
static tarn_code settle_format(struct tarn_register_use *use, const struct tarn_site *site,
                               struct tarn_err *err)
{
    if (use->format_auto)
        use->format = site->has_format ? site->format : TARN_FORMAT_MANIFEST;
    use->format_auto = false;
    if (!use->mode_given)
        use->mode =
            use->format == TARN_FORMAT_MANIFEST && !use->metadata_location ? TARN_MANAGED : TARN_OBSERVED;
    if (use->mode == TARN_OBSERVED)
        return TARN_OK;
    if (use->format != TARN_FORMAT_MANIFEST)
        return tarn_register_observed_only(use->format, err);
    if (use->metadata_location)
        return tarn_fail_field(err, "metadata_location", "a managed table has none");
    return TARN_OK;
}

static tarn_code judge_observed(const struct tarn_register_use *use, const struct tarn_site *site,
                                const char *location, struct tarn_err *err)
{
    if (use->import)
        return tarn_fail_field(err, "import", "an observed table imports nothing");
    if (!site->exists && !use->metadata_location)
        return tarn_fail_code_field(err, TARN_LOCATION_UNREACHABLE, "location", "%s is not there", location);
    return TARN_OK;
}

static const char *way_in(enum tarn_format format)
{
    if (format == TARN_FORMAT_ICEBERG)
        return "an Iceberg client takes it over with register_table";
    return "it can be observed (mode), not managed";
}

static tarn_code refuse_files(const struct tarn_site *site, const char *location, struct tarn_err *err)
{
    if (site->format != TARN_FORMAT_MANIFEST && site->format != TARN_FORMAT_PARQUET)
        return tarn_fail_code_field(err, TARN_LOCATION_NOT_EMPTY, "location", "%s holds a table of format %s: %s",
                                    location, tarn_format_text(site->format), way_in(site->format));
    if (!site->data_file[0])
        return tarn_fail_code_field(err, TARN_LOCATION_NOT_EMPTY, "location",
                                    "%s holds a transaction log without a manifest", location);
    tarn_fail_code_field(err, TARN_LOCATION_NOT_EMPTY, "location",
                         "%s holds data files that are in no manifest: \"import\": true (--import) takes them",
                         location);
    return tarn_err_add(err, "path", tarn_json_str(site->data_file));
}

static bool is_foreign_format(const struct tarn_site *site)
{
    return site->has_format && site->format != TARN_FORMAT_MANIFEST && site->format != TARN_FORMAT_PARQUET;
}

/* A managed table's folder: adopt it, import it, or begin empty. */
static tarn_code take_over(struct tarn_register_use *use, const struct tarn_site *site, const char *location,
                           struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    bool is_filled = site->has_log || site->data_file[0] || is_foreign_format(site);

    if (!site->has_manifest && is_filled && (!use->import || site->has_log || is_foreign_format(site)))
        return refuse_files(site, location, err);
    if (use->dry_run && !site->exists)
        return TARN_OK;
    tarn_code code = tarn_place_open(use->lake->storage, location, true, &place, err);
    if (code == TARN_OK && site->has_manifest)
        code = tarn_adopt(use->lake, place, use->dry_run, use->adopted, err);
    else if (code == TARN_OK && site->data_file[0])
        code = tarn_import(use->lake, place, use->schema, use->dry_run, use->adopted, err);
    return code;
}

/* Does the newest schema that was taken over say what the given one does? */
static tarn_code is_given_schema(const struct tarn_register_use *use, bool *out, struct tarn_err *err)
{
    const struct tarn_schema_row *row = &use->adopted->schemas[use->adopted->schema_count - 1];
    TARN_AUTO(schema) struct tarn_schema *there = NULL, *given = NULL;
    json_auto_t *current = NULL;
    tarn_code code = tarn_json_parse(row->schema, strlen(row->schema), NULL, &current, err);

    if (code == TARN_OK)
        code = tarn_schema_parse(current, TARN_DOC_SCHEMA, &there, err);
    if (code == TARN_OK)
        code = tarn_schema_parse(use->schema, "schema", &given, err);
    if (code == TARN_OK)
        *out = tarn_schema_says_all_of(there, given);
    return code;
}

/* One given schema becomes version 1; beside an adopted one it must be the same. */
static tarn_code settle_schema(struct tarn_register_use *use, struct tarn_err *err)
{
    struct tarn_adopted *a = use->adopted;
    bool is_same = false;

    if (!use->schema)
        return TARN_OK;
    if (a->schema_count == 0) {
        a->schema_version = 1;
        return tarn_adopted_schema(a, 1, use->schema, NULL, now_of(use), err);
    }
    tarn_code code = is_given_schema(use, &is_same, err);
    if (code != TARN_OK || a->is_import || is_same)
        return code;
    return tarn_fail_code_field(err, TARN_SCHEMA_CONFLICT, "schema",
                                "%s there holds another schema, version %lld", TARN_DOC_SCHEMA,
                                (long long)a->schema_version);
}

/* What was taken over, into the row. */
static tarn_code settle_row(struct tarn_register_use *use, struct tarn_table *t, struct tarn_err *err)
{
    struct tarn_adopted *a = use->adopted;

    t->version = a->version;
    t->oldest_version = t->first_version = a->is_import ? 0 : a->version;
    t->schema_version = a->schema_version;
    t->file_count = a->file_count;
    t->total_bytes = a->total_bytes;
    t->block = a->block;
    if (a->committed_at >= 0 && a->committed_at < t->committed_at)
        t->committed_at = a->committed_at;
    if (t->mode == TARN_MANAGED && a->has_publication)
        t->published_version = a->version; /* else -1: version 0 is to be published too */
    if (a->transaction) {
        t->latest_transaction = strdup(a->transaction);
        if (!t->latest_transaction)
            return tarn_fail_oom(err);
    }
    if (use->partition_keys || !a->partition_keys)
        return TARN_OK;
    free(t->partition_keys);
    t->partition_keys = strdup(a->partition_keys);
    return t->partition_keys ? TARN_OK : tarn_fail_oom(err);
}

static void forget(struct tarn_register_use *use)
{
    tarn_table_free(use->table);
    tarn_adopted_free(use->adopted);
    use->table = NULL;
    use->adopted = NULL;
}

static tarn_code unreachable(tarn_code code, struct tarn_err *err)
{
    if (code != TARN_STORAGE_UNAVAILABLE)
        return code;
    err->code = TARN_LOCATION_UNREACHABLE;
    return TARN_LOCATION_UNREACHABLE;
}

/* The row of the table to come, with its location: both free as far as is known now. */
static tarn_code begin(struct tarn_register_use *use, struct tarn_site *site, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    TARN_AUTO(mem) char *location = NULL;
    tarn_code code = tarn_register_locate(use, &location, err);

    if (code == TARN_OK)
        code = tarn_site_look(use->lake->storage, location, site, err);
    if (code == TARN_OK)
        code = settle_format(use, site, err);
    if (code == TARN_OK)
        code = make_row(use, &table, err);
    if (code != TARN_OK)
        return code;
    table->location = tarn_take(&location);
    struct free_ctx c = { use, table };
    code = tarn_store_read(use->lake->store, free_tx, &c, err);
    if (code == TARN_OK)
        use->table = tarn_take(&table);
    return code;
}

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_register_use *use = state;
    struct tarn_site site = { 0 };

    (void)lake;
    forget(use);
    use->adopted = tarn_adopted_new();
    if (!use->adopted)
        return tarn_fail_oom(err);
    tarn_code code = tarn_register_judge(use, err);
    if (code == TARN_OK)
        code = begin(use, &site, err);
    if (code == TARN_OK && use->mode == TARN_OBSERVED)
        code = judge_observed(use, &site, use->table->location, err);
    else if (code == TARN_OK)
        code = take_over(use, &site, use->table->location, err);
    if (code == TARN_OK)
        code = settle_schema(use, err);
    if (code == TARN_OK)
        code = settle_row(use, use->table, err);
    return unreachable(code, err);
}

static tarn_code insert_history(struct tarn_tx *tx, struct tarn_register_use *use, struct tarn_err *err)
{
    const struct tarn_adopted *a = use->adopted;
    const struct tarn_table *t = use->table;
    char transaction[] = IMPORT_TRANSACTION, metadata[] = IMPORT_METADATA;
    struct tarn_commit_row row = { .version = 1,
                                   .transaction = transaction,
                                   .committed_at = t->committed_at,
                                   .schema_version = t->schema_version,
                                   .metadata = metadata,
                                   .data_change = true,
                                   .files_added = a->file_count,
                                   .bytes_added = a->total_bytes,
                                   .file_count = a->file_count,
                                   .total_bytes = a->total_bytes };
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < a->schema_count && code == TARN_OK; i++)
        code = tx->ops->schemas.insert(tx, t->id, &a->schemas[i], err);
    if (code == TARN_OK && a->is_import)
        code = tx->ops->commits.insert(tx, t->id, &row, err);
    if (code == TARN_OK && a->has_publication && t->mode == TARN_MANAGED)
        code = tx->ops->publications.put(tx, t->id, &a->publication, a->published_schema, err);
    return code;
}

static tarn_code tell(struct tarn_tx *tx, const struct tarn_table *t, struct tarn_err *err)
{
    return tarn_event_add(tx, TARN_EVENT_REGISTERED, t, t->created_at,
                          json_pack("{s:s, s:s, s:s, s:I}", "uuid", t->uuid, "format",
                                    tarn_format_text(t->format), "mode", tarn_mode_text(t->mode), "version",
                                    (json_int_t)t->version),
                          err);
}

/* The store makes the scan row with the table: due at once. */
static tarn_code change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_register_use *use = ctx;
    struct tarn_table *t = use->table;
    tarn_code code = judge_free(tx, use, t, err);

    if (code == TARN_OK) {
        tarn_inherited_done(&use->inherited);
        code = tarn_inherited_read(tx, t->namespace_, &use->inherited, err);
    }
    if (code != TARN_OK || use->dry_run)
        return code;
    t->id = use->adopted->id;
    if (t->id == 0)
        code = tx->ops->tables.reserve_id(tx, &t->id, err);
    if (code == TARN_OK)
        code = tx->ops->tables.insert(tx, t, err);
    if (code == TARN_OK && t->mode == TARN_MANAGED) /* storage was looked at just now */
        tarn_looked_set(use->lake->looked, t->id, true);
    if (code == TARN_OK)
        code = insert_history(tx, use, err);
    if (code == TARN_OK && tarn_links_wanted(t->properties))
        code = tx->ops->publications.mark(tx, t->id, err);
    return code == TARN_OK ? tell(tx, t, err) : code;
}

static bool publishes(const void *state, int64_t *table_id, int64_t *version)
{
    const struct tarn_register_use *use = state;

    if (use->dry_run || use->table->mode == TARN_OBSERVED || !use->table->publish || !use->lake->publisher)
        return false;
    *table_id = use->table->id;
    *version = use->table->version;
    return true;
}

static void published(void *state, bool done)
{
    struct tarn_register_use *use = state;

    use->published = done;
    if (done)
        use->table->published_version = use->table->version;
}

static void done(void *state)
{
    struct tarn_register_use *use = state;

    tarn_inherited_done(&use->inherited);
    forget(use);
}

const struct tarn_use tarn_register = {
    .name = "register",
    .size = sizeof(struct tarn_register_use),
    .check = check,
    .change = change,
    .publishes = publishes,
    .published = published,
    .done = done,
};
