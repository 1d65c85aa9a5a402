/* Drift of files, over facts written down by hand. */
#include "tests/monitors/judged.h"
#include "base/own.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static const struct { enum tarn_drift_kind kind; int64_t newer; bool severe; const char *expected; } k_rows[] = {
    { TARN_DRIFT_EXTRA_COLUMN, 1, false, "schema_drift.extra_column c warning" },
    { TARN_DRIFT_EXTRA_COLUMN, 0, false, "" }, /* it was in the schema of that time */
    { TARN_DRIFT_MISSING_COLUMN, 1, false, "schema_drift.missing_column c warning" },
    { TARN_DRIFT_MISSING_COLUMN, 0, false, "schema_drift.missing_column c info" },
    { TARN_DRIFT_MISSING_REQUIRED, 0, false, "schema_drift.missing_column c error" },
    { TARN_DRIFT_WIDENED, 1, false, "schema_drift.widened c info" },
    { TARN_DRIFT_NARROWED, 1, false, "schema_drift.narrowed c error" },
    { TARN_DRIFT_TYPE_CHANGED, 1, false, "schema_drift.type_changed c error" },
    { TARN_DRIFT_BINARY_STRING, 1, false, "schema_drift.type_changed c warning" },
    { TARN_DRIFT_UNIT, 1, false, "schema_drift.timestamp_unit c info" },
    { TARN_DRIFT_UNIT, 1, true, "schema_drift.timestamp_unit c warning" },
    { TARN_DRIFT_NULL_IN_REQUIRED, 1, false, "schema_drift.null_in_required c error" },
    { TARN_DRIFT_NULLS_UNKNOWN, 1, false, "schema_drift.nulls_unknown c info" },
    { TARN_DRIFT_RENAMED_CASE, 1, false, "schema_drift.renamed_case c warning" },
    { TARN_DRIFT_REORDERED, 1, false, "schema_drift.reordered c info" },
    { TARN_DRIFT_PARTITION_COLUMN, 1, false, "partition_column_in_file c info" },
    { TARN_DRIFT_PARTITION_COLUMN, 1, true, "partition_column_in_file c warning" },
};

Test(schema_drift, each_kind_has_its_code_and_severity)
{
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_drift_fact drift = { .kind = k_rows[i].kind, .column = (char *)(uintptr_t) "c", .files = 1,
                                         .newer_files = k_rows[i].newer, .severe = k_rows[i].severe };
        struct tarn_facts facts = plain_facts();
        facts.drifts = &drift;
        facts.drift_count = 1;
        cr_expect(eq(str, (char *)judged(tarn_judge_schema_drift, &facts, NULL), (char *)k_rows[i].expected), "row %zu", i);
    }
}

/* No schemaVersion, so no rename is followed: what the column held is null to readers. */
Test(schema_drift, old_files_that_may_hold_the_column_under_another_name_are_a_warning)
{
    struct tarn_drift_fact drift = { .kind = TARN_DRIFT_MISSING_COLUMN, .column = (char *)(uintptr_t) "c", .files = 1,
                                     .possible_rename = (char *)(uintptr_t) "b" };
    struct tarn_facts facts = plain_facts();

    facts.drifts = &drift;
    facts.drift_count = 1;
    cr_expect(eq(str, (char *)judged(tarn_judge_schema_drift, &facts, NULL), "schema_drift.missing_column c warning"));
}

Test(schema_drift, a_column_is_empty_when_the_newest_files_agree)
{
    static const struct { int64_t files_with_rows, empty; const char *expected; } k_null[] = {
        { 1, 1, "" }, /* one file proves nothing */
        { 2, 1, "column_all_null c warning" },
        { 2, 2, "column_all_null c warning" },
        { 3, 1, "" },
        { 3, 2, "column_all_null c warning" },
        { 100, 2, "" },
        { 100, 3, "column_all_null c warning" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_null); i++) {
        struct tarn_null_fact null = { (char *)(uintptr_t) "c", k_null[i].empty, (char *)(uintptr_t) "p" };
        struct tarn_facts facts = plain_facts();
        facts.nulls = &null;
        facts.null_count = 1;
        facts.files_with_rows = k_null[i].files_with_rows;
        cr_expect(eq(str, (char *)judged(tarn_judge_schema_drift, &facts, NULL), (char *)k_null[i].expected), "row %zu", i);
    }
}
