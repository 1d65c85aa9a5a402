/* maintenance.c - `monitors.maintenance`: windows of the wall clock in which a table may look wrong. What looks wrong
 * inside one neither opens nor is told; outside everything goes on as if it had been looked at all along. */
#include "monitors/judge.h"
#include "base/json.h"
#include <string.h>

static tarn_code read_clock(const char *key, const char *text, int64_t *out, struct tarn_err *err)
{
    if (strcmp(key, "to") == 0 && strcmp(text, "24:00") == 0) {
        *out = TARN_DAY_MS;
        return TARN_OK;
    }
    return tarn_settings_clock(text, out) ? TARN_OK
                                          : tarn_fail_field(err, key, "must be a time of day such as \"01:00\"");
}

static tarn_code read_window(const json_t *object, struct tarn_window *out, struct tarn_err *err)
{
    const char *from = NULL, *to = NULL;
    json_t *days = NULL, *zone = NULL;
    const struct tarn_field fields[] = { TARN_STR("from", &from, 1, 8), TARN_STR("to", &to, 1, 8),
                                         TARN_OPT_ANY("days", &days), TARN_OPT_ANY("timezone", &zone), TARN_FIELDS_END };
    struct tarn_window window = { .has_zone = false };

    if (!json_is_object(object))
        return tarn_fail_field(err, "", "must be an object such as {\"from\":\"01:00\",\"to\":\"03:00\"}");
    tarn_code code = tarn_json_read(object, fields, err);
    if (code == TARN_OK)
        code = read_clock("from", from, &window.from_ms, err);
    if (code == TARN_OK)
        code = read_clock("to", to, &window.to_ms, err);
    if (code == TARN_OK && window.from_ms == window.to_ms)
        return tarn_fail_field(err, "to", "must be another time than `from`; a whole day is 00:00 to 24:00");
    if (code == TARN_OK && days)
        code = tarn_settings_days(days, &window.days, err);
    if (code == TARN_OK && zone) {
        window.has_zone = true;
        code = tarn_settings_zone("timezone", zone, &window.zone, err);
    }
    if (code == TARN_OK)
        *out = window;
    return code;
}

/* The list is taken whole: that of an outer namespace is replaced, not added to. */
tarn_code tarn_maintenance_read(const json_t *list, struct tarn_maintenance *out, struct tarn_err *err)
{
    struct tarn_maintenance maintenance = { .count = json_array_size(list) };

    if (!json_is_array(list) || maintenance.count > TARN_WINDOWS_MAX)
        return tarn_fail_field(err, "maintenance", "must be a list of at most %d windows", TARN_WINDOWS_MAX);
    for (size_t i = 0; i < maintenance.count; i++) {
        TARN_ERR(fault);
        if (read_window(json_array_get(list, i), &maintenance.windows[i], &fault) == TARN_OK)
            continue;
        (void)tarn_err_prefix(&fault, "maintenance[%zu]", i);
        return tarn_err_move(err, &fault);
    }
    *out = maintenance;
    return TARN_OK;
}

struct span { int64_t from, to; };

/* The window that begins on that date. An hour that comes twice belongs to it both times. */
static struct span span_on(const struct tarn_window *window, const struct tarn_zone *zone, int64_t days)
{
    int64_t end_day = window->to_ms <= window->from_ms ? days + 1 : days, to_ms = window->to_ms;

    if (to_ms == TARN_DAY_MS) {
        end_day = days + 1;
        to_ms = 0;
    }
    return (struct span){ tarn_zone_instant(zone, days, window->from_ms, false),
                          tarn_zone_instant(zone, end_day, to_ms, true) };
}

static bool begins_on(const struct tarn_window *window, int64_t days)
{
    int weekday = (int)(((days + 3) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */

    return window->days == 0 || (window->days >> weekday & 1U) != 0;
}

static int64_t common(struct span a, struct span b)
{
    int64_t from = a.from > b.from ? a.from : b.from, to = a.to < b.to ? a.to : b.to;

    return to > from ? to - from : 0;
}

int64_t tarn_maintenance_overlap(const struct tarn_maintenance *maintenance, const struct tarn_zone *zone, int64_t from,
                                 int64_t to)
{
    const struct span whole = { from, to };
    int64_t sum = 0;

    for (size_t i = 0; i < maintenance->count; i++) {
        const struct tarn_window *window = &maintenance->windows[i];
        const struct tarn_zone *own = window->has_zone ? window->zone : zone;
        int64_t last = tarn_zone_local(own, to).days, first = tarn_zone_local(own, from).days - 1;
        for (int64_t day = first < last - 60 ? last - 60 : first; day <= last; day++)
            sum += begins_on(window, day) ? common(span_on(window, own, day), whole) : 0;
    }
    return sum < to - from ? sum : to - from; /* windows may lie over each other */
}

bool tarn_maintenance_covers(const struct tarn_maintenance *maintenance, const struct tarn_zone *zone, int64_t at_ms,
                             int64_t *edge_ms)
{
    int64_t edge = at_ms + TARN_DAY_MS;
    bool covers = false;

    for (size_t i = 0; i < maintenance->count; i++) {
        const struct tarn_window *window = &maintenance->windows[i];
        const struct tarn_zone *own = window->has_zone ? window->zone : zone;
        int64_t today = tarn_zone_local(own, at_ms).days;
        for (int64_t day = today - 1; day <= today + 1; day++) {
            if (!begins_on(window, day))
                continue;
            struct span span = span_on(window, own, day);
            covers |= at_ms >= span.from && at_ms < span.to;
            edge = span.from > at_ms && span.from < edge ? span.from : edge;
            edge = span.to > at_ms && span.to < edge ? span.to : edge;
        }
    }
    if (edge_ms)
        *edge_ms = maintenance->count > 0 ? edge : INT64_MAX;
    return covers;
}
