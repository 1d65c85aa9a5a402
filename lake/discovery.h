/* discovery.h - the tables below a folder beside what the catalog knows: which are registered,
 * under which name, and under which names the others could be. Changes nothing. */
#ifndef TARN_LAKE_DISCOVERY_H
#define TARN_LAKE_DISCOVERY_H
#include "lake/discover.h"
#include "lake/lake.h"

enum tarn_discovered_state {
    TARN_DISCOVERED_NEW,
    TARN_DISCOVERED_REGISTERED,
    TARN_DISCOVERED_DROPPED,  /* registered once, dropped, still restorable */
    TARN_DISCOVERED_OVERLAPS  /* inside or around a registered table's folder */
};
const char *tarn_discovered_text(enum tarn_discovered_state state); /* "new", ... */

struct tarn_discovered {
    const char *location; /* borrowed for the call, as all text */
    enum tarn_format format;
    enum tarn_discovered_state state;
    const char *table; /* dotted, of the registered one; NULL: new, or not to be told to who asks */
    const char *name;  /* a free name for a new one, dotted; NULL: none is known */
};
typedef void tarn_discovered_fn(void *ctx, const struct tarn_discovered *item);

struct tarn_discovery_ask {
    const char *location; /* as given */
    bool (*may_use)(const void *who, const char *location);                     /* roots of the token; NULL: all */
    bool (*may_see)(const void *who, const char *namespace_, const char *name); /* NULL: all */
    const void *who;
    int64_t now_ms;
};
/* A walk in bounded steps. One thread at a time. */
struct tarn_discovery;
/* TARN_INVALID or TARN_LOCATION_NOT_ALLOWED with the field `location`,
 * TARN_LOCATION_UNREACHABLE when the folder is not there, TARN_STORAGE_UNAVAILABLE.
 * `who` is copied by nobody: it must outlive the discovery. Blocks. */
TARN_MUST tarn_code tarn_discovery_new(struct tarn_lake *lake, const struct tarn_discovery_ask *ask,
                                       struct tarn_discovery **out, struct tarn_err *err);
/* Some of the work, and what it found; *end: that was all. */
TARN_MUST tarn_code tarn_discovery_next(struct tarn_discovery *discovery, tarn_discovered_fn *fn, void *ctx,
                                        bool *end, struct tarn_err *err);
const struct tarn_walked *tarn_discovery_walked(const struct tarn_discovery *discovery);
const char *tarn_discovery_location(const struct tarn_discovery *discovery); /* canonical */
void tarn_discovery_free(struct tarn_discovery *discovery); /* NULL is fine */
TARN_DEFINE_AUTO(discovery, struct tarn_discovery)

/* discovery_name.c: the name that a table's folders below `root` make: <root>/sales/orders is
 * sales.orders. *is_name false: they make none. Both canonical, `location` equal to `root` or below. */
TARN_MUST tarn_code tarn_name_from_folders(const char *root, const char *location, struct tarn_ident *out,
                                           bool *is_name, struct tarn_err *err);
#endif
