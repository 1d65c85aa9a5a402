/* A check that takes long: the client gets 202 and where to ask, the scan goes on and stores its verdict. */
#include "base/time.h"
#include "server/late.h"
#include "tests/support/doors.h"
#include "tests/support/hold.h"
#include "tests/support/support.h"
#include "tests/support/wire.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static struct tarn_doors doors;
static struct tarn_wire wire;
static struct tarn_late *late;
static struct tarn_hold hold;

static void ask(struct tarn_wire *w, const char *method, const char *target, const char *body)
{
    char text[1024];

    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n%s",
             method, target, doors.token, strlen(body), body);
    tarn_wire_sends(w, text);
}

static void expect(struct tarn_wire *w, int status, const char *location, const char *in_body)
{
    struct tarn_wire_answer answer;

    tarn_wire_answer(w, 0, &answer);
    cr_expect(answer.status == status, "%d, not %d: %s", answer.status, status, answer.body);
    cr_expect(eq(str, (char *)tarn_wire_header(&answer, "Location"), (char *)location));
    cr_expect(strstr(answer.body, in_body) != NULL, "%s", answer.body);
    tarn_wire_answer_done(&answer);
}

static void set_up(void)
{
    char body[512];
    TARN_ERR(err);

    tarn_doors_open(&doors, &(struct tarn_mhd_options){ 0 });
    const char *roots[] = { doors.folder };
    cr_assert(tarn_storage_new(roots, 1, &doors.lake.storage, &err) == TARN_OK);
    tarn_make_folder(tarn_path(doors.folder, "t"));
    tarn_wire_open(&wire, doors.listener.text);
    snprintf(body, sizeof body, "{\"name\":\"a.t\",\"location\":\"%s/t\",\"mode\":\"observed\"}", doors.folder);
    ask(&wire, "POST", "/api/tables", body);
    expect(&wire, 201, "/api/table/a.t", "a.t");
}

static void tear_down(void)
{
    tarn_late_stop(late);
    tarn_doors_close(&doors, 1000);
    tarn_storage_free(doors.lake.storage);
}
TestSuite(late, .init = set_up, .fini = tear_down, .timeout = 60);

static void be_patient_for(int64_t ms)
{
    TARN_ERR(err);

    cr_assert(tarn_late_start(&doors.tasks, ms, &late, &err) == TARN_OK);
}

static void hold_writer(void) { tarn_hold_begin(&hold, doors.lake.store); }

Test(late, a_check_that_takes_long_is_told_where_to_ask_and_goes_on)
{
    be_patient_for(200);
    hold_writer();
    ask(&wire, "POST", "/api/table/a.t/check?depth=sweep", "");
    expect(&wire, 202, "/api/table/a.t/status", "{\"progress\":\"/api/table/a.t/status\"}");
    ask(&wire, "GET", "/api/table/a.t/status", "");
    expect(&wire, 200, "", "\"checked_at\":null");
    tarn_hold_end(&hold);
    int64_t until = tarn_monotonic_ms() + 10000;
    for (bool done = false; !done && tarn_monotonic_ms() < until;) {
        struct tarn_wire_answer answer;
        ask(&wire, "GET", "/api/table/a.t/status", "");
        tarn_wire_answer(&wire, 0, &answer);
        done = strstr(answer.body, "\"checked_at\":null") == NULL;
        tarn_wire_answer_done(&answer);
    }
    ask(&wire, "GET", "/api/table/a.t/status", "");
    expect(&wire, 200, "", "no_table_found");
}

Test(late, one_that_ends_in_time_answers_the_status)
{
    be_patient_for(20000);
    ask(&wire, "POST", "/api/table/a.t/check", "");
    expect(&wire, 200, "", "no_table_found");
}

Test(late, many_at_once_each_get_their_answer)
{
    struct tarn_wire more[16];

    be_patient_for(100);
    hold_writer();
    for (size_t i = 0; i < TARN_COUNT(more); i++) {
        tarn_wire_open(&more[i], doors.listener.text);
        ask(&more[i], "POST", "/api/table/a.t/check", "");
    }
    for (size_t i = 0; i < TARN_COUNT(more); i++)
        expect(&more[i], 202, "/api/table/a.t/status", "progress");
    tarn_hold_end(&hold);
    for (size_t i = 0; i < TARN_COUNT(more); i++) {
        ask(&more[i], "GET", "/healthz", "");
        expect(&more[i], 200, "", "");
        tarn_wire_close(&more[i]);
    }
}

Test(late, a_change_is_waited_for)
{
    be_patient_for(50);
    hold_writer();
    ask(&wire, "POST", "/api/tokens", "{\"name\":\"x\",\"scope\":\"admin\"}");
    struct tarn_wire other;
    tarn_wire_open(&other, doors.listener.text);
    ask(&other, "POST", "/api/table/a.t/check", "");
    expect(&other, 202, "/api/table/a.t/status", "progress"); /* by now the token would be late too */
    tarn_hold_end(&hold);
    expect(&wire, 201, "", "token");
    tarn_wire_close(&other);
}

Test(late, a_client_that_went_away_harms_nobody)
{
    struct tarn_wire gone;

    be_patient_for(100);
    hold_writer();
    tarn_wire_open(&gone, doors.listener.text);
    ask(&gone, "POST", "/api/table/a.t/check", "");
    ask(&wire, "POST", "/api/table/a.t/check", "");
    tarn_wire_close(&gone);
    expect(&wire, 202, "/api/table/a.t/status", "progress");
    tarn_hold_end(&hold);
    ask(&wire, "GET", "/healthz", "");
    expect(&wire, 200, "", "");
}
