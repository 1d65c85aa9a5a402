/* iceberg.c - documents of Iceberg tables for tests. */
#include "tests/support/iceberg.h"
#include "base/json.h"
#include <criterion/criterion.h>
#include <string.h>

const char *const k_iceberg_table =
    "{'format-version':2,'table-uuid':'9c12d441-03fe-4693-9a96-a0705ddf69c1','location':'file:///lake/t',"
    "'last-sequence-number':2,'last-updated-ms':2000,'last-column-id':5,'current-schema-id':0,"
    "'schemas':[{'type':'struct','schema-id':0,'fields':["
    "{'id':1,'name':'id','required':true,'type':'long'},"
    "{'id':2,'name':'at','required':false,'type':'timestamptz'},"
    "{'id':3,'name':'tags','required':false,'type':{'type':'list','element-id':4,'element':'string','element-required':false}},"
    "{'id':5,'name':'name','required':false,'type':'string'}]}],"
    "'default-spec-id':0,'partition-specs':[{'spec-id':0,'fields':["
    "{'source-id':2,'field-id':1000,'name':'at_day','transform':'day'}]}],'last-partition-id':1000,"
    "'default-sort-order-id':0,'sort-orders':[{'order-id':0,'fields':[]}],'properties':{'owner':'ada'},"
    "'current-snapshot-id':12,'refs':{'main':{'snapshot-id':12,'type':'branch'}},'snapshots':["
    "{'snapshot-id':11,'sequence-number':1,'timestamp-ms':1000,'manifest-list':'file:///lake/t/metadata/11.avro',"
    "'summary':{'operation':'append'},'schema-id':0},"
    "{'snapshot-id':12,'parent-snapshot-id':11,'sequence-number':2,'timestamp-ms':2000,"
    "'manifest-list':'file:///lake/t/metadata/12.avro','summary':{'operation':'append'},'schema-id':0}],"
    "'statistics':[],'partition-statistics':[],"
    "'snapshot-log':[{'timestamp-ms':1000,'snapshot-id':11},{'timestamp-ms':2000,'snapshot-id':12}],'metadata-log':[]}";

const char *const k_iceberg_v3 = "{'format-version':3,'next-row-id':20}";

json_t *tarn_quoted(const char *text)
{
    char *copy = strdup(text);
    json_t *doc = NULL;
    TARN_ERR(err);

    for (char *at = copy; *at; at++)
        if (*at == '\'')
            *at = '"';
    tarn_code code = tarn_json_parse(copy, strlen(copy), NULL, &doc, &err);
    free(copy);
    if (code != TARN_OK)
        cr_assert(false, "%s in %s", err.detail, text);
    return doc;
}

json_t *tarn_patched(const char *base, const char *patch)
{
    json_t *doc = tarn_quoted(base), *change = patch ? tarn_quoted(patch) : NULL;

    if (change && !tarn_json_merge(doc, change))
        cr_assert(false, "no memory");
    json_decref(change);
    return doc;
}

struct tarn_iceberg_meta *tarn_iceberg_of(const json_t *doc)
{
    struct tarn_iceberg_meta *meta = NULL;
    char *text = tarn_json_text(doc);
    TARN_ERR(err);

    if (tarn_iceberg_parse(text, strlen(text), &meta, &err) != TARN_OK)
        cr_assert(false, "%s (%s) in %s", err.detail, err.field, text);
    free(text);
    return meta;
}

json_t *tarn_iceberg_doc(const struct tarn_iceberg_meta *meta)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    json_t *doc = NULL;
    TARN_ERR(err);

    if (tarn_iceberg_write(meta, TARN_ICEBERG_ALL, &out, &err) != TARN_OK ||
        tarn_json_parse(out.data, out.len, NULL, &doc, &err) != TARN_OK)
        cr_assert(false, "%s", err.detail);
    return doc;
}

void tarn_expect_same(const char *name, const json_t *found, const json_t *expected)
{
    char *one = tarn_json_canonical(found), *other = tarn_json_canonical(expected);

    cr_expect_str_eq(one, other, "%s:\n  found    %s\n  expected %s", name, one, other);
    free(one);
    free(other);
}
