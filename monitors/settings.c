/* settings.c - `monitors` of a table over those of the server over the kinds' own defaults. The same reader checks what
 * a request brings and resolves what is stored: strict with a request, lenient with the store. */
#include "monitors/freshness.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *const k_forms[] = {
    [TARN_THRESHOLD_DURATION] = "must be a duration such as \"5m\"",
    [TARN_THRESHOLD_NUMBER] = "must be a number that is not negative",
    [TARN_THRESHOLD_SHARE] = "must be a share such as 0.2 or \"20%\"",
};

/* Seconds, or a count. */
static bool integer_limit(const struct tarn_kind *kind, json_int_t value, struct tarn_limit *out)
{
    bool is_duration = kind->threshold == TARN_THRESHOLD_DURATION;

    if (value < 0 || value > INT64_MAX / TARN_SECOND_MS)
        return false;
    out->value = is_duration ? value * TARN_SECOND_MS : value;
    snprintf(out->text, sizeof out->text, "%" JSON_INTEGER_FORMAT, value);
    if (is_duration)
        (void)tarn_duration_format(out->value, out->text);
    return true;
}

static bool duration_limit(const char *text, struct tarn_limit *out)
{
    snprintf(out->text, sizeof out->text, "%s", text);
    return strlen(text) < sizeof out->text && tarn_duration_parse(text, &out->value, NULL) == TARN_OK;
}

/* A number from 0 to 1, or a percentage as text. */
static bool share_limit(const json_t *value, struct tarn_limit *out)
{
    const char *text = json_string_value(value);
    char *end = NULL;
    double share = json_is_number(value) ? json_number_value(value) : text ? strtod(text, &end) / 100 : -1;

    if (!(share >= 0 && share <= 1) || (text && (end == text || strcmp(end, "%") != 0)))
        return false;
    out->value = (int64_t)(share * (double)TARN_SHARE_WHOLE + 0.5);
    snprintf(out->text, sizeof out->text, "%.6g%%", 100 * share);
    return true;
}

/* A duration, a number or a share, by the kind. */
tarn_code tarn_settings_limit(const struct tarn_kind *kind, const char *key, const json_t *value, struct tarn_limit *out,
                              struct tarn_err *err)
{
    struct tarn_limit limit = { .is_set = true };
    bool is_good = false;

    if (kind->threshold == TARN_THRESHOLD_NONE)
        return tarn_fail_field(err, key, "%s has no thresholds", kind->code);
    if (kind->threshold == TARN_THRESHOLD_SHARE)
        is_good = share_limit(value, &limit);
    else if (json_is_integer(value))
        is_good = integer_limit(kind, json_integer_value(value), &limit);
    else if (kind->threshold == TARN_THRESHOLD_DURATION && json_is_string(value))
        is_good = duration_limit(json_string_value(value), &limit);
    if (!is_good)
        return tarn_fail_field(err, key, "%s", k_forms[kind->threshold]);
    *out = limit;
    return TARN_OK;
}

static tarn_code read_severity(const char *key, const json_t *value, struct tarn_kind_settings *out, struct tarn_err *err)
{
    const char *text = json_string_value(value);
    enum tarn_severity severity;

    if (text && strcmp(text, "off") == 0) {
        out->is_off = true;
        return TARN_OK;
    }
    if (!text || !tarn_severity_parse(text, &severity) || severity == TARN_SEV_OK || severity == TARN_SEV_UNKNOWN)
        return tarn_fail_field(err, key, "must be off, info, warning or error");
    out->is_off = false;
    out->has_severity = true;
    out->severity = severity;
    return TARN_OK;
}

static tarn_code read_grace(const struct tarn_kind *kind, const char *key, const json_t *value, int64_t *out,
                            struct tarn_err *err)
{
    const char *text = json_string_value(value);

    if (!kind->grace)
        return tarn_fail_field(err, key, "%s has no grace time", kind->code);
    if (json_is_integer(value) && json_integer_value(value) >= 0 &&
        json_integer_value(value) <= INT64_MAX / TARN_SECOND_MS) {
        *out = json_integer_value(value) * TARN_SECOND_MS;
        return TARN_OK;
    }
    if (!text || tarn_duration_parse(text, out, NULL) != TARN_OK)
        return tarn_fail_field(err, key, "must be a duration such as \"15m\"");
    return TARN_OK;
}

/* One member of one kind's object. */
static tarn_code read_member(const struct tarn_kind *kind, const char *key, const json_t *value,
                             struct tarn_kind_settings *out, struct tarn_err *err)
{
    if (strcmp(key, "warning") == 0)
        return tarn_settings_limit(kind, key, value, &out->warning, err);
    if (strcmp(key, "error") == 0)
        return tarn_settings_limit(kind, key, value, &out->error, err);
    if (strcmp(key, "severity") == 0)
        return read_severity(key, value, out, err);
    if (strcmp(key, "grace") == 0)
        return read_grace(kind, key, value, &out->grace_ms, err);
    return tarn_fail_field(err, key, "is not known here: warning, error, severity, grace");
}

