/* log.c - one line an event. A line is built whole and written by one write(2), so that lines of several
 * threads never mix; a line that cannot be written is lost, since there is nobody to tell. */
#include "base/log.h"
#include "base/buf.h"
#include "base/jsonw.h"
#include "base/text.h"
#include "base/time.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 16384
#define NUMBERS 8

static atomic_int least_level = TARN_LOG_INFO;
static atomic_int line_format = TARN_LOG_LOGFMT;
static const char *const k_levels[] = { "debug", "info", "warn", "error" };

void tarn_log_setup(enum tarn_log_level least, enum tarn_log_format format)
{
    atomic_store(&least_level, (int)least);
    atomic_store(&line_format, (int)format);
}

static bool needs_quotes(const char *text)
{
    return *text == '\0' || strpbrk(text, " =\"\\") || tarn_has_control(text, strlen(text)) ||
           !tarn_utf8_valid(text, strlen(text));
}

static void add_pair(struct tarn_jsonw *w, bool json, const char *key, const char *value)
{
    struct tarn_jsonw quoted = tarn_jsonw_to(w->out);

    if (!value)
        return;
    if (json) {
        tarn_jsonw_kstr(w, key, value);
        return;
    }
    tarn_buf_addf(w->out, "%s%s=", w->out->len ? " " : "", key);
    if (needs_quotes(value))
        tarn_jsonw_str(&quoted, value);
    else
        tarn_buf_adds(w->out, value);
}

static void write_line(const struct tarn_buf *line)
{
    size_t done = 0;

    while (!line->failed && done < line->len) {
        ssize_t n = write(STDERR_FILENO, line->data + done, line->len - done);
        if (n <= 0)
            return;
        done += (size_t)n;
    }
}

void tarn_log(enum tarn_log_level level, const char *event, ...)
{
    TARN_AUTO_DONE(buf) struct tarn_buf line = { .ceiling = LINE_MAX_BYTES };
    struct tarn_jsonw w = tarn_jsonw_to(&line);
    bool json = atomic_load(&line_format) == TARN_LOG_JSON;
    char ts[TARN_TIME_TEXT];
    va_list ap;

    if ((int)level < atomic_load(&least_level))
        return;
    if (json)
        tarn_jsonw_object(&w);
    add_pair(&w, json, "ts", tarn_time_format(tarn_now_ms(), ts));
    add_pair(&w, json, "level", k_levels[level]);
    add_pair(&w, json, "msg", event);
    va_start(ap, event);
    for (const char *key = va_arg(ap, const char *); key; key = va_arg(ap, const char *))
        add_pair(&w, json, key, va_arg(ap, const char *));
    va_end(ap);
    tarn_buf_adds(&line, json ? "}\n" : "\n");
    write_line(&line);
}

const char *tarn_log_i64(int64_t value)
{
    static _Thread_local char ring[NUMBERS][24];
    static _Thread_local unsigned next;
    char *slot = ring[next++ % NUMBERS];

    snprintf(slot, sizeof ring[0], "%lld", (long long)value);
    return slot;
}

void tarn_log_err(enum tarn_log_level level, const char *event, const struct tarn_err *err)
{
    tarn_log(level, event, "code", tarn_code_slug(err->code), "field", err->field[0] ? err->field : NULL, "detail",
             err->detail, NULL);
}
