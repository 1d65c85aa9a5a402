/* problems.c - /problems/{code}: what an error means and what to do about it, in words. */
#include "api/native/native.h"
#include <string.h>

tarn_code tarn_native_problem_page(const struct tarn_request *req, struct tarn_reply *reply,
                                   struct tarn_err *err)
{
    for (int i = TARN_OK + 1; i < TARN_RECHECK; i++) { /* those after it never leave the process */
        tarn_code code = (tarn_code)i;
        const char *text = tarn_code_explanation(code);
        if (!text || strcmp(tarn_code_slug(code), req->arg[0]) != 0)
            continue;
        reply->status = 200;
        reply->content_type = "text/plain; charset=utf-8";
        tarn_buf_addf(&reply->body, "%s (%u)\n%s.\n\n%s\n", req->arg[0], tarn_code_http(code),
                      tarn_code_title(code), text);
        return tarn_buf_check(&reply->body, err);
    }
    return tarn_fail(err, TARN_NOT_FOUND, "there is no error '%s'", req->arg[0]);
}
