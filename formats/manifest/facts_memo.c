/* facts_memo.c - what log and listing said last time, told again as long as everything that they were made of is the same:
 * the log's folder, pointer, manifest, schema and the table's row. A memo is a copy; who fills in a further fact from log or
 * listing names it here too. */
#include "base/text.h"
#include "formats/manifest/gather.h"
#include "base/time.h"
#include <stddef.h>
#include <string.h>

static const size_t k_texts[] = {
    offsetof(struct tarn_facts, table),          offsetof(struct tarn_facts, last_updated_text),
    offsetof(struct tarn_facts, manifest_catalog), offsetof(struct tarn_facts, manifest_uuid),
    offsetof(struct tarn_facts, manifest_transaction), offsetof(struct tarn_facts, latest_transaction),
    offsetof(struct tarn_facts, partition_keys),
};
static const size_t k_lists[] = {
    offsetof(struct tarn_facts, symlinks),       offsetof(struct tarn_facts, leftovers),
    offsetof(struct tarn_facts, duplicates),
    offsetof(struct tarn_facts, invalid_paths),  offsetof(struct tarn_facts, unexpected),
    offsetof(struct tarn_facts, sizes),          offsetof(struct tarn_facts, partition_drift),
    offsetof(struct tarn_facts, no_partition_values), offsetof(struct tarn_facts, no_column_stats),
    offsetof(struct tarn_facts, not_in_manifest), offsetof(struct tarn_facts, still_listed),
    offsetof(struct tarn_facts, log.undated),    offsetof(struct tarn_facts, log.misnamed),
    offsetof(struct tarn_facts, log.twice),      offsetof(struct tarn_facts, duplicate_batches),
};

static void copy_plain(const struct tarn_facts *from, struct tarn_facts *to)
{
    to->saw |= from->saw & (TARN_SAW_LOG | TARN_SAW_ENTRIES | TARN_SAW_BATCHES | TARN_SAW_TEXTS | TARN_SAW_LIFE);
    to->version = from->version;
    to->file_count = from->file_count;
    to->total_bytes = from->total_bytes;
    to->rows = from->rows;
    to->stats_files = from->stats_files;
    to->life = from->life;
    to->life_maybe = from->life_maybe;
    to->manifest = from->manifest;
    memcpy(to->manifest_why, from->manifest_why, sizeof to->manifest_why);
    to->manifest_mtime_ms = from->manifest_mtime_ms;
    to->last_updated = from->last_updated;
    to->last_updated_missing = from->last_updated_missing;
    to->last_updated_naive = from->last_updated_naive;
    to->last_updated_bad = from->last_updated_bad;
    to->foreign_manifest = from->foreign_manifest;
}

/* The lists of `log` are copied with the others. */
static bool copy_log(const struct tarn_log_facts *from, struct tarn_log_facts *to)
{
    struct tarn_log_entry *entries = malloc((from->count + 1) * sizeof *entries);

    if (!entries)
        return false;
    if (from->count > 0)
        memcpy(entries, from->entries, from->count * sizeof *entries);
    free(to->entries);
    free(to->told);
    tarn_buf_done(&to->names);
    *to = *from;
    to->entries = entries;
    to->cap = from->count + 1;
    to->names = (struct tarn_buf){ 0 };
    to->told = NULL; /* of no use once the entries were read */
    to->told_count = to->told_cap = 0;
    to->undated = to->misnamed = to->twice = (struct tarn_suspects){ 0 };
    tarn_buf_add(&to->names, from->names.data, from->names.len);
    return !to->names.failed;
}

static tarn_code copy_facts(const struct tarn_facts *from, struct tarn_facts *to, struct tarn_err *err)
{
    tarn_code code = copy_log(&from->log, &to->log) ? TARN_OK : tarn_fail_oom(err);

    copy_plain(from, to);
    for (size_t i = 0; i < TARN_COUNT(k_texts) && code == TARN_OK; i++) {
        const char *const *text = (const void *)((const char *)from + k_texts[i]);
        code = tarn_text_set((char **)(void *)((char *)to + k_texts[i]), *text) ? TARN_OK : tarn_fail_oom(err);
    }
    for (size_t i = 0; i < TARN_COUNT(k_lists) && code == TARN_OK; i++)
        code = tarn_suspects_join((struct tarn_suspects *)(void *)((char *)to + k_lists[i]),
                                  (const struct tarn_suspects *)(const void *)((const char *)from + k_lists[i]), NULL,
                                  err);
    return code;
}

static tarn_code copy_words(const struct tarn_fileset *from, struct tarn_fileset *to, struct tarn_err *err)
{
    tarn_fileset_done(to);
    if (from->count == 0)
        return TARN_OK;
    to->slots = malloc(from->cap * sizeof *to->slots);
    if (!to->slots)
        return tarn_fail_oom(err);
    memcpy(to->slots, from->slots, from->cap * sizeof *to->slots);
    to->cap = from->cap;
    to->count = from->count;
    return TARN_OK;
}

