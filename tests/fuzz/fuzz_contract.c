/* fuzz_contract.c - a data contract of hostile bytes: as YAML, and what is made of it. */
#include "base/json.h"
#include "catalog/schema.h"
#include "config/document.h"
#include "formats/contract/contract.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TARN_AUTO(document) struct tarn_document *document = NULL;
    struct tarn_contract contract = { 0 };
    TARN_ERR(err);

    if (tarn_document_parse((const char *)data, size, &document, &err) != TARN_OK) {
        if (document || err.code == TARN_OK)
            abort();
        return 0;
    }
    TARN_AUTO(mem) char *text = tarn_json_text(tarn_document_json(document));
    if (!text)
        abort();
    tarn_code code = tarn_contract_read(tarn_document_json(document), "orders", &contract, &err);
    if (code != TARN_OK && (contract.properties || tarn_document_line(document, err.field) < 1))
        abort();
    TARN_AUTO(schema) struct tarn_schema *schema = NULL;
    if (contract.schema && tarn_schema_parse(contract.schema, "schema", &schema, NULL) != TARN_OK)
        abort();
    tarn_contract_done(&contract);
    return 0;
}
