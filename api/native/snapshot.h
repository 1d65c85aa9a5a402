/* snapshot.h - the parameters `version`, `transaction` and `as_of`, of which a request names one at most. */
#ifndef TARN_API_NATIVE_SNAPSHOT_H
#define TARN_API_NATIVE_SNAPSHOT_H
#include "api/http.h"
#include "lake/snapshot.h"

/* Borrows from the request. TARN_INVALID. */
TARN_MUST tarn_code tarn_native_snapshot_ask(const struct tarn_request *req, struct tarn_snapshot_ask *out,
                                             struct tarn_err *err);
/* In one read: what is asked for, and (unless `cursor` is NULL) the place before its first file. */
TARN_MUST tarn_code tarn_native_snapshot_find(const struct tarn_request *req, const struct tarn_table *table,
                                              const struct tarn_snapshot_ask *ask, struct tarn_snapshot *out,
                                              struct tarn_snapshot_cursor *cursor, struct tarn_err *err);
#endif
