/* entry_last.c - a log entry by the last word it has on each path. Operations count in their order: what an
 * entry adds and removes again is not there afterwards, what it removes and adds again is. Tarn's own entries
 * remove before they add; other writers do as they like. */
#include "formats/fileset.h"
#include "formats/manifest/manifest.h"

struct last {
    struct tarn_fileset words; /* size: the place of the last operation that names the path */
    uint64_t place;            /* of the operation at hand */
    tarn_entry_op_fn *fn;
    void *ctx;
};

static void last_done(struct last *last) { tarn_fileset_done(&last->words); }

static tarn_code note(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    struct last *last = ctx;
    struct tarn_fileset_entry *word = tarn_fileset_put(&last->words, op->file.path);

    if (!word)
        return tarn_fail_oom(err);
    word->size = last->place++ & TARN_FILE_NO_SIZE;
    return TARN_OK;
}

static tarn_code give(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    struct last *last = ctx;
    const struct tarn_fileset_entry *word = tarn_fileset_find(&last->words, op->file.path);
    bool is_last = word && word->size == last->place;

    last->place++;
    return is_last ? last->fn(last->ctx, op, err) : TARN_OK;
}

tarn_code tarn_entry_read_last(struct tarn_place *place, const char *path, tarn_entry_op_fn *fn, void *ctx,
                               struct tarn_err *err)
{
    __attribute__((cleanup(last_done))) struct last last = { .fn = fn, .ctx = ctx };
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head first = { 0 }, second = { 0 };
    tarn_code code = tarn_entry_read_at(place, path, &first, NULL, note, &last, err);

    last.place = 0;
    return code == TARN_OK ? tarn_entry_read_at(place, path, &second, NULL, give, &last, err) : code;
}
