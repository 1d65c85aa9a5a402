/* offline.h - the database of a stopped server, opened by a command and locked while it runs. */
#ifndef TARN_CLI_OFFLINE_H
#define TARN_CLI_OFFLINE_H
#include "api/http.h"
#include "base/own.h"

struct tarn_offline;
/* TARN_INVALID when a process holds the folder; TARN_NOT_FOUND when it holds no
 * database. `migrate`: run what is missing, else an old database is refused. */
TARN_MUST tarn_code tarn_offline_open(const char *data, bool migrate, struct tarn_offline **out,
                                      struct tarn_err *err);
void tarn_offline_free(struct tarn_offline *offline);
TARN_DEFINE_AUTO(offline, struct tarn_offline)
struct tarn_store *tarn_offline_store(struct tarn_offline *offline);
/* One request to the handlers, as an administrator. */
void tarn_offline_call(struct tarn_offline *offline, const char *method, const char *path, const char *body,
                       struct tarn_reply *reply);
/* --data, else TARN_DATA, else the default; owned, NULL: no memory. */
char *tarn_data_folder(const char *flag);
#endif
