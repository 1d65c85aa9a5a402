/* contract_sla.c - what the contract promises of the table's freshness. `latency` is how old data may be: an error above
 * it, a warning above 80 % of it. `frequency` alone is how often data comes: a warning after one and a half, an error
 * after two intervals. `timeOfAvailability` is a deadline. The strictest of several counts. */
#include "base/time.h"
#include "base/zone.h"
#include "formats/contract/reading.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define AGE_MAX_MS (INT64_C(100) * 365 * TARN_DAY_MS)

struct promise {
    const struct tarn_contract_sla *about;
    int64_t latency_ms, frequency_ms; /* 0: none */
    char at[12];                      /* "09:00", "": none */
    char zone[80];                    /* "": the table's own */
};

struct sla {
    const char *property, *unit, *element;
    const json_t *value, *ext;
};

/* --- which element it is about --- */

static bool is_name_of(const json_t *element, const char *name, size_t len)
{
    static const char *const k_keys[] = { "name", "physicalName" };

    for (size_t i = 0; i < TARN_COUNT(k_keys); i++) {
        const char *text = json_string_value(json_object_get(element, k_keys[i]));
        if (text && strlen(text) == len && memcmp(text, name, len) == 0)
            return true;
    }
    return false;
}

/* "table.column" or "table": with one element in the contract, whatever stands there is about it. */
static bool is_about_table(const struct tarn_contract_sla *about, const char *path, size_t len)
{
    const char *dot = memchr(path, '.', len);
    size_t name_len = dot ? (size_t)(dot - path) : len;

    return is_name_of(about->element, path, name_len) || is_name_of(about->element, path, len);
}

static bool is_about(const struct tarn_contract_sla *about, const char *elements)
{
    if (!elements || !about->element || json_array_size(about->schema) == 1)
        return true;
    for (const char *at = elements; *at;) {
        size_t len = strcspn(at, ","), skip = strspn(at, " ");
        size_t end = len;
        while (end > skip && at[end - 1] == ' ')
            end--;
        if (skip < end && is_about_table(about, at + skip, end - skip))
            return true;
        at += len + (at[len] == ',');
    }
    return false;
}

/* --- lengths of time --- */

static int64_t unit_ms(const char *unit)
{
    static const struct {
        const char *names;
        int64_t ms;
    } k_units[] = {
        { " s sec secs second seconds ", TARN_SECOND_MS },
        { " m min mins minute minutes ", TARN_MINUTE_MS },
        { " h hr hrs hour hours ", TARN_HOUR_MS },
        { " d day days ", TARN_DAY_MS },
        { " w wk week weeks ", 7 * TARN_DAY_MS },
        { " mo mon month months ", 30 * TARN_DAY_MS },
        { " q quarter quarters ", 91 * TARN_DAY_MS },
        { " y yr yrs year years ", 365 * TARN_DAY_MS },
    };
    char word[20];
    int len = snprintf(word, sizeof word, " %s ", unit);

    for (int i = 0; i < len && len < (int)sizeof word; i++)
        word[i] = (char)tolower((unsigned char)word[i]);
    for (size_t i = 0; i < TARN_COUNT(k_units) && len < (int)sizeof word; i++)
        if (strstr(k_units[i].names, word))
            return k_units[i].ms;
    return 0;
}

/* A number, also as text; NAN when it is none. */
static double number_of(const json_t *value)
{
    char *end = NULL;

    if (json_is_number(value))
        return json_number_value(value);
    const char *text = json_string_value(value);
    double number = text && *text ? strtod(text, &end) : NAN;
    return text && *text && *end == '\0' ? number : NAN;
}

/* `value` in `unit`s; a text may hold its own units ("25h"). */
static tarn_code read_length(struct tarn_contract_at *at, const struct sla *sla, int64_t *out, struct tarn_err *err)
{
    const char *text = json_string_value(sla->value);
    double number = number_of(sla->value);
    int64_t unit = sla->unit ? unit_ms(sla->unit) : 0, length = 0;

    if (sla->unit && unit == 0)
        return tarn_at_fail(at, "unit", err, "'%.40s' is no unit of time: d, h, min, s, w, month or y", sla->unit);
    if (!isnan(number) && !sla->unit)
        return tarn_at_fail(at, "unit", err, "is missing: d, h, min, s, w, month or y");
    if (isnan(number) && (!text || sla->unit || tarn_duration_parse(text, &length, NULL) != TARN_OK))
        return tarn_at_fail(at, "value", err, "must be a number, with its unit in `unit`");
    double ms = isnan(number) ? (double)length : number * (double)unit;
    if (!(ms >= (double)TARN_SECOND_MS && ms <= (double)AGE_MAX_MS))
        return tarn_at_fail(at, "value", err, "must be from a second to a hundred years");
    *out = (int64_t)llround(ms);
    return TARN_OK;
}

