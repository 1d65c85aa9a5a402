/* A commit to many tables right after a start: each of them is to be looked at, all in one round. */
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(group_recheck, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

enum { TABLES = 9 };

Test(group_recheck, all_tables_are_looked_at_in_one_round)
{
    char body[4096] = "{\"tables\":[";

    for (int i = 0; i < TABLES; i++) {
        cr_assert(tarn_ask("POST", "/api/tables", "{\"name\":\"t%d\",\"location\":\"%s/t%d\"}", i, g_lake->root, i) == 201);
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "%s{\"table\":\"t%d\",\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1}]}", i ? "," : "", i);
    }
    snprintf(body + strlen(body), sizeof body - strlen(body), "]}");
    tarn_lake_restart();
    cr_assert(tarn_ask("POST", "/api/transactions", "%s", body) == 201, "%s", tarn_answer_text());
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "commits")), TABLES));
}
