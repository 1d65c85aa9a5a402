/* namespace_properties.c - properties of a namespace set and removed by name, told one by one. */
#include "base/buf.h"
#include "base/json.h"
#include "lake/iceberg_names.h"
#include "lake/namespaces.h"
#include <string.h>

static tarn_code refuse_both(const struct tarn_namespace_properties_use *use, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf both = { 0 };
    size_t i;
    json_t *key;

    json_array_foreach((json_t *)(uintptr_t)use->removals, i, key)
        if (json_is_string(key) && json_object_get(use->updates, json_string_value(key)))
            tarn_buf_addf(&both, "%s%s", both.len > 0 ? ", " : "", json_string_value(key));
    TARN_TRY(tarn_buf_check(&both, err));
    if (both.len == 0)
        return TARN_OK;
    return tarn_fail_code_field(err, TARN_INCOMPATIBLE_SCHEMA, "removals",
                                "Invalid namespace update, cannot simultaneously set and remove keys: [%.200s]", both.data);
}

static tarn_code begin(struct tarn_namespace_properties_use *use, struct tarn_err *err)
{
    json_decref(use->updated);
    json_decref(use->removed);
    json_decref(use->missing);
    use->updated = json_array();
    use->removed = json_array();
    use->missing = json_array();
    return use->updated && use->removed && use->missing ? refuse_both(use, err) : tarn_fail_oom(err);
}

static void apply(struct tarn_namespace_properties_use *use, json_t *properties)
{
    json_auto_t *told = json_object(); /* a name that is there twice is one removal */
    const char *name;
    size_t i;
    json_t *key, *value;

    json_array_foreach((json_t *)(uintptr_t)use->removals, i, key) {
        bool is_there = json_object_get(properties, json_string_value(key)) != NULL;
        if (json_object_get(told, json_string_value(key)))
            continue;
        (void)json_object_set_new(told, json_string_value(key), json_true());
        (void)json_array_append(is_there ? use->removed : use->missing, key);
        (void)json_object_del(properties, json_string_value(key));
    }
    json_object_foreach((json_t *)(uintptr_t)use->updates, name, value) {
        (void)json_object_set(properties, name, value);
        (void)json_array_append_new(use->updated, json_string(name));
    }
}

static tarn_code change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_namespace_properties_use *use = ctx;
    TARN_AUTO_DONE(namespace) struct tarn_namespace row = { 0 };
    json_auto_t *properties = NULL;
    tarn_code code = begin(use, err);

    if (code == TARN_OK)
        code = tarn_namespace_ensure(tx, use->name, err);
    if (code == TARN_OK)
        code = tarn_namespace_read(tx, use->name, &row, err);
    if (code == TARN_OK)
        code = tarn_json_parse(row.properties, strlen(row.properties), NULL, &properties, err);
    if (code != TARN_OK)
        return code;
    apply(use, properties);
    free(row.properties);
    row.properties = tarn_json_text(properties);
    return row.properties ? tx->ops->namespaces.update(tx, &row, err) : tarn_fail_oom(err);
}

static void done(void *state)
{
    struct tarn_namespace_properties_use *use = state;

    json_decref(use->updated);
    json_decref(use->removed);
    json_decref(use->missing);
}

const struct tarn_use tarn_namespace_properties = { .name = "namespace properties",
                                                    .size = sizeof(struct tarn_namespace_properties_use),
                                                    .change = change,
                                                    .done = done };
