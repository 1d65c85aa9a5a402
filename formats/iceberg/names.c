/* names.c - how metadata files are called. Source: the reference's BaseMetastoreTableOperations, TableMetadataParser. */
#include "formats/iceberg/iceberg.h"
#include "formats/iceberg/value.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

int64_t tarn_iceberg_file_number(const char *file)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    char *end = NULL;
    int64_t number = isdigit((unsigned char)*base) ? strtoll(base, &end, 10) : -1;

    return number >= 0 && *end == '-' ? number : -1;
}

/* Does it begin as 8-4-4-4-12 hexadecimal digits? */
static bool begins_with_uuid(const char *text)
{
    static const char k_form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

    for (size_t i = 0; k_form[i]; i++)
        if (k_form[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != '-')
            return false;
    return true;
}

bool tarn_iceberg_is_file_name(const char *name)
{
    static const char *const k_ends[] = { ".metadata.json", ".gz.metadata.json", ".metadata.json.gz" };
    size_t digits = strspn(name, "0123456789"), uuid = sizeof "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" - 1;

    if (digits < 5 || digits > 18 || name[digits] != '-' || !begins_with_uuid(name + digits + 1))
        return false;
    for (size_t i = 0; i < TARN_COUNT(k_ends); i++)
        if (strcmp(name + digits + 1 + uuid, k_ends[i]) == 0)
            return true;
    return false;
}

static const char *extension_of(const struct tarn_iceberg_meta *meta)
{
    const char *codec = tarn_iceberg_property(meta, "write.metadata.compression-codec");

    return codec && strcasecmp(codec, "gzip") == 0 ? ".gz" : "";
}

char *tarn_iceberg_folder(const struct tarn_iceberg_meta *meta)
{
    const char *given = tarn_iceberg_property(meta, "write.metadata.path");
    size_t len = given ? strlen(given) : 0;
    char *out = NULL;

    while (len > 1 && given[len - 1] == '/')
        len--;
    if (len > 0)
        return strndup(given, len);
    len = tarn_iceberg_location_len(meta->location); /* of a document that was registered, with a slash at its end maybe */
    return asprintf(&out, "%.*s/metadata", (int)len, meta->location) < 0 ? NULL : out;
}

tarn_code tarn_iceberg_file_name(const struct tarn_iceberg_meta *meta, const char *base_file, const char *uuid, char **out,
                                 struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf name = { 0 };
    TARN_AUTO(mem) char *folder = tarn_iceberg_folder(meta);
    int64_t before = base_file ? tarn_iceberg_file_number(base_file) : -1, number = before < TARN_ICEBERG_NUMBER_END ? before + 1 : 0;

    if (!folder)
        return tarn_fail_oom(err);
    tarn_buf_addf(&name, "%s/%05lld-%s%s.metadata.json", folder, (long long)number, uuid, extension_of(meta));
    *out = tarn_buf_take(&name);
    return *out ? TARN_OK : tarn_fail_oom(err);
}
