/* A sweep that starts from what the one before left finds what one finds that starts from nothing: random changes to a table,
 * both sweeps after each. Files that are changed in place are for full sweeps alone, so none is here. */
#include "tests/monitors/changed.h"
#include <stdlib.h>
#include <unistd.h>

TestSuite(incremental, .timeout = 300);

enum { FOLDERS = 24, FILES = 60 };

static void write_manifest(void)
{
    struct tarn_buf text = { 0 };

    tarn_buf_addf(&text, "{\"version\":%d,\"last_updated\":%lld,\"files\":[", t.version, (long long)(t.now_ms / 1000));
    for (int i = 0; i < t.count; i++)
        for (int k = 0; k < t.files[i].is_listed + (t.files[i].is_listed && t.files[i].is_double); k++)
            tarn_buf_addf(&text, "{\"path\":\"%s\",\"size\":%zu},", t.files[i].path, t.files[i].told_size);
    if (text.data[text.len - 1] == ',')
        text.len--;
    tarn_buf_adds(&text, "]}");
    tarn_write_file(in_table("manifest.new"), text.data, text.len);
    cr_assert(eq(int, rename(in_table("manifest.new"), in_table("manifest.json")), 0));
    tarn_buf_done(&text);
}

/* An entry of the next version that adds and removes one file each (-1: none). */
static void write_next(int added, int removed)
{
    char name[64], text[512], add[160] = "", gone[160] = "";

    t.version++;
    if (added >= 0)
        snprintf(add, sizeof add, "{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}", t.files[added].path, t.files[added].size);
    if (removed >= 0)
        snprintf(gone, sizeof gone, "%s{\"type\":\"remove_file\",\"path\":\"%s\"}", added >= 0 ? "," : "", t.files[removed].path);
    snprintf(name, sizeof name, "_transactions/txn-%d.json", t.version);
    snprintf(text, sizeof text, "{\"id\":\"txn-%d\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"operations\":[%s%s]}", t.version, add, gone);
    tarn_write_text(in_table(name), text);
    tarn_set_mtime(in_table(name), t.now_ms - HOUR);
    snprintf(text, sizeof text, "txn-%d\n", t.version);
    tarn_write_text(in_table("pointer.new"), text);
    cr_assert(eq(int, rename(in_table("pointer.new"), in_table("last_committed_txn")), 0));
}

static const char *any_folder(void)
{
    static char name[32];
    unsigned n = any(FOLDERS + 4);

    snprintf(name, sizeof name, n == 0 ? "" : "d=%u/h=%u", n % 6, n);
    return name;
}

/* --- what may happen --- */

static int64_t any_age(void)
{
    static const int64_t k_ages[] = { 5 * HOUR, 2 * HOUR, HOUR, 60000, -3 * HOUR };
    return k_ages[any(20) == 0 ? 4 : any(4)];
}

static const char *const k_columns[] = { "1; req i64 id", "2; req i64 id; opt f64 extra", "1; req i32 id" };
static const char *any_columns(void) { return k_columns[any(10) == 0 ? 1 + any(2) : 0]; }

static void commit_add(void)
{
    int i = add_file(any_folder(), any_columns(), t.now_ms - any_age());
    t.files[i].is_listed = true;
    write_next(i, -1);
    write_manifest();
}

static void commit_remove(void)
{
    int i = any_listed();
    if (i < 0)
        return;
    t.files[i].is_listed = false;
    write_next(-1, i);
    write_manifest();
    if (any(2))
        unlink(in_table(t.files[i].path));
}

static void compact(void)
{
    int gone = any_listed(), i = add_file(any_folder(), k_columns[0], t.now_ms - HOUR);
    t.files[i].is_listed = true;
    if (gone >= 0)
        t.files[gone].is_listed = false;
    write_next(i, gone);
    write_manifest();
}

static void compact_many(void)
{
    for (int k = 0; k < 40; k++) {
        int i = any_listed();
        t.files[i].is_listed = false;
        unlink(in_table(t.files[i].path));
        write_next(-1, i);
    }
    write_manifest();
}

static void lie_unregistered(void) { add_file(any_folder(), any_columns(), t.now_ms - any_age()); }

/* By another file of the same name, beside it first: its folder may have gone. */
static const char *beside(int i)
{
    char name[96];

    snprintf(name, sizeof name, "%s.new", t.files[i].path);
    return in_table(name);
}

static void replace_file(void)
{
    int i = any_listed();
    if (i < 0)
        return;
    t.files[i].size = write_parquet(beside(i), any(2) ? "2; req i64 id; opt f64 more" : k_columns[0], t.now_ms - any_age());
    cr_assert(eq(int, rename(beside(i), in_table(t.files[i].path)), 0));
}

static void corrupt_file(void)
{
    int i = any_listed();
    if (i < 0)
        return;
    tarn_write_text(beside(i), "PAR1PAR1 no footer at all");
    tarn_set_mtime(beside(i), t.now_ms - HOUR);
    cr_assert(eq(int, rename(beside(i), in_table(t.files[i].path)), 0));
}

