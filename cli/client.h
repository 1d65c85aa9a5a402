/* client.h - how commands ask: over HTTP, or, with --data on
 * a stopped server, the same handlers in this process. */
#ifndef TARN_CLI_CLIENT_H
#define TARN_CLI_CLIENT_H
#include "base/buf.h"
#include "cli/command.h"
#include <jansson.h>

struct tarn_client;
/* `offline_too`: --data means a stopped server's database, opened
 * and locked. Else --data only says where admin.token lies. */
TARN_MUST tarn_code tarn_client_open(const struct tarn_cli *cli, bool offline_too, struct tarn_client **out,
                                     struct tarn_err *err);
void tarn_client_free(struct tarn_client *client);
TARN_DEFINE_AUTO(client, struct tarn_client)

/* Ask, and give a 2xx answer's tree (owned; json null when there is no body).
 * With --json the answer, a refusal too, goes to stdout as it is. A refusal is
 * an error with the detail the server gave. `body` is borrowed, NULL: none. */
TARN_MUST tarn_code tarn_client_ask(struct tarn_client *client, const struct tarn_cli *cli,
                                    const char *method, const char *path, const json_t *body, json_t **out,
                                    struct tarn_err *err);
/* The same by a client for this one question. */
TARN_MUST tarn_code tarn_client_ask_once(const struct tarn_cli *cli, bool offline_too, const char *method,
                                         const char *path, const json_t *body, json_t **out,
                                         struct tarn_err *err);
/* The same as tarn_client_ask without a word to stdout. */
TARN_MUST tarn_code tarn_client_fetch(struct tarn_client *client, const char *method, const char *path,
                                      const json_t *body, json_t **out, struct tarn_err *err);
/* A 2xx answer's body into a new file (mode 0600), which is gone again when that fails. Online only. */
TARN_MUST tarn_code tarn_client_save(struct tarn_client *client, const char *method, const char *path,
                                     const char *file, struct tarn_err *err);
/* "/api/table/<name>" and what follows; `out` is a fresh buffer. */
void tarn_client_table_path(struct tarn_buf *out, const char *table, const char *rest);
#endif
