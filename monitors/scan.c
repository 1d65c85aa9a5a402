/* scan.c - one scan of one table: gather and judge on a worker, twice where something looks wrong and somebody waits for
 * the verdict; then store what came out. What is open is read again inside the transaction, so that two scans at once
 * do not undo each other; what one saw that was outrun by a later one is not told any more. */
#include "monitors/marks.h"
#include "lake/inherit.h"
#include "monitors/gather.h"
#include "monitors/recalls.h"
#include "monitors/samples.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    FAILED_PAUSE_MS = 5 * 60 * 1000,
    WRITER_MS = 10 * 1000,
    WRITER_PAUSE_MS = 200,
    SHARE = 20 /* a table is scanned at most a twentieth of the time, where its interval allows */
};

/* Between the steps. */
struct scan_state {
    struct tarn_settings settings;
    struct tarn_scan_row before;   /* as the last scan left it */
    bool scanned, sweep;
    int weight;                    /* looks that this one counts for */
    int64_t now_ms;
    int64_t took_ms;
    struct tarn_facts facts;
    struct tarn_findings reports;
    struct tarn_findings unsure;   /* looked wrong in one of two looks only */
    unsigned missed;               /* TARN_SAW_... that one of two looks did not see */
    char *details;
    struct tarn_fileset asked;     /* files of open findings that rest on the log */
    struct tarn_recall *recall;    /* while it looks: what the scan before left; NULL: nothing is kept */
};

static void state_free(struct scan_state *s)
{
    if (!s)
        return;
    tarn_scan_row_done(&s->before);
    tarn_facts_done(&s->facts);
    tarn_findings_done(&s->reports);
    tarn_findings_done(&s->unsure);
    tarn_fileset_done(&s->asked);
    free(s->details);
    free(s);
}

static void scan_done(void *use)
{
    struct tarn_scan_use *u = use;

    state_free(u->private_);
    tarn_table_free(u->table);
    tarn_scan_row_done(&u->scan);
    tarn_findings_done(&u->findings);
}

/* --- check: gather and judge --- */

struct start { struct tarn_scan_use *use; struct scan_state *state; bool has_open; };

static tarn_code start_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct start *start = ctx;
    struct tarn_scan_use *u = start->use;
    TARN_AUTO_DONE(findings) struct tarn_findings open = { 0 };
    TARN_ERR(fault);

    tarn_table_free(tarn_take(&u->table));
    tarn_scan_row_done(&start->state->before);
    start->state->before = (struct tarn_scan_row){ 0 };
    tarn_code code = u->table_id != 0 ? tx->ops->tables.get_by_id(tx, u->table_id, &u->table, err)
                                      : tx->ops->tables.get(tx, u->ident.namespace_, u->ident.name, &u->table, err);
    if (code == TARN_OK && u->table->dropped_at >= 0)
        code = tarn_fail(err, TARN_TABLE_NOT_FOUND, "the table was dropped");
    if (code == TARN_OK)
        code = tarn_inherit_all(tx, u->table, err);
    if (code != TARN_OK)
        return code;
    code = tx->ops->monitors.get(tx, u->table->id, &start->state->before, &fault);
    start->state->scanned = code == TARN_OK;
    if (code != TARN_OK && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &fault);
    code = tx->ops->monitors.findings(tx, u->table->id, &open, err);
    start->has_open = open.count > 0;
    tarn_fileset_clear(&start->state->asked);
    return code == TARN_OK ? tarn_findings_ask(&open, &start->state->asked, err) : code;
}

/* A fault of this house is a scan that failed like any other: it is told, and the next one waits its turn. */
static void take_failure(const struct tarn_scan_use *u, struct scan_state *s, const struct tarn_err *fault)
{
    tarn_facts_done(&s->facts);
    tarn_facts_init(&s->facts);
    s->facts.state = TARN_FACTS_UNREACHABLE;
    s->facts.broke_off = true;
    s->facts.format = u->table->format;
    s->facts.managed = u->table->mode == TARN_MANAGED;
    s->facts.block = u->table->block;
    snprintf(s->facts.why, sizeof s->facts.why, "%s", fault->detail);
}

