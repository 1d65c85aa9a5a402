/* args.c - the words after a command: flags by the command's
 * table, the rest as they come. `--` ends the flags. */
#include "base/text.h"
#include "cli/command.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct tarn_flag *find_in(const struct tarn_flag *table, const char *name, size_t len)
{
    for (; table && table->name; table++)
        if (strlen(table->name) == len && memcmp(table->name, name, len) == 0)
            return table;
    return NULL;
}

static const struct tarn_flag *find_flag(const struct tarn_command *command, const char *name, size_t len)
{
    const struct tarn_flag *flag = find_in(command->flags, name, len);

    if (!flag)
        flag = find_in(tarn_flags_common, name, len);
    if (!flag && command->asks_server)
        flag = find_in(tarn_flags_server, name, len);
    return flag;
}

struct parse {
    int argc;
    char **argv;
    int at;
    struct tarn_cli *cli;
    const char **args;
    struct tarn_cli_flag *flags;
};

static void add_flag(struct parse *p, const struct tarn_flag *flag, const char *value)
{
    p->flags[p->cli->flag_count++] = (struct tarn_cli_flag){ flag, value };
}

static bool is_flag(const char *word) { return word[0] == '-' && word[1] != '\0'; }

static tarn_code take_values(struct parse *p, const struct tarn_flag *flag, const char *inline_value,
                             struct tarn_err *err)
{
    if (flag->kind == TARN_FLAG_BOOL) {
        if (inline_value)
            return tarn_fail(err, TARN_INVALID, "--%s takes no value", flag->name);
        add_flag(p, flag, "");
        return TARN_OK;
    }
    if (inline_value) {
        add_flag(p, flag, inline_value);
        return TARN_OK;
    }
    bool many = flag->kind == TARN_FLAG_MANY;
    if (p->at == p->argc || (many && is_flag(p->argv[p->at])))
        return tarn_fail(err, TARN_INVALID, "--%s needs a value", flag->name);
    do {
        if (!tarn_utf8_valid(p->argv[p->at], strlen(p->argv[p->at])))
            return tarn_fail(err, TARN_INVALID, "an argument is not UTF-8");
        add_flag(p, flag, p->argv[p->at++]);
    } while (many && p->at < p->argc && !is_flag(p->argv[p->at]));
    return TARN_OK;
}

static tarn_code take_word(struct parse *p, bool *ended, struct tarn_err *err)
{
    const char *word = p->argv[p->at++];
    const char *equals = strchr(word, '=');

    if (!tarn_utf8_valid(word, strlen(word)))
        return tarn_fail(err, TARN_INVALID, "an argument is not UTF-8");
    if (!*word) /* a variable of a script that was never set */
        return tarn_fail(err, TARN_INVALID, "an argument is empty");
    if (*ended || !is_flag(word)) {
        p->args[p->cli->arg_count++] = word;
        return TARN_OK;
    }
    if (strcmp(word, "--") == 0) {
        *ended = true;
        return TARN_OK;
    }
    if (strcmp(word, "-h") == 0)
        word = "--help";
    size_t len = equals ? (size_t)(equals - word) : strlen(word);
    const struct tarn_flag *flag =
        strncmp(word, "--", 2) == 0 ? find_flag(p->cli->command, word + 2, len - 2) : NULL;
    if (!flag)
        return tarn_fail(err, TARN_INVALID, "unknown flag %.*s", (int)len, word);
    return take_values(p, flag, equals ? equals + 1 : NULL, err);
}

tarn_code tarn_cli_parse(int argc, char **argv, const struct tarn_command *command, struct tarn_cli *cli,
                         struct tarn_err *err)
{
    size_t slots = (size_t)argc + 1;
    struct parse p = { argc, argv, 0, cli, calloc(slots, sizeof *p.args), calloc(slots, sizeof *p.flags) };
    bool ended = false;
    tarn_code code = TARN_OK;

    *cli = (struct tarn_cli){ .command = command, .args = p.args, .flags = p.flags };
    if (!p.args || !p.flags)
        return tarn_fail_oom(err);
    while (p.at < argc && code == TARN_OK)
        code = take_word(&p, &ended, err);
    if (code != TARN_OK || tarn_cli_has(cli, "help"))
        return code;
    if ((int)cli->arg_count < command->least)
        return tarn_fail(err, TARN_INVALID, "an argument is missing: %s", command->takes);
    if ((int)cli->arg_count > command->most)
        return tarn_fail(err, TARN_INVALID, "unexpected argument '%s'", cli->args[command->most]);
    return TARN_OK;
}

void tarn_cli_done(struct tarn_cli *cli)
{
    free((void *)(uintptr_t)cli->args);
    free((void *)(uintptr_t)cli->flags);
    *cli = (struct tarn_cli){ 0 };
}

const char *tarn_cli_many(const struct tarn_cli *cli, const char *flag, size_t i)
{
    for (size_t k = 0; k < cli->flag_count; k++)
        if (strcmp(cli->flags[k].flag->name, flag) == 0 && i-- == 0)
            return cli->flags[k].value;
    return NULL;
}

const char *tarn_cli_text(const struct tarn_cli *cli, const char *flag)
{
    const char *value = NULL;

    for (size_t k = 0; k < cli->flag_count; k++)
        if (strcmp(cli->flags[k].flag->name, flag) == 0)
            value = cli->flags[k].value;
    return value;
}

bool tarn_cli_has(const struct tarn_cli *cli, const char *flag) { return tarn_cli_text(cli, flag) != NULL; }

tarn_code tarn_cli_number(const struct tarn_cli *cli, const char *flag, long long *out, struct tarn_err *err)
{
    const char *text = tarn_cli_text(cli, flag);
    char *end = NULL;

    errno = 0;
    long long value = text && *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : -1;
    if (!end || *end != '\0' || errno)
        return tarn_fail(err, TARN_INVALID, "--%s: '%s' is no whole number", flag, text ? text : "");
    *out = value;
    return TARN_OK;
}
