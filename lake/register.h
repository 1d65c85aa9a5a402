/* register.h - a table comes into the catalog: a new folder, one that is adopted with its manifest, log and
 * schema, one whose files are imported, or one that is only observed. */
#ifndef TARN_LAKE_REGISTER_H
#define TARN_LAKE_REGISTER_H
#include "lake/lake.h"
#include <jansson.h>

/* A remark on what lies there: a finding in the making. All owned by the array of the use. */
struct tarn_register_use {
    /* in; text and trees are borrowed */
    struct tarn_lake *lake;
    struct tarn_ident ident;
    const char *location;          /* as given; NULL: under the default root */
    const char *metadata_location; /* NULL: not pointed */
    bool format_auto, mode_given, import, dry_run;
    enum tarn_format format;
    enum tarn_mode mode;
    json_t *schema, *partition_keys, *properties, *monitors; /* NULL: not given */
    const char *owner;
    enum tarn_enforcement enforcement;
    enum tarn_verify verify;
    bool publish, protected_;
    bool (*may_use)(const void *who, const char *location); /* roots of the token; NULL: all */
    const void *who;
    int64_t now_ms;                /* 0: the clock */
    /* out, owned */
    struct tarn_table *table;      /* the new row (dry run: as it would be) */
    json_t *found;                 /* array of {"code","severity","subject","message"} */
    int64_t entries;               /* log entries taken into the history */
    bool published;
    /* inside */
    struct tarn_adopted *adopted;
};
extern const struct tarn_use tarn_register;
#endif
