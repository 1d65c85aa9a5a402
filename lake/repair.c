/* repair.c - the steps that all repairs share: look at the table and its storage on a worker, let the plan say what is to be
 * done, decide in one transaction, then publish. A run that finds the table moved on looks again. */
#include "lake/repair.h"
#include "base/json.h"
#include "base/time.h"
#include "lake/event.h"
#include "lake/inherit.h"
#include "lake/lease.h"
#include "lake/look.h"
#include "lake/publish.h"
#include "lake/repair_run.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    tarn_repair_plan_fn *look;
    bool may_be_blocked; /* the plan judges blocks itself */
    tarn_repair_plan_fn *look_iceberg; /* NULL: not for Iceberg tables */
} k_plans[] = {
    [TARN_REPAIR_REPUBLISH] = { "republish", tarn_repair_republish, true, tarn_repair_iceberg },
    [TARN_REPAIR_REGISTER] = { "register", tarn_repair_register, false, NULL },
    [TARN_REPAIR_FORGET] = { "forget", tarn_repair_forget, false, NULL },
    [TARN_REPAIR_ADOPT] = { "adopt", tarn_repair_adopt, true, NULL },
};

const char *tarn_repair_plan_text(enum tarn_repair_plan plan) { return k_plans[plan].word; }

/* --- the look --- */

static void run_done(struct tarn_repair_run *run)
{
    tarn_table_free(tarn_take(&run->table));
    tarn_schema_rows_done(&run->schemas);
    tarn_place_free(tarn_take(&run->place));
}

static tarn_code read_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_repair_run *run = ctx;
    const struct tarn_ident *ident = &run->use->commit.ident;

    tarn_table_free(tarn_take(&run->table));
    tarn_schema_rows_done(&run->schemas);
    tarn_code code = tx->ops->tables.get(tx, ident->namespace_, ident->name, &run->table, err);
    if (code == TARN_OK)
        code = tarn_inherit_all(tx, run->table, err);
    if (code == TARN_OK)
        code = tx->ops->publications.get(tx, run->table->id, &run->pub, err);
    return code == TARN_OK ? tarn_schema_rows_read(tx, run->table->id, &run->schemas, err) : code;
}

/* Has the plan a form of its own for the table? */
static bool is_iceberg(const struct tarn_repair_run *run)
{
    return run->table->format == TARN_FORMAT_ICEBERG && run->table->mode == TARN_MANAGED && k_plans[run->use->plan].look_iceberg;
}

/* The database may be older than storage: then nothing may be written over what it forgot. */
static tarn_code read_table(struct tarn_repair_run *run, struct tarn_err *err)
{
    tarn_code code = tarn_store_read(run->lake->store, read_tx, run, err);

    if (code != TARN_OK || is_iceberg(run))
        return code;
    code = tarn_managed_check(run->table, err);
    if (code != TARN_OK || !tarn_look_is_due(run->lake, run->table))
        return code;
    code = tarn_look(run->lake, run->table, err);
    if (code != TARN_OK)
        return code;
    tarn_looked_set(run->lake->looked, run->table->id, true);
    return tarn_store_read(run->lake->store, read_tx, run, err);
}

