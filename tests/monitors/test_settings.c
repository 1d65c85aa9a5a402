/* `monitors` of a table over those of the server over the defaults. */
#include "tests/monitors/judged.h"
#include "base/own.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static const struct { const char *monitors, *field; } k_checked[] = {
    { "{}", NULL },
    { "{\"interval\":\"60s\",\"status_policy\":\"strict\",\"timezone\":\"Europe/Berlin\",\"maintenance\":[]}", NULL },
    { "{\"manifest_age\":{\"warning\":\"1m\",\"error\":\"15m\",\"severity\":\"warning\",\"grace\":\"15m\"}}", NULL },
    { "{\"manifest_age\":{\"warning\":90}}", NULL },
    { "{\"schema_drift.extra_column\":{\"severity\":\"off\"}}", NULL },
    { "{\"manifest_age\":null}", NULL },
    { "{\"missing_column_stats\":{\"warning\":0.2,\"error\":\"50%\"}}", NULL },
    { "{\"missing_column_stats\":{\"warning\":0,\"error\":1}}", NULL },
    { "{\"missing_column_stats\":{\"warning\":1.01}}", "monitors.missing_column_stats.warning" },
    { "{\"missing_column_stats\":{\"warning\":\"20\"}}", "monitors.missing_column_stats.warning" },
    { "{\"missing_column_stats\":{\"warning\":\"101%\"}}", "monitors.missing_column_stats.warning" },
    { "{\"missing_column_stats\":{\"warning\":\"5m\"}}", "monitors.missing_column_stats.warning" },
    { "{\"manifest_age\":{\"warning\":\"soon\"}}", "monitors.manifest_age.warning" },
    { "{\"manifest_age\":{\"warning\":-1}}", "monitors.manifest_age.warning" },
    { "{\"manifest_age\":{\"warn\":\"1m\"}}", "monitors.manifest_age.warn" },
    { "{\"manifest_age\":{\"severity\":\"bad\"}}", "monitors.manifest_age.severity" },
    { "{\"manifest_age\":{\"severity\":\"ok\"}}", "monitors.manifest_age.severity" },
    { "{\"manifest_age\":[]}", "monitors.manifest_age" },
    { "{\"manifest_unreadable\":{\"warning\":\"1m\"}}", "monitors.manifest_unreadable.warning" },
    { "{\"manifest_unreadable\":{\"grace\":\"1m\"}}", "monitors.manifest_unreadable.grace" },
    { "{\"no_such_thing\":{}}", "monitors.no_such_thing" },
    { "{\"timezone\":\"Europe/Atlantis\"}", "monitors.timezone" },
    { "{\"timezone\":2}", "monitors.timezone" },
    { "{\"freshness\":{\"warning\":\"1h\",\"error\":\"2h\"}}", NULL },
    { "{\"freshness\":{\"deadline\":{\"at\":\"09:00\",\"timezone\":\"Europe/Berlin\",\"days\":[\"mon\",\"fri\"],\"window\":\"12h\"}}}", NULL },
    { "{\"freshness\":{\"contract\":{\"warning\":\"4h\",\"error\":\"5h\",\"deadline\":{\"at\":\"23:59:59\"}}}}", NULL },
    { "{\"freshness\":{\"deadline\":\"09:00\"}}", "monitors.freshness.deadline" },
    { "{\"freshness\":{\"deadline\":{}}}", "monitors.freshness.deadline.at" },
    { "{\"freshness\":{\"deadline\":{\"at\":\"9:00\"}}}", "monitors.freshness.deadline.at" },
    { "{\"freshness\":{\"deadline\":{\"at\":\"24:00\"}}}", "monitors.freshness.deadline.at" },
    { "{\"freshness\":{\"deadline\":{\"at\":\"09:00:61\"}}}", "monitors.freshness.deadline.at" },
    { "{\"freshness\":{\"deadline\":{\"at\":\"09:00x00\"}}}", "monitors.freshness.deadline.at" },
    { "{\"freshness\":{\"deadline\":{\"at\":\"09:00\",\"timezone\":\"Mars/Olympus\"}}}", "monitors.freshness.deadline.timezone" },
    { "{\"freshness\":{\"deadline\":{\"at\":\"09:00\",\"days\":[\"monday\"]}}}", "monitors.freshness.deadline.days" },
    { "{\"freshness\":{\"deadline\":{\"at\":\"09:00\",\"window\":\"0s\"}}}", "monitors.freshness.deadline.window" },
    { "{\"freshness\":{\"deadline\":{\"at\":\"09:00\",\"by\":1}}}", "monitors.freshness.deadline.by" },
    { "{\"freshness\":{\"contract\":{\"deadline\":{\"at\":\"x\"}}}}", "monitors.freshness.contract.deadline.at" },
    { "{\"freshness\":{\"contract\":{\"error\":\"soon\"}}}", "monitors.freshness.contract.error" },
    { "{\"manifest_age\":{\"deadline\":{\"at\":\"09:00\"}}}", "monitors.manifest_age.deadline" },
    { "{\"interval\":\"10ms\"}", "monitors.interval" },
    { "{\"interval\":0}", "monitors.interval" },
    { "{\"status_policy\":\"harsh\"}", "monitors.status_policy" },
    { "[]", "monitors" },
};

