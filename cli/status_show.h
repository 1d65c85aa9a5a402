/* status_show.h - the status document for people, shared by status and check. */
#ifndef TARN_CLI_STATUS_SHOW_H
#define TARN_CLI_STATUS_SHOW_H
#include <jansson.h>

void tarn_status_show(const json_t *status);
/* The exit code of monitoring plug-ins for a severity's word. */
int tarn_status_exit(const char *severity);
#endif
