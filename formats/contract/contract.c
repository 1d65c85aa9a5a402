/* contract.c - the document as a whole: is it one that is read here, and which of its elements is the table. */
#include "formats/contract/contract.h"
#include "base/text.h"
#include "formats/contract/reading.h"
#include <stdio.h>
#include <string.h>

void tarn_contract_done(struct tarn_contract *contract)
{
    free(contract->element);
    free(contract->owner);
    json_decref(contract->schema);
    json_decref(contract->partition_keys);
    json_decref(contract->freshness);
    json_decref(contract->properties);
    json_decref(contract->remarks);
    *contract = (struct tarn_contract){ 0 };
}

bool tarn_contract_is(const json_t *document)
{
    return json_object_get(document, "apiVersion") || json_object_get(document, "kind") ||
           json_object_get(document, "dataContractSpecification");
}

/* --- kind and version --- */

static tarn_code judge_kind(struct tarn_contract_at *at, const json_t *document, struct tarn_err *err)
{
    const char *kind = NULL;

    if (!json_is_object(document))
        return tarn_at_fail(at, "", err, "is no data contract: it must hold keys with values");
    if (json_object_get(document, "dataContractSpecification"))
        return tarn_at_fail(at, "dataContractSpecification", err,
                            "is a document of the Data Contract Specification: only the Open Data Contract Standard is "
                            "read, to which its tools export");
    tarn_code code = tarn_at_text(at, document, "kind", &kind, err);
    if (code == TARN_OK && !kind)
        return tarn_at_fail(at, "kind", err, "is missing: it must be DataContract");
    if (code == TARN_OK && strcmp(kind, "DataContract") != 0)
        return tarn_at_fail(at, "kind", err, "is '%.60s': only a DataContract is read", kind);
    return code;
}

static tarn_code judge_version(struct tarn_contract_at *at, const json_t *document, struct tarn_err *err)
{
    const char *version = NULL;
    tarn_code code = tarn_at_text(at, document, "apiVersion", &version, err);

    if (code != TARN_OK)
        return code;
    if (!version)
        return tarn_at_fail(at, "apiVersion", err, "is missing: it must name version 3 of the standard, such as v3.1.0");
    const char *number = version + (version[0] == 'v');
    if (strcmp(number, "3") == 0 || tarn_starts_with(number, "3."))
        return TARN_OK;
    return tarn_at_fail(at, "apiVersion", err, "is '%.40s': only version 3 of the standard is read%s", version,
                        tarn_starts_with(number, "2.") ? ", which names tables in `schema` where version 2 has `dataset`"
                                                       : "");
}

/* --- properties --- */

static tarn_code take_properties(struct tarn_contract_at *at, const json_t *document, struct tarn_err *err)
{
    static const struct {
        const char *key, *property;
        bool is_required;
    } k_rows[] = {
        { "id", "contract.id", true },
        { "version", "contract.version", true },
        { "name", "contract.name", false },
        { "status", "contract.status", false },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        const char *text = NULL;
        tarn_code code = tarn_at_text(at, document, k_rows[i].key, &text, err);
        if (code != TARN_OK)
            return code;
        if (!text && k_rows[i].is_required)
            return tarn_at_fail(at, k_rows[i].key, err, "is missing");
        if (text && json_object_set_new(at->out->properties, k_rows[i].property, json_string(text)) != 0)
            return tarn_fail_oom(err);
    }
    return TARN_OK;
}

/* --- which element is the table --- */

/* "schema.tbl_1" is tbl_1. */
static const char *last_level(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && dot[1] ? dot + 1 : name;
}

static bool is_named(const json_t *element, const char *table)
{
    const char *name = json_string_value(json_object_get(element, "name"));
    const char *physical = json_string_value(json_object_get(element, "physicalName"));

    return (name && strcmp(name, table) == 0) || (physical && strcmp(last_level(physical), table) == 0);
}

static tarn_code none_named(struct tarn_contract_at *at, const json_t *schema, const char *table, struct tarn_err *err)
{
    char names[200] = "";
    size_t len = 0;

    for (size_t i = 0; i < json_array_size(schema) && len < sizeof names; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(schema, i), "name"));
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "", name ? name : "?");
    }
    names[tarn_utf8_cut(names, strlen(names), sizeof names - 1)] = '\0';
    return tarn_at_fail(at, "", err, "holds %zu elements and none is named '%.100s': %s", json_array_size(schema),
                        table ? table : "", names);
}

static tarn_code choose(struct tarn_contract_at *at, const json_t *schema, const char *table, size_t *out,
                        struct tarn_err *err)
{
    size_t count = json_array_size(schema), named = 0;