static tarn_code open_place(struct tarn_repair_run *run, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_place_open(run->lake->storage, run->table->location, false, &run->place, &fault);

    if (code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "the table's folder %s is not there", run->table->location);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code look(struct tarn_repair_run *run, struct tarn_err *err)
{
    struct tarn_repair_use *use = run->use;
    struct tarn_commit_use *commit = &use->commit;
    tarn_code code = read_table(run, err);

    if (code == TARN_OK && use->expected_given)
        code = tarn_commit_judge_version(commit, run->table, err);
    if (code == TARN_OK && !k_plans[use->plan].may_be_blocked)
        code = tarn_block_check(run->table, err);
    if (code != TARN_OK)
        return code;
    use->table_id = run->table->id;
    use->version = commit->expected_version = run->table->version;
    if (is_iceberg(run))
        return k_plans[use->plan].look_iceberg(run, err);
    code = open_place(run, err);
    if (code != TARN_OK)
        return code;
    use->block = run->table->block;
    use->is_shown = run->table->publish;
    free(use->location);
    use->location = strdup(run->table->location);
    if (!use->location)
        return tarn_fail_oom(err);
    code = k_plans[use->plan].look(run, err);
    return code == TARN_OK && commit->op_count > 0 ? tarn_repair_describe(use, err) : code;
}

static bool needs_check(const struct tarn_lake *lake, const void *state)
{
    (void)lake;
    return ((const struct tarn_repair_use *)state)->commit.must_check;
}

static tarn_code look_until_settled(struct tarn_repair_run *run, struct tarn_err *err)
{
    tarn_code code = TARN_RECHECK;

    for (int i = 0; code == TARN_RECHECK && i <= TARN_RECHECKS_MAX; i++) {
        TARN_ERR(fault);
        run_done(run);
        code = tarn_repair_begin(run->use, &fault);
        if (code == TARN_OK)
            code = look(run, &fault);
        if (code != TARN_OK && code != TARN_RECHECK)
            return tarn_err_move(err, &fault);
    }
    return code == TARN_OK ? TARN_OK : tarn_fail(err, TARN_OVERLOADED, "the table kept changing while it was looked at");
}

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_repair_use *use = state;
    struct tarn_commit_use *commit = &use->commit;
    __attribute__((cleanup(run_done))) struct tarn_repair_run run = { .lake = lake, .use = use };
    tarn_code code = tarn_commit_unstage(commit, err); /* of a check before this one */

    commit->must_check = false;
    if (code == TARN_OK)
        code = look_until_settled(&run, err);
    if (code != TARN_OK || !use->runs || commit->op_count == 0)
        return code;
    commit->checked = (struct tarn_commit_checked){ run.table->id, run.table->schema_version, TARN_VERIFY_FOOTER,
                                                    run.table->enforcement };
    commit->is_large = commit->op_count > TARN_TX_ROWS_MAX;
    return commit->is_large ? tarn_commit_stage_ops(commit, run.table, err) : TARN_OK;
}

/* --- the decision --- */

static tarn_code look_again(struct tarn_repair_use *use, struct tarn_err *err)
{
    use->commit.must_check = true;
    return tarn_fail(err, TARN_RECHECK, "the table moved on since the plan was made");
}

