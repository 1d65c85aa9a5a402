/* Of a managed table too a sweep that starts from what the one before left finds what one finds that starts from nothing: random
 * commits, rollbacks, expired history and faults, both sweeps after each. */
#include "lake/expire.h"
#include "lake/publish.h"
#include "monitors/gather.h"
#include "tests/monitors/changed.h"
#include "tests/support/lake.h"
#include <stdlib.h>
#include <unistd.h>

TestSuite(incremental_managed, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 300);

#define COLUMNS "1; req i64 id"
enum { FOLDERS = 20, FILES = 60 };

static const char *any_folder(void)
{
    static char name[32];
    unsigned n = any(FOLDERS + 3);

    snprintf(name, sizeof name, n == 0 ? "" : "d=%u/h=%u", n % 5, n);
    return name;
}

/* What the catalog says afterwards: a rollback brings files back and takes others. */
static void learn(void)
{
    static char known[FILES_MAX];
    size_t index;
    json_t *file;

    memset(known, 0, sizeof known);
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    t.version = (int)tarn_answer_i64("version");
    for (int i = 0; i < t.count; i++)
        t.files[i].is_listed = false;
    json_array_foreach(json_object_get(tarn_answer(), "files"), index, file) {
        const char *path = json_string_value(json_object_get(file, "path"));
        const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        for (int i = 0; i < t.count; i++) {
            const char *own = strrchr(t.files[i].path, '/') ? strrchr(t.files[i].path, '/') + 1 : t.files[i].path;
            t.files[i].is_listed |= strcmp(own, name) == 0;
        }
    }
}

static void publish(void)
{
    TARN_ERR(err);

    (void)!tarn_publish_table(&g_lake->lake, 1, &err);
}

/* --- what may happen --- */

static void commit(int added, int removed)
{
    char add[200] = "", gone[200] = "";

    if (added >= 0)
        snprintf(add, sizeof add, "{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}", t.files[added].path, t.files[added].size);
    if (removed >= 0)
        snprintf(gone, sizeof gone, "%s{\"type\":\"remove_file\",\"path\":\"%s\"}", added >= 0 ? "," : "", t.files[removed].path);
    unsigned status = tarn_ask("POST", "/api/table/t/commits", "{\"expected_version\":%d,\"operations\":[%s%s]}", t.version, add, gone);
    if (status != 201)
        return;
    t.version++;
    if (added >= 0)
        t.files[added].is_listed = true;
    if (removed >= 0)
        t.files[removed].is_listed = false;
    if (any(4))
        publish();
}

