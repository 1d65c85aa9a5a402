/* expo.c - see expo.h. Samples come by the million on large lakes: they are written without printf. */
#include "api/metrics/expo.h"
#include <string.h>

const char *tarn_metric_type_text(enum tarn_metric_type type, bool open_metrics)
{
    static const char *const k_open[] = { "gauge", "counter", "info", "stateset", "histogram" };
    static const char *const k_plain[] = { "gauge", "counter", "gauge", "gauge", "histogram" };

    return open_metrics ? k_open[type] : k_plain[type];
}

static const char *unit_text(enum tarn_metric_unit unit)
{
    static const char *const k_texts[] = { "", "bytes", "seconds", "seconds" };

    return k_texts[unit];
}

/* Backslash, line feed and, in labels, the quote. */
static void add_escaped(struct tarn_buf *out, const char *text, bool quotes)
{
    for (;;) {
        size_t plain = strcspn(text, quotes ? "\\\n\"" : "\\\n");
        tarn_buf_add(out, text, plain);
        text += plain;
        if (!*text)
            return;
        tarn_buf_addc(out, '\\');
        tarn_buf_addc(out, *text == '\n' ? 'n' : *text);
        text++;
    }
}

void tarn_expo_label(struct tarn_buf *out, const char *name, const char *value)
{
    tarn_buf_adds(out, name);
    tarn_buf_adds(out, "=\"");
    add_escaped(out, value, true);
    tarn_buf_addc(out, '"');
}

/* In OpenMetrics a family is named without the suffix of its samples. */
static size_t family_len(const char *name, enum tarn_metric_type type)
{
    static const char *const k_suffixes[] = { [TARN_M_COUNTER] = "_total", [TARN_M_INFO] = "_info" };
    const char *suffix = (size_t)type < TARN_COUNT(k_suffixes) ? k_suffixes[type] : NULL;
    size_t len = strlen(name), tail = suffix ? strlen(suffix) : 0;

    return len > tail && suffix && strcmp(name + len - tail, suffix) == 0 ? len - tail : len;
}

static void add_meta(const struct tarn_expo *expo, const char *word, const char *name, size_t len,
                     const char *text)
{
    tarn_buf_adds(expo->out, word);
    tarn_buf_add(expo->out, name, len);
    tarn_buf_addc(expo->out, ' ');
    add_escaped(expo->out, text, expo->open_metrics);
    tarn_buf_addc(expo->out, '\n');
}

void tarn_expo_head(const struct tarn_expo *expo, const char *name, enum tarn_metric_type type,
                    enum tarn_metric_unit unit, const char *help)
{
    size_t len = expo->open_metrics ? family_len(name, type) : strlen(name);

    add_meta(expo, "# HELP ", name, len, help);
    add_meta(expo, "# TYPE ", name, len, tarn_metric_type_text(type, expo->open_metrics));
    if (expo->open_metrics && unit != TARN_M_PLAIN)
        add_meta(expo, "# UNIT ", name, len, unit_text(unit));
}

/* Decimal digits from the right end of `end`; where they begin. */
static char *digits(char *end, uint64_t value, int least)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
        least--;
    } while (value > 0 || least > 0);
    return end;
}

/* A whole number, or one of thousandths or millionths without trailing zeros. */
static void add_value(struct tarn_buf *out, enum tarn_metric_unit unit, int64_t value)
{
    char text[40], *end = text + sizeof text, *at = end;
    int places = unit == TARN_M_MS ? 3 : unit == TARN_M_US ? 6 : 0;
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    uint64_t scale = places == 6 ? 1000000 : places == 3 ? 1000 : 1;
    uint64_t part = size % scale;

    if (part > 0) {
        for (; part % 10 == 0; places--)
            part /= 10;
        at = digits(at, part, places);
        *--at = '.';
    }
    at = digits(at, size / scale, 1);
    if (value < 0)
        *--at = '-';
    tarn_buf_add(out, at, (size_t)(end - at));
}

void tarn_expo_sample(const struct tarn_expo *expo, const char *name, const char *suffix, const char *labels,
                      size_t labels_len, const char *more, enum tarn_metric_unit unit, int64_t value)
{
    struct tarn_buf *out = expo->out;
    bool has_more = more[0] != '\0';

    tarn_buf_adds(out, name);
    tarn_buf_adds(out, suffix);
    if (labels_len > 0 || has_more) {
        tarn_buf_addc(out, '{');
        tarn_buf_add(out, labels, labels_len);
        if (labels_len > 0 && has_more)
            tarn_buf_addc(out, ',');
        tarn_buf_adds(out, more);
        tarn_buf_addc(out, '}');
    }
    tarn_buf_addc(out, ' ');
    add_value(out, unit, value);
    tarn_buf_addc(out, '\n');
}

void tarn_expo_end(const struct tarn_expo *expo)
{
    if (expo->open_metrics)
        tarn_buf_adds(expo->out, "# EOF\n");
}
