/* manifest_peek.c - the beginning of a manifest, enough to tell what it is: members up to its list of files. */
#include "base/own.h"
#include "formats/manifest/manifest.h"
#include <string.h>

#define PEEK_BYTES (64u << 10)

void tarn_manifest_peek_done(struct tarn_manifest_peek *peek)
{
    free(peek->table);
    free(peek->transaction);
    *peek = (struct tarn_manifest_peek){ 0 };
}

static tarn_code take_text(const struct tarn_jsonr_event *value, char **out, struct tarn_err *err)
{
    if (value->token != TARN_J_STRING || *out)
        return TARN_OK;
    *out = strdup(value->text);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code take_member(struct tarn_jsonr *r, const char *key, struct tarn_manifest_peek *out, struct tarn_err *err)
{
    bool is_files = strcmp(key, "files") == 0, is_table = strcmp(key, "table") == 0;
    bool is_transaction = strcmp(key, "transaction") == 0;
    struct tarn_jsonr_event value;
    tarn_code code = tarn_jsonr_next(r, &value, err);

    if (code == TARN_OK && is_files && value.token == TARN_J_ARRAY)
        out->has_files = true;
    if (code == TARN_OK && is_table)
        code = take_text(&value, &out->table, err);
    if (code == TARN_OK && is_transaction)
        code = take_text(&value, &out->transaction, err);
    if (code == TARN_OK && (value.token == TARN_J_OBJECT || value.token == TARN_J_ARRAY))
        code = tarn_jsonr_skip_from(r, &value, err);
    return code;
}

static tarn_code read_members(struct tarn_jsonr *r, struct tarn_manifest_peek *out, struct tarn_err *err)
{
    for (;;) {
        struct tarn_jsonr_event key;
        tarn_code code = tarn_jsonr_next(r, &key, err);
        out->is_whole = code == TARN_OK && key.token == TARN_J_OBJECT_END;
        if (code != TARN_OK || out->is_whole)
            return code;
        TARN_AUTO(mem) char *name = strdup(key.text);
        code = name ? take_member(r, name, out, err) : tarn_fail_oom(err);
        if (code != TARN_OK)
            return code;
    }
}

/* What cannot be read is no fault here: who reads the manifest tells it. */
tarn_code tarn_manifest_peek(struct tarn_place *place, const char *path, struct tarn_manifest_peek *out,
                             struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    struct tarn_jsonr_event first;
    TARN_ERR(fault);

    *out = (struct tarn_manifest_peek){ 0 };
    if (tarn_place_read(place, path, 0, PEEK_BYTES, &text, &fault) != TARN_OK || !text.data)
        return TARN_OK;
    TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new_mem(text.data, text.len, PEEK_BYTES);
    if (!r)
        return tarn_fail_oom(err);
    tarn_code code = tarn_jsonr_next(r, &first, &fault);
    if (code == TARN_OK && first.token == TARN_J_OBJECT)
        code = read_members(r, out, &fault);
    else
        out->is_whole = code == TARN_OK;
    return code == TARN_INTERNAL ? tarn_err_move(err, &fault) : TARN_OK;
}
