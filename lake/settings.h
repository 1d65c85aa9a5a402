/* settings.h - PATCH of a table: merge patch of its settings, rename, mode. */
#ifndef TARN_LAKE_SETTINGS_H
#define TARN_LAKE_SETTINGS_H
#include "lake/lake.h"
#include "lake/setting.h"
#include <jansson.h>

struct tarn_settings_use {
    /* in, borrowed */
    struct tarn_lake *lake;
    struct tarn_ident ident;
    json_t *patch;
    const char *if_match; /* value of the header or NULL */
    /* Is the merged `monitors` valid? NULL: not asked. (The monitors stand above the lake.) */
    tarn_setting_check_fn *check_monitors;
    bool (*may_see)(const void *who, const char *namespace_,
                    const char *name); /* for the new name; NULL: all */
    const void *who;
    int64_t now_ms; /* 0: the clock */
    /* out, owned */
    struct tarn_table *table;
    /* inside */
    bool must_check;
    struct tarn_settings_plan *plan;
};
extern const struct tarn_use tarn_settings;

/* The table's entity tag: "<version>.<revision>" in quotes. */
#define TARN_ETAG_TEXT 56
void tarn_table_etag(const struct tarn_table *table, char out[TARN_ETAG_TEXT]);
/* Does a header value (If-Match, If-None-Match: "*" or a list) name the tag? */
bool tarn_etag_matches(const char *header, const char *etag);
/* TARN_PRECONDITION_FAILED unless `header` (NULL: always fine) names the table's tag. */
TARN_MUST tarn_code tarn_if_match(const struct tarn_table *table, const char *header, struct tarn_err *err);
#endif
