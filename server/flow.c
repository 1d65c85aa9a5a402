/* flow.c - each step ends by setting the next one and sending the task where that is done:
 * `pass_on` is the only place that knows which thread does what. */
#include "server/flow.h"
#include "lake/publish.h"
#include "server/poll.h"
#include "server/stream.h"
#include <stdlib.h>

static void pass_on(struct tarn_task *task);

static const struct tarn_use *use_of(const struct tarn_task *task) { return task->req.route->flow->use; }

/* --- steps that need no particular thread --- */

static tarn_code do_parse(struct tarn_task *task)
{
    const struct tarn_flow *flow = task->req.route->flow;
    task->use = calloc(1, flow->use->size);
    if (!task->use)
        return tarn_fail_oom(&task->err);
    tarn_code code = tarn_keyed_read(&task->req, &task->keyed, &task->err);
    return code == TARN_OK ? flow->parse(&task->req, task->use, &task->err) : code;
}

static bool is_keyed(const struct tarn_task *task) { return task->keyed.key[0] != '\0'; }

static enum tarn_step before_change(const struct tarn_task *task)
{
    const struct tarn_use *use = use_of(task);
    bool checks = use->check && (!use->needs_check || use->needs_check(task->req.app->lake, task->use));
    if (!checks)
        return TARN_STEP_CHANGE;
    return use->turn && task->turn.key == 0 ? TARN_STEP_TURN : TARN_STEP_CHECK;
}

static enum tarn_step after_change(const struct tarn_task *task)
{
    const struct tarn_use *use = use_of(task);
    bool more = use->after && (!use->needs_after || use->needs_after(task->use));
    return more ? TARN_STEP_AFTER : TARN_STEP_PUBLISH;
}

/* The same request beside this one may have come first: then its answer is this one's too. */
static enum tarn_step after_fault(const struct tarn_task *task)
{
    bool may_be_known = is_keyed(task) && task->code != TARN_COMMIT_STATE_UNKNOWN;
    return may_be_known ? TARN_STEP_KEY : TARN_STEP_ANSWER;
}

/* A refused change may have left something on storage. */
static enum tarn_step after_refusal(const struct tarn_task *task)
{
    return use_of(task)->withdraw ? TARN_STEP_WITHDRAW : after_fault(task);
}

/* Was it answered under its key? Asked before anything else, and after a refusal. */
static void look_by_key(struct tarn_task *task)
{
    TARN_ERR(fault);
    bool is_refused = task->code != TARN_OK, found = false;
    tarn_code code = tarn_keyed_replay(&task->req, &task->keyed, &task->reply, &found, &fault);

    task->step = is_refused || found || code != TARN_OK ? TARN_STEP_ANSWER : before_change(task);
    if (is_refused && !found)
        return;
    task->is_replayed = found;
    task->code = code;
    if (code != TARN_OK || is_refused) {
        tarn_err_done(&task->err);
        task->err = (struct tarn_err){ .code = TARN_OK };
        task->code = code == TARN_OK ? TARN_OK : tarn_err_move(&task->err, &fault);
    }
}

static tarn_code do_work(struct tarn_task *task)
{
    const struct tarn_route *route = task->req.route;
    tarn_handler_fn *handler = route->handle && !task->is_declined ? route->handle : route->work;
    if (task->tasks->polls)
        task->events_seen = tarn_store_events_clock(task->req.app->lake->store);
    tarn_reply_done(&task->reply); /* of an earlier look */
    tarn_code code = handler(&task->req, &task->reply, &task->err);
    task->is_declined = code == TARN_OK && handler == route->handle && route->work && task->reply.status == 0;
    /* The first piece before the status line: what fails at once is an honest error. */
    if (code == TARN_OK && task->reply.stream.produce)
        code = tarn_stream_fill(task);
    return code;
}

static tarn_code do_answer(struct tarn_task *task)
{
    return task->req.route->flow->answer(&task->req, task->use, &task->reply, &task->err);
}

/* Of many that waited for their turns until the drain was over,
 * the last would be checked when the process has to be gone. */
