/* test_publisher.c - the publisher's threads: who waits is told once, faults are tried again, a stop drains.
 */
#include "lake/publish.h"
#include "tests/support/managed.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mount.h>
#include <time.h>

static const struct tarn_publisher_options k_patient = { .wait_ms = 20000, .backlog_max = 1000 };
static const struct tarn_publisher_options k_hasty = { .wait_ms = 50, .backlog_max = 3 };

/* A wait that the test can await in turn. */
struct told {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int times;
    bool done;
};
#define TOLD                                                                                                 \
    {                                                                                                        \
        .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER                                  \
    }

static void tell(void *ctx, bool done)
{
    struct told *t = ctx;
    pthread_mutex_lock(&t->lock);
    t->times++;
    t->done = done;
    pthread_cond_signal(&t->cond);
    pthread_mutex_unlock(&t->lock);
}

/* At most a minute: then the test fails. */
static bool await(struct told *t)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    pthread_mutex_lock(&t->lock);
    int rc = 0;
    while (t->times == 0 && rc == 0)
        rc = pthread_cond_timedwait(&t->cond, &t->lock, &until);
    bool done = t->done;
    cr_assert(eq(int, t->times, 1));
    pthread_mutex_unlock(&t->lock);
    return done;
}

static struct tarn_publisher *start(struct managed *m, const struct tarn_publisher_options *options)
{
    struct tarn_publisher *p = NULL;
    TARN_ERR(err);
    cr_assert(eq(int, tarn_publisher_start(&m->lake, options, &p, &err), TARN_OK), "%s", err.detail);
    cr_assert(m->lake.publisher == p);
    return p;
}

static bool wait_for(struct tarn_publisher *p, int64_t id, int64_t version)
{
    struct told told = TOLD;
    tarn_publisher_wait(p, id, version, tell, &told);
    return await(&told);
}

Test(publisher, a_wait_ends_when_storage_shows_the_version)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    struct tarn_publisher *p = start(&m, &k_patient);
    cr_expect(wait_for(p, id, 0));
    cr_expect(tarn_file_exists(tarn_path(m.folder, "t/manifest.json")));
    managed_commit(&m, id, "a.parquet", NULL);
    cr_expect(wait_for(p, id, 1));
    cr_expect(wait_for(p, id, 1)); /* there already */
    cr_expect(eq(i64, managed_published(&m, id), 1));
    tarn_publisher_stop(p, 1000);
    cr_expect(m.lake.publisher == NULL);
}

/* The job of a wait is the one that also writes checkpoints. */
Test(publisher, checkpoints_are_written_before_a_commits_wait_ends)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    struct tarn_publisher *p = start(&m, &k_patient);
    cr_expect(wait_for(p, id, 0));
    managed_commit(&m, id, "a.parquet", NULL);
    managed_batch(&m, id, "b", TARN_BATCH_IS_COMPLETED, 1);
    cr_expect(wait_for(p, id, 1));
    cr_expect(tarn_file_exists(tarn_path(m.folder, "t/processed/b.json")));
    tarn_publisher_stop(p, 1000);
}

Test(publisher, leftovers_of_killed_writers_are_removed_once_they_are_old)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    static const char *const k_old[] = { "t/.tarn-1-2-3.tmp", "t/_transactions/.tarn-1-2-3.tmp" };
    for (size_t i = 0; i < TARN_COUNT(k_old); i++) {
        tarn_write_text(tarn_path(m.folder, k_old[i]), "x");
        tarn_set_mtime(tarn_path(m.folder, k_old[i]), MANAGED_T0);
    }
    tarn_write_text(tarn_path(m.folder, "t/.tarn-1-2-4.tmp"), "somebody writes it just now");
    struct tarn_publisher *p = start(&m, &k_patient);
    cr_expect(wait_for(p, id, 0));
    tarn_publisher_stop(p, 60000);
    for (size_t i = 0; i < TARN_COUNT(k_old); i++)
        cr_expect(not(tarn_file_exists(tarn_path(m.folder, k_old[i]))), "%s", k_old[i]);
    cr_expect(tarn_file_exists(tarn_path(m.folder, "t/.tarn-1-2-4.tmp")));
}

