/* group.c - the steps of a commit over several tables: those of each commit,
 * in the order of the request, inside one transaction of the store. The first
 * table at fault gives the answer, as if they were judged one by one. */
#include "lake/group.h"
#include "base/json.h"
#include "base/time.h"
#include "lake/publish.h"
#include <string.h>

#define WAIT_MS 2000 /* for the publications of all, once the first was waited for */

static tarn_code name_table(const struct tarn_group_use *use, size_t i, struct tarn_err *err)
{
    const struct tarn_ident *ident = &use->commits[i].ident;
    bool is_ours = tarn_code_http(err->code) < 500 || err->code == TARN_OVERLOADED ||
                   err->code == TARN_STORAGE_UNAVAILABLE;
    char dotted[TARN_DOTTED_MAX];

    if (!is_ours)
        return err->code;
    tarn_ident_format(ident->namespace_, ident->name, dotted);
    if (strcmp(err->field, "Idempotency-Key") != 0)
        (void)tarn_err_prefix(err, "tables[%zu]", i);
    return tarn_err_add(err, "table", json_string(dotted));
}

/* --- check: on a worker --- */

static bool needs_check(const struct tarn_lake *lake, const void *state)
{
    const struct tarn_group_use *use = state;

    for (size_t i = 0; i < use->count; i++)
        if (tarn_commit.needs_check(lake, &use->commits[i]))
            return true;
    return false;
}

/* A fault is kept for the decision: a table before this one may be refused there. */
static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_group_use *use = state;

    (void)err;
    tarn_err_done(&use->fault);
    for (size_t i = 0; i < use->count; i++) {
        struct tarn_commit_use *commit = &use->commits[i];
        if (!tarn_commit.needs_check(lake, commit) || tarn_commit.check(lake, commit, &use->fault) == TARN_OK)
            continue;
        use->fault_at = i;
        return TARN_OK;
    }
    return TARN_OK;
}

/* --- change: on the writer --- */

/* The kept fault may be told several times: a transaction runs again. */
static tarn_code tell_fault(const struct tarn_group_use *use, struct tarn_err *err)
{
    struct tarn_err copy = use->fault;

    copy.more = json_deep_copy(use->fault.more);
    return tarn_err_move(err, &copy);
}

static tarn_code change_one(struct tarn_tx *tx, struct tarn_group_use *use, size_t i, struct tarn_err *err)
{
    bool has_fault = use->fault.code != TARN_OK && use->fault_at == i;
    tarn_code code = has_fault ? tell_fault(use, err) : tarn_commit.change(tx, &use->commits[i], err);

    return code == TARN_OK || code == TARN_RECHECK ? code : name_table(use, i, err);
}

/* One round looks at all: there are only so many, and each table may ask. */
static tarn_code ask_check(struct tarn_group_use *use)
{
    for (size_t i = 0; i < use->count; i++)
        use->commits[i].must_check = true;
    return TARN_RECHECK;
}

static tarn_code change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_group_use *use = ctx;
    int64_t now = use->now_ms ? use->now_ms : tarn_now_ms();

    use->replayed = true;
    for (size_t i = 0; i < use->count; i++) {
        use->commits[i].now_ms = now;
        tarn_code code = change_one(tx, use, i, err);
        if (code != TARN_OK)
            return code == TARN_RECHECK ? ask_check(use) : code;
        use->replayed = use->replayed && use->commits[i].replayed;
    }
    return TARN_OK;
}

/* --- publication: each table's in turn, while the publisher works on all --- */

static bool find_waiting(const struct tarn_group_use *use, size_t from, size_t *at, int64_t *table_id,
                         int64_t *version)
{
    for (size_t i = from; i < use->count; i++) {
        if (!tarn_commit.publishes(&use->commits[i], table_id, version))
            continue;
        *at = i;
        return true;
    }
    return false;
}

/* Nothing but where the wait stands changes; the use is the caller's own. */
static bool publishes(const void *state, int64_t *table_id, int64_t *version)
{
    struct tarn_group_use *use = (struct tarn_group_use *)(uintptr_t)state;

    if (use->waits_until_ms == 0) {
        use->waits_until_ms = tarn_monotonic_ms() + WAIT_MS;
        for (size_t i = 0; i < use->count; i++)
            if (tarn_commit.publishes(&use->commits[i], table_id, version))
                tarn_publisher_nudge(use->lake->publisher, *table_id);
    }
    return find_waiting(use, use->waiting, &use->waiting, table_id, version);
}

static void published(void *state, bool done)
{
    struct tarn_group_use *use = state;

    tarn_commit.published(&use->commits[use->waiting], done);
    use->waiting++;
}

static bool publishes_more(const void *state)
{
    const struct tarn_group_use *use = state;
    int64_t table_id, version;
    size_t at;

    return tarn_monotonic_ms() < use->waits_until_ms &&
           find_waiting(use, use->waiting, &at, &table_id, &version);
}