static tarn_code do_check(struct tarn_task *task)
{
    if (tarn_task_is_cut(task))
        return tarn_fail(&task->err, TARN_OVERLOADED, "the server stops");
    return use_of(task)->check(task->req.app->lake, task->use, &task->err);
}

/* One step, and which comes next. */
static void run_step(struct tarn_task *task)
{
    struct tarn_lake *lake = task->req.app->lake;
    enum tarn_step step = task->step, faulty = TARN_STEP_ANSWER;
    bool is_last = step == TARN_STEP_WORK || step == TARN_STEP_STREAM, waits = false;
    if (step == TARN_STEP_KEY) {
        look_by_key(task);
        return;
    }
    switch (step) {
    case TARN_STEP_BODY:
        task->code = tarn_route_body(&task->req, &task->err);
        task->step = task->req.route->flow ? TARN_STEP_PARSE : TARN_STEP_WORK;
        break;
    case TARN_STEP_PARSE:
        task->code = do_parse(task);
        if (task->code == TARN_OK)
            task->step = is_keyed(task) ? TARN_STEP_KEY : before_change(task);
        break;
    case TARN_STEP_WORK:
        task->code = do_work(task);
        waits = task->code == TARN_OK && task->reply.wait_ms > 0 && task->tasks->polls;
        break;
    case TARN_STEP_CHECK:
        task->code = do_check(task);
        task->step = TARN_STEP_CHANGE;
        if (task->code != TARN_OK && use_of(task)->withdraw)
            use_of(task)->withdraw(lake, task->use, task->code);
        faulty = after_fault(task);
        break;
    case TARN_STEP_WITHDRAW:
        use_of(task)->withdraw(lake, task->use, task->code);
        faulty = after_fault(task);
        break;
    case TARN_STEP_AFTER:
        task->code = use_of(task)->after(lake, task->use, &task->err);
        task->step = TARN_STEP_PUBLISH;
        break;
    case TARN_STEP_STREAM:
        task->code = tarn_stream_fill(task);
        break;
    case TARN_STEP_KEY:
    case TARN_STEP_TURN:
    case TARN_STEP_CHANGE:
    case TARN_STEP_PUBLISH:
    case TARN_STEP_PARK:
    case TARN_STEP_ANSWER:
        break;
    }
    if (task->is_declined && step == TARN_STEP_WORK)
        return;
    if (task->code != TARN_OK || is_last)
        task->step = waits ? TARN_STEP_PARK : faulty;
}

/* --- on a worker --- */

static struct tarn_pool *pool_of(const struct tarn_task *task)
{
    bool is_slow = task->step == TARN_STEP_CHECK && use_of(task)->is_slow && task->tasks->slow;
    return is_slow ? task->tasks->slow : task->tasks->pool;
}

static bool is_workers(enum tarn_step step)
{
    return step != TARN_STEP_TURN && step != TARN_STEP_CHANGE && step != TARN_STEP_PUBLISH &&
           step != TARN_STEP_PARK && step != TARN_STEP_ANSWER;
}

static void run_on_worker(void *ctx)
{
    struct tarn_task *task = ctx;
    const struct tarn_pool *here = pool_of(task);
    do
        run_step(task);
    while (is_workers(task->step) && pool_of(task) == here);
    pass_on(task);
}

/* --- on the writer --- */

static tarn_code change_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_task *task = ctx;
    tarn_code code = is_keyed(task) ? tarn_keyed_check(tx, &task->req, &task->keyed, err) : TARN_OK;
    if (code == TARN_OK)
        code = use_of(task)->change(tx, task->use, err);
    return code == TARN_OK && is_keyed(task) ? tarn_keyed_note(tx, &task->req, &task->keyed, task->use, err)
                                             : code;
}

static void changed(void *ctx, tarn_code code, struct tarn_err *err)
{
    struct tarn_task *task = ctx;
    task->code = TARN_OK;
    if (code == TARN_OK) {
        if (use_of(task)->settled)
            use_of(task)->settled(task->req.app->lake, task->use);
        task->step = after_change(task);
    } else if (code == TARN_RECHECK && task->rechecks < TARN_RECHECKS_MAX) {
        task->rechecks++;
        task->step = before_change(task);
    } else if (code == TARN_RECHECK) {
        task->code = tarn_fail(&task->err, TARN_OVERLOADED, "the table kept changing while this was checked");
        task->step = after_refusal(task);
    } else {
        task->code = tarn_err_move(&task->err, err);
        task->step = after_refusal(task);
    }
    pass_on(task);
}

