/* recall.c - the life of what a scan leaves. */
#include "formats/recall.h"

void tarn_memo_done(struct tarn_memo *memo)
{
    tarn_facts_done(&memo->facts);
    tarn_fileset_done(&memo->words);
    free(memo->partition_keys);
    *memo = (struct tarn_memo){ 0 };
}

void tarn_recall_done(struct tarn_recall *recall)
{
    tarn_folders_done(&recall->folders);
    tarn_picks_done(&recall->picks);
    tarn_memo_done(&recall->memo);
    tarn_fileset_done(&recall->batches.names);
    *recall = (struct tarn_recall){ 0 };
}

int64_t tarn_recall_files(const struct tarn_recall *recall)
{
    int64_t files = 0;

    for (size_t i = 0; i < recall->folders.count; i++)
        files += recall->folders.items[i].lying.count;
    return files;
}

size_t tarn_recall_bytes(const struct tarn_recall *recall)
{
    const struct tarn_log_facts *log = &recall->memo.facts.log;
    enum { A_PICK = 160 };

    return sizeof *recall + tarn_folders_bytes(&recall->folders) + recall->picks.count * A_PICK + log->names.cap +
           log->cap * sizeof *log->entries + (recall->memo.words.cap + recall->batches.names.cap) * sizeof *recall->memo.words.slots;
}
