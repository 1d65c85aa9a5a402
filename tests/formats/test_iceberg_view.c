/* test_iceberg_view.c - views created, changed, expired. Expected values: Iceberg view specification and the reference's
 * ViewMetadata.Builder, worked out by hand. */
#include "base/json.h"
#include "formats/iceberg/view.h"
#include "tests/support/iceberg.h"
#include <criterion/criterion.h>
#include <string.h>

#define NOW 5000
#define SCHEMA(id) "{'type':'struct','schema-id':" id ",'fields':[{'id':1,'name':'id','required':true,'type':'long'}]}"
#define OTHER(id) "{'type':'struct','schema-id':" id ",'fields':[{'id':1,'name':'n','required':false,'type':'int'}]}"
#define SQL(dialect, sql) "{'type':'sql','sql':'" sql "','dialect':'" dialect "'}"
#define VERSION(id, at, schema, op, representations)                                                               \
    "{'version-id':" id ",'timestamp-ms':" at ",'schema-id':" schema ",'summary':{'operation':'" op "'},"             \
    "'representations':[" representations "],'default-namespace':['n']}"
#define V1 VERSION("1", "1000", "0", "create", SQL("spark", "select 1"))
#define V2(id, schema) VERSION(id, "3000", schema, "replace", SQL("spark", "select 2"))
#define ENTRY(at, id) "{'timestamp-ms':" at ",'version-id':" id "}"
static const char k_view[] = "{'view-uuid':'u1','format-version':1,'location':'file:///lake/v','properties':{'a':'b'},"
                             "'current-version-id':1,'versions':[" V1 "],'version-log':[" ENTRY("1000", "1") "],"
                             "'schemas':[" SCHEMA("0") "]}";

static struct tarn_iceberg_view *view_of(const json_t *doc)
{
    struct tarn_iceberg_view *view = NULL;
    char *text = tarn_json_text(doc);
    TARN_ERR(err);

    cr_assert_eq(tarn_iceberg_view_parse(text, strlen(text), &view, &err), TARN_OK, "%s in %s", err.detail, text);
    free(text);
    return view;
}

static json_t *doc_of(const struct tarn_iceberg_view *view)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    json_t *doc = NULL;

    cr_assert_eq(tarn_iceberg_view_write(view, &out, NULL), TARN_OK);
    cr_assert_eq(tarn_json_parse(out.data, out.len, NULL, &doc, NULL), TARN_OK);
    return doc;
}

/* As rows of updates of tables: merge patches on k_view and on what it gives; `after` NULL: nothing changes. */
struct row { const char *name, *base, *updates, *after, *refused; };

static void check_row(const struct row *row)
{
    json_t *base = tarn_patched(k_view, row->base), *updates = tarn_quoted(row->updates);
    struct tarn_iceberg_view *view = view_of(base);
    bool changed = false;
    TARN_ERR(err);
    tarn_code code = tarn_iceberg_view_update(view, updates, NOW, &changed, &err);

    if (row->refused) {
        cr_expect_eq(code, TARN_INVALID, "%s: code %d", row->name, (int)code);
        cr_expect_eq(strncmp(err.detail, row->refused, strlen(row->refused)), 0, "%s: \"%s\"", row->name, err.detail);
    } else if (code != TARN_OK) {
        cr_expect(false, "%s: %s", row->name, err.detail);
    } else {
        json_t *found = doc_of(view), *after = row->after ? tarn_quoted(row->after) : json_object();
        cr_expect_eq(changed, row->after != NULL, "%s: changed %d", row->name, changed);
        cr_assert(tarn_json_merge(base, after));
        tarn_expect_same(row->name, found, base);
        json_decref(found);
        json_decref(after);
    }
    tarn_iceberg_view_free(view);
    json_decref(base);
    json_decref(updates);
}

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i]);
}

#define ADD(version) "{'action':'add-view-version','view-version':" version "}"
#define SET(id) "{'action':'set-current-view-version','view-version-id':" id "}"

