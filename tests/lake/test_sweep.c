/* What time leaves behind goes: dropped tables after their retention, old idempotency keys. */
#include "base/time.h"
#include "lake/sweep.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(sweep, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 30);

#define COMMIT "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1}]}"

static void sweep_at(int64_t later_ms)
{
    TARN_ERR(err);

    cr_assert(eq(int, tarn_lake_sweep(&g_lake->lake, tarn_now_ms() + later_ms, &err), TARN_OK), "%s", err.detail);
}

Test(sweep, a_dropped_table_stays_until_its_retention_ends)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", COMMIT), 201));
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 204));
    sweep_at(6 * TARN_DAY_MS);
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/restore", NULL), 200));
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 204));
    sweep_at(8 * TARN_DAY_MS);
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/restore", NULL), 404));
}

Test(sweep, an_idempotency_key_is_kept_a_day)
{
    static const struct { int64_t later; unsigned status; } k_rows[] = { { 23 * TARN_HOUR_MS, 200 },
                                                                          { 25 * TARN_HOUR_MS, 409 } };

    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201));
    tarn_ask_header("Idempotency-Key", "k");
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", COMMIT), 201));
    for (size_t i = 0; i < 2; i++) {
        sweep_at(k_rows[i].later);
        tarn_ask_header("Idempotency-Key", "k");
        cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", COMMIT), k_rows[i].status), "%s",
                  tarn_answer_text());
    }
}

Test(sweep, a_sweeper_stops_when_told)
{
    struct tarn_sweeper *sweeper = NULL;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_sweeper_start(&g_lake->lake, &sweeper, &err), TARN_OK));
    tarn_sweeper_stop(sweeper);
}
