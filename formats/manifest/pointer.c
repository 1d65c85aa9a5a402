/* pointer.c - last_committed_txn: one id, around which editors and shells leave a byte order mark or line
 * ends. */
#include "formats/manifest/manifest.h"
#include <string.h>

enum { POINTER_MAX_BYTES = 4096 };

tarn_code tarn_pointer_read(struct tarn_place *place, char **id, struct tarn_object *object,
                            struct tarn_err *err)
{
    static const char k_mark[] = "\xef\xbb\xbf", k_blanks[] = " \t\r\n";
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    tarn_code code = tarn_place_read_all(place, TARN_DOC_POINTER, POINTER_MAX_BYTES, &text, object, err);
    if (code == TARN_PAYLOAD_TOO_LARGE) /* far too long for an id */
        return tarn_fail(err, TARN_INVALID, TARN_DOC_POINTER " holds no transaction id");
    if (code != TARN_OK)
        return code;
    const char *at = text.len > 0 ? text.data : "";
    if (strlen(at) != text.len)
        return tarn_fail(err, TARN_INVALID, TARN_DOC_POINTER " holds no transaction id");
    if (strncmp(at, k_mark, strlen(k_mark)) == 0)
        at += strlen(k_mark);
    at += strspn(at, k_blanks);
    size_t len = strlen(at);
    while (len > 0 && strchr(k_blanks, at[len - 1]))
        len--;

    __attribute__((cleanup(tarn_mem_freep))) char *found = strndup(at, len);
    if (!found)
        return tarn_fail_oom(err);
    code = tarn_txn_id_check(found, TARN_DOC_POINTER, err);
    if (code == TARN_OK)
        *id = tarn_take(&found);
    return code;
}