static tarn_code look(struct tarn_lake *lake, struct tarn_scan_use *u, struct scan_state *s, bool is_again,
                      struct tarn_err *err)
{
    const struct tarn_gather_ask ask = { .table = u->table,
                                         .settings = &s->settings,
                                         .now_ms = s->now_ms,
                                         .before = s->scanned ? &s->before : NULL,
                                         .sweep = s->sweep,
                                         .full = u->confirm && !is_again,
                                         .full_interval_ms = u->defaults ? u->defaults->full_interval_ms : 0,
                                         .files_expected = s->scanned ? s->before.file_count : 0,
                                         .last_data_known = s->scanned ? s->before.last_data_commit : -1,
                                         .asked = &s->asked,
                                         .recall = s->recall };
    TARN_ERR(fault);
    tarn_code code = tarn_scan_gather(lake, &ask, &s->facts, &fault);
    if (code == TARN_INTERNAL)
        take_failure(u, s, &fault);
    else if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    struct tarn_judging judging = { .facts = &s->facts, .settings = &s->settings, .now_ms = s->now_ms };
    code = tarn_judge_all(&judging, err);
    if (code == TARN_OK) {
        tarn_findings_done(&s->reports);
        s->reports = judging.out;
        judging.out = (struct tarn_findings){ 0 };
    }
    tarn_judging_done(&judging);
    return code;
}

static bool is_reported(const struct tarn_findings *reports, const struct tarn_finding *finding)
{
    for (size_t i = 0; i < reports->count; i++)
        if (strcmp(reports->items[i].code, finding->code) == 0 &&
            strcmp(reports->items[i].subject, finding->subject) == 0)
            return true;
    return false;
}

/* Takes what the other list does not report out of the list, into *unsure. */
static tarn_code set_apart(struct tarn_findings *reports, const struct tarn_findings *other,
                           struct tarn_findings *unsure, struct tarn_err *err)
{
    tarn_code code = TARN_OK;
    size_t kept = 0;

    for (size_t i = 0; i < reports->count; i++) {
        if (code != TARN_OK || is_reported(other, &reports->items[i]))
            reports->items[kept++] = reports->items[i];
        else
            code = tarn_findings_add(unsure, &reports->items[i], err);
    }
    reports->count = kept;
    return code;
}

/* A manifest that cannot be read and was changed just now: its writer may be in the middle of it. */
static bool is_being_written(const struct scan_state *s)
{
    return s->facts.manifest == TARN_DOC_BAD && s->now_ms - s->facts.manifest_mtime_ms < WRITER_MS;
}

/* Only what looks wrong both times is a report; what did so once is no good look either. */
static tarn_code look_again(struct tarn_lake *lake, struct tarn_scan_use *u, struct scan_state *s, struct tarn_err *err)
{
    TARN_AUTO_DONE(findings) struct tarn_findings first = s->reports;
    const struct timespec k_pause = { .tv_nsec = WRITER_PAUSE_MS * 1000000L };
    unsigned saw = s->facts.saw;

    if (is_being_written(s))
        (void)nanosleep(&k_pause, NULL);
    s->reports = (struct tarn_findings){ 0 };
    tarn_code code = look(lake, u, s, true, err);
    if (code == TARN_OK)
        code = set_apart(&first, &s->reports, &s->unsure, err);
    if (code == TARN_OK)
        code = set_apart(&s->reports, &first, &s->unsure, err);
    s->missed = s->facts.saw & ~saw;
    s->weight = 2;
    return code;
}

/* Once, or twice where somebody waits for the verdict; with what the scan before left, if anything. */
static tarn_code look_at_all(struct tarn_lake *lake, struct tarn_scan_use *u, struct scan_state *s, bool has_open,
                             struct tarn_err *err)
{
    struct tarn_recalls *recalls = u->defaults ? u->defaults->recalls : NULL;
    bool is_waited_for = u->confirm || !s->scanned;
    TARN_AUTO(mem) char *place = NULL;

    if (asprintf(&place, "%s %d %s", u->table->uuid, (int)u->table->format, u->table->location) < 0)
        return tarn_fail_oom(err);
    s->recall = recalls ? tarn_recalls_take(recalls, u->table_id, place) : NULL;
    tarn_code code = look(lake, u, s, false, err);
    if (code == TARN_OK && is_waited_for && (s->reports.count > 0 || has_open))
        code = look_again(lake, u, s, err);
    if (recalls)
        tarn_recalls_give(recalls, u->table_id, place, s->recall);
    s->recall = NULL;
    return code;
}

