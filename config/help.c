/* help.c - the option table as people read it: --help and docs/CONFIGURATION.md. */
#include "base/time.h"
#include "config/options.h"
#include <stdio.h>
#include <string.h>

#define HELP_COLUMN 32
#define HELP_WIDTH 100

/* Words of `text` from column `indent` on, broken before `width`. */
static void add_wrapped(struct tarn_buf *out, const char *text, size_t indent, size_t width)
{
    size_t column = indent;

    while (*text) {
        size_t len = strcspn(text, " ");
        if (column > indent && column + 1 + len > width) {
            tarn_buf_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        tarn_buf_addf(out, "%s%.*s", column > indent ? " " : "", (int)len, text);
        column += len + (column > indent);
        text += len + strspn(text + len, " ");
    }
    tarn_buf_addc(out, '\n');
}

static const char *value_name(const struct tarn_option *option, char out[64])
{
    if (option->type == TARN_O_BOOL)
        return "";
    if (option->type != TARN_O_WORD) {
        snprintf(out, 64, " %s", tarn_option_type_name(option));
        return out;
    }
    snprintf(out, 64, " %s", option->words);
    for (char *p = out + 1; *p; p++)
        *p = *p == ' ' ? '|' : *p;
    return out;
}

static void help_row(struct tarn_buf *out, const struct tarn_option *option)
{
    char flag[64], value[64], sentence[512];

    tarn_option_flag(option, flag);
    int used = snprintf(NULL, 0, "  %s%s", flag, value_name(option, value));
    tarn_buf_addf(out, "  %s%s", flag, value_name(option, value));
    if (used >= HELP_COLUMN - 1)
        tarn_buf_addf(out, "\n%*s", HELP_COLUMN, "");
    else
        tarn_buf_addf(out, "%*s", HELP_COLUMN - used, "");
    bool shown = option->standard && strcmp(option->standard, "{}") != 0 && option->type != TARN_O_BOOL;
    snprintf(sentence, sizeof sentence, "%s%s%s%s", option->sentence, shown ? " Default: " : "",
             shown ? option->standard : "", shown ? "." : "");
    add_wrapped(out, sentence, HELP_COLUMN, HELP_WIDTH);
}

void tarn_config_help(struct tarn_buf *out)
{
    tarn_buf_addf(out, "  --config FILE%*s", HELP_COLUMN - 15, "");
    add_wrapped(out, "YAML file with any of these settings (also TARN_CONFIG).", HELP_COLUMN, HELP_WIDTH);
    for (size_t i = 0; i < tarn_options_count; i++)
        help_row(out, &tarn_options[i]);
    tarn_buf_adds(out, "\nEach flag is also a key of the file (--scan-interval: scan.interval) and a variable\n"
                       "(TARN_SCAN_INTERVAL). Flag beats variable beats file beats default.\n");
}

static const char *range_text(const struct tarn_option *option, char out[128])
{
    char low[TARN_TIME_TEXT], high[TARN_TIME_TEXT];

    out[0] = '\0';
    if (option->type == TARN_O_WORD)
        snprintf(out, 128, "%s", option->words);
    else if (option->type == TARN_O_DURATION)
        snprintf(out, 128, "%s to %s", tarn_duration_format(option->min, low),
                 tarn_duration_format(option->max, high));
    else if (option->type == TARN_O_NUMBER || option->type == TARN_O_BYTES)
        snprintf(out, 128, "%lld to %lld", (long long)option->min, (long long)option->max);
    return out;
}

static void markdown_row(struct tarn_buf *out, const struct tarn_option *option)
{
    static const char *const k_types[] = { "text",   "word",     "list of texts", "true or false",
                                           "number", "duration", "size",          "object" };
    char flag[64], variable[64], range[128];

    tarn_option_flag(option, flag);
    tarn_option_variable(option, variable);
    tarn_buf_addf(out, "| `%s` | `%s` | `%s` | %s | %s%s%s | %s | %s |\n", option->key, flag, variable,
                  k_types[option->type], option->standard ? "`" : "", option->standard ? option->standard : "",
                  option->standard ? "`" : "", range_text(option, range), option->sentence);
}

void tarn_config_markdown(struct tarn_buf *out)
{
    tarn_buf_adds(out, "# Configuration\n\n"
                       "One YAML file (`--config FILE` or `TARN_CONFIG`); every key is also a flag and a variable. Flag beats "
                       "variable beats file beats default. An unknown or ill-typed key stops the start with its line.\n"
                       "\n```yaml\nlisten: 127.0.0.1:8181\nroots:\n  - /srv/lake\nscan:\n  interval: 60s\nmonitors:\n"
                       "  manifest_age:\n    warning: 1m\n```\n\n"
                       "Durations read like `90s`, `15m`, `1h30m`, `7d` (a bare number is seconds), sizes like `64MiB` or "
                       "`2GB` (a bare number is bytes).\n\n"
                       "| key | flag | variable | type | default | values | what |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < tarn_options_count; i++)
        markdown_row(out, &tarn_options[i]);
    tarn_buf_adds(out, "\nThis page is made from `config/options.c` by `make docs`.\n");
}