    *out = 0;
    for (size_t i = count; i > 0; i--) {
        if (!table || !is_named(json_array_get(schema, i - 1), table))
            continue;
        *out = i - 1;
        named++;
    }
    if (named > 1)
        return tarn_at_fail(at, "", err, "holds %zu elements named '%.100s'", named, table);
    return named == 1 || count == 1 ? TARN_OK : none_named(at, schema, table, err);
}

static tarn_code judge_elements(struct tarn_contract_at *at, const json_t *schema, struct tarn_err *err)
{
    for (size_t i = 0; i < json_array_size(schema); i++) {
        size_t before = tarn_at_enter(at, NULL, i);
        const char *name = NULL, *physical = NULL;
        const json_t *element = json_array_get(schema, i);
        tarn_code code = json_is_object(element) ? TARN_OK : tarn_at_fail(at, "", err, "must hold keys with values");
        if (code == TARN_OK)
            code = tarn_at_text(at, element, "name", &name, err);
        if (code == TARN_OK)
            code = tarn_at_text(at, element, "physicalName", &physical, err);
        if (code == TARN_OK && !name)
            code = tarn_at_fail(at, "name", err, "is missing");
        if (code != TARN_OK)
            return code;
        tarn_at_leave(at, before);
    }
    return TARN_OK;
}

static tarn_code take_element(struct tarn_contract_at *at, const json_t *schema, const char *table,
                              const json_t **element, struct tarn_err *err)
{
    size_t index = 0, before = tarn_at_enter(at, "schema", 0);
    tarn_code code = judge_elements(at, schema, err);

    if (code == TARN_OK)
        code = choose(at, schema, table, &index, err);
    if (code != TARN_OK)
        return code;
    *element = json_array_get(schema, index);
    at->out->element = strdup(json_string_value(json_object_get(*element, "name")));
    if (!at->out->element)
        return tarn_fail_oom(err);
    (void)tarn_at_enter(at, NULL, index);
    code = tarn_contract_schema(at, *element, err);
    tarn_at_leave(at, before);
    return code;
}

/* --- the whole --- */

static tarn_code read_body(struct tarn_contract_at *at, const json_t *document, const char *table, struct tarn_err *err)
{
    struct tarn_contract_sla about = { 0 };
    const json_t *slas = NULL;
    tarn_code code = take_properties(at, document, err);

    if (code == TARN_OK)
        code = tarn_at_list(at, document, "schema", &about.schema, err);
    if (code == TARN_OK && json_array_size(about.schema) > 0)
        code = take_element(at, about.schema, table, &about.element, err);
    if (code == TARN_OK)
        code = tarn_at_text(at, document, "slaDefaultElement", &about.standard, err);
    if (code == TARN_OK)
        code = tarn_at_list(at, document, "slaProperties", &slas, err);
    if (code == TARN_OK)
        code = tarn_contract_slas(at, slas, &about, err);
    return code == TARN_OK ? tarn_contract_owner(at, document, err) : code;
}

static tarn_code read_document(struct tarn_contract_at *at, const json_t *document, const char *table,
                               struct tarn_err *err)
{
    static const char *const k_keys[] = {
        "version", "kind", "apiVersion", "id", "name", "tenant", "tags", "status", "servers", "dataProduct", "description",
        "domain", "schema", "support", "price", "team", "roles", "slaDefaultElement", "slaProperties",
        "authoritativeDefinitions", "customProperties", "contractCreatedTs", "context", "owner", NULL
    };
    tarn_code code = judge_kind(at, document, err);

    if (code == TARN_OK)
        code = judge_version(at, document, err);
    if (code == TARN_OK)
        code = tarn_at_keys(at, document, k_keys, err);
    if (code == TARN_OK)
        code = read_body(at, document, table, err);
    if (code != TARN_OK || at->remarks_left_out == 0)
        return code;
    json_t *rest = json_pack("{s:s,s:o}", "field", "", "remark",
                             json_sprintf("%zu more remarks are not shown", at->remarks_left_out));
    return json_array_append_new(at->out->remarks, rest) == 0 ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_contract_read(const json_t *document, const char *table, struct tarn_contract *out, struct tarn_err *err)
{
    struct tarn_contract contract = { .properties = json_object(), .remarks = json_array() };
    struct tarn_contract_at at = { .out = &contract };
    tarn_code code = contract.properties && contract.remarks ? TARN_OK : tarn_fail_oom(err);

    if (code == TARN_OK)
        code = read_document(&at, document, table, err);
    if (code == TARN_OK)
        code = tarn_buf_check(&at.path, err);
    tarn_buf_done(&at.path);
    if (code == TARN_OK)
        *out = contract;
    else
        tarn_contract_done(&contract);
    return code;
}
