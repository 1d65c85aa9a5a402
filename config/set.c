/* set.c - the text of a file, a variable or a flag becomes a member of the configuration. */
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "config/options.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIST_MAX 1000

static void *member(struct tarn_config *config, const struct tarn_option *option)
{
    return (char *)config + option->offset;
}

struct list { char ***items; size_t *count; };

/* roots is the only list; its count is the member behind it. */
static struct list list_of(struct tarn_config *config)
{
    return (struct list){ &config->roots, &config->root_count };
}

void tarn_option_clear(struct tarn_config *config, const struct tarn_option *option)
{
    if (option->type != TARN_O_LIST)
        return;
    struct list list = list_of(config);
    for (size_t i = 0; i < *list.count; i++)
        free((*list.items)[i]);
    free(*list.items);
    *list.items = NULL;
    *list.count = 0;
}

static tarn_code add_to_list(struct tarn_config *config, const char *text, struct tarn_err *err)
{
    struct list list = list_of(config);

    if (!*text)
        return tarn_fail(err, TARN_INVALID, "must not be empty");
    if (*list.count == LIST_MAX)
        return tarn_fail(err, TARN_INVALID, "more than %d", LIST_MAX);
    TARN_AUTO(mem) char *copy = strdup(text);
    char **items = copy ? realloc(*list.items, (*list.count + 1) * sizeof *items) : NULL;
    if (!items)
        return tarn_fail_oom(err);
    *list.items = items;
    items[(*list.count)++] = tarn_take(&copy);
    return TARN_OK;
}

static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);

    for (const char *p = words; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        if (n == len && memcmp(p, word, n) == 0)
            return true;
        p += n;
    }
    return false;
}

static tarn_code parse_bool(const char *text, bool *out, struct tarn_err *err)
{
    static const struct { const char *word; bool value; } k_words[] = {
        { "true", true }, { "false", false }, { "yes", true }, { "no", false },
        { "on", true },   { "off", false },   { "1", true },   { "0", false },
    };

    for (size_t i = 0; i < TARN_COUNT(k_words); i++)
        if (strcasecmp(text, k_words[i].word) == 0) {
            *out = k_words[i].value;
            return TARN_OK;
        }
    return tarn_fail(err, TARN_INVALID, "'%.64s' is neither true nor false", text);
}

/* Digits with an optional unit; `units` NULL: none allowed. */
struct unit { const char *name; int64_t factor; };

static tarn_code parse_number(const char *text, const struct unit *units, size_t count, int64_t *out,
                              struct tarn_err *err)
{
    char *end;

    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || errno || text[0] == '+' || text[0] == ' ')
        return tarn_fail(err, TARN_INVALID, "'%.64s' is no %s", text,
                         units ? "size such as 64MiB" : "whole number");
    end += units && *end == ' ' ? 1 : 0;
    if (*end == '\0') {
        *out = number;
        return TARN_OK;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(end, units[i].name) == 0 && number >= 0 && number <= INT64_MAX / units[i].factor) {
            *out = number * units[i].factor;
            return TARN_OK;
        }
    return tarn_fail(err, TARN_INVALID, "'%.64s' is no %s", text,
                     units ? "size such as 64MiB" : "whole number");
}

static tarn_code parse_bytes(const char *text, int64_t *out, struct tarn_err *err)
{
    static const struct unit k_units[] = {
        { "B", 1 },           { "kB", 1000 },        { "KB", 1000 },        { "MB", 1000000 },
        { "GB", 1000000000 }, { "KiB", 1 << 10 },    { "MiB", 1 << 20 },    { "GiB", 1 << 30 },
    };

    return parse_number(text, k_units, TARN_COUNT(k_units), out, err);
}

/* A bound as people write it. */
static const char *bound(const struct tarn_option *option, int64_t value, char out[TARN_TIME_TEXT])
{
    if (option->type == TARN_O_DURATION)
        return tarn_duration_format(value, out);
    snprintf(out, TARN_TIME_TEXT, "%lld%s", (long long)value, option->type == TARN_O_BYTES ? " bytes" : "");
    return out;
}

