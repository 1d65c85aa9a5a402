/* view_build.h - inside formats/iceberg/: what a list of updates of a view has done so far. */
#ifndef TARN_FORMATS_ICEBERG_VIEW_BUILD_H
#define TARN_FORMATS_ICEBERG_VIEW_BUILD_H
#include "formats/iceberg/build.h"
#include "formats/iceberg/view_parts.h"

struct tarn_iceberg_view_build {
    struct tarn_iceberg_view *view;
    int64_t now_ms;
    bool changed;
    int64_t last_schema, last_version; /* what -1 means; TARN_ICEBERG_NONE: nothing was added */
    struct tarn_iceberg_ids versions;  /* added by this commit */
    bool moved;                        /* another version became current */
};
typedef tarn_code tarn_iceberg_view_update_fn(struct tarn_iceberg_view_build *build, const json_t *doc, struct tarn_err *err);

/* view_versions.c */
tarn_iceberg_view_update_fn tarn_iceberg_view_add_version_update, tarn_iceberg_view_set_current;
/* Logs the current version, expires old ones, checks. `before`: the version that was current, NULL: a new view. */
TARN_MUST tarn_code tarn_iceberg_view_close(struct tarn_iceberg_view_build *build, const json_t *before, struct tarn_err *err);
#endif