/* --- on the publisher --- */

static void published(void *ctx, bool done)
{
    struct tarn_task *task = ctx;
    const struct tarn_use *use = use_of(task);
    if (use->published)
        use->published(task->use, done);
    bool more = use->publishes_more && use->publishes_more(task->use);
    task->step = more ? TARN_STEP_PUBLISH : TARN_STEP_ANSWER;
    pass_on(task);
}

static void send_to_publisher(struct tarn_task *task)
{
    const struct tarn_use *use = use_of(task);
    struct tarn_publisher *publisher = task->req.app->lake->publisher;
    int64_t table_id, version;
    if (!use->publishes || !use->publishes(task->use, &table_id, &version)) {
        task->step = TARN_STEP_ANSWER;
        pass_on(task);
    } else if (!publisher) {
        published(task, false);
    } else {
        tarn_publisher_wait(publisher, table_id, version, published, task);
    }
}

/* --- turns, and the end --- */

/* Back to the loop; whose turn it is then, NULL: nobody's. */
static struct tarn_task *land(struct tarn_task *task)
{
    struct tarn_turn *next = task->turn.key ? tarn_turns_end(&task->tasks->turns, &task->turn) : NULL;
    tarn_task_land(task);
    return next ? next->ctx : NULL;
}

/* When no worker can be had, everybody who waits for a turn hears of it, in one loop. */
static void send_to_worker(struct tarn_task *task)
{
    while (task) {
        TARN_ERR(full);
        if (tarn_pool_submit(pool_of(task), run_on_worker, task, &full) == TARN_OK)
            return;
        if (task->step != TARN_STEP_WITHDRAW) /* then the refusal stands, and a leftover with it */
            task->code = tarn_err_move(&task->err, &full);
        task->step = TARN_STEP_ANSWER;
        task = land(task);
    }
}

static void await_turn(struct tarn_task *task)
{
    task->step = TARN_STEP_CHECK;
    task->turn = (struct tarn_turn){ .key = use_of(task)->turn(task->use), .ctx = task };
    if (task->turn.key == 0 || tarn_turns_begin(&task->tasks->turns, &task->turn))
        send_to_worker(task);
}

static void pass_on(struct tarn_task *task)
{
    switch (task->step) {
    case TARN_STEP_CHANGE:
        tarn_store_submit(task->req.app->lake->store, change_tx, task, changed);
        break;
    case TARN_STEP_PUBLISH:
        send_to_publisher(task);
        break;
    case TARN_STEP_PARK:
        tarn_polls_park(task->tasks->polls, task);
        break;
    case TARN_STEP_TURN:
        await_turn(task);
        break;
    case TARN_STEP_ANSWER:
        send_to_worker(land(task));
        break;
    case TARN_STEP_BODY:
    case TARN_STEP_PARSE:
    case TARN_STEP_KEY:
    case TARN_STEP_WORK:
    case TARN_STEP_CHECK:
    case TARN_STEP_AFTER:
    case TARN_STEP_WITHDRAW:
    case TARN_STEP_STREAM:
        send_to_worker(task);
        break;
    }
}

/* --- on the loop --- */

static bool is_loops(const struct tarn_task *task)
{
    bool small = task->body.len <= TARN_INLINE_BODY_BYTES;
    switch (task->step) {
    case TARN_STEP_BODY:
    case TARN_STEP_PARSE:
        return small;
    case TARN_STEP_WORK:
        return task->req.route->handle && !task->is_declined && small;
    default:
        return false;
    }
}

bool tarn_flow_advance(struct tarn_task *task)
{
    while (is_loops(task))
        run_step(task);
    if (task->step != TARN_STEP_ANSWER)
        return false;
    if (task->code == TARN_OK && task->req.route->flow && !task->is_replayed)
        task->code = do_answer(task);
    return true;
}

void tarn_flow_launch(struct tarn_task *task) { pass_on(task); }
