/* Holes in the log, over facts written down by hand. */
#include "tests/monitors/judged.h"
#include "base/own.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* "1 2 4+ 5! 6~ 7^": numbers; + not committed, ! unreadable, ~ absent, ^ adopted, * an intruder, > above a taken id; ages are an hour, with ' ten seconds. */
static void add_entries(struct tarn_log_facts *log, const char *text)
{
    static struct tarn_log_entry entries[64];

    log->entries = entries;
    log->numbered = true;
    snprintf(log->prefix, sizeof log->prefix, "txn-");
    while (*text) {
        struct tarn_log_entry *entry = &entries[log->count++];
        char id[32];
        char *end;
        *entry = (struct tarn_log_entry){ .number = strtoll(text, &end, 10), .mtime_ms = NOW - 60 * MINUTE, .committed = true };
        for (; *end && *end != ' '; end++) {
            entry->committed &= *end != '+';
            entry->unreadable |= *end == '!';
            entry->absent |= *end == '~';
            entry->adopted |= *end == '^';
            entry->intruder |= *end == '*';
            if (*end == '>') {
                static int64_t taken;
                taken = entry->number - 1;
                log->taken = &taken;
                log->taken_count = 1;
            }
            if (*end == '\'')
                entry->mtime_ms = NOW - 10000;
        }
        snprintf(id, sizeof id, "txn-%lld", (long long)entry->number);
        entry->id_at = entry->file_at = (uint32_t)log->names.len;
        tarn_buf_add(&log->names, id, strlen(id) + 1);
        text = end + (*end == ' ');
    }
}

static const struct { const char *entries, *pointer; bool managed; const char *expected; } k_rows[] = {
    { "1 2 3", "txn-3", false, "" },
    { "", NULL, false, "" },
    { "1 2 4 5", "txn-5", false, "missing_transaction_log_entry txn-3 warning" },
    { "1 5 6 8", "txn-8", false, "missing_transaction_log_entry txn-2..txn-4 warning; missing_transaction_log_entry txn-7 warning" },
    { "1 2", "txn-3", false, "missing_transaction_log_entry txn-3 error" },
    { "1 2", "txn-5", false, "missing_transaction_log_entry txn-3..txn-5 error" },
    { "", "txn-1", false, "missing_transaction_log_entry txn-1 error" },
    { "1 2 4+", "txn-2", false, "transaction_gap txn-3 warning; uncommitted_transaction txn-4 warning" },
    { "1 2 4+'", "txn-2", false, "" },                /* both are in flight: the proof is ten seconds old */
    { "1 2 3+'", "txn-2", false, "" },
    { "1 2 6+", "txn-4", false, "missing_transaction_log_entry txn-3..txn-4 error; transaction_gap txn-5 warning; "
                                "uncommitted_transaction txn-6 warning" },
    { "5 6 7", "txn-7", false, "history_truncated _transactions info" },
    { "1 2! 3", "txn-3", false, "unreadable_transaction_log_entry txn-2 warning" },
    { "1 2 3!", "txn-3", false, "unreadable_transaction_log_entry txn-3 error" },
    { "1 2 3!'", "txn-3", false, "" },
    { "10 20 30 40 50 60 70 80", "txn-80", false, "gap_check_disabled _transactions info" },
    { "1 2 3 4 6 8 10 12", "txn-12", false, "gap_check_disabled _transactions info" }, /* 3 of 7 steps */
    { "1 2 3 4 5 7 9 11", "txn-11", false, "missing_transaction_log_entry txn-10 warning; missing_transaction_log_entry txn-6 "
                                           "warning; missing_transaction_log_entry txn-8 warning" },
    { "1 2~ 3", "txn-3", true, "missing_transaction_log_entry txn-2 warning" },
    { "1 2~ 3~ 4", "txn-4", true, "missing_transaction_log_entry txn-2..txn-3 warning" },
    { "1 2 3~", "txn-3", true, "missing_transaction_log_entry txn-3 error" },
    { "1 2 5", "txn-5", true, "transaction_gap txn-3..txn-4 warning" },
    { "12343^ 12345^", "txn-12345", true, "missing_transaction_log_entry txn-12344 warning" },
    { "12343^ 12345^ 12346 12348", "txn-12348", true, "missing_transaction_log_entry txn-12344 warning; transaction_gap txn-12347 "
                                                      "warning" },
    { "1 2 77+*", "txn-2", true, "" }, /* somebody else's number */
    { "1 2 77+* 78", "txn-78", true, "" },
    { "1 2 78>", "txn-78", true, "" },
    { "1 2 78> 80", "txn-80", true, "transaction_gap txn-79 warning" },
    { "1 2 4+", "txn-2", true, "transaction_gap txn-3 warning" }, /* what the catalog does not know is no commit */
};

