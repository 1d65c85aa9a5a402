/* setting.c - see setting.h. */
#include "lake/setting.h"
#include "base/json.h"
#include "base/text.h"
#include "lake/register.h"
#include <string.h>

tarn_code tarn_setting_merge(const char *key, char **target, const json_t *value,
                             tarn_setting_check_fn *check, struct tarn_err *err)
{
    json_auto_t *merged = json_is_null(value) ? json_object() : json_loads(*target, 0, NULL);
    tarn_code code = TARN_OK;

    if (!json_is_object(value) && !json_is_null(value))
        return tarn_fail_field(err, key, "must be an object");
    if (!merged || (json_is_object(value) && !tarn_json_merge(merged, value)))
        return tarn_fail_oom(err);
    if (check)
        code = check(merged, key, err);
    return code == TARN_OK ? tarn_text_own(target, tarn_json_text(merged), err) : code;
}

static tarn_code check_properties(const json_t *merged, const char *field, struct tarn_err *err)
{
    (void)field;
    return tarn_properties_check(merged, err);
}

tarn_code tarn_setting_properties(char **target, const json_t *value, struct tarn_err *err)
{
    return tarn_setting_merge("properties", target, value, check_properties, err);
}

tarn_code tarn_setting_owner(char **target, const json_t *value, struct tarn_err *err)
{
    size_t len = json_string_length(value);

    if (json_is_null(value)) {
        free(*target);
        *target = NULL;
        return TARN_OK;
    }
    if (!json_is_string(value) || len == 0 || len > 255)
        return tarn_fail_field(err, "owner", "must be a string of 1 to 255 bytes, or null");
    return tarn_text_own(target, strdup(json_string_value(value)), err);
}

tarn_code tarn_setting_enforcement(enum tarn_enforcement *target, bool *given, const json_t *value,
                                   struct tarn_err *err)
{
    enum tarn_enforcement parsed = TARN_ENFORCE_OFF;

    if (!json_is_null(value) &&
        (!json_is_string(value) || !tarn_enforcement_parse(json_string_value(value), &parsed)))
        return tarn_fail_field(err, "schema_enforcement", "must be \"off\", \"warn\", \"reject\" or null");
    *target = parsed;
    *given = !json_is_null(value);
    return TARN_OK;
}

tarn_code tarn_setting_verify(enum tarn_verify *target, bool *given, const json_t *value,
                              struct tarn_err *err)
{
    enum tarn_verify parsed = TARN_VERIFY_OFF;

    if (!json_is_null(value) &&
        (!json_is_string(value) || !tarn_verify_parse(json_string_value(value), &parsed)))
        return tarn_fail_field(err, "verify", "must be \"off\", \"size\", \"footer\" or null");
    *target = parsed;
    *given = !json_is_null(value);
    return TARN_OK;
}
