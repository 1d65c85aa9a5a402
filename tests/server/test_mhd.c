/* What goes over the wire: framing, limits, refusals that the client can still read. */
#include "tests/support/doors.h"
#include "tests/support/wire.h"
#include "server/visit.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tarn_doors doors;
static struct tarn_wire wire;

static void open_with(const struct tarn_mhd_options *options)
{
    tarn_doors_open(&doors, options);
    tarn_wire_open(&wire, doors.listener.text);
}
static void set_up(void) { open_with(&(struct tarn_mhd_options){ 0 }); }
static void tear_down(void)
{
    tarn_wire_close(&wire);
    tarn_doors_close(&doors, 5000);
}

/* Method, target, further header lines, body (NULL: none). */
static void ask(const char *method, const char *target, const char *headers, const char *body)
{
    char head[4096];
    snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s", method, target,
             doors.token, headers);
    tarn_wire_sends(&wire, head);
    if (body) {
        snprintf(head, sizeof head, "Content-Length: %zu\r\n", strlen(body));
        tarn_wire_sends(&wire, head);
    }
    tarn_wire_sends(&wire, "\r\n");
    tarn_wire_sends(&wire, body ? body : "");
}

/* The next answer has this status and, where it refuses, this problem code. */
static void expect(int status, const char *code)
{
    struct tarn_wire_answer answer;
    tarn_wire_answer(&wire, 0, &answer);
    cr_expect(eq(int, answer.status, status), "%s%s", answer.head, answer.body);
    if (code) {
        json_auto_t *problem = json_loads(answer.body, 0, NULL);
        const char *got = json_string_value(json_object_get(problem, "code"));
        cr_expect(eq(str, (char *)(got ? got : "no problem document"), (char *)code), "%s", answer.body);
        cr_expect(eq(str, (char *)tarn_wire_header(&answer, "Content-Type"), "application/problem+json"));
    }
    cr_expect(ne(str, (char *)tarn_wire_header(&answer, "X-Request-Id"), ""));
    tarn_wire_answer_done(&answer);
}

TestSuite(mhd, .init = set_up, .fini = tear_down);

Test(mhd, pipelined_requests_are_answered_in_order)
{
    static const char k_three[] = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
                                  "GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n"
                                  "GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n";
    tarn_wire_sends(&wire, k_three);
    expect(200, NULL);
    expect(404, "not_found");
    expect(200, NULL);
}

Test(mhd, a_connection_is_kept_over_flows_and_reads)
{
    char body[64];
    for (int i = 0; i < 5; i++) {
        snprintf(body, sizeof body, "{\"name\":\"t%d\",\"scope\":\"status:read\"}", i);
        ask("POST", "/api/tokens", "", body);
        expect(201, NULL);
        ask("GET", "/api/tokens", "", NULL);
        expect(200, NULL);
    }
    ask("DELETE", "/api/tokens/t3", "", NULL);
    expect(204, NULL);
    ask("DELETE", "/api/tokens/nobody", "", NULL);
    expect(404, "not_found");
}

Test(mhd, pipelined_flows_are_answered_in_order)
{
    for (int i = 0; i < 10; i++) {
        char body[64];
        snprintf(body, sizeof body, "{\"name\":\"p%d\",\"scope\":\"admin\"}", i);
        ask("POST", "/api/tokens", "", body);
        ask("GET", "/healthz", "", NULL);
    }
    for (int i = 0; i < 10; i++) {
        expect(201, NULL);
        expect(200, NULL);
    }
}

Test(mhd, head_has_the_headers_of_get_and_no_body)
{
    struct tarn_wire_answer answer;
    ask("HEAD", "/healthz", "", NULL);
    tarn_wire_answer(&wire, 1, &answer);
    cr_expect(eq(int, answer.status, 200));
    cr_expect(eq(str, (char *)tarn_wire_header(&answer, "Content-Length"), "15"));
    tarn_wire_answer_done(&answer);
    ask("GET", "/healthz", "", NULL);
    expect(200, NULL);
}

Test(mhd, doors_are_shut_before_the_body_is_read)
{
    static const char k_bad_token[] = "POST /api/tokens HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n"
                                      "Content-Length: 10\r\n\r\n0123456789";
    tarn_wire_sends(&wire, k_bad_token);
    expect(401, "unauthorized");
    tarn_wire_sends(&wire, "POST /api/tokens HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nExpect: 100-continue\r\n"
                           "Content-Length: 1000000\r\n\r\n");
    expect(401, "unauthorized");
    cr_expect(tarn_wire_is_closed(&wire));
}

