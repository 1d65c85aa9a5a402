/* schema_drift.c - files against the registered schema: one finding a column and kind of drift, with the number of
 * files. What a file of an older time lacks or has too much is no fault of its writer. */
#include "monitors/judge.h"
#include "base/json.h"
#include <stdio.h>
#include <string.h>

enum { NULLS_MIN_FILES = 3 }; /* newest files without a value before a column counts as empty */

struct drift_row {
    const char *code;
    enum tarn_severity plain, severe; /* TARN_SEV_OK: the kind's own */
};
static const struct drift_row k_rows[] = {
    [TARN_DRIFT_WIDENED] = { "schema_drift.widened", TARN_SEV_INFO, TARN_SEV_WARNING },
    [TARN_DRIFT_NARROWED] = { "schema_drift.narrowed", TARN_SEV_ERROR, TARN_SEV_ERROR },
    [TARN_DRIFT_TYPE_CHANGED] = { "schema_drift.type_changed", TARN_SEV_ERROR, TARN_SEV_ERROR },
    [TARN_DRIFT_BINARY_STRING] = { "schema_drift.type_changed", TARN_SEV_WARNING, TARN_SEV_WARNING },
    [TARN_DRIFT_UNIT] = { "schema_drift.timestamp_unit", TARN_SEV_INFO, TARN_SEV_WARNING },
    [TARN_DRIFT_NULL_IN_REQUIRED] = { "schema_drift.null_in_required", TARN_SEV_ERROR, TARN_SEV_ERROR },
    [TARN_DRIFT_NULLS_UNKNOWN] = { "schema_drift.nulls_unknown", TARN_SEV_INFO, TARN_SEV_INFO },
    [TARN_DRIFT_MISSING_COLUMN] = { "schema_drift.missing_column", TARN_SEV_WARNING, TARN_SEV_WARNING },
    [TARN_DRIFT_MISSING_REQUIRED] = { "schema_drift.missing_column", TARN_SEV_ERROR, TARN_SEV_ERROR },
    [TARN_DRIFT_EXTRA_COLUMN] = { "schema_drift.extra_column", TARN_SEV_WARNING, TARN_SEV_WARNING },
    [TARN_DRIFT_RENAMED_CASE] = { "schema_drift.renamed_case", TARN_SEV_WARNING, TARN_SEV_WARNING },
    [TARN_DRIFT_REORDERED] = { "schema_drift.reordered", TARN_SEV_INFO, TARN_SEV_INFO },
    [TARN_DRIFT_PARTITION_COLUMN] = { "partition_column_in_file", TARN_SEV_INFO, TARN_SEV_WARNING },
};

static json_t *evidence_of(const struct tarn_drift_fact *drift)
{
    json_t *examples = json_array();

    for (size_t i = 0; i < TARN_COUNT(drift->examples) && drift->examples[i]; i++)
        json_array_append_new(examples, tarn_json_str(drift->examples[i]));
    json_t *evidence = json_pack("{s:I, s:o}", "count", (json_int_t)drift->files, "examples", examples);
    if (drift->registered[0])
        json_object_set_new(evidence, "registered", tarn_json_str(drift->registered));
    if (drift->found[0])
        json_object_set_new(evidence, "found", tarn_json_str(drift->found));
    if (drift->possible_rename)
        json_object_set_new(evidence, "possible_rename", tarn_json_str(drift->possible_rename));
    return evidence;
}

static void write_message(const struct tarn_drift_fact *drift, const char *code, char *out, size_t size)
{
    int len = snprintf(out, size, "%s: %.200s", code, drift->column);

    if (drift->registered[0] && drift->found[0] && strcmp(drift->registered, drift->found) != 0)
        len += snprintf(out + len, size - (size_t)len, " (%s registered, %s found)", drift->registered, drift->found);
    if (drift->possible_rename)
        snprintf(out + len, size - (size_t)len, " (in the files: %.100s?)", drift->possible_rename);
}

static void judge_drift(struct tarn_judging *j, const struct tarn_drift_fact *drift)
{
    const struct drift_row *row = &k_rows[drift->kind];
    bool is_of_old = drift->newer_files == 0;
    enum tarn_severity severity = drift->severe ? row->severe : row->plain;
    char message[480];

    if (drift->kind == TARN_DRIFT_EXTRA_COLUMN && is_of_old)
        return; /* it was in the schema when these files were written */
    /* Old files lack what came later. But values under another name that nobody maps are lost to readers, at any age. */
    if (drift->kind == TARN_DRIFT_MISSING_COLUMN && is_of_old && !drift->possible_rename)
        severity = TARN_SEV_INFO;
    write_message(drift, row->code, message, sizeof message);
    tarn_judge_report(j, row->code,
                      &(struct tarn_report){ .severity = severity,
                                             .subject = drift->column,
                                             .message = message,
                                             .observed = tarn_judge_number(drift->files),
                                             .expected = "0",
                                             .evidence = evidence_of(drift) });
}

/* Empty in the newest files: three of them, or all but one where there are fewer; one file alone proves nothing. */
static void judge_nulls(struct tarn_judging *j)
{
    const struct tarn_facts *facts = j->facts;
    int64_t least = facts->files_with_rows - 1 < NULLS_MIN_FILES ? facts->files_with_rows - 1 : NULLS_MIN_FILES;

    for (size_t i = 0; i < facts->null_count; i++) {
        const struct tarn_null_fact *null = &facts->nulls[i];
        if (facts->files_with_rows < 2 || null->files < least)
            continue;
        tarn_judge_report(j, "column_all_null",
                          &(struct tarn_report){
                              .subject = null->column,
                              .observed = tarn_judge_number(null->files),
                              .expected = "0",
                              .evidence = json_pack("{s:I, s:[o]}", "count", (json_int_t)null->files, "examples",
                                                    tarn_json_str(null->example)) });
    }
}

void tarn_judge_schema_drift(struct tarn_judging *j)
{
    const struct tarn_facts *facts = j->facts;

    if (facts->state != TARN_FACTS_READ)
        return;
    for (size_t i = 0; i < facts->drift_count; i++)
        judge_drift(j, &facts->drifts[i]);
    judge_nulls(j);
}
