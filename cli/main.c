/* main.c - picks the command, reads its words, runs it. */
#include "cli/cli.h"
#include "cli/command.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* How many words of argv (after the program) make the command's name; 0: it is another one. */
static int name_words(const struct tarn_command *command, int argc, char **argv)
{
    const char *name = command->name;
    int i = 1;

    for (; *name && i < argc; i++) {
        size_t len = strcspn(name, " ");
        if (strlen(argv[i]) != len || memcmp(argv[i], name, len) != 0)
            return 0;
        name += len + strspn(name + len, " ");
    }
    return *name ? 0 : i - 1;
}

static const struct tarn_command *find_command(int argc, char **argv, int *words)
{
    for (size_t i = 0; tarn_commands[i]; i++) {
        *words = name_words(tarn_commands[i], argc, argv);
        if (*words > 0)
            return tarn_commands[i];
    }
    return NULL;
}

static bool begins_with_word(const struct tarn_command *command, const char *word)
{
    size_t len = strlen(word);

    return strncmp(command->name, word, len) == 0 && command->name[len] == ' ';
}

/* `tarn token --help`: all that begin so; false: there are none. */
static bool group_help(const char *word)
{
    bool found = false;

    for (size_t i = 0; tarn_commands[i]; i++) {
        if (!begins_with_word(tarn_commands[i], word))
            continue;
        fputs(found ? "\n" : "", stdout);
        tarn_cli_command_help(tarn_commands[i]);
        found = true;
    }
    return found;
}

/* `tarn token` alone: which words may follow? */
static int unknown(const char *word)
{
    bool found = false;

    for (size_t i = 0; tarn_commands[i]; i++) {
        const char *name = tarn_commands[i]->name;
        if (!begins_with_word(tarn_commands[i], word))
            continue;
        fprintf(stderr, "%s%s", found ? ", " : "tarn: which one? ", name);
        found = true;
    }
    if (found)
        fputc('\n', stderr);
    else
        fprintf(stderr, "tarn: there is no command '%s'; `tarn help` lists them\n", word);
    return TARN_EXIT_USAGE;
}

/* The exit code, once what the command printed is out: a verdict that nobody could read is none. */
static int told(const struct tarn_command *command, int rc)
{
    bool is_whole = ferror(stdout) == 0;

    errno = EIO;
    if (fflush(stdout) == 0 && is_whole)
        return rc;
    fprintf(stderr, "tarn: standard output: %s\n", strerror(errno));
    if (rc != 0)
        return rc;
    return command->exit_unwritten ? command->exit_unwritten : TARN_EXIT_FAILED;
}

static int run(const struct tarn_command *command, int argc, char **argv)
{
    TARN_ERR(err);
    struct tarn_cli cli;
    int rc = 0;

    if (tarn_cli_parse(argc, argv, command, &cli, &err) != TARN_OK)
        rc = tarn_cli_usage(command, "%s", err.detail);
    else if (tarn_cli_has(&cli, "help"))
        tarn_cli_command_help(command);
    else
        rc = command->run(&cli);
    tarn_cli_done(&cli);
    return told(command, rc);
}

/* `tarn help`, `tarn help commit`, `tarn help token`; of a
 * word that is none, what `tarn` itself says of it. */
static int help(int argc, char **argv)
{
    int words = 0;
    const struct tarn_command *command = argc > 2 ? find_command(argc - 1, argv + 1, &words) : NULL;

    if (command)
        tarn_cli_command_help(command);
    else if (argc < 3)
        tarn_cli_help();
    else if (!group_help(argv[2]))
        return unknown(argv[2]);
    return 0;
}

int tarn_cli_main(int argc, char **argv)
{
    int words = 0;

    /* A reader that goes away (`| head`) ends the process quietly. */
    signal(SIGPIPE, SIG_DFL);
    if (argc < 2) {
        tarn_cli_help();
        return TARN_EXIT_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(argc, argv);
    if (strcmp(argv[1], "--version") == 0)
        return run(&tarn_command_version, argc - 2, argv + 2);
    const struct tarn_command *command = find_command(argc, argv, &words);
    if (command)
        return run(command, argc - 1 - words, argv + 1 + words);
    bool asks_help = argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
    return asks_help && group_help(argv[1]) ? 0 : unknown(argv[1]);
}
