/* admin_token.c - a database without a live admin cannot be administered by anybody, so a
 * start makes one. The file comes first: a crash between the two leaves a secret that the
 * next start adopts, never a hash whose secret nobody knows. */
#include "auth/admin_token.h"
#include "auth/auth.h"
#include "base/hash.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define SECRET_MIN 32 /* characters: shorter ones can be guessed */
#define SECRET_MAX 512

static void fd_done(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static tarn_code file_fail(struct tarn_err *err, const char *what, const char *path)
{
    return tarn_fail(err, TARN_INTERNAL, "cannot %s '%s': %s", what, path, strerror(errno));
}

static tarn_code sync_dir(const char *dir, struct tarn_err *err)
{
    __attribute__((cleanup(fd_done))) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return file_fail(err, "sync", dir);
    return TARN_OK;
}

/* The secret in the file, blanks around it dropped; "" when there is no file. */
static tarn_code read_secret(const char *path, char out[SECRET_MAX], struct tarn_err *err)
{
    __attribute__((cleanup(fd_done))) int fd = open(path, O_RDONLY | O_CLOEXEC);
    out[0] = '\0';
    if (fd < 0)
        return errno == ENOENT ? TARN_OK : file_fail(err, "read", path);
    char text[SECRET_MAX];
    ssize_t len = read(fd, text, sizeof text - 1);
    if (len < 0)
        return file_fail(err, "read", path);
    text[len] = '\0';
    const char *start = text + strspn(text, " \t\r\n");
    size_t size = strcspn(start, " \t\r\n");
    if (size < SECRET_MIN)
        return tarn_fail(err, TARN_INVALID, "'%s' holds no token of %d characters or more; remove the file",
                         path, SECRET_MIN);
    memcpy(out, start, size);
    out[size] = '\0';
    return TARN_OK;
}

static tarn_code write_whole(int fd, const char *path, const char *text, struct tarn_err *err)
{
    size_t len = strlen(text);
    if (write(fd, text, len) != (ssize_t)len || fsync(fd) < 0)
        return file_fail(err, "write", path);
    return TARN_OK;
}

static tarn_code write_secret(const char *dir, const char *path, const char *secret, struct tarn_err *err)
{
    char temp[PATH_BYTES + 8], line[520];
    snprintf(temp, sizeof temp, "%s.new", path);
    snprintf(line, sizeof line, "%s\n", secret);
    (void)unlink(temp);
    __attribute__((cleanup(fd_done))) int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return file_fail(err, "write", temp);
    tarn_code code = write_whole(fd, temp, line, err);
    if (code != TARN_OK)
        return code;
    if (rename(temp, path) < 0)
        return file_fail(err, "write", path);
    return sync_dir(dir, err);
}

static tarn_code list_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_tokens *tokens = ctx;
    tarn_tokens_done(tokens);
    *tokens = (struct tarn_tokens){ 0 };
    return tx->ops->tokens.list(tx, tokens, err);
}

static bool has_live_admin(const struct tarn_tokens *tokens, int64_t now_ms)
{
    for (size_t i = 0; i < tokens->count; i++) {
        const struct tarn_token *token = &tokens->items[i];
        bool live = token->revoked_at < 0 && (token->expires_at < 0 || token->expires_at > now_ms);
        if (live && token->scope == TARN_SCOPE_ADMIN)
            return true;
    }
    return false;
}

static bool knows(const struct tarn_tokens *tokens, const char *hash, const char *name)
{
    for (size_t i = 0; i < tokens->count; i++)
        if ((hash && strcmp(tokens->items[i].hash, hash) == 0) ||
            (name && strcmp(tokens->items[i].name, name) == 0))
            return true;
    return false;
}

static tarn_code insert_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tokens.insert(tx, ctx, err);
}

/* "admin", or "admin-2" and so on when a revoked one has the name. */
static tarn_code store_admin(struct tarn_store *store, const struct tarn_tokens *known, const char *hash,
                             int64_t now_ms, struct tarn_err *err)
{
    char name[32] = "admin";
    for (unsigned i = 2; knows(known, NULL, name); i++)
        snprintf(name, sizeof name, "admin-%u", i);
    struct tarn_token token = {
        .name = name, .scope = TARN_SCOPE_ADMIN, .created_at = now_ms, .expires_at = -1, .revoked_at = -1
    };
    snprintf(token.hash, sizeof token.hash, "%s", hash);
    return tarn_store_write(store, insert_tx, &token, err);
}

tarn_code tarn_admin_token_ensure(struct tarn_store *store, const char *data_dir, int64_t now_ms, bool *wrote,
                                  struct tarn_err *err)
{
    TARN_AUTO_DONE(tokens) struct tarn_tokens known = { 0 };
    tarn_code code = tarn_store_read(store, list_tx, &known, err);
    if (code != TARN_OK || has_live_admin(&known, now_ms))
        return code;

    char path[PATH_BYTES], secret[SECRET_MAX], hash[65];
    snprintf(path, sizeof path, "%s/%s", data_dir, TARN_ADMIN_TOKEN_FILE);
    code = read_secret(path, secret, err);
    if (code != TARN_OK)
        return code;
    bool fresh = !secret[0];
    if (!fresh) {
        tarn_sha256_hex(secret, strlen(secret), hash);
        fresh = knows(&known, hash, NULL); /* it was revoked or has expired: it stays so */
    }
    if (fresh) {
        code = tarn_token_secret(secret, hash, err);
        if (code == TARN_OK)
            code = write_secret(data_dir, path, secret, err);
    }
    if (code == TARN_OK)
        code = store_admin(store, &known, hash, now_ms, err);
    if (code == TARN_OK)
        *wrote = fresh;
    return code;
}
