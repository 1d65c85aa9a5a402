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
    struct tarn_fileset uuids, views; /* of the catalog's tables, dropped ones too; places of its views */
    const char *root; /* of the walk at hand */
};
void tarn_search_done(struct tarn_search *search);
/* Walks one location: tables of the manifest format and Iceberg tables become candidates. */
TARN_MUST tarn_code tarn_search_walk(struct tarn_search *search, const char *given, struct tarn_err *err);
/* What each candidate's documents tell of it; who cannot be read is left out. */
TARN_MUST tarn_code tarn_search_heads(struct tarn_search *search, struct tarn_err *err);
/* rebuild_newest.c: the same of an Iceberg table: its newest metadata file that
 * can be read. What is no table of this catalog's kind is told and left out. */
TARN_MUST tarn_code tarn_search_newest(struct tarn_search *search, struct tarn_rebuild_candidate *candidate,
                                       struct tarn_err *err);
/* Leaves out those of other catalogs, and copies; Iceberg tables carry no catalog's id and are of any. NULL catalog: the one of most;
 * *catalog gets it (borrowed; NULL: none). */
TARN_MUST tarn_code tarn_search_owners(struct tarn_search *search, const char **catalog,
                                       struct tarn_err *err);
/* --- rebuild_known.c: beside the tables that the catalog has --- */
/* Fills search->uuids and search->views. */
TARN_MUST tarn_code tarn_search_catalog(struct tarn_search *search, struct tarn_err *err);
/* Leaves out an Iceberg table that the catalog has: its pointer is the truth, whatever else lies there. */
TARN_MUST tarn_code tarn_search_pointed(struct tarn_search *search, struct tarn_rebuild_candidate *candidate,
                                        struct tarn_err *err);
/* Leaves out what the catalog has already, at that place or of that uuid. */
TARN_MUST tarn_code tarn_search_known(struct tarn_search *search, struct tarn_err *err);
#endif
