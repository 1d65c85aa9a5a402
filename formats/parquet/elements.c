/* elements.c - SchemaElements of the footer. Legacy annotations (ConvertedType) are turned into the
 * logical types that replaced them, so that the rest knows one set only. */
#include "formats/parquet/footer.h"

#define ELEMENTS_MAX 100000 /* groups and leaves; a real schema has a few thousand at most */

struct converted {
    int number, logical;
    enum tarn_time_unit unit;
    int bits;
    bool is_signed;
};

static const struct converted k_converted[] = {
    { 0, TARN_PQ_STRING, TARN_UNIT_MICROS, 0, false },
    { 1, TARN_PQ_MAP, TARN_UNIT_MICROS, 0, false },
    { 2, TARN_PQ_MAP, TARN_UNIT_MICROS, 0, false },
    { 3, TARN_PQ_LIST, TARN_UNIT_MICROS, 0, false },
    { 4, TARN_PQ_ENUM, TARN_UNIT_MICROS, 0, false },
    { 5, TARN_PQ_DECIMAL, TARN_UNIT_MICROS, 0, false },
    { 6, TARN_PQ_DATE, TARN_UNIT_MICROS, 0, false },
    { 7, TARN_PQ_TIME, TARN_UNIT_MILLIS, 0, false },
    { 8, TARN_PQ_TIME, TARN_UNIT_MICROS, 0, false },
    { 9, TARN_PQ_TIMESTAMP, TARN_UNIT_MILLIS, 0, false },
    { 10, TARN_PQ_TIMESTAMP, TARN_UNIT_MICROS, 0, false },
    { 11, TARN_PQ_INTEGER, TARN_UNIT_MICROS, 8, false },
    { 12, TARN_PQ_INTEGER, TARN_UNIT_MICROS, 16, false },
    { 13, TARN_PQ_INTEGER, TARN_UNIT_MICROS, 32, false },
    { 14, TARN_PQ_INTEGER, TARN_UNIT_MICROS, 64, false },
    { 15, TARN_PQ_INTEGER, TARN_UNIT_MICROS, 8, true },
    { 16, TARN_PQ_INTEGER, TARN_UNIT_MICROS, 16, true },
    { 17, TARN_PQ_INTEGER, TARN_UNIT_MICROS, 32, true },
    { 18, TARN_PQ_INTEGER, TARN_UNIT_MICROS, 64, true },
    { 19, TARN_PQ_JSON, TARN_UNIT_MICROS, 0, false },
    { 20, TARN_PQ_BSON, TARN_UNIT_MICROS, 0, false },
    { 21, TARN_PQ_INTERVAL, TARN_UNIT_MICROS, 0, false },
};

/* Only where no logical type spoke. The old timestamps are in UTC by definition. */
static void apply_converted(struct tarn_pq_element *element, int64_t number)
{
    if (element->logical != TARN_PQ_NONE || number < 0 || number >= (int64_t)TARN_COUNT(k_converted))
        return;
    const struct converted *row = &k_converted[number];
    element->logical = row->logical;
    element->unit = row->unit;
    element->utc = true;
    element->bits = row->bits;
    element->is_signed = row->is_signed;
}

static int to_int(int64_t value) { return value < INT32_MIN || value > INT32_MAX ? -1 : (int)value; }

/* TimeUnit: a union of empty structs, the field number tells. */
static void read_unit(struct tarn_thrift *t, struct tarn_pq_element *element)
{
    struct tarn_thrift_field field = { 0 };

    while (tarn_thrift_next(t, &field)) {
        if (field.id >= 1 && field.id <= 3)
            element->unit = (enum tarn_time_unit)(field.id - 1);
        tarn_thrift_skip(t, &field);
    }
}

/* TimeType and TimestampType: 1 isAdjustedToUTC, 2 unit. */
static void read_time(struct tarn_thrift *t, struct tarn_pq_element *element)
{
    struct tarn_thrift_field field = { 0 };

    while (tarn_thrift_next(t, &field)) {
        if (field.id == 1)
            element->utc = tarn_thrift_bool(t, &field);
        else if (field.id == 2 && tarn_thrift_struct(t, &field))
            read_unit(t, element);
        else
            tarn_thrift_skip(t, &field);
    }
}

