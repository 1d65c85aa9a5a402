/* transaction_gaps.c - holes in the log. At or below the pointer a hole is an entry that was written and lost, above it
 * a batch that was left out; of a managed table the catalog knows which ids there must be. Contiguous holes are one
 * finding. Ids that do not run by number are not judged by number. */
#include "monitors/judge.h"
#include <stdio.h>
#include <string.h>

enum { ID_TEXT = TARN_TXN_ID_MAX + 24, RANGES_MAX = TARN_EXAMPLES_MAX };

struct hole {
    int64_t first, last;
    bool newest;    /* holds the newest committed transaction */
    int64_t age_ms; /* of what proves it */
};
/* The holes of one code, folded when there are too many. */
struct holes {
    struct hole items[RANGES_MAX];
    size_t count;
    int64_t ranges, ids; /* all of them */
    bool newest;         /* any holds the newest committed one */
};

static void add_hole(struct holes *holes, struct hole hole)
{
    if (holes->count < RANGES_MAX)
        holes->items[holes->count++] = hole;
    holes->ranges++;
    holes->ids += hole.last - hole.first + 1;
    holes->newest |= hole.newest;
}

static void range_text(const struct tarn_log_facts *log, const struct hole *hole, char *out, size_t size)
{
    char first[ID_TEXT], last[ID_TEXT];

    tarn_log_number_id(log, hole->first, first);
    tarn_log_number_id(log, hole->last, last);
    if (hole->first == hole->last)
        snprintf(out, size, "%s", first);
    else
        snprintf(out, size, "%s..%s", first, last);
}

static void report_hole(struct tarn_judging *j, const char *code, bool newest, const char *subject, const char *message,
                        int64_t ids)
{
    tarn_judge_report(j, code,
                      &(struct tarn_report){ .severity = newest ? TARN_SEV_ERROR : TARN_SEV_OK,
                                             .subject = subject,
                                             .message = message,
                                             .evidence = json_pack("{s:I}", "count", (json_int_t)ids) });
}

static void report_holes(struct tarn_judging *j, const char *code, const struct holes *holes)
{
    char subject[2 * ID_TEXT + 4], message[2 * ID_TEXT + 128];

    for (size_t i = 0; i < holes->count && holes->ranges <= RANGES_MAX; i++) {
        const struct hole *hole = &holes->items[i];
        range_text(&j->facts->log, hole, subject, sizeof subject);
        report_hole(j, code, hole->newest, subject, NULL, hole->last - hole->first + 1);
    }
    if (holes->ranges <= RANGES_MAX)
        return;
    range_text(&j->facts->log, &holes->items[0], subject, sizeof subject);
    snprintf(message, sizeof message, "%s: %s ids, the first is %s", code, tarn_judge_number(holes->ids), subject);
    report_hole(j, code, holes->newest, "*", message, holes->ids);
}

/* What is missing there is cut off, not lost: below a checkpoint, or adopted and gone from the oldest on. */
struct cover {
    int64_t number; /* ids up to it are covered; -1: none by number */
    size_t entries; /* the first ones, in the log's order */
    bool has_cut;   /* something is missing among them */
};

static int64_t checkpoint_number(const struct tarn_log_facts *log)
{
    size_t prefix_len;
    int64_t number;
    bool is_same = log->numbered && tarn_txn_id_number(log->checkpoint, &prefix_len, &number) &&
                   strlen(log->prefix) == prefix_len && strncmp(log->prefix, log->checkpoint, prefix_len) == 0;

    return is_same ? number : -1;
}

/* Entries up to the checkpoint's own, which stands where its id or its time says. */
static size_t below_checkpoint(const struct tarn_log_facts *log, int64_t number)
{
    size_t count = 0;

    if (log->checkpoint[0] == '\0')
        return 0;
    if (number >= 0) {
        while (count < log->count && log->entries[count].number <= number)
            count++;
        return count;
    }
    for (size_t i = 0; i < log->count; i++)
        if (strcmp(tarn_log_id(log, &log->entries[i]), log->checkpoint) == 0)
            count = i + 1;
    return count;
}

static struct cover cover_of(const struct tarn_log_facts *log)
{
    struct cover cover = { .number = checkpoint_number(log) };
    size_t adopted = 0, newest = 0;