static tarn_code take_shortest(struct tarn_contract_at *at, const struct sla *sla, int64_t *kept, struct tarn_err *err)
{
    int64_t length = 0;
    tarn_code code = read_length(at, sla, &length, err);

    if (code == TARN_OK && (*kept == 0 || length < *kept))
        *kept = length;
    return code;
}

static tarn_code take_latency(struct tarn_contract_at *at, const struct sla *sla, struct promise *p, struct tarn_err *err)
{
    return take_shortest(at, sla, &p->latency_ms, err);
}

static tarn_code take_frequency(struct tarn_contract_at *at, const struct sla *sla, struct promise *p,
                                struct tarn_err *err)
{
    return take_shortest(at, sla, &p->frequency_ms, err);
}

/* Tarn keeps no data from growing old: it is noted beside the table. */
static tarn_code take_retention(struct tarn_contract_at *at, const struct sla *sla, struct promise *p,
                                struct tarn_err *err)
{
    char text[TARN_TIME_TEXT];
    int64_t length = 0;
    tarn_code code = read_length(at, sla, &length, err);

    (void)p;
    if (code == TARN_OK && json_object_set_new(at->out->properties, "contract.retention",
                                               json_string(tarn_duration_format(length, text))) != 0)
        return tarn_fail_oom(err);
    return code;
}

/* --- a time of day --- */

/* "9:00", "09:00:30": two digits each; how many bytes it took, 0: it is none. */
static size_t take_clock(const char *text, char out[12])
{
    int hour = 0, minute = 0, second = 0, len = 0, more = 0;

    if (sscanf(text, "%2d:%2d%n", &hour, &minute, &len) != 2 || len == 0)
        return 0;
    if (text[len] == ':' && sscanf(text + len, ":%2d%n", &second, &more) != 1)
        return 0;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return 0;
    if (more > 0)
        snprintf(out, 12, "%02d:%02d:%02d", hour, minute, second);
    else
        snprintf(out, 12, "%02d:%02d", hour, minute);
    return (size_t)(len + more);
}

/* "-08:00", "+0530", "+01" as "-08:00". */
static bool take_offset(const char *text, char out[80])
{
    int hour = 0, minute = 0, len = 0;
    size_t digits = strspn(text + 1, "0123456789");
    bool is_whole = (digits == 2 && sscanf(text + 1, "%2d:%2d%n", &hour, &minute, &len) == 2 && text[1 + len] == '\0') ||
                    (digits == 2 && text[3] == '\0' && sscanf(text + 1, "%2d", &hour) == 1) ||
                    (digits == 4 && text[5] == '\0' && sscanf(text + 1, "%2d%2d", &hour, &minute) == 2);

    if (!is_whole || hour > 14 || minute > 59)
        return false;
    snprintf(out, 80, "%c%02d:%02d", text[0], hour, minute);
    return true;
}

/* Behind the clock: nothing, "Z", an offset, or the name of a zone. */
static bool take_zone(const char *text, char out[80])
{
    while (*text == ' ')
        text++;
    out[0] = '\0';
    if (*text == '\0')
        return true;
    if (*text == '+' || *text == '-')
        return take_offset(text, out);
    if (tarn_at_same(text, "Z") || tarn_at_same(text, "UTC"))
        text = "UTC";
    if (strlen(text) > 63 || strpbrk(text, " :0123456789") == text)
        return false;
    snprintf(out, 80, "%.63s", text);
    return true;
}

/* Where there is no zone database, as in a small container, the server tells. */
static bool is_known_zone(const char *zone)
{
    const struct tarn_zone *found;

    return zone[0] == '\0' || tarn_zone_get(zone, &found, NULL) == TARN_OK || tarn_zone_get("Etc/UTC", &found, NULL) != TARN_OK;
}

static tarn_code take_deadline(struct tarn_contract_at *at, const struct sla *sla, struct promise *p, struct tarn_err *err)
{
    const char *text = json_string_value(sla->value), *ext = json_string_value(sla->ext);
    char clock[12] = "", zone[80] = "";
    size_t len = text ? take_clock(text, clock) : 0;

    if (len == 0 || (text[len] && !strchr(" +-Zz", text[len])) || !take_zone(text + len, zone))
        return tarn_at_fail(at, "value", err, "must be a time of day such as '09:00', '09:00-08:00' or '09:00 Europe/Berlin'");
    if (zone[0] == '\0' && ext && !take_zone(ext, zone))
        return tarn_at_fail(at, "valueExt", err, "must be a time zone");
    if (!is_known_zone(zone))
        return tarn_at_fail(at, strstr(text, zone) ? "value" : "valueExt", err, "'%s' is no time zone known here, such as Europe/Berlin",
                            zone);
    if (p->at[0] != '\0' && (strcmp(p->zone, zone) != 0 || strcmp(p->at, clock) <= 0))
        return strcmp(p->zone, zone) == 0 ? TARN_OK : tarn_at_remark(at, "", err, "another deadline stands before it");
    snprintf(p->at, sizeof p->at, "%s", clock);
    snprintf(p->zone, sizeof p->zone, "%s", zone);
    return TARN_OK;
}

