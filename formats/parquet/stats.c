/* stats.c - the bounds of a column, from the bytes of the footer to JSON. A bound that cannot be
 * compared or shown exactly (an unordered type, a NaN, a decimal wider than a double) is left out: a missing
 * bound costs a reader some time, a wrong one costs it rows. */
#include "base/jsonw.h"
#include "base/text.h"
#include "formats/parquet/footer.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TEXT_MAX 256         /* bytes of a text bound; a longer one is left out */
#define EXACT_DIGITS 15      /* decimal digits that a double holds for certain */
#define NANOS_PER_SECOND INT64_C(1000000000)

enum order {
    ORDER_NONE,
    ORDER_BOOLEAN,
    ORDER_SIGNED,
    ORDER_UNSIGNED,
    ORDER_REAL,
    ORDER_TEXT,
    ORDER_BIG_ENDIAN
};

static enum order integer_order(const struct tarn_pq_element *element)
{
    if (element->logical == TARN_PQ_INTEGER && !element->is_signed)
        return ORDER_UNSIGNED;
    if (element->logical == TARN_PQ_DECIMAL && element->precision > EXACT_DIGITS)
        return ORDER_NONE;
    return element->logical == TARN_PQ_TIME || element->logical == TARN_PQ_UNKNOWN ? ORDER_NONE
                                                                                   : ORDER_SIGNED;
}

static enum order bytes_order(const struct tarn_pq_element *element)
{
    if (element->logical == TARN_PQ_DECIMAL)
        return element->precision <= EXACT_DIGITS ? ORDER_BIG_ENDIAN : ORDER_NONE;
    bool text = element->logical == TARN_PQ_STRING || element->logical == TARN_PQ_ENUM ||
                element->logical == TARN_PQ_JSON;
    return text ? ORDER_TEXT : ORDER_NONE;
}

static enum order order_of(const struct tarn_pq_element *element)
{
    switch (element->physical) {
    case TARN_PQ_BOOLEAN: return ORDER_BOOLEAN;
    case TARN_PQ_INT32:
    case TARN_PQ_INT64: return integer_order(element);
    case TARN_PQ_FLOAT:
    case TARN_PQ_DOUBLE: return element->logical == TARN_PQ_NONE ? ORDER_REAL : ORDER_NONE;
    case TARN_PQ_BYTE_ARRAY:
    case TARN_PQ_FIXED: return bytes_order(element);
    default: return ORDER_NONE;
    }
}

bool tarn_pq_old_bounds_hold(const struct tarn_pq_element *element)
{
    enum order order = order_of(element);

    return order == ORDER_BOOLEAN || order == ORDER_SIGNED || order == ORDER_REAL;
}

static uint64_t little_endian(struct tarn_thrift_bytes bytes)
{
    uint64_t value = 0;

    for (size_t i = bytes.len; i > 0; i--)
        value = value << 8 | bytes.data[i - 1];
    return value;
}

/* Two's complement of any width; false when it needs more than 64 bits. */
static bool big_endian(struct tarn_thrift_bytes bytes, int64_t *out)
{
    bool negative = bytes.len > 0 && bytes.data[0] >= 0x80;
    uint64_t value = negative ? UINT64_MAX : 0;

    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.len - i > 8 && bytes.data[i] != (negative ? 0xff : 0))
            return false;
        value = value << 8 | bytes.data[i];
    }
    *out = (int64_t)value;
    return bytes.len > 0 && (*out < 0) == negative;
}

static int64_t signed_value(const struct tarn_pq_element *element, struct tarn_thrift_bytes bytes)
{
    uint64_t value = little_endian(bytes);

    return element->physical == TARN_PQ_INT32 ? (int32_t)(uint32_t)value : (int64_t)value;
}

