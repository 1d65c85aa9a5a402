/* test_http.c - one HTTP request: what is sent, what comes back, and the bounds. */
#include "net/http.h"
#include "tests/support/stub.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

TestSuite(http, .fini = tarn_stub_stop, .timeout = 60);

Test(http, a_request_carries_method_headers_and_body)
{
    static const struct tarn_stub_answer k_answers[] = { { 201, "application/json; charset=utf-8",
                                                           "{\"a\":1}", 0, 0 } };
    static const char *const k_headers[] = { "X-One: 1", "Authorization: Bearer t", NULL };
    struct tarn_http_answer answer = { 0 };
    char url[128];
    TARN_ERR(err);

    snprintf(url, sizeof url, "%s/api/x?y=1", tarn_stub_start(k_answers, 1));
    const struct tarn_http_request request = {
        .method = "POST", .url = url, .headers = k_headers, .body = "hello", .body_len = 5
    };
    cr_assert(eq(int, tarn_http_run(&request, &answer, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(int, (int)answer.status, 201));
    cr_expect(eq(str, answer.content_type, "application/json; charset=utf-8"));
    cr_expect(eq(str, answer.body.data, "{\"a\":1}"));
    cr_expect(eq(str, (char *)tarn_stub_asked(0)->line, "POST /api/x?y=1 HTTP/1.1"));
    cr_expect(eq(str, (char *)tarn_stub_asked(0)->body, "hello"));
    cr_expect(tarn_has(tarn_stub_asked(0)->head, "\r\nX-One: 1") &&
              tarn_has(tarn_stub_asked(0)->head, "Bearer t"));
    cr_expect(not(tarn_has(tarn_stub_asked(0)->head, "Expect")));
    tarn_http_answer_done(&answer);
}

Test(http, an_empty_post_still_has_its_method)
{
    static const struct tarn_stub_answer k_answers[] = { { 204, NULL, NULL, 0, 0 } };
    static const char *const k_methods[] = { "GET", "POST", "DELETE", "PUT" };
    const char *url = tarn_stub_start(k_answers, 1);

    for (size_t i = 0; i < 4; i++) {
        struct tarn_http_answer answer = { 0 };
        char line[64];
        TARN_ERR(err);
        const struct tarn_http_request request = { .method = k_methods[i], .url = url };
        cr_assert(eq(int, tarn_http_run(&request, &answer, &err), TARN_OK), "%s", err.detail);
        cr_expect(eq(int, (int)answer.status, 204));
        snprintf(line, sizeof line, "%s / HTTP/1.1", k_methods[i]);
        cr_expect(eq(str, (char *)tarn_stub_asked(i)->line, line));
        tarn_http_answer_done(&answer);
    }
}

Test(http, a_refusal_is_an_answer_and_a_redirect_is_not_followed)
{
    static const struct tarn_stub_answer k_answers[] = { { 404, NULL, "{}", 0, 0 },
                                                         { 302, NULL, "", 0, 0 },
                                                         { 500, "text/plain", "oops", 0, 0 } };
    const char *url = tarn_stub_start(k_answers, 3);

    for (size_t i = 0; i < 3; i++) {
        struct tarn_http_answer answer = { 0 };
        TARN_ERR(err);
        const struct tarn_http_request request = { .method = "GET", .url = url };
        cr_assert(eq(int, tarn_http_run(&request, &answer, &err), TARN_OK), "%s", err.detail);
        cr_expect(eq(int, (int)answer.status, k_answers[i].status));
        tarn_http_answer_done(&answer);
    }
    cr_expect(eq(sz, tarn_stub_count(), 3));
}

Test(http, faults_are_errors_with_the_address_and_leave_the_answer_alone)
{
    static const struct tarn_stub_answer k_answers[] = { { 0, NULL, NULL, 1, 0 },
                                                         { 200, NULL, "short", 0, 1 },
                                                         { 200, NULL, "too long", 0, 0 } };
    static const struct {
        int64_t timeout_ms;
        size_t max;
        tarn_code code;
    } k_rows[] = {
        { 200, 0, TARN_STORAGE_UNAVAILABLE },
        { 0, 0, TARN_STORAGE_UNAVAILABLE },
        { 0, 7, TARN_PAYLOAD_TOO_LARGE },
    };
    const char *url = tarn_stub_start(k_answers, 3);

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_http_answer answer = { .status = 77 };
        TARN_ERR(err);
        const struct tarn_http_request request = {
            .method = "GET", .url = url, .timeout_ms = k_rows[i].timeout_ms, .max_bytes = k_rows[i].max
        };
        cr_expect(eq(int, tarn_http_run(&request, &answer, &err), k_rows[i].code), "row %zu: %s", i,
                  err.detail);
        cr_expect(tarn_has(err.detail, url), "%s", err.detail);
        cr_expect(eq(int, (int)answer.status, 77));
    }
}

Test(http, nobody_listening_and_other_protocols_are_errors)
{
    static const char *const k_urls[] = { "http://127.0.0.1:1/x", "file:///etc/passwd", "gopher://127.0.0.1/",
                                          "no address", "" };

    for (size_t i = 0; i < TARN_COUNT(k_urls); i++) {
        struct tarn_http_answer answer = { 0 };
        TARN_ERR(err);
        const struct tarn_http_request request = { .method = "GET", .url = k_urls[i], .timeout_ms = 5000 };
        cr_expect(eq(int, tarn_http_run(&request, &answer, &err), TARN_STORAGE_UNAVAILABLE), "%s", k_urls[i]);
        cr_expect(eq(sz, answer.body.len, 0));
    }
}

static tarn_code collect(void *ctx, const void *data, size_t len, struct tarn_err *err)
{
    tarn_buf_add(ctx, data, len);
    return tarn_buf_check(ctx, err);
}

Test(http, a_sink_gets_good_answers_and_its_fault_ends_the_transfer)
{
    static const struct tarn_stub_answer k_answers[] = { { 200, NULL, "payload", 0, 0 },
                                                         { 403, NULL, "refusal", 0, 0 },
                                                         { 200, NULL, "payload", 0, 0 } };
    TARN_AUTO_DONE(buf) struct tarn_buf got = { .ceiling = 10 };
    struct tarn_http_answer answer = { 0 };
    const char *url = tarn_stub_start(k_answers, 3);
    const struct tarn_http_request request = {
        .method = "GET", .url = url, .sink = collect, .ctx = &got, .timeout_ms = -1
    };
    TARN_ERR(err);

    cr_assert(eq(int, tarn_http_run(&request, &answer, &err), TARN_OK));
    cr_expect(eq(str, got.data, "payload"));
    cr_assert(eq(int, tarn_http_run(&request, &answer, &err), TARN_OK));
    cr_expect(eq(str, answer.body.data, "refusal"));
    cr_expect(eq(str, got.data, "payload"));
    cr_expect(eq(int, tarn_http_run(&request, &answer, &err), TARN_PAYLOAD_TOO_LARGE));
    tarn_http_answer_done(&answer);
}

Test(http, a_proxy_is_not_asked_for_this_machine)
{
    static const struct tarn_stub_answer k_answers[] = { { 200, NULL, "direct", 0, 0 } };
    struct tarn_http_answer answer = { 0 };
    const struct tarn_http_request request = { .method = "GET", .url = tarn_stub_start(k_answers, 1) };
    TARN_ERR(err);

    setenv("http_proxy", "http://127.0.0.1:1", 1);
    cr_expect(eq(int, tarn_http_run(&request, &answer, &err), TARN_OK), "%s", err.detail);
    tarn_http_answer_done(&answer);
}

Test(http, segments_are_encoded)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };

    tarn_http_encode(&out, "sales.\"a b\"/\xc3\xa9+%~-_");
    cr_expect(eq(str, out.data, "sales.%22a%20b%22%2F%C3%A9%2B%25~-_"));
}
