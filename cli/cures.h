/* cures.h - which commands cure what a status document finds. */
#ifndef TARN_CLI_CURES_H
#define TARN_CLI_CURES_H
#include <jansson.h>

/* Each command once, a line each; nothing where nothing is cured by one. */
void tarn_cures_show(const json_t *status);
/* The files that the plan would mend if they were named, as the last scan found them; nothing without any. */
void tarn_cures_named_show(const json_t *status, const char *plan);
#endif