static tarn_code commit(struct tarn_tx *tx, struct tarn_repair_use *use, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_commit_change(tx, &use->commit, &fault);

    if (code == TARN_VERSION_CONFLICT && !use->expected_given && use->conflicts++ < TARN_RECHECKS_MAX)
        return look_again(use, err);
    use->committed = code == TARN_OK;
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

/* The publisher may write over what lies there, as long as it is what the look put aside; and all lists of files. */
static tarn_code settle(struct tarn_tx *tx, const struct tarn_repair_use *use, const struct tarn_table *table,
                        struct tarn_publication *pub, struct tarn_err *err)
{
    int64_t published_schema = 0;
    tarn_code code = tx->ops->publications.schema_published(tx, use->table_id, &published_schema, err);

    if (use->settles) {
        memcpy(pub->manifest_sha256, use->publication.manifest_sha256, sizeof pub->manifest_sha256);
        memcpy(pub->manifest_token, use->publication.manifest_token, sizeof pub->manifest_token);
    }
    pub->version = table->published_version;
    pub->marks = 0;
    pub->links &= !use->relinks;
    return code == TARN_OK ? tx->ops->publications.put(tx, use->table_id, pub, published_schema, err) : code;
}

static tarn_code end_block(struct tarn_tx *tx, struct tarn_repair_use *use, struct tarn_table *table, struct tarn_err *err)
{
    int64_t now = use->commit.now_ms ? use->commit.now_ms : tarn_now_ms();

    table->block = TARN_BLOCK_NONE;
    tarn_code code = tx->ops->tables.update(tx, table, err);
    if (code != TARN_OK)
        return code;
    return tarn_event_add(tx, TARN_EVENT_UPDATED, table, now,
                          json_pack("{s:[s], s:s, s:s}", "members", "block", "repair", tarn_repair_plan_text(use->plan),
                                    "ended", tarn_block_text(use->ends)),
                          err);
}

/* A commit of the id of a log entry that somebody else wrote could never be published. */
static tarn_code take_ids(struct tarn_tx *tx, const struct tarn_repair_use *use, struct tarn_err *err)
{
    const struct tarn_buf *paths = &use->foreign;
    tarn_code code = TARN_OK;

    for (size_t at = 0; code == TARN_OK && at < paths->len;) {
        const char *name = strrchr(paths->data + at, '/') + 1;
        at += strlen(paths->data + at) + 1;
        at += strlen(paths->data + at) + 1; /* its token */
        char id[TARN_TXN_ID_MAX + 1];
        snprintf(id, sizeof id, "%.*s", (int)(strlen(name) - strlen(".json")), name);
        if (tarn_txn_id_check(id, "id", NULL) == TARN_OK)
            code = tx->ops->commits.take_id(tx, use->table_id, id, err);
    }
    return code;
}

/* What the walk over the documents relied on: nobody published meanwhile, and the block is the one that it saw. */
static tarn_code decide_documents(struct tarn_tx *tx, struct tarn_repair_use *use, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    struct tarn_publication pub = { 0 };
    tarn_code code = tx->ops->tables.get_by_id(tx, use->table_id, &table, err);

    if (code == TARN_OK)
        code = tx->ops->publications.get(tx, use->table_id, &pub, err);
    if (code != TARN_OK)
        return code;
    bool is_same = table->dropped_at < 0 && table->mode == TARN_MANAGED && table->block == use->block &&
                   (!use->settles || strcmp(pub.manifest_token, use->seen_token) == 0);
    if (!is_same)
        return look_again(use, err);
    if (use->settles || use->relinks)
        code = settle(tx, use, table, &pub, err);
    if (code == TARN_OK && (use->settles || use->relinks || use->marks))
        code = tx->ops->publications.mark(tx, use->table_id, err);
    if (code == TARN_OK && use->ends != TARN_BLOCK_NONE)
        code = end_block(tx, use, table, err);
    use->changed = code == TARN_OK;
    return code;
}

static tarn_code change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_repair_use *use = ctx;
    bool has_ops = use->commit.op_count > 0;
    bool has_documents = use->settles || use->relinks || use->marks || use->ends != TARN_BLOCK_NONE;
    tarn_code code = TARN_OK;

    use->committed = use->changed = false;
    if (!use->runs)
        return TARN_OK;
    if (use->foreign.len > 0)
        code = take_ids(tx, use, err);
    if (code == TARN_OK && has_ops)
        code = commit(tx, use, err);
    if (code == TARN_OK && has_documents)
        code = decide_documents(tx, use, err);
    use->committed &= code == TARN_OK;
    use->changed |= code == TARN_OK && use->foreign.len > 0;
    return code;
}

/* --- after it --- */

/* They were taken in and lie in _conflicts/ too. One that changed since stays. */
static void remove_foreign(struct tarn_lake *lake, const struct tarn_repair_use *use)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    const struct tarn_buf *paths = &use->foreign;
    TARN_ERR(ignored);
    tarn_code code = paths->len > 0 ? tarn_place_open(lake->storage, use->location, false, &place, &ignored) : TARN_NOT_FOUND;

    for (size_t at = 0; code == TARN_OK && at < paths->len;) {
        const char *path = paths->data + at, *token = path + strlen(path) + 1;
        struct tarn_object object = { 0 };
        if (tarn_place_stat(place, path, &object, &ignored) == TARN_OK && strcmp(object.token, token) == 0)
            code = tarn_place_remove(place, path, &ignored);
        at = (size_t)(token - paths->data) + strlen(token) + 1;
    }
}

static bool needs_after(const void *state)
{
    const struct tarn_repair_use *use = state;
    return use->committed || use->changed;
}