Test(mhd, methods_types_and_parameters_are_refused_as_the_contract_says)
{
    struct tarn_wire_answer answer;
    ask("PUT", "/api/tokens", "", NULL);
    tarn_wire_answer(&wire, 0, &answer);
    cr_expect(eq(int, answer.status, 405));
    cr_expect(eq(str, (char *)tarn_wire_header(&answer, "Allow"), "GET, HEAD, POST"));
    tarn_wire_answer_done(&answer);
    ask("OPTIONS", "/api/tokens", "", NULL);
    expect(405, "method_not_allowed");
    ask("GET", "/api/tokens?who=me", "", NULL);
    expect(400, "invalid_request");
    ask("POST", "/api/tokens", "Content-Type: text/plain\r\n", "{}");
    expect(415, "unsupported_media_type");
    ask("GET", "/api/tokens", "", "{}");
    expect(400, "invalid_request");
    ask("POST", "/api/tokens", "", NULL);
    expect(400, "invalid_request");
    ask("GET", "/problems/a%2Fb", "", NULL);
    expect(404, "not_found");
    ask("GET", "/problems/a%00b", "", NULL);
    expect(400, "invalid_request");
}

Test(mhd, a_request_id_of_the_client_is_kept_and_a_strange_one_replaced)
{
    struct tarn_wire_answer answer;
    ask("GET", "/healthz", "X-Request-Id: abc-1.2_3\r\n", NULL);
    tarn_wire_answer(&wire, 0, &answer);
    cr_expect(eq(str, (char *)tarn_wire_header(&answer, "X-Request-Id"), "abc-1.2_3"));
    tarn_wire_answer_done(&answer);
    ask("GET", "/healthz", "X-Request-Id: a b\r\n", NULL);
    tarn_wire_answer(&wire, 0, &answer);
    cr_expect(eq(sz, strlen(tarn_wire_header(&answer, "X-Request-Id")), 16));
    tarn_wire_answer_done(&answer);
}

/* A header line of `len` bytes. */
static char *filler(const char *before, size_t len)
{
    size_t start = strlen(before);
    char *text = malloc(start + len + 3);
    memcpy(text, before, start);
    memset(text + start, 'x', len);
    memcpy(text + start + len, "\r\n", 3);
    return text;
}

