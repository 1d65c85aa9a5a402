/* cures.c - the way from a finding to the command that cures it. Names
 * go through quotes, so that a line can be copied into a shell. */
#include "cli/cures.h"
#include "base/buf.h"
#include "base/own.h"
#include "cli/out.h"
#include "monitors/monitors.h"
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* As a word of the shell. */
static void add_word(struct tarn_buf *out, const char *text)
{
    static const char k_plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/=:@%+,";

    if (*text && text[strspn(text, k_plain)] == '\0') {
        tarn_buf_adds(out, text);
        return;
    }
    tarn_buf_addc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            tarn_buf_adds(out, "'\\'");
        tarn_buf_addc(out, *text);
    }
    tarn_buf_addc(out, '\'');
}

static void add_command(struct tarn_buf *out, const char *table, const char *plan, bool is_by_name)
{
    bool is_repair = strcmp(plan, "recover") != 0;

    tarn_buf_adds(out, is_repair ? "tarn repair " : "tarn recover --table ");
    add_word(out, table);
    if (is_repair)
        tarn_buf_addf(out, " %s", plan);
    if (is_by_name)
        tarn_buf_adds(out, " --path FILE");
}

/* What cures the i-th finding; false: nothing does, or an earlier one has the same. */
static bool is_new(const json_t *findings, size_t i, const char **plan, bool *is_by_name)
{
    const json_t *finding = json_array_get(findings, i);

    *plan = text_of(finding, "cure");
    *is_by_name = tarn_cure_is_by_name(text_of(finding, "code"));
    for (size_t k = 0; k < i; k++) {
        const json_t *other = json_array_get(findings, k);
        if (strcmp(text_of(other, "cure"), *plan) == 0 && tarn_cure_is_by_name(text_of(other, "code")) == *is_by_name)
            return false;
    }
    return **plan != '\0';
}

void tarn_cures_show(const json_t *status)
{
    const json_t *findings = json_object_get(status, "findings");
    const char *plan;
    bool is_by_name, any = false, any_by_name = false;

    for (size_t i = 0; i < json_array_size(findings); i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf command = { 0 };
        if (!is_new(findings, i, &plan, &is_by_name))
            continue;
        add_command(&command, text_of(status, "table"), plan, is_by_name);
        fputs(any ? "  " : "\ncures (each tells its plan; --run does it):\n  ", stdout);
        tarn_print_safe(command.data ? command.data : "");
        fputc('\n', stdout);
        any = true;
        any_by_name |= is_by_name;
    }
    if (any_by_name)
        fputs("FILE is one of the table's files; --path / takes all\n", stdout);
}

/* Files that one finding stands for. */
static json_int_t files_of(const json_t *finding)
{
    bool is_many = strcmp(text_of(finding, "subject"), "*") == 0;
    json_int_t many = json_integer_value(json_object_get(finding, "observed"));

    return is_many && many > 0 ? many : 1;
}

void tarn_cures_named_show(const json_t *status, const char *plan)
{
    const json_t *findings = json_object_get(status, "findings");
    TARN_AUTO_DONE(buf) struct tarn_buf codes = { 0 };
    json_int_t files = 0;
    const char *last = "";

    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        const char *code = text_of(finding, "code");
        if (strcmp(text_of(finding, "cure"), plan) != 0 || !tarn_cure_is_by_name(code))
            continue;
        files += files_of(finding);
        if (strcmp(code, last) != 0) /* findings stand in order of severity and code */
            tarn_buf_addf(&codes, "%s%s", *last ? ", " : "", code);
        last = code;
    }
    if (files == 0)
        return;
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    tarn_buf_addf(&text, "%lld listed %s (%s) can be mended by name: ", (long long)files, files == 1 ? "file" : "files",
                  codes.data ? codes.data : "");
    add_command(&text, text_of(status, "table"), plan, true);
    tarn_buf_adds(&text, ", or --path / for all");
    tarn_print_safe(text.data ? text.data : "");
    fputc('\n', stdout);
}