/* Storage follows at once. When it does not, the cure is decided all the same, and the publisher goes on trying. */
static tarn_code after(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_repair_use *use = state;
    TARN_ERR(fault);

    (void)err;
    if (!lake->storage)
        return TARN_OK;
    remove_foreign(lake, use);
    tarn_code code = tarn_publish_table(lake, use->table_id, &fault);
    use->commit.published = code == TARN_OK && use->is_shown;
    if (code != TARN_OK && lake->publisher)
        tarn_publisher_nudge(lake->publisher, use->table_id);
    return TARN_OK;
}

static void done(void *state)
{
    struct tarn_repair_use *use = state;

    for (size_t i = 0; i < use->commit.op_count; i++)
        free(use->names[i]);
    free(use->names);
    json_decref(use->writes.items);
    json_decref(use->moves.items);
    json_decref(use->left_out.items);
    tarn_buf_done(&use->foreign);
    free(use->location);
    tarn_commit_done(&use->commit);
}

const struct tarn_use tarn_repair = {
    .name = "repair",
    .size = sizeof(struct tarn_repair_use),
    .needs_check = needs_check,
    .check = check,
    .is_slow = true,
    .change = change,
    .needs_after = needs_after,
    .after = after,
    .done = done,
};

/* --- the request --- */

static tarn_code parse_words(struct tarn_repair_use *use, const char *plan, const char *choose, struct tarn_err *err)
{
    static const char *const k_choices[] = { [TARN_CHOOSE_MANIFEST] = "manifest", [TARN_CHOOSE_LOG] = "log" };
    bool known = false;

    for (size_t i = 0; i < TARN_COUNT(k_plans) && !known; i++) {
        known = strcmp(k_plans[i].word, plan) == 0;
        use->plan = (enum tarn_repair_plan)i;
    }
    if (!known)
        return tarn_fail_field(err, "plan", "must be \"republish\", \"register\", \"forget\" or \"adopt\" (storage_ahead is cured by recover: "
                               "POST .../recover, or tarn recover --table)");
    for (size_t i = TARN_CHOOSE_MANIFEST; choose && i < TARN_COUNT(k_choices); i++)
        if (strcmp(k_choices[i], choose) == 0)
            use->choose = (enum tarn_repair_choice)i;
    if (choose && use->choose == TARN_CHOOSE_NONE)
        return tarn_fail_field(err, "choose", "must be \"manifest\" or \"log\"");
    if (choose && use->plan != TARN_REPAIR_ADOPT)
        return tarn_fail_field(err, "choose", "belongs to the plan adopt");
    return TARN_OK;
}

static tarn_code check_paths(struct tarn_repair_use *use, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_repair_names_done))) struct tarn_repair_names names = { 0 };

    if (!use->paths)
        return TARN_OK;
    if (use->plan != TARN_REPAIR_REGISTER && use->plan != TARN_REPAIR_FORGET)
        return tarn_fail_field(err, "paths", "belongs to the plans register and forget");
    return tarn_repair_names_read(use->paths, &names, err);
}

tarn_code tarn_repair_parse(const json_t *body, struct tarn_repair_use *use, struct tarn_err *err)
{
    const char *plan = NULL, *choose = NULL;
    json_t *paths = NULL;
    bool is_dry = true;
    const struct tarn_field fields[] = {
        TARN_STR("plan", &plan, 1, 32),
        TARN_OPT_STR("choose", &choose, 1, 32),
        TARN_OPT_ARRAY("paths", &paths, 1, TARN_REPAIR_PATHS_MAX),
        TARN_OPT_BOOL("dry_run", &is_dry),
        { "expected_version", TARN_F_I64, true, &use->commit.expected_version, 0, INT64_MAX - 1, &use->expected_given },
        TARN_FIELDS_END,
    };

    tarn_code code = tarn_json_read(body, fields, err);
    if (code == TARN_OK)
        code = parse_words(use, plan, choose, err);
    use->runs = !is_dry;
    use->paths = paths;
    use->commit.has_expected = use->commit.must_check = true;
    return code == TARN_OK ? check_paths(use, err) : code;
}