Test(settings, what_is_not_valid_is_named)
{
    for (size_t i = 0; i < TARN_COUNT(k_checked); i++) {
        json_auto_t *json = json_loads(k_checked[i].monitors, 0, NULL);
        TARN_ERR(err);
        tarn_code code = tarn_monitors_check(json, "monitors", &err);
        cr_expect(eq(int, code, k_checked[i].field ? TARN_INVALID : TARN_OK), "%s", k_checked[i].monitors);
        cr_expect(eq(str, err.field, (char *)(uintptr_t)(k_checked[i].field ? k_checked[i].field : "")), "%s", k_checked[i].monitors);
    }
}

Test(settings, the_nearest_wins_member_by_member)
{
    json_auto_t *server = json_loads("{\"manifest_age\":{\"warning\":\"2m\",\"error\":\"1h\"},\"interval\":\"5m\"}", 0, NULL);
    const struct tarn_monitor_defaults defaults = { .interval_ms = MINUTE, .sweep_interval_ms = 10 * MINUTE, .monitors = server };
    struct tarn_settings settings;

    tarn_settings_resolve(&defaults, "{\"manifest_age\":{\"warning\":\"3m\"},\"status_policy\":\"strict\"}", &settings);
    const struct tarn_kind_settings *age = tarn_settings_of(&settings, "manifest_age");
    cr_expect(eq(i64, age->warning.value, 3 * MINUTE));
    cr_expect(eq(i64, age->error.value, 60 * MINUTE));
    cr_expect(eq(i64, age->grace_ms, MINUTE));
    cr_expect(eq(i64, settings.interval_ms, 5 * MINUTE));
    cr_expect(eq(int, settings.policy, TARN_POLICY_STRICT));

    int64_t interval_ms;
    enum tarn_policy policy;
    tarn_settings_glance(&defaults, "{\"interval\":\"30s\"}", &interval_ms, &policy);
    cr_expect(eq(i64, interval_ms, 30000));
    cr_expect(eq(int, policy, TARN_POLICY_DEFAULT));
}

Test(settings, what_is_set_beats_a_contract_but_not_a_nearer_one)
{
    json_auto_t *server = json_loads("{\"freshness\":{\"warning\":\"1d\",\"deadline\":{\"at\":\"06:00\"}}}", 0, NULL);
    const struct tarn_monitor_defaults defaults = { .interval_ms = MINUTE, .sweep_interval_ms = 10 * MINUTE, .monitors = server };
    struct tarn_settings settings;

    tarn_settings_resolve(&defaults, "{\"freshness\":{\"contract\":{\"error\":\"1h\"}}}", &settings);
    cr_expect(not(tarn_settings_of(&settings, "freshness")->warning.is_set));
    cr_expect(not(settings.freshness.deadline.is_set));
    cr_expect(eq(i64, settings.freshness.contract.error.value, 60 * MINUTE));
    tarn_settings_resolve(&defaults, "{\"freshness\":{\"error\":\"2h\",\"contract\":{\"error\":\"1h\"}},\"timezone\":\"Asia/Tokyo\"}", &settings);
    cr_expect(eq(i64, tarn_settings_of(&settings, "freshness")->error.value, 120 * MINUTE));
    cr_expect(eq(str, settings.zone_name, "Asia/Tokyo"));
    tarn_settings_resolve(&defaults, "{}", &settings);
    cr_expect(eq(str, settings.freshness.deadline.text, "06:00"));
}

Test(settings, the_graces_of_the_contract_are_the_defaults)
{
    static const struct { const char *code; int64_t grace_ms; } k_graces[] = {
        { "unregistered_data_file", 15 * MINUTE },
        { "uncommitted_transaction", 15 * MINUTE },
        { "transaction_gap", MINUTE },
        { "manifest_age", MINUTE },
    };
    struct tarn_settings settings;

    tarn_settings_resolve(NULL, NULL, &settings);
    for (size_t i = 0; i < TARN_COUNT(k_graces); i++)
        cr_expect(eq(i64, tarn_settings_of(&settings, k_graces[i].code)->grace_ms, k_graces[i].grace_ms), "%s", k_graces[i].code);
}

Test(settings, every_kind_has_a_sentence_and_a_code_of_its_own)
{
    for (size_t i = 0; i < tarn_kinds_count; i++) {
        cr_expect(tarn_kinds[i].text && strlen(tarn_kinds[i].text) > 20);
        cr_expect(eq(ptr, (void *)(uintptr_t)tarn_kind_find(tarn_kinds[i].code), (void *)(uintptr_t)&tarn_kinds[i]));
    }
}