    cover.entries = below_checkpoint(log, cover.number);
    for (size_t i = 0; i < log->count; i++)
        newest = log->entries[i].committed ? i : newest;
    while (adopted < newest && log->entries[adopted].absent && log->entries[adopted].adopted)
        adopted++;
    if (adopted > cover.entries)
        cover.entries = adopted;
    for (size_t i = 0; i < cover.entries; i++)
        cover.has_cut |= log->entries[i].absent ||
                         (i > 0 && log->numbered && log->entries[i].number > log->entries[i - 1].number + 1);
    return cover;
}

struct judged {
    struct holes lost, left_out;
    struct cover cover;
    int64_t proof_ms; /* of what is committed above the newest entry */
};

/* Numbers first..last have no entry; `entry` is the present one above, NULL above the newest. */
static void note_hole(struct tarn_judging *j, struct judged *out, int64_t first, int64_t last,
                      const struct tarn_log_entry *entry, int64_t pointer, bool is_lost)
{
    int64_t proof_ms = entry ? entry->mtime_ms : out->proof_ms;
    const char *code = is_lost ? "missing_transaction_log_entry" : "transaction_gap";
    struct hole hole = { first, last, is_lost && pointer >= first && pointer <= last, j->now_ms - proof_ms };

    if (first <= last && hole.age_ms > tarn_settings_of(j->settings, code)->grace_ms)
        add_hole(is_lost ? &out->lost : &out->left_out, hole);
}

/* Observed: the part of a hole at or below what is committed was lost, the part above left out. Where neither pointer nor
 * manifest tells what that is, all of it is. */
static void split_hole(struct tarn_judging *j, struct judged *out, int64_t first, int64_t last,
                       const struct tarn_log_entry *entry, int64_t pointer)
{
    int64_t border = pointer < 0 ? last : pointer < first ? first - 1 : pointer < last ? pointer : last;

    note_hole(j, out, first, border, entry, pointer, true);
    note_hole(j, out, border + 1, last, entry, pointer, false);
}

static void judge_observed(struct tarn_judging *j, struct judged *out)
{
    const struct tarn_log_facts *log = &j->facts->log;
    int64_t pointer = tarn_log_committed_number(j->facts, &out->proof_ms);

    for (size_t i = 1; i < log->count; i++) {
        int64_t before = log->entries[i - 1].number;
        if (before < out->cover.number)
            before = out->cover.number;
        split_hole(j, out, before + 1, log->entries[i].number - 1, &log->entries[i], pointer);
    }
    int64_t newest = log->count > 0 ? log->entries[log->count - 1].number : pointer - 1;
    if (pointer >= 0 && newest < pointer)
        note_hole(j, out, newest + 1, pointer, NULL, pointer, true);
}

/* Managed: numbers that no commit may have lie between the holes. */
static void note_left_out(struct tarn_judging *j, struct judged *out, int64_t first, int64_t last,
                          const struct tarn_log_entry *entry)
{
    const struct tarn_log_facts *log = &j->facts->log;

    for (size_t i = 0; i < log->taken_count; i++) {
        if (log->taken[i] < first || log->taken[i] > last)
            continue;
        note_hole(j, out, first, log->taken[i] - 1, entry, -1, false);
        first = log->taken[i] + 1;
    }
    note_hole(j, out, first, last, entry, -1, false);
}

/* A commit takes a number above every one that somebody else put into the log: what lies between was not left out. */
static bool is_taken(const struct tarn_log_facts *log, int64_t number)
{
    for (size_t i = 0; i < log->taken_count; i++)
        if (log->taken[i] == number)
            return true;
    return false;
}