Test(publisher, checkpoints_left_by_a_crash_are_written_without_a_nudge)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    cr_assert(eq(int, tarn_publish_table(&m.lake, id, NULL), TARN_OK));
    managed_batch(&m, id, "b", TARN_BATCH_IS_FAILED, -1);
    tarn_publisher_stop(start(&m, &k_patient), 60000); /* a drain ends what the first sweep found */
    cr_expect(tarn_file_exists(tarn_path(m.folder, "t/processed/b.json")));
}

Test(publisher, what_is_behind_at_the_start_is_published_without_a_nudge)
{
    enum { TABLES = 30 };
    MANAGED(m);
    int64_t ids[TABLES];
    char name[16];
    for (int i = 0; i < TABLES; i++) {
        snprintf(name, sizeof name, "t%d", i);
        ids[i] = managed_table(&m, name);
        managed_commit(&m, ids[i], "a.parquet", NULL);
    }
    tarn_publisher_stop(start(&m, &k_patient), 60000); /* a stop publishes what is queued */
    for (int i = 0; i < TABLES; i++)
        cr_expect(eq(i64, managed_published(&m, ids[i]), 1));
}

Test(publisher, many_waits_on_many_tables_are_each_told_once)
{
    enum { TABLES = 5, COMMITS = 20 };
    MANAGED(m);
    static struct told told[TABLES][COMMITS];
    int64_t ids[TABLES];
    char name[16];
    struct tarn_publisher *p = start(&m, &k_patient);
    for (int t = 0; t < TABLES; t++) {
        snprintf(name, sizeof name, "t%d", t);
        ids[t] = managed_table(&m, name);
    }
    for (int c = 0; c < COMMITS; c++) {
        for (int t = 0; t < TABLES; t++) {
            char path[32];
            snprintf(path, sizeof path, "f%d.parquet", c);
            managed_commit(&m, ids[t], path, NULL);
            told[t][c] = (struct told)TOLD;
            tarn_publisher_wait(p, ids[t], c + 1, tell, &told[t][c]);
        }
    }
    for (int c = 0; c < COMMITS; c++)
        for (int t = 0; t < TABLES; t++)
            cr_expect(await(&told[t][c]));
    tarn_publisher_stop(p, 1000);
    for (int t = 0; t < TABLES; t++)
        for (int c = 0; c < COMMITS; c++)
            cr_expect(eq(int, told[t][c].times, 1));
}

Test(publisher, a_wait_on_a_blocked_or_unknown_table_ends_at_once_with_no)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    tarn_write_text(tarn_path(m.folder, "t/manifest.json"), "{\"version\":9,\"files\":[]}");
    struct tarn_publisher *p = start(&m, &k_patient);
    cr_expect(not(wait_for(p, id, 0)));
    cr_expect(not(wait_for(p, id, 0)));
    cr_expect(not(wait_for(p, id + 1, 1)));
    tarn_publisher_stop(p, 1000);
    TARN_AUTO(table) struct tarn_table *table = managed_row(&m, id);
    cr_expect(eq(int, table->block, TARN_BLOCK_FOREIGN_WRITE));
}

Test(publisher, a_wait_ends_in_time_when_storage_is_away_and_publication_comes_later)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    cr_assert(eq(int, tarn_publish_table(&m.lake, id, NULL), TARN_OK));
    managed_commit(&m, id, "a.parquet", NULL);
    cr_assert(eq(int, rename(tarn_path(m.folder, "t"), tarn_path(m.folder, "away")), 0));
    struct tarn_publisher *p = start(&m, &k_hasty);
    cr_expect(not(wait_for(p, id, 1)));
    cr_assert(eq(int, rename(tarn_path(m.folder, "away"), tarn_path(m.folder, "t")), 0));
    bool done = false;
    for (int i = 0; i < 200 && !done; i++) /* each wait is 50 ms at most */
        done = wait_for(p, id, 1);
    cr_expect(done);
    tarn_publisher_stop(p, 1000);
}

