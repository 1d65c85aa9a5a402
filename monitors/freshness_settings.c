/* freshness_settings.c - what `monitors.freshness` holds besides the members of every kind: a deadline, and what a data
 * contract promises. What the table itself sets beats the contract, which beats what is learned. */
#include "monitors/freshness.h"
#include <stdio.h>
#include <string.h>

static const char *const k_days[] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };

/* "09:00" or "09:00:30" on a 24-hour clock. */
bool tarn_settings_clock(const char *text, int64_t *out)
{
    static const int k_limits[] = { 23, 59, 59 };
    size_t len = strlen(text);
    int parts[3] = { 0 };

    if (len != 5 && len != 8)
        return false;
    for (size_t i = 0; i <= len / 3; i++) {
        const char *p = text + 3 * i;
        if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9' || (p[2] != '\0' && p[2] != ':'))
            return false;
        parts[i] = (p[0] - '0') * 10 + (p[1] - '0');
        if (parts[i] > k_limits[i])
            return false;
        if (p[2] == '\0')
            break;
    }
    *out = parts[0] * TARN_HOUR_MS + parts[1] * TARN_MINUTE_MS + parts[2] * TARN_SECOND_MS;
    return true;
}

tarn_code tarn_settings_days(const json_t *value, unsigned *out, struct tarn_err *err)
{
    unsigned days = 0;
    size_t i, k;
    json_t *day;

    if (!json_is_array(value) || json_array_size(value) == 0)
        return tarn_fail_field(err, "days", "must be a list of days such as [\"mon\",\"tue\"]");
    json_array_foreach (value, i, day) {
        const char *text = json_string_value(day);
        for (k = 0; k < TARN_COUNT(k_days) && !(text && strcmp(text, k_days[k]) == 0);)
            k++;
        if (k == TARN_COUNT(k_days))
            return tarn_fail_field(err, "days", "must be of mon, tue, wed, thu, fri, sat, sun");
        days |= 1U << k;
    }
    *out = days;
    return TARN_OK;
}

tarn_code tarn_settings_zone(const char *key, const json_t *value, const struct tarn_zone **out, struct tarn_err *err)
{
    const char *name = json_string_value(value);
    TARN_ERR(fault);

    if (!name)
        return tarn_fail_field(err, key, "must be the name of a time zone such as \"Europe/Berlin\"");
    if (tarn_zone_get(name, out, &fault) != TARN_OK)
        return tarn_fail_field(err, key, "%s", fault.detail);
    return TARN_OK;
}

static tarn_code read_window(const json_t *value, int64_t *out, struct tarn_err *err)
{
    const char *text = json_string_value(value);

    if (!text || tarn_duration_parse(text, out, NULL) != TARN_OK || *out <= 0 || *out > 28 * TARN_DAY_MS)
        return tarn_fail_field(err, "window", "must be a duration such as \"12h\", of 28 days at most");
    return TARN_OK;
}

static tarn_code read_deadline_member(const char *key, const json_t *value, struct tarn_deadline *out, struct tarn_err *err)
{
    const char *text = json_string_value(value);

    if (strcmp(key, "at") == 0) {
        if (!text || !tarn_settings_clock(text, &out->at_ms))
            return tarn_fail_field(err, key, "must be a time of day such as \"09:00\"");
        snprintf(out->text, sizeof out->text, "%s", text);
        return TARN_OK;
    }
    if (strcmp(key, "timezone") == 0) {
        tarn_code code = tarn_settings_zone(key, value, &out->zone, err);
        if (code == TARN_OK)
            snprintf(out->zone_name, sizeof out->zone_name, "%s", text);
        return code;
    }
    if (strcmp(key, "days") == 0)
        return tarn_settings_days(value, &out->days, err);
    if (strcmp(key, "window") == 0)
        return read_window(value, &out->window_ms, err);
    return tarn_fail_field(err, key, "is not known here: at, timezone, days, window");
}

/* A deadline is replaced whole: half of an outer one makes no sense. */
static tarn_code read_deadline(json_t *object, struct tarn_deadline *out, struct tarn_err *err)
{
    struct tarn_deadline deadline = { .is_set = true, .window_ms = -1 };
    const char *key;
    json_t *value;
    tarn_code code = TARN_OK;

    if (!json_is_object(object))
        return tarn_fail_field(err, "", "must be an object such as {\"at\":\"09:00\"}");
    json_object_foreach (object, key, value) {
        if (code == TARN_OK && !json_is_null(value))
            code = read_deadline_member(key, value, &deadline, err);
    }
    if (code == TARN_OK && deadline.text[0] == '\0')
        return tarn_fail_field(err, "at", "is missing");
    if (code == TARN_OK)
        *out = deadline;
    return code;
}

static tarn_code read_promise_member(const struct tarn_kind *kind, const char *key, json_t *value, struct tarn_promise *out,
                                     struct tarn_err *err)
{
    if (strcmp(key, "warning") == 0)
        return tarn_settings_limit(kind, key, value, &out->warning, err);
    if (strcmp(key, "error") == 0)
        return tarn_settings_limit(kind, key, value, &out->error, err);
    if (strcmp(key, "deadline") != 0)
        return tarn_fail_field(err, key, "is not known here: warning, error, deadline");
    tarn_code code = read_deadline(value, &out->deadline, err);
    return code == TARN_OK || !err ? code : tarn_err_prefix(err, "%s", key);
}

static tarn_code read_promise(const struct tarn_kind *kind, json_t *object, struct tarn_promise *out, struct tarn_err *err)
{
    struct tarn_promise promise = { 0 };
    const char *key;
    json_t *value;
    tarn_code code = TARN_OK;

    if (!json_is_object(object))
        return tarn_fail_field(err, "", "must be an object");
    json_object_foreach (object, key, value) {
        if (code == TARN_OK && !json_is_null(value))
            code = read_promise_member(kind, key, value, &promise, err);
    }
    if (code == TARN_OK)
        *out = promise;
    return code;
}

bool tarn_freshness_knows(const char *key) { return strcmp(key, "deadline") == 0 || strcmp(key, "contract") == 0; }

tarn_code tarn_freshness_member(const struct tarn_kind *kind, const char *key, json_t *value,
                                struct tarn_freshness_settings *out, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = strcmp(key, "deadline") == 0 ? read_deadline(value, &out->deadline, &fault)
                                                  : read_promise(kind, value, &out->contract, &fault);

    if (code == TARN_OK)
        return TARN_OK;
    (void)tarn_err_prefix(&fault, "%s", key);
    return tarn_err_move(err, &fault);
}
