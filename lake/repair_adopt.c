/* repair_adopt.c - what another hand wrote is taken as a new version. Of a foreign manifest that
 * is what it changed: its files against those of the version that storage showed, so that
 * commits since then stay. Of foreign log entries it is their operations, the newest word on
 * each file. A table that was adopted while manifest and log disagreed has the manifest's files;
 * choosing the log brings it to what the log says. Files that are not there are left out. */
#include "base/text.h"
#include "base/time.h"
#include "formats/facts.h"
#include "formats/manifest/manifest.h"
#include "lake/lease.h"
#include "lake/repair_mend.h"
#include "lake/verify.h"
#include <stdio.h>
#include <string.h>

/* LISTED: live in the table, with its size; ADDED: in the version that storage showed, then with the
 * size there; SEEN: in the foreign manifest; DECIDED: the newest entry that names it was read. */
struct taking {
    struct tarn_repair_run *run;
    struct tarn_fileset files;
    struct tarn_verifying verifying;
};

static void taking_done(struct taking *t)
{
    tarn_fileset_done(&t->files);
    tarn_verify_done(&t->verifying);
}

/* --- one file --- */

static tarn_code leave(struct taking *t, const char *path, const char *reason, const char *message,
                       struct tarn_err *err)
{
    return tarn_repair_leave_out(t->run->use, path, reason, message, err);
}

static bool knows_schema(const struct taking *t, int64_t version)
{
    for (size_t i = 0; i < t->run->schemas.count; i++)
        if (t->run->schemas.rows[i].version == version)
            return true;
    return false;
}

static tarn_code copy_facts(struct taking *t, struct tarn_commit_op *op, const struct tarn_file *file,
                            struct tarn_err *err)
{
    bool failed = false;

    op->file.size = file->size;
    op->file.records = file->records;
    op->file.partition_values = op->filled_values = tarn_text_copy(file->partition_values, &failed);
    op->file.column_stats = op->filled_stats = tarn_text_copy(file->column_stats, &failed);
    op->schema_given = knows_schema(t, file->schema_version);
    op->file.schema_version = op->schema_given ? file->schema_version : 0;
    return failed ? tarn_fail_oom(err) : TARN_OK;
}

/* Facts that are missing come from the file; those that are told must be true. */
static tarn_code take(struct taking *t, const struct tarn_file *file, bool replaces, struct tarn_err *err)
{
    struct tarn_repair_use *use = t->run->use;
    struct tarn_commit_op *op = NULL;
    bool is_told = file->size >= 0 && file->records >= 0 && file->column_stats && file->partition_values;
    TARN_ERR(fault);

    if (tarn_data_path_check(file->path, "path", &fault) != TARN_OK)
        return leave(t, file->path, "no_data_file", fault.detail, err);
    tarn_code code = tarn_repair_op(use, true, file->path, &op, err);
    if (code == TARN_OK)
        code = copy_facts(t, op, file, err);
    if (code != TARN_OK)
        return code;
    bool reads = !is_told || t->run->table->enforcement != TARN_ENFORCE_OFF;
    t->verifying.depth = reads ? TARN_VERIFY_FOOTER : TARN_VERIFY_SIZE;
    code = tarn_verify_add(&t->verifying, op, &fault);
    if (code == TARN_OK)
        return replaces ? tarn_repair_op(use, false, file->path, NULL, err) : TARN_OK;
    tarn_repair_drop_op(use);
    if (code == TARN_VERIFICATION_FAILED || code == TARN_INCOMPATIBLE_SCHEMA)
        return leave(t, file->path, code == TARN_VERIFICATION_FAILED ? "unreadable" : tarn_code_slug(code),
                     fault.detail, err);
    return tarn_err_move(err, &fault);
}

static bool is_full(const struct taking *t)
{
    struct tarn_repair_use *use = t->run->use;

    if (use->commit.op_count < TARN_COMMIT_OPS_MAX - 2)
        return false;
    use->more++;
    return true;
}

/* --- a foreign manifest --- */

static tarn_code note_shown(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct taking *t = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_put(&t->files, file->path);

    if (!entry)
        return tarn_fail_oom(err);
    entry->size = (uint64_t)file->size & TARN_FILE_NO_SIZE;
    entry->flags = (entry->flags | TARN_FILE_ADDED) & TARN_FILE_FLAGS;
    return TARN_OK;
}

static tarn_code take_listed(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct taking *t = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_put(&t->files, file->path);
    tarn_code code = tarn_lake_goes_on(t->run->lake, err);

    if (code != TARN_OK)
        return code;
    if (!entry)
        return tarn_fail_oom(err);
    if (entry->flags & TARN_FILE_SEEN || is_full(t))
        return TARN_OK; /* listed twice */
    entry->flags = (entry->flags | TARN_FILE_SEEN) & TARN_FILE_FLAGS;
    bool is_known = entry->flags & (TARN_FILE_LISTED | TARN_FILE_ADDED);
    bool is_same = file->size < 0 || entry->size == (uint64_t)file->size;
    if (is_known && is_same)
        return TARN_OK; /* as it was, or a commit since has removed it */
    return take(t, file, (entry->flags & TARN_FILE_LISTED) != 0, err);
}

