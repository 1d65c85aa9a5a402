/* Maintenance windows by their rules alone: which instants they cover, and which texts are none. */
#include "base/zone.h"
#include "tests/monitors/scanned.h"

TestSuite(windows, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

/* Instants were worked out with Python's zoneinfo. */
static const struct { const char *windows, *zone, *at; bool covers; const char *why; } k_windows[] = {
    { "[{\"from\":\"01:00\",\"to\":\"03:00\"}]", NULL, "2026-01-05T00:59:59Z", false, "before" },
    { "[{\"from\":\"01:00\",\"to\":\"03:00\"}]", NULL, "2026-01-05T01:00:00Z", true, "its first instant" },
    { "[{\"from\":\"01:00\",\"to\":\"03:00\"}]", NULL, "2026-01-05T03:00:00Z", false, "its end is outside" },
    { "[{\"from\":\"01:00\",\"to\":\"03:00\"}]", "Europe/Berlin", "2026-01-05T00:30:00Z", true, "01:30 in Berlin, the table's zone" },
    { "[{\"from\":\"01:00\",\"to\":\"03:00\",\"timezone\":\"UTC\"}]", "Europe/Berlin", "2026-01-05T00:30:00Z", false, "its own zone wins" },
    { "[{\"days\":[\"sat\"],\"from\":\"01:00\",\"to\":\"03:00\"}]", NULL, "2026-01-10T02:00:00Z", true, "a Saturday" },
    { "[{\"days\":[\"sat\"],\"from\":\"01:00\",\"to\":\"03:00\"}]", NULL, "2026-01-11T02:00:00Z", false, "a Sunday" },
    { "[{\"days\":[\"sat\"],\"from\":\"22:00\",\"to\":\"02:00\"}]", NULL, "2026-01-11T01:59:00Z", true, "over midnight it is Saturday's" },
    { "[{\"days\":[\"sat\"],\"from\":\"22:00\",\"to\":\"02:00\"}]", NULL, "2026-01-10T01:00:00Z", false, "that would be Friday's" },
    { "[{\"from\":\"00:00\",\"to\":\"24:00\",\"days\":[\"mon\"]}]", NULL, "2026-01-05T23:59:59Z", true, "a whole day" },
    { "[{\"from\":\"00:00\",\"to\":\"24:00\",\"days\":[\"mon\"]}]", NULL, "2026-01-06T00:00:00Z", false, "and no more" },
    /* 2026-03-29 in Berlin: 02:00 becomes 03:00 at 01:00 UTC. */
    { "[{\"from\":\"01:00\",\"to\":\"03:00\"}]", "Europe/Berlin", "2026-03-29T00:30:00Z", true, "01:30, before the jump" },
    { "[{\"from\":\"01:00\",\"to\":\"03:00\"}]", "Europe/Berlin", "2026-03-29T01:00:00Z", false, "the clock shows 03:00 an hour early" },
    { "[{\"from\":\"02:15\",\"to\":\"02:45\"}]", "Europe/Berlin", "2026-03-29T01:20:00Z", true, "an hour that is left out comes later" },
    /* 2026-10-25 in Berlin: 03:00 becomes 02:00 at 01:00 UTC; 02:30 comes twice. */
    { "[{\"from\":\"02:00\",\"to\":\"02:45\"}]", "Europe/Berlin", "2026-10-25T00:30:00Z", true, "02:30 the first time" },
    { "[{\"from\":\"02:00\",\"to\":\"02:45\"}]", "Europe/Berlin", "2026-10-25T01:30:00Z", true, "02:30 the second time" },
    { "[{\"from\":\"02:00\",\"to\":\"02:45\"}]", "Europe/Berlin", "2026-10-25T01:45:00Z", false, "02:45 the second time" },
    { "[{\"from\":\"01:00\",\"to\":\"02:00\"},{\"from\":\"05:00\",\"to\":\"06:00\"}]", NULL, "2026-01-05T05:30:00Z", true, "any of them" },
    { "[]", NULL, "2026-01-05T05:30:00Z", false, "none" },
};

Test(windows, a_window_is_of_the_wall_clock)
{
    for (size_t i = 0; i < TARN_COUNT(k_windows); i++) {
        json_auto_t *list = json_loads(k_windows[i].windows, 0, NULL);
        const struct tarn_zone *zone = NULL;
        struct tarn_maintenance maintenance;
        int64_t at_ms;
        TARN_ERR(err);

        cr_assert(eq(int, tarn_maintenance_read(list, &maintenance, &err), TARN_OK), "%s", err.detail);
        if (k_windows[i].zone)
            cr_assert(eq(int, tarn_zone_get(k_windows[i].zone, &zone, NULL), TARN_OK));
        cr_assert(eq(int, tarn_time_parse(k_windows[i].at, &at_ms, NULL, NULL), TARN_OK));
        cr_expect(eq(int, tarn_maintenance_covers(&maintenance, zone, at_ms, NULL), k_windows[i].covers), "%s: %s", k_windows[i].at,
                  k_windows[i].why);
    }
}

Test(windows, the_next_edge_is_where_the_answer_turns)
{
    json_auto_t *list = json_loads("[{\"from\":\"22:00\",\"to\":\"02:00\",\"days\":[\"mon\"]}]", 0, NULL);
    struct tarn_maintenance maintenance;
    int64_t monday = INT64_C(1767571200000) /* 2026-01-05T00:00:00Z */, edge = 0;

    cr_assert(eq(int, tarn_maintenance_read(list, &maintenance, NULL), TARN_OK));
    (void)tarn_maintenance_covers(&maintenance, NULL, monday, &edge);
    cr_expect(eq(i64, edge, monday + 22 * TARN_HOUR_MS));
    (void)tarn_maintenance_covers(&maintenance, NULL, edge, &edge);
    cr_expect(eq(i64, edge, monday + 26 * TARN_HOUR_MS));
    maintenance.count = 0;
    (void)tarn_maintenance_covers(&maintenance, NULL, monday, &edge);
    cr_expect(eq(i64, edge, INT64_MAX));
}

Test(windows, the_share_of_a_time_that_lies_in_windows_is_summed)
{
    static const struct { const char *windows; int from_hour, to_hour, hours; } k_rows[] = { /* of Monday, 2026-01-05 */
        { "[{\"from\":\"01:00\",\"to\":\"03:00\"}]", 0, 24, 2 },
        { "[{\"from\":\"01:00\",\"to\":\"03:00\"}]", 2, 26, 2 },  /* an hour of today's, one of tomorrow's */
        { "[{\"from\":\"01:00\",\"to\":\"03:00\"}]", 3, 25, 0 },
        { "[{\"from\":\"22:00\",\"to\":\"02:00\"}]", 0, 24, 4 },  /* yesterday's end and today's beginning */
        { "[{\"from\":\"01:00\",\"to\":\"03:00\"},{\"from\":\"05:00\",\"to\":\"06:00\"}]", 0, 24, 3 },
        { "[{\"from\":\"01:00\",\"to\":\"03:00\"},{\"from\":\"01:00\",\"to\":\"03:00\"}]", 1, 3, 2 },
        { "[{\"from\":\"01:00\",\"to\":\"03:00\",\"days\":[\"tue\"]}]", 0, 48, 2 },
        { "[]", 0, 48, 0 },
    };
    const int64_t k_monday = INT64_C(1767571200000);

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        json_auto_t *list = json_loads(k_rows[i].windows, 0, NULL);
        struct tarn_maintenance maintenance;
        cr_assert(eq(int, tarn_maintenance_read(list, &maintenance, NULL), TARN_OK));
        cr_expect(eq(i64, tarn_maintenance_overlap(&maintenance, NULL, k_monday + k_rows[i].from_hour * TARN_HOUR_MS,
                                                   k_monday + k_rows[i].to_hour * TARN_HOUR_MS), k_rows[i].hours * TARN_HOUR_MS),
                  "row %zu", i);
    }
}

