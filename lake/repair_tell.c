/* repair_tell.c - what a repair found, on its way into the answer: lists that are
 * cut at a bound and counted beyond it, and the operations of the commit to come. */
#include "base/json.h"
#include "base/jsonw.h"
#include "base/time.h"
#include "lake/repair_run.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* `item` is stolen. */
static tarn_code add(struct tarn_repair_list *list, json_t *item, struct tarn_err *err)
{
    list->total++;
    if (list->total > TARN_REPAIR_SHOWN_MAX) {
        json_decref(item);
        return TARN_OK;
    }
    return json_array_append_new(list->items, item) == 0 ? TARN_OK : tarn_fail_oom(err);
}

/* What failed often begins with the file's name. */
static const char *without_path(const char *message, const char *path)
{
    size_t len = strlen(path);

    return strncmp(message, path, len) == 0 && strncmp(message + len, ": ", 2) == 0 ? message + len + 2
                                                                                    : message;
}

tarn_code tarn_repair_leave_out(struct tarn_repair_use *use, const char *path, const char *reason,
                                const char *message, struct tarn_err *err)
{
    return add(&use->left_out,
               json_pack("{s:o, s:s, s:o}", "path", tarn_json_str(path), "reason", reason, "message",
                         tarn_json_str(without_path(message, path))),
               err);
}

tarn_code tarn_repair_tell_write(struct tarn_repair_use *use, const char *path, struct tarn_err *err)
{
    return add(&use->writes, tarn_json_str(path), err);
}

tarn_code tarn_repair_tell_move(struct tarn_repair_use *use, const char *from, const char *to,
                                struct tarn_err *err)
{
    return add(&use->moves, json_pack("{s:o, s:o}", "from", tarn_json_str(from), "to", tarn_json_str(to)),
               err);
}

/* --- the operations --- */

static tarn_code make_room(struct tarn_repair_use *use, struct tarn_err *err)
{
    if (use->commit.op_count < use->cap)
        return TARN_OK;
    size_t cap = use->cap ? 2 * use->cap : 64;
    struct tarn_commit_op *ops = reallocarray(use->commit.ops, cap, sizeof *ops);
    if (ops)
        use->commit.ops = ops;
    char **names = reallocarray(use->names, cap, sizeof *names);
    if (names)
        use->names = names;
    if (!ops || !names)
        return tarn_fail_oom(err);
    use->cap = cap;
    return TARN_OK;
}

tarn_code tarn_repair_op(struct tarn_repair_use *use, bool is_add, const char *path,
                         struct tarn_commit_op **out, struct tarn_err *err)
{
    tarn_code code = make_room(use, err);
    char *name = code == TARN_OK ? strdup(path) : NULL;

    if (code == TARN_OK && !name)
        return tarn_fail_oom(err);
    if (code != TARN_OK)
        return code;
    struct tarn_commit_op *op = &use->commit.ops[use->commit.op_count];
    *op =
        (struct tarn_commit_op){ .is_add = is_add,
                                 .file = { .path = name, .size = -1, .records = -1, .removed_version = -1 } };
    use->names[use->commit.op_count++] = name;
    use->commit.add_count += is_add;
    if (out)
        *out = op;
    return TARN_OK;
}

void tarn_repair_drop_op(struct tarn_repair_use *use)
{
    struct tarn_commit_op *op = &use->commit.ops[--use->commit.op_count];

    use->commit.add_count -= op->is_add;
    free(op->filled_values);
    free(op->filled_stats);
    free(use->names[use->commit.op_count]);
}

/* --- the start and the end of a look --- */

static bool clear(struct tarn_repair_list *list)
{
    json_decref(list->items);
    *list = (struct tarn_repair_list){ .items = json_array() };
    return list->items != NULL;
}

/* A name that sorts by time: 2024-02-01T14-30-00.000Z. */
static void name_folder(struct tarn_repair_use *use)
{
    char text[TARN_TIME_TEXT];
    int64_t now = use->commit.now_ms ? use->commit.now_ms : tarn_now_ms();

    tarn_time_format(now, text);
    for (char *c = text; *c; c++)
        *c = *c == ':' ? '-' : *c;
    snprintf(use->folder, sizeof use->folder, TARN_DIR_CONFLICTS "/%s", text);
}

tarn_code tarn_repair_begin(struct tarn_repair_use *use, struct tarn_err *err)
{
    if (!use->folder[0])
        name_folder(use);
    while (use->commit.op_count > 0)
        tarn_repair_drop_op(use);
    tarn_buf_clear(&use->commit.texts);
    use->commit.metadata = NULL;
    use->commit.data_change = use->commit.is_large = use->settles = false;
    use->relinks = use->marks = false;
    use->ends = use->block = use->commit.cures = TARN_BLOCK_NONE;
    use->more = 0;
    tarn_buf_clear(&use->foreign);
    bool ok = clear(&use->left_out);
    /* What a run did before it had to look again stays told. */
    if (!use->runs || !use->writes.items)
        ok = ok && clear(&use->writes) && clear(&use->moves);
    return ok ? TARN_OK : tarn_fail_oom(err);
}

static int64_t removes_only(const struct tarn_repair_use *use)
{
    return (int64_t)(use->commit.op_count - use->commit.add_count);
}

tarn_code tarn_repair_describe(struct tarn_repair_use *use, struct tarn_err *err)
{
    struct tarn_jsonw w = tarn_jsonw_to(&use->commit.texts);
    const char *plan = tarn_repair_plan_text(use->plan);
    char description[160];

    snprintf(description, sizeof description, "repair %s: %zu added, %" PRId64 " removed", plan,
             use->commit.add_count, removes_only(use));
    tarn_buf_clear(&use->commit.texts);
    tarn_jsonw_object(&w);
    tarn_jsonw_kstr(&w, "author", use->commit.principal ? use->commit.principal : "tarn");
    tarn_jsonw_kstr(&w, "description", description);
    tarn_jsonw_kstr(&w, "repair", plan);
    tarn_jsonw_object_end(&w);
    tarn_buf_add(&use->commit.texts, "", 1);
    use->commit.metadata = use->commit.texts.data;
    return tarn_buf_check(&use->commit.texts, err);
}
