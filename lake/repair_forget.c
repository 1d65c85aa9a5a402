/* repair_forget.c - files that the table lists and that are gone are taken out of the snapshot.
 * Gone is what storage says itself, file by file, at that moment; an error is no such answer,
 * and neither is a folder in which nothing of the table is left, since then its file system is
 * not mounted. A file that is there goes only by name, and only when it cannot be read or has
 * another size; a folder's name, which means whatever lies there, gives up none that can be
 * read. The rows are lost to readers already, so that the commit counts as no change of data. */
#include "formats/manifest/manifest.h"
#include "formats/parquet/parquet.h"
#include "lake/repair_run.h"

struct search {
    struct tarn_repair_run *run;
    struct tarn_repair_names names;
    struct tarn_fileset there; /* what the listing met: TARN_FILE_SEEN; what the table lists: TARN_FILE_LISTED */
    int64_t live, gone;
};

static void search_done(struct search *s)
{
    tarn_fileset_done(&s->there);
    tarn_repair_names_done(&s->names);
}

static tarn_code leave(struct search *s, const char *path, const char *reason, const char *message,
                       struct tarn_err *err)
{
    return tarn_repair_leave_out(s->run->use, path, reason, message, err);
}

static tarn_code take(struct search *s, const char *path, struct tarn_err *err)
{
    if (s->run->use->commit.op_count == TARN_REPAIR_FILES_MAX) {
        s->run->use->more++;
        return TARN_OK;
    }
    return tarn_repair_op(s->run->use, false, path, NULL, err);
}

/* One that is there, by its name or a folder's. With another size it may be
 * whole: then `register` keeps its rows, and only its own name gives it up. */
static tarn_code judge_named(struct search *s, const struct tarn_file *file, const struct tarn_object *object,
                             struct tarn_err *err)
{
    TARN_AUTO(parquet) struct tarn_parquet *parquet = NULL;
    bool is_size = object->size == file->size;
    TARN_ERR(fault);

    if (!is_size && tarn_fileset_find(&s->names.exact, file->path))
        return take(s, file->path, err);
    tarn_code code = tarn_parquet_read(s->run->place, file->path, object->size, &parquet, &fault);
    if (code == TARN_NOT_FOUND || (code == TARN_OK && parquet->state == TARN_PARQUET_CORRUPT))
        return take(s, file->path, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    return is_size ? leave(s, file->path, "as_listed", "it is there, as the table says", err) : TARN_OK;
}

static tarn_code judge(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct search *s = ctx;
    bool is_named = tarn_repair_names_has(&s->names, file->path);
    struct tarn_fileset_entry *met = tarn_fileset_find(&s->there, file->path);
    struct tarn_object object = { 0 };
    TARN_ERR(fault);

    s->live++;
    if (met)
        met->flags = (met->flags | TARN_FILE_LISTED) & TARN_FILE_FLAGS;
    if ((s->names.given && !is_named) || (!is_named && met && met->flags & TARN_FILE_SEEN))
        return TARN_OK;
    tarn_code code = tarn_place_stat(s->run->place, file->path, &object, &fault);
    if (code == TARN_OK)
        return is_named ? judge_named(s, file, &object, err) : TARN_OK;
    if (code != TARN_NOT_FOUND || object.is_symlink)
        return leave(s, file->path, "unreachable", fault.detail, err);
    s->gone++;
    return take(s, file->path, err);
}

static tarn_code note_object(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct search *s = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_put(&s->there, object->path);

    if (!entry)
        return tarn_fail_oom(err);
    entry->flags = (entry->flags | TARN_FILE_SEEN) & TARN_FILE_FLAGS;
    return TARN_OK;
}

/* A name that is in nobody's list. */
static tarn_code note_name(void *ctx, const char *path, struct tarn_err *err)
{
    struct search *s = ctx;
    const struct tarn_fileset_entry *entry = tarn_fileset_find(&s->there, path);

    if (entry && entry->flags & TARN_FILE_LISTED)
        return TARN_OK;
    return leave(s, path, "not_in_table", "the table does not list it", err);
}

/* So that note_name knows which names the walk over the table met. */
static tarn_code expect_name(void *ctx, const char *path, struct tarn_err *err)
{
    return tarn_fileset_put(&((struct search *)ctx)->there, path) ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code has_documents(const struct search *s, bool *out, struct tarn_err *err)
{
    static const char *const k_documents[] = { TARN_DOC_MANIFEST, TARN_DOC_POINTER };

    *out = false;
    for (size_t i = 0; i < TARN_COUNT(k_documents) && !*out; i++) {
        struct tarn_object object = { 0 };
        TARN_ERR(fault);
        tarn_code code = tarn_place_stat(s->run->place, k_documents[i], &object, &fault);
        if (code != TARN_OK && code != TARN_NOT_FOUND)
            return tarn_err_move(err, &fault);
        *out = code == TARN_OK;
    }
    return TARN_OK;
}

/* A published table has documents, and one that is not has some file left, unless somebody names them all. */
static tarn_code check_place(const struct search *s, struct tarn_err *err)
{
    const struct tarn_table *table = s->run->table;
    bool is_shown = table->publish && table->published_version >= 0, has_some = false;
    tarn_code code = has_documents(s, &has_some, err);

    if (code != TARN_OK || has_some || (!is_shown && (s->names.given || s->gone < s->live)))
        return code;
    return tarn_fail(err, TARN_STORAGE_UNAVAILABLE,
                     "%s does not hold the table's documents: is its file system mounted? If it is, republish them first",
                     table->location);
}

tarn_code tarn_repair_forget(struct tarn_repair_run *run, struct tarn_err *err)
{
    __attribute__((cleanup(search_done))) struct search s = { .run = run };
    tarn_code code = tarn_repair_names_read(run->use->paths, &s.names, err);

    if (code == TARN_OK && !s.names.given)
        code = tarn_repair_list_files(run, note_object, &s, err);
    if (code == TARN_OK)
        code = tarn_repair_names_each(run->use->paths, expect_name, &s, err);
    if (code == TARN_OK)
        code = tarn_repair_files_at(run, run->table->version, judge, &s, err);
    if (code == TARN_OK)
        code = tarn_repair_names_each(run->use->paths, note_name, &s, err);
    return code == TARN_OK && s.gone > 0 ? check_place(&s, err) : code;
}
