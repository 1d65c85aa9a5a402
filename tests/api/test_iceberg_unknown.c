/* test_iceberg_unknown.c - a commit whose outcome nobody knows (apache/polaris#5145: 400 was answered, apache/iceberg#13867: 503): the
 * answer says just that, no file goes that the table may need, and the same request under its key has one effect. */
#include "tests/support/faultvfs.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

TestSuite(iceberg_unknown, .init = tarn_lake_setup_faulty, .fini = tarn_lake_teardown, .timeout = 60);

#define T "/iceberg/v1/namespaces/n/tables/t"
#define SCHEMA "{\"type\":\"struct\",\"fields\":[{\"id\":1,\"name\":\"id\",\"required\":true,\"type\":\"long\"}]}"

static void make(void)
{
    cr_assert(eq(uint, tarn_ask("POST", "/iceberg/v1/namespaces", "{\"namespace\":[\"n\"]}"), 200), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/iceberg/v1/namespaces/n/tables", "{\"name\":\"t\",\"schema\":" SCHEMA "}"), 200), "%s",
              tarn_answer_text());
}

static unsigned commit(int value)
{
    return tarn_ask("POST", T, "{\"updates\":[{\"action\":\"set-properties\",\"updates\":{\"k\":\"%d\"}}]}", value);
}

static unsigned commit_unsynced(int value)
{
    tarn_fault_arm(TARN_FAULT_SYNC, TARN_FAULT_WAL, 0, 1, SQLITE_IOERR_FSYNC);
    unsigned status = commit(value);
    cr_expect(eq(int, tarn_fault_hits(), 1));
    tarn_fault_disarm();
    return status;
}

static void expect_unknown(unsigned status)
{
    const json_t *error = json_object_get(tarn_answer(), "error");

    cr_expect(eq(uint, status, 500), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)json_string_value(json_object_get(error, "type")), "CommitStateUnknownException"));
    cr_expect(eq(i64, json_integer_value(json_object_get(error, "code")), 500));
}

/* The value that the table has now, -1: none; the file that the catalog names is there. */
static int value_now(size_t *commits)
{
    cr_assert(eq(uint, tarn_ask("GET", T, NULL), 200), "%s", tarn_answer_text());
    const char *file = tarn_answer_str("metadata-location");
    const json_t *metadata = json_object_get(tarn_answer(), "metadata");
    const char *value = json_string_value(json_object_get(json_object_get(metadata, "properties"), "k"));

    cr_expect(tarn_file_exists(file + strlen("file://")), "%s", file);
    *commits = json_array_size(json_object_get(metadata, "metadata-log"));
    return value ? (int)strtol(value, NULL, 10) : -1;
}

Test(iceberg_unknown, a_commit_that_may_have_happened_is_told_as_that_and_its_file_stays)
{
    size_t commits = 0;

    make();
    for (int i = 0; i < 8; i++) {
        expect_unknown(commit_unsynced(i));
        if (value_now(&commits) != i) /* the client looks, and finds that it has to commit again */
            cr_expect(eq(uint, commit(i), 200), "%s", tarn_answer_text());
        cr_expect(eq(int, value_now(&commits), i));
        cr_expect(eq(sz, commits, (size_t)i + 1));
    }
    tarn_lake_restart();
    cr_expect(eq(int, value_now(&commits), 7));
    cr_expect(eq(sz, commits, (size_t)8));
}

Test(iceberg_unknown, under_its_key_the_request_is_sent_again_and_has_one_effect)
{
    size_t commits = 0;
    char key[64];

    make();
    for (int i = 0; i < 8; i++) {
        snprintf(key, sizeof key, "017f22e2-79b0-7cc3-98c4-dc0c0c07%04d", i);
        tarn_ask_header("Idempotency-Key", key);
        expect_unknown(commit_unsynced(i));
        tarn_ask_header("Idempotency-Key", key);
        cr_expect(eq(uint, commit(i), 200), "%s", tarn_answer_text());
        cr_expect(eq(int, value_now(&commits), i));
        cr_expect(eq(sz, commits, (size_t)i + 1));
    }
}
