/* test_store_kill.c - a process that commits from several threads is killed at any moment. Each commit that
 * it had acknowledged is there afterwards, whole and once. */
#include "catalog/sqlite/sqlite.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define ROUNDS  12

static struct tarn_store *open_at(const char *folder)
{
    struct tarn_sqlite_options options = { .path = tarn_path(folder, "catalog.db"), .migrate = true };
    struct tarn_store *store = NULL;
    TARN_ERR(err);
    cr_assert(eq(int, tarn_sqlite_open(&options, &store, &err), TARN_OK), "%s", err.detail);
    return store;
}

/* Fixed length, so that one write to the pipe is one acknowledgement. */
struct note {
    char transaction[24];
};
struct committer {
    pthread_t thread;
    struct tarn_store *store;
    int64_t table_id;
    int pipe, round, number;
};

static void *commit_for_ever(void *arg)
{
    struct committer *c = arg;
    for (int i = 0;; i++) {
        struct note note = { { 0 } };
        snprintf(note.transaction, sizeof note.transaction, "t-%d-%d-%d", c->round, c->number, i);
        struct fx_commit commit = { c->table_id, note.transaction, note.transaction, NULL, -1, 0 };
        if (tarn_store_write(c->store, fx_commit_tx, &commit, NULL) != TARN_OK ||
            write(c->pipe, &note, sizeof note) != (ssize_t)sizeof note)
            return NULL;
    }
}

static void child_main(const char *folder, int64_t table_id, int pipe, int round)
{
    static struct committer committers[THREADS];
    struct tarn_store *store = open_at(folder);
    for (int i = 0; i < THREADS; i++) {
        committers[i] = (struct committer){
            .store = store, .table_id = table_id, .pipe = pipe, .round = round, .number = i
        };
        (void)pthread_create(&committers[i].thread, NULL, commit_for_ever, &committers[i]);
    }
    pause();
}

static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct fx_commit *c = ctx;
    struct tarn_commit_row row = { 0 };
    TARN_TRY(tx->ops->commits.by_transaction(tx, c->table_id, c->transaction, &row, err));
    c->version = row.version;
    tarn_commit_row_done(&row);
    return TARN_OK;
}

static tarn_code count_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)file;
    (void)err;
    (*(int64_t *)ctx)++;
    return TARN_OK;
}
static tarn_code count_commit(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    (void)row;
    (void)err;
    (*(int64_t *)ctx)++;
    return TARN_OK;
}
struct count {
    int64_t table_id, files, commits;
};
static tarn_code count_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct count *c = ctx;
    TARN_TRY(tx->ops->files.page(tx, c->table_id, INT64_MAX, "", INT64_MAX, count_file, &c->files, err));
    return tx->ops->commits.list(tx, c->table_id, INT64_MAX, INT64_MAX, count_commit, &c->commits, err);
}

/* Kills the child after `acknowledged` commits; gives how many it told of, each looked up. */
static int kill_one(const char *folder, int64_t table_id, int round, int acknowledged)
{
    int ends[2];
    cr_assert(eq(int, pipe(ends), 0));
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        child_main(folder, table_id, ends[1], round);
        _exit(0);
    }
    close(ends[1]);
    static struct note notes[100000];
    int count = 0;
    while (count < (int)TARN_COUNT(notes) &&
           read(ends[0], &notes[count], sizeof notes[0]) == (ssize_t)sizeof notes[0]) {
        if (++count == acknowledged)
            kill(child, SIGKILL); /* what is in the pipe already is read on */
    }
    close(ends[0]);
    cr_assert(eq(int, waitpid(child, NULL, 0), child));

    TARN_AUTO(store) struct tarn_store *store = open_at(folder);
    for (int i = 0; i < count; i++) {
        struct fx_commit commit = { .table_id = table_id, .transaction = notes[i].transaction };
        fx_read(store, find_tx, &commit, TARN_OK);
    }
    return count;
}

Test(store_kill, what_was_acknowledged_survives_a_kill_at_any_moment, .timeout = 120)
{
    const char *folder = tarn_tmp();
    int64_t id = 0;
    {
        TARN_AUTO(store) struct tarn_store *store = open_at(folder);
        id = fx_make(store, "default", "orders");
    }
    int told = 0;
    for (int round = 0; round < ROUNDS; round++)
        told += kill_one(folder, id, round, 1 + round * 37 % 211);

    TARN_AUTO(store) struct tarn_store *store = open_at(folder);
    TARN_AUTO(table) struct tarn_table *table = fx_get(store, id);
    struct count c = { .table_id = id };
    fx_read(store, count_tx, &c, TARN_OK);
    cr_expect(ge(i64, table->version, told));
    cr_expect(eq(i64, c.commits, table->version)); /* no version without its record, none twice */
    cr_expect(eq(i64, c.files, table->version));
    cr_expect(eq(i64, table->file_count, table->version));
}
