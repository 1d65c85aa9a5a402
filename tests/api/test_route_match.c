/* Paths, queries and methods, as RFC 3986 and CONTRACT.md ("Names, locations, versions") want them. */
#include "api/http.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

struct row {
    const char *method, *target;
    tarn_code code;
    const char *operation; /* NULL: no route */
    const char *arg;       /* first path argument, NULL: none */
};

static void check_row(const struct row *row)
{
    TARN_ERR(err);
    struct tarn_request req = { 0 };
    char allow[64];
    tarn_code code = tarn_route_match(row->method, row->target, &req, allow, &err);
    cr_expect(eq(int, (int)code, (int)row->code), "%s %s: %s", row->method, row->target, err.detail);
    if (row->operation && req.route)
        cr_expect(eq(str, (char *)req.route->operation, (char *)row->operation), "%s", row->target);
    if (row->arg && req.arg_count > 0)
        cr_expect(eq(str, req.arg[0], (char *)row->arg), "%s", row->target);
    cr_expect(eq(int, row->arg != NULL && req.arg_count == 0, 0), "%s has no argument", row->target);
    tarn_request_done(&req);
}

Test(route_match, segments_are_split_before_they_are_decoded)
{
    static const struct row k_rows[] = {
        { "GET", "/healthz", TARN_OK, "getHealth", NULL },
        { "HEAD", "/healthz", TARN_OK, "getHealth", NULL },
        { "GET", "/healthz?", TARN_OK, "getHealth", NULL },
        { "GET", "/h%65althz", TARN_OK, "getHealth", NULL },
        { "GET", "http://example.org:80/healthz", TARN_OK, "getHealth", NULL },
        { "GET", "/problems/not_found", TARN_OK, "getProblem", "not_found" },
        { "GET", "/problems/a%2Fb", TARN_OK, "getProblem", "a/b" },
        { "GET", "/problems/a+b%20c%2B", TARN_OK, "getProblem", "a+b c+" },
        { "GET", "/problems/a%252Fb", TARN_OK, "getProblem", "a%2Fb" },
        { "GET", "/problems/%C3%A4", TARN_OK, "getProblem", "\xc3\xa4" },
        { "GET", "/problems/a/b", TARN_NOT_FOUND, NULL, NULL },
        { "GET", "/problems/", TARN_NOT_FOUND, NULL, NULL },
        { "GET", "/problems", TARN_NOT_FOUND, NULL, NULL },
        { "GET", "/healthz/", TARN_NOT_FOUND, NULL, NULL },
        { "GET", "//healthz", TARN_NOT_FOUND, NULL, NULL },
        { "GET", "/HEALTHZ", TARN_NOT_FOUND, NULL, NULL },
        { "GET", "", TARN_NOT_FOUND, NULL, NULL },
        { "GET", "*", TARN_NOT_FOUND, NULL, NULL },
        { "GET", "healthz", TARN_NOT_FOUND, NULL, NULL },
        { "GET", "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o", TARN_NOT_FOUND, NULL, NULL },
        { "GET", "/problems/%00", TARN_INVALID, NULL, NULL },
        { "GET", "/problems/a%0", TARN_INVALID, NULL, NULL },
        { "GET", "/problems/%zz", TARN_INVALID, NULL, NULL },
        { "GET", "/problems/%FF", TARN_INVALID, NULL, NULL },
        { "POST", "/healthz", TARN_METHOD_NOT_ALLOWED, NULL, NULL },
        { "OPTIONS", "/healthz", TARN_METHOD_NOT_ALLOWED, NULL, NULL },
        { "get", "/healthz", TARN_METHOD_NOT_ALLOWED, NULL, NULL },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        check_row(&k_rows[i]);
}

Test(route_match, a_wrong_method_is_told_which_are_right)
{
    TARN_ERR(err);
    struct tarn_request req = { 0 };
    char allow[64];
    cr_assert(eq(int, (int)tarn_route_match("PUT", "/api/tokens", &req, allow, &err), (int)TARN_METHOD_NOT_ALLOWED));
    cr_expect(eq(str, allow, "GET, HEAD, POST"));
    tarn_request_done(&req);
}

Test(route_match, an_unknown_or_repeated_parameter_is_named)
{
    static const struct { const char *target, *field; } k_rows[] = {
        { "/healthz?depth=1", "depth" },
        { "/healthz?a=1&b=2", "a" },
        { "/healthz?&%61=1", "a" },
        { "/healthz?x", "x" },
        { "/healthz?a+b=1", "a b" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_ERR(err);
        struct tarn_request req = { 0 };
        char allow[64];
        tarn_code code = tarn_route_match("GET", k_rows[i].target, &req, allow, &err);
        cr_expect(eq(int, (int)code, (int)TARN_INVALID), "%s", k_rows[i].target);
        cr_expect(eq(str, err.field, (char *)k_rows[i].field));
        tarn_request_done(&req);
    }
}
