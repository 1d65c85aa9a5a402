/* publish_links.c - _symlink_format_manifest/ for engines that read lists of files (Trino, Hive, Athena): one
 * file `manifest` for the table, or one in the folder of each partition, with the absolute location of a data
 * file a line. Only the partitions that changed since the last publication are written; all of them when that
 * is not known. Memory is bounded: what does not fit is left to another pass over the snapshot. */
#include "base/json.h"
#include "formats/manifest/manifest.h"
#include "lake/publish_links.h"
#include <string.h>

enum {
    PAGE_FILES = 5000,
    HELD_BYTES = 16 * 1024 * 1024 /* lines in memory */
};

/* --- a pass over the snapshot --- */

struct scan {
    struct tarn_links *l;
    char after[TARN_PATH_MAX + 1], last[TARN_PATH_MAX + 1];
    int64_t rows;
};

static tarn_code take_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct scan *s = ctx;
    const char *name = NULL;
    tarn_code code = tarn_link_part_name(s->l, file, &name, err);

    if (code != TARN_OK)
        return code;
    tarn_buf_add(&s->l->page, name, strlen(name) + 1);
    tarn_buf_add(&s->l->page, file->path, strlen(file->path) + 1);
    snprintf(s->last, sizeof s->last, "%s", file->path);
    s->rows++;
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct scan *s = ctx;

    tarn_buf_clear(&s->l->page);
    s->rows = 0;
    return tx->ops->files.page(tx, s->l->run->table_id, s->l->run->table->version, s->after, PAGE_FILES,
                               take_file, s, err);
}

static void add_line(struct tarn_buf *lines, const char *location, const char *path)
{
    tarn_buf_addf(lines, "%s%s/%s\n", location[0] == '/' ? "file://" : "", location, path);
}

/* Half of the partitions at hand wait for the next pass; a single one is written as a stream of its own. */
static void make_room(struct tarn_links *l)
{
    size_t active = 0, kept = 0;

    for (size_t i = 0; i < l->count; i++)
        active += l->parts[i].state == TARN_LINK_WANTED && l->parts[i].lines.len > 0;
    for (size_t i = 0; i < l->count; i++) {
        struct tarn_link_part *part = &l->parts[i];
        if (part->state != TARN_LINK_WANTED || part->lines.len == 0 || ++kept <= active / 2)
            continue;
        l->held -= part->lines.len;
        tarn_buf_done(&part->lines);
        part->lines = (struct tarn_buf){ 0 };
        part->state = active == 1 ? TARN_LINK_LARGE : TARN_LINK_LATER;
    }
}

static tarn_code sort_page(struct tarn_links *l, struct tarn_err *err)
{
    tarn_code code = tarn_buf_check(&l->page, err);

    for (size_t at = 0; code == TARN_OK && at < l->page.len;) {
        const char *name = l->page.data + at, *path = name + strlen(name) + 1;
        struct tarn_link_part *part = tarn_link_part_get(l, name, l->all);
        at = (size_t)(path - l->page.data) + strlen(path) + 1;
        if (!part && l->all)
            return tarn_fail_oom(err);
        if (!part || part->state != TARN_LINK_WANTED)
            continue;
        size_t before = part->lines.len;
        add_line(&part->lines, l->run->table->location, path);
        code = tarn_buf_check(&part->lines, err);
        l->held += part->lines.len - before;
        if (l->held > (l->run->held_bytes ? l->run->held_bytes : HELD_BYTES))
            make_room(l);
    }
    return code;
}

static tarn_code scan(struct tarn_links *l, struct tarn_err *err)
{
    struct scan s = { .l = l };

    l->held = 0;
    do {
        tarn_code code = tarn_publish_read(l->run, page_tx, &s, err);
        if (code == TARN_OK)
            code = sort_page(l, err);
        if (code != TARN_OK)
            return code;
        memcpy(s.after, s.last, sizeof s.after);
    } while (s.rows == PAGE_FILES);
    return TARN_OK;
}

/* --- onto storage --- */

static void path_of(const char *name, struct tarn_buf *out)
{
    tarn_buf_clear(out);
    tarn_buf_addf(out, TARN_DIR_LINKS "/%s%smanifest", name, name[0] ? "/" : "");
}

static bool is_there(struct tarn_links *l, const char *path, const struct tarn_buf *lines)
{
    TARN_AUTO_DONE(buf) struct tarn_buf there = { 0 };

    return tarn_place_read_all(l->run->place, path, lines->len, &there, NULL, NULL) == TARN_OK &&
           there.len == lines->len && memcmp(there.data, lines->data, lines->len) == 0;
}

static tarn_code put_part(struct tarn_links *l, struct tarn_link_part *part, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    tarn_code code = TARN_OK;

    path_of(part->name, &path);
    if (path.failed)
        return tarn_buf_check(&path, err);
    if (part->lines.len == 0) /* all its files are gone */
        code = tarn_place_remove(l->run->place, path.data, err);
    else if (!is_there(l, path.data, &part->lines))
        code = tarn_place_put(l->run->place, path.data, part->lines.data, part->lines.len, TARN_PUT_REPLACE,
                              NULL, err);
    tarn_buf_done(&part->lines);
    part->lines = (struct tarn_buf){ 0 };
    part->state = TARN_LINK_DONE;
    return code;
}