Test(iceberg_view, versions_are_added_and_made_current)
{
    static const struct row rows[] = {
        { "a new one, of another schema", NULL,
          "[{'action':'add-schema','schema':" OTHER("9") "}," ADD(V2("2", "-1")) "," SET("-1") "]",
          "{'current-version-id':2,'versions':[" V1 "," V2("2", "1") "],'version-log':[" ENTRY("1000", "1") "," ENTRY("3000", "2")
          "],'schemas':[" SCHEMA("0") "," OTHER("1") "]}", NULL },
        { "an id that is taken rises", NULL, "[" ADD(V2("1", "0")) "," SET("-1") "]",
          "{'current-version-id':2,'versions':[" V1 "," V2("2", "0") "],'version-log':[" ENTRY("1000", "1") "," ENTRY("3000", "2")
          "]}", NULL },
        { "an id of its own stays", NULL, "[" ADD(V2("7", "0")) "," SET("7") "]",
          "{'current-version-id':7,'versions':[" V1 "," V2("7", "0") "],'version-log':[" ENTRY("1000", "1") "," ENTRY("3000", "7")
          "]}", NULL },
        { "an equal one is used again; id and date do not count", NULL,
          "[" ADD(VERSION("4", "4000", "0", "create", SQL("spark", "select 1"))) "]", NULL, NULL },
        { "back to an old one is dated now",
          "{'current-version-id':2,'versions':[" V1 "," V2("2", "0") "],'version-log':[" ENTRY("1000", "1") "," ENTRY("3000", "2") "]}",
          "[" SET("1") "]",
          "{'current-version-id':1,'version-log':[" ENTRY("1000", "1") "," ENTRY("3000", "2") "," ENTRY("5000", "1") "]}", NULL },
        { "two in one commit, one entry", NULL,
          "[" ADD(V2("2", "0")) "," SET("2") "," ADD(VERSION("3", "4000", "0", "replace", SQL("spark", "select 3"))) "," SET("3") "]",
          "{'current-version-id':3,'versions':[" V1 "," V2("2", "0") "," VERSION("3", "4000", "0", "replace", SQL("spark", "select 3"))
          "],'version-log':[" ENTRY("1000", "1") "," ENTRY("4000", "3") "]}", NULL },
        { "the current one", NULL, "[" SET("1") "]", NULL, NULL },
        { "an unknown one", NULL, "[" SET("5") "]", NULL, "Cannot set current version to unknown version: 5" },
        { "-1 and nothing added", NULL, "[" SET("-1") "]", NULL,
          "Cannot set last version id: no current version id has been set" },
        { "an unknown schema", NULL, "[" ADD(V2("2", "6")) "]", NULL, "Cannot add version with unknown schema: 6" },
        { "the last schema, and nothing added", NULL, "[" ADD(V2("2", "-1")) "]", NULL,
          "Cannot set last added schema: no schema has been added" },
        { "a schema that is there", NULL, "[{'action':'add-schema','schema':" SCHEMA("5") "}]", NULL, NULL },
        { "one dialect twice", NULL,
          "[" ADD(VERSION("2", "3000", "0", "replace", SQL("spark", "a") "," SQL("SPARK", "b"))) "]", NULL,
          "Invalid view version: Cannot add multiple queries for dialect spark" },
    };
    check_rows(rows, sizeof rows / sizeof *rows);
}

#define TRINO VERSION("2", "3000", "0", "replace", SQL("trino", "select 1"))

Test(iceberg_view, a_dialect_is_lost_only_when_that_is_allowed)
{
    static const struct row rows[] = {
        { "lost", NULL, "[" ADD(TRINO) "," SET("-1") "]", NULL,
          "Cannot replace view due to loss of view dialects (replace.drop-dialect.allowed=false):" },
        { "allowed", "{'properties':{'replace.drop-dialect.allowed':'true'}}", "[" ADD(TRINO) "," SET("-1") "]",
          "{'current-version-id':2,'versions':[" V1 "," TRINO "],'version-log':[" ENTRY("1000", "1") "," ENTRY("3000", "2") "]}", NULL },
        { "added, but not current", NULL, "[" ADD(TRINO) "]", "{'versions':[" V1 "," TRINO "]}", NULL },
    };
    check_rows(rows, sizeof rows / sizeof *rows);
}

Test(iceberg_view, the_head_is_changed)
{
    static const struct row rows[] = {
        { "the same uuid", NULL, "[{'action':'assign-uuid','uuid':'u1'}]", NULL, NULL },
        { "another uuid", NULL, "[{'action':'assign-uuid','uuid':'u2'}]", NULL, "Cannot reassign uuid" },
        { "version 1", NULL, "[{'action':'upgrade-format-version','format-version':1}]", NULL, NULL },
        { "version 2", NULL, "[{'action':'upgrade-format-version','format-version':2}]", NULL,
          "Cannot upgrade view to unsupported format version: v2 (supported: v1)" },
        { "a location", NULL, "[{'action':'set-location','location':'file:///w'}]", "{'location':'file:///w'}", NULL },
        { "a location, its slash goes", NULL, "[{'action':'set-location','location':'file:///w/'}]", "{'location':'file:///w'}", NULL },
        { "the same location but for a slash", NULL, "[{'action':'set-location','location':'file:///lake/v/'}]", NULL, NULL },
        { "properties", NULL, "[{'action':'set-properties','updates':{'c':'d'}}]", "{'properties':{'c':'d'}}", NULL },
        { "the last property goes, and they with it", NULL, "[{'action':'remove-properties','removals':['a']}]",
          "{'properties':null}", NULL },
        { "of a table", NULL, "[{'action':'add-snapshot','snapshot':{}}]", NULL,
          "Cannot convert metadata update action to this view: add-snapshot" },
    };
    check_rows(rows, sizeof rows / sizeof *rows);
}

#define V3 VERSION("3", "4000", "0", "replace", SQL("spark", "select 3"))
#define LIMIT(n) "'properties':{'version.history.num-entries':'" n "'}"