/* A contract that stands nearer than what an outer level sets comes before it. */
static void put_contract_first(const json_t *object, struct tarn_kind_settings *kind, struct tarn_freshness_settings *out)
{
    if (!json_is_object(json_object_get(object, "contract")))
        return;
    kind->warning = kind->error = (struct tarn_limit){ 0 };
    out->deadline = (struct tarn_deadline){ 0 };
}

static tarn_code read_kind(const struct tarn_kind *kind, json_t *object, struct tarn_settings *settings,
                           struct tarn_err *err)
{
    struct tarn_kind_settings *out = &settings->kinds[kind - tarn_kinds];
    bool is_freshness = strcmp(kind->code, "freshness") == 0;
    const char *key;
    json_t *value;

    if (!json_is_object(object))
        return tarn_fail_field(err, "", "must be an object");
    if (is_freshness)
        put_contract_first(object, out, &settings->freshness);
    json_object_foreach(object, key, value) {
        TARN_ERR(fault);
        tarn_code code = TARN_OK;
        if (is_freshness && tarn_freshness_knows(key) && !json_is_null(value))
            code = tarn_freshness_member(kind, key, value, &settings->freshness, &fault);
        else if (!json_is_null(value))
            code = read_member(kind, key, value, out, &fault);
        if (code != TARN_OK && err)
            return tarn_err_move(err, &fault);
    }
    return TARN_OK;
}

static tarn_code read_interval(const json_t *value, int64_t *out, struct tarn_err *err)
{
    const char *text = json_string_value(value);
    int64_t ms = json_is_integer(value) && json_integer_value(value) <= INT32_MAX
                     ? json_integer_value(value) * TARN_SECOND_MS
                     : -1;

    if (text && tarn_duration_parse(text, &ms, NULL) != TARN_OK)
        ms = -1;
    if (ms < TARN_SECOND_MS)
        return tarn_fail_field(err, "interval", "must be a duration of at least a second");
    *out = ms;
    return TARN_OK;
}

static tarn_code read_policy(const json_t *value, enum tarn_policy *out, struct tarn_err *err)
{
    const char *text = json_string_value(value);

    if (!text || (strcmp(text, "default") != 0 && strcmp(text, "strict") != 0))
        return tarn_fail_field(err, "status_policy", "must be default or strict");
    *out = strcmp(text, "strict") == 0 ? TARN_POLICY_STRICT : TARN_POLICY_DEFAULT;
    return TARN_OK;
}

static tarn_code read_zone(const json_t *value, struct tarn_settings *out, struct tarn_err *err)
{
    tarn_code code = tarn_settings_zone("timezone", value, &out->zone, err);

    if (code == TARN_OK)
        snprintf(out->zone_name, sizeof out->zone_name, "%s", json_string_value(value));
    return code;
}

static tarn_code read_setting(const char *key, json_t *value, struct tarn_settings *out, struct tarn_err *err)
{
    const struct tarn_kind *kind = tarn_kind_find(key);

    if (json_is_null(value))
        return TARN_OK;
    if (strcmp(key, "interval") == 0)
        return read_interval(value, &out->interval_ms, err);
    if (strcmp(key, "status_policy") == 0)
        return read_policy(value, &out->policy, err);
    if (strcmp(key, "timezone") == 0)
        return read_zone(value, out, err);
    if (strcmp(key, "maintenance") == 0)
        return tarn_maintenance_read(value, &out->maintenance, err);
    if (!kind)
        return tarn_fail_field(err, key, "is not a monitor");
    tarn_code code = read_kind(kind, value, out, err);
    if (code == TARN_OK || !err)
        return code;
    return tarn_err_prefix(err, "%s", key);
}

/* With `err` NULL what is wrong is passed over. */
static tarn_code read_all(json_t *monitors, struct tarn_settings *out, struct tarn_err *err)
{
    const char *key;
    json_t *value;

    if (!json_is_object(monitors))
        return tarn_fail_field(err, "", "must be an object");
    json_object_foreach(monitors, key, value) {
        tarn_code code = read_setting(key, value, out, err);
        if (code != TARN_OK && err)
            return code;
    }
    return TARN_OK;
}

static void set_limit(const struct tarn_kind *kind, const char *text, struct tarn_limit *out)
{
    if (!text)
        return;
    json_auto_t *value = json_string(text);
    if (value)
        (void)!tarn_settings_limit(kind, "", value, out, NULL);
}