/* One partition as a stream. */
struct stream {
    struct tarn_sink sink; /* first */
    struct tarn_links *l;
    const char *name;
    tarn_code code;
};

static void stream_file(struct tarn_sink *sink, const struct tarn_file *file, int64_t version)
{
    struct stream *s = (struct stream *)sink;
    const char *name = NULL;

    (void)version;
    if (tarn_link_part_name(s->l, file, &name, NULL) != TARN_OK)
        sink->buf.failed = true;
    else if (strcmp(name, s->name) == 0)
        add_line(&sink->buf, s->l->run->table->location, file->path);
}

static tarn_code stream_part(struct tarn_links *l, const char *name, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_buf_done))) struct tarn_buf path = { 0 };
    struct stream s = { .l = l, .name = name };

    path_of(name, &path);
    tarn_code code = tarn_buf_check(&path, err);
    if (code == TARN_OK)
        code = tarn_sink_open(&s.sink, l->run->place, path.data, err);
    if (code == TARN_OK)
        code = tarn_sink_snapshot(&s.sink, l->run, l->run->table->version, stream_file, err);
    if (code == TARN_OK)
        code = tarn_sink_end(&s.sink, err);
    if (code == TARN_OK)
        code = tarn_writer_commit(s.sink.writer, TARN_PUT_REPLACE, NULL, err);
    tarn_sink_done(&s.sink);
    return code;
}

/* *again: some partitions had no room. */
static tarn_code put_parts(struct tarn_links *l, bool *again, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    *again = false;
    for (size_t i = 0; code == TARN_OK && i < l->count; i++) {
        struct tarn_link_part *part = &l->parts[i];
        if (part->state == TARN_LINK_WANTED) {
            code = put_part(l, part, err);
        } else if (part->state == TARN_LINK_LARGE) {
            code = stream_part(l, part->name, err);
            part->state = TARN_LINK_DONE;
        } else if (part->state == TARN_LINK_LATER) {
            part->state = TARN_LINK_WANTED;
            *again = true;
        }
    }
    return code;
}

/* --- what is no longer true --- */

struct stale {
    struct tarn_links *l;
    struct tarn_buf paths; /* one after the other, each with its NUL */
};

static tarn_code note_stale(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    static const char k_file[] = "/manifest";
    struct stale *s = ctx;
    size_t len = strlen(object->path), begin = strlen(TARN_DIR_LINKS "/");

    if (object->is_folder || len < begin + strlen(k_file) - 1 ||
        strcmp(object->path + len - 8, "manifest") != 0 || object->path[len - 9] != '/')
        return TARN_OK;
    tarn_buf_clear(&s->l->name);
    if (len > begin + 8)
        tarn_buf_add(&s->l->name, object->path + begin, len - begin - strlen(k_file));
    tarn_buf_add(&s->l->name, "", 1);
    tarn_code code = tarn_buf_check(&s->l->name, err);
    if (code == TARN_OK && !tarn_fileset_find(&s->l->index, s->l->name.data))
        tarn_buf_add(&s->paths, object->path, len + 1);
    return code;
}

static tarn_code remove_stale(struct tarn_links *l, struct tarn_err *err)
{
    struct stale s = { .l = l };
    tarn_code code = tarn_place_list(l->run->place, TARN_DIR_LINKS, true, note_stale, &s, err);

    if (code == TARN_OK)
        code = tarn_buf_check(&s.paths, err);
    for (size_t at = 0; code == TARN_OK && at < s.paths.len; at += strlen(s.paths.data + at) + 1)
        code = tarn_place_remove(l->run->place, s.paths.data + at, err);
    tarn_buf_done(&s.paths);
    return code;
}

/* --- all of it --- */

static tarn_code write_parts(struct tarn_links *l, struct tarn_err *err)
{
    bool again = true;
    tarn_code code = tarn_links_changed(l, err);

    while (code == TARN_OK && again && (l->all || l->count > 0)) {
        code = scan(l, err);
        if (code == TARN_OK)
            code = put_parts(l, &again, err);
    }
    return code == TARN_OK && l->all ? remove_stale(l, err) : code;
}

static tarn_code write_links(struct tarn_publish_run *run, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_links_done))) struct tarn_links l = { .run = run };
    const char *keys = run->table->partition_keys;

    if (!run->links)
        return run->pub.links ? remove_stale(&l, err) : TARN_OK;
    tarn_code code = tarn_json_parse(keys, strlen(keys), NULL, &l.keys, err);
    if (code != TARN_OK)
        return code;
    return json_array_size(l.keys) == 0 ? stream_part(&l, "", err) : write_parts(&l, err);
}

tarn_code tarn_publish_links(struct tarn_publish_run *run, struct tarn_err *err)
{
    TARN_ERR(fault);

    if (!run->wants_version)
        return TARN_OK;
    tarn_code code = write_links(run, &fault);
    if (code != TARN_OK && run->cancelled && run->cancelled(run->ctx))
        return tarn_err_move(err, &fault);
    run->links_failed = code != TARN_OK;
    if (code != TARN_OK && run->side.code == TARN_OK)
        (void)tarn_err_move(&run->side, &fault);
    return TARN_OK;
}
