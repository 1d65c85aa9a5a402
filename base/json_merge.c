/* json_merge.c - RFC 7396, the merge patch. */
#include "base/json.h"

bool tarn_json_merge(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;
    bool ok = true;

    json_object_foreach ((json_t *)(uintptr_t)patch, key, value) {
        json_t *old = json_object_get(target, key);
        if (json_is_null(value)) {
            (void)json_object_del(target, key);
        } else if (json_is_object(value) && json_is_object(old)) {
            ok &= tarn_json_merge(old, value);
        } else if (json_is_object(value)) { /* a new object takes no nulls over */
            json_t *fresh = json_object();
            ok &= fresh && tarn_json_merge(fresh, value);
            ok &= json_object_set_new(target, key, fresh) == 0;
        } else {
            ok &= json_object_set(target, key, value) == 0;
        }
    }
    return ok;
}
