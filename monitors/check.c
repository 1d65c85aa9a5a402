/* check.c - `tarn check`: a folder judged with no server and no database. The verdict is the same as a scan's, because
 * it is made by the same gathering, judges and document. */
#include "monitors/judge.h"
#include "base/hash.h"
#include "base/json.h"
#include "formats/manifest/manifest.h"
#include "lake/discover.h"
#include <stdio.h>
#include <string.h>

struct check {
    const struct tarn_check_options *options;
    struct tarn_schema_doc schema;
    struct tarn_settings settings;
    struct tarn_facts facts;
    struct tarn_judging judging;
    struct tarn_table *table;
    struct tarn_scan_row row;
};

static void check_done(struct check *c)
{
    tarn_schema_doc_done(&c->schema);
    tarn_facts_done(&c->facts);
    tarn_judging_done(&c->judging);
    tarn_table_free(c->table);
    tarn_scan_row_done(&c->row);
}

static void not_judged(struct check *c, enum tarn_facts_state state, const char *why)
{
    tarn_facts_init(&c->facts);
    c->facts.state = state;
    c->facts.gathered_at = c->options->now_ms;
    snprintf(c->facts.why, sizeof c->facts.why, "%.511s", why);
}

/* --- a folder of tables, which is none itself --- */

struct below {
    bool is_own;   /* its own files make a plain table */
    int64_t count; /* tables that tell their format, below */
    char first[512];
    enum tarn_format format;
};

static tarn_code note_below(void *ctx, const struct tarn_found *found, struct tarn_err *err)
{
    struct below *below = ctx;
    bool is_plain = found->format == TARN_FORMAT_PARQUET;

    (void)err;
    below->is_own |= is_plain && found->path[0] == '\0';
    if (is_plain || found->is_apart || found->path[0] == '\0')
        return TARN_OK;
    if (below->count++ == 0 || strncmp(found->path, below->first, sizeof below->first - 1) < 0) {
        snprintf(below->first, sizeof below->first, "%.511s", found->path);
        below->format = found->format;
    }
    return TARN_OK;
}

/* A lake's root is no plain table because of the Parquet files that its tables hold. True: told, nothing is to be judged. */
static bool holds_tables(struct check *c, struct tarn_place *place)
{
    struct below below = { 0 };
    char why[512];
    TARN_ERR(ignored); /* then it is judged as it looks */

    if (tarn_discover(place, NULL, note_below, &below, NULL, &ignored) != TARN_OK || below.is_own || below.count == 0)
        return false;
    snprintf(why, sizeof why, "no table lies there, but %lld below, the first is %.300s (%s): check each; `tarn discover` lists them",
             (long long)below.count, below.first, tarn_format_text(below.format));
    not_judged(c, TARN_FACTS_NO_TABLE, why);
    return true;
}

static tarn_code open_and_gather(struct check *c, const struct tarn_facts_options *options, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    enum tarn_format format = TARN_FORMAT_MANIFEST;
    TARN_ERR(fault);

    tarn_code code = tarn_place_open_local(c->options->location, &place, &fault);
    if (code != TARN_OK) {
        not_judged(c, TARN_FACTS_UNREACHABLE, fault.detail);
        return TARN_OK;
    }
    if (c->options->format >= 0)
        format = (enum tarn_format)c->options->format;
    else
        code = tarn_facts_detect(place, &format, &fault);
    bool is_vague = c->options->format < 0 && (code == TARN_NOT_FOUND || (code == TARN_OK && format == TARN_FORMAT_PARQUET));
    if (is_vague && holds_tables(c, place))
        return TARN_OK;
    if (code != TARN_OK) {
        bool is_empty = code == TARN_NOT_FOUND;
        not_judged(c, is_empty ? TARN_FACTS_NO_TABLE : TARN_FACTS_UNREACHABLE, fault.detail);
        return TARN_OK;
    }
    return tarn_facts_gather(place, format, options, &c->facts, err);
}

static tarn_code gather(struct check *c, struct tarn_err *err)
{
    const struct tarn_facts_options options = {
        .now_ms = c->options->now_ms,
        .sweep = true,
        .unregistered_grace_ms = tarn_settings_of(&c->settings, "unregistered_data_file")->grace_ms,
        .leftover_grace_ms = tarn_settings_of(&c->settings, "leftover_temp")->grace_ms,
        .corrupt_grace_ms = tarn_settings_of(&c->settings, "corrupt_data_file")->grace_ms,
        .processed_grace_ms = tarn_settings_of(&c->settings, "processed_without_result")->grace_ms,
        .unexpected_grace_ms = tarn_settings_of(&c->settings, "unexpected_file_format")->grace_ms,
        .small_files_least = tarn_small_files_least(&c->settings),
        .small_files_grace_ms = tarn_settings_of(&c->settings, "small_files")->grace_ms,
        .schema = c->options->schema_text ? tarn_schema_doc_current(&c->schema) : NULL,
        .partition_keys = c->options->partition_keys,
    };
    return open_and_gather(c, &options, err);
}

