/* schema_step.c - how values of one leaf type become another one's. One table for both
 * comparisons: what a new version may widen, and what a file may hold instead. */
#include "catalog/schema_internal.h"

struct step_row {
    enum tarn_type_kind from, to;
    enum tarn_type_step step;
};

/* Pairs of kinds that are neither equal nor here are TARN_STEP_OTHER. Sources: type promotion of Iceberg and
 * Parquet readers (WIDER), Delta's type widening (LOOSE). */
static const struct step_row k_steps[] = {
    { TARN_T_INT32, TARN_T_INT64, TARN_STEP_WIDER },     { TARN_T_FLOAT, TARN_T_DOUBLE, TARN_STEP_WIDER },
    { TARN_T_INT32, TARN_T_DOUBLE, TARN_STEP_LOOSE },    { TARN_T_FLOAT16, TARN_T_FLOAT, TARN_STEP_LOOSE },
    { TARN_T_FLOAT16, TARN_T_DOUBLE, TARN_STEP_LOOSE },  { TARN_T_INT64, TARN_T_INT32, TARN_STEP_NARROWER },
    { TARN_T_UINT64, TARN_T_INT64, TARN_STEP_NARROWER }, { TARN_T_UINT64, TARN_T_INT32, TARN_STEP_NARROWER },
    { TARN_T_DOUBLE, TARN_T_FLOAT, TARN_STEP_NARROWER },
};

static enum tarn_type_step decimal_step(const struct tarn_type *from, const struct tarn_type *to)
{
    if (from->scale == to->scale) {
        if (from->precision == to->precision)
            return TARN_STEP_SAME;
        return from->precision < to->precision ? TARN_STEP_WIDER : TARN_STEP_NARROWER;
    }
    bool digits_kept = to->precision - to->scale >= from->precision - from->scale;
    return to->scale > from->scale && digits_kept ? TARN_STEP_LOOSE : TARN_STEP_NARROWER;
}

/* A whole number fits a decimal with room for all its digits: 10 of an int32, 20 as Delta asks for an int64.
 */
static enum tarn_type_step integer_to_decimal(const struct tarn_type *from, const struct tarn_type *to)
{
    int digits = from->kind == TARN_T_INT32 ? 10 : 20;

    return to->precision - to->scale >= digits ? TARN_STEP_LOOSE : TARN_STEP_OTHER;
}

enum tarn_type_step tarn_type_step(const struct tarn_type *from, const struct tarn_type *to)
{
    if (from->kind == TARN_T_DECIMAL && to->kind == TARN_T_DECIMAL)
        return decimal_step(from, to);
    if (from->kind == to->kind)
        return TARN_STEP_SAME;
    if ((from->kind == TARN_T_INT32 || from->kind == TARN_T_INT64) && to->kind == TARN_T_DECIMAL)
        return integer_to_decimal(from, to);
    if (from->kind == TARN_T_DATE && to->kind == TARN_T_TIMESTAMP && to->zone == TARN_ZONE_LOCAL)
        return TARN_STEP_LOOSE;
    for (size_t i = 0; i < TARN_COUNT(k_steps); i++) {
        if (k_steps[i].from == from->kind && k_steps[i].to == to->kind)
            return k_steps[i].step;
    }
    return TARN_STEP_OTHER;
}
