/* meddler.h - a local place in which something happens in the middle of a scan: a writer at work, a folder that fails. */
#ifndef TARN_TESTS_MEDDLER_H
#define TARN_TESTS_MEDDLER_H
#include "storage/storage.h"

/* What a scan is about to do: read the names of a folder, look at a file, read one. */
enum meddler_step { MEDDLER_FOLDER, MEDDLER_STAT, MEDDLER_READ };
/* Runs before the step. Another code than TARN_OK is the step's outcome. */
typedef tarn_code meddler_fn(void *ctx, enum meddler_step step, const char *path, struct tarn_err *err);
/* Over the folder `folder`; freed by tarn_place_free. After `fails_after` names (0: never) a folder that is read fails. */
struct tarn_place *meddler_open(const char *folder, meddler_fn *fn, void *ctx);
void meddler_fail_after(struct tarn_place *place, const char *folder, size_t names);
#endif
