/* view_parts.h - inside formats/iceberg/: the lists of a view; items are taken over, also on failure. */
#ifndef TARN_FORMATS_ICEBERG_VIEW_PARTS_H
#define TARN_FORMATS_ICEBERG_VIEW_PARTS_H
#include "formats/iceberg/view.h"

TARN_MUST tarn_code tarn_iceberg_view_version_read(const json_t *doc, struct tarn_iceberg_view_version *out, struct tarn_err *err);
/* What readers ask of one besides. */
TARN_MUST tarn_code tarn_iceberg_view_version_form(const json_t *doc, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_view_add_version(struct tarn_iceberg_view *view, struct tarn_iceberg_view_version item,
                                                  struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_view_add_schema(struct tarn_iceberg_view *view, struct tarn_iceberg_schema item,
                                                 struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_view_add_entry(struct tarn_iceberg_view *view, struct tarn_iceberg_view_entry item,
                                                struct tarn_err *err);
void tarn_iceberg_view_entry_done(struct tarn_iceberg_view_entry *item);
#endif
