/* storage_state.c - can the table be judged at all? When not, this one finding stands for everything it hides. */
#include "monitors/judge.h"
#include <stdio.h>

static void report_block(struct tarn_judging *j)
{
    const char *code = tarn_block_text(j->facts->block);

    if (code && j->facts->block != TARN_BLOCK_FOREIGN_WRITE) /* that one tells its document: foreign_write.c */
        tarn_judge_report(j, code, &(struct tarn_report){ .subject = "manifest.json" });
}

void tarn_judge_storage_state(struct tarn_judging *j)
{
    static const char *const k_codes[] = {
        [TARN_FACTS_UNREACHABLE] = "storage_unreachable",
        [TARN_FACTS_NO_TABLE] = "no_table_found",
        [TARN_FACTS_UNSUPPORTED] = "format_not_supported",
    };
    const struct tarn_facts *facts = j->facts;
    char message[600];

    report_block(j);
    if (facts->state == TARN_FACTS_READ)
        return;
    const char *code = facts->not_allowed ? "location_not_allowed" : facts->broke_off ? "scan_failed" : k_codes[facts->state];
    if (facts->lost_root) /* the same text for every table below it */
        snprintf(message, sizeof message, "%s: the storage root '%.400s' is gone or empty", code, facts->lost_root);
    else
        snprintf(message, sizeof message, "%s: %s", code, facts->why);
    tarn_judge_report(j, code, &(struct tarn_report){ .subject = facts->lost_root ? facts->lost_root : "table",
                                                      .message = message });
}
