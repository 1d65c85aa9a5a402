/* drop.h - the soft end of a table and its way back. Data files are never touched. */
#ifndef TARN_LAKE_DROP_H
#define TARN_LAKE_DROP_H
#include "lake/lake.h"

struct tarn_drop_use {
    struct tarn_lake *lake;
    struct tarn_ident ident;
    const char *if_match; /* borrowed or NULL */
    int64_t now_ms;       /* 0: the clock */
};
extern const struct tarn_use tarn_drop; /* TARN_TABLE_PROTECTED */

struct tarn_restore_use {
    struct tarn_lake *lake;
    struct tarn_ident ident;
    const char *uuid; /* borrowed; NULL: the newest dropped one of that name */
    int64_t now_ms;
    struct tarn_table *table; /* out, owned */
};
extern const struct tarn_use tarn_restore; /* TARN_TABLE_EXISTS, TARN_LOCATION_TAKEN */
#endif
