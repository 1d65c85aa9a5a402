/* facts_documents.c - what pointer, schema.json and manifest.json say. A document that cannot be read is a fact, not
 * an error; a manifest is read once more before it is called unreadable, since its writer may replace it in place. */
#include "formats/manifest/gather.h"
#include "base/hash.h"
#include "base/json.h"
#include <stdio.h>
#include <string.h>

/* TARN_INVALID becomes "bad" with its reason, TARN_NOT_FOUND "absent"; anything else is storage's fault. */
static tarn_code doc_state(tarn_code code, struct tarn_err *fault, enum tarn_doc_state *state, char why[512],
                           struct tarn_err *err)
{
    bool is_bad = code == TARN_INVALID || code == TARN_PAYLOAD_TOO_LARGE;

    if (code != TARN_OK && code != TARN_NOT_FOUND && !is_bad)
        return tarn_err_move(err, fault);
    *state = code == TARN_OK ? TARN_DOC_READ : is_bad ? TARN_DOC_BAD : TARN_DOC_ABSENT;
    why[0] = '\0';
    if (is_bad && fault->field[0])
        snprintf(why, 512, "%.200s: %.300s", fault->field, fault->detail);
    else if (is_bad)
        snprintf(why, 512, "%.511s", fault->detail);
    return TARN_OK;
}

static tarn_code read_pointer(struct tarn_gather *g, struct tarn_err *err)
{
    struct tarn_facts *facts = g->facts;
    struct tarn_object object = { .mtime_ms = -1 };
    TARN_ERR(fault);

    tarn_code code = tarn_pointer_read(g->place, &facts->pointer_id, &object, &fault);
    facts->pointer_mtime_ms = object.mtime_ms;
    code = doc_state(code, &fault, &facts->pointer, facts->pointer_why, err);
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    if (code == TARN_OK && catalog && catalog->shown_transaction)
        facts->pointer_differs = !facts->pointer_id || strcmp(facts->pointer_id, catalog->shown_transaction) != 0;
    return code;
}

const struct tarn_schema_past *tarn_gather_past(const struct tarn_gather *g)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;

    return catalog && catalog->schemas ? catalog->schemas : &g->past;
}

static bool row_of(const struct tarn_schema_version *version, struct tarn_schema_row *out)
{
    out->version = version->version;
    out->schema = tarn_json_text(version->json);
    out->renames = version->renames ? tarn_json_text(version->renames) : NULL;
    return out->schema && (out->renames || !version->renames);
}

/* The age of a document's versions: what it says; else the first one was always there, and a later one is as old as the document. */
static tarn_code past_of_doc(struct tarn_gather *g, int64_t doc_mtime_ms, struct tarn_err *err)
{
    const struct tarn_schema_doc *doc = &g->doc;
    struct tarn_schema_past *past = &g->past;

    past->versions = calloc(doc->count + 1, sizeof *past->versions);
    past->since_ms = calloc(doc->count + 1, sizeof *past->since_ms);
    past->rows = calloc(doc->count + 1, sizeof *past->rows);
    if (!past->versions || !past->since_ms || !past->rows)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < doc->count && doc->versions[i].version <= doc->current_version; i++) {
        past->versions[i] = doc->versions[i].schema;
        int64_t told = doc->versions[i].created_at; /* a copied document has another time */
        past->since_ms[i] = doc->versions[i].version == 1 ? INT64_MIN : told >= 0 ? told : doc_mtime_ms;
        past->count++;
        if (!row_of(&doc->versions[i], &past->rows[i]))
            return tarn_fail_oom(err);
    }
    past->current = tarn_schema_doc_current(doc);
    return TARN_OK;
}

/* A schema from outside has no past. */
static tarn_code past_of_schema(struct tarn_schema_past *past, const struct tarn_schema *schema, struct tarn_err *err)
{
    past->versions = calloc(1, sizeof *past->versions);
    past->since_ms = calloc(1, sizeof *past->since_ms);
    if (!past->versions || !past->since_ms)
        return tarn_fail_oom(err);
    past->current = past->versions[0] = schema;
    past->since_ms[0] = INT64_MIN;
    past->count = 1;
    return TARN_OK;
}

static bool is_same_schema(const struct tarn_schema *a, const struct tarn_schema *b)
{
    json_auto_t *left = tarn_schema_to_json(a), *right = tarn_schema_to_json(b);

    return left && right && json_equal(left, right);
}

