/* contract.c - see contract.h. The server knows no contracts: it is asked to register what one says. */
#include "cli/contract.h"
#include "base/json.h"
#include "cli/out.h"
#include "config/document.h"
#include <stdio.h>
#include <string.h>

/* With the line where YAML can tell it. */
static tarn_code at_place(const struct tarn_document *document, const char *file,
                          const struct tarn_err *fault, struct tarn_err *err)
{
    const char *colon = fault->field[0] ? ": " : "";

    if (!document)
        return tarn_fail(err, TARN_INVALID, "%s: %s%s%s", file, fault->field, colon, fault->detail);
    return tarn_fail(err, TARN_INVALID, "%s:%zu: %s%s%s", file, tarn_document_line(document, fault->field),
                     fault->field, colon, fault->detail);
}

/* JSON as JSON: what reads YAML knows not all of its escapes. Then the lines are a favour. */
tarn_code tarn_contract_text(const char *file, const struct tarn_buf *text, const char *table,
                             struct tarn_contract *out, struct tarn_err *err)
{
    TARN_AUTO(document) struct tarn_document *document = NULL;
    const char *data = text->data ? text->data : "";
    json_auto_t *tree = NULL;
    TARN_ERR(fault);

    bool is_json = data[strspn(data, " \t\r\n")] == '{' &&
                   tarn_json_parse(data, text->len, NULL, &tree, NULL) == TARN_OK;
    tarn_code code = tarn_document_parse(data, text->len, &document, &fault);
    if (code != TARN_OK && !is_json)
        return tarn_fail(err, TARN_INVALID, "%s: %s", file, fault.detail);
    code = tarn_contract_read(is_json ? tree : tarn_document_json(document), table, out, &fault);
    return code == TARN_OK ? TARN_OK : at_place(document, file, &fault, err);
}

static bool add(json_t *body, const char *key, json_t *value)
{
    if (!value)
        return true;
    return json_object_get(body, key) || json_object_set(body, key, value) == 0;
}

bool tarn_contract_members(const struct tarn_contract *contract, json_t *body)
{
    json_auto_t *owner = contract->owner ? json_string(contract->owner) : NULL;
    json_auto_t *warn = contract->schema ? json_string("warn") : NULL;
    json_auto_t *monitors = contract->freshness ? json_pack("{s:O}", "freshness", contract->freshness) : NULL;

    return add(body, "schema", contract->schema) && add(body, "schema_enforcement", warn) &&
           add(body, "partition_keys", contract->partition_keys) && add(body, "owner", owner) &&
           add(body, "monitors", monitors) && add(body, "properties", contract->properties);
}

static void add_text(struct tarn_buf *line, const char *what, const char *text)
{
    if (text)
        tarn_buf_addf(line, "; %s %s", what, text);
}

static void add_keys(struct tarn_buf *line, const json_t *keys)
{
    size_t i;
    json_t *key;

    json_array_foreach (keys, i, key)
        tarn_buf_addf(line, "%s%s", i ? ", " : "; partition keys ", json_string_value(key));
}

void tarn_contract_print(const struct tarn_contract *contract, FILE *stream)
{
    TARN_AUTO_DONE(buf) struct tarn_buf line = { 0 };
    const json_t *promise = json_object_get(contract->freshness, "contract");
    const json_t *deadline = json_object_get(promise, "deadline");

    tarn_buf_addf(&line, "contract: %s %s", json_string_value(json_object_get(contract->properties, "contract.id")),
                  json_string_value(json_object_get(contract->properties, "contract.version")));
    add_text(&line, "element", contract->element);
    if (contract->schema)
        tarn_buf_addf(&line, "; %zu columns", json_array_size(json_object_get(contract->schema, "fields")));
    add_keys(&line, contract->partition_keys);
    add_text(&line, "freshness warning", json_string_value(json_object_get(promise, "warning")));
    add_text(&line, "error", json_string_value(json_object_get(promise, "error")));
    add_text(&line, "deadline", json_string_value(json_object_get(deadline, "at")));
    add_text(&line, "in zone", json_string_value(json_object_get(deadline, "timezone")));
    add_text(&line, "owner", contract->owner);
    tarn_print_safe_to(stream, line.data ? line.data : "");
    fputc('\n', stream);
}

void tarn_contract_print_remarks(const struct tarn_contract *contract, FILE *stream)
{
    TARN_AUTO_DONE(buf) struct tarn_buf line = { 0 };
    size_t i;
    json_t *remark;

    json_array_foreach (contract->remarks, i, remark) {
        const char *field = json_string_value(json_object_get(remark, "field"));
        tarn_buf_clear(&line);
        tarn_buf_addf(&line, "contract: %s%s%s", field, *field ? ": " : "",
                      json_string_value(json_object_get(remark, "remark")));
        tarn_print_safe_to(stream, line.data ? line.data : "");
        fputc('\n', stream);
    }
}