/* IntType: 1 bitWidth (a byte), 2 isSigned. */
static void read_integer(struct tarn_thrift *t, struct tarn_pq_element *element)
{
    struct tarn_thrift_field field = { 0 };

    while (tarn_thrift_next(t, &field)) {
        if (field.id == 1)
            element->bits = to_int(tarn_thrift_int(t, &field));
        else if (field.id == 2)
            element->is_signed = tarn_thrift_bool(t, &field);
        else
            tarn_thrift_skip(t, &field);
    }
}

/* DecimalType: 1 scale, 2 precision. */
static void read_decimal(struct tarn_thrift *t, struct tarn_pq_element *element)
{
    struct tarn_thrift_field field = { 0 };

    while (tarn_thrift_next(t, &field)) {
        if (field.id == 1)
            element->scale = to_int(tarn_thrift_int(t, &field));
        else if (field.id == 2)
            element->precision = to_int(tarn_thrift_int(t, &field));
        else
            tarn_thrift_skip(t, &field);
    }
}

/* LogicalType: a union, the field number tells which. */
static void read_logical(struct tarn_thrift *t, struct tarn_pq_element *element)
{
    struct tarn_thrift_field field = { 0 };

    while (tarn_thrift_next(t, &field)) {
        element->logical = field.id;
        if (!tarn_thrift_struct(t, &field))
            return;
        if (field.id == TARN_PQ_DECIMAL)
            read_decimal(t, element);
        else if (field.id == TARN_PQ_TIME || field.id == TARN_PQ_TIMESTAMP)
            read_time(t, element);
        else if (field.id == TARN_PQ_INTEGER)
            read_integer(t, element);
        else
            tarn_thrift_skip(t, &field);
    }
}

/* 1 type 2 type_length 3 repetition 4 name 5 num_children 6 converted_type 7 scale 8 precision
 * 10 logicalType. */
static void read_field(struct tarn_thrift *t, const struct tarn_thrift_field *field,
                       struct tarn_pq_element *element, int64_t *converted)
{
    switch (field->id) {
    case 1: element->physical = to_int(tarn_thrift_int(t, field)); break;
    case 2: element->width = to_int(tarn_thrift_int(t, field)); break;
    case 3: element->repetition = to_int(tarn_thrift_int(t, field)); break;
    case 4: element->name = tarn_thrift_binary(t, field); break;
    case 5: element->children = tarn_thrift_int(t, field); break;
    case 6: *converted = tarn_thrift_int(t, field); break;
    case 7: element->scale = to_int(tarn_thrift_int(t, field)); break;
    case 8: element->precision = to_int(tarn_thrift_int(t, field)); break;
    case 10:
        if (tarn_thrift_struct(t, field))
            read_logical(t, element);
        break;
    default: tarn_thrift_skip(t, field);
    }
}

static void read_element(struct tarn_thrift *t, struct tarn_pq_element *element)
{
    struct tarn_thrift_field field = { 0 };
    int64_t converted = -1;

    *element = (struct tarn_pq_element){ .physical = -1, .unit = TARN_UNIT_MICROS };
    while (tarn_thrift_next(t, &field))
        read_field(t, &field, element, &converted);
    apply_converted(element, converted);
}

bool tarn_pq_elements(struct tarn_pq *pq, struct tarn_thrift *t, const struct tarn_thrift_field *field)
{
    size_t count = tarn_thrift_list(t, field, TARN_THRIFT_STRUCT);

    if (pq->elements)
        return tarn_pq_corrupt(pq, "the footer holds two schemas");
    if (count > ELEMENTS_MAX) {
        pq->out->state = TARN_PARQUET_TOO_LARGE;
        snprintf(pq->out->reason, sizeof pq->out->reason, "the schema has more than %d elements",
                 ELEMENTS_MAX);
        return false;
    }
    pq->elements = calloc(count + 1, sizeof *pq->elements);
    pq->oom = !pq->elements;
    for (size_t i = 0; i < count && !pq->oom && !t->fault; i++) {
        read_element(t, &pq->elements[i]);
        pq->element_count++;
    }
    return !pq->oom && !t->fault;
}