static tarn_code set_number(struct tarn_config *config, const struct tarn_option *option, const char *text,
                            struct tarn_err *err)
{
    char low[TARN_TIME_TEXT], high[TARN_TIME_TEXT];
    int64_t value = 0;
    tarn_code code = TARN_OK;

    if (option->type == TARN_O_DURATION)
        code = tarn_duration_parse(text, &value, err);
    else if (option->type == TARN_O_BYTES)
        code = parse_bytes(text, &value, err);
    else
        code = parse_number(text, NULL, 0, &value, err);
    if (code != TARN_OK)
        return code;
    if (value < option->min || value > option->max)
        return tarn_fail(err, TARN_INVALID, "%.64s lies outside %s to %s", text,
                         bound(option, option->min, low), bound(option, option->max, high));
    *(int64_t *)member(config, option) = value;
    return TARN_OK;
}

static tarn_code set_object(struct tarn_config *config, const struct tarn_option *option, json_t *object,
                            struct tarn_err *err)
{
    json_t **target = member(config, option);

    if (!json_is_object(object)) {
        json_decref(object);
        return tarn_fail(err, TARN_INVALID, "must be an object");
    }
    json_decref(*target);
    *target = object;
    return TARN_OK;
}

tarn_code tarn_option_judge(const struct tarn_config *config, const struct tarn_option *option,
                            const json_t *object, struct tarn_err *err)
{
    return config->judge && json_is_object(object) ? config->judge(object, option->key, err) : TARN_OK;
}

static tarn_code set_judged(struct tarn_config *config, const struct tarn_option *option, json_t *object,
                            struct tarn_err *err)
{
    tarn_code code = tarn_option_judge(config, option, object, err);

    if (code == TARN_OK)
        return set_object(config, option, object, err);
    json_decref(object);
    return code;
}

static tarn_code set_value(struct tarn_config *config, const struct tarn_option *option, const char *text,
                           struct tarn_err *err)
{
    json_t *object;
    tarn_code code;

    switch (option->type) {
    case TARN_O_LIST: return add_to_list(config, text, err);
    case TARN_O_BOOL: return parse_bool(text, member(config, option), err);
    case TARN_O_NUMBER:
    case TARN_O_DURATION:
    case TARN_O_BYTES: return set_number(config, option, text, err);
    case TARN_O_OBJECT:
        code = tarn_json_parse(text, strlen(text), NULL, &object, err);
        return code == TARN_OK ? set_judged(config, option, object, err) : code;
    case TARN_O_WORD:
        if (!has_word(option->words, text))
            return tarn_fail(err, TARN_INVALID, "'%.64s' is none of: %s", text, option->words);
        break;
    case TARN_O_TEXT: break;
    }
    if (*text == '\0')
        return tarn_fail(err, TARN_INVALID, "must not be empty");
    return tarn_text_own(member(config, option), strdup(text), err);
}

/* Put the place and the key, or what is at fault inside of it, before the fault. */
static tarn_code placed(tarn_code code, const struct tarn_option *option, const char *where,
                        struct tarn_err *err)
{
    if (code == TARN_INVALID && err)
        return tarn_fail(err, TARN_INVALID, "%s: %s: %s", where, err->field[0] ? err->field : option->key,
                         err->detail);
    return code;
}

tarn_code tarn_option_set(struct tarn_config *config, const struct tarn_option *option, const char *text,
                          const char *where, struct tarn_err *err)
{
    return placed(set_value(config, option, text, err), option, where, err);
}

tarn_code tarn_option_set_object(struct tarn_config *config, const struct tarn_option *option, json_t *object,
                                 const char *where, struct tarn_err *err)
{
    return placed(set_object(config, option, object, err), option, where, err);
}
