/* route_match.c - from the raw target to a route. The path is split at '/' first and each
 * segment is decoded once, alone, so that %2F stays inside its segment. */
#include "api/http.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS_MAX   12
#define PARAMETERS_MAX 64

struct path {
    char *text; /* owned: the decoded segments, each with its NUL */
    const char *segment[SEGMENTS_MAX];
    size_t count;
};

static void path_done(struct path *path) { free(path->text); }

/* Is the path that one, or below it? */
static bool is_below(const char *target, const char *folder)
{
    size_t len = strlen(folder);

    return strncmp(target, folder, len) == 0 && strchr("/?#", target[len]);
}

bool tarn_target_is_iceberg(const char *target)
{
    return is_below(target, "/iceberg") || is_below(target, "/v1");
}

static tarn_code nothing_here(const char *target, struct tarn_err *err)
{
    if (is_below(target, "/v1"))
        return tarn_fail(err, TARN_NOT_FOUND, "there is nothing here: the Iceberg REST catalog is at /iceberg, so the client's "
                         "uri ends with /iceberg");
    if (is_below(target, "/iceberg"))
        return tarn_fail(err, TARN_NOT_FOUND, "there is nothing here: the endpoints are those that GET /iceberg/v1/config lists");
    return tarn_fail(err, TARN_NOT_FOUND, "there is nothing here; /openapi.yaml lists what there is");
}

/* Absolute form (http://host/path), as proxies send it, to its path. */
static const char *origin_form(const char *target)
{
    const char *rest = strstr(target, "://");
    if (*target == '/' || !rest)
        return target;
    rest += 3;
    rest += strcspn(rest, "/?");
    return rest;
}

/* TARN_NOT_FOUND for a path that no route can have. */
static tarn_code path_split(const char *text, size_t len, bool plus_is_space, struct path *out,
                            struct tarn_err *err)
{
    if (len == 0 || *text != '/')
        return nothing_here("", err);
    out->text = malloc(len + SEGMENTS_MAX + 1);
    if (!out->text)
        return tarn_fail_oom(err);
    char *to = out->text;
    const char *begin = text, *end = text + len;
    while (text < end) {
        text++; /* the slash */
        const char *next = memchr(text, '/', (size_t)(end - text));
        size_t part = (size_t)((next ? next : end) - text);
        if (out->count == SEGMENTS_MAX)
            return nothing_here(begin, err);
        tarn_code code = tarn_percent_decode(text, part, plus_is_space, to, err);
        if (code != TARN_OK)
            return code;
        out->segment[out->count++] = to;
        to += strlen(to) + 1;
        text += part;
    }
    return TARN_OK;
}

/* Arguments are borrowed from the path. */
static bool path_fits(const struct path *path, const char *pattern, const char **arg, size_t *args)
{
    *args = 0;
    for (size_t i = 0; i < path->count; i++) {
        if (*pattern++ != '/')
            return false;
        size_t len = strcspn(pattern, "/");
        const char *segment = path->segment[i];
        if (*pattern == '{') {
            if (!*segment || *args == TARN_ARGS_MAX)
                return false;
            arg[(*args)++] = segment;
        } else if (strncmp(pattern, segment, len) != 0 || segment[len]) {
            return false;
        }
        pattern += len;
    }
    return !*pattern;
}

/* HEAD may have a row of its own beside GET's. */
static void allow_add(char allow[64], const char *method)
{
    size_t used = strlen(allow);

    if (strcmp(method, "HEAD") == 0 && strstr(allow, method))
        return;
    snprintf(allow + used, 64 - used, "%s%s", used ? ", " : "", method);
    if (strcmp(method, "GET") == 0)
        allow_add(allow, "HEAD");
}

static tarn_code take_args(struct tarn_request *req, const char **arg, size_t args, struct tarn_err *err)
{
    for (size_t i = 0; i < args; i++) {
        req->arg[i] = strdup(arg[i]);
        if (!req->arg[i])
            return tarn_fail_oom(err);
        req->arg_count = i + 1;
    }
    return TARN_OK;
}

