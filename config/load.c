/* load.c - defaults, then the file, then the environment, then the flags:
 * whoever comes later wins. Variables that begin with TARN_ and are no option
 * are left alone: orchestrators set some (TARN_PORT, TARN_SERVICE_HOST). */
#include "config/options.h"
#include <stdio.h>
#include <string.h>

void tarn_config_free(struct tarn_config *config)
{
    if (!config)
        return;
    for (size_t i = 0; i < config->root_count; i++)
        free(config->roots[i]);
    free(config->roots);
    free(config->listen);
    free(config->data);
    free(config->auth_mode);
    free(config->warehouse);
    free(config->log_level);
    free(config->log_format);
    free(config->status_policy);
    json_decref(config->monitors);
    free(config);
}

static tarn_code set_defaults(struct tarn_config *config, struct tarn_err *err)
{
    for (size_t i = 0; i < tarn_options_count; i++) {
        const struct tarn_option *option = &tarn_options[i];
        if (!option->standard)
            continue;
        tarn_code code = tarn_option_set(config, option, option->standard, "default", err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

/* A list in a variable is separated by commas. */
static tarn_code set_list(struct tarn_config *config, const struct tarn_option *option, const char *text,
                          const char *where, struct tarn_err *err)
{
    TARN_AUTO(mem) char *copy = strdup(text);
    char *rest = copy;
    tarn_code code = copy ? TARN_OK : tarn_fail_oom(err);

    tarn_option_clear(config, option);
    while (code == TARN_OK && rest) {
        const char *item = strsep(&rest, ",");
        if (*item)
            code = tarn_option_set(config, option, item, where, err);
    }
    return code;
}

static tarn_code read_environment(struct tarn_config *config, struct tarn_err *err)
{
    char name[64];

    for (size_t i = 0; i < tarn_options_count; i++) {
        const struct tarn_option *option = &tarn_options[i];
        tarn_option_variable(option, name);
        const char *text = getenv(name);
        if (!text || !*text)
            continue;
        tarn_code code = option->type == TARN_O_LIST ? set_list(config, option, text, name, err)
                                                     : tarn_option_set(config, option, text, name, err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

struct flag { char name[64]; const char *value; }; /* value NULL: nothing behind '=' nor after it */

/* The flag at argv[*i], moved behind it. `takes` is told whether the name stands alone. */
static tarn_code next_flag(int argc, char **argv, int *i, struct flag *flag, struct tarn_err *err)
{
    const char *arg = argv[*i];
    const char *equals = strchr(arg, '=');
    size_t len = equals ? (size_t)(equals - arg) : strlen(arg);

    if (strncmp(arg, "--", 2) != 0 || len < 3 || len - 2 >= sizeof flag->name)
        return tarn_fail(err, TARN_INVALID, "unexpected argument '%.100s'", arg);
    memcpy(flag->name, arg + 2, len - 2);
    flag->name[len - 2] = '\0';
    flag->value = equals ? equals + 1 : NULL;
    (*i)++;
    const struct tarn_option *option = tarn_option_by_flag(flag->name);
    bool alone = option && option->type == TARN_O_BOOL;
    if (!flag->value && alone)
        flag->value = "true";
    else if (!flag->value && *i < argc)
        flag->value = argv[(*i)++];
    return TARN_OK;
}

static tarn_code unknown_flag(const struct flag *flag, struct tarn_err *err)
{
    const char *near = tarn_option_near(flag->name);
    char spelt[64] = "";

    if (near)
        tarn_option_flag(tarn_option_by_key(near), spelt);
    return tarn_fail(err, TARN_INVALID, "unknown flag --%s%s%s%s", flag->name, near ? ", perhaps " : "",
                     spelt, near ? "?" : "");
}

static tarn_code set_flag(struct tarn_config *config, const struct flag *flag, bool *list_begun,
                          struct tarn_err *err)
{
    const struct tarn_option *option = tarn_option_by_flag(flag->name);
    char where[72];

    snprintf(where, sizeof where, "--%s", flag->name);
    if (!option)
        return unknown_flag(flag, err);
    if (!flag->value)
        return tarn_fail(err, TARN_INVALID, "%s needs a value", where);
    if (option->type == TARN_O_LIST && !*list_begun) {
        tarn_option_clear(config, option);
        *list_begun = true;
    }
    return tarn_option_set(config, option, flag->value, where, err);
}

static tarn_code read_flags(struct tarn_config *config, int argc, char **argv, struct tarn_err *err)
{
    bool list_begun = false;
    struct flag flag;

    for (int i = 0; i < argc;) {
        tarn_code code = next_flag(argc, argv, &i, &flag, err);
        if (code == TARN_OK && strcmp(flag.name, "config") != 0)
            code = set_flag(config, &flag, &list_begun, err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

/* The last --config, else TARN_CONFIG, else NULL. */
static tarn_code find_file(int argc, char **argv, const char **out, struct tarn_err *err)
{
    const char *file = getenv("TARN_CONFIG");
    struct flag flag;

    for (int i = 0; i < argc;) {
        tarn_code code = next_flag(argc, argv, &i, &flag, err);
        if (code != TARN_OK)
            return code;
        if (strcmp(flag.name, "config") == 0 && !flag.value)
            return tarn_fail(err, TARN_INVALID, "--config needs a value");
        if (strcmp(flag.name, "config") == 0)
            file = flag.value;
    }
    *out = file && *file ? file : NULL;
    return TARN_OK;
}

tarn_code tarn_config_load_judged(int argc, char **argv, tarn_config_judge *judge, struct tarn_config **out,
                                  struct tarn_err *err)
{
    TARN_AUTO(config) struct tarn_config *config = calloc(1, sizeof *config);
    const char *file = NULL;

    if (!config)
        return tarn_fail_oom(err);
    config->judge = judge;
    tarn_code code = find_file(argc, argv, &file, err);
    if (code == TARN_OK)
        code = set_defaults(config, err);
    if (code == TARN_OK && file)
        code = tarn_config_read_yaml(config, file, err);
    if (code == TARN_OK)
        code = read_environment(config, err);
    if (code == TARN_OK)
        code = read_flags(config, argc, argv, err);
    if (code == TARN_OK)
        code = tarn_config_finish(config, err);
    if (code == TARN_OK)
        *out = tarn_take(&config);
    return code;
}

tarn_code tarn_config_load(int argc, char **argv, struct tarn_config **out, struct tarn_err *err)
{
    return tarn_config_load_judged(argc, argv, NULL, out, err);
}
