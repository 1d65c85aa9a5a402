/* status_show.h - the status document for people, shared by status and check. */
#ifndef TARN_CLI_STATUS_SHOW_H
#define TARN_CLI_STATUS_SHOW_H
#include <jansson.h>
#include <stdint.h>

/* `now_ms`: from where the age of the look counts. */
void tarn_status_show(const json_t *status, int64_t now_ms);
/* The exit code of monitoring plug-ins for a severity's word. */
int tarn_status_exit(const char *severity);
#endif
