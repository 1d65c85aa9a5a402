/* foreign_write.c - documents of a managed table that somebody else wrote: the one that stopped publication, and those
 * that a scan sees. What differs while a publication is on its way is no fault yet. */
#include "monitors/judge.h"
#include <stdio.h>
#include <string.h>

struct foreign_write { const char *document, *why, *cure; };

static void report(struct tarn_judging *j, const struct foreign_write *write)
{
    char message[TARN_TXN_ID_MAX + 256];

    snprintf(message, sizeof message, "foreign_write: %.200s: %s", write->document, write->why);
    tarn_judge_report(j, "foreign_write",
                      &(struct tarn_report){ .subject = write->document, .message = message, .cure = write->cure });
}

/* Entries of commits, and those of nobody's: of the latter the data can be taken over. */
static void note_entry(struct tarn_judging *j, struct tarn_suspects *list, const struct tarn_log_entry *entry)
{
    char path[TARN_TXN_ID_MAX + 32];

    snprintf(path, sizeof path, TARN_LOG_SUBJECT "/%s.json", tarn_log_file(&j->facts->log, entry));
    if (!j->facts->block_document || strcmp(path, j->facts->block_document) != 0)
        j->failed |= tarn_suspects_add(list, path, NULL, -1, -1, entry->mtime_ms, NULL) != TARN_OK;
}

static void report_entries(struct tarn_judging *j, const struct tarn_suspects *list, const char *why, const char *cure)
{
    if (list->total > TARN_EXAMPLES_MAX) {
        tarn_judge_suspects(j, "foreign_write", list, TARN_SEV_OK);
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        report(j, &(struct foreign_write){ list->items[i].subject, why, cure });
}

static void judge_entries(struct tarn_judging *j)
{
    const struct tarn_log_facts *log = &j->facts->log;
    struct tarn_suspects overwritten = { 0 }, unknown = { 0 };

    for (size_t i = 0; i < log->count; i++) {
        if (log->entries[i].overwritten)
            note_entry(j, &overwritten, &log->entries[i]);
        else if (log->entries[i].intruder)
            note_entry(j, &unknown, &log->entries[i]);
    }
    report_entries(j, &overwritten, "it does not say what was committed", NULL);
    report_entries(j, &unknown, "the catalog knows no such commit", "adopt");
    tarn_suspects_done(&overwritten);
    tarn_suspects_done(&unknown);
}

void tarn_judge_foreign_write(struct tarn_judging *j)
{
    const struct tarn_facts *f = j->facts;
    const char *stopped_by = f->block_document ? f->block_document : "manifest.json";
    bool is_stopped = f->block == TARN_BLOCK_FOREIGN_WRITE;
    const struct { bool is_so; struct foreign_write write; } k_rows[] = {
        { f->foreign_manifest, { "manifest.json", "it is not the one that Tarn wrote last", NULL } },
        { f->foreign_schema, { "schema.json", "it holds a schema that the catalog does not know", NULL } },
    };

    if (is_stopped)
        report(j, &(struct foreign_write){ stopped_by, "publication stopped, since somebody else wrote it", NULL });
    if (f->state != TARN_FACTS_READ || !f->managed || f->publication_off || (f->behind_since >= 0 && !is_stopped))
        return;
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        if (k_rows[i].is_so && !(is_stopped && strcmp(k_rows[i].write.document, stopped_by) == 0))
            report(j, &k_rows[i].write);
    judge_entries(j);
}
