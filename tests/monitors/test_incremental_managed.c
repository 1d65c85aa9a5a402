/* Of a managed table too a sweep that starts from what the one before left finds what one finds that starts from nothing: random
 * commits, rollbacks, expired history and faults, both sweeps after each. */
#include "formats/recall.h"
#include "lake/expire.h"
#include "lake/publish.h"
#include "monitors/gather.h"
#include "tests/monitors/table.h"
#include "tests/monitors/told.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <time.h>
#include <unistd.h>

TestSuite(incremental_managed, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 300);

#define HOUR INT64_C(3600000)
#define COLUMNS "1; req i64 id"
enum { FOLDERS = 20, FILES = 60, FILES_MAX = 6000, SETTLED_MS = 15 };

struct file { char path[64]; bool is_live; size_t size; };
static struct table {
    char folder[600];
    struct file files[FILES_MAX];
    int count, version, names;
    int64_t now_ms;
    unsigned seed;
    const char *op; /* the last change */
} t;

static unsigned any(unsigned below)
{
    t.seed = t.seed * 1664525u + 1013904223u;
    return (t.seed >> 8) % below;
}

static const char *in_table(const char *name) { return tarn_path(t.folder, name); }

static void settle(void)
{
    const struct timespec pause = { 0, (SETTLED_MS + 10) * 1000000L };

    nanosleep(&pause, NULL);
}

static int add_file(const char *folder, int64_t mtime_ms)
{
    struct file *file = &t.files[t.count];

    cr_assert(lt(int, t.count, FILES_MAX));
    snprintf(file->path, sizeof file->path, "%s%sf%05d.parquet", folder, folder[0] ? "/" : "", t.names++);
    file->size = write_parquet(in_table(file->path), COLUMNS, mtime_ms);
    file->is_live = false;
    return t.count++;
}

static const char *any_folder(void)
{
    static char name[32];
    unsigned n = any(FOLDERS + 3);

    snprintf(name, sizeof name, n == 0 ? "" : "d=%u/h=%u", n % 5, n);
    return name;
}

