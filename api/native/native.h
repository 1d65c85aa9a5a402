/* native.h - the handlers and flows of the native face, one block a file. The rows that
 * name them stand in api/routes.c. */
#ifndef TARN_API_NATIVE_NATIVE_H
#define TARN_API_NATIVE_NATIVE_H
#include "api/http.h"

/* health.c */
tarn_handler_fn tarn_api_health, tarn_api_ready;
/* openapi.c */
tarn_handler_fn tarn_api_openapi;
/* problems.c */
tarn_handler_fn tarn_api_problem_page;
/* tokens.c */
tarn_handler_fn tarn_api_tokens_list;
extern const struct tarn_flow tarn_api_tokens_create, tarn_api_tokens_revoke;
/* backup.c */
tarn_handler_fn tarn_api_backup;
#endif
