/* command.h - what a command of `tarn` is: its name, what it takes, and the function that runs it. One file a
 * command; cli/commands.c lists them and makes the help. */
#ifndef TARN_CLI_COMMAND_H
#define TARN_CLI_COMMAND_H
#include "base/err.h"
#include "base/own.h"
#include <stdbool.h>
#include <stddef.h>

#define TARN_EXIT_FAILED 1
#define TARN_EXIT_USAGE 64
/* check and status, as monitoring plug-ins do: */
#define TARN_EXIT_WARNING 1
#define TARN_EXIT_ERROR 2
#define TARN_EXIT_UNKNOWN 3
#define TARN_EXIT_HELP    "Exit codes: 0 ok, 1 warning, 2 error, 3 unknown, 64 wrong usage."

enum tarn_flag_kind {
    TARN_FLAG_BOOL,
    TARN_FLAG_TEXT, /* the last one counts */
    TARN_FLAG_MANY  /* takes every word up to the next flag; may come again */
};
struct tarn_flag {
    const char *name; /* without dashes; NULL ends a table */
    enum tarn_flag_kind kind;
    const char *value; /* its name in the help: "FILE"; NULL for BOOL */
    const char *sentence;
};

struct tarn_cli;
struct tarn_command {
    const char *name;  /* "token create" */
    const char *takes; /* arguments in the help: "NAME LOCATION" */
    int least, most;   /* arguments besides flags */
    const struct tarn_flag *flags; /* its own; NULL: none */
    bool asks_server;  /* takes --url, --token, --data too */
    const char *sentence;
    const char *more; /* below the flags in the help, NULL: nothing */
    int exit_unwritten; /* when its output cannot be written although all went well; 0: TARN_EXIT_FAILED */
    int (*run)(struct tarn_cli *cli); /* gives the exit code; prints what went wrong itself */
};
extern const struct tarn_command *const tarn_commands[]; /* ended by NULL */
extern const struct tarn_command tarn_command_register, tarn_command_tables, tarn_command_status,
    tarn_command_commit, tarn_command_history, tarn_command_token_create, tarn_command_token_list,
    tarn_command_token_revoke, tarn_command_migrate, tarn_command_backup, tarn_command_check,
    tarn_command_discover, tarn_command_repair, tarn_command_recover, tarn_command_version;

/* The words of one call. Text is borrowed from argv. */
struct tarn_cli {
    const struct tarn_command *command;
    const char *const *args; /* besides flags */
    size_t arg_count;
    const struct tarn_cli_flag { const struct tarn_flag *flag; const char *value; } *flags; /* as given */
    size_t flag_count;
};

/* --- args.c --- */
/* Owned arrays into *cli; end with tarn_cli_done. TARN_INVALID for wrong usage. */
TARN_MUST tarn_code tarn_cli_parse(int argc, char **argv, const struct tarn_command *command,
                                   struct tarn_cli *cli, struct tarn_err *err);
void tarn_cli_done(struct tarn_cli *cli);
bool tarn_cli_has(const struct tarn_cli *cli, const char *flag);
/* The last value, NULL when not given. */
const char *tarn_cli_text(const struct tarn_cli *cli, const char *flag);
/* The i-th value of a MANY flag, NULL behind the last. */
const char *tarn_cli_many(const struct tarn_cli *cli, const char *flag, size_t i);
/* A whole number of at least 0. */
TARN_MUST tarn_code tarn_cli_number(const struct tarn_cli *cli, const char *flag, long long *out,
                                    struct tarn_err *err);

/* --- commands.c --- */
extern const struct tarn_flag tarn_flags_common[], tarn_flags_server[];
void tarn_cli_help(void);                                    /* all commands, to stdout */
void tarn_cli_command_help(const struct tarn_command *command); /* one, to stdout */

/* --- out.c --- */
/* Tell of *err on stderr; gives `exit_code` back. */
int tarn_cli_fail(const struct tarn_err *err, int exit_code);
/* Wrong usage: tells it on stderr, gives 64. */
int tarn_cli_usage(const struct tarn_command *command, const char *fmt, ...) TARN_PRINTF(2, 3);
#endif
