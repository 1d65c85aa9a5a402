/* repair_aside.c - what is in the way is never deleted: it is copied to _conflicts/<time>/
 * under its own path, durably, before anything is written in its place. */
#include "lake/lease.h"
#include "lake/repair_mend.h"
#include "lake/source.h"
#include <stdio.h>
#include <string.h>

enum { PIECE = 64 * 1024, NAMES_MAX = 10, ATTEMPTS = 3 };

static tarn_code pour(struct tarn_mend *m, struct tarn_hashed *source, struct tarn_writer *writer,
                      struct tarn_err *err)
{
    TARN_AUTO(mem) char *piece = malloc(PIECE);
    tarn_code code = piece ? TARN_OK : tarn_fail_oom(err);

    for (size_t len = 1; code == TARN_OK && len > 0;) {
        code = tarn_lake_goes_on(m->r->lake, err);
        if (code == TARN_OK)
            code = tarn_hashed_fill(source, piece, PIECE, &len, err);
        if (code == TARN_OK && len > 0)
            code = tarn_writer_add(writer, piece, len, err);
    }
    return code;
}

static tarn_code copy_once(struct tarn_mend *m, const char *from, const char *to,
                           char digest[TARN_SHA256_HEX], struct tarn_object *object, struct tarn_err *err)
{
    TARN_AUTO(hashed) struct tarn_hashed *source = NULL;
    TARN_AUTO(writer) struct tarn_writer *writer = NULL;
    tarn_code code = tarn_hashed_open(m->run.place, from, &source, object, err);

    if (code == TARN_OK)
        code = tarn_place_writer(m->run.place, to, &writer, err);
    if (code == TARN_OK)
        code = pour(m, source, writer, err);
    if (code == TARN_OK)
        code = tarn_hashed_end(source, digest, err);
    return code == TARN_OK ? tarn_writer_commit(writer, TARN_PUT_CREATE, NULL, err) : code;
}

/* A name that is taken (a look that was repeated) gets a number. */
static tarn_code copy(struct tarn_mend *m, const char *from, const char *to, char digest[TARN_SHA256_HEX],
                      struct tarn_object *object, struct tarn_err *err)
{
    char name[2 * TARN_PATH_MAX + 16];
    TARN_ERR(fault);
    tarn_code code = TARN_PRECONDITION_FAILED;

    snprintf(name, sizeof name, "%s", to);
    for (int i = 1; code == TARN_PRECONDITION_FAILED && i <= NAMES_MAX; i++) {
        code = copy_once(m, from, name, digest, object, &fault);
        snprintf(name, sizeof name, "%.*s.%d", 2 * TARN_PATH_MAX - 16, to, i);
    }
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

/* Is what was copied what lies there now? Its writer may be at it still. */
static tarn_code is_settled(struct tarn_mend *m, const char *path, const struct tarn_object *copied,
                            bool *out, struct tarn_err *err)
{
    struct tarn_object now = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_place_stat(m->run.place, path, &now, &fault);

    *out = code == TARN_OK && strcmp(now.token, copied->token) == 0;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code put_aside(struct tarn_mend *m, const char *path, const char *to,
                           char digest[TARN_SHA256_HEX], char token[TARN_TOKEN_TEXT], struct tarn_err *err)
{
    bool settled = false;

    for (int i = 0; i < ATTEMPTS && !settled; i++) {
        struct tarn_object object = { 0 };
        TARN_ERR(fault);
        tarn_code code = copy(m, path, to, digest, &object, &fault);
        if (code == TARN_NOT_FOUND)
            return TARN_OK;
        if (code == TARN_OK)
            code = is_settled(m, path, &object, &settled, &fault);
        if (code != TARN_OK)
            return tarn_err_move(err, &fault);
        if (token)
            memcpy(token, object.token, TARN_TOKEN_TEXT);
    }
    if (settled)
        return TARN_OK;
    return tarn_fail(err, TARN_OVERLOADED, "%s/%s is written again and again: stop its writer first",
                     m->run.table->location, path);
}

tarn_code tarn_mend_aside(struct tarn_mend *m, const char *path, char digest[TARN_SHA256_HEX],
                          char token[TARN_TOKEN_TEXT], struct tarn_err *err)
{
    char to[2 * TARN_PATH_MAX], ignored[TARN_SHA256_HEX];

    snprintf(to, sizeof to, "%s/%s", m->r->use->folder, path);
    tarn_code code = tarn_repair_tell_move(m->r->use, path, to, err);
    if (code != TARN_OK || !m->applies)
        return code;
    return put_aside(m, path, to, digest ? digest : ignored, token, err);
}

tarn_code tarn_mend_away(struct tarn_mend *m, const char *path, struct tarn_err *err)
{
    tarn_code code = tarn_mend_aside(m, path, NULL, NULL, err);

    return code == TARN_OK && m->applies ? tarn_place_remove(m->run.place, path, err) : code;
}

tarn_code tarn_mend_put(struct tarn_mend *m, const char *path, const char *text, size_t len,
                        struct tarn_err *err)
{
    tarn_code code = tarn_repair_tell_write(m->r->use, path, err);

    if (code != TARN_OK || !m->applies)
        return code;
    return tarn_place_put(m->run.place, path, text, len, TARN_PUT_REPLACE, NULL, err);
}
