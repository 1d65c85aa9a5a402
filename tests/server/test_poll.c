/* Clients that wait for events: woken by them, sent home when their time is over or the server drains, bounded. */
#include "base/time.h"
#include "server/drain.h"
#include "tests/support/doors.h"
#include "tests/support/wire.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static struct tarn_doors doors;
static struct tarn_wire wire;

static void set_up(void)
{
    tarn_doors_open(&doors, &(struct tarn_mhd_options){ .timeout_s = 1 });
    tarn_wire_open(&wire, doors.listener.text);
}
TestSuite(poll, .init = set_up, .timeout = 60);

static void ask(struct tarn_wire *w, const char *query)
{
    char text[512];
    snprintf(text, sizeof text, "GET /api/events?%s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n", query,
             doors.token);
    tarn_wire_sends(w, text);
}

static void await_waiting(size_t count)
{
    int64_t until = tarn_monotonic_ms() + 10000;
    while (tarn_polls_count(doors.polls) != count && tarn_monotonic_ms() < until)
        sched_yield();
    cr_assert(eq(sz, tarn_polls_count(doors.polls), count));
}

static tarn_code event_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_event event = { .type = "table.committed", .table_id = 1, .namespace_ = "default", .name = "t",
                                      .at = 1000, .data = "{\"version\":1}" };
    (void)ctx;
    return tx->ops->events.add(tx, &event, err);
}

static void happen(void)
{
    TARN_ERR(err);
    cr_assert(eq(int, tarn_store_write(doors.lake.store, event_tx, NULL, &err), TARN_OK));
}

static void expect_answer(struct tarn_wire *w, int status, const char *part)
{
    struct tarn_wire_answer answer;
    tarn_wire_answer(w, 0, &answer);
    cr_expect(answer.status == status && answer.body && strstr(answer.body, part) != NULL, "%d %s", answer.status,
              answer.body ? answer.body : "");
    tarn_wire_answer_done(&answer);
}

#define EVENT "{\"sequence\":1,\"type\":\"table.committed\",\"table\":\"t\",\"at\":\"1970-01-01T00:00:01Z\",\"version\":1}"

Test(poll, an_event_wakes_who_waits)
{
    ask(&wire, "wait=30");
    await_waiting(1);
    happen();
    expect_answer(&wire, 200, "{\"events\":[" EVENT "],\"next\":1}");
    ask(&wire, "wait=30"); /* what is there is told at once */
    expect_answer(&wire, 200, EVENT);
    ask(&wire, "wait=30&after=1"); /* on the same connection */
    await_waiting(1);
    happen();
    expect_answer(&wire, 200, "\"next\":2}");
    tarn_wire_close(&wire);
    tarn_doors_close(&doors, 10000);
}

/* Longer than the limit for silent connections. */
Test(poll, without_events_the_answer_is_empty_when_its_time_is_over)
{
    int64_t began = tarn_monotonic_ms();
    ask(&wire, "wait=2");
    expect_answer(&wire, 200, "{\"events\":[],\"next\":0}");
    cr_expect(tarn_monotonic_ms() - began >= 1990);
    cr_expect(tarn_monotonic_ms() - began < 10000);
    ask(&wire, "");
    expect_answer(&wire, 200, "{\"events\":[],\"next\":0}");
    tarn_wire_close(&wire);
    tarn_doors_close(&doors, 10000);
}

Test(poll, no_more_than_the_list_holds_wait_and_the_rest_of_the_server_goes_on)
{
    struct tarn_wire more[3];
    for (size_t i = 0; i < 3; i++) {
        tarn_wire_open(&more[i], doors.listener.text);
        ask(&more[i], "wait=30");
        await_waiting(i + 1);
    }
    ask(&wire, "wait=30");
    expect_answer(&wire, 503, "overloaded");
    ask(&wire, "limit=1");
    expect_answer(&wire, 200, "{\"events\":[],\"next\":0}");
    happen();
    for (size_t i = 0; i < 3; i++) {
        expect_answer(&more[i], 200, EVENT);
        tarn_wire_close(&more[i]);
    }
    tarn_wire_close(&wire);
    tarn_doors_close(&doors, 10000);
}

Test(poll, a_drain_answers_who_waits_at_once)
{
    ask(&wire, "wait=30");
    await_waiting(1);
    int64_t began = tarn_monotonic_ms();
    tarn_drain(doors.mhd, &doors.tasks, began + 20000);
    cr_expect(tarn_monotonic_ms() - began < 5000);
    expect_answer(&wire, 200, "{\"events\":[],\"next\":0}");
    tarn_wire_close(&wire);
    tarn_doors_close(&doors, 10000);
}

/* The client went meanwhile: nothing is left of it. */
Test(poll, who_hangs_up_is_forgotten)
{
    ask(&wire, "wait=1");
    await_waiting(1);
    tarn_wire_close(&wire);
    await_waiting(0);
    tarn_doors_close(&doors, 10000);
}
