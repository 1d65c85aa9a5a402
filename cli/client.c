/* client.c - one question to the API and its answer. What the server
 * refuses becomes an error of this process with the server's own words. */
#include "cli/client.h"
#include "base/json.h"
#include "base/time.h"
#include "cli/offline.h"
#include "net/http.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define URL_DEFAULT "http://127.0.0.1:8181"
#define ANSWER_MAX ((size_t)1 << 30) /* bytes: the list of a very large catalog */
#define TIMEOUT_MS (10 * TARN_MINUTE_MS)

struct tarn_client {
    char *url;           /* without a slash at the end */
    char *authorization; /* a header line; NULL: no token */
    struct tarn_offline *offline; /* instead of both */
};

void tarn_client_free(struct tarn_client *client)
{
    if (!client)
        return;
    if (client->authorization)
        explicit_bzero(client->authorization, strlen(client->authorization));
    free(client->authorization);
    free(client->url);
    tarn_offline_free(client->offline);
    free(client);
}

/* The first word of <data>/admin.token; NULL when it cannot be read. Owned. */
static char *read_admin_token(const char *data_flag)
{
    TARN_AUTO(mem) char *folder = tarn_data_folder(data_flag);
    TARN_AUTO(mem) char *path = NULL;
    char text[256] = "";

    if (!folder || asprintf(&path, "%s/admin.token", folder) < 0)
        return NULL;
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    return len ? strndup(text, len) : NULL;
}

