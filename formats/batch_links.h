/* batch_links.h - which batch each commit says it applied, to find one that was applied twice. */
#ifndef TARN_FORMATS_BATCH_LINKS_H
#define TARN_FORMATS_BATCH_LINKS_H
#include "base/buf.h"
#include "formats/facts.h"

struct tarn_batch_links {
    struct tarn_fileset first;  /* batches, by name; the size is the place of their first commit in `commits` */
    struct tarn_buf commits;    /* transaction ids, one after the other */
    struct tarn_fileset named;  /* every batch that a commit names, as tarn_batch_is_named wants it */
    int64_t carriers;           /* commits that name a batch */
    struct tarn_suspects twice; /* subject: the batch; note: both transactions, the one noted last first; observed: how often */
};
void tarn_batch_links_done(struct tarn_batch_links *links);
/* A commit. `counts`: what it added is still there, so that a batch that another one names too came twice. `batch_ids`: a JSON
 * array, `metadata`: its commitMetadata, an object; both may be NULL. What is neither is passed over. */
TARN_MUST tarn_code tarn_batch_links_note(struct tarn_batch_links *links, const char *transaction, bool counts,
                                          const char *batch_ids, const char *metadata, struct tarn_err *err);
/* Moves the batches that were applied twice to *out. */
void tarn_batch_links_take(struct tarn_batch_links *links, struct tarn_suspects *out);
/* Does a commit name that batch, by its path below staging/ or by its name alone, with or without ".parquet"? */
TARN_MUST tarn_code tarn_batch_is_named(const struct tarn_fileset *named, const char *batch_id, bool *is_named,
                                        struct tarn_err *err);
#endif
