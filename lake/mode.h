/* mode.h - a table changes its owner: observed to managed takes the folder over as it is then, managed to
 * observed lets it go after the last publication. Parts of settings.c. */
#ifndef TARN_LAKE_MODE_H
#define TARN_LAKE_MODE_H
#include "lake/settings.h"

struct tarn_settings_plan;
void tarn_mode_plan_free(struct tarn_settings_plan *plan);
/* On a worker: what the change of mode needs of storage, into use->plan. */
TARN_MUST tarn_code tarn_mode_plan(struct tarn_settings_use *use, struct tarn_err *err);
/* On the writer: `table` already says the new mode; brings the rest of the row along. TARN_RECHECK without a
 * plan that fits. */
TARN_MUST tarn_code tarn_mode_change(struct tarn_tx *tx, struct tarn_settings_use *use,
                                     struct tarn_table *table, struct tarn_err *err);
#endif
