/* namespaces.h - namespaces by themselves: made, changed and removed
 * with the settings that their tables inherit (lake/inherit.h). */
#ifndef TARN_LAKE_NAMESPACES_H
#define TARN_LAKE_NAMESPACES_H
#include "lake/lake.h"
#include "lake/setting.h"

struct tarn_namespace_use {
    /* in, borrowed but the name */
    struct tarn_lake *lake;
    char name[TARN_NAMESPACE_MAX + 1]; /* canonical */
    json_t *settings;                  /* merge patch of properties, owner, monitors, schema_enforcement, verify, history */
    tarn_setting_check_fn *check_monitors;
    bool makes_outer;                  /* the namespaces around it come into being too */
    int64_t now_ms; /* 0: the clock */
    /* out, owned */
    struct tarn_namespace row;
};
extern const struct tarn_use tarn_namespace_add;    /* TARN_NAMESPACE_EXISTS */
extern const struct tarn_use tarn_namespace_change; /* TARN_NAMESPACE_NOT_FOUND */
extern const struct tarn_use tarn_namespace_remove; /* TARN_NAMESPACE_NOT_FOUND, TARN_NAMESPACE_NOT_EMPTY */

/* The row as the caller's own; TARN_NAMESPACE_NOT_FOUND. */
TARN_MUST tarn_code tarn_namespace_read(struct tarn_tx *tx, const char *name, struct tarn_namespace *out,
                                        struct tarn_err *err);
#endif
