/* routes.c - every endpoint on one page, in the order of openapi.yaml; tools/check-routes
 * holds the two together. */
#include "api/http.h"
#include "api/native/native.h"

#define NONE   TARN_SCOPE_NONE
#define STATUS TARN_SCOPE_STATUS
#define READ   TARN_SCOPE_READ
#define WRITE  TARN_SCOPE_WRITE
#define ADMIN  TARN_SCOPE_ADMIN
#define EMPTY  TARN_BODY_NONE
#define JSON   TARN_BODY_JSON
#define MAYBE  TARN_BODY_JSON_OPTIONAL
/* Where the work is done: INLINE on the loop, WORKER on a worker, FLOW step by step. */
#define INLINE(fn)  .handle = (fn)
#define WORKER(fn)  .work = (fn)
#define FLOW(flow_) .flow = &(flow_)

/* clang-format off */
#define T    "/api/table/{table}"
#define PAGE "page_size page_token"
#define AT   "version transaction as_of"

const struct tarn_route tarn_routes[] = {
    /* method   path                         operation        scope   body   query */
    { "GET",    "/healthz",                  "getHealth",     NONE,   EMPTY, "", INLINE(tarn_native_health) },
    { "GET",    "/readyz",                   "getReadiness",  NONE,   EMPTY, "", INLINE(tarn_native_ready) },
    { "GET",    "/metrics",                  "getMetrics",    STATUS, EMPTY, "", WORKER(tarn_native_metrics),
      .is_metrics = true },
    { "GET",    "/openapi.yaml",             "getOpenapi",    NONE,   EMPTY, "", INLINE(tarn_native_openapi) },
    { "GET",    "/problems/{code}",          "getProblem",    NONE,   EMPTY, "", INLINE(tarn_native_problem_page) },

    { "GET",    "/api/tables",               "listTables",    READ,   EMPTY,
                "namespace format mode prefix state " PAGE,                      WORKER(tarn_native_tables_list) },
    { "POST",   "/api/tables",               "registerTable", WRITE,  JSON,  "", FLOW(tarn_native_table_register) },
    { "GET",    T,                           "getTable",      READ,   EMPTY, "", INLINE(tarn_native_table_get) },
    { "PATCH",  T,                           "changeTable",   WRITE,  JSON,  "", FLOW(tarn_native_table_patch) },
    { "DELETE", T,                           "dropTable",     WRITE,  EMPTY, "", FLOW(tarn_native_table_drop) },
    { "POST",   T "/restore",                "restoreTable",  WRITE,  MAYBE, "", FLOW(tarn_native_table_restore) },
    { "GET",    T "/commits",                "listCommits",   READ,   EMPTY, PAGE, WORKER(tarn_native_commits_list) },
    { "POST",   T "/commits",                "commitTable",   WRITE,  JSON,  "", FLOW(tarn_native_commit) },
    { "PUT",    T "/pointer",                "swapPointer",   WRITE,  JSON,  "", FLOW(tarn_native_pointer) },
    { "POST",   "/api/transactions",         "commitTables",  WRITE,  JSON,  "", FLOW(tarn_native_transaction) },
    { "GET",    T "/commits/{transaction}",  "getCommit",     READ,   EMPTY, "", WORKER(tarn_native_commit_get) },
    { "GET",    T "/batches",                "listBatches",   READ,   EMPTY,
                "status prefix " PAGE,                                           WORKER(tarn_native_batches_list) },
    { "POST",   T "/batches",                "tellBatch",     WRITE,  JSON,  "", FLOW(tarn_native_batch_tell) },
    { "POST",   T "/rollback",               "rollbackTable", WRITE,  JSON,  "", FLOW(tarn_native_rollback) },
    { "GET",    T "/manifest",               "getManifest",   READ,   EMPTY, "version", WORKER(tarn_native_manifest_get) },
    { "GET",    T "/files",                  "listFiles",     READ,   EMPTY,
                AT " partition.* at_least.* at_most.* equals.* " PAGE,           WORKER(tarn_native_files_list) },
    { "GET",    T "/reclaimable",            "listReclaimable", READ, EMPTY, "", WORKER(tarn_native_reclaimable_list) },
    { "GET",    T "/schemas",                "listSchemas",   READ,   EMPTY, "", WORKER(tarn_native_schemas_list) },
    { "POST",   T "/schemas",                "addSchema",     WRITE,  JSON,  "", FLOW(tarn_native_schema_add) },
    { "GET",    T "/schemas/{version}",      "getSchema",     READ,   EMPTY, "", INLINE(tarn_native_schema_get) },
    { "GET",    T "/schemas/{version}/mapping", "getMapping", READ,   EMPTY, "to", WORKER(tarn_native_schema_mapping) },

    { "GET",    "/api/namespaces",           "listNamespaces", READ,  EMPTY, PAGE, WORKER(tarn_native_namespaces_list) },
    { "POST",   "/api/namespaces",           "addNamespace",  WRITE,  JSON,  "", FLOW(tarn_native_namespace_add) },
    { "GET",    "/api/namespaces/{namespace}", "getNamespace", READ,  EMPTY, "", INLINE(tarn_native_namespace_get) },
    { "PATCH",  "/api/namespaces/{namespace}", "changeNamespace", WRITE, JSON, "", FLOW(tarn_native_namespace_change) },
    { "DELETE", "/api/namespaces/{namespace}", "removeNamespace", WRITE, EMPTY, "", FLOW(tarn_native_namespace_remove) },

    { "GET",    T "/status",                 "getStatus",     STATUS, EMPTY, "", INLINE(tarn_native_status_get) },
    { "POST",   T "/check",                  "checkTable",    READ,   EMPTY, "depth", FLOW(tarn_native_check),
      .elsewhere = "status" },
    { "POST",   T "/repair",                 "repairTable",   WRITE,  JSON,  "", FLOW(tarn_native_repair) },
    { "POST",   T "/recover",                "recoverTable",  ADMIN,  MAYBE, "", FLOW(tarn_native_recover),
      .elsewhere = "status" },
    { "GET",    T "/findings",               "listFindings",  STATUS, EMPTY,
                "state " PAGE,                                                   WORKER(tarn_native_findings_list) },
    { "POST",   T "/findings/{id}/ack",      "acknowledgeFinding", WRITE, MAYBE, "", FLOW(tarn_native_finding_ack) },
    { "DELETE", T "/findings/{id}/ack",      "unacknowledgeFinding", WRITE, EMPTY, "", FLOW(tarn_native_finding_unack) },
    { "POST",   T "/findings/{id}/accept",   "acceptFinding", WRITE,  JSON,  "", FLOW(tarn_native_finding_accept) },
    { "DELETE", T "/findings/{id}/accept",   "unacceptFinding", WRITE, EMPTY, "", FLOW(tarn_native_finding_unaccept) },
    { "GET",    T "/history",                "listSamples",   STATUS, EMPTY,
                "metric from to step " PAGE,                                     WORKER(tarn_native_samples_list) },
    { "GET",    "/api/status",               "listStatus",    STATUS, EMPTY,
                "status severity namespace format " PAGE,                        WORKER(tarn_native_status_list) },
    { "GET",    "/api/events",               "listEvents",    READ,   EMPTY,
                "after wait limit",                                              WORKER(tarn_native_events) },

    { "POST",   "/api/discover",             "discoverTables", WRITE, JSON,  "", WORKER(tarn_native_discover) },

    { "GET",    "/api/silences",             "listSilences",  READ,   EMPTY,
                "state " PAGE,                                                   WORKER(tarn_native_silences_list) },
    { "POST",   "/api/silences",             "addSilence",    WRITE,  JSON,  "", FLOW(tarn_native_silence_add) },
    { "GET",    "/api/silences/{id}",        "getSilence",    READ,   EMPTY, "", INLINE(tarn_native_silence_get) },
    { "DELETE", "/api/silences/{id}",        "removeSilence", WRITE,  EMPTY, "", FLOW(tarn_native_silence_remove) },

    { "GET",    "/api/tokens",               "listTokens",    ADMIN,  EMPTY, "", INLINE(tarn_native_tokens_list) },
    { "POST",   "/api/tokens",               "createToken",   ADMIN,  JSON,  "", FLOW(tarn_native_tokens_create) },
    { "DELETE", "/api/tokens/{name}",        "revokeToken",   ADMIN,  EMPTY, "", FLOW(tarn_native_tokens_revoke) },
    { "POST",   "/api/backup",               "makeBackup",    ADMIN,  EMPTY, "", WORKER(tarn_native_backup) },
};
/* clang-format on */
const size_t tarn_routes_count = sizeof tarn_routes / sizeof tarn_routes[0];
