/* leaf.c - from a Parquet leaf to a type of the catalog. An annotation that does not belong on its
 * physical type is passed over, as readers do; the reference of the mapping is docs/FORMAT.md. */
#include "formats/parquet/footer.h"

static bool is_bytes(int physical) { return physical == TARN_PQ_BYTE_ARRAY || physical == TARN_PQ_FIXED; }
static bool is_integer(int physical) { return physical == TARN_PQ_INT32 || physical == TARN_PQ_INT64; }

static void plain(int physical, struct tarn_type *type)
{
    static const enum tarn_type_kind k_kinds[TARN_PQ_PHYSICAL_END] = {
        TARN_T_BOOLEAN, TARN_T_INT32,  TARN_T_INT64,  TARN_T_TIMESTAMP,
        TARN_T_FLOAT,   TARN_T_DOUBLE, TARN_T_BINARY, TARN_T_BINARY,
    };
    type->kind = k_kinds[physical];
    type->unannotated = physical == TARN_PQ_BYTE_ARRAY;
    if (physical ==
        TARN_PQ_INT96) { /* the old timestamp of Hive, Impala and Spark: nobody wrote down the zone */
        type->unit = TARN_UNIT_NANOS;
        type->zone = TARN_ZONE_UNKNOWN;
    }
}

static void integer(const struct tarn_pq_element *element, struct tarn_type *type)
{
    if (!element->is_signed && element->bits == 32)
        type->kind = TARN_T_INT64;
    else if (!element->is_signed && element->bits == 64)
        type->kind = TARN_T_UINT64;
    else
        type->narrow = element->bits < 32;
}

static bool decimal(struct tarn_pq *pq, const struct tarn_pq_element *element, struct tarn_type *type)
{
    if (element->precision < 1 || element->scale < 0 || element->scale > element->precision)
        return tarn_pq_corrupt(pq, "a decimal of precision %d and scale %d", element->precision,
                               element->scale);
    type->kind = TARN_T_DECIMAL;
    type->precision = element->precision;
    type->scale = element->scale;
    return true;
}

static void clock(const struct tarn_pq_element *element, enum tarn_type_kind kind, struct tarn_type *type)
{
    type->kind = kind;
    type->unit = element->unit;
    type->zone = element->utc ? TARN_ZONE_UTC : TARN_ZONE_LOCAL;
}

/* Annotations that change the kind alone. */
static void annotate(const struct tarn_pq_element *element, struct tarn_type *type)
{
    static const struct {
        int logical;
        bool on_bytes; /* else on INT32 */
        int width;     /* of a fixed array, 0: any bytes */
        enum tarn_type_kind kind;
    } k_rows[] = {
        { TARN_PQ_STRING, true, 0, TARN_T_STRING },    { TARN_PQ_ENUM, true, 0, TARN_T_STRING },
        { TARN_PQ_JSON, true, 0, TARN_T_STRING },      { TARN_PQ_DATE, false, 0, TARN_T_DATE },
        { TARN_PQ_UUID, true, 16, TARN_T_UUID },       { TARN_PQ_FLOAT16, true, 2, TARN_T_FLOAT16 },
        { TARN_PQ_INTERVAL, true, 12, TARN_T_INTERVAL },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        bool fits = k_rows[i].on_bytes ? is_bytes(element->physical) : element->physical == TARN_PQ_INT32;
        bool wide =
            k_rows[i].width == 0 || (element->physical == TARN_PQ_FIXED && element->width == k_rows[i].width);
        if (k_rows[i].logical == element->logical && fits && wide)
            type->kind = k_rows[i].kind;
    }
}

bool tarn_pq_leaf_type(struct tarn_pq *pq, const struct tarn_pq_element *element, struct tarn_type *type)
{
    if (element->physical < 0 || element->physical >= TARN_PQ_PHYSICAL_END)
        return tarn_pq_corrupt(pq, "the schema has a physical type %d", element->physical);
    plain(element->physical, type);
    if (element->logical != TARN_PQ_NONE)
        type->unannotated = false;
    if (element->logical == TARN_PQ_UNKNOWN)
        type->kind = TARN_T_UNKNOWN;
    else if (element->logical == TARN_PQ_INTEGER && is_integer(element->physical))
        integer(element, type);
    else if (element->logical == TARN_PQ_DECIMAL &&
             (is_bytes(element->physical) || is_integer(element->physical)))
        return decimal(pq, element, type);
    else if (element->logical == TARN_PQ_TIME && is_integer(element->physical))
        clock(element, TARN_T_TIME, type);
    else if (element->logical == TARN_PQ_TIMESTAMP && element->physical == TARN_PQ_INT64)
        clock(element, TARN_T_TIMESTAMP, type);
    else
        annotate(element, type);
    return true;
}
