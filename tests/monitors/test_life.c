/* A managed table with far more commits than are kept for learning: what was at the same time before is looked up. */
#include "tests/monitors/scanned.h"

TestSuite(life, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

static int64_t at(const char *text)
{
    int64_t ms = 0;

    cr_assert(eq(int, tarn_time_parse(text, &ms, NULL, NULL), TARN_OK), "%s", text);
    return ms;
}

struct days { int64_t from, to; int count; int64_t version; };

/* A commit a minute from nine to five; each third one rewrites. Rows alone: nothing here looks at files. */
static tarn_code insert_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct days *days = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, 1, &table, err);
    char id[32];

    if (code != TARN_OK)
        return code;
    for (int64_t day = days->from; day < days->to && code == TARN_OK; day += TARN_DAY_MS) {
        for (int minute = 0; minute < days->count && code == TARN_OK; minute++) {
            struct tarn_commit_row row = { .version = ++table->version, .transaction = id, .data_change = table->version % 3 != 0,
                                           .committed_at = day + (9 * 60 + minute) * TARN_MINUTE_MS };
            snprintf(id, sizeof id, "txn-%lld", (long long)table->version);
            table->committed_at = row.committed_at;
            code = tx->ops->commits.insert(tx, 1, &row, err);
        }
    }
    free(table->latest_transaction);
    table->latest_transaction = strdup(id);
    return code == TARN_OK ? tx->ops->tables.update(tx, table, err) : code;
}

static void insert(const char *from, const char *to, int minutes)
{
    struct days days = { at(from), at(to), minutes, 0 };
    TARN_ERR(err);

    cr_assert(eq(int, tarn_store_write(g_lake->store, insert_tx, &days, &err), TARN_OK), "%s", err.detail);
}

/* What is expected next, by a scan at that moment. */
static const char *expected(const char *now)
{
    static char out[40];

    clock_ms = at(now);
    json_auto_t *status = scan_later("t", 0, false);
    const json_t *freshness = json_object_get(json_object_get(status, "details"), "freshness");
    cr_expect(eq(str, str_of(freshness, "threshold_source"), "learned"));
    snprintf(out, sizeof out, "%s", str_of(freshness, "next_expected"));
    return out;
}

Test(life, what_was_at_the_same_time_before_is_looked_up)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"publish\":false}"), 200), "%s", tarn_answer_text());
    insert("2027-03-01T00:00:00Z", "2027-03-06T00:00:00Z", 480); /* Monday to Friday */
    insert("2027-03-08T00:00:00Z", "2027-03-10T00:00:00Z", 480); /* and two days: 3,360 commits */
    /* Tuesday evening, the last data at 16:58: a week before the next came at nine; an eighth of those 962 minutes is let pass. */
    cr_expect(eq(str, TEXT(expected("2027-03-09T17:10:00Z")), "2027-03-10T11:00:15Z"));
    /* Wednesday, the last run at ten: nobody waits until tomorrow. */
    insert("2027-03-10T00:00:00Z", "2027-03-11T00:00:00Z", 61);
    const char *soon = expected("2027-03-10T10:01:00Z");
    cr_expect(ge(i64, at(soon), at("2027-03-10T10:02:00Z")), "%s", soon);
    cr_expect(le(i64, at(soon), at("2027-03-10T10:04:00Z")), "%s", soon);
}
