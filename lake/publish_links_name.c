/* publish_links_name.c - a partition's folder as Hive writes it: key=value/key=value, special bytes as %XX.
 */
#include "base/json.h"
#include "formats/partition.h"
#include "lake/publish.h"
#include "lake/publish_links.h"
#include <string.h>

bool tarn_links_wanted(const char *properties)
{
    json_auto_t *all = strstr(properties, TARN_PROPERTY_LINKS) ? json_loads(properties, 0, NULL) : NULL;
    const json_t *value = json_object_get(all, TARN_PROPERTY_LINKS);
    const char *text = json_string_value(value);

    return json_is_true(value) || (text && strcmp(text, "true") == 0);
}

static void add_escaped(struct tarn_buf *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        bool plain = byte >= 0x20 && byte != 0x7f && !strchr("\"#%'*/:=?\\{[]^", byte);
        tarn_buf_addf(out, plain ? "%c" : "%%%02X", byte);
    }
}

static void add_value(struct tarn_buf *out, const json_t *value)
{
    const char *text = json_string_value(value);

    if (!value || json_is_null(value) || (text && text[0] == '\0')) {
        tarn_buf_adds(out, TARN_PARTITION_NULL);
        return;
    }
    TARN_AUTO(mem) char *number = text ? NULL : tarn_json_text(value);
    if (!text && !number)
        out->failed = true;
    else
        add_escaped(out, text ? text : number);
}

static tarn_code value_of(const json_t *values, json_t **from_path, const char *path, const char *key,
                          const json_t **out, struct tarn_err *err)
{
    *out = json_object_get(values, key);
    if (*out)
        return TARN_OK;
    tarn_code code = *from_path ? TARN_OK : tarn_partition_from_path(path, from_path, err);
    *out = json_object_get(*from_path, key);
    return code;
}

tarn_code tarn_link_part_name(struct tarn_links *links, const struct tarn_file *file, const char **out,
                              struct tarn_err *err)
{
    json_auto_t *values = file->partition_values ? json_loads(file->partition_values, 0, NULL) : NULL;
    json_auto_t *from_path = NULL;
    struct tarn_buf *name = &links->name;
    const json_t *value = NULL;
    size_t i;
    json_t *key;

    tarn_buf_clear(name);
    json_array_foreach (links->keys, i, key) {
        tarn_code code = value_of(values, &from_path, file->path, json_string_value(key), &value, err);
        if (code != TARN_OK)
            return code;
        if (i > 0)
            tarn_buf_addc(name, '/');
        add_escaped(name, json_string_value(key));
        tarn_buf_addc(name, '=');
        add_value(name, value);
    }
    tarn_buf_add(name, "", 1);
    *out = name->data;
    return tarn_buf_check(name, err);
}
