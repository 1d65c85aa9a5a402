/* views.h - views of the Iceberg face: made, replaced, registered, renamed,
 * dropped. As with tables the document is built on a worker and written
 * under a name of its own, and one transaction moves the pointer. */
#ifndef TARN_LAKE_VIEWS_H
#define TARN_LAKE_VIEWS_H
#include "formats/iceberg/view.h"
#include "lake/iceberg.h"

struct tarn_view_use {
    /* in; text and trees are borrowed */
    struct tarn_lake *lake;
    struct tarn_ident ident;
    struct tarn_iceberg_who who;
    int64_t now_ms;                             /* 0: the clock */
    struct tarn_iceberg_view_create ask;        /* create: schema, version, properties */
    const char *location;                       /* create: as asked for, NULL: chosen */
    const json_t *requirements, *updates;       /* replace */
    const char *metadata_location;              /* register: the file */
    /* out, owned */
    struct tarn_view *row;                      /* as it is afterwards; `metadata` is what is answered */
    /* inside */
    struct tarn_iceberg_view *view;
    bool is_written, is_landed, is_same;
    int attempts;
};
extern const struct tarn_use tarn_view_create;   /* TARN_VIEW_EXISTS, TARN_TABLE_EXISTS, TARN_NAMESPACE_NOT_FOUND */
extern const struct tarn_use tarn_view_replace;  /* TARN_VIEW_NOT_FOUND, TARN_VERSION_CONFLICT */
extern const struct tarn_use tarn_view_register; /* TARN_NOT_FOUND: the file */

struct tarn_view_rename_use { struct tarn_ident from, to; int64_t now_ms; };
extern const struct tarn_use tarn_view_rename;   /* TARN_VIEW_NOT_FOUND, TARN_NAMESPACE_NOT_FOUND, TARN_VIEW_EXISTS, TARN_TABLE_EXISTS */
struct tarn_view_drop_use { struct tarn_ident ident; };
extern const struct tarn_use tarn_view_drop;     /* TARN_VIEW_NOT_FOUND; the metadata file stays */
#endif
