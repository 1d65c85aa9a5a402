/* discover.c - the walk over folders: depth first, one folder's listing at a time. */
#include "lake/discover.h"
#include "base/text.h"
#include <string.h>

#define FOLDERS_A_STEP 256
#define DATA_FILES_ENOUGH 1000 /* a folder with so many data files is not listed to its end */

struct walk_folder {
    char *path; /* owned */
    int depth;
};
struct tarn_walk {
    struct tarn_place *place;
    const atomic_bool *stops;
    struct walk_folder *todo; /* owned, a stack */
    size_t count, cap;
    char *current; /* owned: the folder at hand, or the table told last */
    char *table;   /* owned: what the manifest of the table told last calls it */
    char *plain;   /* owned: the plain table found last, whose folders are passed over; NULL: none */
    struct tarn_walked walked;
};

void tarn_walked_done(struct tarn_walked *walked)
{
    tarn_suspects_done(&walked->unreadable);
    *walked = (struct tarn_walked){ 0 };
}

void tarn_walk_free(struct tarn_walk *walk)
{
    if (!walk)
        return;
    for (size_t i = 0; i < walk->count; i++)
        free(walk->todo[i].path);
    free(walk->todo);
    free(walk->current);
    free(walk->table);
    free(walk->plain);
    tarn_walked_done(&walk->walked);
    free(walk);
}

const struct tarn_walked *tarn_walk_walked(const struct tarn_walk *walk) { return &walk->walked; }

