/* writer.c - the one thread that writes. Whatever waits becomes one group: one transaction, a savepoint
 * each, one COMMIT, and only then the answers, refusals too, since they were judged beside neighbours that
 * were not yet durable. On a disk that takes two milliseconds to sync this is the difference between four
 * hundred commits a second and ten thousand.
 *
 * The thread waits for work and for nothing else. It also checkpoints (see connection.c), right after
 * answering. */
#include "catalog/sqlite/internal.h"
#include <stdatomic.h>
#include <time.h>

/* More would make the first of a group wait long for the last. */
#define GROUP_MAX 256
/* Pages of log that are worth a checkpoint: in any case, and when nobody came for a
 * while. A checkpoint costs two syncs and its pages, and the fewer there are the more
 * often a page was written again meanwhile. Clients that wait for an answer before they
 * ask again leave the queue empty for a moment after each group: that is no idleness. */
#define CHECKPOINT_BUSY_PAGES 16000
#define CHECKPOINT_IDLE_PAGES 1000
#define IDLE_MS               50

struct job {
    tarn_tx_fn *fn;
    void *ctx;
    tarn_done_fn *done;
};

struct outcome {
    tarn_code code;
    bool redo; /* to be run in a transaction of its own */
    struct tarn_err err;
};

struct tarn_sqlite_writer {
    struct tarn_sqlite_store *store;
    struct tarn_sqlite_conn *conn; /* the thread's own; NULL while it could not be reopened */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct job *waiting; /* under lock, as the three below */
    size_t waiting_count, waiting_max;
    bool closing;
    struct job *taken; /* the thread's: changes places with `waiting` */
    struct outcome outcome[GROUP_MAX];
    int log_pages;     /* in the write-ahead log after the last commit */
    int checkpoint_at; /* not before the log has this many: what is left is pinned by a reader */
    _Atomic int64_t groups[TARN_GROUP_SIZES], transactions;
};

static int note_log_pages(void *writer, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    struct tarn_sqlite_writer *w = writer;
    if (pages < w->log_pages)
        w->checkpoint_at = 0; /* the log began anew */
    w->log_pages = pages;
    return SQLITE_OK;
}

static bool in_transaction(const struct tarn_sqlite_conn *conn) { return !sqlite3_get_autocommit(conn->db); }

static void rollback(struct tarn_sqlite_conn *conn)
{
    if (in_transaction(conn))
        (void)tarn_sqlite_control(conn, TARN_SQLITE_ROLLBACK);
}

/* --- after a COMMIT whose outcome is not known --- */

/* The failed commit may lie whole in the log behind the last valid one, and a crash now would bring it
 * back. A small commit of our own over its place settles it: from here on it never happened, or (when the
 * log was recovered on opening) it always had. */
static tarn_code settle(struct tarn_sqlite_conn *conn, struct tarn_err *err)
{
    int rc = tarn_sqlite_control(conn, TARN_SQLITE_BEGIN_WRITE);
    if (rc == SQLITE_OK)
        rc = tarn_sqlite_control(conn, TARN_SQLITE_SETTLE);
    if (rc == SQLITE_OK)
        rc = tarn_sqlite_control(conn, TARN_SQLITE_COMMIT);
    if (rc == SQLITE_OK)
        return TARN_OK;
    rollback(conn);
    return tarn_sqlite_fail(conn, rc, err);
}

static tarn_code reopen(struct tarn_sqlite_writer *w, struct tarn_err *err)
{
    tarn_sqlite_conn_free(w->conn);
    w->conn = NULL;
    __attribute__((cleanup(tarn_sqlite_conn_freep))) struct tarn_sqlite_conn *conn = NULL;
    tarn_code code = tarn_sqlite_conn_open(w->store, true, &conn, err);
    if (code == TARN_OK)
        code = tarn_sqlite_conn_prepare(conn, err);
    if (code == TARN_OK)
        code = settle(conn, err);
    if (code != TARN_OK)
        return code;
    (void)sqlite3_wal_hook(conn->db, note_log_pages, w);
    w->conn = tarn_take(&conn);
    return TARN_OK;
}

/* --- one transaction for each --- */

/* No space, a lock: SQLite knows that nothing was committed. After anything else the log may hold the commit.
 */
static bool is_known_undone(int rc)
{
    int primary = rc & 0xff;
    return primary == SQLITE_FULL || primary == SQLITE_BUSY || primary == SQLITE_CONSTRAINT;
}

static tarn_code unknown(struct tarn_err *err, int rc)
{
    return tarn_fail(err, TARN_COMMIT_STATE_UNKNOWN, "the commit may or may not have happened (sqlite %d)",
                     rc);
}

