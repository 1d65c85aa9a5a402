/* rebuild_search.h - the folders that a rebuild found: shared by the files lake/rebuild*.c only. */
#ifndef TARN_LAKE_REBUILD_SEARCH_H
#define TARN_LAKE_REBUILD_SEARCH_H
#include "formats/fileset.h"
#include "lake/rebuild.h"

struct tarn_search {
    struct tarn_rebuild *rebuild;
    struct tarn_rebuild_candidate *items; /* owned */
    size_t count, cap;
    struct tarn_fileset locations, names; /* met; given out */
    const char *root; /* of the walk at hand */
};
void tarn_search_done(struct tarn_search *search);
/* Walks one location: tables of the manifest format become candidates. */
TARN_MUST tarn_code tarn_search_walk(struct tarn_search *search, const char *given, struct tarn_err *err);
/* What each candidate's documents tell of it; who cannot be read is left out. */
TARN_MUST tarn_code tarn_search_heads(struct tarn_search *search, struct tarn_err *err);
/* Leaves out those of other catalogs, and copies. NULL catalog: the one of most; *catalog gets it (borrowed; NULL: none). */
TARN_MUST tarn_code tarn_search_owners(struct tarn_search *search, const char **catalog, struct tarn_err *err);
#endif