static tarn_code scan_check(struct tarn_lake *lake, void *use, struct tarn_err *err)
{
    struct tarn_scan_use *u = use;
    struct scan_state *s = calloc(1, sizeof *s);
    struct start start = { u, s, false };

    state_free(u->private_);
    u->private_ = s;
    if (!s)
        return tarn_fail_oom(err);
    tarn_facts_init(&s->facts);
    tarn_code code = tarn_store_read(lake->store, start_tx, &start, err);
    if (code != TARN_OK)
        return code;
    u->table_id = u->table->id;
    tarn_settings_resolve(u->defaults, u->table->monitors, &s->settings);
    s->now_ms = u->now ? u->now() : tarn_now_ms();
    s->sweep = u->sweep || !s->scanned || s->now_ms >= s->before.next_sweep_at;
    s->weight = 1;
    int64_t began_ms = tarn_monotonic_ms();
    code = look_at_all(lake, u, s, start.has_open, err);
    s->took_ms = tarn_monotonic_ms() - began_ms;
    if (code == TARN_OK)
        s->details = tarn_details_text(&s->facts, &s->settings, &s->reports, s->now_ms);
    return code == TARN_OK && !s->details ? tarn_fail_oom(err) : code;
}

/* --- change: store --- */

/* Spread over a fifth of the interval, by the table's id and the clock: no two scans of a second stay together. */
static int64_t jittered(int64_t interval_ms, int64_t table_id, int64_t now_ms)
{
    uint64_t mix = ((uint64_t)table_id * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)now_ms * UINT64_C(0xbf58476d1ce4e5b9));
    int64_t spread = interval_ms / 5 + 1;

    return interval_ms - spread / 2 + (int64_t)((mix >> 17) % (uint64_t)spread);
}

/* A table that takes long to look at is looked at less often, but not so seldom that it counts as stale. */
static int64_t pause_after(const struct scan_state *s)
{
    int64_t interval_ms = s->settings.interval_ms, wanted_ms = SHARE * s->took_ms, most_ms = 5 * interval_ms / 2;

    if (wanted_ms > most_ms)
        wanted_ms = most_ms;
    return wanted_ms > interval_ms ? wanted_ms : interval_ms;
}

/* Storage that stays silent is asked less often: twice the pause each time, up to five minutes. */
static int64_t pause_after_failure(const struct scan_state *s, int64_t failures)
{
    int64_t pause_ms = s->settings.interval_ms;

    for (int64_t i = 2; i < failures && pause_ms < FAILED_PAUSE_MS; i++)
        pause_ms *= 2;
    if (pause_ms > FAILED_PAUSE_MS)
        pause_ms = FAILED_PAUSE_MS;
    return pause_ms > s->settings.interval_ms ? pause_ms : s->settings.interval_ms;
}

/* A manifest that could not be read, and nobody says yet that it is broken: what the scan before saw stands. */
static bool is_in_doubt(const struct scan_state *s, const struct tarn_findings *findings)
{
    bool doubts = s->facts.manifest == TARN_DOC_BAD;

    for (size_t i = 0; doubts && i < findings->count; i++)
        doubts = strcmp(findings->items[i].code, "manifest_unreadable") != 0 || !tarn_finding_is_open(&findings->items[i]);
    return doubts;
}

static tarn_code fill_row(const struct scan_state *s, const struct tarn_table *table,
                          const struct tarn_findings *findings, struct tarn_scan_row *row, struct tarn_err *err)
{
    bool stands = row->checked_at >= 0 && is_in_doubt(s, findings);
    bool has_failed = s->facts.state == TARN_FACTS_UNREACHABLE;

    row->table_id = table->id;
    row->failures = has_failed ? row->failures + 1 : 0;
    row->failures_total += has_failed;
    int64_t pause_ms = has_failed ? pause_after_failure(s, row->failures) : pause_after(s);
    row->next_probe_at = s->now_ms + jittered(pause_ms, table->id, s->now_ms);
    row->first_failed_at = !has_failed ? -1 : row->first_failed_at < 0 ? s->now_ms : row->first_failed_at;
    if (has_failed)
        return TARN_OK;
    if (s->sweep)
        row->next_sweep_at = s->now_ms + jittered(s->settings.sweep_interval_ms, table->id, s->now_ms);
    row->checked_at = s->now_ms;
    row->duration_ms = s->took_ms;
    if (stands)
        return TARN_OK;
    row->checked_version = s->facts.managed ? table->version : s->facts.version;
    TARN_AUTO(mem) char *known = tarn_details_merge(row->details, s->details, &s->facts);
    free(row->details);
    row->details = known ? tarn_details_with_flapping(known, row->flapping) : NULL;
    if (!row->details)
        return tarn_fail_oom(err);
    return tarn_scan_row_fill(row, &s->facts, err);
}

