/* keyed.h - requests of the Iceberg face that may be sent again under their Idempotency-Key.
 * What was answered is noted in the transaction of its effect; a request that comes again is
 * answered so, or, where the answer is what a table is, with what it is now. Refusals are
 * not noted: they are judged anew. A key belongs to its principal and to one request. */
#ifndef TARN_API_KEYED_H
#define TARN_API_KEYED_H
#include "api/http.h"

#define TARN_KEY_MAX 255 /* bytes of an Idempotency-Key */

struct tarn_keyed {
    char key[TARN_KEY_MAX + 1]; /* "": none was sent */
    char fingerprint[65];       /* of method, path, parameters and body */
};
/* From the headers and the body, before the flow has parsed it. TARN_INVALID. */
TARN_MUST tarn_code tarn_keyed_read(const struct tarn_request *req, struct tarn_keyed *out,
                                    struct tarn_err *err);
/* Answers as before; *found false: nothing was noted. TARN_INVALID:
 * the key stands for another request. Reads the store. */
TARN_MUST tarn_code tarn_keyed_replay(const struct tarn_request *req, const struct tarn_keyed *keyed,
                                      struct tarn_reply *reply, bool *found, struct tarn_err *err);
/* Before the change, in its transaction: TARN_VERSION_CONFLICT when another one under the key came first. */
TARN_MUST tarn_code tarn_keyed_check(struct tarn_tx *tx, const struct tarn_request *req,
                                     const struct tarn_keyed *keyed, struct tarn_err *err);
/* After the change, in its transaction. */
TARN_MUST tarn_code tarn_keyed_note(struct tarn_tx *tx, const struct tarn_request *req,
                                    const struct tarn_keyed *keyed, void *use, struct tarn_err *err);
#endif
