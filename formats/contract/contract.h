/* contract.h - a data contract (Open Data Contract Standard, version 3) as what Tarn registers of it: the schema of one
 * table, its partition keys, how fresh it has to be, who answers for it. A pure reader of the document as JSON; YAML is
 * made JSON above (config/document.h). What is said is said in the words of docs/CONTRACTS.md. */
#ifndef TARN_FORMATS_CONTRACT_CONTRACT_H
#define TARN_FORMATS_CONTRACT_CONTRACT_H
#include "base/err.h"
#include "base/own.h"
#include <jansson.h>
#include <stdbool.h>

#define TARN_CONTRACT_REMARKS_MAX 100

struct tarn_contract {
    char *element;          /* the name of the element of `schema` that is the table; NULL: the contract has no schema */
    char *owner;            /* NULL: none is told */
    json_t *schema;         /* the struct, in schema.json's form; NULL: none */
    json_t *partition_keys; /* names in order; NULL: none */
    json_t *freshness;      /* of monitors.freshness: {"contract":{...}}; NULL: nothing is promised */
    json_t *properties;     /* "contract.id", "contract.version", ...: texts */
    json_t *remarks;        /* of {"field","remark"}: keys that are not the standard's, and what is not taken; at most
                             * TARN_CONTRACT_REMARKS_MAX and one that counts the rest */
};
void tarn_contract_done(struct tarn_contract *contract);

/* Does a document look like a contract, of whichever version or kind? */
bool tarn_contract_is(const json_t *document);
/* `table`: the last level of the table's name, which picks the element of `schema` where there are several; NULL: only
 * one may be there. TARN_INVALID with the member at fault ("schema[0].properties[2].required"): of a wrong type, another
 * kind or version of document, no element of that name. */
TARN_MUST tarn_code tarn_contract_read(const json_t *document, const char *table, struct tarn_contract *out,
                                       struct tarn_err *err);
#endif
