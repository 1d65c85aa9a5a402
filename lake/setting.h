/* setting.h - single settings as a request gives them, the same for a table and
 * a namespace: each reads one member of a merge patch into the row. What is not
 * valid is TARN_INVALID naming the member; null takes the setting away. */
#ifndef TARN_LAKE_SETTING_H
#define TARN_LAKE_SETTING_H
#include "catalog/types.h"
#include <jansson.h>

typedef tarn_code tarn_setting_check_fn(const json_t *merged, const char *field, struct tarn_err *err);
/* The object of text *target (owned) merged with `value`, when `check` (NULL: always) allows the outcome. */
TARN_MUST tarn_code tarn_setting_merge(const char *key, char **target, const json_t *value,
                                       tarn_setting_check_fn *check, struct tarn_err *err);
/* Properties are scalars by name. */
TARN_MUST tarn_code tarn_setting_properties(char **target, const json_t *value, struct tarn_err *err);
TARN_MUST tarn_code tarn_setting_owner(char **target, const json_t *value, struct tarn_err *err);
TARN_MUST tarn_code tarn_setting_enforcement(enum tarn_enforcement *target, bool *given, const json_t *value,
                                             struct tarn_err *err);
TARN_MUST tarn_code tarn_setting_verify(enum tarn_verify *target, bool *given, const json_t *value,
                                        struct tarn_err *err);
#endif