static tarn_code drop_unlisted(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct taking *t = ctx;
    const struct tarn_fileset_entry *entry = tarn_fileset_find(&t->files, file->path);

    if (!entry || entry->flags & TARN_FILE_SEEN || !(entry->flags & TARN_FILE_LISTED) || is_full(t))
        return TARN_OK;
    return tarn_repair_op(t->run->use, false, file->path, NULL, err);
}

static tarn_code unreadable(const struct tarn_err *why, struct tarn_err *err)
{
    tarn_fail_code_field(err, TARN_LOCATION_UNREACHABLE, "choose",
                         "%s cannot be taken: %s%s%s; republish puts it aside", TARN_DOC_MANIFEST, why->field,
                         why->field[0] ? ": " : "", why->detail);
    return tarn_err_add(err, "document", json_string(TARN_DOC_MANIFEST));
}

/* The version that storage showed: what the other hand began with. */
static tarn_code shown_files(struct taking *t, const struct tarn_mend *m, tarn_file_fn *fn,
                             struct tarn_err *err)
{
    int64_t version = m->run.table->published_version;

    return version < 0 ? TARN_OK : tarn_repair_files_at(t->run, version, fn, t, err);
}

static tarn_code take_manifest(struct taking *t, struct tarn_mend *m, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    const struct tarn_repair_use *use = t->run->use;
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_repair_known_files(t->run, &t->files, err);

    tarn_fileset_unflag(&t->files, TARN_FILE_REMOVED);
    if (code == TARN_OK)
        code = shown_files(t, m, note_shown, err);
    if (code != TARN_OK)
        return code;
    code = tarn_manifest_read_at(m->run.place, &head, &object, take_listed, t, &fault);
    if (code == TARN_INVALID)
        return unreadable(&fault, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (use->runs && strcmp(object.token, use->publication.manifest_token) != 0)
        return tarn_fail(err, TARN_RECHECK, "%s changed while it was read", TARN_DOC_MANIFEST);
    return shown_files(t, m, drop_unlisted, err);
}

/* --- log entries --- */

/* The entry's last word on the path. */
static tarn_code note_op(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    struct taking *t = ctx;

    struct tarn_fileset_entry *entry = tarn_fileset_put(&t->files, op->file.path);

    if (!entry)
        return tarn_fail_oom(err);
    if (entry->flags & TARN_FILE_DECIDED || is_full(t))
        return TARN_OK;
    entry->flags = (entry->flags | TARN_FILE_DECIDED) & TARN_FILE_FLAGS;
    bool is_live = entry->flags & TARN_FILE_LISTED;
    if (!op->is_add)
        return is_live ? tarn_repair_op(t->run->use, false, op->file.path, NULL, err) : TARN_OK;
    if (is_live && (op->file.size < 0 || entry->size == (uint64_t)op->file.size))
        return TARN_OK;
    return take(t, &op->file, is_live, err);
}

/* *read false: it is not there or no entry. */
static tarn_code take_entry(struct taking *t, const char *path, bool *read, struct tarn_err *err)
{
    tarn_code code = tarn_lake_goes_on(t->run->lake, err);
    TARN_ERR(fault);

    *read = false;
    if (code != TARN_OK)
        return code;
    code = tarn_entry_read_last(t->run->place, path, note_op, t, &fault);
    *read = code == TARN_OK;
    return code == TARN_OK || code == TARN_INVALID || code == TARN_NOT_FOUND ? TARN_OK
                                                                             : tarn_err_move(err, &fault);
}

static int by_newest(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    size_t x_len = 0, y_len = 0;
    int64_t x_number = 0, y_number = 0;
    char x_id[TARN_PATH_MAX], y_id[TARN_PATH_MAX];

    snprintf(x_id, sizeof x_id, "%.*s", (int)strlen(*x) - 5, *x);
    snprintf(y_id, sizeof y_id, "%.*s", (int)strlen(*y) - 5, *y);
    bool numbered =
        tarn_txn_id_number(x_id, &x_len, &x_number) && tarn_txn_id_number(y_id, &y_len, &y_number);
    if (numbered && x_number != y_number)
        return x_number < y_number ? 1 : -1;
    return -strcmp(*x, *y);
}

/* What follows the text at `at`. */
static size_t after(const struct tarn_buf *buf, size_t at) { return at + strlen(buf->data + at) + 1; }

/* The newest first, by their numbers. */
static tarn_code take_foreign_entries(struct taking *t, const struct tarn_mend *m, struct tarn_err *err)
{
    const struct tarn_buf *list = &m->foreign;
    size_t count = 0;
    tarn_code code = tarn_repair_known_files(t->run, &t->files, err);
    TARN_AUTO(mem) const char **sorted = calloc(list->len / 2 + 1, sizeof *sorted);

    if (code == TARN_OK && !sorted)
        return tarn_fail_oom(err);
    for (size_t at = 0; code == TARN_OK && at < list->len; at = after(list, after(list, at)))
        sorted[count++] = list->data + at;
    if (count > 1)
        qsort(sorted, count, sizeof *sorted, by_newest);
    for (size_t i = 0; code == TARN_OK && i < count; i++) {
        bool read = false;
        code = take_entry(t, sorted[i], &read, err);
    }
    return code;
}

/* --- the log from before Tarn --- */

/* Newest first, as far as every newer committed entry could be
 * read: behind a gap nothing is held against the manifest. */
static tarn_code replay(struct taking *t, const struct tarn_facts *facts, struct tarn_err *err)
{
    const struct tarn_log_facts *log = &facts->log;
    bool is_dense = tarn_log_is_dense(log), certain = true;
    int64_t newer = is_dense ? tarn_txn_id_tail(facts->pointer_id) + 1 : 0;
    char path[TARN_PATH_MAX];
    tarn_code code = TARN_OK;

    for (size_t i = log->count; i > 0 && certain && code == TARN_OK; i--) {
        const struct tarn_log_entry *entry = &log->entries[i - 1];
        if (!entry->committed)
            continue;
        certain = !entry->absent && !(is_dense && newer > 0 && entry->number < newer - 1);
        newer = is_dense ? entry->number : 0;
        snprintf(path, sizeof path, TARN_DIR_LOG "/%s.json", tarn_log_file(log, entry));
        if (certain)
            code = take_entry(t, path, &certain, err);
    }
    return code;
}

static tarn_code take_old_log(struct taking *t, struct tarn_err *err)
{
    TARN_AUTO_DONE(facts) struct tarn_facts facts;
    const struct tarn_facts_options options = { .now_ms = tarn_now_ms(),
                                                .sweep = true,
                                                .stops = &t->run->lake->stopping };
    tarn_facts_init(&facts);
    tarn_code code = tarn_manifest_facts(t->run->place, &options, &facts, err);

    if (code == TARN_OK)
        code = tarn_repair_known_files(t->run, &t->files, err);
    return code == TARN_OK ? replay(t, &facts, err) : code;
}

/* --- the plan --- */

static tarn_code settle_adoption(struct taking *t, struct tarn_mend *m, struct tarn_err *err)
{
    const struct tarn_repair_use *use = t->run->use;

    if (use->choose == TARN_CHOOSE_NONE)
        return tarn_fail_field(err, "choose", "manifest and log disagree: choose \"manifest\" or \"log\"");
    tarn_code code = use->choose == TARN_CHOOSE_LOG ? take_old_log(t, err) : TARN_OK;
    return code == TARN_OK && t->run->table->publish ? tarn_mend_all(m, err) : code;
}

static bool is_readable(struct tarn_mend *m)
{
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    TARN_ERR(ignored);

    return tarn_manifest_read_at(m->run.place, &head, NULL, NULL, NULL, &ignored) == TARN_OK;
}

static tarn_code take_foreign(struct taking *t, struct tarn_mend *m, struct tarn_err *err)
{
    struct tarn_repair_use *use = t->run->use;
    tarn_code code = t->run->table->publish ? tarn_mend_all(m, err) : TARN_OK;

    if (code != TARN_OK)
        return code;
    bool has_entries = m->foreign.len > 0;
    bool by_log = use->choose == TARN_CHOOSE_LOG || (use->choose == TARN_CHOOSE_NONE && has_entries &&
                                                     (!m->foreign_manifest || !is_readable(m)));
    if (by_log)
        code = take_foreign_entries(t, m, err);
    else if (m->foreign_manifest)
        code = take_manifest(t, m, err);
    tarn_buf_add(&use->foreign, m->foreign.data ? m->foreign.data : "", m->foreign.len);
    return code == TARN_OK ? tarn_buf_check(&use->foreign, err) : code;
}

tarn_code tarn_repair_adopt(struct tarn_repair_run *run, struct tarn_err *err)
{
    struct tarn_repair_use *use = run->use;
    __attribute__((cleanup(taking_done))) struct taking t = { .run = run };
    __attribute__((cleanup(tarn_mend_done))) struct tarn_mend m = { .r = run,
                                                                    .applies = use->runs,
                                                                    .keeps_foreign = true };

    use->ends = use->commit.cures = run->table->block;
    use->commit.verify = TARN_VERIFY_SIZE;
    tarn_code code =
        tarn_verify_begin(&t.verifying, &use->commit, run->table, &run->schemas, TARN_VERIFY_SIZE, err);
    if (code == TARN_OK)
        code = run->table->block == TARN_BLOCK_ADOPTION ? settle_adoption(&t, &m, err)
                                                        : take_foreign(&t, &m, err);
    use->commit.data_change = true;
    return code == TARN_OK ? tarn_verify_end(&t.verifying, err) : code;
}
