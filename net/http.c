/* http.c - libcurl, one handle a request: callers are few and slow enough that reuse would buy nothing. */
#include "net/http.h"
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CONNECT_MS 5000
#define TIMEOUT_MS 60000
#define SILENCE_S 60
#define MAX_BYTES ((size_t)64 << 20)

struct transfer {
    const struct tarn_http_request *request;
    struct tarn_http_answer *answer;
    CURL *curl;
    size_t got; /* bytes of the body so far */
    tarn_code code;
    struct tarn_err *err;
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static void init_curl(void) { (void)curl_global_init(CURL_GLOBAL_DEFAULT); }

void tarn_http_answer_done(struct tarn_http_answer *answer)
{
    tarn_buf_done(&answer->body);
    memset(answer, 0, sizeof *answer);
}

void tarn_http_encode(struct tarn_buf *out, const char *text)
{
    static const char k_plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

    for (; *text; text++) {
        if (strchr(k_plain, *text))
            tarn_buf_addc(out, *text);
        else
            tarn_buf_addf(out, "%%%02X", (unsigned)(unsigned char)*text);
    }
}

/* Takes what libcurl read; less than `len` ends the transfer. */
static size_t take(char *data, size_t size, size_t count, void *ctx)
{
    struct transfer *t = ctx;
    size_t len = size * count, max = t->request->max_bytes ? t->request->max_bytes : MAX_BYTES;
    long status = 0;

    t->got += len;
    if (t->got > max) {
        t->code = tarn_fail(t->err, TARN_PAYLOAD_TOO_LARGE, "%s: an answer of more than %zu bytes", t->request->url, max);
        return 0;
    }
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    if (t->request->sink && status >= 200 && status < 300) {
        t->code = t->request->sink(t->request->ctx, data, len, t->err);
    } else {
        tarn_buf_add(&t->answer->body, data, len);
        t->code = tarn_buf_check(&t->answer->body, t->err);
    }
    return t->code == TARN_OK ? len : 0;
}

static struct curl_slist *header_list(const struct tarn_http_request *request)
{
    struct curl_slist *list = NULL;

    for (size_t i = 0; request->headers && request->headers[i]; i++)
        list = curl_slist_append(list, request->headers[i]);
    /* No "Expect: 100-continue": it costs a second where a server does not answer it. */
    return curl_slist_append(list, "Expect:");
}

/* Is this machine itself asked? A proxy of the environment is not for that. */
static bool is_loopback(const char *url)
{
    CURLU *parts = curl_url();
    char *host = NULL;
    bool loopback = false;

    if (parts && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK)
        loopback =
            strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || strcmp(host, "[::1]") == 0;
    curl_free(host);
    curl_url_cleanup(parts);
    return loopback;
}

static void set_limits(CURL *curl, const struct tarn_http_request *request)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)(request->connect_ms ? request->connect_ms : CONNECT_MS));
    if (request->timeout_ms >= 0) {
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                         (long)(request->timeout_ms ? request->timeout_ms : TIMEOUT_MS));
        return;
    }
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_S);
}

static void set_request(struct transfer *t, const struct curl_slist *headers)
{
    const struct tarn_http_request *request = t->request;

    curl_easy_setopt(t->curl, CURLOPT_URL, request->url);
    curl_easy_setopt(t->curl, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(t->curl, CURLOPT_USERAGENT, "tarn");
    if (request->body) {
        curl_easy_setopt(t->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
        curl_easy_setopt(t->curl, CURLOPT_POSTFIELDS, request->body);
    }
    if (is_loopback(request->url))
        curl_easy_setopt(t->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(t->curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(t->curl, CURLOPT_WRITEDATA, t);
}

static tarn_code perform(struct transfer *t)
{
    char why[CURL_ERROR_SIZE] = "";
    const char *type = NULL;

    curl_easy_setopt(t->curl, CURLOPT_ERRORBUFFER, why);
    CURLcode rc = curl_easy_perform(t->curl);
    if (t->code != TARN_OK)
        return t->code;
    if (rc != CURLE_OK)
        return tarn_fail(t->err, TARN_STORAGE_UNAVAILABLE, "%s does not answer: %s", t->request->url,
                         why[0] ? why : curl_easy_strerror(rc));
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &t->answer->status);
    curl_easy_getinfo(t->curl, CURLINFO_CONTENT_TYPE, &type);
    snprintf(t->answer->content_type, sizeof t->answer->content_type, "%s", type ? type : "");
    return TARN_OK;
}

tarn_code tarn_http_run(const struct tarn_http_request *request, struct tarn_http_answer *answer,
                        struct tarn_err *err)
{
    struct tarn_http_answer found = { 0 };
    struct transfer t = { .request = request, .answer = &found, .err = err };

    (void)pthread_once(&curl_once, init_curl);
    t.curl = curl_easy_init();
    struct curl_slist *headers = header_list(request);
    tarn_code code = t.curl && headers ? TARN_OK : tarn_fail_oom(err);
    if (code == TARN_OK) {
        set_limits(t.curl, request);
        set_request(&t, headers);
        code = perform(&t);
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(t.curl);
    if (code != TARN_OK) {
        tarn_http_answer_done(&found);
        return code;
    }
    tarn_http_answer_done(answer);
    *answer = found;
    return TARN_OK;
}
