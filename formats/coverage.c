/* coverage.c - partition keys and values. A file's keys are those of its partitionValues and those of its folders
 * named key=value; bare folders are never guessed at. Most tables have one shape of file, a drifting one has two. */
#include "formats/coverage.h"
#include "base/json.h"
#include "formats/partition.h"
#include <stdio.h>
#include <string.h>

enum { SHAPES_MAX = 64 }; /* further ones are not told apart */

/* Files whose entries and folders name the same keys. */
struct shape {
    json_t *keys;    /* owned array: those of the entry, then those only of folders */
    json_t *folders; /* owned array: those of folders */
    size_t told;     /* of `keys`, the first ones: those of the entry */
    int64_t files;
    struct tarn_suspects examples;
};
/* The last file's answer: neighbours lie in one folder and have one set of values. */
struct memo {
    struct tarn_buf folder, values;
    bool is_set;
    struct shape *shape; /* NULL: the values contradict the path */
    char note[160];
};
struct tarn_coverage {
    const json_t *given;
    struct shape shapes[SHAPES_MAX];
    size_t count;
    struct memo memo;
    struct tarn_suspects contradictions;
    struct tarn_stats_coverage *stats;
    int64_t rows; /* so far; -1: a file does not tell, or too many */
};

void tarn_coverage_free(struct tarn_coverage *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++) {
        json_decref(c->shapes[i].keys);
        json_decref(c->shapes[i].folders);
        tarn_suspects_done(&c->shapes[i].examples);
    }
    tarn_buf_done(&c->memo.folder);
    tarn_buf_done(&c->memo.values);
    tarn_suspects_done(&c->contradictions);
    tarn_stats_coverage_free(c->stats);
    free(c);
}

struct tarn_coverage *tarn_coverage_new(const json_t *keys, const struct tarn_schema_past *past)
{
    TARN_AUTO(coverage) struct tarn_coverage *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->given = json_array_size(keys) > 0 ? keys : NULL;
    if (past && past->current && past->current->root.field_count > 0) {
        c->stats = tarn_stats_coverage_new(past);
        if (!c->stats)
            return NULL;
    }
    return tarn_take(&c);
}

/* --- sets of names, as arrays --- */

static bool has_name(const json_t *names, const char *name)
{
    size_t index;
    json_t *item;

    json_array_foreach(names, index, item) {
        if (strcmp(json_string_value(item), name) == 0)
            return true;
    }
    return false;
}

static bool has_all(const json_t *names, const json_t *others)
{
    size_t index;
    json_t *item;

    json_array_foreach(others, index, item) {
        if (!has_name(names, json_string_value(item)))
            return false;
    }
    return true;
}

static bool is_same_set(const json_t *a, const json_t *b)
{
    return json_array_size(a) == json_array_size(b) && has_all(a, b);
}

static bool add_keys(json_t *names, const json_t *object)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        if (!has_name(names, key) && json_array_append_new(names, json_string(key)) != 0)
            return false;
    }
    return true;
}

/* "with a, b": the names that are in `names` and not in `others`; "" when there are none. */
static void difference_text(const char *word, const json_t *names, const json_t *others, char *out, size_t size)
{
    size_t index, len = 0;
    json_t *item;

    out[0] = '\0';
    json_array_foreach(names, index, item) {
        const char *name = json_string_value(item);
        if (!has_name(others, name) && len + strlen(name) + strlen(word) + 4 < size)
            len += (size_t)snprintf(out + len, size - len, "%s%s", len > 0 ? ", " : word, name);
    }
}

/* --- one file --- */

static tarn_code shape_of(struct tarn_coverage *c, const json_t *values, const json_t *of_path, struct shape **out,
                          struct tarn_err *err)
{
    json_auto_t *keys = json_array(), *folders = json_array();
    size_t told = json_object_size(values);

    if (!keys || !folders || !add_keys(keys, values) || !add_keys(keys, of_path) || !add_keys(folders, of_path))
        return tarn_fail_oom(err);
    for (size_t i = 0; i < c->count; i++) {
        *out = &c->shapes[i];
        if (c->shapes[i].told == told && is_same_set(c->shapes[i].keys, keys) && is_same_set(c->shapes[i].folders, folders))
            return TARN_OK;
    }
    *out = &c->shapes[SHAPES_MAX - 1];
    if (c->count == SHAPES_MAX)
        return TARN_OK;
    *out = &c->shapes[c->count++];
    (*out)->keys = json_incref(keys);
    (*out)->folders = json_incref(folders);
    (*out)->told = told;
    return TARN_OK;
}

static bool is_kept(const struct tarn_buf *buf, const char *text, size_t len)
{
    return buf->len == len && (len == 0 || memcmp(buf->data, text, len) == 0);
}

static tarn_code look(struct tarn_coverage *c, const char *path, const char *given, struct tarn_err *err)
{
    json_auto_t *values = NULL, *of_path = NULL;
    TARN_ERR(fault);
    tarn_code code = tarn_json_parse(given, strlen(given), NULL, &values, &fault);

    if (code == TARN_INTERNAL)
        return tarn_err_move(err, &fault);
    code = tarn_partition_from_path(path, &of_path, err);
    if (code != TARN_OK)
        return code;
    c->memo.shape = NULL;
    if (tarn_partition_contradicts(values, of_path, c->memo.note, sizeof c->memo.note))
        return TARN_OK;
    return shape_of(c, values, of_path, &c->memo.shape, err);
}