static void commit_add(void) { commit(add_file(any_folder(), COLUMNS, t.now_ms - HOUR * (1 + any(4))), -1); }
static void commit_late(void)
{
    int i = (int)any((unsigned)t.count);
    if (!t.files[i].is_listed)
        commit(i, -1);
}
static void commit_remove(void)
{
    int i = any_listed();
    if (i < 0)
        return;
    commit(-1, i);
    if (any(2) && !t.files[i].is_listed)
        unlink(in_table(t.files[i].path));
}
static void compact(void)
{
    int gone = any_listed();
    commit(add_file(any_folder(), COLUMNS, t.now_ms - HOUR), gone);
}
static void roll_back(void)
{
    if (any(2) || t.version < 3)
        return;
    (void)tarn_ask("POST", "/api/table/t/rollback", "{\"expected_version\":%d,\"to_version\":%d}", t.version, t.version - 1 - (int)any(2));
    learn();
    publish();
}
static void expire(void)
{
    TARN_ERR(err);

    if (any(3) == 0)
        (void)!tarn_expire_table(&g_lake->lake, 1, t.now_ms + 100 * 24 * HOUR, &err);
}
static void lie_unregistered(void) { add_file(any_folder(), COLUMNS, t.now_ms - (any(2) ? HOUR : 60000)); }
static void lose_any(void) { unlink(in_table(t.files[any((unsigned)t.count)].path)); }
static void replace_file(void)
{
    char name[96];
    int i = any_listed();
    if (i < 0)
        return;
    snprintf(name, sizeof name, "%s.new", t.files[i].path);
    write_parquet(in_table(name), any(2) ? "2; req i64 id; opt f64 more" : COLUMNS, t.now_ms - HOUR);
    cr_assert(eq(int, rename(in_table(name), in_table(t.files[i].path)), 0));
}
static int64_t an_hour(void) { return HOUR; }
static void leave_things(void) { leave_in(any_folder(), an_hour); }
static void write_foreign(void)
{
    char name[64];

    if (any(3))
        return;
    snprintf(name, sizeof name, "_transactions/other-%u.json", any(5));
    tarn_write_text(in_table("entry.new"), "{\"id\":\"other\",\"operations\":[]}");
    tarn_set_mtime(in_table("entry.new"), t.now_ms - HOUR);
    cr_assert(eq(int, rename(in_table("entry.new"), in_table(name)), 0));
}
static void lose_entry(void)
{
    char name[64];

    snprintf(name, sizeof name, "_transactions/txn-%u.json", 1 + any((unsigned)t.version + 1));
    if (any(3) == 0)
        unlink(in_table(name));
}
static void lose_folder(void)
{
    char name[32];

    snprintf(name, sizeof name, "d=%u/h=%u", any(5), any(FOLDERS));
    if (any(3) == 0 && tarn_file_exists(in_table(name)))
        tarn_remove_tree(in_table(name));
}
static void add_schema(void)
{
    if (any(2) == 0)
        (void)tarn_ask("POST", "/api/table/t/schemas", "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"int64\","
                       "\"nullable\":false},{\"name\":\"more%u\",\"type\":\"double\",\"nullable\":true}]},\"compatibility\":\"none\"}", any(3));
    publish();
}
static const struct change k_changes[] = {
    { "commit_add", commit_add, 8 },   { "commit_late", commit_late, 4 }, { "commit_remove", commit_remove, 6 },
    { "compact", compact, 4 },         { "roll_back", roll_back, 2 },     { "expire", expire, 2 },
    { "lie_unregistered", lie_unregistered, 4 }, { "lose_file", lose_file, 3 }, { "lose_any", lose_any, 3 },
    { "replace_file", replace_file, 2 }, { "leave_things", leave_things, 4 }, { "write_foreign", write_foreign, 1 },
    { "lose_entry", lose_entry, 2 },   { "lose_folder", lose_folder, 1 }, { "add_schema", add_schema, 1 },
    { "publish", publish, 2 },         { "time_passes", time_passes, 3 }, { "nothing", nothing, 4 },
};

/* --- both sweeps --- */

static tarn_code table_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tables.get_by_id(tx, 1, ctx, err);
}

static struct tarn_facts look(struct tarn_recall *recall, bool is_sweep)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    struct tarn_settings settings;
    struct tarn_facts facts;
    TARN_ERR(err);

    tarn_settings_resolve(NULL, NULL, &settings);
    tarn_facts_init(&facts);
    cr_assert(eq(int, tarn_store_read(g_lake->store, table_tx, &table, &err), TARN_OK));
    const struct tarn_gather_ask ask = { .table = table, .settings = &settings, .now_ms = t.now_ms, .sweep = is_sweep,
                                         .full_interval_ms = INT64_MAX, .recall = recall, .settled_ms = SETTLED_MS };
    cr_assert(eq(int, tarn_scan_gather(&g_lake->lake, &ask, &facts, &err), TARN_OK), "%s", err.detail);
    return facts;
}

static void make_table(unsigned seed)
{
    struct tarn_buf ops = { 0 };
    char folder[32];

    begin_table(seed);
    snprintf(t.folder, sizeof t.folder, "%s/t", g_lake->root);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s\",\"schema\":{\"type\":\"struct\",\"fields\":"
                                "[{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false}]}}", t.folder), 201), "%s", tarn_answer_text());
    for (int d = 0; d < FOLDERS; d++)
        for (int f = 0; f < FILES; f++) {
            snprintf(folder, sizeof folder, "d=%d/h=%d", d % 5, d);
            int i = add_file(folder, COLUMNS, t.now_ms - 4 * HOUR - d * 1000 - f);
            t.files[i].is_listed = true;
            tarn_buf_addf(&ops, "%s{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}", i ? "," : "", t.files[i].path, t.files[i].size);
        }
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"expected_version\":0,\"operations\":[%s]}", ops.data), 201),
              "%s", tarn_answer_text());
    t.version = 1;
    tarn_buf_done(&ops);
    publish();
}

Test(incremental_managed, finds_what_a_sweep_from_nothing_finds)
{
    const char *given = getenv("TARN_PROPERTY_SEED");

    g_lake->lake.history_versions = 5;
    make_table(given ? (unsigned)strtoul(given, NULL, 10) : 1);
    expect_no_difference(look, k_changes, TARN_COUNT(k_changes), given ? 200 : 60, given != NULL);
}
