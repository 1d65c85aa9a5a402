/* test_iceberg_requirements.c - what a client may ask to hold first; the texts are the reference's (UpdateRequirement). */
#include "tests/support/iceberg.h"
#include <criterion/criterion.h>

struct row { const char *requirements, *refused; tarn_code code; };

#define LAST "last assigned "
static const char k_refs[] = "{'refs':{'t':{'snapshot-id':11,'type':'tag'}}}";

static void check(const struct tarn_iceberg_meta *base, const struct row *row, bool creates)
{
    json_t *requirements = tarn_quoted(row->requirements);
    bool found = !creates;
    TARN_ERR(err);
    tarn_code code = tarn_iceberg_require(base, requirements, &found, &err);

    cr_expect_eq(code, row->code, "%s: code %d, %s", row->requirements, (int)code, err.detail);
    if (row->refused)
        cr_expect_str_eq(err.detail, row->refused, "%s: \"%s\"", row->requirements, err.detail);
    else
        cr_expect_eq(found, creates, "%s", row->requirements);
    json_decref(requirements);
}

Test(iceberg_requirements, each_is_met_or_refused_in_the_reference_s_words)
{
    static const struct row rows[] = {
        { "[]", NULL, TARN_OK },
        { "[{'type':'assert-create'}]", "Requirement failed: table already exists", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-table-uuid','uuid':'9c12d441-03fe-4693-9a96-a0705ddf69c1'}]", NULL, TARN_OK },
        { "[{'type':'assert-table-uuid','uuid':'9C12D441-03FE-4693-9A96-A0705DDF69C1'}]", NULL, TARN_OK },
        { "[{'type':'ASSERT-TABLE-UUID','uuid':'2'}]",
          "Requirement failed: UUID does not match: expected 9c12d441-03fe-4693-9a96-a0705ddf69c1 != 2", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-ref-snapshot-id','ref':'main','snapshot-id':12}]", NULL, TARN_OK },
        { "[{'type':'assert-ref-snapshot-id','ref':'main','snapshot-id':11}]",
          "Requirement failed: branch main has changed: expected id 11 != 12", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-ref-snapshot-id','ref':'t','snapshot-id':12}]",
          "Requirement failed: tag t has changed: expected id 12 != 11", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-ref-snapshot-id','ref':'main','snapshot-id':null}]",
          "Requirement failed: branch main was created concurrently", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-ref-snapshot-id','ref':'t'}]", "Requirement failed: tag t was created concurrently",
          TARN_VERSION_CONFLICT },
        { "[{'type':'assert-ref-snapshot-id','ref':'b'}]", NULL, TARN_OK },
        { "[{'type':'assert-ref-snapshot-id','ref':'b','snapshot-id':null}]", NULL, TARN_OK },
        { "[{'type':'assert-ref-snapshot-id','ref':'b','snapshot-id':7}]",
          "Requirement failed: branch or tag b is missing, expected 7", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-last-assigned-field-id','last-assigned-field-id':5}]", NULL, TARN_OK },
        { "[{'type':'assert-last-assigned-field-id','last-assigned-field-id':4}]",
          "Requirement failed: " LAST "field id changed: expected id 4 != 5", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-current-schema-id','current-schema-id':0}]", NULL, TARN_OK },
        { "[{'type':'assert-current-schema-id','current-schema-id':1}]",
          "Requirement failed: current schema changed: expected id 1 != 0", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-last-assigned-partition-id','last-assigned-partition-id':1000}]", NULL, TARN_OK },
        { "[{'type':'assert-last-assigned-partition-id','last-assigned-partition-id':999}]",
          "Requirement failed: " LAST "partition id changed: expected id 999 != 1000", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-default-spec-id','default-spec-id':0}]", NULL, TARN_OK },
        { "[{'type':'assert-default-spec-id','default-spec-id':2}]",
          "Requirement failed: default partition spec changed: expected id 2 != 0", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-default-sort-order-id','default-sort-order-id':0}]", NULL, TARN_OK },
        { "[{'type':'assert-default-sort-order-id','default-sort-order-id':3}]",
          "Requirement failed: default sort order changed: expected id 3 != 0", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-default-spec-id','default-spec-id':0},{'type':'assert-current-schema-id','current-schema-id':9}]",
          "Requirement failed: current schema changed: expected id 9 != 0", TARN_VERSION_CONFLICT },
        { "[{'type':'assert-weather'}]", "Cannot parse update requirement: unknown type assert-weather", TARN_INVALID },
        { "[{'type':'assert-current-schema-id','current-schema-id':9},{'type':'assert-weather'}]",
          "Cannot parse update requirement: unknown type assert-weather", TARN_INVALID },
        { "[{}]", "Cannot parse missing field: type", TARN_INVALID },
        { "[{'type':'assert-table-uuid'}]", "Cannot parse missing field: uuid", TARN_INVALID },
        { "[{'type':'assert-current-schema-id','current-schema-id':'0'}]",
          "Cannot parse current-schema-id: it must be a whole number", TARN_INVALID },
    };
    json_t *doc = tarn_patched(k_iceberg_table, k_refs);
    struct tarn_iceberg_meta *base = tarn_iceberg_of(doc);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(base, &rows[i], false);
    tarn_iceberg_free(base);
    json_decref(doc);
}

Test(iceberg_requirements, a_table_that_is_not_there_can_only_be_created)
{
    static const struct row missing = { "[{'type':'assert-current-schema-id','current-schema-id':9}]",
                                        "the table does not exist", TARN_TABLE_NOT_FOUND };
    static const struct row create = { "[{'type':'assert-create'}]", NULL, TARN_OK };
    static const struct row both = { "[{'type':'assert-create'},{'type':'assert-current-schema-id','current-schema-id':9}]",
                                     "Invalid create requirements: [assert-current-schema-id]", TARN_INVALID };

    check(NULL, &missing, false);
    check(NULL, &create, true);
    check(NULL, &both, true);
}