Test(mhd, long_addresses_and_headers_are_refused)
{
    char *line = filler("GET /", 9000);
    line[9005] = '\0';
    tarn_wire_sends(&wire, line);
    tarn_wire_sends(&wire, " HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(414, "uri_too_long");
    free(line);

    line = filler("X-Long: ", 33 << 10);
    tarn_wire_sends(&wire, "GET /healthz HTTP/1.1\r\nHost: a\r\n");
    tarn_wire_sends(&wire, line);
    tarn_wire_sends(&wire, "\r\n");
    expect(431, "headers_too_large");
    free(line);
}

Test(mhd, headers_beyond_the_connections_memory_are_431_too)
{
    struct tarn_wire_answer answer;
    char *line = filler("X-Long: ", 200 << 10);
    tarn_wire_sends(&wire, "GET /healthz HTTP/1.1\r\nHost: a\r\n");
    tarn_wire_sends(&wire, line);
    tarn_wire_sends(&wire, "\r\n");
    tarn_wire_answer(&wire, 0, &answer);
    cr_expect(eq(int, answer.status, 431), "%s", answer.head);
    tarn_wire_answer_done(&answer);
    free(line);
}

Test(mhd, a_body_that_comes_in_pieces_is_one_body)
{
    static const char k_body[] = "{\"name\":\"slow\",\"scope\":\"status:read\"}";
    char head[512];
    snprintf(head, sizeof head, "POST /api/tokens HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n"
             "Transfer-Encoding: chunked\r\n\r\n", doors.token);
    for (const char *at = head; *at; at++)
        tarn_wire_send(&wire, at, 1);
    for (const char *at = k_body; *at; at++) {
        tarn_wire_sends(&wire, "1\r\n");
        tarn_wire_send(&wire, at, 1);
        tarn_wire_sends(&wire, "\r\n");
    }
    tarn_wire_sends(&wire, "0\r\n\r\n");
    expect(201, NULL);
}

Test(mhd, a_request_whose_end_is_unclear_is_refused_and_ends_the_connection)
{
    static const char *const k_framings[] = {
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 0\r\nContent-Length: 5\r\n",          "Content-Length: 5\r\nContent-Length: 0\r\n",
        "Transfer-Encoding: gzip\r\n",                         "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
    };
    for (size_t i = 0; i < TARN_COUNT(k_framings); i++) {
        struct tarn_wire mine;
        struct tarn_wire_answer answer;
        tarn_wire_open(&mine, doors.listener.text);
        tarn_wire_sends(&mine, "POST /api/tables HTTP/1.1\r\nHost: localhost\r\n");
        tarn_wire_sends(&mine, k_framings[i]);
        tarn_wire_sends(&mine, "\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        tarn_wire_answer(&mine, 0, &answer);
        cr_expect(eq(int, answer.status, 400), "%s: %s%s", k_framings[i], answer.head, answer.body);
        cr_expect(ne(ptr, strstr(answer.body, "\"invalid_request\""), NULL), "%s: %s", k_framings[i], answer.body);
        tarn_wire_answer_done(&answer);
        cr_expect(tarn_wire_is_closed(&mine), "%s: another request is answered", k_framings[i]);
        tarn_wire_close(&mine);
    }
}

Test(mhd, a_backup_is_streamed_whole)
{
    struct tarn_wire_answer answer;
    ask("POST", "/api/backup", "", NULL);
    tarn_wire_answer(&wire, 0, &answer);
    cr_expect(eq(int, answer.status, 200));
    cr_expect(not(answer.is_cut));
    cr_expect(eq(int, memcmp(answer.body, "SQLite format 3", 16), 0));
    cr_expect(eq(sz, answer.body_len % 4096, 0));
    tarn_wire_answer_done(&answer);
    ask("GET", "/healthz", "", NULL);
    expect(200, NULL);
}

/* --- limits --- */

static void set_up_narrow(void) { open_with(&(struct tarn_mhd_options){ .connections_max = 3 }); }
TestSuite(mhd_narrow, .init = set_up_narrow, .fini = tear_down);

Test(mhd_narrow, a_connection_too_many_is_told_so_and_closed)
{
    struct tarn_wire idle[2], late, silent;
    for (size_t i = 0; i < TARN_COUNT(idle); i++) {
        tarn_wire_open(&idle[i], doors.listener.text);
        tarn_wire_sends(&idle[i], "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        struct tarn_wire_answer answer;
        tarn_wire_answer(&idle[i], 0, &answer);
        cr_expect(eq(int, answer.status, 200));
        tarn_wire_answer_done(&answer);
    }
    ask("GET", "/healthz", "", NULL);
    expect(200, NULL);
    struct tarn_wire first = wire;
    tarn_wire_open(&late, doors.listener.text);
    tarn_wire_open(&silent, doors.listener.text);
    wire = late;
    ask("POST", "/api/tables", "", "{\"name\":\"t\"}");
    expect(503, "overloaded");
    cr_expect(tarn_wire_is_closed(&wire));
    cr_expect(tarn_wire_is_closed(&silent), "it holds a place that is for refusals");
    tarn_wire_close(&wire);
    tarn_wire_close(&silent);
    wire = first;
    ask("GET", "/healthz", "", NULL);
    expect(200, NULL);
    for (size_t i = 0; i < TARN_COUNT(idle); i++)
        tarn_wire_close(&idle[i]);
}

static void set_up_small(void)
{
    open_with(&(struct tarn_mhd_options){ .body_max = 100000, .bodies_max = 150000 });
}
TestSuite(mhd_limits, .init = set_up_small, .fini = tear_down);

static void send_zeros(size_t len)
{
    char *zeros = calloc(1, len);
    memset(zeros, ' ', len);
    tarn_wire_send(&wire, zeros, len);
    free(zeros);
}

Test(mhd_limits, a_body_above_the_limit_is_refused_by_its_length)
{
    ask("POST", "/api/tokens", "Content-Length: 100001\r\n", NULL);
    send_zeros(100001);
    expect(413, "payload_too_large");
    ask("GET", "/healthz", "", NULL); /* it was read: the connection lives */
    expect(200, NULL);
    ask("POST", "/api/tokens", "Content-Length: 99999999999\r\n", NULL);
    expect(413, "payload_too_large");
}

Test(mhd_limits, a_chunked_body_above_the_limit_is_swallowed_and_refused)
{
    ask("POST", "/api/tokens", "Transfer-Encoding: chunked\r\n", NULL);
    for (int i = 0; i < 11; i++) {
        tarn_wire_sends(&wire, "2710\r\n");
        send_zeros(10000);
        tarn_wire_sends(&wire, "\r\n");
    }
    tarn_wire_sends(&wire, "0\r\n\r\n");
    expect(413, "payload_too_large");
    ask("GET", "/healthz", "", NULL);
    expect(200, NULL);
}

Test(mhd_limits, an_endless_body_ends_the_connection)
{
    ask("POST", "/api/tokens", "Transfer-Encoding: chunked\r\n", NULL);
    for (int i = 0; i < 300; i++) {
        tarn_wire_sends(&wire, "2710\r\n");
        send_zeros(10000);
        tarn_wire_sends(&wire, "\r\n");
    }
    cr_expect(tarn_wire_is_closed(&wire));
}

Test(mhd_limits, bodies_together_have_a_limit_and_give_their_room_back)
{
    struct tarn_wire first = wire;
    ask("POST", "/api/tokens", "Content-Length: 90000\r\n", NULL);
    send_zeros(80000);
    while (atomic_load(&doors.mhd->bodies) < 80000)
        sched_yield();
    tarn_wire_open(&wire, doors.listener.text);
    ask("POST", "/api/tokens", "Content-Length: 90000\r\n", NULL);
    send_zeros(90000);
    expect(503, "overloaded");
    tarn_wire_close(&wire);
    wire = first;
    send_zeros(10000);
    expect(400, "invalid_request");
    ask("POST", "/api/tokens", "Content-Length: 90000\r\n", NULL);
    send_zeros(90000);
    expect(400, "invalid_request");
}
