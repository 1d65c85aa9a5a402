/* update_extra.c - statistics files and encryption keys: lists of objects known by one member. */
#include "formats/iceberg/build.h"
#include "formats/iceberg/value.h"
#include <string.h>

/* The array without the entries whose `key` equals `value`; `added` (may be NULL) at its end. The old one may be shared. */
static tarn_code replace(struct tarn_iceberg_build *build, json_t **array, const char *key, const json_t *value,
                         const json_t *added, struct tarn_err *err)
{
    json_t *kept = json_array(), *entry;
    size_t i;
    bool failed = !kept;

    json_array_foreach(*array, i, entry)
        if (!json_equal(json_object_get(entry, key), value))
            failed = json_array_append(kept, entry) != 0 || failed;
    if (added)
        failed = json_array_append_new(kept, tarn_iceberg_keep(added)) != 0 || failed;
    if (failed) {
        json_decref(kept);
        return tarn_fail_oom(err);
    }
    if (added || json_array_size(kept) != json_array_size(*array))
        build->changed = true;
    json_decref(*array);
    *array = kept;
    return TARN_OK;
}

/* Of each blob readers ask for these members, and do not open the table where one is missing. */
static tarn_code check_blob(const json_t *blob, struct tarn_err *err)
{
    const char *type = NULL;
    const json_t *fields = NULL, *properties = NULL;
    int64_t number = 0;

    if (!json_is_object(blob))
        return tarn_fail_field(err, "blob-metadata", "Cannot parse blob metadata: each must be an object");
    TARN_TRY(tarn_iceberg_need_str(blob, "type", &type, err));
    TARN_TRY(tarn_iceberg_need_i64(blob, "snapshot-id", &number, err));
    TARN_TRY(tarn_iceberg_need_i64(blob, "sequence-number", &number, err));
    TARN_TRY(tarn_iceberg_need_array(blob, "fields", &fields, err));
    for (size_t i = 0; i < json_array_size(fields); i++)
        if (!json_is_integer(json_array_get(fields, i)))
            return tarn_fail_field(err, "fields", "Cannot parse fields: it must be an array of whole numbers");
    TARN_TRY(tarn_iceberg_opt_object(blob, "properties", &properties, err));
    return properties ? tarn_iceberg_check_texts(properties, "properties", err) : TARN_OK;
}

tarn_code tarn_iceberg_partition_statistics_form(const json_t *doc, struct tarn_err *err)
{
    const char *path = NULL;
    int64_t id = 0, size = 0;

    TARN_TRY(tarn_iceberg_need_i64(doc, "snapshot-id", &id, err));
    TARN_TRY(tarn_iceberg_need_str(doc, "statistics-path", &path, err));
    return tarn_iceberg_need_i64(doc, "file-size-in-bytes", &size, err);
}

tarn_code tarn_iceberg_statistics_form(const json_t *file, struct tarn_err *err)
{
    const json_t *blobs = NULL;
    int64_t size = 0;

    TARN_TRY(tarn_iceberg_partition_statistics_form(file, err));
    TARN_TRY(tarn_iceberg_need_i64(file, "file-footer-size-in-bytes", &size, err));
    TARN_TRY(tarn_iceberg_need_array(file, "blob-metadata", &blobs, err));
    for (size_t i = 0; i < json_array_size(blobs); i++)
        TARN_TRY(check_blob(json_array_get(blobs, i), err));
    return TARN_OK;
}

static tarn_code set_of(struct tarn_iceberg_build *build, json_t **array, const json_t *doc, const char *member,
                        struct tarn_err *err)
{
    const json_t *added = NULL;

    TARN_TRY(tarn_iceberg_need_object(doc, member, &added, err));
    TARN_TRY(array == &build->meta->statistics ? tarn_iceberg_statistics_form(added, err)
                                               : tarn_iceberg_partition_statistics_form(added, err));
    return replace(build, array, "snapshot-id", json_object_get(added, "snapshot-id"), added, err);
}

static tarn_code remove_of(struct tarn_iceberg_build *build, json_t **array, const json_t *doc, struct tarn_err *err)
{
    int64_t id = 0;
    tarn_code code = tarn_iceberg_need_i64(doc, "snapshot-id", &id, err);

    return code == TARN_OK ? replace(build, array, "snapshot-id", json_object_get(doc, "snapshot-id"), NULL, err) : code;
}

tarn_code tarn_iceberg_set_statistics(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    return set_of(build, &build->meta->statistics, doc, "statistics", err);
}

tarn_code tarn_iceberg_remove_statistics(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    return remove_of(build, &build->meta->statistics, doc, err);
}

tarn_code tarn_iceberg_set_partition_statistics(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    return set_of(build, &build->meta->partition_statistics, doc, "partition-statistics", err);
}

tarn_code tarn_iceberg_remove_partition_statistics(struct tarn_iceberg_build *build, const json_t *doc,
                                                   struct tarn_err *err)
{
    return remove_of(build, &build->meta->partition_statistics, doc, err);
}

/* Standard base64; clients read it without its padding, too. */
static bool is_base64(const char *text)
{
    size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"), pad = strspn(text + len, "=");

    return text[len + pad] == '\0' && len % 4 != 1 && (pad == 0 || (pad <= 2 && (len + pad) % 4 == 0));
}

tarn_code tarn_iceberg_key_form(const json_t *doc, struct tarn_err *err)
{
    const char *id = NULL, *secret = NULL;

    TARN_TRY(tarn_iceberg_need_str(doc, "key-id", &id, err));
    TARN_TRY(tarn_iceberg_need_str(doc, "encrypted-key-metadata", &secret, err));
    return is_base64(secret) ? TARN_OK
                             : tarn_fail_field(err, "encrypted-key-metadata", "Cannot parse encrypted-key-metadata: it must be base64");
}

tarn_code tarn_iceberg_add_key(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    const json_t *key = NULL;
    size_t i;
    json_t *entry;

    TARN_TRY(tarn_iceberg_need_object(doc, "encryption-key", &key, err));
    TARN_TRY(tarn_iceberg_key_form(key, err));
    json_array_foreach(build->meta->encryption_keys, i, entry)
        if (json_equal(json_object_get(entry, "key-id"), json_object_get(key, "key-id")))
            return TARN_OK;
    return replace(build, &build->meta->encryption_keys, "key-id", json_object_get(key, "key-id"), key, err);
}

tarn_code tarn_iceberg_remove_key(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    const char *id = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "key-id", &id, err);

    if (code != TARN_OK)
        return code;
    return replace(build, &build->meta->encryption_keys, "key-id", json_object_get(doc, "key-id"), NULL, err);
}