static tarn_code merge_tx(struct tarn_tx *tx, struct tarn_scan_use *u, struct scan_state *s, struct tarn_err *err)
{
    TARN_AUTO_DONE(findings) struct tarn_findings before = { 0 };
    __attribute__((cleanup(tarn_merged_done))) struct tarn_merged merged = { 0 };
    int64_t until_ms;

    tarn_code code = tx->ops->monitors.findings(tx, u->table->id, &before, err);
    if (code == TARN_OK)
        code = tarn_findings_mark(tx, u->table, u->defaults, s->now_ms, &s->reports, &until_ms, err);
    const struct tarn_merge merge = { .before = &before,
                                      .reports = &s->reports,
                                      .unsure = &s->unsure,
                                      .facts = &s->facts,
                                      .missed = s->missed,
                                      .table_id = u->table->id,
                                      .now_ms = s->now_ms,
                                      .weight = s->weight,
                                      .baseline = !s->scanned };
    if (code == TARN_OK)
        code = tarn_findings_merge(&merge, &merged, err);
    if (code == TARN_OK)
        code = tarn_merged_store(tx, u->table, &merged, s->now_ms, err);
    if (code != TARN_OK)
        return code;
    u->scan.flapping += merged.flapped;
    tarn_findings_done(&u->findings);
    u->findings = merged.live;
    merged.live = (struct tarn_findings){ 0 };
    return TARN_OK;
}

/* Did a scan that began later, and looked at no less, end sooner? What this one saw is over. (A time that is still to come says
 * nothing: the clock was set back.) */
static bool is_outrun(const struct tarn_scan_use *u, const struct scan_state *s)
{
    int64_t now_ms = u->now ? u->now() : tarn_now_ms();
    bool is_sweep = u->scan.next_sweep_at != s->before.next_sweep_at;

    return u->scan.checked_at > s->now_ms && u->scan.checked_at <= now_ms && (is_sweep || !s->sweep);
}

static tarn_code scan_change(struct tarn_tx *tx, void *use, struct tarn_err *err)
{
    struct tarn_scan_use *u = use;
    struct scan_state *s = u->private_;
    struct tarn_table *table = NULL;
    bool scanned = false;

    tarn_code code = tx->ops->tables.get_by_id(tx, u->table_id, &table, err);
    if (code != TARN_OK)
        return code;
    tarn_table_free(u->table);
    u->table = table;
    if (table->dropped_at >= 0)
        return tarn_fail(err, TARN_TABLE_NOT_FOUND, "the table was dropped");
    code = tarn_inherit_all(tx, table, err);
    if (code == TARN_OK)
        code = tarn_scan_row_read(tx, table->id, &u->scan, &scanned, err);
    if (code == TARN_OK && scanned && is_outrun(u, s)) {
        tarn_findings_done(&u->findings);
        return tx->ops->monitors.findings(tx, table->id, &u->findings, err);
    }
    if (code == TARN_OK)
        code = merge_tx(tx, u, s, err);
    if (code == TARN_OK)
        code = tarn_foreign_ids_take(tx, &s->facts.log, table->id, err);
    if (code == TARN_OK)
        code = tarn_marks_keep(&u->scan, &s->facts, &u->findings, err);
    if (code == TARN_OK)
        code = fill_row(s, table, &u->findings, &u->scan, err);
    if (code != TARN_OK)
        return code;
    if (!scanned)
        u->scan.verdict_since = s->now_ms;
    tarn_scan_row_judge(&u->scan, &u->findings, s->now_ms);
    code = tx->ops->monitors.put(tx, &u->scan, err);
    if (code != TARN_OK || s->facts.state == TARN_FACTS_UNREACHABLE)
        return code;
    return tarn_sample_take(tx, table, &u->scan, &u->findings, u->defaults, s->now_ms, err);
}

const struct tarn_use tarn_scan = {
    .name = "scan",
    .size = sizeof(struct tarn_scan_use),
    .check = scan_check,
    .is_slow = true,
    .change = scan_change,
    .done = scan_done,
};
