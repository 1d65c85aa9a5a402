/* freshness.h - inside monitors/: how old a table's data may be. */
#ifndef TARN_MONITORS_FRESHNESS_H
#define TARN_MONITORS_FRESHNESS_H
#include "monitors/judge.h"
#include "monitors/rhythm.h"

/* --- freshness_settings.c --- */
/* The members of `monitors.freshness` that other kinds do not have. */
bool tarn_freshness_knows(const char *key);
TARN_MUST tarn_code tarn_freshness_member(const struct tarn_kind *kind, const char *key, json_t *value,
                                          struct tarn_freshness_settings *out, struct tarn_err *err);

/* --- freshness.c --- */
/* What is expected of a table's data, and whether it came. */
struct tarn_freshness {
    int64_t last_run;         /* data or proof of life, -1: never */
    int64_t age_ms;           /* since then; signed */
    const char *source;       /* config, contract, deadline, learned, learning */
    int64_t due_at;           /* when the next run is expected at the latest, -1: nothing is expected */
    enum tarn_severity late;  /* TARN_SEV_OK: in time */
    int64_t allowed_ms;       /* of what it is late against */
    int64_t warning_ms, error_ms; /* ages above which it is late, -1: none; the error's may be up to a deadline */
    char message[160];
};
/* What the past lets expect, of a table that Tarn saw alive or that was when it was registered; else it is learning. */
struct tarn_rhythm tarn_freshness_rhythm(const struct tarn_facts *facts, const struct tarn_settings *settings);
struct tarn_freshness tarn_freshness_of(const struct tarn_facts *facts, const struct tarn_settings *settings, int64_t now_ms);
#endif
