/* rebuild_newest.c - which of the metadata files in an Iceberg table's folder is its
 * newest. Each names those before it, so a file that no other one names is the end
 * of a line: the table's present, what a lost race left, a file that its successors'
 * logs dropped, or the last of another table that had the folder before. */
#include "base/text.h"
#include "formats/iceberg/view.h"
#include "lake/iceberg.h"
#include "lake/lease.h"
#include "lake/rebuild_search.h"
#include <stdio.h>
#include <string.h>

#define REGISTER_IT "register its newest metadata file through the Iceberg REST catalog (docs/ICEBERG.md, Backups)"

enum kind { UNREAD, TIP, BAD, VIEW };
struct file {
    char *name; /* owned, as all text */
    int64_t number;
    enum kind kind;
    char *fault;               /* BAD */
    /* TIP */
    char uuid[40];
    int64_t updated_ms;
    char *location, *folder;   /* as the document has them: the table's, that of the metadata file after it */
    bool is_here, stays_here;  /* are they this folder, and that of these files? */
};
struct newest {
    struct tarn_search *search;
    struct tarn_rebuild_candidate *c;
    char *folder;              /* owned: of the metadata */
    struct file *items;        /* owned */
    size_t count, cap;
    struct tarn_fileset named; /* last parts of what logs name */
    int64_t others;            /* metadata files whose names no catalog of this kind gives */
    char *other;               /* owned: one of them */
};

static void newest_done(struct newest *n)
{
    for (size_t i = 0; i < n->count; i++) {
        free(n->items[i].name);
        free(n->items[i].fault);
        free(n->items[i].location);
        free(n->items[i].folder);
    }
    free(n->items);
    free(n->folder);
    free(n->other);
    tarn_fileset_done(&n->named);
}

/* --- what lies there --- */

static tarn_code note_other(struct newest *n, const char *name, struct tarn_err *err)
{
    n->others++;
    if (!n->other && !(n->other = strdup(name)))
        return tarn_fail_oom(err);
    return TARN_OK;
}