static void run_alone(struct tarn_sqlite_writer *w, const struct job *job, struct outcome *o)
{
    tarn_err_done(&o->err);
    o->err = (struct tarn_err){ 0 };
    o->code = w->conn ? TARN_OK : reopen(w, &o->err);
    if (o->code != TARN_OK)
        return;
    int rc = tarn_sqlite_control(w->conn, TARN_SQLITE_BEGIN_WRITE);
    if (rc != SQLITE_OK) {
        o->code = tarn_sqlite_fail(w->conn, rc, &o->err);
        return;
    }
    int64_t commits = w->store->head.commits_pending;
    o->code = job->fn(&w->conn->tx, job->ctx, &o->err);
    if (o->code == TARN_OK && !in_transaction(w->conn))
        o->code = tarn_fail(&o->err, TARN_INTERNAL, "the transaction was lost");
    if (o->code != TARN_OK) {
        w->store->head.commits_pending = commits;
        rollback(w->conn);
        return;
    }
    rc = tarn_sqlite_control(w->conn, TARN_SQLITE_COMMIT);
    if (rc == SQLITE_OK)
        return;
    w->store->head.commits_pending = commits;
    rollback(w->conn);
    bool undone = is_known_undone(rc);
    o->code = undone ? tarn_sqlite_fail(w->conn, rc, &o->err) : unknown(&o->err, rc);
    if (!undone)
        (void)reopen(w, NULL); /* tried again before the next transaction */
}

/* --- one transaction for all --- */

/* One function between its savepoint and its release. False: SQLite dropped the whole transaction. */
static bool run_member(struct tarn_sqlite_writer *w, const struct job *job, struct outcome *o)
{
    struct tarn_sqlite_conn *conn = w->conn;
    if (tarn_sqlite_control(conn, TARN_SQLITE_SAVEPOINT) != SQLITE_OK)
        return false;
    int64_t commits = w->store->head.commits_pending;
    o->code = job->fn(&conn->tx, job->ctx, &o->err);
    if (!in_transaction(conn))
        return false;
    if (o->code != TARN_OK)
        w->store->head.commits_pending = commits;
    if (o->code != TARN_OK && tarn_sqlite_control(conn, TARN_SQLITE_UNDO) != SQLITE_OK)
        return false;
    return tarn_sqlite_control(conn, TARN_SQLITE_RELEASE) == SQLITE_OK && in_transaction(conn);
}

/* Marks what must run again: all when the transaction is known to be gone, the refused ones when the others'
 * fate is not known. */
static void end_badly(struct tarn_sqlite_writer *w, size_t count, int rc)
{
    rollback(w->conn);
    w->store->head.commits_pending = 0;
    bool undone = rc == SQLITE_OK || is_known_undone(rc);
    for (size_t i = 0; i < count; i++) {
        struct outcome *o = &w->outcome[i];
        o->redo = undone || o->code != TARN_OK;
        if (!o->redo)
            o->code = unknown(&o->err, rc);
    }
    if (!undone)
        (void)reopen(w, NULL);
}

/* Nothing was run: one wait for the lock is enough for all. */
static void refuse_all(struct tarn_sqlite_writer *w, size_t count, int rc)
{
    for (size_t i = 0; i < count; i++)
        w->outcome[i].code = tarn_sqlite_fail(w->conn, rc, &w->outcome[i].err);
}

static void run_together(struct tarn_sqlite_writer *w, const struct job *jobs, size_t count)
{
    int rc = tarn_sqlite_control(w->conn, TARN_SQLITE_BEGIN_WRITE);
    if (rc != SQLITE_OK) {
        refuse_all(w, count, rc);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!run_member(w, &jobs[i], &w->outcome[i])) {
            end_badly(w, count, SQLITE_OK);
            return;
        }
    }
    rc = tarn_sqlite_control(w->conn, TARN_SQLITE_COMMIT);
    if (rc != SQLITE_OK)
        end_badly(w, count, rc);
}

/* 0 for one transaction, 1 for two, 2 for up to four, ... */
static size_t size_class(size_t count)
{
    size_t at = 0;
    while (at + 1 < TARN_GROUP_SIZES && ((size_t)1 << at) < count)
        at++;
    return at;
}
_Static_assert(GROUP_MAX <= 1 << (TARN_GROUP_SIZES - 1), "the largest group has a class");

static void run_group(struct tarn_sqlite_writer *w, const struct job *jobs, size_t count)
{
    bool together = count > 1 && w->conn;
    for (size_t i = 0; i < count; i++)
        w->outcome[i] = (struct outcome){ .code = TARN_OK, .redo = !together };
    if (together)
        run_together(w, jobs, count);
    for (size_t i = 0; i < count; i++) {
        if (w->outcome[i].redo)
            run_alone(w, &jobs[i], &w->outcome[i]);
    }
    if (w->conn && w->conn->sick)
        (void)reopen(w, NULL);
    tarn_changes_tell(&w->store->head);
    atomic_fetch_add_explicit(&w->groups[size_class(count)], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->transactions, (int64_t)count, memory_order_relaxed);
    for (size_t i = 0; i < count; i++) {
        jobs[i].done(jobs[i].ctx, w->outcome[i].code, &w->outcome[i].err);
        tarn_err_done(&w->outcome[i].err);
    }
}

/* --- the thread --- */

static bool is_log_worth_copying(const struct tarn_sqlite_writer *w, int pages)
{
    return w->conn && w->log_pages >= pages && w->log_pages >= w->checkpoint_at;
}

