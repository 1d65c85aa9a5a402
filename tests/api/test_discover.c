/* POST /api/discover: what lies below a folder beside what the catalog knows. */
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(api_discover, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

#define MANIFEST(name) "{\"version\":3,\"table\":\"" name "\",\"files\":[]}"
#define NO_NAME "{\"version\":3,\"files\":[]}"

static void put(const char *path, const char *text) { tarn_write_text(tarn_path(g_lake->root, path), text); }

static unsigned discover(const char *below)
{
    return tarn_ask("POST", "/api/discover", "{\"location\":\"%s%s\"}", g_lake->root, below);
}

/* The item whose location ends so; NULL: it is not told. */
static const json_t *item_at(const char *below)
{
    const json_t *tables = json_object_get(tarn_answer(), "tables");
    char location[700];

    snprintf(location, sizeof location, "%s%s", g_lake->root, below);
    for (size_t i = 0; i < json_array_size(tables); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(tables, i), "location")), location) == 0)
            return json_array_get(tables, i);
    return NULL;
}

static void expect(const char *below, const char *state, const char *table, const char *name)
{
    static const char *const k_members[] = { "state", "table", "name" };
    const char *const values[] = { state, table, name };
    const json_t *item = item_at(below);

    cr_assert(item != NULL, "%s is not told: %s", below, tarn_answer_text());
    for (size_t i = 0; i < 3; i++) {
        const char *found = json_string_value(json_object_get(item, k_members[i]));
        cr_expect(eq(str, (char *)(found ? found : "-"), (char *)(values[i] ? values[i] : "-")), "%s of %s", k_members[i],
                  below);
    }
}

Test(api_discover, new_tables_get_the_name_of_their_manifest_or_their_folders)
{
    put("/sales/orders/manifest.json", MANIFEST("shop.orders"));
    put("/sales/items/manifest.json", NO_NAME);
    put("/plain/k=1/a.parquet", "x");
    put("/a/b/c/_delta_log/00000000000000000000.json", "{}");
    put("/a/b%2Fc/d.e/manifest.json", NO_NAME);
    put("/bad/manifest.json", MANIFEST("a..b"));
    cr_assert(eq(uint, discover(""), 200), "%s", tarn_answer_text());
    expect("/sales/orders", "new", NULL, "shop.orders");
    expect("/sales/items", "new", NULL, "sales.items");
    expect("/plain", "new", NULL, "plain");
    expect("/a/b/c", "new", NULL, "a.b.c");
    expect("/a/b%2Fc/d.e", "new", NULL, "a.b/c.\"d.e\"");
    expect("/bad", "new", NULL, "bad");
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "tables")), 6));
    cr_expect(eq(str, (char *)tarn_answer_str("location"), g_lake->root));
    cr_expect(eq(int, json_is_true(json_object_get(tarn_answer(), "complete")), 1));
}

Test(api_discover, the_name_comes_from_the_root_whatever_folder_is_walked)
{
    put("/sales/eu/orders/manifest.json", NO_NAME);
    cr_assert(eq(uint, discover("/sales/eu"), 200));
    expect("/sales/eu/orders", "new", NULL, "sales.eu.orders");
    cr_assert(eq(uint, discover("/sales/eu/orders"), 200));
    expect("/sales/eu/orders", "new", NULL, "sales.eu.orders");
}

Test(api_discover, registered_and_dropped_tables_are_told_under_their_name)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"s.known\",\"location\":\"%s/t\"}", g_lake->root), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"s.gone\",\"location\":\"%s/u\"}", g_lake->root), 201));
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/s.gone", NULL), 204));
    put("/t/manifest.json", MANIFEST("other"));
    put("/u/manifest.json", MANIFEST("other"));
    cr_assert(eq(uint, discover(""), 200));
    expect("/t", "registered", "s.known", NULL);
    expect("/u", "dropped", "s.gone", NULL);
}

Test(api_discover, folders_inside_and_around_a_table_overlap)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"s.t\",\"location\":\"%s/x/t\",\"publish\":false}",
                                g_lake->root), 201));
    put("/x/t/data/a.parquet", "x"); /* unpublished: nothing marks the table's own folder */
    cr_assert(eq(uint, discover(""), 200));
    expect("/x/t/data", "overlaps", "s.t", NULL);
    put("/x/b.parquet", "x");
    cr_assert(eq(uint, discover(""), 200));
    expect("/x", "overlaps", "s.t", NULL);
}

