/* paths.c - which files of a folder are data. */
#include "formats/manifest/manifest.h"
#include "base/text.h"
#include <string.h>

bool tarn_is_data_file(const char *path)
{
    if (!tarn_ends_with(path, ".parquet") || tarn_starts_with(path, "staging/") ||
        tarn_starts_with(path, "processed/"))
        return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += part[0] == '/';
        if (part[0] == '.' || part[0] == '_')
            return false;
    }
    return true;
}
