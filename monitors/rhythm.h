/* rhythm.h - inside monitors/: what the past of a table lets expect of its next run. Pure. */
#ifndef TARN_MONITORS_RHYTHM_H
#define TARN_MONITORS_RHYTHM_H
#include "base/zone.h"
#include "formats/life.h"

#define TARN_RHYTHM_SAMPLES 8 /* fewer gaps teach nothing */

struct tarn_maintenance;
struct tarn_rhythm_ask {
    const struct tarn_life *life;
    const struct tarn_zone *zone; /* of the people who run the loads; NULL: UTC */
    const struct tarn_maintenance *maintenance; /* a gap that lies in its windows teaches nothing; NULL: none */
    int64_t interval_ms;          /* between two scans */
};
struct tarn_rhythm {
    bool is_learning;     /* the rest means nothing */
    int64_t typical_ms;   /* the median of the gaps */
    int64_t predicted_ms; /* a gap longer than that is unusual at this hour of the week */
    int64_t late_at;      /* the next run is unusually late after that instant */
};
struct tarn_rhythm tarn_rhythm_of(const struct tarn_rhythm_ask *ask);
/* Of a life that was cut: the instants after which the first run should be looked up (glimpses) before it is asked. */
size_t tarn_rhythm_asks(const struct tarn_rhythm_ask *ask, int64_t from[TARN_GLIMPSES_MAX]);
#endif
