/* task.h - one request that travels between threads. It belongs to exactly one of them at a
 * time: the loop, or, while its connection is suspended, whoever works on it ("in the air").
 * At the end of a drain the loop may take the connection back from a job that does not end;
 * the job then finds its task abandoned and only lets go of it. */
#ifndef TARN_SERVER_TASK_H
#define TARN_SERVER_TASK_H
#include "api/http.h"
#include "api/keyed.h"
#include "base/pool.h"
#include "server/turns.h"
#include <pthread.h>
#include <stdatomic.h>

struct tarn_task;

/* All requests of the server. */
struct tarn_tasks {
    struct tarn_pool *pool;  /* borrowed: the workers */
    struct tarn_pool *slow;  /* borrowed: those of slow checks; NULL: the workers do them too */
    struct tarn_polls *polls; /* borrowed: where who waits for events waits; NULL: nobody does */
    struct tarn_turns turns; /* of those that are about the same table */
    size_t air_max;          /* tasks in the air at most; above: TARN_OVERLOADED */
    pthread_mutex_t lock;
    pthread_cond_t quiet;    /* active or jobs became 0 while draining */
    pthread_cond_t departed; /* one that may be late went into the air */
    int64_t patience_ms;     /* after which it is; 0: never */
    struct tarn_task *first; /* in the air; guarded by lock */
    size_t air_count;        /* guarded by lock */
    size_t jobs;             /* in the air or abandoned; guarded by lock */
    atomic_size_t active;    /* requests between their headers and the end of their answer */
    atomic_bool draining;
};
void tarn_tasks_init(struct tarn_tasks *tasks, struct tarn_pool *pool, size_t air_max);
void tarn_tasks_done(struct tarn_tasks *tasks);
void tarn_tasks_begin(struct tarn_tasks *tasks); /* a request starts to be served */
void tarn_tasks_end(struct tarn_tasks *tasks);
/* Waits until none is active; false when `deadline` (tarn_monotonic_ms) came first. */
bool tarn_tasks_wait(struct tarn_tasks *tasks, int64_t deadline_ms);
/* Takes back every task in the air and resumes it; returns how many. */
size_t tarn_tasks_abandon(struct tarn_tasks *tasks);
/* The same for those that may be late and whose time is over; their answer is "later". */
void tarn_tasks_abandon_late(struct tarn_tasks *tasks, int64_t now_ms);
/* When the first of them is due, -1: there is none. With the lock held. */
int64_t tarn_tasks_next_late(const struct tarn_tasks *tasks);
/* Waits until no job holds a task, abandoned ones too: before workers, publisher and store go. */
void tarn_tasks_settle(struct tarn_tasks *tasks);

enum tarn_step {
    TARN_STEP_BODY,
    TARN_STEP_PARSE,
    TARN_STEP_KEY,
    TARN_STEP_WORK,
    TARN_STEP_TURN,
    TARN_STEP_CHECK,
    TARN_STEP_CHANGE,
    TARN_STEP_AFTER,
    TARN_STEP_WITHDRAW,
    TARN_STEP_PUBLISH,
    TARN_STEP_PARK,
    TARN_STEP_STREAM,
    TARN_STEP_ANSWER
};

struct tarn_task {
    struct tarn_tasks *tasks;                /* borrowed */
    void (*resume)(struct tarn_task *task);  /* any thread: the loop takes it from here */
    void (*dispose)(struct tarn_task *task); /* the last reference went; frees the task */
    struct tarn_request req;
    struct tarn_reply reply;
    struct tarn_err err;
    tarn_code code;          /* of the whole so far */
    enum tarn_step step;     /* what comes next */
    void *use;               /* owned: the struct of the flow's use case, or NULL */
    unsigned rechecks;
    struct tarn_turn turn;   /* its key is 0: it has none and needs none */
    struct tarn_keyed keyed;
    bool is_declined;        /* the inline handler left it to a worker */
    bool is_replayed;        /* answered as before, under its key */
    uint64_t events_seen;    /* the events' clock before the last look */
    int64_t waits_until_ms;  /* monotonic: for events, 0: it does not wait yet */
    struct tarn_buf body;    /* owned: what req.body points into */
    struct tarn_buf piece;   /* owned: produced and not yet sent bytes of a stream */
    size_t piece_sent;
    bool stream_end;
    bool lost;               /* abandoned: reply, err and use are not the loop's any more */
    bool late;               /* abandoned, because it takes long: it goes on */
    int64_t late_at_ms;      /* monotonic: when that is; 0: never */
    /* below: task.c alone */
    atomic_uint refs;
    atomic_int where;
    struct tarn_task *prev, *next;
};
void tarn_task_init(struct tarn_task *task, struct tarn_tasks *tasks);
void tarn_task_ref(struct tarn_task *task);
void tarn_task_unref(struct tarn_task *task);
/* Frees what the task owns, not the task: for `dispose`. */
void tarn_task_done(struct tarn_task *task);

/* Loop: about to hand the task over; its connection must be suspended
 * next, before the hand-over. TARN_OVERLOADED: too many are in the air
 * (an answer that is on its way always goes on); nothing was changed. */
TARN_MUST tarn_code tarn_task_depart(struct tarn_task *task, struct tarn_err *err);
/* Any thread: did the end of a drain take its connection back? What
 * it has not begun is then not begun. Of one that is late: no. */
bool tarn_task_is_cut(const struct tarn_task *task);
/* Any thread, once after each departure: back to the loop. */
void tarn_task_land(struct tarn_task *task);
#endif
