/* routes.c - every endpoint on one page, in the order of openapi.yaml; tools/check-routes
 * holds the two together. */
#include "api/http.h"
#include "api/native/native.h"

#define NONE TARN_SCOPE_NONE
#define STATUS TARN_SCOPE_STATUS
#define READ TARN_SCOPE_READ
#define WRITE TARN_SCOPE_WRITE
#define ADMIN TARN_SCOPE_ADMIN
#define EMPTY TARN_BODY_NONE
#define JSON TARN_BODY_JSON
#define MAYBE TARN_BODY_JSON_OPTIONAL
/* Where the work is done: INLINE on the loop, WORKER on a worker, FLOW step by step. */
#define INLINE(fn) .handle = (fn)
#define WORKER(fn) .work = (fn)
#define FLOW(flow_) .flow = &(flow_)

/* clang-format off */
const struct tarn_route tarn_routes[] = {
    /* method   path                       operation        scope   body   query */
    { "GET",    "/healthz",                "getHealth",     NONE,   EMPTY, "", INLINE(tarn_native_health) },
    { "GET",    "/readyz",                 "getReadiness",  NONE,   EMPTY, "", INLINE(tarn_native_ready) },
    { "GET",    "/openapi.yaml",           "getOpenapi",    NONE,   EMPTY, "", INLINE(tarn_native_openapi) },
    { "GET",    "/problems/{code}",        "getProblem",    NONE,   EMPTY, "", INLINE(tarn_native_problem_page) },

    { "GET",    "/api/tokens",             "listTokens",    ADMIN,  EMPTY, "", INLINE(tarn_native_tokens_list) },
    { "POST",   "/api/tokens",             "createToken",   ADMIN,  JSON,  "", FLOW(tarn_native_tokens_create) },
    { "DELETE", "/api/tokens/{name}",      "revokeToken",   ADMIN,  EMPTY, "", FLOW(tarn_native_tokens_revoke) },
    { "POST",   "/api/backup",             "makeBackup",    ADMIN,  EMPTY, "", WORKER(tarn_native_backup) },
};
/* clang-format on */
const size_t tarn_routes_count = sizeof tarn_routes / sizeof tarn_routes[0];
