/* retake_checkpoint.c - after a gap the log can no longer be replayed across it: the snapshot that
 * was taken instead lies beside it as a checkpoint from then on, for those who read the log. */
#include "lake/retake.h"
#include <stdio.h>
#include <string.h>

enum { PIECE_BYTES = 65536 };

static tarn_code copy(struct tarn_reader *reader, struct tarn_writer *writer, struct tarn_err *err)
{
    TARN_AUTO(mem) char *piece = malloc(PIECE_BYTES);
    size_t len = 1;
    tarn_code code = piece ? TARN_OK : tarn_fail_oom(err);

    while (code == TARN_OK && len > 0) {
        code = tarn_reader_fill(reader, piece, PIECE_BYTES, &len, err);
        if (code == TARN_OK && len > 0)
            code = tarn_writer_add(writer, piece, len, err);
    }
    return code;
}

tarn_code tarn_retake_checkpoint(struct tarn_retaking *r, const char *id, int64_t version,
                                 struct tarn_err *err)
{
    TARN_AUTO(reader) struct tarn_reader *reader = NULL;
    TARN_AUTO(writer) struct tarn_writer *writer = NULL;
    struct tarn_object object = { 0 };
    char path[TARN_TXN_ID_MAX + 48];
    TARN_ERR(fault);

    snprintf(path, sizeof path, TARN_DIR_LOG "/%s" TARN_CHECKPOINT_SUFFIX, id);
    tarn_code code = tarn_place_reader(r->place, TARN_DOC_MANIFEST, &reader, &object, err);
    if (code != TARN_OK)
        return code;
    if (strcmp(object.token, r->traces.manifest_token) != 0)
        return tarn_fail(err, TARN_OVERLOADED, "%s changes while the table is recovered: try again", TARN_DOC_MANIFEST);
    code = tarn_place_writer(r->place, path, &writer, err);
    if (code == TARN_OK)
        code = copy(reader, writer, err);
    if (code != TARN_OK)
        return code;
    code = tarn_writer_commit(writer, TARN_PUT_CREATE, NULL, &fault);
    if (code != TARN_OK && code != TARN_PRECONDITION_FAILED)
        return tarn_err_move(err, &fault);
    r->checkpoint = code == TARN_OK ? version : 0;
    snprintf(r->checkpoint_id, sizeof r->checkpoint_id, "%s", id);
    return TARN_OK;
}
