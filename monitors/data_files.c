/* data_files.c - the files themselves: there or not, as long as listed, readable, or left behind. */
#include "monitors/judge.h"

void tarn_judge_data_files(struct tarn_judging *j)
{
    const struct tarn_facts *facts = j->facts;
    const struct { const char *code; const struct tarn_suspects *list; } k_rows[] = {
        { "scan_incomplete", &facts->unread },
        { "missing_metadata_file", &facts->metadata_missing },
        { "newer_metadata_file", &facts->metadata_newer },
        { "missing_data_file", &facts->missing },
        { "size_mismatch", &facts->sizes },
        { "corrupt_data_file", &facts->corrupt },
        { "encrypted", &facts->encrypted },
        { "footer_too_large", &facts->footer_too_large },
        { "unexpected_file_format", &facts->unexpected },
        { "invalid_data_path", &facts->invalid_paths },
        { "leftover_temp", &facts->leftovers },
        { "symlink_skipped", &facts->symlinks },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows) && facts->state == TARN_FACTS_READ; i++)
        tarn_judge_suspects(j, k_rows[i].code, k_rows[i].list, TARN_SEV_OK);
    if (facts->state == TARN_FACTS_READ) /* the catalog keeps metadata files; manifest lists are the engines' alone */
        tarn_judge_incurable(j, "missing_metadata_file", &facts->manifest_lists_missing);
}
