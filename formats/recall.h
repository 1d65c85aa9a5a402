/* recall.h - what a scan leaves for the next one of the same table, so that it need not read again what did not change:
 * the folders with their sums, and the newest files. Of no worth on its own: with or without it a sweep finds the same. */
#ifndef TARN_FORMATS_RECALL_H
#define TARN_FORMATS_RECALL_H
#include "formats/folders.h"
#include "formats/footers.h"

#define TARN_PICKS_KEPT 6000 /* the newest files that are known by name */

struct tarn_recall {
    struct tarn_folders folders;
    bool is_listed;            /* the folders' `listed` are sums of a listing, this scan's or one before */
    struct tarn_picks picks;   /* the newest listed files; more than are read, since some will go */
};
void tarn_recall_done(struct tarn_recall *recall);
#endif
