/* recover.h - POST .../recover: what storage knows of a table and the catalog lost is taken back,
 * also where something is missing between. The start does the same by itself where nothing is. */
#ifndef TARN_LAKE_RECOVER_H
#define TARN_LAKE_RECOVER_H
#include "lake/retake.h"

struct tarn_recover_use {
    /* in */
    struct tarn_lake *lake;
    struct tarn_ident ident;
    bool runs; /* else a dry run: nothing changes */
    /* out */
    struct tarn_retaking retaking; /* owned */
    int64_t table_id;
    bool made; /* versions came into being */
    /* inside */
    bool is_done;
};
/* TARN_TABLE_NOT_MANAGED; TARN_STORAGE_AHEAD: nothing can go on from the version
 * that the catalog has, or a version does not follow from the one before. */
extern const struct tarn_use tarn_recover;
#endif