/* --- the key --- */

static bool forget_state(void *ctx, const struct tarn_folder_state *state)
{
    *(struct tarn_folder_state *)ctx = *state;
    return false;
}

static void add_number(struct tarn_buf *buf, int64_t number) { tarn_buf_add(buf, &number, sizeof number); }

static void add_text(struct tarn_buf *buf, const char *text)
{
    tarn_buf_addc(buf, text ? 'T' : 'N');
    if (text)
        tarn_buf_add(buf, text, strlen(text) + 1);
}

static void add_catalog(struct tarn_buf *buf, const struct tarn_facts_catalog *catalog)
{
    if (!catalog)
        return;
    add_text(buf, catalog->shown_transaction);
    add_text(buf, catalog->publication ? catalog->publication->manifest_token : NULL);
    add_number(buf, catalog->shown_version);
    add_number(buf, catalog->shown_at);
    add_number(buf, catalog->table->revision);
    add_number(buf, catalog->table->oldest_version);
}

tarn_code tarn_gather_key(struct tarn_gather *g, uint64_t *key, struct tarn_err *err)
{
    const struct tarn_facts *facts = g->facts;
    TARN_AUTO_DONE(buf) struct tarn_buf buf = { 0 };
    struct tarn_folder_state log = { .keeps_time = true };
    int64_t racy_since_ms = tarn_now_ms() - tarn_gather_racy_ms(g);
    TARN_ERR(fault);

    *key = 0;
    tarn_code code = tarn_place_folder(g->place, TARN_DIR_LOG, forget_state, NULL, &log, &fault);
    if (code != TARN_OK && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &fault);
    bool is_racy = !log.keeps_time || log.changed_ns / 1000000 > racy_since_ms || g->first_mtime_ms > racy_since_ms ||
                   g->schema_mtime_ms > racy_since_ms;
    if (is_racy)
        return TARN_OK;
    add_number(&buf, (int64_t)log.id);
    add_number(&buf, log.changed_ns);
    add_text(&buf, facts->pointer_id);
    add_number(&buf, facts->pointer);
    add_text(&buf, g->first_token);
    add_text(&buf, g->schema_token);
    add_text(&buf, g->options->partition_keys);
    add_number(&buf, g->options->revision);
    add_catalog(&buf, g->options->catalog);
    code = tarn_buf_check(&buf, err);
    if (code == TARN_OK)
        *key = tarn_hash128(buf.data, buf.len).lo | 1;
    return code;
}

/* --- keeping and telling again --- */

static bool is_kept_worth(const struct tarn_gather *g)
{
    enum { WORDS_MAX = 1 << 20, ENTRIES_MAX = 200000 };

    bool is_read = g->facts->manifest == TARN_DOC_READ || g->facts->publication_off;

    return is_read && g->files.count < WORDS_MAX && g->facts->log.count < ENTRIES_MAX &&
           strcmp(g->first_token, g->manifest_token) == 0;
}

tarn_code tarn_gather_keep(struct tarn_gather *g, uint64_t key, struct tarn_err *err)
{
    struct tarn_memo *memo = &g->recall->memo;

    tarn_memo_done(memo);
    if (key == 0 || !is_kept_worth(g))
        return TARN_OK;
    tarn_facts_init(&memo->facts);
    tarn_code code = copy_facts(g->facts, &memo->facts, err);
    if (code == TARN_OK)
        code = copy_words(&g->files, &memo->words, err);
    memo->partition_keys = g->partition_keys ? json_dumps(g->partition_keys, JSON_COMPACT) : NULL;
    if (code == TARN_OK && g->partition_keys && !memo->partition_keys)
        code = tarn_fail_oom(err);
    memo->unread_before_ms = g->unread_before_ms;
    memo->of_sweep = g->options->sweep;
    memo->key = code == TARN_OK ? key : 0;
    return code;
}

tarn_code tarn_gather_tell_again(struct tarn_gather *g, uint64_t key, bool *told, struct tarn_err *err)
{
    const struct tarn_memo *memo = &g->recall->memo;

    *told = key != 0 && memo->key == key && (memo->of_sweep || !g->options->sweep);
    if (!*told)
        return TARN_OK;
    tarn_code code = copy_facts(&memo->facts, g->facts, err);
    if (code == TARN_OK)
        code = copy_words(&memo->words, &g->files, err);
    json_decref(g->partition_keys);
    g->partition_keys = memo->partition_keys ? json_loads(memo->partition_keys, 0, NULL) : NULL;
    g->unread_before_ms = memo->unread_before_ms;
    memcpy(g->manifest_token, g->first_token, sizeof g->manifest_token);
    return code;
}
