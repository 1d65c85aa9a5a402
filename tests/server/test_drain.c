/* The end of service: what runs is finished, what does not end is answered honestly, nothing aborts. */
#include "tests/support/doors.h"
#include "tests/support/hold.h"
#include "tests/support/support.h"
#include "tests/support/wire.h"
#include "base/time.h"
#include "server/drain.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct tarn_doors doors;
static struct tarn_wire wire;
static struct tarn_hold hold;
static pthread_t drainer;

static void set_up(void)
{
    tarn_doors_open(&doors, &(struct tarn_mhd_options){ 0 });
    tarn_wire_open(&wire, doors.listener.text);
}

/* Requests that change wait suspended behind it. */
static void hold_writer(void) { tarn_hold_begin(&hold, doors.lake.store); }

static void *drain(void *patience_ms)
{
    tarn_drain(doors.mhd, &doors.tasks, tarn_monotonic_ms() + *(int64_t *)patience_ms);
    return NULL;
}

static void post(struct tarn_wire *w, const char *target, const char *body)
{
    char text[1024];
    snprintf(text, sizeof text, "POST %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n"
             "Content-Length: %zu\r\n\r\n%s", target, doors.token, strlen(body), body);
    tarn_wire_sends(w, text);
}

static void ask_for_token(struct tarn_wire *w, const char *name)
{
    char body[64];
    snprintf(body, sizeof body, "{\"name\":\"%s\",\"scope\":\"admin\"}", name);
    post(w, "/api/tokens", body);
}

static void await_active(size_t count)
{
    int64_t until = tarn_monotonic_ms() + 10000;
    while (atomic_load(&doors.tasks.active) != count && tarn_monotonic_ms() < until)
        sched_yield();
    cr_assert(eq(sz, atomic_load(&doors.tasks.active), count));
}

static int status_of(struct tarn_wire *w, const char **connection)
{
    struct tarn_wire_answer answer;
    tarn_wire_answer(w, 0, &answer);
    *connection = tarn_wire_header(&answer, "Connection");
    tarn_wire_answer_done(&answer);
    return answer.status;
}

TestSuite(drain, .init = set_up);

Test(drain, a_suspended_request_gets_its_answer)
{
    static int64_t k_patience_ms = 10000;
    const char *connection;
    hold_writer();
    ask_for_token(&wire, "late");
    await_active(1);
    pthread_create(&drainer, NULL, drain, &k_patience_ms);
    while (!atomic_load(&doors.tasks.draining))
        sched_yield();
    tarn_hold_end(&hold);
    cr_expect(eq(int, status_of(&wire, &connection), 201));
    cr_expect(eq(str, (char *)connection, "close"));
    pthread_join(drainer, NULL);
    tarn_doors_close(&doors, 0);
}

Test(drain, a_request_that_does_not_end_is_told_that_its_outcome_is_unknown)
{
    static int64_t k_patience_ms = 50;
    struct tarn_wire more[8];
    const char *connection;
    hold_writer();
    for (size_t i = 0; i < TARN_COUNT(more); i++) {
        char name[16];
        snprintf(name, sizeof name, "t%zu", i);
        tarn_wire_open(&more[i], doors.listener.text);
        ask_for_token(&more[i], name);
    }
    await_active(TARN_COUNT(more));
    pthread_create(&drainer, NULL, drain, &k_patience_ms);
    for (size_t i = 0; i < TARN_COUNT(more); i++) {
        cr_expect(eq(int, status_of(&more[i], &connection), 500));
        tarn_wire_close(&more[i]);
    }
    pthread_join(drainer, NULL);
    tarn_mhd_free(doors.mhd); /* the connections are gone, the jobs are not */
    doors.mhd = NULL;
    tarn_hold_end(&hold);
    tarn_doors_close(&doors, 0); /* each job runs to its end and lets go of its task */
}

/* Whether something was decided nobody knows; a check decides nothing, wherever it was. */
Test(drain, what_is_cut_is_answered_in_the_form_of_its_face_and_a_check_is_asked_again)
{
    static const struct { const char *target, *body; int status; const char *says; } k_rows[] = {
        { "/api/tokens", "{\"name\":\"t\",\"scope\":\"admin\"}", 500, "\"code\":\"commit_state_unknown\"" },
        { "/iceberg/v1/namespaces", "{\"namespace\":[\"a\"]}", 500, "\"type\":\"CommitStateUnknownException\"" },
        { "/api/table/t/check", "", 503, "\"code\":\"overloaded\"" },
    };
    static int64_t k_patience_ms = 50;
    const char *root = tarn_path(doors.folder, "lake"), *connection;
    struct tarn_wire cut[TARN_COUNT(k_rows)];
    char body[512];

    cr_assert(eq(int, mkdir(root, 0755), 0));
    cr_assert(eq(int, (int)tarn_storage_new(&root, 1, &doors.lake.storage, NULL), (int)TARN_OK));
    snprintf(body, sizeof body, "{\"name\":\"t\",\"location\":\"%s/t\",\"publish\":false}", root);
    post(&wire, "/api/tables", body);
    cr_assert(eq(int, status_of(&wire, &connection), 201));
    hold_writer();
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        tarn_wire_open(&cut[i], doors.listener.text);
        post(&cut[i], k_rows[i].target, k_rows[i].body);
    }
    await_active(TARN_COUNT(k_rows));
    pthread_create(&drainer, NULL, drain, &k_patience_ms);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_wire_answer answer;
        tarn_wire_answer(&cut[i], 0, &answer);
        cr_expect(eq(int, answer.status, k_rows[i].status), "%s", k_rows[i].target);
        cr_expect(tarn_has(answer.body, k_rows[i].says), "%s", answer.body);
        tarn_wire_answer_done(&answer);
        tarn_wire_close(&cut[i]);
    }
    pthread_join(drainer, NULL);
    tarn_mhd_free(doors.mhd);
    doors.mhd = NULL;
    tarn_hold_end(&hold);
    tarn_doors_close(&doors, 0);
    tarn_storage_free(doors.lake.storage);
}

Test(drain, an_idle_connection_is_closed_and_a_new_one_refused)
{
    tarn_wire_sends(&wire, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    const char *connection;
    cr_expect(eq(int, status_of(&wire, &connection), 200));
    tarn_doors_close(&doors, 1000);
    cr_expect(tarn_wire_is_closed(&wire));
}

Test(drain, a_client_that_goes_away_while_its_request_runs_harms_nobody)
{
    const char *connection;
    hold_writer();
    for (int i = 0; i < 8; i++) {
        struct tarn_wire gone;
        char name[16];
        snprintf(name, sizeof name, "g%d", i);
        tarn_wire_open(&gone, doors.listener.text);
        ask_for_token(&gone, name);
        await_active((size_t)i + 1);
        tarn_wire_close(&gone);
    }
    tarn_hold_end(&hold);
    await_active(0);
    tarn_wire_sends(&wire, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    cr_expect(eq(int, status_of(&wire, &connection), 200));
    tarn_doors_close(&doors, 1000);
}
