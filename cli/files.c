/* files.c - JSON files and standard input, bounded as the server's bodies are. */
#include "cli/files.h"
#include "base/buf.h"
#include "base/json.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)64 << 20)
#define PIECE 65536

static tarn_code read_all(FILE *stream, const char *file, struct tarn_buf *out, struct tarn_err *err)
{
    size_t got;

    do {
        char *room = tarn_buf_reserve(out, PIECE);
        if (!room)
            return tarn_fail(err, TARN_INVALID, "%s: is larger than %zu MiB", file, FILE_MAX >> 20);
        got = fread(room, 1, PIECE, stream);
        out->len += got;
        out->data[out->len] = '\0';
    } while (got > 0);
    if (ferror(stream))
        return tarn_fail(err, TARN_INVALID, "%s: %s", file, strerror(errno));
    return TARN_OK;
}

tarn_code tarn_read_text_file(const char *file, struct tarn_buf *out, struct tarn_err *err)
{
    bool is_stdin = strcmp(file, "-") == 0;
    FILE *stream = is_stdin ? stdin : fopen(file, "re");

    if (!stream)
        return tarn_fail(err, TARN_INVALID, "%s: %s", file, strerror(errno));
    out->ceiling = FILE_MAX + PIECE;
    tarn_code code = read_all(stream, file, out, err);
    if (!is_stdin)
        fclose(stream);
    return code;
}

tarn_code tarn_read_json_file(const char *file, json_t **out, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    TARN_ERR(why);
    tarn_code code = tarn_read_text_file(file, &text, err);

    if (code != TARN_OK)
        return code;
    code = tarn_json_parse(text.data ? text.data : "", text.len, NULL, out, &why);
    return code == TARN_OK ? code : tarn_fail(err, code, "%s: %s", file, why.detail);
}

json_t *tarn_location_arg(const char *text)
{
    char folder[PATH_MAX];

    if (text[0] == '/' || strstr(text, "://") || !getcwd(folder, sizeof folder))
        return json_string(text);
    return json_sprintf("%s/%s", folder, text);
}
