/* register.h - a table comes into the catalog: a new folder, one that is adopted with its manifest, log and
 * schema, one whose files are imported, or one that is only observed. */
#ifndef TARN_LAKE_REGISTER_H
#define TARN_LAKE_REGISTER_H
#include "lake/inherit.h"
#include "lake/lake.h"
#include <jansson.h>

struct tarn_adopted;
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
    bool enforcement_given, verify_given;
    bool publish, protected_;
    bool (*may_use)(const void *who, const char *location); /* roots of the token; NULL: all */
    const void *who;
    int64_t now_ms; /* 0: the clock */
    /* out, owned */
    struct tarn_table *table;     /* the new row (dry run: as it would be) */
    struct tarn_inherited inherited; /* by the table: tarn_inherit_settings makes of the row what GET shows */
    struct tarn_adopted *adopted; /* what was taken over, with remarks (lake/adopt.h); NULL: observed */
    bool published;
};
extern const struct tarn_use tarn_register;

/* register_request.c: what can be judged of the request alone. */
TARN_MUST tarn_code tarn_register_judge(const struct tarn_register_use *use, struct tarn_err *err);
/* Refuses managed mode, and says how a table of that format comes under management, if at all. */
tarn_code tarn_register_observed_only(enum tarn_format format, struct tarn_err *err);
/* Properties are scalars by name. */
TARN_MUST tarn_code tarn_properties_check(const json_t *properties, struct tarn_err *err);

/* register_place.c: the canonical location of the table to come, allowed by the roots of server and token;
 * owned. Without a given one: <default root>/<levels>/<name>, with a number where that is taken. Blocks. */
TARN_MUST tarn_code tarn_register_locate(const struct tarn_register_use *use, char **out,
                                         struct tarn_err *err);
/* The same for a table that is no register use: <parent>/<name>,
 * or with NULL as above. Roots are not asked. Blocks. */
TARN_MUST tarn_code tarn_location_choose(struct tarn_lake *lake, const struct tarn_ident *ident,
                                         const char *parent, char **out, struct tarn_err *err);
/* Adds <default root>/<levels>: where the tables of a
 * namespace come to lie that names no place of its own. */
TARN_MUST tarn_code tarn_location_of_namespace(const struct tarn_lake *lake, const char *namespace_,
                                               struct tarn_buf *out, struct tarn_err *err);
/* The live table (or one dropped within retention) that `location` collides with, or *out NULL. Managed
 * locations are unique; observed tables may share one. */
TARN_MUST tarn_code tarn_location_owner(struct tarn_tx *tx, const struct tarn_lake *lake,
                                        const char *location, bool is_managed, int64_t except_id,
                                        int64_t now_ms, struct tarn_table **out, struct tarn_err *err);
tarn_code tarn_location_taken(const struct tarn_table *owner, const char *location, struct tarn_err *err);
#endif