static void tell_size(void)
{
    int i = any_listed();
    if (i >= 0)
        t.files[i].told_size += any(3);
    write_manifest();
}

static void list_twice(void)
{
    int i = any_listed();
    if (i >= 0)
        t.files[i].is_double = !t.files[i].is_double;
    write_manifest();
}

static void forget_listed(void)
{
    int i = any_listed();
    if (i >= 0)
        t.files[i].is_listed = false; /* an update is lost: the log added it */
    write_manifest();
}

static void list_again(void)
{
    int i = (int)any((unsigned)t.count);
    t.files[i].is_listed = true;
    write_manifest();
}

static void leave_things(void) { leave_in(any_folder(), any_age); }

static void link_something(void)
{
    char name[16];
    const char *folder = any_folder();

    snprintf(name, sizeof name, "link%u", any(3));
    const char *path = in_table(in_folder(folder, name));
    if (unlink(path) != 0)
        tarn_make_link(path, "nowhere");
}

static void lose_folder(void)
{
    char name[32];

    snprintf(name, sizeof name, any(2) ? "d=%u/h=%u" : "d=%u", any(6), any(FOLDERS));
    if (any(4) == 0 && tarn_file_exists(in_table(name)))
        tarn_remove_tree(in_table(name));
}

static void move_folder(void)
{
    char from[32], to[32];

    snprintf(from, sizeof from, "d=%u", any(6));
    snprintf(to, sizeof to, "moved=%u", any(3));
    if (rename(in_table(from), in_table(to)) != 0)
        (void)!rename(in_table(to), in_table(from));
}

static void lose_entry(void)
{
    char name[64];

    snprintf(name, sizeof name, "_transactions/txn-%u.json", 1 + any((unsigned)t.version));
    if (any(3) == 0)
        unlink(in_table(name));
}

static void change_schema(void)
{
    tarn_write_text(in_table("schema.new"), any(2)
        ? "{\"current_version\":2,\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false},"
          "{\"name\":\"extra\",\"type\":\"double\",\"nullable\":true}]},\"versions\":[{\"version\":1,\"schema\":{\"type\":\"struct\",\"fields\":"
          "[{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false}]}}]}"
        : "{\"current_version\":1,\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false}]},\"versions\":[]}");
    cr_assert(eq(int, rename(in_table("schema.new"), in_table("schema.json")), 0));
}

static const struct change k_changes[] = {
    { "commit_add", commit_add, 8 },       { "commit_remove", commit_remove, 6 }, { "compact", compact, 4 },
    { "compact_many", compact_many, 1 },   { "lie_unregistered", lie_unregistered, 5 }, { "lose_file", lose_file, 4 },
    { "replace_file", replace_file, 3 },   { "corrupt_file", corrupt_file, 2 },   { "tell_size", tell_size, 2 },
    { "list_twice", list_twice, 2 },       { "forget_listed", forget_listed, 2 }, { "list_again", list_again, 3 },
    { "leave_things", leave_things, 5 },   { "link_something", link_something, 2 }, { "lose_folder", lose_folder, 2 },
    { "move_folder", move_folder, 2 },     { "lose_entry", lose_entry, 2 },       { "change_schema", change_schema, 1 },
    { "time_passes", time_passes, 3 },     { "nothing", nothing, 4 },
};

/* --- both sweeps --- */

static struct tarn_facts look(struct tarn_recall *recall, bool is_sweep)
{
    const struct tarn_facts_options options = { .now_ms = t.now_ms, .sweep = is_sweep, .unregistered_grace_ms = 900000,
                                                .leftover_grace_ms = 60000, .unexpected_grace_ms = 900000, .recall = recall,
                                                .full_every_ms = INT64_MAX, .settled_ms = SETTLED_MS,
                                                .footers_most = t.seed_given % 2 ? 100 : 0 };
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_facts facts;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_place_open_local(t.folder, &place, &err), TARN_OK));
    cr_assert(eq(int, tarn_facts_gather(place, TARN_FORMAT_MANIFEST, &options, &facts, &err), TARN_OK), "%s", err.detail);
    return facts;
}

static void make_table(unsigned seed)
{
    char folder[32];

    begin_table(seed);
    snprintf(t.folder, sizeof t.folder, "%s/t%u", tarn_tmp(), seed);
    for (int d = 0; d < FOLDERS; d++)
        for (int f = 0; f < FILES; f++) {
            snprintf(folder, sizeof folder, "d=%d/h=%d", d % 6, d);
            t.files[add_file(folder, k_columns[0], t.now_ms - 4 * HOUR - d * 1000 - f)].is_listed = true;
        }
    change_schema();
    write_next(0, -1);
    write_manifest();
}

Test(incremental, finds_what_a_sweep_from_nothing_finds)
{
    const char *given = getenv("TARN_PROPERTY_SEED");
    unsigned first = given ? (unsigned)strtoul(given, NULL, 10) : 1;

    for (unsigned seed = first; seed < first + (given ? 1u : 2u); seed++) {
        make_table(seed);
        expect_no_difference(look, k_changes, TARN_COUNT(k_changes), given ? 200 : 40, given != NULL);
    }
}
