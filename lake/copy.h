/* copy.h - a database that was copied to be looked at beside the one it came from. */
#ifndef TARN_LAKE_COPY_H
#define TARN_LAKE_COPY_H
#include "lake/lake.h"

/* Gives the catalog a new id and takes its tables off publication, so that it never
 * writes into a folder that the other one owns; nothing when that was done before.
 * *became: it is one now and was none. Blocks; before the lake serves anybody. */
TARN_MUST tarn_code tarn_lake_become_copy(struct tarn_lake *lake, bool *became, struct tarn_err *err);
#endif