/* Managed: an absent entry was committed; a number that never was, was lost before Tarn or left out since. */
static void judge_managed(struct tarn_judging *j, struct judged *out)
{
    const struct tarn_log_facts *log = &j->facts->log;
    const struct tarn_log_entry *newest_committed = NULL;
    bool in_run = false;
    struct hole run = { 0 };

    for (size_t i = 0; i < log->count; i++)
        newest_committed = log->entries[i].committed ? &log->entries[i] : newest_committed;
    for (size_t i = out->cover.entries; i < log->count; i++) {
        const struct tarn_log_entry *entry = &log->entries[i];
        int64_t before = i > out->cover.entries ? log->entries[i - 1].number : entry->number - 1;
        bool is_lost = entry->adopted && before + 1 < entry->number;
        bool is_explained = entry->intruder || is_taken(log, entry->number - 1); /* such a number proves nothing */
        if (before + 1 < entry->number && !is_lost && !is_explained)
            note_left_out(j, out, before + 1, entry->number - 1, entry);
        bool goes_on = in_run && before + 1 == entry->number && entry->absent;
        if (in_run && !goes_on && !is_lost) {
            add_hole(&out->lost, run);
            in_run = false;
        }
        if (is_lost && !in_run)
            run = (struct hole){ .first = before + 1 };
        else if (entry->absent && !in_run)
            run = (struct hole){ .first = entry->number };
        in_run |= is_lost || entry->absent;
        if (!in_run)
            continue;
        run.last = entry->absent ? entry->number : entry->number - 1;
        run.newest |= entry->absent && entry == newest_committed;
    }
    if (in_run)
        add_hole(&out->lost, run);
}

/* Without numbers only what the catalog knows can be missed. */
static void judge_absent_by_id(struct tarn_judging *j, const struct cover *cover)
{
    const struct tarn_log_facts *log = &j->facts->log;
    const struct tarn_log_entry *newest = NULL;

    for (size_t i = 0; i < log->count; i++)
        newest = log->entries[i].committed ? &log->entries[i] : newest;
    for (size_t i = cover->entries; i < log->count; i++)
        if (log->entries[i].absent)
            tarn_judge_report(j, "missing_transaction_log_entry",
                              &(struct tarn_report){
                                  .severity = &log->entries[i] == newest ? TARN_SEV_ERROR : TARN_SEV_OK,
                                  .subject = tarn_log_id(log, &log->entries[i]) });
}

/* --- without numbers --- */

/* Observed: the pointer names an entry, or the checkpoint that stands for it. */
static void judge_pointer_entry(struct tarn_judging *j)
{
    const struct tarn_facts *facts = j->facts;
    const struct tarn_log_facts *log = &facts->log;
    int64_t grace_ms = tarn_settings_of(j->settings, "missing_transaction_log_entry")->grace_ms;
    bool is_there = !facts->pointer_id || tarn_txn_id_same(facts->pointer_id, log->checkpoint);

    for (size_t i = 0; i < log->count && !is_there; i++)
        is_there = tarn_txn_id_same(facts->pointer_id, tarn_log_id(log, &log->entries[i]));
    if (is_there || facts->managed || j->now_ms - facts->pointer_mtime_ms <= grace_ms)
        return;
    tarn_judge_report(j, "missing_transaction_log_entry",
                      &(struct tarn_report){ .severity = TARN_SEV_ERROR, .subject = facts->pointer_id });
}