static const struct { const char *windows, *field; } k_wrong[] = {
    { "{}", "monitors.maintenance" },
    { "[1]", "monitors.maintenance[0]" },
    { "[{\"from\":\"01:00\"}]", "monitors.maintenance[0].to" },
    { "[{\"from\":\"25:00\",\"to\":\"03:00\"}]", "monitors.maintenance[0].from" },
    { "[{\"from\":\"24:00\",\"to\":\"03:00\"}]", "monitors.maintenance[0].from" },
    { "[{\"from\":\"01:00\",\"to\":\"01:00\"}]", "monitors.maintenance[0].to" },
    { "[{\"from\":\"01:00\",\"to\":\"02:00\"},{\"from\":\"01:00\",\"to\":\"02:00\",\"days\":[\"saturday\"]}]", "monitors.maintenance[1].days" },
    { "[{\"from\":\"01:00\",\"to\":\"02:00\",\"timezone\":\"Berlin\"}]", "monitors.maintenance[0].timezone" },
    { "[{\"from\":\"01:00\",\"to\":\"02:00\",\"day\":\"sat\"}]", "monitors.maintenance[0].day" },
};

Test(windows, a_window_that_is_none_is_refused_by_name)
{
    observed("t");
    for (size_t i = 0; i < TARN_COUNT(k_wrong); i++) {
        json_auto_t *list = json_loads(k_wrong[i].windows, 0, NULL), *monitors = json_pack("{s:O}", "maintenance", list);
        TARN_ERR(err);
        cr_expect(eq(int, tarn_monitors_check(monitors, "monitors", &err), TARN_INVALID), "%s", k_wrong[i].windows);
        cr_expect(eq(str, err.field, TEXT(k_wrong[i].field)), "%s", k_wrong[i].windows);
    }
}
