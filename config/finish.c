/* finish.c - what one option alone cannot tell: defaults that hang on other options,
 * and the rules between the data folder, the roots, the address and who may ask. */
#include "catalog/ident.h"
#include "config/options.h"
#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *tarn_config_default_data(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *out = NULL;
    int n;

    if (geteuid() == 0)
        return strdup("/var/lib/tarn");
    if (state && state[0] == '/')
        n = asprintf(&out, "%s/tarn", state);
    else
        n = asprintf(&out, "%s/.local/state/tarn", home && *home ? home : "/");
    return n < 0 ? NULL : out;
}

/* Absolute and canonical; a relative path counts from the working folder. *text is replaced. */
static tarn_code make_canonical(char **text, const char *key, struct tarn_err *err)
{
    char folder[PATH_MAX];
    TARN_AUTO(mem) char *absolute = NULL;
    char *canonical = NULL;
    bool relative = (*text)[0] != '/' && !strstr(*text, "://");

    if (relative && !getcwd(folder, sizeof folder))
        return tarn_fail(err, TARN_INVALID, "%s: the working folder cannot be told", key);
    if (asprintf(&absolute, "%s%s%s", relative ? folder : "", relative ? "/" : "", *text) < 0)
        return tarn_fail_oom(err);
    tarn_code code = tarn_location_normalise(absolute, key, &canonical, err);
    if (code != TARN_OK)
        return code;
    free(*text);
    *text = canonical;
    return TARN_OK;
}

/* Where the folder really is when it exists, else the text: a link must not hide that two are one. */
static char *resolved(const char *location)
{
    char *real = realpath(location, NULL);

    return real ? real : strdup(location);
}

static tarn_code check_root(const struct tarn_config *config, const char *root, struct tarn_err *err)
{
    TARN_AUTO(mem) char *lake_text = NULL;

    if (asprintf(&lake_text, "%s/lake", config->data) < 0)
        return tarn_fail_oom(err);
    TARN_AUTO(mem) char *data = resolved(config->data);
    TARN_AUTO(mem) char *lake = resolved(lake_text);
    TARN_AUTO(mem) char *real = resolved(root);
    if (!data || !lake || !real)
        return tarn_fail_oom(err);
    bool inside = tarn_location_within(real, data) && !tarn_location_within(real, lake);
    if (inside || tarn_location_within(data, real))
        return tarn_fail(err, TARN_INVALID, "roots: '%.200s' and the data folder '%.200s' lie in each other", root,
                               config->data);
    return TARN_OK;
}

static tarn_code finish_roots(struct tarn_config *config, struct tarn_err *err)
{
    const struct tarn_option *option = tarn_option_by_key("roots");
    TARN_AUTO(mem) char *lake = NULL;
    tarn_code code = TARN_OK;

    if (config->root_count == 0) {
        if (asprintf(&lake, "%s/lake", config->data) < 0)
            return tarn_fail_oom(err);
        code = tarn_option_set(config, option, lake, "default", err);
    }
    for (size_t i = 0; i < config->root_count && code == TARN_OK; i++) {
        code = make_canonical(&config->roots[i], "roots", err);
        if (code == TARN_OK)
            code = check_root(config, config->roots[i], err);
    }
    return code;
}

/* Cuts "host:port" or "[host]:port"; false when it has another form. */
static bool split_listen(const char *listen, char host[256])
{
    const char *colon = strrchr(listen, ':');
    char *end;

    if (!colon || colon == listen || colon[1] < '0' || colon[1] > '9')
        return false;
    long port = strtol(colon + 1, &end, 10);
    size_t len = (size_t)(colon - listen);
    bool bracketed = listen[0] == '[' && len > 2 && colon[-1] == ']';
    if (*end != '\0' || port > 65535 || len >= 256)
        return false;
    snprintf(host, 256, "%.*s", (int)(bracketed ? len - 2 : len), bracketed ? listen + 1 : listen);
    return bracketed || !strchr(host, ':');
}

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (strcasecmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static tarn_code check_listen(const struct tarn_config *config, struct tarn_err *err)
{
    char host[256];

    if (!split_listen(config->listen, host))
        return tarn_fail(err, TARN_INVALID, "listen: '%.100s' is no address with a port, such as 127.0.0.1:8181",
                               config->listen);
    if (strcmp(config->auth_mode, "none") == 0 && !is_loopback(host))
        return tarn_fail_field(err, "auth.mode",
                               "none would let anybody on the network in; it needs a loopback address, "
                               "not '%.100s'", config->listen);
    return TARN_OK;
}

tarn_code tarn_config_finish(struct tarn_config *config, struct tarn_err *err)
{
    if (!config->data)
        config->data = tarn_config_default_data();
    if (!config->data)
        return tarn_fail_oom(err);
    if (strstr(config->data, "://"))
        return tarn_fail(err, TARN_INVALID, "data: '%.200s' is no local folder", config->data);
    tarn_code code = make_canonical(&config->data, "data", err);
    if (code == TARN_OK)
        code = finish_roots(config, err);
    if (code == TARN_OK && config->limits_bodies_bytes < config->limits_body_bytes)
        return tarn_fail(err, TARN_INVALID, "limits.bodies: is smaller than limits.body");
    return code == TARN_OK ? check_listen(config, err) : code;
}
