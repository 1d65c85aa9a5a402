/* repair_register.c - data files that lie in the table's folder and that no commit knows
 * are committed, with what their footers and paths tell. A file that a commit removed never
 * comes back this way, one that cannot be read stays out, and a young one, which its writer
 * may still register, is taken only by name. A file of the table that is named has its
 * facts read again: where they are wrong or missing, the same path is removed and added. */
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "formats/manifest/manifest.h"
#include "formats/partition.h"
#include "lake/footer.h"
#include "lake/lease.h"
#include "lake/repair_run.h"
#include "lake/verify.h"
#include <string.h>

#define GRACE_MS (15 * TARN_MINUTE_MS)

struct candidate { char *path; bool is_named, is_live; };
struct search {
    struct tarn_repair_run *run;
    struct tarn_repair_names names;
    struct tarn_fileset known;
    struct tarn_verifying verifying;
    int64_t young_ms; /* a file modified after this is young */
    struct candidate *found; /* owned */
    size_t count, cap;
};

static void search_done(struct search *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->found[i].path);
    free(s->found);
    tarn_fileset_done(&s->known);
    tarn_repair_names_done(&s->names);
    tarn_verify_done(&s->verifying);
}

/* --- which files --- */

static tarn_code keep(struct search *s, const char *path, bool is_named, bool is_live, struct tarn_err *err)
{
    if (s->count == TARN_REPAIR_FILES_MAX) {
        s->run->use->more++;
        return TARN_OK;
    }
    if (s->count == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 64;
        struct candidate *more = reallocarray(s->found, cap, sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        s->found = more;
        s->cap = cap;
    }
    s->found[s->count] = (struct candidate){ strdup(path), is_named, is_live };
    return s->found[s->count++].path ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code leave(struct search *s, const char *path, const char *reason, const char *message,
                       struct tarn_err *err)
{
    return tarn_repair_leave_out(s->run->use, path, reason, message, err);
}

/* A file that is there. */
static tarn_code consider(struct search *s, const char *path, int64_t mtime_ms, bool is_named,
                          struct tarn_err *err)
{
    const struct tarn_fileset_entry *known = tarn_fileset_find(&s->known, path);
    bool is_live = known && known->flags & TARN_FILE_LISTED;

    if (is_live)
        return is_named ? keep(s, path, true, true, err) : TARN_OK;
    if (known)
        return is_named ? leave(s, path, "removed", "a commit removed it: it does not come back this way", err) : TARN_OK;
    if (!is_named && mtime_ms > s->young_ms)
        return leave(s, path, "too_young", "its writer may still register it: name it to take it now", err);
    return keep(s, path, is_named, false, err);
}

static tarn_code note_object(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct search *s = ctx;
    bool is_named = tarn_repair_names_has(&s->names, object->path);

    if (s->names.given && (!is_named || tarn_fileset_find(&s->names.exact, object->path)))
        return TARN_OK;
    return consider(s, object->path, object->mtime_ms, is_named, err);
}

static tarn_code note_name(void *ctx, const char *path, struct tarn_err *err)
{
    struct search *s = ctx;
    struct tarn_object object = { 0 };
    TARN_ERR(fault);

    if (!tarn_is_data_file(path))
        return leave(s, path, "no_data_file", "its name is none of a data file", err);
    tarn_code code = tarn_place_stat(s->run->place, path, &object, &fault);
    if (code == TARN_NOT_FOUND)
        return leave(s, path, "not_there", "no such file", err);
    return code == TARN_OK ? consider(s, path, object.mtime_ms, true, err) : tarn_err_move(err, &fault);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct candidate *)a)->path, ((const struct candidate *)b)->path);
}

static tarn_code find_all(struct search *s, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    if (!s->names.given || s->names.folder_count > 0)
        code = tarn_repair_list_files(s->run, note_object, s, err);
    if (code == TARN_OK)
        code = tarn_repair_names_each(s->run->use->paths, note_name, s, err);
    if (s->count > 1)
        qsort(s->found, s->count, sizeof *s->found, by_path);
    return code;
}

/* --- what they are --- */

