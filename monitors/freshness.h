/* freshness.h - inside monitors/: how old a table's data may be. */
#ifndef TARN_MONITORS_FRESHNESS_H
#define TARN_MONITORS_FRESHNESS_H
#include "monitors/judge.h"

/* --- freshness_settings.c --- */
/* The members of `monitors.freshness` that other kinds do not have. */
bool tarn_freshness_knows(const char *key);
TARN_MUST tarn_code tarn_freshness_member(const struct tarn_kind *kind, const char *key, json_t *value,
                                          struct tarn_freshness_settings *out, struct tarn_err *err);
#endif