static struct tarn_settings built_in;
static pthread_once_t built_in_once = PTHREAD_ONCE_INIT;

static void build_defaults(void)
{
    built_in = (struct tarn_settings){ .interval_ms = TARN_MINUTE_MS, .sweep_interval_ms = 10 * TARN_MINUTE_MS };
    for (size_t i = 0; i < tarn_kinds_count; i++) {
        const struct tarn_kind *kind = &tarn_kinds[i];
        set_limit(kind, kind->warning, &built_in.kinds[i].warning);
        set_limit(kind, kind->error, &built_in.kinds[i].error);
        if (kind->grace)
            (void)!tarn_duration_parse(kind->grace, &built_in.kinds[i].grace_ms, NULL);
    }
}

static void set_defaults(struct tarn_settings *out)
{
    pthread_once(&built_in_once, build_defaults);
    *out = built_in;
}

void tarn_settings_resolve(const struct tarn_monitor_defaults *defaults, const char *monitors,
                           struct tarn_settings *out)
{
    json_auto_t *own = NULL;

    set_defaults(out);
    if (defaults) {
        out->interval_ms = defaults->interval_ms;
        out->sweep_interval_ms = defaults->sweep_interval_ms;
        out->policy = defaults->policy;
        json_auto_t *server = defaults->monitors ? json_deep_copy(defaults->monitors) : NULL;
        if (server)
            (void)!read_all(server, out, NULL);
    }
    if (!monitors || strcmp(monitors, "{}") == 0)
        return;
    own = json_loads(monitors, 0, NULL);
    if (own)
        (void)!read_all(own, out, NULL);
}

/* Two members of an object that may be long. */
static void read_windows(const json_t *monitors, struct tarn_settings *out)
{
    static const char *const k_keys[] = { "timezone", "maintenance" };

    for (size_t i = 0; i < TARN_COUNT(k_keys); i++) {
        json_t *value = json_object_get(monitors, k_keys[i]);
        if (value)
            (void)!read_setting(k_keys[i], value, out, NULL);
    }
}

void tarn_settings_windows(const struct tarn_monitor_defaults *defaults, const char *monitors,
                           struct tarn_maintenance *out, const struct tarn_zone **zone)
{
    struct tarn_settings settings;
    bool has_own = monitors && (strstr(monitors, "\"maintenance\"") || strstr(monitors, "\"timezone\""));
    json_auto_t *own = has_own ? json_loads(monitors, 0, NULL) : NULL;

    settings.maintenance.count = 0;
    settings.zone = NULL;
    if (defaults && defaults->monitors)
        read_windows(defaults->monitors, &settings);
    if (own)
        read_windows(own, &settings);
    *out = settings.maintenance;
    *zone = settings.zone;
}

static void glance(const json_t *monitors, int64_t *interval_ms, enum tarn_policy *policy)
{
    const json_t *interval = json_object_get(monitors, "interval");
    const json_t *word = json_object_get(monitors, "status_policy");

    if (interval)
        (void)!read_interval(interval, interval_ms, NULL);
    if (word)
        (void)!read_policy(word, policy, NULL);
}

void tarn_settings_glance(const struct tarn_monitor_defaults *defaults, const char *monitors, int64_t *interval_ms,
                          enum tarn_policy *policy)
{
    *interval_ms = defaults ? defaults->interval_ms : TARN_MINUTE_MS;
    *policy = defaults ? defaults->policy : TARN_POLICY_DEFAULT;
    if (defaults && defaults->monitors)
        glance(defaults->monitors, interval_ms, policy);
    if (!monitors || strcmp(monitors, "{}") == 0)
        return;
    json_auto_t *own = json_loads(monitors, 0, NULL);
    if (own)
        glance(own, interval_ms, policy);
}

const struct tarn_kind_settings *tarn_settings_of(const struct tarn_settings *settings, const char *code)
{
    return &settings->kinds[tarn_kind_find(code) - tarn_kinds];
}

tarn_code tarn_monitors_check(const json_t *monitors, const char *field, struct tarn_err *err)
{
    json_auto_t *copy = json_deep_copy(monitors);
    struct tarn_settings scratch;

    if (!copy)
        return tarn_fail_oom(err);
    set_defaults(&scratch);
    TARN_ERR(fault);
    if (read_all(copy, &scratch, &fault) == TARN_OK)
        return TARN_OK;
    (void)tarn_err_prefix(&fault, "%s", field);
    return tarn_err_move(err, &fault);
}

int64_t tarn_monitors_grace_ms(const struct tarn_monitor_defaults *defaults, const char *monitors, const char *code)
{
    struct tarn_settings settings;

    tarn_settings_resolve(defaults, monitors, &settings);
    return tarn_settings_of(&settings, code)->grace_ms;
}