static void done(void *state)
{
    struct tarn_group_use *use = state;

    for (size_t i = 0; i < use->count; i++)
        tarn_commit.done(&use->commits[i]);
    free(use->commits);
    tarn_err_done(&use->fault);
}

const struct tarn_use tarn_group = {
    .name = "group",
    .size = sizeof(struct tarn_group_use),
    .needs_check = needs_check,
    .check = check,
    .change = change,
    .publishes = publishes,
    .publishes_more = publishes_more,
    .published = published,
    .done = done,
};

/* --- the request --- */

static tarn_code read_table(json_t *item, struct tarn_group_use *use, size_t i, struct tarn_err *err)
{
    struct tarn_commit_use *commit = &use->commits[i];
    const char *table = json_string_value(json_object_get(item, "table"));
    char dotted[TARN_DOTTED_MAX];

    if (!table)
        return tarn_fail_field(err, "table", "must be the name of a table");
    snprintf(dotted, sizeof dotted, "%s", table);
    if (strlen(table) >= sizeof dotted)
        return tarn_fail_field(err, "table", "the name is too long");
    tarn_code code = tarn_ident_parse(dotted, "table", &commit->ident, err);
    if (code != TARN_OK)
        return code;
    if (use->may_see && !use->may_see(use->who, commit->ident.namespace_, commit->ident.name)) {
        tarn_fail_code_field(err, TARN_TABLE_NOT_FOUND, "table", "table '%s' does not exist", dotted);
        return tarn_err_add(err, "table", json_string(dotted));
    }
    for (size_t j = 0; j < i; j++)
        if (strcmp(use->commits[j].ident.name, commit->ident.name) == 0 &&
            strcmp(use->commits[j].ident.namespace_, commit->ident.namespace_) == 0)
            return tarn_fail_field(err, "table", "the table is named twice");
    return TARN_OK;
}

static tarn_code read_item(json_t *item, struct tarn_group_use *use, size_t i, struct tarn_err *err)
{
    struct tarn_commit_use *commit = &use->commits[i];

    if (!json_is_object(item))
        return tarn_fail_field(err, "", "must be an object: a table's name and the body of its commit");
    tarn_code code = read_table(item, use, i, err);
    if (code != TARN_OK)
        return code;
    (void)json_object_del(item, "table"); /* what is left is a commit's body, and hashed as one */
    commit->lake = use->lake;
    commit->principal = use->principal;
    commit->method = use->method;
    commit->path = use->path;
    commit->key = use->key;
    commit->key_hash = use->key_hash;
    commit->group = use->count > 1 ? use->group : NULL;
    return tarn_commit_parse(item, commit, err);
}

/* A key stands for the whole request: names and bodies in their order. */
static tarn_code hash_all(struct tarn_group_use *use, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    char dotted[TARN_DOTTED_MAX];

    for (size_t i = 0; i < use->count; i++) {
        tarn_ident_format(use->commits[i].ident.namespace_, use->commits[i].ident.name, dotted);
        tarn_buf_addf(&text, "%s\n%s\n", dotted, use->commits[i].body_hash);
    }
    tarn_code code = tarn_buf_check(&text, err);
    if (code == TARN_OK)
        tarn_sha256_hex(text.data, text.len, use->key_hash);
    return code;
}

static tarn_code read_items(json_t *tables, struct tarn_group_use *use, struct tarn_err *err)
{
    size_t count = json_array_size(tables), ops = 0;

    use->commits = calloc(count, sizeof *use->commits);
    if (!use->commits)
        return tarn_fail_oom(err);
    use->count = count;
    for (size_t i = 0; i < count; i++) {
        tarn_code code = read_item(json_array_get(tables, i), use, i, err);
        if (code != TARN_OK) {
            (void)tarn_err_prefix(err, "tables[%zu]", i);
            return code;
        }
        ops += use->commits[i].op_count;
    }
    if (ops > TARN_TX_ROWS_MAX) /* a group is one transaction: nothing of it is staged */
        return tarn_fail_field(err, "tables", "have at most %d operations together", TARN_TX_ROWS_MAX);
    return TARN_OK;
}

tarn_code tarn_group_parse(json_t *body, struct tarn_group_use *use, struct tarn_err *err)
{
    json_t *tables = NULL;
    const struct tarn_field fields[] = {
        TARN_ARRAY("tables", &tables, 1, TARN_GROUP_TABLES_MAX),
        TARN_FIELDS_END,
    };
    tarn_code code = tarn_json_read(body, fields, err);

    if (code == TARN_OK)
        code = tarn_uuid(use->group, err);
    if (code == TARN_OK)
        code = read_items(tables, use, err);
    return code == TARN_OK && use->key ? hash_all(use, err) : code;
}
