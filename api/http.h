/* http.h - a request and its answer as the handlers see them: no sockets, so tests call
 * them directly. server/ fills the request from libmicrohttpd and sends the reply. */
#ifndef TARN_API_HTTP_H
#define TARN_API_HTTP_H
#include "auth/auth.h"
#include "base/buf.h"
#include "base/jsonw.h"
#include "lake/lake.h"
#include <jansson.h>

#define TARN_ARGS_MAX 3
#define TARN_REPLY_HEADERS_MAX 8

struct tarn_answers;
struct tarn_runner;
struct tarn_config;
struct tarn_monitor_defaults;
struct tarn_route;
struct tarn_traffic;

/* What handlers reach: made once by server/main.c, immutable while requests run. */
struct tarn_app {
    struct tarn_lake *lake;
    struct tarn_auth *auth;
    struct tarn_runner *runner;       /* NULL in tests without background scans */
    const struct tarn_config *config;
    const struct tarn_monitor_defaults *monitors; /* NULL in tests without monitors */
    struct tarn_answers *answers;     /* NULL: nothing is kept */
    struct tarn_traffic *traffic;     /* NULL: nothing is counted */
    bool (*ready)(void);              /* NULL: ready */
    /* One consistent copy of the database into `file`, which
     * does not exist yet; blocks. NULL: there is none. */
    tarn_code (*backup)(struct tarn_app *app, const char *file, struct tarn_err *err);
};

struct tarn_request {
    struct tarn_app *app;
    const struct tarn_route *route;
    const char *method;
    bool is_iceberg;                /* refused in that protocol's form, also where no route fits */
    char *path;                     /* raw, without the query; for Idempotency-Key; owned */
    char *arg[TARN_ARGS_MAX];       /* path arguments, decoded once; owned by the request */
    size_t arg_count;
    struct { char *key, *value; } *query; /* decoded; owned */
    size_t query_count;
    const char *(*header)(const struct tarn_request *req, const char *name); /* NULL: absent */
    void *transport;                /* of `header` */
    const char *body;               /* borrowed */
    size_t body_len;
    json_t *json;                   /* owned: the parsed body, NULL when there was none */
    struct tarn_principal who;
    int64_t now_ms;
    char id[40];                    /* request id, also X-Request-Id */
};
void tarn_request_done(struct tarn_request *req);
const char *tarn_request_header(const struct tarn_request *req, const char *name); /* NULL: absent */

/* A body that is produced piece by piece on a worker; each call appends some bytes. */
struct tarn_stream {
    tarn_code (*produce)(void *state, struct tarn_buf *out, bool *end, struct tarn_err *err);
    void (*free)(void *state);
    void *state;
};

struct tarn_reply {
    unsigned status;
    const char *content_type;       /* static text; NULL: application/json */
    struct tarn_buf body;           /* owned */
    struct tarn_stream stream;      /* instead of body when produce is set; owned */
    struct { const char *name; char *value; } headers[TARN_REPLY_HEADERS_MAX]; /* names static, values owned */
    size_t header_count;
    int64_t wait_ms;                /* above 0: nothing to tell yet; the handler may be asked again for so long */
};
void tarn_reply_done(struct tarn_reply *reply);
void tarn_reply_header(struct tarn_reply *reply, const char *name, const char *fmt, ...) TARN_PRINTF(3, 4);
const char *tarn_reply_header_value(const struct tarn_reply *reply, const char *name); /* NULL: absent */
/* 200-class answer from a tree (stolen); TARN_INTERNAL when `json` is NULL (no memory). */
TARN_MUST tarn_code tarn_reply_json(struct tarn_reply *reply, unsigned status, json_t *json,
                                    struct tarn_err *err);
TARN_MUST tarn_code tarn_reply_nothing(struct tarn_reply *reply); /* 204 */
/* application/problem+json of an error; never fails (falls back to a fixed text). */
void tarn_reply_problem(struct tarn_reply *reply, const struct tarn_request *req, const struct tarn_err *err);

/* Query parameters: NULL when absent. Handlers name what they know; dispatch refuses the others
 * by the route's `query` list. */
const char *tarn_query(const struct tarn_request *req, const char *key);
TARN_MUST tarn_code tarn_query_i64(const struct tarn_request *req, const char *key, int64_t min, int64_t max,
                                   int64_t *out, struct tarn_err *err); /* *out untouched when absent */
/* The {table} argument, seen with the principal's eyes: TARN_TABLE_NOT_FOUND when it may not see it. */
TARN_MUST tarn_code tarn_request_ident(const struct tarn_request *req, struct tarn_ident *out,
                                       struct tarn_err *err);