Test(api_discover, a_taken_name_is_not_proposed)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"s.orders\",\"location\":\"%s/t\"}", g_lake->root), 201));
    put("/copy/manifest.json", MANIFEST("s.orders"));
    put("/s/orders/manifest.json", NO_NAME);
    put("/y/manifest.json", MANIFEST("twin"));
    put("/z/manifest.json", MANIFEST("twin"));
    cr_assert(eq(uint, discover(""), 200));
    expect("/copy", "new", NULL, "copy");
    expect("/s/orders", "new", NULL, "s.orders_2");
    const char *y = json_string_value(json_object_get(item_at("/y"), "name"));
    const char *z = json_string_value(json_object_get(item_at("/z"), "name"));
    bool first = strcmp(y, "twin") == 0;
    cr_expect(eq(str, (char *)y, (char *)(first ? "twin" : "y")));
    cr_expect(eq(str, (char *)z, (char *)(first ? "z" : "twin")));
}

Test(api_discover, a_line_a_table_and_a_last_line_on_the_walk)
{
    put("/a/manifest.json", NO_NAME);
    put("/b/manifest.json", NO_NAME);
    tarn_make_link(tarn_path(g_lake->root, "link"), "a");
    tarn_ask_header("Accept", "application/x-ndjson");
    cr_assert(eq(uint, discover(""), 200));
    json_auto_t *line = NULL;
    const char *at = tarn_answer_text();
    for (int i = 0; i < 3; i++) {
        json_decref(line);
        line = json_loads(at, JSON_DISABLE_EOF_CHECK, NULL);
        cr_assert(line != NULL, "%s", at);
        cr_expect(eq(int, json_object_get(line, "location") != NULL, i < 2));
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : at + strlen(at);
    }
    cr_expect(eq(int, json_is_true(json_object_get(line, "complete")), 1));
    cr_expect(eq(i64, json_integer_value(json_object_get(line, "symlinks")), 1));
    cr_expect(eq(str, (char *)at, (char *)""));
}

Test(api_discover, a_place_that_cannot_be_walked_is_refused)
{
    static const struct { const char *body; unsigned status; const char *code, *field; } k_rows[] = {
        { "{\"location\":\"/etc\"}", 403, "location_not_allowed", "location" },
        { "{\"location\":\"relative\"}", 400, "invalid_request", "location" },
        { "{}", 400, "invalid_request", "location" },
        { "{\"location\":\"/x\",\"depth\":3}", 400, "invalid_request", "depth" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        cr_expect(eq(uint, tarn_ask("POST", "/api/discover", "%s", k_rows[i].body), k_rows[i].status), "%s",
                  k_rows[i].body);
        cr_expect(eq(str, (char *)tarn_answer_str("code"), (char *)k_rows[i].code));
        cr_expect(eq(str, (char *)tarn_answer_str("field"), (char *)k_rows[i].field));
    }
    cr_expect(eq(uint, discover("/nothing"), 422));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), (char *)"location_unreachable"));
}

TestSuite(discover_narrowed, .init = tarn_lake_setup_tokens, .fini = tarn_lake_teardown, .timeout = 60);

static void make_token(const char *name, const char *scope, char out[80])
{
    tarn_ask_token(g_lake->admin);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens",
                                "{\"name\":\"%s\",\"scope\":\"%s\",\"tables\":\"mine.*\",\"roots\":\"%s/mine\"}", name,
                                scope, g_lake->root), 201), "%s", tarn_answer_text());
    snprintf(out, 80, "%s", tarn_answer_str("token"));
}

Test(discover_narrowed, a_narrowed_token_walks_only_under_its_roots_and_is_told_no_foreign_name)
{
    char token[80], reader[80];

    make_token("narrow", "catalog:write", token);
    make_token("reader", "catalog:read", reader);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"theirs.t\",\"location\":\"%s/mine/t\"}", g_lake->root), 201));
    put("/mine/t/manifest.json", NO_NAME);
    put("/mine/u/manifest.json", NO_NAME);
    put("/mine/v/manifest.json", MANIFEST("theirs.v"));
    put("/other/manifest.json", NO_NAME);
    tarn_ask_token(token);
    cr_expect(eq(uint, discover(""), 403));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), (char *)"location_not_allowed"));
    cr_expect(eq(uint, discover("/other"), 403));
    cr_assert(eq(uint, discover("/mine"), 200));
    expect("/mine/t", "registered", NULL, NULL);
    expect("/mine/u", "new", NULL, "mine.u");
    expect("/mine/v", "new", NULL, "mine.v");
    tarn_ask_token(reader);
    cr_expect(eq(uint, discover("/mine"), 403));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), (char *)"forbidden"));
}
