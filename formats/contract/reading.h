/* reading.h - inside formats/contract/: a way through the document that knows where it is, and readers of members that
 * refuse wrong types by name. */
#ifndef TARN_FORMATS_CONTRACT_READING_H
#define TARN_FORMATS_CONTRACT_READING_H
#include "base/buf.h"
#include "formats/contract/contract.h"
#include <stddef.h>

struct tarn_contract_at {
    struct tarn_contract *out;
    struct tarn_buf path;   /* "schema[0].properties[2]" */
    size_t remarks_left_out;
    int depth; /* of types inside types */
};

/* Goes down to a member or, with `key` NULL, to an element; the length to go back to. */
size_t tarn_at_enter(struct tarn_contract_at *at, const char *key, size_t index);
void tarn_at_leave(struct tarn_contract_at *at, size_t before);
/* TARN_INVALID at the member `key` of the object at hand ("": the object itself). */
tarn_code tarn_at_fail(struct tarn_contract_at *at, const char *key, struct tarn_err *err, const char *fmt, ...)
    TARN_PRINTF(4, 5);
TARN_MUST tarn_code tarn_at_remark(struct tarn_contract_at *at, const char *key, struct tarn_err *err, const char *fmt,
                                   ...) TARN_PRINTF(4, 5);

/* Members of `object`. Absent and null are the same: *out stays. */
TARN_MUST tarn_code tarn_at_text(struct tarn_contract_at *at, const json_t *object, const char *key, const char **out,
                                 struct tarn_err *err);
TARN_MUST tarn_code tarn_at_bool(struct tarn_contract_at *at, const json_t *object, const char *key, bool *out,
                                 struct tarn_err *err);
TARN_MUST tarn_code tarn_at_integer(struct tarn_contract_at *at, const json_t *object, const char *key, json_int_t *out,
                                    struct tarn_err *err);
TARN_MUST tarn_code tarn_at_list(struct tarn_contract_at *at, const json_t *object, const char *key, const json_t **out,
                                 struct tarn_err *err);
TARN_MUST tarn_code tarn_at_object(struct tarn_contract_at *at, const json_t *object, const char *key, const json_t **out,
                                   struct tarn_err *err);
/* Is the value at hand an object? Its keys that are not among `known` (ended by NULL) become remarks. */
TARN_MUST tarn_code tarn_at_keys(struct tarn_contract_at *at, const json_t *value, const char *const *known,
                                 struct tarn_err *err);
/* Like strcmp for equality, without case. */
bool tarn_at_same(const char *a, const char *b);

/* --- contract_schema.c: the element at hand --- */
TARN_MUST tarn_code tarn_contract_schema(struct tarn_contract_at *at, const json_t *element, struct tarn_err *err);
/* --- contract_type.c: of the property at hand. *out: a JSON type, owned --- */
TARN_MUST tarn_code tarn_contract_type(struct tarn_contract_at *at, const json_t *property, json_t **out,
                                       struct tarn_err *err);
/* The struct of a list of properties (not NULL). `keys` (may be NULL) gets the partition keys. */
TARN_MUST tarn_code tarn_contract_struct(struct tarn_contract_at *at, const json_t *properties, json_t *keys, json_t **out,
                                         struct tarn_err *err);
extern const char *const tarn_contract_property_keys[]; /* of the standard, ended by NULL */
/* --- contract_sla.c --- */
struct tarn_contract_sla {
    const json_t *schema;  /* the list of elements, NULL: none */
    const json_t *element; /* the one taken, NULL: none */
    const char *standard;  /* slaDefaultElement, NULL: none */
};
TARN_MUST tarn_code tarn_contract_slas(struct tarn_contract_at *at, const json_t *slas,
                                       const struct tarn_contract_sla *about, struct tarn_err *err);
/* --- contract_owner.c --- */
TARN_MUST tarn_code tarn_contract_owner(struct tarn_contract_at *at, const json_t *document, struct tarn_err *err);
#endif
