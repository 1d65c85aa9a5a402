/* names.c - how metadata files are called. Source: the reference's BaseMetastoreTableOperations, TableMetadataParser. */
#include "formats/iceberg/iceberg.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The number before the first dash of the last part; -1: there is none. */
static long number_of(const char *file)
{
    const char *base = strrchr(file, '/');
    char *end = NULL;

    base = base ? base + 1 : file;
    if (!isdigit((unsigned char)*base))
        return -1;
    long number = strtol(base, &end, 10);
    return *end == '-' && number >= 0 && number < 1000000000 ? number : -1;
}

static const char *extension_of(const struct tarn_iceberg_meta *meta)
{
    const char *codec = tarn_iceberg_property(meta, "write.metadata.compression-codec");

    return codec && strcasecmp(codec, "gzip") == 0 ? ".gz" : "";
}

tarn_code tarn_iceberg_file_name(const struct tarn_iceberg_meta *meta, const char *base_file, const char *uuid, char **out,
                                 struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf name = { 0 };
    const char *folder = tarn_iceberg_property(meta, "write.metadata.path");
    long number = base_file ? number_of(base_file) + 1 : 0;

    if (folder && *folder) {
        tarn_buf_adds(&name, folder);
        while (name.len > 1 && name.data && name.data[name.len - 1] == '/')
            name.len--;
    } else {
        tarn_buf_addf(&name, "%s/metadata", meta->location);
    }
    tarn_buf_addf(&name, "/%05ld-%s%s.metadata.json", number, uuid, extension_of(meta));
    *out = tarn_buf_take(&name);
    return *out ? TARN_OK : tarn_fail_oom(err);
}
