/* quiet.c - what keeps findings quiet: maintenance windows and silences. Neither changes what is true: a finding that was
 * open stays open and counts; it carries `suppressed_by`, and nobody is told of it. Pure. */
#include "monitors/judge.h"
#include "base/json.h"
#include "base/text.h"
#include <regex.h>
#include <stdio.h>
#include <string.h>

enum { MATCHERS_MAX = 20, VALUE_MAX = 1024, PATTERN_MAX = 512 };

enum label { L_TABLE, L_NAMESPACE, L_OWNER, L_CODE, L_SEVERITY, L_SUBJECT, LABELS };
static const char *const k_labels[LABELS] = { "table", "namespace", "owner", "code", "severity", "subject" };

struct matcher {
    enum label label;
    const char *value;   /* borrowed from the JSON */
    bool is_equal, is_regex;
    regex_t regex;       /* compiled when is_regex */
};
struct matchers {
    json_t *json;
    struct matcher items[MATCHERS_MAX];
    size_t count;
};

static void matchers_done(struct matchers *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->items[i].is_regex)
            regfree(&m->items[i].regex);
    json_decref(m->json);
}

/* Repetition counts and references back make matching arbitrarily slow; an escaped letter means one thing elsewhere and
 * another here. */
static tarn_code check_pattern(const char *pattern, struct tarn_err *err)
{
    if (strlen(pattern) > PATTERN_MAX)
        return tarn_fail_field(err, "value", "has at most %d bytes as a regular expression", PATTERN_MAX);
    for (const char *p = pattern; *p; p++) {
        bool is_escape = *p == '\\' && p[1] != '\0';
        if (*p == '{' || (is_escape && ((p[1] >= '0' && p[1] <= '9') || ((p[1] | 32) >= 'a' && (p[1] | 32) <= 'z'))))
            return tarn_fail_field(err, "value", "is a regular expression of the extended POSIX kind without {} and "
                                                 "without escaped letters or digits: write [0-9] for \\d");
        p += is_escape;
    }
    return TARN_OK;
}

/* The whole of the text must fit, as in Prometheus. */
static tarn_code compile(const char *pattern, regex_t *out, struct tarn_err *err)
{
    char whole[PATTERN_MAX + 8], why[128];
    tarn_code code = check_pattern(pattern, err);

    if (code != TARN_OK)
        return code;
    snprintf(whole, sizeof whole, "^(%s)$", pattern);
    int rc = regcomp(out, whole, REG_EXTENDED | REG_NOSUB);
    if (rc == 0)
        return TARN_OK;
    regerror(rc, out, why, sizeof why);
    return tarn_fail_field(err, "value", "is no regular expression: %s", why);
}

static tarn_code read_matcher(const json_t *object, struct matcher *out, struct tarn_err *err)
{
    const char *name = NULL;
    struct matcher m = { .is_equal = true };
    const struct tarn_field fields[] = { TARN_STR("name", &name, 1, 64), TARN_STR("value", &m.value, 0, VALUE_MAX),
                                         TARN_OPT_BOOL("isRegex", &m.is_regex), TARN_OPT_BOOL("isEqual", &m.is_equal),
                                         TARN_FIELDS_END };
    int label = 0;

    if (!json_is_object(object))
        return tarn_fail_field(err, "", "must be an object");
    tarn_code code = tarn_json_read(object, fields, err);
    if (code != TARN_OK)
        return code;
    while (label < LABELS && strcmp(name, k_labels[label]) != 0)
        label++;
    if (label == LABELS)
        return tarn_fail_field(err, "name", "must be table, namespace, owner, code, severity or subject");
    m.label = (enum label)label;
    code = m.is_regex ? compile(m.value, &m.regex, err) : TARN_OK;
    if (code == TARN_OK)
        *out = m;
    return code;
}

/* `list` is borrowed and must outlive *out. */
static tarn_code read_matchers(const json_t *list, struct matchers *out, struct tarn_err *err)
{
    if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > MATCHERS_MAX)
        return tarn_fail_field(err, "matchers", "must be a list of 1 to %d matchers", MATCHERS_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        TARN_ERR(fault);
        if (read_matcher(json_array_get(list, i), &out->items[i], &fault) != TARN_OK) {
            (void)tarn_err_prefix(&fault, "matchers[%zu]", i);
            return tarn_err_move(err, &fault);
        }
        out->count++;
    }
    return TARN_OK;
}

tarn_code tarn_silence_check(const json_t *matchers, struct tarn_err *err)
{
    __attribute__((cleanup(matchers_done))) struct matchers m = { .json = NULL };

    return read_matchers(matchers, &m, err);
}

/* --- does it fit? --- */