/* Managed: a version in the document that the catalog does not have, or has otherwise. */
static bool holds_foreign_schema(const struct tarn_gather *g)
{
    const struct tarn_schema_past *past = g->options->catalog->schemas;

    for (size_t i = 0; past && i < g->doc.count; i++) {
        bool is_known = false;
        for (size_t k = 0; k < past->count; k++)
            is_known |= past->rows[k].version == g->doc.versions[i].version &&
                        is_same_schema(past->versions[k], g->doc.versions[i].schema);
        if (!is_known)
            return true;
    }
    return false;
}

static tarn_code read_schema(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    struct tarn_facts *facts = g->facts;
    struct tarn_object object = { .mtime_ms = -1 };
    TARN_ERR(fault);

    tarn_code code = tarn_schema_doc_read_at(g->place, &g->doc, &object, &fault);
    g->schema_mtime_ms = object.mtime_ms;
    memcpy(g->schema_token, object.token, sizeof g->schema_token);
    code = doc_state(code, &fault, &facts->schema, facts->schema_why, err);
    if (code != TARN_OK)
        return code;
    if (facts->schema == TARN_DOC_READ) {
        facts->schema_version = g->options->catalog ? g->options->catalog->table->schema_version : g->doc.current_version;
        facts->schema_not_in_history = !tarn_schema_doc_current(&g->doc);
        facts->foreign_schema = catalog && (holds_foreign_schema(g) || g->doc.current_version < catalog->published_schema);
    }
    facts->schema_lost = facts->schema == TARN_DOC_ABSENT && catalog && catalog->published_schema > 0;
    if (g->options->schema)
        return past_of_schema(&g->past, g->options->schema, err);
    if (g->options->catalog) /* its copy is never used up: the catalog's own is borrowed */
        return TARN_OK;
    return facts->schema == TARN_DOC_READ ? past_of_doc(g, object.mtime_ms, err) : TARN_OK;
}

/* The version of a managed table is the catalog's. */
static void take_head(struct tarn_gather *g, struct tarn_manifest_head *head, int64_t mtime_ms)
{
    struct tarn_facts *facts = g->facts;

    if (!g->options->catalog)
        facts->version = head->version;
    free(facts->table);
    free(facts->last_updated_text);
    free(facts->manifest_catalog);
    free(facts->manifest_uuid);
    free(facts->manifest_transaction);
    facts->manifest_transaction = tarn_take(&head->transaction);
    facts->manifest_catalog = tarn_take(&head->catalog);
    facts->manifest_uuid = tarn_take(&head->table_uuid);
    facts->table = tarn_take(&head->table);
    facts->last_updated_text = tarn_take(&head->last_updated_text);
    facts->last_updated_missing = !facts->last_updated_text;
    facts->last_updated_bad = head->last_updated_bad;
    facts->last_updated_naive = head->last_updated >= 0 && head->last_updated_form == TARN_TIME_NAIVE;
    facts->last_updated = head->last_updated >= 0 ? head->last_updated : mtime_ms;
}

static tarn_code read_manifest(struct tarn_gather *g, struct tarn_err *err)
{
    enum { AN_ENTRY = 150 /* bytes, rather few */, MOST = 1 << 29 };
    struct tarn_facts *facts = g->facts;
    tarn_code code = TARN_OK;

    g->is_document = true;
    for (int attempt = 0; attempt < 2; attempt++) {
        __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { 0 };
        struct tarn_object object = { .mtime_ms = -1 };
        TARN_ERR(fault);
        tarn_gather_entries_forget(g);
        tarn_pathset_expect(&g->met, (size_t)(g->first_bytes < MOST ? g->first_bytes : MOST) / AN_ENTRY);
        code = tarn_manifest_read_at(g->place, &head, &object, tarn_gather_entry, g, &fault);
        facts->manifest_mtime_ms = object.mtime_ms;
        memcpy(g->manifest_token, object.token, sizeof g->manifest_token);
        if (code == TARN_OK)
            take_head(g, &head, object.mtime_ms);
        code = doc_state(code, &fault, &facts->manifest, facts->manifest_why, err);
        if (code != TARN_OK || facts->manifest == TARN_DOC_READ)
            break;
    }
    g->is_document = false;
    tarn_pathset_done(&g->met);
    if (facts->manifest != TARN_DOC_READ) {
        tarn_gather_entries_forget(g);
        facts->file_count = facts->total_bytes = -1;
    }
    return code;
}

static tarn_code digest_of(struct tarn_place *place, char out[TARN_SHA256_HEX], struct tarn_err *err)
{
    TARN_AUTO(reader) struct tarn_reader *reader = NULL;
    char piece[4096], ignored[TARN_SHA256_HEX];
    tarn_code code = tarn_place_reader(place, TARN_DOC_MANIFEST, &reader, NULL, err);
    struct tarn_sha256 *sha256 = code == TARN_OK ? tarn_sha256_new() : NULL;

    if (code == TARN_OK && !sha256)
        return tarn_fail_oom(err);
    for (size_t len = 1; code == TARN_OK && len > 0;) {
        code = tarn_reader_fill(reader, piece, sizeof piece, &len, err);
        if (code == TARN_OK)
            tarn_sha256_add(sha256, piece, len);
    }
    if (sha256)
        tarn_sha256_end(sha256, code == TARN_OK ? out : ignored);
    return code;
}