static void expect(const char *entries, const char *pointer, bool managed, const char *checkpoint, bool expired,
                   const char *expected)
{
    struct tarn_facts facts = plain_facts();

    facts.pointer_id = (char *)(uintptr_t)pointer;
    facts.pointer_mtime_ms = NOW - 60 * MINUTE;
    facts.managed = managed;
    facts.history_expired = expired;
    snprintf(facts.log.checkpoint, sizeof facts.log.checkpoint, "%s", checkpoint ? checkpoint : "");
    add_entries(&facts.log, entries);
    cr_expect(eq(str, (char *)judged(tarn_judge_transaction_gaps, &facts, NULL), (char *)expected), "%s at %s", entries,
              pointer);
    tarn_buf_done(&facts.log.names);
}

Test(transaction_gaps, holes_are_told_by_where_they_are)
{
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        expect(k_rows[i].entries, k_rows[i].pointer, k_rows[i].managed, NULL, false, k_rows[i].expected);
}

static const struct { const char *entries, *pointer; bool managed; const char *expected, *checkpoint; bool expired; } k_cut[] = {
    /* what a checkpoint stands for may be gone */
    { "5 6 7", "txn-7", false, "history_truncated _transactions info", "txn-4", false },
    { "2 5 6 7", "txn-7", false, "history_truncated _transactions info", "txn-4", false },
    { "1 3 5 6 8", "txn-8", false, "missing_transaction_log_entry txn-7 warning; history_truncated _transactions info", "txn-5", false },
    { "1 3 7 8", "txn-8", false, "missing_transaction_log_entry txn-6 warning; history_truncated _transactions info", "txn-5", false },
    { "1 2 3", "txn-3", false, "", "txn-2", false },
    { "1 2 4", "txn-4", false, "missing_transaction_log_entry txn-3 warning", "other-9", false },
    { "1~ 2~ 3 4", "txn-4", true, "history_truncated _transactions info", "txn-2", false },
    { "1~ 2~ 3~ 4 5~ 6", "txn-6", true, "missing_transaction_log_entry txn-5 warning; history_truncated _transactions info", "txn-3", false },
    { "1~ 2~ 3~", "txn-3", true, "missing_transaction_log_entry txn-3 error; history_truncated _transactions info", "txn-2", false },
    { "1~ 2 3", "txn-3", true, "missing_transaction_log_entry txn-1 warning", NULL, false },
    { "5 6 7", "txn-7", true, "history_truncated _transactions info", "txn-4", true },
    { "5 6 8", "txn-8", true, "transaction_gap txn-7 warning; history_truncated _transactions info", "txn-4", true },
    { "5 6 7", "txn-7", true, "", "txn-4", false },           /* ids may begin anywhere */
    /* adopted entries that a lifecycle rule cut from the oldest on */
    { "1^~ 2^~ 3^ 4", "txn-4", true, "history_truncated _transactions info", NULL, false },
    { "1^~ 2^ 3^~ 4", "txn-4", true, "missing_transaction_log_entry txn-3 warning; history_truncated _transactions info", NULL, false },
    { "1^~ 2^~", "txn-2", true, "missing_transaction_log_entry txn-2 error; history_truncated _transactions info", NULL, false },
};

Test(transaction_gaps, what_is_cut_off_is_not_lost)
{
    for (size_t i = 0; i < TARN_COUNT(k_cut); i++)
        expect(k_cut[i].entries, k_cut[i].pointer, k_cut[i].managed, k_cut[i].checkpoint, k_cut[i].expired,
               k_cut[i].expected);
}

Test(transaction_gaps, more_than_twenty_holes_are_one_finding)
{
    struct tarn_facts facts = plain_facts();

    facts.pointer_id = (char *)(uintptr_t) "txn-101";
    facts.pointer_mtime_ms = 0;
    struct tarn_log_entry entries[76];
    facts.log.entries = entries;
    facts.log.numbered = true;
    snprintf(facts.log.prefix, sizeof facts.log.prefix, "txn-");
    for (int64_t n = 1; n <= 101; n++)
        if (n % 4 != 0)
            entries[facts.log.count++] = (struct tarn_log_entry){ .number = n, .mtime_ms = 0, .committed = true };
    cr_expect(eq(str, (char *)judged(tarn_judge_transaction_gaps, &facts, NULL), "missing_transaction_log_entry * warning"));
}

Test(transaction_gaps, severity_and_grace_can_be_set)
{
    static const struct { const char *monitors, *expected; } k_set[] = {
        { "{\"transaction_gap\":{\"severity\":\"off\"}}", "uncommitted_transaction txn-4 warning" },
        { "{\"transaction_gap\":{\"severity\":\"error\"}}", "transaction_gap txn-3 error; uncommitted_transaction txn-4 warning" },
        { "{\"uncommitted_transaction\":{\"grace\":\"2h\"}}", "transaction_gap txn-3 warning" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_set); i++) {
        struct tarn_facts facts = plain_facts();
        facts.pointer_id = (char *)(uintptr_t) "txn-2";
        add_entries(&facts.log, "1 2 4+");
        cr_expect(eq(str, (char *)judged(tarn_judge_transaction_gaps, &facts, k_set[i].monitors), (char *)k_set[i].expected));
        tarn_buf_done(&facts.log.names);
    }
}