char *tarn_check_folder_name(const char *given)
{
    TARN_AUTO(mem) char *whole = realpath(given, NULL);
    const char *location = whole ? whole : given;
    size_t len = strlen(location);

    while (len > 1 && location[len - 1] == '/')
        len--;
    size_t start = len;
    while (start > 0 && location[start - 1] != '/')
        start--;
    return strndup(location + start, len - start);
}

/* The name of a table that no catalog knows: the manifest's own, which is dotted, else the folder's as it stands. */
static void set_name(struct check *c)
{
    const char *dotted = c->facts.table;
    struct tarn_ident ident;

    if (dotted && tarn_ident_parse(dotted, "table", &ident, NULL) == TARN_OK) {
        c->table->namespace_ = strdup(ident.namespace_);
        c->table->name = strdup(ident.name);
        return;
    }
    c->table->namespace_ = strdup("default");
    c->table->name = dotted && dotted[0] ? strdup(dotted) : tarn_check_folder_name(c->options->location);
}

static tarn_code make_table(struct check *c, struct tarn_err *err)
{
    c->table = calloc(1, sizeof *c->table);
    if (!c->table)
        return tarn_fail_oom(err);
    c->table->mode = TARN_OBSERVED;
    c->table->format = c->facts.format;
    c->table->dropped_at = -1;
    set_name(c);
    c->table->partition_keys = strdup("[]");
    c->table->monitors = strdup("{}");
    bool is_whole = c->table->namespace_ && c->table->name && c->table->partition_keys && c->table->monitors;
    return is_whole ? TARN_OK : tarn_fail_oom(err);
}

/* What a scan would store, every suspect opened: `check` has looked twice. */
static tarn_code make_row(struct check *c, struct tarn_err *err)
{
    tarn_code code = tarn_scan_row_fill(&c->row, &c->facts, err);

    for (size_t i = 0; i < c->judging.out.count && code == TARN_OK; i++) {
        c->judging.out.items[i].opened_at = c->options->now_ms;
        code = tarn_uuid(c->judging.out.items[i].id, err);
    }
    c->row.checked_at = c->options->now_ms;
    c->row.checked_version = c->facts.version;
    c->row.verdict = tarn_verdict_of(&c->judging.out);
    c->row.judged = c->row.verdict != TARN_SEV_UNKNOWN;
    c->row.verdict_since = c->options->now_ms;
    c->row.details = tarn_details_text(&c->facts, &c->settings, &c->judging.out, c->options->now_ms);
    return code == TARN_OK && !c->row.details ? tarn_fail_oom(err) : code;
}

static tarn_code judge(struct check *c, struct tarn_err *err)
{
    c->facts.broke_off = false; /* nothing that was said before stands: it could not be judged */
    c->judging = (struct tarn_judging){ .facts = &c->facts, .settings = &c->settings, .now_ms = c->options->now_ms };
    tarn_code code = tarn_judge_all(&c->judging, err);
    if (code == TARN_OK)
        code = make_table(c, err);
    return code == TARN_OK ? make_row(c, err) : code;
}

static tarn_code write_status(struct check *c, json_t **status, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };

    tarn_status_write(&text, c->table, &c->row, &c->judging.out, NULL, c->options->now_ms);
    tarn_code code = tarn_buf_check(&text, err);
    return code == TARN_OK ? tarn_json_parse(text.data, text.len, NULL, status, err) : code;
}

tarn_code tarn_check_run(const struct tarn_check_options *options, json_t **status, enum tarn_severity *severity,
                         struct tarn_err *err)
{
    __attribute__((cleanup(check_done))) struct check c = { .options = options };
    tarn_code code = TARN_OK;

    tarn_facts_init(&c.facts);
    tarn_settings_resolve(NULL, NULL, &c.settings);
    if (options->schema_text)
        code = tarn_schema_doc_parse(options->schema_text, strlen(options->schema_text), &c.schema, err);
    if (code == TARN_OK)
        code = gather(&c, err);
    if (code == TARN_OK)
        code = judge(&c, err);
    if (code == TARN_OK)
        code = write_status(&c, status, err);
    if (code == TARN_OK)
        *severity = c.row.verdict;
    return code;
}