/* Touched or copied (a folder that was restored), it is the same as long as it has the same bytes. */
static tarn_code judge_other(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_publication *publication = g->options->catalog->publication;
    char digest[TARN_SHA256_HEX];
    TARN_ERR(fault);

    if (g->facts->manifest != TARN_DOC_READ) {
        g->facts->foreign_manifest = true;
        return TARN_OK;
    }
    tarn_code code = digest_of(g->place, digest, &fault);
    g->facts->foreign_manifest = code == TARN_OK && strcmp(digest, publication->manifest_sha256) != 0;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

static bool is_own(const struct tarn_facts_catalog *catalog, const struct tarn_object *object)
{
    const struct tarn_publication *publication = catalog->publication;

    return publication && publication->manifest_token[0] && strcmp(publication->manifest_token, object->token) == 0;
}

/* Known by its token. One that was adopted, and followed by none of Tarn's yet, tells things that the catalog does not. */
tarn_code tarn_gather_own_manifest(struct tarn_gather *g, bool *ours, struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    struct tarn_facts *facts = g->facts;
    struct tarn_object object = { 0 };
    TARN_ERR(fault);

    *ours = true;
    tarn_code code = tarn_place_stat(g->place, TARN_DOC_MANIFEST, &object, &fault);
    if (code != TARN_OK)
        return doc_state(code, &fault, &facts->manifest, facts->manifest_why, err);
    *ours = is_own(catalog, &object) && catalog->shown_at >= 0;
    if (!*ours)
        return TARN_OK;
    facts->manifest = TARN_DOC_READ;
    facts->manifest_mtime_ms = object.mtime_ms;
    facts->last_updated = catalog->shown_at;
    memcpy(g->manifest_token, object.token, sizeof g->manifest_token);
    return TARN_OK;
}

/* Of a managed table only one that Tarn did not write needs reading. */
static tarn_code look_at_manifest(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_publication *publication = g->options->catalog->publication;
    bool is_ours = false;

    tarn_code code = tarn_gather_own_manifest(g, &is_ours, err);
    if (code != TARN_OK || is_ours)
        return code;
    code = read_manifest(g, err);
    bool is_other = publication && publication->manifest_token[0] && strcmp(publication->manifest_token, g->manifest_token) != 0;
    return code == TARN_OK && is_other ? judge_other(g, err) : code;
}

/* The snapshot takes the place of what the manifest lists; its duplicates stay told. */
static tarn_code list_catalog(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    struct tarn_facts *facts = g->facts;

    tarn_code code = facts->publication_off ? TARN_OK : look_at_manifest(g, err);
    if (code != TARN_OK)
        return code;
    struct tarn_suspects duplicates = facts->duplicates;
    facts->duplicates = (struct tarn_suspects){ 0 };
    tarn_gather_entries_forget(g);
    facts->duplicates = duplicates;
    return catalog->files(catalog->ctx, tarn_gather_entry, g, err);
}

tarn_code tarn_gather_listing(struct tarn_gather *g, struct tarn_err *err)
{
    tarn_gather_entries_begin(g);
    tarn_code code = g->options->catalog ? list_catalog(g, err) : read_manifest(g, err);
    if (code == TARN_OK)
        code = tarn_gather_entries_end(g, err);
    return code;
}

static tarn_code note_first_token(struct tarn_gather *g, struct tarn_err *err)
{
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_place_stat(g->place, TARN_DOC_MANIFEST, &object, &fault);

    if (code != TARN_OK && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &fault);
    memcpy(g->first_token, object.token, sizeof g->first_token);
    g->first_mtime_ms = object.mtime_ms;
    g->first_bytes = object.size;
    return TARN_OK;
}

tarn_code tarn_gather_heads(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    struct tarn_facts *facts = g->facts;

    if (catalog) {
        facts->publication_off = catalog->shown_version < 0;
        facts->shown_version = catalog->shown_version;
        facts->history_expired = catalog->history_expired;
        facts->version = catalog->table->version;
    }
    if (facts->publication_off)
        return TARN_OK;
    tarn_code code = read_pointer(g, err);
    if (code == TARN_OK)
        code = read_schema(g, err);
    return code == TARN_OK ? note_first_token(g, err) : code;
}
