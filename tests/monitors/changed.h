/* changed.h - one table of Parquet files that is changed at random, and after each change two looks at it: what a sweep finds that
 * starts from what the one before left, and what one finds that starts from nothing. */
#ifndef TARN_TESTS_MONITORS_CHANGED_H
#define TARN_TESTS_MONITORS_CHANGED_H
#include "base/time.h"
#include "formats/recall.h"
#include "tests/monitors/table.h"
#include "tests/monitors/told.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HOUR INT64_C(3600000)
enum { FILES_MAX = 6000, SETTLED_MS = 15 };

/* The table as its writer sees it. */
struct file { char path[64]; bool is_listed, is_double; size_t size, told_size; };
static struct table {
    char folder[600];
    struct file files[FILES_MAX];
    int count, version, names;
    int64_t now_ms;
    unsigned seed, seed_given;
    const char *op; /* the last change */
} t;

static inline void begin_table(unsigned seed)
{
    memset(&t, 0, sizeof t);
    t.seed = t.seed_given = seed;
    t.op = "nothing";
    t.now_ms = tarn_now_ms();
}

static inline unsigned any(unsigned below)
{
    t.seed = t.seed * 1664525u + 1013904223u;
    return (t.seed >> 8) % below;
}

static inline const char *in_table(const char *name) { return tarn_path(t.folder, name); }

/* "folder/name", or the name alone in the table's own folder. */
static inline const char *in_folder(const char *folder, const char *name)
{
    static char path[96];

    snprintf(path, sizeof path, "%s%s%s", folder, folder[0] ? "/" : "", name);
    return path;
}

/* Folders that changed lately are not known by their state: long enough for them to be. */
static inline void settle(void)
{
    const struct timespec pause = { 0, (SETTLED_MS + 10) * 1000000L };

    nanosleep(&pause, NULL);
}

/* A new name each time: data files are never changed in place. */
static inline int add_file(const char *folder, const char *columns, int64_t mtime_ms)
{
    struct file *file = &t.files[t.count];
    char name[32];

    cr_assert(lt(int, t.count, FILES_MAX));
    snprintf(name, sizeof name, "f%05d.parquet", t.names++);
    snprintf(file->path, sizeof file->path, "%s", in_folder(folder, name));
    file->size = file->told_size = write_parquet(in_table(file->path), columns, mtime_ms);
    file->is_listed = file->is_double = false;
    return t.count++;
}

static inline int any_listed(void)
{
    for (int tries = 0; tries < 1000; tries++) {
        int i = (int)any((unsigned)t.count);
        if (t.files[i].is_listed)
            return i;
    }
    return -1;
}

/* --- changes that need no commit --- */

static inline void lose_file(void)
{
    int i = any_listed();
    if (i >= 0)
        unlink(in_table(t.files[i].path));
}

/* Of the writers' leftovers one comes or goes. */
static inline void leave_in(const char *folder, int64_t (*any_age)(void))
{
    static const char *const k_names[] = { "part.parquet.tmp", ".hidden.parquet", "table.csv", "_SUCCESS", "empty.parquet" };
    unsigned which = any(TARN_COUNT(k_names));
    const char *path = in_table(in_folder(folder, k_names[which]));

    if (any(3) == 0) {
        unlink(path);
        return;
    }
    tarn_write_text(path, which == 4 ? "" : "x");
    tarn_set_mtime(path, t.now_ms - any_age());
}

static inline void time_passes(void) { t.now_ms += 20 * 60000; }
static inline void nothing(void) {}

struct change { const char *name; void (*run)(void); unsigned weight; };

static inline void change_something(const struct change *changes, size_t count)
{
    unsigned all = 0;
    size_t i = 0;

    for (size_t k = 0; k < count; k++)
        all += changes[k].weight;
    for (unsigned at = any(all); at >= changes[i].weight; i++)
        at -= changes[i].weight;
    t.op = changes[i].name;
    changes[i].run();
}

/* --- two looks --- */

typedef struct tarn_facts look_fn(struct tarn_recall *recall, bool is_sweep);

static inline void expect_same(look_fn *look, struct tarn_recall *recall, int64_t *of_full, int64_t *of_quick, int step)
{
    struct tarn_facts full = look(NULL, true), quick = look(recall, true);
    TARN_AUTO(mem) char *expected = told_by(&full, t.now_ms);
    TARN_AUTO(mem) char *found = told_by(&quick, t.now_ms);

    cr_assert(eq(str, found, expected), "seed %u step %d after %s", t.seed_given, step, t.op);
    *of_full += full.folders_read;
    *of_quick += quick.folders_read;
    tarn_facts_done(&full);
    tarn_facts_done(&quick);
}

static inline void expect_probe(look_fn *look, struct tarn_recall *recall, int step)
{
    struct tarn_facts full = look(NULL, true), probe = look(recall, false);

    cr_assert(eq(str, (char *)probe_contradicts(&probe, &full, t.now_ms), ""), "seed %u step %d after %s", t.seed_given, step, t.op);
    cr_assert(eq(i64, probe.file_count, full.file_count), "seed %u step %d after %s", t.seed_given, step, t.op);
    tarn_facts_done(&full);
    tarn_facts_done(&probe);
}

/* So many steps, each some changes. Of a long run it is not asked that the quick sweeps read less: much is in doubt by then. */
static inline void expect_no_difference(look_fn *look, const struct change *changes, size_t count, int steps, bool is_long)
{
    struct tarn_recall recall = { 0 };
    int64_t of_full = 0, of_quick = 0;

    for (int step = 0; step < steps; step++) {
        settle();
        if (any(3) == 0)
            expect_probe(look, &recall, step);
        expect_same(look, &recall, &of_full, &of_quick, step);
        for (unsigned k = 0; k < 1 + any(3); k++)
            change_something(changes, count);
    }
    tarn_recall_done(&recall);
    cr_expect(is_long || 2 * of_quick < of_full, "%lld of %lld folders were read", (long long)of_quick, (long long)of_full);
}
#endif
