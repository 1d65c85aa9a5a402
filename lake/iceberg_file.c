/* iceberg_file.c - metadata files on storage. A name is used once: whoever loses a race takes its own file away and touches
 * no other. */
#include "base/squeeze.h"
#include "base/text.h"
#include "lake/iceberg.h"
#include <string.h>

/* Engines take what follows the scheme as it stands: a percent sign in it is a percent sign. */
tarn_code tarn_iceberg_locate(const char *location, char **out, struct tarn_err *err)
{
    const char *path = location;

    if (tarn_starts_with(path, "file://localhost/"))
        path += strlen("file://localhost");
    else if (tarn_starts_with(path, "file://"))
        path += strlen("file://");
    else if (tarn_starts_with(path, "file:"))
        path += strlen("file:");
    if (path != location && *path != '/')
        return tarn_fail_field(err, "location", "a file URI must name an absolute path on this host: file:///path");
    return tarn_location_normalise(path, "location", out, err);
}

enum { FILE_MAX = 512 << 20 }; /* bytes of a metadata file, packed or not */

/* The folder of a file, opened; *name: its last part, in *text (owned). */
static tarn_code open_folder(struct tarn_lake *lake, const char *file, bool create, struct tarn_place **place, char **text,
                             const char **name, struct tarn_err *err)
{
    tarn_code code = tarn_iceberg_locate(file, text, err);

    if (code != TARN_OK)
        return code;
    char *slash = strrchr(*text, '/');
    if (!slash || slash == *text || !slash[1])
        return tarn_fail(err, TARN_INVALID, "%.400s names no file", file);
    *slash = '\0';
    *name = slash + 1;
    return tarn_place_open(lake->storage, *text, create, place, err);
}

tarn_code tarn_iceberg_file_folder(struct tarn_lake *lake, const char *file, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_AUTO(mem) char *folder = NULL;
    const char *name = NULL;

    return open_folder(lake, file, true, &place, &folder, &name, err);
}

static bool is_packed(const char *file)
{
    return tarn_ends_with(file, ".gz.metadata.json") || tarn_ends_with(file, ".metadata.json.gz");
}

tarn_code tarn_iceberg_file_write(struct tarn_lake *lake, const char *file, const struct tarn_buf *text,
                                  struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_AUTO(mem) char *folder = NULL;
    TARN_AUTO_DONE(buf) struct tarn_buf packed = { 0 };
    const char *name = NULL;
    tarn_code code = open_folder(lake, file, true, &place, &folder, &name, err);

    if (code == TARN_OK && is_packed(file))
        code = tarn_gzip(text->data, text->len, &packed, err);
    if (code != TARN_OK)
        return code;
    const struct tarn_buf *bytes = is_packed(file) ? &packed : text;
    return tarn_place_put(place, name, bytes->data, bytes->len, TARN_PUT_CREATE, NULL, err);
}

static tarn_code not_there(const char *file, struct tarn_err *err)
{
    return tarn_fail(err, TARN_NOT_FOUND, "Failed to open input stream for file: %.400s", file);
}

tarn_code tarn_iceberg_file_read(struct tarn_lake *lake, const char *file, struct tarn_buf *out, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_AUTO(mem) char *folder = NULL;
    TARN_AUTO_DONE(buf) struct tarn_buf bytes = { 0 };
    TARN_ERR(fault);
    const char *name = NULL;
    tarn_code code = open_folder(lake, file, false, &place, &folder, &name, &fault);

    if (code == TARN_OK)
        code = tarn_place_read_all(place, name, FILE_MAX, &bytes, NULL, &fault);
    if (code == TARN_NOT_FOUND)
        return not_there(file, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    enum tarn_codec codec = tarn_is_gzip(bytes.data, bytes.len) ? TARN_CODEC_GZIP : TARN_CODEC_NONE;
    return tarn_unsqueeze(codec, bytes.data ? bytes.data : "", bytes.len, FILE_MAX, out, err);
}

tarn_code tarn_iceberg_file_parse(struct tarn_lake *lake, const char *file, struct tarn_iceberg_meta **out,
                                  struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    tarn_code code = tarn_iceberg_file_read(lake, file, &text, err);

    return code == TARN_OK ? tarn_iceberg_parse(text.data ? text.data : "", text.len, out, err) : code;
}

tarn_code tarn_iceberg_file_stat(struct tarn_lake *lake, const char *file, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_AUTO(mem) char *folder = NULL;
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    const char *name = NULL;
    tarn_code code = open_folder(lake, file, false, &place, &folder, &name, &fault);

    if (code == TARN_OK)
        code = tarn_place_stat(place, name, &object, &fault);
    if (code == TARN_NOT_FOUND)
        return not_there(file, err);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

tarn_code tarn_iceberg_file_is_missed(struct tarn_lake *lake, const char *file, bool *out, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_iceberg_file_stat(lake, file, &fault);

    *out = code == TARN_NOT_FOUND;
    return *out || code == TARN_OK || code == TARN_LOCATION_NOT_ALLOWED || code == TARN_INVALID ? TARN_OK : tarn_err_move(err, &fault);
}

bool tarn_iceberg_file_is_local(const char *file) { return file[0] == '/' || tarn_starts_with(file, "file:"); }

bool tarn_iceberg_file_is_seen(const struct tarn_lake *lake, const char *file)
{
    TARN_AUTO(mem) char *canonical = NULL;
    TARN_ERR(ignored);

    return !tarn_iceberg_file_is_local(file) ||
           (tarn_iceberg_locate(file, &canonical, &ignored) == TARN_OK && tarn_storage_sees(lake->storage, canonical));
}

tarn_code tarn_iceberg_file_check_root(const struct tarn_lake *lake, const char *file, struct tarn_err *err)
{
    TARN_AUTO(mem) char *canonical = NULL;
    TARN_ERR(ignored);

    if (!tarn_iceberg_file_is_seen(lake, file) && tarn_iceberg_locate(file, &canonical, &ignored) == TARN_OK &&
        tarn_storage_root_is_lost(lake->storage, canonical))
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "the storage root of '%.400s' is gone or empty", file);
    return TARN_OK;
}

void tarn_iceberg_file_remove(struct tarn_lake *lake, const char *file)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_AUTO(mem) char *folder = NULL;
    TARN_ERR(ignored);
    const char *name = NULL;

    tarn_code code = open_folder(lake, file, false, &place, &folder, &name, &ignored);
    if (code == TARN_OK)
        code = tarn_place_remove(place, name, &ignored);
    (void)code;
}