/* Without a readable footer the path still tells its values. */
static tarn_code settle_values(struct search *s, struct tarn_commit_op *op, struct tarn_err *err)
{
    const struct tarn_schema *schema = NULL;

    if (op->filled_values)
        return TARN_OK;
    tarn_code code = tarn_verify_current(&s->verifying, &schema, err);
    if (code == TARN_OK)
        code = tarn_hive_values(op->file.path, schema, &op->filled_values, err);
    op->file.partition_values = op->filled_values;
    return code;
}

static bool has_keys(const struct search *s, const struct tarn_commit_op *op)
{
    json_auto_t *values = op->filled_values ? json_loads(op->filled_values, 0, NULL) : NULL;
    size_t i;
    json_t *key;

    json_array_foreach (s->verifying.keys, i, key)
        if (!json_object_get(values, json_string_value(key)))
            return false;
    return true;
}

/* *taken false: it is left out, and told. The operation is the newest
 * one. `version`: of the schema that it is listed with, 0: none. */
static tarn_code read_facts(struct search *s, const struct candidate *c, int64_t version, bool *taken,
                            struct tarn_err *err)
{
    struct tarn_repair_use *use = s->run->use;
    struct tarn_commit_op *op = NULL;
    TARN_ERR(fault);
    tarn_code code = tarn_repair_op(use, true, c->path, &op, err);

    *taken = false;
    if (code != TARN_OK)
        return code;
    op->file.schema_version = version;
    code = tarn_verify_add(&s->verifying, op, &fault);
    if (code == TARN_OK)
        code = settle_values(s, op, &fault);
    *taken = code == TARN_OK;
    if (code == TARN_OK)
        return TARN_OK;
    tarn_repair_drop_op(use);
    if (code == TARN_VERIFICATION_FAILED || code == TARN_INCOMPATIBLE_SCHEMA)
        return leave(s, c->path, code == TARN_VERIFICATION_FAILED ? "unreadable" : tarn_code_slug(code),
                     fault.detail, err);
    return tarn_err_move(err, &fault);
}

static tarn_code take_new(struct search *s, const struct candidate *c, struct tarn_err *err)
{
    struct tarn_repair_use *use = s->run->use;
    bool taken = false;
    tarn_code code = read_facts(s, c, 0, &taken, err);

    if (code != TARN_OK || !taken)
        return code;
    if (!c->is_named && !has_keys(s, &use->commit.ops[use->commit.op_count - 1])) {
        tarn_repair_drop_op(use);
        return leave(s, c->path, "no_partition_values", "its path does not tell every partition key: name it to take it", err);
    }
    use->commit.data_change = true;
    return TARN_OK;
}

/* --- a file of the table --- */

struct listed {
    int64_t table_id;
    const char *path;
    struct tarn_file file;   /* texts owned below */
    char *values, *stats;
    bool found;
};

static void listed_done(struct listed *l)
{
    free(l->values);
    free(l->stats);
    l->values = l->stats = NULL;
}

static tarn_code note_listed(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct listed *l = ctx;
    bool failed = false;

    l->file = *file;
    l->values = tarn_text_copy(file->partition_values, &failed);
    l->stats = tarn_text_copy(file->column_stats, &failed);
    l->found = true;
    return failed ? tarn_fail_oom(err) : TARN_OK;
}

static tarn_code listed_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct listed *l = ctx;
    TARN_ERR(gone);

    listed_done(l);
    l->found = false;
    tarn_code code = tx->ops->files.get(tx, l->table_id, l->path, note_listed, l, &gone);
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &gone);
}

/* Values of keys that the table does not have go, once the path tells all that it has. */
static bool drop_strange(const json_t *keys, const json_t *path, json_t *values)
{
    size_t before = json_object_size(values), i;
    json_t *key, *value, *kept = json_object();

    json_array_foreach (keys, i, key) {
        const char *name = json_string_value(key);
        value = json_object_get(values, name);
        if (!json_object_get(path, name) || json_object_set(kept, name, value) != 0) {
            json_decref(kept);
            return false;
        }
    }
    bool drops = json_array_size(keys) > 0 && json_object_size(kept) < before;
    if (drops) {
        json_object_clear(values);
        json_object_update(values, kept);
    }
    json_decref(kept);
    return drops;
}

/* The listed values with those of the path over them; *out
 * NULL: nothing differs. 14 and "14" are the same. */