static tarn_code recall(struct tarn_coverage *c, const struct tarn_file *file, struct tarn_err *err)
{
    struct memo *memo = &c->memo;
    const char *slash = strrchr(file->path, '/'), *given = file->partition_values ? file->partition_values : "{}";
    size_t len = slash ? (size_t)(slash - file->path) : 0;

    if (memo->is_set && is_kept(&memo->folder, file->path, len) && is_kept(&memo->values, given, strlen(given)))
        return TARN_OK;
    memo->is_set = false;
    tarn_buf_clear(&memo->folder);
    tarn_buf_clear(&memo->values);
    tarn_buf_add(&memo->folder, file->path, len);
    tarn_buf_adds(&memo->values, given);
    tarn_code code = tarn_buf_check(&memo->folder, err);
    if (code == TARN_OK)
        code = tarn_buf_check(&memo->values, err);
    if (code == TARN_OK)
        code = look(c, file->path, given, err);
    memo->is_set = code == TARN_OK;
    return code;
}

tarn_code tarn_coverage_note(struct tarn_coverage *c, const struct tarn_file *file, struct tarn_err *err)
{
    tarn_code code = c->stats ? tarn_stats_coverage_note(c->stats, file, err) : TARN_OK;
    bool is_known = c->rows >= 0 && file->records >= 0 && file->records <= INT64_MAX - c->rows;

    c->rows = is_known ? c->rows + file->records : -1;
    if (code == TARN_OK)
        code = recall(c, file, err);
    if (code != TARN_OK)
        return code;
    struct shape *shape = c->memo.shape;
    if (!shape)
        return tarn_suspects_add(&c->contradictions, file->path, c->memo.note, -1, -1, -1, err);
    shape->files++;
    return tarn_suspects_add(&shape->examples, file->path, NULL, -1, -1, -1, err);
}

/* --- all of them --- */

/* The set of names that most files have: of keys, or of folders. A tie goes to the one met first, but a table with
 * keys is rather partitioned than not. */
static const json_t *usual(const struct tarn_coverage *c, bool of_folders)
{
    const json_t *best = NULL;
    int64_t most = 0;

    for (size_t i = 0; i < c->count; i++) {
        const json_t *set = of_folders ? c->shapes[i].folders : c->shapes[i].keys;
        int64_t files = 0;
        for (size_t k = 0; k < c->count; k++)
            if (is_same_set(set, of_folders ? c->shapes[k].folders : c->shapes[k].keys))
                files += c->shapes[k].files;
        bool wins_tie = files == most && json_array_size(best) == 0;
        if (files > most || wins_tie)
            best = set;
        most = files > most ? files : most;
    }
    return best;
}

/* Keys that the table does not have, or folders unlike those of the rest that leave a key out: partition_drift. Only
 * without a value for a key: no_partition_values. */
static tarn_code judge_shape(const struct shape *shape, const json_t *keys, const json_t *folders, struct tarn_facts *facts,
                             struct tarn_err *err)
{
    char extra[120], missing[120], note[260];

    difference_text("with ", shape->keys, keys, extra, sizeof extra);
    difference_text("without ", keys, shape->keys, missing, sizeof missing);
    if (!extra[0] && !missing[0])
        return TARN_OK;
    bool is_laid_out_otherwise = json_array_size(shape->folders) > 0 && !is_same_set(shape->folders, folders);
    snprintf(note, sizeof note, "%s%s%s", extra, extra[0] && missing[0] ? ", " : "", missing);
    return tarn_suspects_join(extra[0] || is_laid_out_otherwise ? &facts->partition_drift : &facts->no_partition_values,
                              &shape->examples, note, err);
}

/* Of the keys, those that the entry of some file names. */
static tarn_code told_keys(const struct tarn_coverage *c, const json_t *keys, json_t **out, struct tarn_err *err)
{
    json_auto_t *told = json_array();
    size_t index;
    json_t *key;

    json_array_foreach(keys, index, key) {
        bool is_told = c->given != NULL;
        for (size_t i = 0; i < c->count; i++)
            for (size_t k = 0; k < c->shapes[i].told; k++)
                is_told |= json_equal(json_array_get(c->shapes[i].keys, k), key);
        if (is_told && json_array_append(told, key) != 0)
            return tarn_fail_oom(err);
    }
    *out = json_incref(told);
    return told ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_coverage_end(struct tarn_coverage *c, struct tarn_facts *facts, json_t **keys, json_t **told,
                            struct tarn_err *err)
{
    const json_t *own = c->given ? c->given : usual(c, false), *folders = usual(c, true);
    json_auto_t *found = own ? json_deep_copy(own) : json_array();
    tarn_code code = found ? TARN_OK : tarn_fail_oom(err);

    if (code == TARN_OK)
        code = tarn_suspects_join(&facts->partition_drift, &c->contradictions, NULL, err);
    for (size_t i = 0; i < c->count && code == TARN_OK; i++)
        code = judge_shape(&c->shapes[i], found, folders, facts, err);
    if (code == TARN_OK && c->stats)
        code = tarn_stats_coverage_end(c->stats, found, facts, err);
    facts->rows = c->rows;
    if (code == TARN_OK && told)
        code = told_keys(c, found, told, err);
    if (code == TARN_OK)
        *keys = json_incref(found);
    return code;
}
