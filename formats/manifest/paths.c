/* paths.c - which files of a folder are data, and which were left behind. */
#include "formats/manifest/manifest.h"
#include "base/text.h"
#include <string.h>
#include <strings.h>

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

/* Of merge engines, of Hadoop and Spark. */
static bool is_temp(const char *part, size_t len)
{
    return (len == 5 && memcmp(part, "_temp", 5) == 0) || (len == 10 && memcmp(part, "_temporary", 10) == 0);
}

static bool is_in_temp(const char *path)
{
    for (const char *part = path, *slash; (slash = strchr(part, '/')); part = slash + 1)
        if (is_temp(part, (size_t)(slash - part)))
            return true;
    return false;
}

bool tarn_is_leftover(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    return tarn_ends_with(name, ".tmp") || is_in_temp(path) ||
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
    return !is_hidden || is_temp(folder, strlen(folder));
}

/* --- other formats, by name --- */

enum lies { ANYWHERE, IN_PARTITIONS /* elsewhere it is for people and tools */, NOWHERE };
static const struct { const char *end, *format; enum lies stray; } k_formats[] = {
    { ".csv", "csv", ANYWHERE },       { ".tsv", "tsv", ANYWHERE },       { ".psv", "psv", ANYWHERE },
    { ".json", "json", IN_PARTITIONS }, { ".jsonl", "json", ANYWHERE },    { ".ndjson", "json", ANYWHERE },
    { ".orc", "orc", ANYWHERE },       { ".avro", "avro", ANYWHERE },     { ".arrow", "arrow", ANYWHERE },
    { ".feather", "arrow", ANYWHERE }, { ".ipc", "arrow", ANYWHERE },     { ".xml", "xml", IN_PARTITIONS },
    { ".xlsx", "xlsx", ANYWHERE },     { ".xls", "xls", ANYWHERE },       { ".txt", "text", NOWHERE },
};

static bool ends_with_any_case(const char *name, size_t len, const char *end)
{
    size_t end_len = strlen(end);

    return len > end_len && strncasecmp(name + len - end_len, end, end_len) == 0;
}

/* The row of the format in k_formats, -1: none. A compressed file has the format of what is in it. */
static int64_t format_at(const char *path)
{
    static const char *const k_compressed[] = { ".gz", ".bz2", ".zst", ".zstd", ".snappy", ".lz4", ".deflate", ".xz", ".br" };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = strlen(name);

    for (size_t i = 0; i < TARN_COUNT(k_compressed); i++) {
        if (!ends_with_any_case(name, len, k_compressed[i]))
            continue;
        len -= strlen(k_compressed[i]);
        break;
    }
    for (size_t i = 0; i < TARN_COUNT(k_formats); i++)
        if (ends_with_any_case(name, len, k_formats[i].end))
            return (int64_t)i;
    return -1;
}

const char *tarn_other_format(const char *path)
{
    int64_t at = tarn_ends_with(path, ".parquet") ? -1 : format_at(path); /* the many, quickly */

    return at < 0 ? NULL : k_formats[at].format;
}

/* metadata/ is another table format's, and a key=value folder is data's. */
const char *tarn_stray_format(const char *path)
{
    int64_t at = format_at(path);
    bool is_in_partition = false;

    if (at < 0 || k_formats[at].stray == NOWHERE || tarn_starts_with(path, "metadata/") ||
        tarn_starts_with(path, "staging/") || tarn_starts_with(path, "processed/"))
        return NULL;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += part[0] == '/';
        size_t len = strcspn(part, "/");
        if (part[0] == '.' || part[0] == '_')
            return NULL;
        is_in_partition |= part[len] == '/' && memchr(part, '=', len);
    }
    return k_formats[at].stray == IN_PARTITIONS && !is_in_partition ? NULL : k_formats[at].format;
}
