/* types.c - the words of the stored enumerations and the release of the stored rows. Each
 * list of words stands in the order of its enum, so that the text is an index away. */
#include "catalog/types.h"
#include <string.h>

static const char *const k_formats[] = { "manifest", "iceberg", "delta", "hudi", "parquet" };
static const char *const k_modes[] = { "managed", "observed" };
static const char *const k_enforcements[] = { "off", "warn", "reject" };
static const char *const k_verifies[] = { "off", "size", "footer" };
static const char *const k_blocks[] = { NULL, "adoption_conflict", "foreign_write", "storage_ahead" };
static const char *const k_severities[] = { "ok", "info", "warning", "error", "unknown" };
static const char *const k_batch_statuses[] = { "running", "completed", "failed", "rolled_back" };
static const char *const k_scopes[] = { NULL, "status:read", "catalog:read", "catalog:write", "admin" };

static const char *word_of(const char *const *words, size_t count, int value)
{
    return value >= 0 && (size_t)value < count ? words[value] : NULL;
}

/* -1 when `text` is none of the words. */
static int index_of(const char *const *words, size_t count, const char *text)
{
    for (size_t i = 0; text && i < count; i++) {
        if (words[i] && strcmp(words[i], text) == 0)
            return (int)i;
    }
    return -1;
}

#define WORDS(noun, type, words)                                                                   \
    const char *tarn_##noun##_text(type v) { return word_of(words, TARN_COUNT(words), (int)v); }   \
    bool tarn_##noun##_parse(const char *text, type *out)                                          \
    {                                                                                              \
        int at = index_of(words, TARN_COUNT(words), text);                                         \
        if (at >= 0)                                                                               \
            *out = (type)at;                                                                       \
        return at >= 0;                                                                            \
    }

WORDS(format, enum tarn_format, k_formats)
WORDS(mode, enum tarn_mode, k_modes)
WORDS(enforcement, enum tarn_enforcement, k_enforcements)
WORDS(verify, enum tarn_verify, k_verifies)
WORDS(block, enum tarn_block, k_blocks)
WORDS(severity, enum tarn_severity, k_severities)
WORDS(batch_status, enum tarn_batch_status, k_batch_statuses)
WORDS(scope, enum tarn_scope, k_scopes)

void tarn_table_free(struct tarn_table *table)
{
    if (!table)
        return;
    free(table->namespace_);
    free(table->name);
    free(table->location);
    free(table->metadata_location);
    free(table->block_document);
    free(table->latest_transaction);
    free(table->partition_keys);
    free(table->properties);
    free(table->owner);
    free(table->monitors);
    free(table);
}

bool tarn_table_is_base(const struct tarn_table *table, int64_t version)
{
    return version == 0 || (version == table->first_version && table->oldest_version <= version);
}

void tarn_namespace_done(struct tarn_namespace *namespace_)
{
    free(namespace_->name);
    free(namespace_->properties);
    free(namespace_->owner);
    free(namespace_->monitors);
    *namespace_ = (struct tarn_namespace){ 0 };
}

void tarn_commit_row_done(struct tarn_commit_row *row)
{
    free(row->transaction);
    free(row->metadata);
    free(row->batch_ids);
    *row = (struct tarn_commit_row){ 0 };
}

void tarn_batch_done(struct tarn_batch *batch)
{
    free(batch->batch_id);
    free(batch->transaction);
    *batch = (struct tarn_batch){ 0 };
}

void tarn_schema_row_done(struct tarn_schema_row *row)
{
    free(row->schema);
    free(row->renames);
    *row = (struct tarn_schema_row){ 0 };
}

void tarn_scan_row_done(struct tarn_scan_row *row)
{
    free(row->latest_transaction);
    free(row->partition_keys);
    free(row->top_transaction);
    free(row->top_uuid);
    free(row->details);
    *row = (struct tarn_scan_row){ 0 };
}

void tarn_finding_done(struct tarn_finding *finding)
{
    free(finding->code);
    free(finding->subject);
    free(finding->message);
    free(finding->observed);
    free(finding->expected);
    free(finding->unit);
    free(finding->cure);
    free(finding->evidence);
    free(finding->ack.by);
    free(finding->ack.comment);
    free(finding->accept.reason);
    free(finding->accept.by);
    free(finding->suppressed_by);
    free(finding->closed_reason);
    *finding = (struct tarn_finding){ 0 };
}

void tarn_silence_done(struct tarn_silence *silence)
{
    free(silence->matchers);
    free(silence->tables);
    free(silence->created_by);
    free(silence->comment);
    *silence = (struct tarn_silence){ 0 };
}

void tarn_silences_done(struct tarn_silences *silences)
{
    for (size_t i = 0; i < silences->count; i++)
        tarn_silence_done(&silences->items[i]);
    free(silences->items);
    *silences = (struct tarn_silences){ 0 };
}

void tarn_findings_done(struct tarn_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        tarn_finding_done(&findings->items[i]);
    free(findings->items);
    *findings = (struct tarn_findings){ 0 };
}

void tarn_token_done(struct tarn_token *token)
{
    free(token->name);
    free(token->tables);
    free(token->roots);
    *token = (struct tarn_token){ 0 };
}

void tarn_tokens_done(struct tarn_tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++)
        tarn_token_done(&tokens->items[i]);
    free(tokens->items);
    *tokens = (struct tarn_tokens){ 0 };
}

void tarn_view_free(struct tarn_view *view)
{
    if (!view)
        return;
    free(view->namespace_);
    free(view->name);
    free(view->location);
    free(view->metadata_location);
    free(view->metadata);
    free(view);
}

void tarn_answered_done(struct tarn_answered *row)
{
    free(row->body);
    row->body = NULL;
}

void tarn_purge_done(struct tarn_purge *purge)
{
    free(purge->name);
    free(purge->location);
    free(purge->metadata_location);
    free(purge->metadata);
    *purge = (struct tarn_purge){ 0 };
}