static int any_live(void)
{
    for (int tries = 0; tries < 1000; tries++) {
        int i = (int)any((unsigned)t.count);
        if (t.files[i].is_live)
            return i;
    }
    return -1;
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
        t.files[i].is_live = false;
    json_array_foreach(json_object_get(tarn_answer(), "files"), index, file) {
        const char *path = json_string_value(json_object_get(file, "path"));
        const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        for (int i = 0; i < t.count; i++) {
            const char *own = strrchr(t.files[i].path, '/') ? strrchr(t.files[i].path, '/') + 1 : t.files[i].path;
            t.files[i].is_live |= strcmp(own, name) == 0;
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
        t.files[added].is_live = true;
    if (removed >= 0)
        t.files[removed].is_live = false;
    if (any(4))
        publish();
}

static void commit_add(void) { commit(add_file(any_folder(), t.now_ms - HOUR * (1 + any(4))), -1); }
static void commit_late(void)
{
    int i = (int)any((unsigned)t.count);
    if (!t.files[i].is_live)
        commit(i, -1);
}
static void commit_remove(void)
{
    int i = any_live();
    if (i < 0)
        return;
    commit(-1, i);
    if (any(2) && !t.files[i].is_live)
        unlink(in_table(t.files[i].path));
}
static void compact(void)
{
    int gone = any_live();
    commit(add_file(any_folder(), t.now_ms - HOUR), gone);
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
static void lie_unregistered(void) { add_file(any_folder(), t.now_ms - (any(2) ? HOUR : 60000)); }
static void lose_file(void)
{
    int i = any_live();
    if (i >= 0)
        unlink(in_table(t.files[i].path));
}
static void lose_any(void) { unlink(in_table(t.files[any((unsigned)t.count)].path)); }
static void replace_file(void)
{
    char name[96];
    int i = any_live();
    if (i < 0)
        return;
    snprintf(name, sizeof name, "%s.new", t.files[i].path);
    write_parquet(in_table(name), any(2) ? "2; req i64 id; opt f64 more" : COLUMNS, t.now_ms - HOUR);
    cr_assert(eq(int, rename(in_table(name), in_table(t.files[i].path)), 0));
}
static void leave_things(void)
{
    static const char *const k_names[] = { "part.parquet.tmp", ".hidden.parquet", "table.csv", "_SUCCESS", "empty.parquet" };
    char name[96];
    const char *folder = any_folder();
    unsigned which = any(5);

    snprintf(name, sizeof name, "%s%s%s", folder, folder[0] ? "/" : "", k_names[which]);
    if (any(3) == 0) {
        unlink(in_table(name));
        return;
    }
    tarn_write_text(in_table(name), which == 4 ? "" : "x");
    tarn_set_mtime(in_table(name), t.now_ms - HOUR);
}
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
static void time_passes(void) { t.now_ms += 20 * 60000; }
static void nothing(void) {}

static const struct { const char *name; void (*run)(void); unsigned weight; } k_ops[] = {
    { "commit_add", commit_add, 8 },   { "commit_late", commit_late, 4 }, { "commit_remove", commit_remove, 6 },
    { "compact", compact, 4 },         { "roll_back", roll_back, 2 },     { "expire", expire, 2 },
    { "lie_unregistered", lie_unregistered, 4 }, { "lose_file", lose_file, 3 }, { "lose_any", lose_any, 3 },
    { "replace_file", replace_file, 2 }, { "leave_things", leave_things, 4 }, { "write_foreign", write_foreign, 1 },
    { "lose_entry", lose_entry, 2 },   { "lose_folder", lose_folder, 1 }, { "add_schema", add_schema, 1 },
    { "publish", publish, 2 },         { "time_passes", time_passes, 3 }, { "nothing", nothing, 4 },
};

static void change_something(void)
{
    unsigned all = 0, at;

    for (size_t i = 0; i < TARN_COUNT(k_ops); i++)
        all += k_ops[i].weight;
    at = any(all);
    for (size_t i = 0; i < TARN_COUNT(k_ops); i++) {
        if (at < k_ops[i].weight) {
            t.op = k_ops[i].name;
            k_ops[i].run();
            return;
        }
        at -= k_ops[i].weight;
    }
}

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

    memset(&t, 0, sizeof t);
    t.seed = seed;
    t.op = "nothing";
    t.now_ms = tarn_now_ms();
    snprintf(t.folder, sizeof t.folder, "%s/t", g_lake->root);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s\",\"schema\":{\"type\":\"struct\",\"fields\":"
                                "[{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false}]}}", t.folder), 201), "%s", tarn_answer_text());
    for (int d = 0; d < FOLDERS; d++)
        for (int f = 0; f < FILES; f++) {
            snprintf(folder, sizeof folder, "d=%d/h=%d", d % 5, d);
            int i = add_file(folder, t.now_ms - 4 * HOUR - d * 1000 - f);
            t.files[i].is_live = true;
            tarn_buf_addf(&ops, "%s{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}", i ? "," : "", t.files[i].path, t.files[i].size);
        }
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"expected_version\":0,\"operations\":[%s]}", ops.data), 201),
              "%s", tarn_answer_text());
    t.version = 1;
    tarn_buf_done(&ops);
    publish();
}

static void expect_same(struct tarn_recall *recall, int64_t *of_full, int64_t *of_quick, int step)
{
    struct tarn_facts full = look(NULL, true), quick = look(recall, true);
    TARN_AUTO(mem) char *expected = told_by(&full, t.now_ms);
    TARN_AUTO(mem) char *found = told_by(&quick, t.now_ms);

    cr_assert(eq(str, found, expected), "step %d after %s", step, t.op);
    *of_full += full.folders_read;
    *of_quick += quick.folders_read;
    tarn_facts_done(&full);
    tarn_facts_done(&quick);
}

static void expect_probe(struct tarn_recall *recall, int step)
{
    struct tarn_facts full = look(NULL, true), probe = look(recall, false);

    cr_assert(eq(str, (char *)probe_contradicts(&probe, &full, t.now_ms), ""), "step %d after %s", step, t.op);
    cr_assert(eq(i64, probe.file_count, full.file_count));
    tarn_facts_done(&full);
    tarn_facts_done(&probe);
}

Test(incremental_managed, finds_what_a_sweep_from_nothing_finds)
{
    const char *given = getenv("TARN_PROPERTY_SEED");
    struct tarn_recall recall = { 0 };
    int64_t of_full = 0, of_quick = 0;

    g_lake->lake.history_versions = 5;
    make_table(given ? (unsigned)strtoul(given, NULL, 10) : 1);
    for (int step = 0; step < (given ? 200 : 60); step++) {
        settle();
        if (any(3) == 0)
            expect_probe(&recall, step);
        expect_same(&recall, &of_full, &of_quick, step);
        for (unsigned k = 0; k < 1 + any(3); k++)
            change_something();
    }
    tarn_recall_done(&recall);
    cr_expect(given || 2 * of_quick < of_full, "%lld of %lld folders were read", (long long)of_quick, (long long)of_full);
}