static tarn_code set_token(struct tarn_client *client, const struct tarn_cli *cli, struct tarn_err *err)
{
    const char *flag = tarn_cli_text(cli, "token"), *variable = getenv("TARN_TOKEN");
    TARN_AUTO(mem) char *token = NULL;

    if (flag || (variable && *variable))
        token = strdup(flag ? flag : variable);
    else
        token = read_admin_token(tarn_cli_text(cli, "data"));
    if (!token)
        return TARN_OK; /* a server without tokens asks for none, another one says so */
    if (token[strcspn(token, "\r\n")] != '\0')
        return tarn_fail(err, TARN_INVALID, "the token holds a line end");
    if (asprintf(&client->authorization, "Authorization: Bearer %s", token) < 0)
        client->authorization = NULL;
    return client->authorization ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code set_url(struct tarn_client *client, const struct tarn_cli *cli, struct tarn_err *err)
{
    const char *flag = tarn_cli_text(cli, "url"), *variable = getenv("TARN_URL");
    const char *url = flag ? flag : variable && *variable ? variable : URL_DEFAULT;

    client->url = strdup(url);
    if (!client->url)
        return tarn_fail_oom(err);
    for (size_t len = strlen(url); len > 0 && client->url[len - 1] == '/'; len--)
        client->url[len - 1] = '\0';
    return TARN_OK;
}

tarn_code tarn_client_open(const struct tarn_cli *cli, bool offline_too, struct tarn_client **out,
                           struct tarn_err *err)
{
    TARN_AUTO(client) struct tarn_client *client = calloc(1, sizeof *client);
    const char *data = tarn_cli_text(cli, "data");
    tarn_code code;

    if (!client)
        return tarn_fail_oom(err);
    if (offline_too && data && !tarn_cli_has(cli, "url")) {
        code = tarn_offline_open(data, false, &client->offline, err);
    } else {
        code = set_url(client, cli, err);
        if (code == TARN_OK)
            code = set_token(client, cli, err);
    }
    if (code == TARN_OK)
        *out = tarn_take(&client);
    return code;
}

void tarn_client_table_path(struct tarn_buf *out, const char *table, const char *rest)
{
    tarn_buf_adds(out, "/api/table/");
    tarn_http_encode(out, table);
    tarn_buf_adds(out, rest);
}

/* A request whose texts live as long as this. */
struct outgoing {
    char *url, *body; /* owned */
    const char *headers[4];
    struct tarn_http_request request;
};

static void outgoing_done(struct outgoing *o)
{
    free(o->url);
    free(o->body);
}

static tarn_code outgoing_make(const struct tarn_client *client, const char *method, const char *path,
                               const json_t *body, struct outgoing *o, struct tarn_err *err)
{
    size_t n = 0;

    if (asprintf(&o->url, "%s%s", client->url, path) < 0)
        o->url = NULL;
    o->body = body ? tarn_json_text(body) : NULL;
    if (!o->url || (body && !o->body))
        return tarn_fail_oom(err);
    o->headers[n++] = "Accept: application/json";
    if (body)
        o->headers[n++] = "Content-Type: application/json";
    if (client->authorization)
        o->headers[n++] = client->authorization;
    o->headers[n] = NULL;
    o->request = (struct tarn_http_request){ .method = method,
                                             .url = o->url,
                                             .headers = o->headers,
                                             .body = o->body,
                                             .body_len = o->body ? strlen(o->body) : 0,
                                             .timeout_ms = TIMEOUT_MS,
                                             .max_bytes = ANSWER_MAX };
    return TARN_OK;
}

static tarn_code exchange_http(struct tarn_client *client, const char *method, const char *path,
                               const json_t *body, struct tarn_http_answer *answer, struct tarn_err *err)
{
    struct outgoing o = { 0 };

    tarn_code code = outgoing_make(client, method, path, body, &o, err);
    if (code == TARN_OK)
        code = tarn_http_run(&o.request, answer, err);
    outgoing_done(&o);
    return code;
}

static tarn_code exchange_offline(struct tarn_client *client, const char *method, const char *path,
                                  const json_t *body, struct tarn_http_answer *answer, struct tarn_err *err)
{
    TARN_AUTO(mem) char *text = body ? tarn_json_text(body) : NULL;
    struct tarn_reply reply = { 0 };

    if (body && !text)
        return tarn_fail_oom(err);
    tarn_offline_call(client->offline, method, path, text, &reply);
    answer->status = (long)reply.status;
    tarn_buf_add(&answer->body, reply.body.data ? reply.body.data : "", reply.body.len);
    tarn_reply_done(&reply);
    return tarn_buf_check(&answer->body, err);
}

static const char *member_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* The server's refusal as this process's error. */
static tarn_code refused(const struct tarn_client *client, const struct tarn_http_answer *answer,
                         struct tarn_err *err)
{
    json_auto_t *problem = NULL;
    TARN_ERR(ignored);

    if (answer->body.len == 0 ||
        tarn_json_parse(answer->body.data, answer->body.len, NULL, &problem, &ignored) != TARN_OK ||
        *member_text(problem, "detail") == '\0')
        return tarn_fail(err, TARN_INTERNAL, "%s answered with status %ld", client->url ? client->url : "the API",
                         answer->status);
    const char *hint = answer->status == 401 && !client->authorization
                           ? "; give --token, TARN_TOKEN, or --data with the folder of admin.token" : "";
    return tarn_fail_code_field(err, TARN_INTERNAL, member_text(problem, "field"), "%s (%s)%s",
                                member_text(problem, "detail"), member_text(problem, "code"), hint);
}

static tarn_code ask(struct tarn_client *client, bool print, const char *method, const char *path,
                     const json_t *body, json_t **out, struct tarn_err *err)
{
    struct tarn_http_answer answer = { 0 };
    json_t *tree = NULL;

    tarn_code code = client->offline ? exchange_offline(client, method, path, body, &answer, err)
                                     : exchange_http(client, method, path, body, &answer, err);
    if (code == TARN_OK && print && answer.body.len)
        printf("%.*s\n", (int)answer.body.len, answer.body.data);
    if (code == TARN_OK && (answer.status < 200 || answer.status > 299))
        code = refused(client, &answer, err);
    const struct tarn_json_limits limits = { .max_depth = 64, .max_values = 100000000 };
    if (code == TARN_OK && answer.body.len)
        code = tarn_json_parse(answer.body.data, answer.body.len, &limits, &tree, err);
    tarn_http_answer_done(&answer);
    if (code == TARN_OK)
        *out = tree ? tree : json_null();
    return code;
}

tarn_code tarn_client_ask(struct tarn_client *client, const struct tarn_cli *cli, const char *method,
                          const char *path, const json_t *body, json_t **out, struct tarn_err *err)
{
    return ask(client, tarn_cli_has(cli, "json"), method, path, body, out, err);
}

tarn_code tarn_client_ask_once(const struct tarn_cli *cli, bool offline_too, const char *method,
                               const char *path, const json_t *body, json_t **out, struct tarn_err *err)
{
    TARN_AUTO(client) struct tarn_client *client = NULL;
    tarn_code code = tarn_client_open(cli, offline_too, &client, err);

    return code == TARN_OK ? tarn_client_ask(client, cli, method, path, body, out, err) : code;
}

tarn_code tarn_client_fetch(struct tarn_client *client, const char *method, const char *path,
                            const json_t *body, json_t **out, struct tarn_err *err)
{
    return ask(client, false, method, path, body, out, err);
}

/* A sink that writes to a descriptor. */
static tarn_code write_all(void *ctx, const void *data, size_t len, struct tarn_err *err)
{
    const int *fd = ctx;
    const char *p = data;

    while (len > 0) {
        ssize_t n = write(*fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return tarn_fail(err, TARN_INSUFFICIENT_STORAGE, "cannot write the file: %s", strerror(errno));
        p += n;
        len -= (size_t)n;
    }
    return TARN_OK;
}

static tarn_code save_to(struct tarn_client *client, const char *method, const char *path, int fd,
                         struct tarn_err *err)
{
    struct tarn_http_answer answer = { 0 };
    struct outgoing o = { 0 };

    tarn_code code = outgoing_make(client, method, path, NULL, &o, err);
    o.request.sink = write_all;
    o.request.ctx = &fd;
    o.request.timeout_ms = -1;
    o.request.max_bytes = SIZE_MAX;
    if (code == TARN_OK)
        code = tarn_http_run(&o.request, &answer, err);
    if (code == TARN_OK && (answer.status < 200 || answer.status > 299))
        code = refused(client, &answer, err);
    if (code == TARN_OK && fsync(fd) != 0)
        code = tarn_fail(err, TARN_INSUFFICIENT_STORAGE, "cannot write the file: %s", strerror(errno));
    tarn_http_answer_done(&answer);
    outgoing_done(&o);
    return code;
}

tarn_code tarn_client_save(struct tarn_client *client, const char *method, const char *path, const char *file,
                           struct tarn_err *err)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return tarn_fail(err, TARN_INVALID, "%s: %s", file, strerror(errno));
    tarn_code code = save_to(client, method, path, fd, err);
    close(fd);
    if (code != TARN_OK)
        (void)unlink(file);
    return code;
}
