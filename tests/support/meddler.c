/* meddler.c - every call goes to the local disk, after the test has had its turn. What the local disk opens is its own. */
#include "tests/support/meddler.h"
#include "storage/place.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

struct meddler {
    struct tarn_place place;   /* first */
    struct tarn_place *inner;  /* owned */
    meddler_fn *fn;
    void *ctx;
    const char *failing;       /* folder */
    size_t after;
};

static struct meddler *of(struct tarn_place *place) { return (struct meddler *)place; }

static tarn_code step(struct tarn_place *place, enum meddler_step what, const char *path, struct tarn_err *err)
{
    struct meddler *m = of(place);

    return m->fn ? m->fn(m->ctx, what, path, err) : TARN_OK;
}

static void free_place(struct tarn_place *place)
{
    tarn_place_free(of(place)->inner);
    free(place->location);
    free(place);
}

static tarn_code lister(struct tarn_place *place, const char *prefix, bool recursive, struct tarn_lister **out,
                        struct tarn_err *err)
{
    return tarn_place_lister(of(place)->inner, prefix, recursive, out, err);
}

struct counted { tarn_folder_wants_fn *wants; tarn_object_fn *fn; void *ctx; size_t left; bool fails; };

static bool wants_counted(void *ctx, const struct tarn_folder_state *state)
{
    struct counted *c = ctx;

    return !c->wants || c->wants(c->ctx, state);
}

static tarn_code give_counted(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct counted *c = ctx;

    if (c->fails && c->left-- == 0)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "cannot list: Input/output error");
    return c->fn(c->ctx, object, err);
}

static tarn_code folder(struct tarn_place *place, const char *path, tarn_folder_wants_fn *wants, tarn_object_fn *fn,
                        void *ctx, struct tarn_err *err)
{
    struct meddler *m = of(place);
    struct counted counted = { wants, fn, ctx, m->after, m->failing && strcmp(m->failing, path) == 0 };
    tarn_code code = step(place, MEDDLER_FOLDER, path, err);

    return code == TARN_OK ? tarn_place_folder(m->inner, path, wants_counted, give_counted, &counted, err) : code;
}

static tarn_code stat_object(struct tarn_place *place, const char *path, struct tarn_object *out, struct tarn_err *err)
{
    tarn_code code = step(place, MEDDLER_STAT, path, err);

    return code == TARN_OK ? tarn_place_stat(of(place)->inner, path, out, err) : code;
}

static tarn_code read_part(struct tarn_place *place, const char *path, int64_t offset, size_t len, struct tarn_buf *out,
                           struct tarn_err *err)
{
    tarn_code code = step(place, MEDDLER_READ, path, err);

    return code == TARN_OK ? tarn_place_read(of(place)->inner, path, offset, len, out, err) : code;
}

static tarn_code reader(struct tarn_place *place, const char *path, struct tarn_reader **out, struct tarn_object *object,
                        struct tarn_err *err)
{
    tarn_code code = step(place, MEDDLER_READ, path, err);

    return code == TARN_OK ? tarn_place_reader(of(place)->inner, path, out, object, err) : code;
}

static const struct tarn_place_ops k_ops = {
    .prefix = "",
    .free = free_place,
    .lister = lister,
    .folder = folder,
    .stat = stat_object,
    .read = read_part,
    .reader = reader,
};

struct tarn_place *meddler_open(const char *path, meddler_fn *fn, void *ctx)
{
    struct meddler *m = calloc(1, sizeof *m);

    cr_assert(m != NULL);
    cr_assert(eq(int, tarn_place_open_local(path, &m->inner, NULL), TARN_OK));
    m->place = (struct tarn_place){ &k_ops, strdup(path) };
    m->fn = fn;
    m->ctx = ctx;
    return &m->place;
}

void meddler_fail_after(struct tarn_place *place, const char *path, size_t names)
{
    of(place)->failing = path;
    of(place)->after = names;
}