static double real_value(const struct tarn_pq_element *element, struct tarn_thrift_bytes bytes)
{
    uint64_t bits = little_endian(bytes);
    uint32_t half = (uint32_t)bits;
    float single;
    double value;

    memcpy(&single, &half, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return element->physical == TARN_PQ_FLOAT ? (double)single : value;
}

/* Is it a value of the element's type at all? */
static bool is_sound(const struct tarn_pq_element *element, struct tarn_thrift_bytes bytes)
{
    static const size_t k_widths[TARN_PQ_PHYSICAL_END] = { 1, 4, 8, 12, 4, 8, 0, 0 };
    size_t width = k_widths[element->physical];
    int64_t ignored;

    if (width > 0 && bytes.len != width)
        return false;
    switch (order_of(element)) {
    case ORDER_NONE: return false;
    case ORDER_REAL: return isfinite(real_value(element, bytes));
    case ORDER_BIG_ENDIAN: return big_endian(bytes, &ignored);
    default: return true;
    }
}

static int text_compare(struct tarn_thrift_bytes a, struct tarn_thrift_bytes b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare(const struct tarn_pq_element *element, struct tarn_thrift_bytes a,
                   struct tarn_thrift_bytes b)
{
    int64_t x = 0, y = 0;

    switch (order_of(element)) {
    case ORDER_TEXT: return text_compare(a, b);
    case ORDER_REAL: {
        double p = real_value(element, a), q = real_value(element, b);
        return (p > q) - (p < q);
    }
    case ORDER_BOOLEAN:
    case ORDER_UNSIGNED: return (little_endian(a) > little_endian(b)) - (little_endian(a) < little_endian(b));
    case ORDER_BIG_ENDIAN:
        if (!big_endian(a, &x) || !big_endian(b, &y))
            return 0;
        break;
    default:
        x = signed_value(element, a);
        y = signed_value(element, b);
    }
    return (x > y) - (x < y);
}

void tarn_pq_bounds_add(struct tarn_pq_leaf *leaf, struct tarn_thrift_bytes min, struct tarn_thrift_bytes max)
{
    const struct tarn_pq_element *element = leaf->element;

    if (!min.data || !max.data || !is_sound(element, min) || !is_sound(element, max)) {
        leaf->bounds_lost = true;
        return;
    }
    if (!leaf->min.data || compare(element, min, leaf->min) < 0)
        leaf->min = min;
    if (!leaf->max.data || compare(element, max, leaf->max) > 0)
        leaf->max = max;
}

/* ---- as JSON ---- */

/* ".25" of 250,000,000; "" of 0. */
static void format_fraction(int64_t nanos, char out[16])
{
    int digits = nanos > 0 ? snprintf(out, 16, ".%09d", (int)nanos) : 0;

    while (digits > 0 && out[digits - 1] == '0')
        digits--;
    out[digits] = '\0';
}

/* "2024-01-31", or with the time of day; false outside of the years 1 to 9999. */
static bool add_instant(struct tarn_jsonw *w, int64_t seconds, int64_t nanos, bool time_of_day,
                        const char *zone)
{
    char date[32], text[80], fraction[16];
    struct tm tm;
    time_t at = (time_t)seconds;

    if (seconds < INT64_C(-62135596800) || seconds > INT64_C(253402300799) || !gmtime_r(&at, &tm))
        return false;
    snprintf(date, sizeof date, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
    if (!time_of_day) {
        tarn_jsonw_str(w, date);
        return true;
    }
    format_fraction(nanos, fraction);
    snprintf(text, sizeof text, "%sT%02d:%02d:%02d%s%s", date, tm.tm_hour, tm.tm_min, tm.tm_sec, fraction,
             zone);
    tarn_jsonw_str(w, text);
    return true;
}

static bool add_timestamp(struct tarn_jsonw *w, const struct tarn_pq_element *element, int64_t value)
{
    static const int64_t k_per_second[] = { 1000, 1000000, NANOS_PER_SECOND };
    int64_t per_second = k_per_second[element->unit];
    int64_t rest = value % per_second, seconds = value / per_second;

    if (rest < 0) {
        rest += per_second;
        seconds--;
    }
    return add_instant(w, seconds, rest * (NANOS_PER_SECOND / per_second), true, element->utc ? "Z" : "");
}

/* An unscaled decimal of at most 15 digits, exact as a JSON number: -1205 of scale 2 is -12.05. */
static bool add_decimal(struct tarn_jsonw *w, int64_t unscaled, int scale)
{
    char digits[32], text[64];
    uint64_t size = unscaled < 0 ? ~(uint64_t)unscaled + 1 : (uint64_t)unscaled;
    int len = snprintf(digits, sizeof digits, "%0*llu", scale + 1, (unsigned long long)size);

    if (scale < 0 || scale > EXACT_DIGITS || len > EXACT_DIGITS + 1)
        return false;
    snprintf(text, sizeof text, "%s%.*s%s%s", unscaled < 0 ? "-" : "", len - scale, digits,
             scale > 0 ? "." : "", digits + len - scale);
    tarn_jsonw_raw(w, text);
    return true;
}

static bool add_signed(struct tarn_jsonw *w, const struct tarn_pq_element *element, int64_t value)
{
    if (element->logical == TARN_PQ_DATE)
        return add_instant(w, value * 86400, 0, false, "");
    if (element->logical == TARN_PQ_TIMESTAMP)
        return add_timestamp(w, element, value);
    if (element->logical == TARN_PQ_DECIMAL)
        return add_decimal(w, value, element->scale);
    tarn_jsonw_i64(w, value);
    return true;
}

static bool add_text(struct tarn_jsonw *w, struct tarn_thrift_bytes bound)
{
    const char *text = (const char *)bound.data;

    if (bound.len > TEXT_MAX || !tarn_utf8_valid(text, bound.len) || memchr(text, '\0', bound.len))
        return false;
    tarn_jsonw_strn(w, text, bound.len);
    return true;
}

/* A float in the fewest digits that read back as that float, not as the double beside it. */
static bool add_real(struct tarn_jsonw *w, const struct tarn_pq_element *element, double value)
{
    char text[32] = "", shown[40];

    if (element->physical == TARN_PQ_DOUBLE) {
        tarn_jsonw_real(w, value);
        return true;
    }
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtof(text, NULL) == (float)value)
            break;
    }
    snprintf(shown, sizeof shown, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
    tarn_jsonw_raw(w, shown);
    return true;
}

static bool add_bound(struct tarn_jsonw *w, const struct tarn_pq_element *element,
                      struct tarn_thrift_bytes bound)
{
    int64_t value = 0;

    switch (order_of(element)) {
    case ORDER_BOOLEAN: tarn_jsonw_bool(w, bound.data[0] != 0); return true;
    case ORDER_SIGNED: return add_signed(w, element, signed_value(element, bound));
    case ORDER_UNSIGNED:
        if (little_endian(bound) > INT64_MAX)
            return false;
        tarn_jsonw_i64(w, (int64_t)little_endian(bound));
        return true;
    case ORDER_REAL: return add_real(w, element, real_value(element, bound) + 0.0); /* no -0.0 */
    case ORDER_TEXT: return add_text(w, bound);
    case ORDER_BIG_ENDIAN: return big_endian(bound, &value) && add_decimal(w, value, element->scale);
    case ORDER_NONE: break;
    }
    return false;
}

char *tarn_pq_bound_json(const struct tarn_pq_element *element, struct tarn_thrift_bytes bound)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&text);

    return add_bound(&w, element, bound) ? tarn_buf_take(&text) : NULL;
}
