/* test_args.c - the words behind a command. */
#include "cli/command.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static tarn_code parse(const struct tarn_command *command, const char *words, struct tarn_cli *cli,
                       struct tarn_err *err)
{
    static char copy[1024];
    static char *argv[64];
    char *rest = copy;
    int argc = 0;

    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
        if (*word)
            argv[argc++] = word;
    return tarn_cli_parse(argc, argv, command, cli, err);
}

Test(args, flags_and_arguments_come_in_any_order)
{
    struct tarn_cli cli;
    TARN_ERR(err);

    cr_assert(eq(int,
                 parse(&tarn_command_register,
                       "--format delta sales.orders --mode=observed /lake/o --dry-run --json", &cli, &err),
                 TARN_OK));
    cr_assert(eq(sz, cli.arg_count, 2));
    cr_expect(eq(str, (char *)cli.args[0], "sales.orders"));
    cr_expect(eq(str, (char *)cli.args[1], "/lake/o"));
    cr_expect(eq(str, (char *)tarn_cli_text(&cli, "format"), "delta"));
    cr_expect(eq(str, (char *)tarn_cli_text(&cli, "mode"), "observed"));
    cr_expect(tarn_cli_has(&cli, "dry-run") && tarn_cli_has(&cli, "json"));
    cr_expect(not(tarn_cli_has(&cli, "import")));
    cr_expect(tarn_cli_text(&cli, "schema") == NULL);
    tarn_cli_done(&cli);
}

Test(args, the_last_value_counts_and_a_list_takes_all)
{
    struct tarn_cli cli;
    TARN_ERR(err);

    cr_assert(eq(
        int, parse(&tarn_command_commit, "t --author a --add x y --remove z --add w --author b", &cli, &err),
        TARN_OK));
    cr_expect(eq(str, (char *)tarn_cli_text(&cli, "author"), "b"));
    static const char *const k_added[] = { "x", "y", "w" };
    for (size_t i = 0; i < 3; i++)
        cr_expect(eq(str, (char *)tarn_cli_many(&cli, "add", i), (char *)k_added[i]));
    cr_expect(tarn_cli_many(&cli, "add", 3) == NULL);
    cr_expect(eq(str, (char *)tarn_cli_many(&cli, "remove", 0), "z"));
    tarn_cli_done(&cli);
}

Test(args, two_dashes_end_the_flags)
{
    struct tarn_cli cli;
    TARN_ERR(err);

    cr_assert(eq(int, parse(&tarn_command_history, "-- --odd-name", &cli, &err), TARN_OK));
    cr_expect(eq(str, (char *)cli.args[0], "--odd-name"));
    tarn_cli_done(&cli);
}

Test(args, wrong_usage_is_told)
{
    static const struct {
        const struct tarn_command *command;
        const char *words, *says;
    } k_rows[] = {
        { &tarn_command_history, "", "an argument is missing: TABLE" },
        { &tarn_command_history, "a b", "unexpected argument 'b'" },
        { &tarn_command_history, "a --bogus", "unknown flag --bogus" },
        { &tarn_command_history, "a --bogus=1", "unknown flag --bogus" },
        { &tarn_command_history, "a -x", "unknown flag -x" },
        { &tarn_command_history, "a --limit", "--limit needs a value" },
        { &tarn_command_history, "a --json=1", "--json takes no value" },
        { &tarn_command_commit, "t --add --remove x", "--add needs a value" },
        { &tarn_command_check, "x --url http://a", "unknown flag --url" },
        { &tarn_command_tables, "x", "unexpected argument 'x'" },
        { &tarn_command_history, "\xff", "not UTF-8" },
        { &tarn_command_history, "a --token \xff", "not UTF-8" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_cli cli;
        TARN_ERR(err);
        tarn_code code = parse(k_rows[i].command, k_rows[i].words, &cli, &err);
        cr_expect(eq(int, code, TARN_INVALID), "%s", k_rows[i].words);
        cr_expect(tarn_has(err.detail, k_rows[i].says), "%s gave: %s", k_rows[i].words, err.detail);
        tarn_cli_done(&cli);
    }
}

Test(args, help_needs_no_arguments)
{
    struct tarn_cli cli;
    TARN_ERR(err);

    cr_expect(eq(int, parse(&tarn_command_history, "--help", &cli, &err), TARN_OK));
    tarn_cli_done(&cli);
    cr_expect(eq(int, parse(&tarn_command_history, "-h", &cli, &err), TARN_OK));
    cr_expect(tarn_cli_has(&cli, "help"));
    tarn_cli_done(&cli);
}

Test(args, numbers_are_whole)
{
    static const struct {
        const char *words;
        tarn_code code;
        long long value;
    } k_rows[] = {
        { "t --limit 0", TARN_OK, 0 },
        { "t --limit 9223372036854775807", TARN_OK, 9223372036854775807LL },
        { "t --limit 9223372036854775808", TARN_INVALID, 0 },
        { "t --limit=-1", TARN_INVALID, 0 },
        { "t --limit 1x", TARN_INVALID, 0 },
        { "t --limit=", TARN_INVALID, 0 },
        { "t --limit +1", TARN_INVALID, 0 },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_cli cli;
        long long value = 0;
        TARN_ERR(err);
        cr_assert(eq(int, parse(&tarn_command_history, k_rows[i].words, &cli, &err), TARN_OK), "%s",
                  err.detail);
        cr_expect(eq(int, tarn_cli_number(&cli, "limit", &value, &err), k_rows[i].code), "%s",
                  k_rows[i].words);
        cr_expect(eq(llong, value, k_rows[i].value));
        tarn_cli_done(&cli);
    }
}

Test(args, an_empty_argument_is_wrong_usage)
{
    char empty[] = "";
    char *argv[] = { empty };
    struct tarn_cli cli;
    TARN_ERR(err);
    cr_expect(eq(int, tarn_cli_parse(1, argv, &tarn_command_status, &cli, &err), TARN_INVALID));
    cr_expect(tarn_has(err.detail, "an argument is empty"), "%s", err.detail);
    tarn_cli_done(&cli);
}
