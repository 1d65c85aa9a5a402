/* view.h - Apache Iceberg view metadata, version 1, as a value: read, written, created and changed by pure functions, as
 * iceberg.h does for tables. Source: Iceberg view specification; REST specification (ViewUpdate, ViewRequirement); the rules
 * of building are the reference's (ViewMetadata.Builder, ViewVersionReplace). */
#ifndef TARN_FORMATS_ICEBERG_VIEW_H
#define TARN_FORMATS_ICEBERG_VIEW_H
#include "formats/iceberg/iceberg.h"

struct tarn_iceberg_view_version {
    int64_t id, timestamp_ms, schema_id;
    json_t *doc; /* owned: the whole object */
};
struct tarn_iceberg_view_entry { int64_t timestamp_ms, version_id; json_t *more; }; /* as tarn_iceberg_log_entry */

struct tarn_iceberg_view {
    char *uuid, *location;
    int64_t current_version_id;  /* TARN_ICEBERG_NONE: none yet (while it is built) */
    TARN_ICEBERG_LIST(struct tarn_iceberg_view_version) versions;
    TARN_ICEBERG_LIST(struct tarn_iceberg_view_entry) log;
    TARN_ICEBERG_LIST(struct tarn_iceberg_schema) schemas;
    json_t *properties;          /* owned object, values text */
    json_t *rest;                /* owned: members that are not known */
};
void tarn_iceberg_view_free(struct tarn_iceberg_view *view);
TARN_DEFINE_AUTO(iceberg_view, struct tarn_iceberg_view)

/* --- view.c --- */
TARN_MUST tarn_code tarn_iceberg_view_parse(const char *text, size_t len, struct tarn_iceberg_view **out, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_view_write(const struct tarn_iceberg_view *view, struct tarn_buf *out, struct tarn_err *err);
/* As tarn_iceberg_check_offered (offered.c). */
TARN_MUST tarn_code tarn_iceberg_view_check_offered(const struct tarn_iceberg_view *view, struct tarn_err *err);
/* Nothing in it yet. */
TARN_MUST tarn_code tarn_iceberg_view_blank(struct tarn_iceberg_view **out, struct tarn_err *err);
const struct tarn_iceberg_view_version *tarn_iceberg_view_version_of(const struct tarn_iceberg_view *view, int64_t id);

/* --- view_updates.c --- */
struct tarn_iceberg_view_create {
    const json_t *schema, *version; /* view-version of the request */
    const json_t *properties;       /* NULL: none */
    const char *location, *uuid;
    int64_t now_ms;
};
TARN_MUST tarn_code tarn_iceberg_view_create(const struct tarn_iceberg_view_create *ask, struct tarn_iceberg_view **out,
                                             struct tarn_err *err);
/* assert-view-uuid alone; TARN_VERSION_CONFLICT. */
TARN_MUST tarn_code tarn_iceberg_view_require(const struct tarn_iceberg_view *base, const json_t *requirements,
                                              struct tarn_err *err);
/* Applies the updates in order, expires old versions, checks. *changed false: write nothing. */
TARN_MUST tarn_code tarn_iceberg_view_update(struct tarn_iceberg_view *view, const json_t *updates, int64_t now_ms,
                                             bool *changed, struct tarn_err *err);
/* As tarn_iceberg_file_name. */
TARN_MUST tarn_code tarn_iceberg_view_file_name(const struct tarn_iceberg_view *view, const char *base_file, const char *uuid,
                                                char **out, struct tarn_err *err);
#endif
