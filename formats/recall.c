/* recall.c - the life of what a scan leaves. */
#include "formats/recall.h"

void tarn_recall_done(struct tarn_recall *recall)
{
    tarn_folders_done(&recall->folders);
    tarn_picks_done(&recall->picks);
    *recall = (struct tarn_recall){ 0 };
}