static int by_version(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Observed: entries that tell their versions show what is missing between them, whatever their ids. */
static void judge_version_holes(struct tarn_judging *j)
{
    const struct tarn_log_facts *log = &j->facts->log;
    TARN_AUTO(mem) int64_t *versions = calloc(log->count + 1, sizeof *versions);
    size_t count = 0, holes = 0;
    char subject[64];

    j->failed |= !versions;
    for (size_t i = 0; i < log->count && versions; i++)
        if (log->entries[i].committed && log->entries[i].version >= 0)
            versions[count++] = log->entries[i].version;
    if (count > 1)
        qsort(versions, count, sizeof *versions, by_version);
    for (size_t i = 1; i < count && holes < RANGES_MAX; i++) {
        if (versions[i] <= versions[i - 1] + 1)
            continue;
        holes++;
        snprintf(subject, sizeof subject, "version %s", tarn_judge_number(versions[i - 1] + 1));
        if (versions[i] > versions[i - 1] + 2)
            snprintf(subject, sizeof subject, "versions %s..%s", tarn_judge_number(versions[i - 1] + 1),
                     tarn_judge_number(versions[i] - 1));
        tarn_judge_report(j, "missing_transaction_log_entry", &(struct tarn_report){ .subject = subject });
    }
}

/* The oldest entries are gone, and rightly so. */
static void judge_history(struct tarn_judging *j, const struct cover *cover)
{
    const struct tarn_log_facts *log = &j->facts->log;
    bool is_late = log->count > 0 && tarn_log_is_dense(log) && log->entries[0].number > 1 && !j->facts->managed;
    size_t first = 0;

    if (!is_late && !cover->has_cut && !j->facts->history_expired)
        return;
    while (first < log->count && log->entries[first].absent)
        first++;
    bool is_known = first < log->count && log->numbered;
    tarn_judge_report(j, "history_truncated",
                      &(struct tarn_report){ .subject = TARN_LOG_SUBJECT,
                                             .observed = is_known ? tarn_judge_number(log->entries[first].number) : NULL,
                                             .expected = is_known ? "1" : NULL });
}

static void judge_numbers(struct tarn_judging *j)
{
    const struct tarn_facts *facts = j->facts;
    const struct tarn_log_facts *log = &facts->log;
    struct judged out = { .cover = cover_of(log) };
    char message[256];

    if (!tarn_log_is_dense(log) && log->count > 0) {
        snprintf(message, sizeof message, "gap_check_disabled: %s",
                 log->why_not[0] ? log->why_not : "fewer than half of the numbers follow each other");
        tarn_judge_report(j, "gap_check_disabled",
                          &(struct tarn_report){ .subject = TARN_LOG_SUBJECT, .message = message });
        judge_absent_by_id(j, &out.cover);
        judge_pointer_entry(j);
        if (!facts->managed)
            judge_version_holes(j);
        judge_history(j, &out.cover);
        return;
    }
    if (facts->managed)
        judge_managed(j, &out);
    else
        judge_observed(j, &out);
    if (tarn_log_pointer_number(facts) < 0)
        judge_pointer_entry(j);
    report_holes(j, "missing_transaction_log_entry", &out.lost);
    report_holes(j, "transaction_gap", &out.left_out);
    judge_history(j, &out.cover);
}

/* Entry by entry: committed but unreadable, or written and never committed. */
static void judge_entries(struct tarn_judging *j)
{
    const struct tarn_log_facts *log = &j->facts->log;
    struct tarn_suspects uncommitted = { 0 }, unreadable = { 0 }, newest = { 0 };
    int64_t pending_ms = tarn_settings_of(j->settings, "uncommitted_transaction")->grace_ms;
    int64_t settled_ms = tarn_settings_of(j->settings, "unreadable_transaction_log_entry")->grace_ms;
    int64_t in_manifest = tarn_log_manifest_number(j->facts);
    const struct tarn_log_entry *last = NULL; /* the newest committed one */

    for (size_t i = 0; i < log->count; i++)
        last = log->entries[i].committed ? &log->entries[i] : last;
    for (size_t i = 0; i < log->count; i++) {
        const struct tarn_log_entry *entry = &log->entries[i];
        int64_t age_ms = j->now_ms - entry->mtime_ms;
        struct tarn_suspects *list = NULL;
        bool is_shown = entry->number >= 0 && entry->number <= in_manifest; /* it is the pointer that is behind */
        bool is_copy = i > 0 && log->numbered && entry[-1].number == entry->number; /* duplicate_transaction says so */
        if (!entry->committed && !j->facts->managed && !is_shown && !is_copy && age_ms > pending_ms)
            list = &uncommitted;
        if (entry->committed && entry->unreadable && age_ms > settled_ms)
            list = entry == last ? &newest : &unreadable;
        if (list && tarn_suspects_add(list, tarn_log_id(log, entry), NULL, -1, -1, entry->mtime_ms, NULL) != TARN_OK)
            j->failed = true;
    }
    tarn_judge_suspects(j, "uncommitted_transaction", &uncommitted, TARN_SEV_OK);
    tarn_judge_suspects(j, "unreadable_transaction_log_entry", &newest, TARN_SEV_ERROR);
    tarn_judge_suspects(j, "unreadable_transaction_log_entry", &unreadable, TARN_SEV_OK);
    tarn_suspects_done(&uncommitted);
    tarn_suspects_done(&unreadable);
    tarn_suspects_done(&newest);
}

void tarn_judge_transaction_gaps(struct tarn_judging *j)
{
    const struct tarn_facts *facts = j->facts;

    if (facts->state != TARN_FACTS_READ || facts->format != TARN_FORMAT_MANIFEST || facts->publication_off)
        return;
    judge_numbers(j);
    judge_entries(j);
}
