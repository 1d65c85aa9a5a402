/* pace.h - how many rows the next step of long work may write: what holds the writer is held for some
 * milliseconds only, so that commits to other tables pass between two steps. */
#ifndef TARN_LAKE_PACE_H
#define TARN_LAKE_PACE_H
#include <stdint.h>

#define TARN_TX_ROWS_MAX 10000 /* rows one store transaction may write */

struct tarn_pace {
    int64_t rows;       /* for the next step; 0 at first: tarn_pace_rows decides */
    int64_t began_us;   /* of the step at hand */
    int64_t took_us;    /* of the last one */
};
int64_t tarn_pace_rows(struct tarn_pace *pace);
/* Around the work inside the transaction. */
void tarn_pace_begin(struct tarn_pace *pace);
void tarn_pace_end(struct tarn_pace *pace, int64_t rows);
/* Between two steps, never on the writer: leaves it to the others for a moment. */
void tarn_pace_rest(const struct tarn_pace *pace);
#endif
