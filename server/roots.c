/* roots.c - see roots.h. Real paths are compared, so that a symlink hides nothing. */
#include "server/roots.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/own.h"
#include "catalog/ident.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tarn_code default_root(struct tarn_config *config, const char *lake, struct tarn_err *err)
{
    char **roots = calloc(1, sizeof *roots);
    char *root = strdup(lake);
    if (!roots || !root) {
        free(roots);
        free(root);
        return tarn_fail_oom(err);
    }
    free(config->roots);
    config->roots = roots;
    config->roots[0] = root;
    config->root_count = 1;
    return TARN_OK;
}

/* The real path, of what is not there yet the real path of
 * what is with the rest behind it. NULL: no memory. */
static char *real(const char *path)
{
    TARN_AUTO(mem) char *part = strdup(path);
    for (char *end = part ? part + strlen(part) : NULL; end; end = strrchr(part, '/')) {
        *end = '\0';
        TARN_AUTO(mem) char *found = realpath(*part ? part : "/", NULL);
        char *whole = NULL;
        if (found && asprintf(&whole, "%s%s", strcmp(found, "/") == 0 ? "" : found, path + (end - part)) >= 0)
            return whole;
    }
    return part ? strdup(path) : NULL;
}

/* A folder with two spellings would be two places to the catalog, and two tables could own it. */
static tarn_code check_pair(const char *one, const char *other, struct tarn_err *err)
{
    if (*one != '/' || *other != '/' || tarn_location_within(one, other) || tarn_location_within(other, one))
        return TARN_OK;
    TARN_AUTO(mem) char *a = real(one);
    TARN_AUTO(mem) char *b = real(other);
    if (!a || !b)
        return tarn_fail_oom(err);
    if (!tarn_location_within(a, b) && !tarn_location_within(b, a))
        return TARN_OK;
    return tarn_fail_field(err, "roots", "'%s' and '%s' lead to one folder by a symbolic link: name one of them", one,
                           other);
}

static tarn_code check_root(const char *root, const char *data, const char *lake, struct tarn_err *err)
{
    if (*root != '/')
        return TARN_OK; /* an object store */
    TARN_AUTO(mem) char *at = real(root);
    if (!at)
        return tarn_fail_oom(err);
    bool clash =
        tarn_location_within(data, at) || (tarn_location_within(at, data) && !tarn_location_within(at, lake));
    if (clash)
        return tarn_fail_field(err, "roots", "'%s' and the data folder '%s' must not contain each other",
                               root, data);
    return TARN_OK;
}

tarn_code tarn_roots_prepare(struct tarn_config *config, struct tarn_err *err)
{
    TARN_AUTO(mem) char *data = real(config->data);
    TARN_AUTO_DONE(buf) struct tarn_buf lake_path = { 0 };
    tarn_buf_addf(&lake_path, "%s/lake", data ? data : "");
    if (!data || lake_path.failed)
        return tarn_fail_oom(err);
    const char *lake = lake_path.data;
    if (config->root_count == 0) {
        tarn_code code = default_root(config, lake, err);
        if (code != TARN_OK)
            return code;
    }
    for (size_t i = 0; i < config->root_count; i++) {
        const char *root = config->roots[i];
        if (strcmp(root, lake) == 0 && mkdir(lake, 0755) < 0 && errno != EEXIST)
            return tarn_fail(err, TARN_INTERNAL, "cannot make '%s': %s", lake, strerror(errno));
        tarn_code code = check_root(root, data, lake, err);
        for (size_t k = 0; k < i && code == TARN_OK; k++)
            code = check_pair(config->roots[k], root, err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

void tarn_roots_warn(const struct tarn_config *config)
{
    struct stat st;

    for (size_t i = 0; i < config->root_count; i++) {
        const char *root = config->roots[i];
        if (*root != '/')
            continue;
        int fault = stat(root, &st) < 0             ? errno
                    : !S_ISDIR(st.st_mode)          ? ENOTDIR
                    : access(root, R_OK | X_OK) < 0 ? errno
                                                    : 0;
        if (fault)
            tarn_log(TARN_LOG_WARN, "storage_root_unreachable", "root", root, "detail", strerror(fault),
                     NULL);
    }
}