Test(publisher, a_stop_tells_who_still_waits)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    cr_assert(eq(int, tarn_publish_table(&m.lake, id, NULL), TARN_OK));
    cr_assert(eq(int, rename(tarn_path(m.folder, "t"), tarn_path(m.folder, "away")), 0));
    managed_commit(&m, id, "a.parquet", NULL);
    struct tarn_publisher *p = start(&m, &k_patient);
    struct told told = TOLD;
    tarn_publisher_wait(p, id, 1, tell, &told);
    tarn_publisher_stop(p, 0);
    cr_expect(eq(int, told.times, 1));
    cr_expect(not(told.done));
}

Test(publisher, a_full_disk_delays_publication_until_there_is_space)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    tarn_make_folder(tarn_path(m.folder, "t"));
    if (mount("none", tarn_path(m.folder, "t"), "tmpfs", 0, "size=64k") != 0)
        cr_skip_test("needs the right to mount a tmpfs");
    cr_assert(eq(int, tarn_publish_table(&m.lake, id, NULL), TARN_OK));
    managed_commit(&m, id, "a.parquet", NULL);
    FILE *ballast = fopen(tarn_path(m.folder, "t/ballast"), "w");
    for (int i = 0; i < 64 * 1024; i++)
        putc('x', ballast);
    (void)fclose(ballast);
    TARN_ERR(err);
    cr_expect(eq(int, tarn_publish_table(&m.lake, id, &err), TARN_INSUFFICIENT_STORAGE), "%s", err.detail);
    struct tarn_publisher *p = start(&m, &k_hasty);
    cr_expect(not(wait_for(p, id, 1)));
    tarn_remove_tree(tarn_path(m.folder, "t/ballast"));
    bool done = false;
    for (int i = 0; i < 200 && !done; i++)
        done = wait_for(p, id, 1);
    cr_expect(done);
    tarn_publisher_stop(p, 1000);
    umount2(tarn_path(m.folder, "t"), MNT_DETACH);
}

static struct tarn_object stat_manifest(const struct managed *m)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_object object = { 0 };
    cr_assert(eq(int, tarn_place_open_local(tarn_path(m->folder, "t"), &place, NULL), TARN_OK));
    cr_assert(eq(int, tarn_place_stat(place, "manifest.json", &object, NULL), TARN_OK));
    return object;
}

/* 0.3 ms a kilobyte: 2.3 MB are 0.7 s. The entry of the second commit does not wait for it. */
Test(publisher, a_long_manifest_is_written_less_often_but_at_once_when_the_server_stops)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    managed_commit_many(&m, id, 0, 60000);
    struct tarn_publisher *p = start(&m, &k_patient);
    cr_assert(wait_for(p, id, 1));
    struct tarn_object first = stat_manifest(&m);
    cr_assert(gt(i64, first.size, 2000000));
    managed_commit(&m, id, "a.parquet", NULL);
    cr_expect(wait_for(p, id, 2));
    struct tarn_object second = stat_manifest(&m);
    cr_expect(ge(i64, second.mtime_ms - first.mtime_ms,
                 first.size / 3333 - 10)); /* a tick of the file system's clock */

    managed_commit(&m, id, "b.parquet", NULL);
    tarn_publisher_nudge(p, id);
    tarn_publisher_stop(p, 60000);
    cr_expect(eq(i64, managed_published(&m, id), 3));
    struct tarn_object third = stat_manifest(&m);
    cr_expect(gt(i64, third.size, second.size));
}

Test(publisher, a_table_far_behind_is_overloaded)
{
    static const struct {
        int64_t version, published, oldest;
        bool overloaded;
    } k_rows[] = {
        { 0, -1, 0, false },    { 3, -1, 0, false },     { 4, -1, 0, true },     { 103, 100, 90, false },
        { 104, 100, 90, true }, { 500, -1, 498, false }, { 502, -1, 498, true },
    };
    MANAGED(m);
    struct tarn_publisher *p = start(&m, &k_hasty);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        const struct tarn_table table = { .version = k_rows[i].version,
                                          .published_version = k_rows[i].published,
                                          .oldest_version = k_rows[i].oldest };
        cr_expect(eq(int, tarn_publisher_overloaded(p, &table), k_rows[i].overloaded), "row %zu", i);
    }
    tarn_publisher_stop(p, 1000);
}