static tarn_code note(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct newest *n = ctx;

    if (object->is_folder || object->is_symlink)
        return TARN_OK;
    if (!tarn_iceberg_is_file_name(object->path))
        return tarn_ends_with(object->path, ".metadata.json") || tarn_ends_with(object->path, ".metadata.json.gz")
                   ? note_other(n, object->path, err)
                   : TARN_OK;
    if (n->count == n->cap) {
        size_t cap = n->cap ? 2 * n->cap : 64;
        struct file *more = reallocarray(n->items, cap, sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        n->items = more;
        n->cap = cap;
    }
    n->items[n->count++] =
        (struct file){ .name = strdup(object->path), .number = tarn_iceberg_file_number(object->path) };
    return n->items[n->count - 1].name ? TARN_OK : tarn_fail_oom(err);
}

static int by_number(const void *a, const void *b)
{
    const struct file *x = a, *y = b;

    if (x->number != y->number)
        return x->number > y->number ? -1 : 1;
    return strcmp(x->name, y->name);
}

static tarn_code list_files(struct newest *n, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    tarn_code code = TARN_OK;

    if (asprintf(&n->folder, "%s%s", n->c->location, n->c->is_apart ? "" : "/metadata") < 0) {
        n->folder = NULL;
        return tarn_fail_oom(err);
    }
    code = tarn_place_open(n->search->rebuild->lake->storage, n->folder, false, &place, err);
    if (code == TARN_OK)
        code = tarn_place_list(place, "", false, note, n, err);
    if (code == TARN_OK && n->count > 1)
        qsort(n->items, n->count, sizeof *n->items, by_number);
    return code;
}

/* --- one file --- */

static const char *last_part(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

static bool is_place(const char *given, const char *canonical)
{
    TARN_AUTO(mem) char *found = NULL;
    TARN_ERR(ignored);

    return tarn_iceberg_locate(given, &found, &ignored) == TARN_OK && strcmp(found, canonical) == 0;
}

static tarn_code take_tip(struct newest *n, struct file *f, const struct tarn_iceberg_meta *meta,
                          struct tarn_err *err)
{
    f->kind = TIP;
    f->updated_ms = meta->last_updated_ms;
    snprintf(f->uuid, sizeof f->uuid, "%s", meta->uuid);
    f->location = strdup(meta->location);
    f->folder = tarn_iceberg_folder(meta);
    if (!f->location || !f->folder)
        return tarn_fail_oom(err);
    f->is_here = is_place(f->location, n->c->location);
    f->stays_here = is_place(f->folder, n->folder);
    for (size_t i = 0; i < meta->metadata_log.count; i++)
        if (!tarn_fileset_put(&n->named, last_part(meta->metadata_log.items[i].file)))
            return tarn_fail_oom(err);
    return TARN_OK;
}

static bool is_view(const struct tarn_buf *text)
{
    TARN_AUTO(iceberg_view) struct tarn_iceberg_view *view = NULL;
    TARN_ERR(ignored);

    return tarn_iceberg_view_parse(text->data ? text->data : "", text->len, &view, &ignored) == TARN_OK;
}

static tarn_code spoilt(struct file *f, const struct tarn_err *fault, struct tarn_err *err)
{
    f->kind = BAD;
    if (asprintf(&f->fault, "%s%s%s", fault->field, fault->field[0] ? ": " : "", fault->detail) >= 0)
        return TARN_OK;
    f->fault = NULL;
    return tarn_fail_oom(err);
}

/* A document that is no table's is one that a crash cut off,
 * or worse; storage that does not answer is another matter. */
static bool is_of_the_file(tarn_code code)
{
    return code == TARN_INVALID || code == TARN_NOT_FOUND || code == TARN_PAYLOAD_TOO_LARGE;
}

static tarn_code read_one(struct newest *n, struct file *f, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 }, text = { 0 };
    TARN_AUTO(iceberg) struct tarn_iceberg_meta *meta = NULL;
    TARN_ERR(fault);

    tarn_buf_addf(&path, "%s/%s", n->folder, f->name);
    tarn_code code = tarn_buf_check(&path, &fault);
    if (code == TARN_OK)
        code = tarn_iceberg_file_read(n->search->rebuild->lake, path.data, &text, &fault);
    if (code == TARN_OK)
        code = tarn_iceberg_parse(text.data ? text.data : "", text.len, &meta, &fault);
    if (code == TARN_OK && (!meta->uuid || strlen(meta->uuid) >= sizeof f->uuid))
        code = tarn_fail_field(&fault, "table-uuid", "the table needs a uuid");
    if (code == TARN_OK)
        return take_tip(n, f, meta, err);
    if (code == TARN_INVALID && is_view(&text)) {
        f->kind = VIEW;
        return TARN_OK;
    }
    return is_of_the_file(code) ? spoilt(f, &fault, err) : tarn_err_move(err, &fault);
}

/* Highest number first: what those name is not read. */
static tarn_code read_tips(struct newest *n, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < n->count && code == TARN_OK; i++) {
        code = tarn_lake_goes_on(n->search->rebuild->lake, err);
        if (code == TARN_OK && !tarn_fileset_find(&n->named, n->items[i].name))
            code = read_one(n, &n->items[i], err);
    }
    for (size_t i = 0; i < n->count; i++) /* named by one of its own number, or after the numbers began anew */
        if (n->items[i].kind == TIP && tarn_fileset_find(&n->named, n->items[i].name))
            n->items[i].kind = UNREAD;
    return code;
}

/* --- the choice --- */

/* The furthest of its table comes first. */
static int by_table(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    int order = strcmp(x->uuid, y->uuid);

    if (order == 0 && x->number != y->number)
        return x->number > y->number ? -1 : 1;
    if (order == 0 && x->updated_ms != y->updated_ms)
        return x->updated_ms > y->updated_ms ? -1 : 1;
    return order ? order : strcmp(x->name, y->name);
}

static bool is_tip_here(const struct file *f) { return f->kind == TIP && f->is_here; }

/* Of the tables that had this folder, the one that was committed
 * to last; of that one, the file of the highest number. */
static struct file *choose(struct newest *n)
{
    const struct file *last = NULL;

    if (n->count > 1)
        qsort(n->items, n->count, sizeof *n->items, by_table);
    for (size_t i = 0; i < n->count; i++)
        if (is_tip_here(&n->items[i]) && (!last || n->items[i].updated_ms > last->updated_ms))
            last = &n->items[i];
    for (size_t i = 0; last && i < n->count; i++)
        if (is_tip_here(&n->items[i]) && strcmp(n->items[i].uuid, last->uuid) == 0)
            return &n->items[i];
    return NULL;
}

/* --- what is told --- */