static tarn_code find_route(const char *method, const struct path *path, struct tarn_request *req,
                            char allow[64], struct tarn_err *err)
{
    const char *arg[TARN_ARGS_MAX];
    size_t args;
    bool is_head = strcmp(method, "HEAD") == 0; /* is GET, unless it has a row of its own, which stands before */
    allow[0] = '\0';
    for (size_t i = 0; i < tarn_routes_count; i++) {
        const struct tarn_route *route = &tarn_routes[i];
        if (!path_fits(path, route->path, arg, &args))
            continue;
        if (strcmp(route->method, method) != 0 && !(is_head && strcmp(route->method, "GET") == 0)) {
            allow_add(allow, route->method);
            continue;
        }
        req->route = route;
        return take_args(req, arg, args, err);
    }
    if (allow[0])
        return tarn_fail(err, TARN_METHOD_NOT_ALLOWED, "only %s can be asked here", allow);
    return nothing_here(req->path, err);
}

/* `known`: names separated by blanks, one that ends in '*' is a prefix. */
static bool parameter_known(const char *known, const char *key)
{
    while (known && *known) {
        size_t len = strcspn(known, " ");
        bool prefix = len > 0 && known[len - 1] == '*';
        if (prefix ? strncmp(known, key, len - 1) == 0 : strncmp(known, key, len) == 0 && !key[len])
            return true;
        known += len + strspn(known + len, " ");
    }
    return false;
}

static tarn_code decoded(const char *text, size_t len, char **out, struct tarn_err *err)
{
    char *plain = malloc(len + 1);
    if (!plain)
        return tarn_fail_oom(err);
    tarn_code code = tarn_percent_decode(text, len, true, plain, err);
    if (code != TARN_OK) {
        free(plain);
        return code;
    }
    *out = plain;
    return TARN_OK;
}

static tarn_code take_parameter(struct tarn_request *req, const char *text, size_t len, struct tarn_err *err)
{
    const char *equals = memchr(text, '=', len);
    size_t key_len = equals ? (size_t)(equals - text) : len;
    TARN_AUTO(mem) char *key = NULL;
    tarn_code code = decoded(text, key_len, &key, err);
    if (code != TARN_OK || !key)
        return code;
    if (!parameter_known(req->route->query, key) && req->route->face == TARN_FACE_ICEBERG)
        return TARN_OK; /* newer clients send more */
    if (!parameter_known(req->route->query, key))
        return tarn_fail_field(err, key, "is no query parameter of %s", req->route->path);
    if (tarn_query(req, key))
        return tarn_fail_field(err, key, "is given twice");
    char *value = NULL;
    code = decoded(equals ? equals + 1 : "", equals ? len - key_len - 1 : 0, &value, err);
    if (code != TARN_OK)
        return tarn_err_prefix(err, "%s", key);
    req->query[req->query_count].key = tarn_take(&key);
    req->query[req->query_count++].value = value;
    return TARN_OK;
}

tarn_code tarn_route_parameters(struct tarn_request *req, const char *text, struct tarn_err *err)
{
    if (!*text)
        return TARN_OK;
    if (!req->query)
        req->query = calloc(PARAMETERS_MAX, sizeof *req->query);
    if (!req->query)
        return tarn_fail_oom(err);
    while (*text) {
        size_t len = strcspn(text, "&");
        if (len > 0 && req->query_count == PARAMETERS_MAX)
            return tarn_fail(err, TARN_INVALID, "more than %d query parameters", PARAMETERS_MAX);
        tarn_code code = len > 0 ? take_parameter(req, text, len, err) : TARN_OK;
        if (code != TARN_OK)
            return code;
        text += len + (text[len] == '&');
    }
    return TARN_OK;
}

tarn_code tarn_route_match(const char *method, const char *raw_target, struct tarn_request *req,
                           char allow[64], struct tarn_err *err)
{
    const char *target = origin_form(raw_target);
    size_t len = strcspn(target, "?#");
    __attribute__((cleanup(path_done))) struct path path = { 0 };

    allow[0] = '\0';
    free(req->path);
    req->path = strndup(target, len);
    req->method = method;
    if (!req->path)
        return tarn_fail_oom(err);
    req->is_iceberg = tarn_target_is_iceberg(req->path);
    tarn_code code = path_split(target, len, req->is_iceberg, &path, err);
    if (code == TARN_OK)
        code = find_route(method, &path, req, allow, err);
    if (code == TARN_OK && target[len] == '?')
        code = tarn_route_parameters(req, target + len + 1, err);
    return code;
}
