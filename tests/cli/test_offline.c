/* test_offline.c - commands on the database of a stopped server. */
#include "catalog/sqlite/sqlite.h"
#include "config/data_dir.h"
#include "tests/support/run_cli.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char data[512];

/* A data folder as a server leaves it. */
static void begin(void)
{
    struct tarn_store *store = NULL;
    char path[600];
    TARN_ERR(err);

    snprintf(data, sizeof data, "%s/data", tarn_tmp());
    tarn_make_folder(data);
    snprintf(path, sizeof path, "%s/%s", data, TARN_DATABASE_FILE);
    const struct tarn_sqlite_options options = { .path = path, .migrate = true };
    cr_assert(eq(int, tarn_sqlite_open(&options, &store, &err), TARN_OK), "%s", err.detail);
    tarn_store_free(store);
    unsetenv("TARN_URL");
}

TestSuite(offline, .init = begin, .timeout = 60);

static int run(const char *words)
{
    char all[2048];

    snprintf(all, sizeof all, "%s --data %s", words, data);
    return tarn_run_cli(all);
}

Test(offline, a_token_is_made_listed_and_revoked)
{
    cr_assert(eq(int, run("token create --name ci --scope status:read --tables sales.*"), 0), "%s",
              tarn_cli_stderr());
    cr_expect(eq(int, strncmp(tarn_cli_stdout(), "tarn_", 5), 0));
    cr_expect(eq(sz, strlen(tarn_cli_stdout()), 5 + 43 + 1), "the token alone");
    cr_assert(eq(int, run("token list"), 0));
    cr_expect(tarn_has(tarn_cli_stdout(), "ci    status:read  sales.*"), "%s", tarn_cli_stdout());
    cr_assert(eq(int, run("token revoke ci"), 0), "%s", tarn_cli_stderr());
    cr_expect(eq(str, (char *)tarn_cli_stdout(), ""));
    cr_expect(eq(int, run("token revoke nobody"), 1));
    cr_assert(eq(int, run("token list --json"), 0));
    json_auto_t *answer = json_loads(tarn_cli_stdout(), 0, NULL);
    const json_t *token = json_array_get(json_object_get(answer, "tokens"), 0);
    cr_expect(eq(str, (char *)json_string_value(json_object_get(token, "name")), "ci"));
    cr_expect(eq(int, json_is_string(json_object_get(token, "revoked_at")), 1));
}

Test(offline, a_bad_token_request_names_the_member)
{
    cr_expect(eq(int, run("token create --name ci --scope everything"), 1));
    cr_expect(tarn_has(tarn_cli_stderr(), "scope: "), "%s", tarn_cli_stderr());
    cr_expect(eq(int, run("token create --name ci"), 64));
}

Test(offline, a_folder_in_use_is_refused)
{
    struct tarn_data_dir *dir = NULL;
    static const char *const k_commands[] = { "token list", "migrate", "backup nowhere" };
    TARN_ERR(err);

    cr_assert(eq(int, tarn_data_dir_open(data, &dir, &err), TARN_OK), "%s", err.detail);
    for (size_t i = 0; i < TARN_COUNT(k_commands); i++) {
        cr_expect(eq(int, run(k_commands[i]), 1), "%s", k_commands[i]);
        cr_expect(tarn_has(tarn_cli_stderr(), "in use"), "%s", tarn_cli_stderr());
    }
    tarn_data_dir_free(dir);
    cr_expect(not(tarn_file_exists("nowhere")));
}

Test(offline, a_folder_without_a_database_stays_as_it_is)
{
    const char *folder = tarn_tmp();
    static const char *const k_commands[] = { "token list", "migrate", "backup nowhere" };

    for (size_t i = 0; i < TARN_COUNT(k_commands); i++) {
        char words[512];
        snprintf(words, sizeof words, "%s --data %s/none", k_commands[i], folder);
        cr_expect(eq(int, tarn_run_cli(words), 1));
        cr_expect(tarn_has(tarn_cli_stderr(), "there is no database in"), "%s", tarn_cli_stderr());
        cr_expect(not(tarn_file_exists(tarn_path(folder, "none"))));
    }
}

Test(offline, a_backup_is_a_database_of_its_own)
{
    const char *folder = tarn_tmp();
    char words[1024], copy[600];
    struct stat st;

    cr_assert(eq(int, run("token create --name kept --scope admin"), 0));
    snprintf(copy, sizeof copy, "%s/%s", folder, TARN_DATABASE_FILE);
    snprintf(words, sizeof words, "backup %s", copy);
    cr_assert(eq(int, run(words), 0), "%s", tarn_cli_stderr());
    cr_assert(eq(int, stat(copy, &st), 0));
    cr_expect(eq(int, (int)(st.st_mode & 077), 0), "only its owner may read it");
    cr_expect(eq(int, run(words), 1), "an existing file is not overwritten");
    snprintf(words, sizeof words, "token list --data %s", folder);
    cr_assert(eq(int, tarn_run_cli(words), 0), "%s", tarn_cli_stderr());
    cr_expect(tarn_has(tarn_cli_stdout(), "kept"));
}

Test(offline, migrate_says_that_all_is_current)
{
    cr_expect(eq(int, run("migrate"), 0), "%s", tarn_cli_stderr());
    cr_expect(eq(int, run("migrate --json"), 0));
    cr_expect(eq(str, (char *)tarn_cli_stdout(), "{\"current\":true}\n"));
}