static tarn_code push(struct tarn_walk *walk, const char *path, int depth, struct tarn_err *err)
{
    if ((int64_t)walk->count + walk->walked.folders >= TARN_WALK_FOLDERS_MAX || depth > TARN_WALK_DEPTH_MAX) {
        walk->walked.is_cut = true;
        return TARN_OK;
    }
    if (walk->count == walk->cap) {
        size_t cap = walk->cap ? 2 * walk->cap : 64;
        struct walk_folder *more = realloc(walk->todo, cap * sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        walk->todo = more;
        walk->cap = cap;
    }
    char *copy = strdup(path);
    if (!copy)
        return tarn_fail_oom(err);
    walk->todo[walk->count++] = (struct walk_folder){ copy, depth };
    return TARN_OK;
}

static void forget_from(struct tarn_walk *walk, size_t count)
{
    while (walk->count > count)
        free(walk->todo[--walk->count].path);
}

tarn_code tarn_walk_new(struct tarn_place *place, const atomic_bool *stops, struct tarn_walk **out,
                        struct tarn_err *err)
{
    TARN_AUTO(walk) struct tarn_walk *walk = calloc(1, sizeof *walk);

    if (!walk)
        return tarn_fail_oom(err);
    walk->place = place;
    walk->stops = stops;
    tarn_code code = push(walk, "", 0, err);
    if (code == TARN_OK)
        *out = tarn_take(&walk);
    return code;
}

/* --- one folder --- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* A partition of the table above: key=value, or only digits
 * and what stands between them in dates and times. */
static bool is_partition(const char *name)
{
    const char *equals = strchr(name, '=');

    return (equals && equals > name) || (name[0] != '\0' && name[strspn(name, "0123456789-_T")] == '\0');
}

/* Hidden folders hold no tables, nor do those whose name is no text: no location can name them. */
static bool is_entered(const char *name)
{
    return name[0] != '.' && name[0] != '_' && tarn_utf8_valid(name, strlen(name));
}

static tarn_code take_object(struct tarn_walk *walk, const struct tarn_object *object, int depth,
                             struct tarn_marks *marks, struct tarn_err *err)
{
    const char *name = name_of(object->path);

    if (object->is_symlink) {
        walk->walked.links++;
        return TARN_OK;
    }
    tarn_marks_note(marks, name, object->is_folder);
    return object->is_folder && is_entered(name) ? push(walk, object->path, depth + 1, err) : TARN_OK;
}

/* Its objects, folders onto the stack. One that is full of
 * data files is a table: the rest of it is not listed. */
static tarn_code list_folder(struct tarn_walk *walk, int depth, struct tarn_marks *marks,
                             struct tarn_err *err)
{
    TARN_AUTO(lister) struct tarn_lister *lister = NULL;
    tarn_code code = tarn_place_lister(walk->place, walk->current, false, &lister, err);

    for (bool found = true; code == TARN_OK && found;) {
        struct tarn_object object = { 0 };
        code = tarn_lister_next(lister, &object, &found, err);
        if (code == TARN_OK && found)
            code = take_object(walk, &object, depth, marks, err);
        if (code == TARN_OK && marks->data_files >= DATA_FILES_ENOUGH)
            return tarn_marks_ask(walk->place, walk->current, marks, err);
    }
    return code;
}

/* The folder of a plain table is the one above its partitions. */
static void cut_partitions(char *path)
{
    for (char *slash = strrchr(path, '/'); is_partition(slash ? slash + 1 : path);
         slash = strrchr(path, '/')) {
        if (!slash) {
            path[0] = '\0';
            return;
        }
        *slash = '\0';
    }
}

static tarn_code note_plain(struct tarn_walk *walk, struct tarn_err *err)
{
    cut_partitions(walk->current);
    free(walk->plain);
    walk->plain = strdup(walk->current);
    return walk->plain ? TARN_OK : tarn_fail_oom(err);
}

static bool lies_in_plain(const struct tarn_walk *walk, const char *path)
{
    size_t len = walk->plain ? strlen(walk->plain) : 0;

    return walk->plain && strncmp(path, walk->plain, len) == 0 &&
           (len == 0 || path[len] == '/' || path[len] == '\0');
}

/* A folder that cannot be read hides what lies in it, and nothing else; not the place itself. */
static tarn_code pass_over(struct tarn_walk *walk, tarn_code code, struct tarn_err *fault,
                           struct tarn_err *err)
{
    if (code == TARN_INTERNAL || walk->current[0] == '\0')
        return tarn_err_move(err, fault);
    return tarn_suspects_add(&walk->walked.unreadable, walk->current, fault->detail, -1, -1, -1, err);
}

/* A table, whose folders are not entered; or metadata whose table lies elsewhere. */
static tarn_code read_folder(struct tarn_walk *walk, int depth, struct tarn_found *found, bool *is_found,
                             struct tarn_err *err)
{
    struct tarn_marks marks = { 0 };
    bool is_table = false;
    size_t before = walk->count;
    TARN_ERR(fault);

    walk->walked.folders++;
    tarn_code code = list_folder(walk, depth, &marks, &fault);
    if (code == TARN_OK)
        code = tarn_marks_judge(walk->place, walk->current, &marks, &is_table, &found->format, &walk->table,
                                &fault);
    if (code != TARN_OK)
        return pass_over(walk, code, &fault, err);
    *is_found = is_table || marks.apart;
    found->is_apart = !is_table;
    found->path = walk->current;
    found->table = walk->table;
    if (!is_table) {
        found->format = TARN_FORMAT_ICEBERG;
        return TARN_OK;
    }
    forget_from(walk, before);
    walk->walked.tables++;
    return found->format == TARN_FORMAT_PARQUET ? note_plain(walk, err) : TARN_OK;
}

tarn_code tarn_walk_next(struct tarn_walk *walk, struct tarn_found *found, enum tarn_walk_step *step,
                         struct tarn_err *err)
{
    *step = TARN_WALK_MORE;
    for (int i = 0; i < FOLDERS_A_STEP && walk->count > 0; i++) {
        struct walk_folder next = walk->todo[--walk->count];
        free(tarn_take(&walk->table));
        free(walk->current);
        walk->current = next.path;
        if (walk->stops && atomic_load(walk->stops))
            return tarn_fail(err, TARN_OVERLOADED, "the server stops");
        bool is_found = false;
        if (lies_in_plain(walk, next.path))
            continue;
        tarn_code code = read_folder(walk, next.depth, found, &is_found, err);
        if (code != TARN_OK)
            return code;
        if (!is_found)
            continue;
        *step = TARN_WALK_FOUND;
        return TARN_OK;
    }
    if (walk->count == 0)
        *step = TARN_WALK_END;
    return TARN_OK;
}

tarn_code tarn_discover(struct tarn_place *place, const atomic_bool *stops, tarn_found_fn *fn, void *ctx,
                        struct tarn_walked *walked, struct tarn_err *err)
{
    TARN_AUTO(walk) struct tarn_walk *walk = NULL;
    enum tarn_walk_step step = TARN_WALK_MORE;
    tarn_code code = tarn_walk_new(place, stops, &walk, err);

    while (code == TARN_OK && step != TARN_WALK_END) {
        struct tarn_found found = { 0 };
        code = tarn_walk_next(walk, &found, &step, err);
        if (code == TARN_OK && step == TARN_WALK_FOUND)
            code = fn(ctx, &found, err);
    }
    if (code == TARN_OK && walked) {
        *walked = walk->walked;
        walk->walked = (struct tarn_walked){ 0 };
    }
    return code;
}
