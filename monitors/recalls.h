/* recalls.h - inside monitors/: what the last scan of each large table left, for the next one. Memory of the process: a
 * restart begins anew, and what does not fit goes, the longest unused first. */
#ifndef TARN_MONITORS_RECALLS_H
#define TARN_MONITORS_RECALLS_H
#include "formats/recall.h"
#include "monitors/monitors.h"

/* Takes out what is kept of the table, or makes an empty one: the caller's alone, so that of two scans at once one begins
 * anew. `place`: what else must be the same, as text. NULL: out of memory. */
struct tarn_recall *tarn_recalls_take(struct tarn_recalls *recalls, int64_t table_id, const char *place);
/* Gives it back, or what became of it. Small tables are not kept: they are read whole each time. */
void tarn_recalls_give(struct tarn_recalls *recalls, int64_t table_id, const char *place, struct tarn_recall *recall);
void tarn_recall_free(struct tarn_recall *recall);
#endif
