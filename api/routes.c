/* routes.c - every endpoint on one page, in the order of openapi.yaml; tools/check-routes
 * holds the two together. */
#include "api/http.h"
#include "api/iceberg/iceberg.h"
#include "api/native/native.h"

#define NONE   TARN_SCOPE_NONE
#define STATUS TARN_SCOPE_STATUS
#define READ   TARN_SCOPE_READ
#define WRITE  TARN_SCOPE_WRITE
#define ADMIN  TARN_SCOPE_ADMIN
#define EMPTY  TARN_BODY_NONE
#define FORM   TARN_BODY_FORM
#define JSON   TARN_BODY_JSON
#define MAYBE  TARN_BODY_JSON_OPTIONAL
/* Where the work is done: INLINE on the loop, WORKER on a worker, EITHER there where the
 * loop cannot, FLOW step by step. */
#define INLINE(fn)  .handle = (fn)
#define WORKER(fn)  .work = (fn)
#define EITHER(fn, else_) .handle = (fn), .work = (else_)
#define FLOW(flow_) .flow = &(flow_)

/* clang-format off */
#define T    "/api/table/{table}"
#define PAGE "page_size page_token"
#define AT   "version transaction as_of"
#define I    "/iceberg/v1"
#define N    I "/namespaces/{namespace}"
#define IPAGE "pageToken pageSize"
#define ICE  .face = TARN_FACE_ICEBERG

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
    { "GET",    T "/reports",                "listReports",   STATUS, EMPTY, "limit",  WORKER(tarn_native_reports_list) },
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
    /* The Iceberg REST catalog: https://iceberg.apache.org/rest-catalog-spec/ is its contract. */
    { "GET",    I "/config",                 "icebergGetConfig", READ, EMPTY, "warehouse", INLINE(tarn_iceberg_config), ICE },
    { "POST",   I "/oauth/tokens",           "icebergGetToken", NONE, FORM,
                "grant_type client_id client_secret scope subject_token subject_token_type", INLINE(tarn_iceberg_oauth_token), ICE },
    { "GET",    I "/namespaces",             "icebergListNamespaces", READ, EMPTY, "parent " IPAGE,
                                                                                 WORKER(tarn_iceberg_namespaces_list), ICE },
    { "POST",   I "/namespaces",             "icebergCreateNamespace", WRITE, JSON, "", FLOW(tarn_iceberg_namespace_create), ICE },
    { "HEAD",   N,                           "icebergNamespaceExists", READ, EMPTY, "", INLINE(tarn_iceberg_namespace_exists), ICE },
    { "GET",    N,                           "icebergLoadNamespace", READ, EMPTY, "", INLINE(tarn_iceberg_namespace_get), ICE },
    { "DELETE", N,                           "icebergDropNamespace", WRITE, EMPTY, "", FLOW(tarn_iceberg_namespace_drop), ICE },
    { "POST",   N "/properties",             "icebergUpdateProperties", WRITE, JSON, "", FLOW(tarn_iceberg_namespace_properties), ICE },
    { "GET",    N "/tables",                 "icebergListTables", READ, EMPTY, IPAGE, WORKER(tarn_iceberg_tables_list), ICE },
    { "POST",   N "/tables",                 "icebergCreateTable", WRITE, JSON, "", FLOW(tarn_iceberg_table_post), ICE,
      .is_kept = tarn_iceberg_is_staged,
      .again = tarn_iceberg_named_again },
    { "POST",   N "/register",               "icebergRegisterTable", WRITE, JSON, "", FLOW(tarn_iceberg_table_register), ICE,
      .again = tarn_iceberg_named_again },
    { "HEAD",   N "/tables/{table}",         "icebergTableExists", READ, EMPTY, "", INLINE(tarn_iceberg_table_exists), ICE },
    { "GET",    N "/tables/{table}",         "icebergLoadTable", READ, EMPTY, "snapshots",
                                                              EITHER(tarn_iceberg_table_recall, tarn_iceberg_table_load), ICE },
    { "POST",   N "/tables/{table}",         "icebergUpdateTable", WRITE, JSON, "", FLOW(tarn_iceberg_table_commit), ICE,
      .again = tarn_iceberg_commit_again },
    { "DELETE", N "/tables/{table}",         "icebergDropTable", WRITE, EMPTY, "purgeRequested", FLOW(tarn_iceberg_table_drop), ICE },
    { "POST",   I "/tables/rename",          "icebergRenameTable", WRITE, JSON, "", FLOW(tarn_iceberg_table_rename), ICE },
    { "POST",   N "/tables/{table}/metrics", "icebergReportMetrics", READ, JSON, "", FLOW(tarn_iceberg_metrics_report), ICE },
    { "GET",    N "/views",                  "icebergListViews", READ, EMPTY, IPAGE, WORKER(tarn_iceberg_views_list), ICE },
    { "POST",   N "/views",                  "icebergCreateView", WRITE, JSON, "", FLOW(tarn_iceberg_view_post), ICE,
      .again = tarn_iceberg_view_again },
    { "POST",   N "/register-view",          "icebergRegisterView", WRITE, JSON, "", FLOW(tarn_iceberg_view_register), ICE,
      .again = tarn_iceberg_view_again },
    { "HEAD",   N "/views/{view}",           "icebergViewExists", READ, EMPTY, "", INLINE(tarn_iceberg_view_exists), ICE },
    { "GET",    N "/views/{view}",           "icebergLoadView", READ, EMPTY, "", WORKER(tarn_iceberg_view_load), ICE },
    { "POST",   N "/views/{view}",           "icebergReplaceView", WRITE, JSON, "", FLOW(tarn_iceberg_view_replace), ICE,
      .again = tarn_iceberg_view_again },
    { "DELETE", N "/views/{view}",           "icebergDropView", WRITE, EMPTY, "", FLOW(tarn_iceberg_view_drop), ICE },
    { "POST",   I "/views/rename",           "icebergRenameView", WRITE, JSON, "", FLOW(tarn_iceberg_view_rename), ICE },
    { "POST",   I "/transactions/commit",    "icebergCommitTransaction", WRITE, JSON, "", FLOW(tarn_iceberg_transaction), ICE },
};
/* clang-format on */
const size_t tarn_routes_count = sizeof tarn_routes / sizeof tarn_routes[0];