static void tell_rivals(const struct newest *n, const struct file *best)
{
    struct tarn_rebuild *r = n->search->rebuild;
    const char *uuid = best->uuid;

    for (const struct file *f = n->items; f < n->items + n->count; f++) {
        if (f == best || !is_tip_here(f))
            continue;
        if (strcmp(f->uuid, best->uuid) == 0 && f->number == best->number)
            tarn_rebuild_tell(r, n->c->location, NULL,
                              "two metadata files have the number %lld and nothing tells which one was committed: %s, which was made "
                              "last, is taken, and %s is not",
                              (long long)f->number, best->name, f->name);
        else if (strcmp(f->uuid, best->uuid) != 0 && strcmp(f->uuid, uuid) != 0)
            tarn_rebuild_tell(r, n->c->location, NULL, "another table had the folder before, %s, up to %s: left out", f->uuid,
                              f->name);
        uuid = f->uuid; /* each other table once */
    }
}

static void tell_bad(const struct newest *n, const struct file *best)
{
    const struct file *first = NULL;
    size_t count = 0;

    for (const struct file *f = n->items; f < n->items + n->count; f++)
        if (f->kind == BAD && (!best || f->number >= best->number)) {
            count++;
            first = !first || f->number > first->number ? f : first;
        }
    if (count > 0)
        tarn_rebuild_tell(n->search->rebuild, n->c->location, NULL, "%zu metadata file%s cannot be read, %s%s (%s): %s%s", count,
                          count > 1 ? "s" : "", count > 1 ? "the newest is " : "", first->name, first->fault,
                          best ? best->name : "left out", best ? " is taken" : "");
}

/* Files of a file-system catalog that the table came from are in its log. */
static void tell_others(const struct newest *n, const struct file *best)
{
    if (best && n->others > 0 && !tarn_fileset_find(&n->named, n->other))
        tarn_rebuild_tell(n->search->rebuild, n->c->location, NULL,
                          "%lld other metadata files lie there, one is %s: they have names that this catalog does not give, and "
                          "were not looked at",
                          (long long)n->others, n->other);
}

static void tell_none(const struct newest *n)
{
    struct tarn_rebuild *r = n->search->rebuild;
    const struct file *elsewhere = NULL;
    bool has_view = false;

    for (const struct file *f = n->items; f < n->items + n->count; f++) {
        has_view |= f->kind == VIEW;
        if (f->kind == TIP && (!elsewhere || f->number > elsewhere->number))
            elsewhere = f;
    }
    if ((elsewhere && tarn_fileset_find(&n->search->uuids, elsewhere->uuid)) ||
        (!elsewhere && has_view && tarn_fileset_find(&n->search->views, n->c->location)))
        return; /* the catalog has it */
    if (elsewhere)
        tarn_rebuild_tell(r, n->c->location, NULL, "%s is of an Iceberg table that lies at %s: a copy, or metadata apart from its table "
                          "(write.metadata.path): left out: " REGISTER_IT, elsewhere->name, elsewhere->location);
    else if (has_view)
        tarn_rebuild_tell(r, n->c->location, NULL, "an Iceberg view: left out: register its newest metadata file again "
                          "(docs/ICEBERG.md, Backups)");
    else if (n->count == 0)
        tarn_rebuild_tell(r, n->c->location, NULL, "an Iceberg table whose metadata files have names that this catalog does not give%s%s: "
                          "left out: " REGISTER_IT, n->other ? ", such as " : "", n->other ? n->other : "");
    else
        tell_bad(n, NULL);
}

static tarn_code take(struct newest *n, const struct file *best, struct tarn_err *err)
{
    struct tarn_rebuild_candidate *c = n->c;

    tell_rivals(n, best);
    tell_bad(n, best);
    tell_others(n, best);
    c->left_out = !best->stays_here;
    if (c->left_out)
        tarn_rebuild_tell(n->search->rebuild, c->location, NULL,
                          "%s says that what follows it is in %s (write.metadata.path): left out: " REGISTER_IT, best->name,
                          best->folder);
    c->uuid = strdup(best->uuid);
    c->version = best->number;
    c->last_updated = best->updated_ms;
    if (asprintf(&c->metadata, "%s/%s", best->folder, best->name) < 0)
        c->metadata = NULL;
    return c->uuid && c->metadata ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_search_newest(struct tarn_search *search, struct tarn_rebuild_candidate *c,
                             struct tarn_err *err)
{
    __attribute__((cleanup(newest_done))) struct newest n = { .search = search, .c = c };
    tarn_code code = list_files(&n, err);

    if (code == TARN_OK)
        code = read_tips(&n, err);
    if (code != TARN_OK)
        return code;
    const struct file *best = choose(&n);
    if (best)
        return take(&n, best, err);
    c->left_out = true;
    tell_none(&n);
    return TARN_OK;
}