Test(iceberg_view, old_versions_expire)
{
    static const struct row rows[] = {
        { "the newest stay, and the log after them", "{" LIMIT("1") "}", "[" ADD(V2("2", "0")) "," SET("2") "]",
          "{'current-version-id':2,'versions':[" V2("2", "0") "],'version-log':[" ENTRY("3000", "2") "]}", NULL },
        { "those of one commit stay", "{" LIMIT("1") "}", "[" ADD(V2("2", "0")) "," ADD(V3) "," SET("3") "]",
          "{'current-version-id':3,'versions':[" V2("2", "0") "," V3 "],'version-log':[" ENTRY("4000", "3") "]}", NULL },
        { "the current one has a place of its own beside what was added", "{" LIMIT("1") "}", "[" ADD(V2("2", "0")) "]",
          "{'versions':[" V1 "," V2("2", "0") "]}", NULL },
        { "not positive", "{" LIMIT("0") "}", "[" ADD(V2("2", "0")) "," SET("2") "]", NULL,
          "version.history.num-entries must be positive but was 0" },
    };
    check_rows(rows, sizeof rows / sizeof *rows);
}

Test(iceberg_view, a_view_is_created)
{
    json_t *schema = tarn_quoted(SCHEMA("44")), *version = tarn_quoted(VERSION("8", "1", "3", "create", SQL("spark", "select 1")));
    const struct tarn_iceberg_view_create ask = { .schema = schema, .version = version, .location = "file:///lake/v",
                                                  .uuid = "u1", .now_ms = 1000 };
    json_t *expected = tarn_patched(k_view, "{'properties':null}");
    struct tarn_iceberg_view *view = NULL;
    TARN_ERR(err);

    cr_assert_eq(tarn_iceberg_view_create(&ask, &view, &err), TARN_OK, "%s", err.detail);
    json_t *found = doc_of(view);
    tarn_expect_same("created", found, expected);
    json_decref(found);
    json_decref(expected);
    json_decref(schema);
    json_decref(version);
    tarn_iceberg_view_free(view);
}

Test(iceberg_view, requirements_are_met_or_refused)
{
    static const struct { const char *requirements; tarn_code code; const char *refused; } rows[] = {
        { "[{'type':'assert-view-uuid','uuid':'U1'}]", TARN_OK, "" },
        { "[{'type':'assert-view-uuid','uuid':'u2'}]", TARN_VERSION_CONFLICT,
          "Requirement failed: view UUID does not match: expected u1 != u2" },
        { "[{'type':'assert-table-uuid','uuid':'u1'}]", TARN_INVALID,
          "Cannot parse update requirement: unknown type assert-table-uuid" },
        { "[{'type':'assert-view-uuid'}]", TARN_INVALID, "Cannot parse missing field: uuid" },
    };
    json_t *doc = tarn_quoted(k_view);
    struct tarn_iceberg_view *view = view_of(doc);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *requirements = tarn_quoted(rows[i].requirements);
        TARN_ERR(err);
        cr_expect_eq(tarn_iceberg_view_require(view, requirements, &err), rows[i].code, "%s", rows[i].requirements);
        cr_expect_str_eq(err.detail, rows[i].refused, "\"%s\"", err.detail);
        json_decref(requirements);
    }
    tarn_iceberg_view_free(view);
    json_decref(doc);
}

Test(iceberg_view, what_is_not_known_survives_and_bad_documents_are_refused)
{
    static const struct { const char *patch, *refused; } rows[] = {
        { "{'x':{'y':1},'schemas':[{'type':'struct','schema-id':0,'fields':[],'z':2}]}", NULL },
        { "{'view-uuid':null}", "Cannot parse missing field: view-uuid" },
        { "{'format-version':2}", "Unsupported format version: 2" },
        { "{'current-version-id':4}", "Cannot find current version 4 in view versions" },
        { "{'versions':[" VERSION("2147483648", "1000", "0", "create", SQL("spark", "select 1")) "]}",
          "Invalid version-id: 2147483648 is beyond 32 bits" },
        { "{'schemas':[" SCHEMA("2147483648") "]}", "Invalid schema-id: 2147483648 is beyond 32 bits" },
        { "{'versions':null}", "Cannot parse missing field: versions" },
        { "{'version-log':null}", "Cannot parse missing field: version-log" },
        { "{'schemas':7}", "Cannot parse schemas: it must be an array" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *doc = tarn_patched(k_view, rows[i].patch);
        char *text = tarn_json_text(doc);
        struct tarn_iceberg_view *view = NULL;
        TARN_ERR(err);
        tarn_code code = tarn_iceberg_view_parse(text, strlen(text), &view, &err);
        cr_expect_eq(code, rows[i].refused ? TARN_INVALID : TARN_OK, "%s: %s", rows[i].patch, err.detail);
        if (rows[i].refused) {
            cr_expect_str_eq(err.detail, rows[i].refused, "\"%s\"", err.detail);
        } else {
            json_t *found = doc_of(view);
            tarn_expect_same("unknown members", found, doc);
            json_decref(found);
        }
        tarn_iceberg_view_free(view);
        free(text);
        json_decref(doc);
    }
}
