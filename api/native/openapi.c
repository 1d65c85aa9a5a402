/* openapi.c - the contract itself, as it was when the program was built. */
#include "api/native/native.h"

static const unsigned char k_openapi[] = {
#include "embed/openapi.yaml.inc"
};

tarn_code tarn_native_openapi(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    (void)req;
    reply->status = 200;
    reply->content_type = "application/yaml";
    tarn_buf_add(&reply->body, k_openapi, sizeof k_openapi - 1);
    return tarn_buf_check(&reply->body, err);
}
