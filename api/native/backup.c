/* backup.c - POST /api/backup answers one consistent copy of the database. The copy is made
 * beside the database under a name that is unlinked at once, then streamed from its descriptor,
 * so that neither a cut connection nor a crash leaves one lying about for long. */
#include "api/native/native.h"
#include "base/hash.h"
#include "config/config.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES (256u << 10)

struct backup {
    int fd;
};

static void backup_free(void *state)
{
    struct backup *backup = state;
    close(backup->fd);
    free(backup);
}

static tarn_code backup_produce(void *state, struct tarn_buf *out, bool *end, struct tarn_err *err)
{
    const struct backup *backup = state;
    char *to = tarn_buf_reserve(out, PIECE_BYTES);
    if (!to)
        return tarn_fail_oom(err);
    ssize_t got = read(backup->fd, to, PIECE_BYTES);
    if (got < 0)
        return tarn_fail(err, TARN_INTERNAL, "cannot read the backup: %s", strerror(errno));
    out->len += (size_t)got;
    *end = got == 0;
    return TARN_OK;
}

/* Takes the descriptor. */
static struct backup *backup_new(int fd)
{
    struct backup *backup = malloc(sizeof *backup);
    if (backup)
        backup->fd = fd;
    else
        close(fd);
    return backup;
}

static tarn_code open_copy(const struct tarn_request *req, int *out, struct tarn_err *err)
{
    struct tarn_app *app = req->app;
    char uuid[TARN_UUID_TEXT], file[4096];
    if (!app->backup || !app->config)
        return tarn_fail(err, TARN_INTERNAL, "this server has no backup");
    tarn_code code = tarn_uuid(uuid, err);
    if (code != TARN_OK)
        return code;
    snprintf(file, sizeof file, "%s/backup-%s.tmp", app->config->data, uuid);
    code = app->backup(app, file, err);
    int fd = code == TARN_OK ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    (void)unlink(file);
    if (code == TARN_OK && fd < 0)
        return tarn_fail(err, TARN_INTERNAL, "cannot read the backup");
    if (code == TARN_OK)
        *out = fd;
    return code;
}

tarn_code tarn_native_backup(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    int fd = -1;
    tarn_code code = open_copy(req, &fd, err);
    if (code != TARN_OK)
        return code;
    struct backup *backup = backup_new(fd);
    if (!backup)
        return tarn_fail_oom(err);
    reply->status = 200;
    reply->content_type = "application/vnd.sqlite3";
    reply->stream = (struct tarn_stream){ backup_produce, backup_free, backup };
    tarn_reply_header(reply, "Content-Disposition", "attachment; filename=\"tarn-backup.sqlite\"");
    return TARN_OK;
}
