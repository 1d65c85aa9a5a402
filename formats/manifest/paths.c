/* paths.c - which files of a folder are data, and which were left behind. */
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

bool tarn_is_leftover(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    return tarn_ends_with(name, ".tmp") || tarn_starts_with(path, "_temp/") ||
           ((name[0] == '.' || name[0] == '_') && tarn_ends_with(name, ".parquet"));
}

/* The log, staging and other machinery have walks of their own, or none. */
bool tarn_holds_data(const char *folder)
{
    static const char *const k_apart[] = { TARN_DIR_LOG, "staging", "processed" };

    for (size_t i = 0; i < TARN_COUNT(k_apart); i++)
        if (strcmp(folder, k_apart[i]) == 0)
            return false;
    bool is_hidden = folder[0] == '.' || folder[0] == '_';
    return !is_hidden || strcmp(folder, "_temp") == 0;
}