/* page_size (default 0: everything, streamed) and page_token (opaque; TARN_INVALID when it is not ours). */
struct tarn_page { int64_t size; char *token; /* owned: decoded content, NULL: from the start */ };
TARN_MUST tarn_code tarn_request_page(const struct tarn_request *req, struct tarn_page *out,
                                      struct tarn_err *err);
void tarn_page_done(struct tarn_page *page);
/* Opaque text of a keyset position and back; owned. */
char *tarn_page_token(const char *content); /* NULL: out of memory */
/* A `Link` header with the same question from the position `content` on. */
TARN_MUST tarn_code tarn_reply_next(struct tarn_reply *reply, const struct tarn_request *req,
                                    const char *content, struct tarn_err *err);
TARN_MUST tarn_code tarn_page_content(const char *token, char **out, struct tarn_err *err);

typedef tarn_code tarn_handler_fn(const struct tarn_request *req, struct tarn_reply *reply,
                                  struct tarn_err *err);

/* A changing request: parse into the use case's struct, let it run (server/flow.c), answer. */
struct tarn_flow {
    const struct tarn_use *use;
    tarn_code (*parse)(const struct tarn_request *req, void *use, struct tarn_err *err);
    tarn_code (*answer)(const struct tarn_request *req, void *use, struct tarn_reply *reply,
                        struct tarn_err *err);
};

/* The answer of a flow that says nothing: 204. */
TARN_MUST tarn_code tarn_flow_nothing(const struct tarn_request *req, void *use, struct tarn_reply *reply,
                                      struct tarn_err *err);

enum tarn_route_body { TARN_BODY_NONE, TARN_BODY_JSON, TARN_BODY_JSON_OPTIONAL, TARN_BODY_FORM /* as query parameters */ };

enum tarn_face { TARN_FACE_NATIVE, TARN_FACE_ICEBERG };

struct tarn_route {
    const char *method, *path, *operation; /* operation: operationId of openapi.yaml */
    enum tarn_scope scope;                 /* NONE: served without a token */
    enum tarn_route_body body;
    const char *query;         /* names of its query parameters, separated by blanks; a trailing * in a name is a prefix */
    enum tarn_face face;       /* whose form its refusals have */
    tarn_handler_fn *handle;   /* a bounded read: memory or one indexed read; runs inline on the loop */
    tarn_handler_fn *work;     /* reads more: runs on a worker. Of a route with both, where `handle` set no status */
    const struct tarn_flow *flow;
    /* For requests under an Idempotency-Key (api/keyed.h): answers a repeated one with
     * what is there now, on a worker. NULL: the first answer is kept and given again. */
    tarn_handler_fn *again;
    bool (*is_kept)(const void *use); /* the first answer is kept although there is an `again`; NULL: it is not */
    /* One that takes long is answered with 202 and goes on; here, the last
     * segment of the path that tells of its outcome. NULL: it is waited for. */
    const char *elsewhere;
    bool is_metrics;           /* metrics.public opens it to everybody */
};
extern const struct tarn_route tarn_routes[];
extern const size_t tarn_routes_count;

/* Is it for the Iceberg face, or for one that is looked for at the root (/v1/...)? */
bool tarn_target_is_iceberg(const char *target);
/* Match the raw path. On TARN_METHOD_NOT_ALLOWED `allow` holds the methods ("GET, HEAD,
 * POST"); HEAD is GET. Fills req->route, arg and query (decoding each segment once, alone). */
TARN_MUST tarn_code tarn_route_match(const char *method, const char *raw_target, struct tarn_request *req,
                                     char allow[64], struct tarn_err *err);
/* More parameters from `name=value&...`, percent-encoded: of the query, or of a form. */
TARN_MUST tarn_code tarn_route_parameters(struct tarn_request *req, const char *text, struct tarn_err *err);
/* Token, scope, Host and Origin: judged on the headers alone, before a body byte is kept. */
TARN_MUST tarn_code tarn_route_admit(struct tarn_request *req, struct tarn_err *err);
/* Content type and JSON of the body, once it is there. */
TARN_MUST tarn_code tarn_route_body(struct tarn_request *req, struct tarn_err *err);
/* All in a row on the calling thread, flows too: for tests. */
void tarn_api_call(struct tarn_app *app, const char *method, const char *target, const char *token,
                   const char *body, struct tarn_reply *reply);
/* The same with request headers: name and value in turn, ended by NULL. */
void tarn_api_call_with(struct tarn_app *app, const char *method, const char *target,
                        const char *const *headers, const char *body, struct tarn_reply *reply);
#endif