/* PASSIVE copies what no reader pins and waits for nobody. A fault here loses nothing: it is tried again. */
static void checkpoint(struct tarn_sqlite_writer *w)
{
    int in_log = 0, copied = 0;
    int rc = sqlite3_wal_checkpoint_v2(w->conn->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log, &copied);
    bool whole = rc == SQLITE_OK && in_log == copied;
    w->checkpoint_at = whole ? 0 : w->log_pages + CHECKPOINT_IDLE_PAGES;
    if (whole)
        w->log_pages = 0; /* the next commit starts the log anew, and tells */
}

/* Under the lock: true when nothing came within IDLE_MS. */
static bool is_idle(struct tarn_sqlite_writer *w)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += IDLE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    int rc = 0;
    while (w->waiting_count == 0 && !w->closing && rc == 0)
        rc = pthread_cond_timedwait(&w->work, &w->lock, &until);
    return w->waiting_count == 0 && !w->closing;
}

/* Under the lock: waits for work, or, when the log is long, for the quiet to copy it. */
static void wait_for_work(struct tarn_sqlite_writer *w)
{
    if (!is_log_worth_copying(w, CHECKPOINT_IDLE_PAGES)) {
        pthread_cond_wait(&w->work, &w->lock);
    } else if (is_idle(w)) {
        pthread_mutex_unlock(&w->lock);
        checkpoint(w);
        pthread_mutex_lock(&w->lock);
    }
}

/* Waits for work and takes all of it; 0: closing and nothing is left. */
static size_t take_work(struct tarn_sqlite_writer *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->waiting_count == 0 && !w->closing)
        wait_for_work(w);
    struct job *jobs = w->waiting;
    size_t count = w->waiting_count;
    w->waiting = w->taken;
    w->waiting_count = 0;
    w->taken = jobs;
    pthread_mutex_unlock(&w->lock);
    return count;
}

static void *writer_main(void *arg)
{
    struct tarn_sqlite_writer *w = arg;
    for (size_t count = take_work(w); count > 0; count = take_work(w)) {
        for (size_t at = 0; at < count; at += GROUP_MAX) {
            run_group(w, w->taken + at, count - at < GROUP_MAX ? count - at : GROUP_MAX);
            if (is_log_worth_copying(w, CHECKPOINT_BUSY_PAGES))
                checkpoint(w);
        }
    }
    return NULL;
}

tarn_code tarn_sqlite_writer_new(struct tarn_sqlite_store *store, struct tarn_sqlite_conn *conn,
                                 size_t queue_max, struct tarn_err *err)
{
    struct tarn_sqlite_writer *w = calloc(1, sizeof *w);
    if (!w) {
        tarn_sqlite_conn_free(conn);
        return tarn_fail_oom(err);
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->work, &attr);
    pthread_condattr_destroy(&attr);
    w->store = store;
    w->conn = conn;
    w->waiting_max = queue_max;
    w->waiting = calloc(queue_max, sizeof *w->waiting);
    w->taken = calloc(queue_max, sizeof *w->taken);
    (void)sqlite3_wal_hook(conn->db, note_log_pages, w);
    tarn_code code = w->waiting && w->taken ? TARN_OK : tarn_fail_oom(err);
    if (code == TARN_OK && pthread_create(&w->thread, NULL, writer_main, w) != 0)
        code = tarn_fail(err, TARN_INTERNAL, "the writer's thread cannot start");
    if (code == TARN_OK)
        store->writer = w;
    else
        tarn_sqlite_writer_free(w);
    return code;
}

void tarn_sqlite_writer_stop(struct tarn_sqlite_writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_signal(&w->work);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
}

void tarn_sqlite_writer_free(struct tarn_sqlite_writer *w)
{
    if (!w)
        return;
    tarn_sqlite_conn_free(w->conn);
    pthread_cond_destroy(&w->work);
    pthread_mutex_destroy(&w->lock);
    free(w->waiting);
    free(w->taken);
    free(w);
}

void tarn_sqlite_submit(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, tarn_done_fn *done)
{
    struct tarn_sqlite_writer *w = tarn_sqlite_store_of(store)->writer;
    pthread_mutex_lock(&w->lock);
    bool closing = w->closing, full = w->waiting_count == w->waiting_max;
    if (!closing && !full) {
        w->waiting[w->waiting_count++] = (struct job){ fn, ctx, done };
        if (w->waiting_count == 1)
            pthread_cond_signal(&w->work);
    }
    pthread_mutex_unlock(&w->lock);
    if (!closing && !full)
        return;

    TARN_ERR(err);
    tarn_code code =
        tarn_fail(&err, TARN_OVERLOADED, closing ? "the store is closing" : "too many transactions wait");
    done(ctx, code, &err);
}

void tarn_sqlite_writer_meters(struct tarn_sqlite_writer *w, struct tarn_store_meters *out)
{
    pthread_mutex_lock(&w->lock);
    out->waiting = (int64_t)w->waiting_count;
    pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < TARN_GROUP_SIZES; i++)
        out->groups[i] = atomic_load_explicit(&w->groups[i], memory_order_relaxed);
    out->transactions = atomic_load_explicit(&w->transactions, memory_order_relaxed);
}
