/* Batches of a managed table: those that wait or run, that were completed and never committed, that were applied twice. */
#include "monitors/judge.h"
#include "tests/monitors/managed_table.h"

TestSuite(batches, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

static void tell(const char *id, const char *status, const char *more)
{
    unsigned code = tarn_ask("POST", "/api/table/t/batches", "{\"batch_id\":\"%s\",\"status\":\"%s\"%s}", id, status, more);

    cr_assert(code == 200 || code == 201, "%s", tarn_answer_text());
}

static void stage(const char *id)
{
    char path[128];

    snprintf(path, sizeof path, "staging/%s", id);
    write_parquet(in_table(path), COLUMNS, HOURS_AGO(2));
}

Test(batches, what_the_catalog_knows_of_a_batch_counts_more_than_its_document)
{
    table("");
    commit("a.parquet", NULL, ",\"batch_id\":\"d/one.parquet\"");
    stage("d/one.parquet"); /* applied; its document is not there yet */
    cr_expect(eq(str, (char *)check(), ""));
    stage("d/two.parquet");
    cr_expect(eq(str, (char *)check(), "staging_backlog"));
    tell("d/two.parquet", "completed", ",\"num_records\":0");
    cr_expect(eq(str, (char *)check(), ""));
    /* A document that is behind. */
    tell("d/three.parquet", "running", "");
    put("processed/d/three.json", "{\"batch_id\":\"d/three.parquet\",\"status\":\"completed\",\"num_records\":1}");
    stage("d/three.parquet");
    cr_expect(eq(str, (char *)check(), "staging_backlog"));
}

Test(batches, a_batch_that_runs_for_long_is_stuck_though_nothing_is_staged)
{
    table("");
    commit("a.parquet", NULL, "");
    tell("x.parquet", "running", ",\"start_time\":\"2024-02-01T00:00:00Z\"");
    publish();
    cr_expect(eq(str, (char *)check(), "merge_stuck"));
    tell("x.parquet", "failed", "");
    cr_expect(eq(str, (char *)check(), ""));
}

Test(batches, a_batch_that_is_completed_and_was_never_committed_is_told_after_its_grace)
{
    table(",\"monitors\":{\"processed_without_result\":{\"grace\":\"0s\"}}");
    commit("a.parquet", NULL, "");
    tell("lost.parquet", "completed", ",\"num_records\":7,\"end_time\":\"2024-02-01T00:00:00Z\"");
    tell("empty.parquet", "completed", ",\"num_records\":0");
    publish();
    cr_expect(eq(str, (char *)check(), "processed_without_result"));
    cr_expect(eq(str, (char *)tarn_answer_str("severity"), "ok"), "nobody says that commits name their batches");
    commit("b.parquet", NULL, ",\"batch_id\":\"d/one.parquet\"");
    publish();
    cr_expect(eq(str, (char *)check(), "processed_without_result"));
    cr_expect(eq(str, (char *)tarn_answer_str("severity"), "warning"), "%s", tarn_answer_text());
    cr_expect(strstr(tarn_answer_text(), "lost.parquet") != NULL && strstr(tarn_answer_text(), "empty.parquet") == NULL);
}

Test(batches, a_batch_within_its_grace_may_still_be_committed)
{
    table("");
    commit("b.parquet", NULL, ",\"batch_id\":\"d/one.parquet\"");
    tell("late.parquet", "completed", ",\"num_records\":7");
    publish();
    cr_expect(eq(str, (char *)check(), ""));
}

#define FLINK(checkpoint) ",\"commitMetadata\":{\"flink.job-id\":\"3d0a\",\"flink.max-committed-checkpoint-id\":" checkpoint "}"

Test(batches, one_checkpoint_in_two_commits_is_a_batch_that_was_applied_twice)
{
    table("");
    commit("a.parquet", NULL, FLINK("17"));
    commit("b.parquet", NULL, FLINK("18"));
    publish();
    cr_expect(eq(str, (char *)check(), ""));
    commit("c.parquet", NULL, FLINK("17"));
    publish();
    cr_expect(eq(str, (char *)check(), "duplicate_batch"));
    cr_expect(strstr(tarn_answer_text(), "duplicate_batch: 3d0a/17 in txn-1, txn-3") != NULL, "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("severity"), "warning"));
    /* A compaction rewrites the rows, so that they still count twice; taking the second ones out is a cure. */
    write_parquet(in_table("d.parquet"), COLUMNS, HOURS_AGO(5));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{\"expected_version\":3,\"dataChange\":false,\"operations\":["
                                "{\"type\":\"add_file\",\"path\":\"d.parquet\",\"size\":4},"
                                "{\"type\":\"remove_file\",\"path\":\"a.parquet\"},{\"type\":\"remove_file\",\"path\":\"b.parquet\"}]}"), 201));
    publish();
    cr_expect(tarn_has(check(), "duplicate_batch"), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{\"expected_version\":4,\"operations\":[{\"type\":\"remove_file\",\"path\":\"c.parquet\"}]}"), 201));
    publish();
    cr_expect(not(tarn_has(check(), "duplicate_batch")), "%s", tarn_answer_text());
}

Test(batches, a_batch_that_was_rolled_back_and_committed_again_counts_once)
{
    table("");
    commit("a.parquet", NULL, "");
    commit("b.parquet", NULL, FLINK("17"));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/rollback", "{\"expected_version\":2,\"to_version\":1}"), 201), "%s", tarn_answer_text());
    commit("c.parquet", NULL, FLINK("17"));
    publish();
    cr_expect(eq(str, (char *)check(), ""));
}

/* The suspects that are known by name are the first twenty met; the oldest may be another. */
Test(batches, of_many_that_run_the_oldest_speaks_for_all)
{
    struct tarn_facts facts;
    struct tarn_settings settings;
    struct tarn_judging judging = { .facts = &facts, .settings = &settings, .now_ms = SEED_NOW };
    char id[32];

    tarn_facts_init(&facts);
    facts.state = TARN_FACTS_READ;
    for (int i = 0; i < 30; i++) {
        snprintf(id, sizeof id, "b%d.parquet", i);
        cr_assert(eq(int, tarn_suspects_add(&facts.running, id, NULL, -1, -1, SEED_NOW - (i == 25 ? 3600000 : 1000), NULL), TARN_OK));
    }
    tarn_settings_resolve(NULL, NULL, &settings);
    tarn_judge_staging(&judging);
    cr_assert(eq(sz, judging.out.count, 1));
    cr_expect(eq(str, judging.out.items[0].subject, "*"));
    cr_expect(eq(str, judging.out.items[0].message, "merge_stuck: 30 batches are marked as running, one for 1h"));
    cr_expect(eq(str, judging.out.items[0].observed, "3600"));
    tarn_judging_done(&judging);
    tarn_facts_done(&facts);
}
