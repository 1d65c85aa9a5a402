/* publish_links_changes.c - which partitions' lists are to be written: those that the commits since the last
 * publication touched, or all of them when that is not known or too much. */
#include "lake/publish_links.h"
#include <string.h>

enum {
    CHANGES_MAX = 20000, /* files of those commits; of more, all is written */
    VERSIONS_A_READ = 64
};

void tarn_links_done(struct tarn_links *l)
{
    for (size_t i = 0; i < l->count; i++) {
        free(l->parts[i].name);
        tarn_buf_done(&l->parts[i].lines);
    }
    free(l->parts);
    tarn_fileset_done(&l->index);
    tarn_buf_done(&l->page);
    tarn_buf_done(&l->name);
    json_decref(l->keys);
}

/* --- partitions --- */

struct tarn_link_part *tarn_link_part_get(struct tarn_links *l, const char *name, bool add)
{
    struct tarn_fileset_entry *entry = tarn_fileset_find(&l->index, name);

    if (entry)
        return &l->parts[entry->size];
    if (!add)
        return NULL;
    if (l->count == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 64;
        struct tarn_link_part *more = realloc(l->parts, cap * sizeof *more);
        if (!more)
            return NULL;
        l->parts = more;
        l->cap = cap;
    }
    struct tarn_link_part part = { .name = strdup(name) };
    entry = part.name ? tarn_fileset_put(&l->index, name) : NULL;
    if (!entry) {
        free(part.name);
        return NULL;
    }
    entry->size = (uint64_t)l->count & TARN_FILE_NO_SIZE;
    l->parts[l->count] = part;
    return &l->parts[l->count++];
}

/* --- what changed --- */

struct changes {
    struct tarn_links *l;
    int64_t next, files;
};

static tarn_code note_change(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct tarn_links *l = ctx;
    const char *name = NULL;
    tarn_code code = tarn_link_part_name(l, file, &name, err);

    if (code == TARN_OK && !tarn_link_part_get(l, name, true))
        return tarn_fail_oom(err);
    return code;
}

static tarn_code changes_of(struct tarn_tx *tx, struct changes *c, int64_t version, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    struct tarn_publish_run *run = c->l->run;
    TARN_ERR(fault);
    tarn_code code = tx->ops->commits.get(tx, run->table_id, version, &row, &fault);

    if (code != TARN_OK && code != TARN_VERSION_NOT_FOUND)
        return tarn_err_move(err, &fault);
    c->files += row.files_added + row.files_removed;
    c->l->all |= code != TARN_OK || c->files > CHANGES_MAX;
    return c->l->all ? TARN_OK
                     : tx->ops->files.of_version(tx, run->table_id, version, note_change, c->l, err);
}

/* May run twice: a set is filled. */
static tarn_code changes_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct changes *c = ctx;
    int64_t end = c->next + VERSIONS_A_READ, newest = c->l->run->table->version;
    tarn_code code = TARN_OK;

    for (int64_t v = c->next; code == TARN_OK && !c->l->all && v < end && v <= newest; v++)
        code = changes_of(tx, c, v, err);
    return code;
}

tarn_code tarn_links_changed(struct tarn_links *l, struct tarn_err *err)
{
    struct changes c = { .l = l, .next = l->run->table->published_version + 1 };

    l->all = !l->run->pub.links || l->run->pub.marks > 0 || l->run->table->published_version < 0;
    for (; !l->all && c.next <= l->run->table->version; c.next += VERSIONS_A_READ) {
        tarn_code code = tarn_store_read(l->run->lake->store, changes_tx, &c, err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}