/* --- the list --- */

typedef tarn_code sla_fn(struct tarn_contract_at *at, const struct sla *sla, struct promise *p, struct tarn_err *err);

static sla_fn *sla_of(const char *property)
{
    static const struct {
        const char *name;
        sla_fn *fn;
    } k_rows[] = {
        { "latency", take_latency },     { "ly", take_latency },   { "freshness", take_latency },
        { "frequency", take_frequency }, { "fy", take_frequency }, { "timeOfAvailability", take_deadline },
        { "ta", take_deadline },         { "retention", take_retention }, { "re", take_retention },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        if (tarn_at_same(property, k_rows[i].name))
            return k_rows[i].fn;
    return NULL;
}

static tarn_code read_sla(struct tarn_contract_at *at, const json_t *item, struct sla *out, struct tarn_err *err)
{
    static const char *const k_keys[] = { "id", "property", "value", "valueExt", "unit", "element", "driver",
                                          "description", "scheduler", "schedule", "customProperties", NULL };
    tarn_code code = tarn_at_keys(at, item, k_keys, err);

    *out = (struct sla){ .value = json_object_get(item, "value"), .ext = json_object_get(item, "valueExt") };
    if (code == TARN_OK)
        code = tarn_at_text(at, item, "property", &out->property, err);
    if (code == TARN_OK)
        code = tarn_at_text(at, item, "unit", &out->unit, err);
    if (code == TARN_OK)
        code = tarn_at_text(at, item, "element", &out->element, err);
    if (code == TARN_OK && !out->property)
        code = tarn_at_fail(at, "property", err, "is missing");
    if (code == TARN_OK && (json_is_array(out->value) || json_is_object(out->value)))
        code = tarn_at_fail(at, "value", err, "must be one value");
    return code;
}

static tarn_code take_sla(struct tarn_contract_at *at, const json_t *item, struct promise *p, struct tarn_err *err)
{
    struct sla sla;
    tarn_code code = read_sla(at, item, &sla, err);

    if (code != TARN_OK || !is_about(p->about, sla.element ? sla.element : p->about->standard))
        return code;
    sla_fn *fn = sla_of(sla.property);
    return fn ? fn(at, &sla, p, err) : tarn_at_remark(at, "", err, "'%.60s' is not watched", sla.property);
}

/* --- what becomes of it --- */

static int set_age(json_t *promise, const char *key, int64_t ms)
{
    char text[TARN_TIME_TEXT];

    return json_object_set_new(promise, key, json_string(tarn_duration_format(ms / TARN_SECOND_MS * TARN_SECOND_MS, text)));
}

static int set_deadline(json_t *promise, const struct promise *p)
{
    json_t *deadline = json_pack("{s:s}", "at", p->at);

    if (p->zone[0] && json_object_set_new(deadline, "timezone", json_string(p->zone)) != 0) {
        json_decref(deadline);
        return -1;
    }
    return json_object_set_new(promise, "deadline", deadline);
}

static tarn_code make_freshness(struct tarn_contract_at *at, const struct promise *p, struct tarn_err *err)
{
    json_auto_t *promise = json_object();
    int64_t error = p->latency_ms > 0 ? p->latency_ms : 2 * p->frequency_ms;
    int64_t warning = p->latency_ms > 0 ? p->latency_ms / 5 * 4 : p->frequency_ms / 2 * 3;
    int rc = 0;

    if (error == 0 && p->at[0] == '\0')
        return TARN_OK;
    if (error > 0)
        rc = set_age(promise, "warning", warning) != 0 || set_age(promise, "error", error) != 0;
    if (rc == 0 && p->at[0])
        rc = set_deadline(promise, p);
    at->out->freshness = rc == 0 ? json_pack("{s:O}", "contract", promise) : NULL;
    return at->out->freshness ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_contract_slas(struct tarn_contract_at *at, const json_t *slas, const struct tarn_contract_sla *about,
                             struct tarn_err *err)
{
    struct promise promise = { .about = about };
    tarn_code code = TARN_OK;
    size_t outer = tarn_at_enter(at, "slaProperties", 0);

    for (size_t i = 0; i < json_array_size(slas) && code == TARN_OK; i++) {
        size_t before = tarn_at_enter(at, NULL, i);
        code = take_sla(at, json_array_get(slas, i), &promise, err);
        tarn_at_leave(at, before);
    }
    tarn_at_leave(at, outer);
    return code == TARN_OK ? make_freshness(at, &promise, err) : code;
}