static bool fits(const struct matcher *m, const char *text)
{
    bool same = m->is_regex ? regexec(&m->regex, text, 0, NULL, 0) == 0 : strcmp(m->value, text) == 0;

    return same == m->is_equal;
}

/* Of the labels from `first` up to below `end`. */
static bool all_fit(const struct matchers *matchers, const char *const labels[LABELS], enum label first, enum label end)
{
    for (size_t i = 0; i < matchers->count; i++) {
        const struct matcher *m = &matchers->items[i];
        if (m->label >= first && m->label < end && !fits(m, labels[m->label] ? labels[m->label] : ""))
            return false;
    }
    return true;
}

static bool mark_silenced(struct tarn_findings *findings, const struct tarn_silence *silence,
                          const struct matchers *matchers, const char *labels[LABELS])
{
    char reason[64];
    bool ok = true;

    snprintf(reason, sizeof reason, "silence:%s", silence->id);
    for (size_t i = 0; i < findings->count; i++) {
        struct tarn_finding *finding = &findings->items[i];
        labels[L_CODE] = finding->code;
        labels[L_SEVERITY] = tarn_severity_text(finding->severity);
        labels[L_SUBJECT] = finding->subject;
        if (!finding->suppressed_by && all_fit(matchers, labels, L_CODE, LABELS))
            ok &= tarn_text_set(&finding->suppressed_by, reason);
    }
    return ok;
}

/* What is stored was checked; one that this version does not understand silences nothing. */
static bool apply(struct tarn_findings *findings, const struct tarn_table *table, const char *dotted,
                  const struct tarn_silence *silence)
{
    const char *labels[LABELS] = { [L_TABLE] = dotted, [L_NAMESPACE] = table->namespace_, [L_OWNER] = table->owner };
    __attribute__((cleanup(matchers_done))) struct matchers m = { .json = json_loads(silence->matchers, 0, NULL) };

    if (read_matchers(m.json, &m, NULL) != TARN_OK || !all_fit(&m, labels, L_TABLE, L_CODE))
        return true;
    return mark_silenced(findings, silence, &m, labels);
}

static bool is_roots(const struct tarn_finding *finding)
{
    return finding->suppressed_by && strcmp(finding->suppressed_by, TARN_SUPPRESSED_BY_ROOT) == 0;
}

static void nearer(int64_t at_ms, int64_t now_ms, int64_t *until_ms)
{
    if (at_ms > now_ms && at_ms < *until_ms)
        *until_ms = at_ms;
}

tarn_code tarn_quiet_mark(struct tarn_findings *findings, const struct tarn_quiet *quiet, int64_t now_ms,
                          int64_t *until_ms, struct tarn_err *err)
{
    char dotted[TARN_DOTTED_MAX];
    int64_t edge_ms = INT64_MAX;
    bool in_window = quiet->maintenance &&
                     tarn_maintenance_covers(quiet->maintenance, quiet->zone, now_ms, &edge_ms), ok = true;

    *until_ms = edge_ms;
    tarn_ident_format(quiet->table->namespace_, quiet->table->name, dotted);
    for (size_t i = 0; i < findings->count; i++)
        if (in_window || !is_roots(&findings->items[i]))
            ok &= tarn_text_set(&findings->items[i].suppressed_by, in_window ? "maintenance" : NULL);
    for (size_t i = 0; quiet->silences && i < quiet->silences->count && ok; i++) {
        const struct tarn_silence *silence = &quiet->silences->items[i];
        if (silence->tables && !tarn_glob_match(silence->tables, dotted))
            continue;
        nearer(silence->starts_at, now_ms, until_ms);
        nearer(silence->ends_at, now_ms, until_ms);
        if (silence->starts_at <= now_ms && now_ms < silence->ends_at)
            ok = apply(findings, quiet->table, dotted, silence);
    }
    return ok ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_findings_mark(struct tarn_tx *tx, const struct tarn_table *table,
                             const struct tarn_monitor_defaults *defaults, int64_t now_ms,
                             struct tarn_findings *findings, int64_t *until_ms, struct tarn_err *err)
{
    TARN_AUTO_DONE(silences) struct tarn_silences silences = { 0 };
    struct tarn_maintenance maintenance = { .count = 0 };
    struct tarn_quiet quiet = { .table = table, .maintenance = &maintenance, .silences = &silences };

    *until_ms = INT64_MAX;
    if (findings->count == 0)
        return TARN_OK;
    tarn_settings_windows(defaults, table->monitors, &maintenance, &quiet.zone);
    tarn_code code = tx->ops->silences.from(tx, now_ms, &silences, err);
    return code == TARN_OK ? tarn_quiet_mark(findings, &quiet, now_ms, until_ms, err) : code;
}
