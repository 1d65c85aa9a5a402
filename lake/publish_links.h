/* publish_links.h - the lists of files that one publication writes, partition by partition. Only the files
 * lake/publish_links*.c include it. */
#ifndef TARN_LAKE_PUBLISH_LINKS_H
#define TARN_LAKE_PUBLISH_LINKS_H
#include "formats/fileset.h"
#include "lake/publish_run.h"

enum tarn_link_state {
    TARN_LINK_WANTED, /* to be written; its lines are held */
    TARN_LINK_LATER,  /* to be written by another pass */
    TARN_LINK_LARGE,  /* does not fit into memory: to be written as a stream */
    TARN_LINK_DONE
};
struct tarn_link_part {
    char *name; /* owned: "date=2024-02-01/hour=14" */
    enum tarn_link_state state;
    struct tarn_buf lines;
};
struct tarn_links {
    struct tarn_publish_run *run;
    json_t *keys;                 /* owned: the partition keys */
    struct tarn_link_part *parts; /* owned */
    size_t count, cap;
    struct tarn_fileset index; /* name to its place in parts (as size) */
    bool all;                  /* every partition is written, and what is of none is removed */
    size_t held;               /* bytes of all lines */
    struct tarn_buf page, name;
};
void tarn_links_done(struct tarn_links *links);

/* publish_links_changes.c: the partition of that name, NULL when it is not known; with `add` it is made, and
 * NULL is a lack of memory. Valid until the next one is made. */
struct tarn_link_part *tarn_link_part_get(struct tarn_links *links, const char *name, bool add);
/* Makes those that the commits since the last publication touched, or sets `all`. */
TARN_MUST tarn_code tarn_links_changed(struct tarn_links *links, struct tarn_err *err);
/* publish_links_name.c: the folder of the file's partition as Hive spells it, in links->name, until the next
 * call. A value comes from partitionValues, else from the path. */
TARN_MUST tarn_code tarn_link_part_name(struct tarn_links *links, const struct tarn_file *file,
                                        const char **out, struct tarn_err *err);
#endif
