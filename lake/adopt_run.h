/* adopt_run.h - one adoption while it runs: shared by adopt*.c and readopt.c only. */
#ifndef TARN_LAKE_ADOPT_RUN_H
#define TARN_LAKE_ADOPT_RUN_H
#include "formats/facts.h"
#include "formats/manifest/manifest.h"
#include "lake/adopt.h"

struct tarn_adoption {
    struct tarn_lake *lake;
    struct tarn_place *place;
    struct tarn_adopted *out;
    struct tarn_stage *stage;  /* owned */
    struct tarn_facts facts;   /* owned */
    struct tarn_fileset files; /* owned: the manifest's paths with their sizes */
    struct tarn_fileset ids;   /* owned: of the entries taken */
    const char *own_uuid;      /* of the table that is taken back; NULL: a new one */
    int64_t count;             /* entries of the manifest met in this pass, with their index in errors */
};
void tarn_adoption_done(struct tarn_adoption *a);

/* adopt.c: facts of the folder, and all of *out that they decide. */
TARN_MUST tarn_code tarn_adoption_begin(struct tarn_adoption *a, struct tarn_err *err);
/* How many entries are committed and there. */
int64_t tarn_adoption_committed(const struct tarn_log_facts *log);
/* adopt_tell.c: the remarks, and the block that they ask for. */
TARN_MUST tarn_code tarn_adoption_tell(struct tarn_adoption *a, struct tarn_err *err);
/* adopt_stage.c: the manifest's files at out->version, counted and staged; its digest becomes
 * out->publication. */
TARN_MUST tarn_code tarn_adoption_files(struct tarn_adoption *a, struct tarn_err *err);
/* The committed entries of the log, oldest first. */
TARN_MUST tarn_code tarn_adoption_entries(struct tarn_adoption *a, struct tarn_err *err);
/* adopt_ids.c: after the entries, every other id that no commit may take. */
TARN_MUST tarn_code tarn_adoption_ids(struct tarn_adoption *a, struct tarn_err *err);
TARN_MUST tarn_code tarn_adoption_schemas(struct tarn_adoption *a, struct tarn_err *err);
#endif