static tarn_code merge_values(const json_t *keys, const char *listed, const char *told, char **out,
                              struct tarn_err *err)
{
    json_auto_t *values = listed ? json_loads(listed, 0, NULL) : json_object(),
                *path = told ? json_loads(told, 0, NULL) : NULL;
    const char *key;
    json_t *value;
    bool differs = false;

    if (!values)
        return tarn_fail_oom(err);
    json_object_foreach (path, key, value) {
        const json_t *have = json_object_get(values, key);
        if (have && (tarn_partition_fits(have, value) || tarn_partition_equal(have, value)))
            continue;
        differs = true;
        if (json_object_set(values, key, value) != 0)
            return tarn_fail_oom(err);
    }
    differs |= drop_strange(keys, path, values);
    if (!differs)
        return TARN_OK;
    *out = tarn_json_text(values);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

/* Keeps of the listed facts what the file does not contradict; false: nothing is to be changed. */
static bool settle(struct tarn_commit_op *op, const struct listed *l, char *merged)
{
    bool is_same_file = op->file.size == l->file.size;
    bool has_news = !is_same_file || merged || (op->filled_stats && !l->stats) ||
                    (op->file.records >= 0 && op->file.records != l->file.records) ||
                    op->file.schema_version != l->file.schema_version;

    free(op->filled_values);
    op->file.partition_values = op->filled_values = merged ? merged : l->values ? strdup(l->values) : NULL;
    if (is_same_file && l->stats) {
        free(op->filled_stats);
        op->file.column_stats = op->filled_stats = strdup(l->stats);
    }
    return has_news;
}

static tarn_code take_again(struct search *s, const struct candidate *c, struct tarn_err *err)
{
    __attribute__((cleanup(listed_done))) struct listed l = { .table_id = s->run->table->id,
                                                              .path = c->path };
    struct tarn_repair_use *use = s->run->use;
    bool taken = false;
    char *merged = NULL;
    tarn_code code = tarn_store_read(s->run->lake->store, listed_tx, &l, err);

    if (code == TARN_OK)
        code = read_facts(s, c, l.found ? l.file.schema_version : 0, &taken, err);
    if (code != TARN_OK || !taken)
        return code;
    struct tarn_commit_op *op = &use->commit.ops[use->commit.op_count - 1];
    code = merge_values(s->verifying.keys, l.values, op->filled_values, &merged, err);
    if (code != TARN_OK)
        return code;
    bool has_news = settle(op, &l, merged);
    if (!l.found || !has_news) {
        tarn_repair_drop_op(use);
        return leave(s, c->path, "as_listed", "it is what the table says", err);
    }
    use->commit.data_change |= op->file.size != l.file.size;
    return tarn_repair_op(use, false, c->path, NULL, err);
}

static tarn_code take_all(struct search *s, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < s->count && code == TARN_OK; i++) {
        const struct candidate *c = &s->found[i];
        code = tarn_lake_goes_on(s->run->lake, err);
        if (code == TARN_OK)
            code = c->is_live ? take_again(s, c, err) : take_new(s, c, err);
    }
    return code;
}

tarn_code tarn_repair_register(struct tarn_repair_run *run, struct tarn_err *err)
{
    struct tarn_repair_use *use = run->use;
    int64_t grace_ms = use->grace_ms ? use->grace_ms(use->grace_ctx, run->table) : GRACE_MS;
    int64_t now = use->commit.now_ms ? use->commit.now_ms : tarn_now_ms();
    __attribute__((cleanup(search_done))) struct search s = { .run = run, .young_ms = now - grace_ms };

    use->commit.verify = TARN_VERIFY_FOOTER;
    tarn_code code = tarn_repair_names_read(use->paths, &s.names, err);
    if (code == TARN_OK)
        code =
            tarn_verify_begin(&s.verifying, &use->commit, run->table, &run->schemas, TARN_VERIFY_FOOTER, err);
    if (code == TARN_OK)
        code = tarn_repair_known_files(run, &s.known, err);
    if (code == TARN_OK)
        code = find_all(&s, err);
    if (code == TARN_OK)
        code = take_all(&s, err);
    return code == TARN_OK ? tarn_verify_end(&s.verifying, err) : code;
}
