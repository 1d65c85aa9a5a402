/* commands.c - every command on one page, and the help that is made from the table. */
#include "cli/command.h"
#include <stdio.h>

const struct tarn_command *const tarn_commands[] = {
    &tarn_command_register,     &tarn_command_discover,     &tarn_command_tables,  &tarn_command_status,
    &tarn_command_commit,       &tarn_command_history,      &tarn_command_check,   &tarn_command_repair,
    &tarn_command_recover,
    &tarn_command_token_create, &tarn_command_token_list,   &tarn_command_token_revoke,
    &tarn_command_backup,       &tarn_command_migrate,      &tarn_command_version, NULL
};

const struct tarn_flag tarn_flags_common[] = {
    { "json", TARN_FLAG_BOOL, NULL, "Print the answer as JSON, as it is." },
    { "help", TARN_FLAG_BOOL, NULL, "Print this and end." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

const struct tarn_flag tarn_flags_server[] = {
    { "url", TARN_FLAG_TEXT, "URL", "The server (TARN_URL). Default: http://127.0.0.1:8181." },
    { "token", TARN_FLAG_TEXT, "TOKEN", "The token (TARN_TOKEN). Default: what <data>/admin.token holds." },
    { "data", TARN_FLAG_TEXT, "DIR", "The data folder (TARN_DATA)." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

static void print_flags(const struct tarn_flag *flag)
{
    char left[64];

    for (; flag && flag->name; flag++) {
        snprintf(left, sizeof left, "--%s%s%s%s", flag->name, flag->value ? " " : "", flag->value ? flag->value : "",
                 flag->kind == TARN_FLAG_MANY ? "..." : "");
        printf("  %-26s %s\n", left, flag->sentence);
    }
}

void tarn_cli_command_help(const struct tarn_command *command)
{
    printf("tarn %s%s%s [flags]\n\n%s\n\n", command->name, *command->takes ? " " : "", command->takes, command->sentence);
    print_flags(command->flags);
    if (command->asks_server)
        print_flags(tarn_flags_server);
    print_flags(tarn_flags_common);
    if (command->more)
        printf("\n%s\n", command->more);
}

void tarn_cli_help(void)
{
    char left[64];

    printf("tarn: a lakehouse catalog that checks its tables\n\nusage: tarn COMMAND [arguments] [flags]\n\n");
    printf("  %-34s %s\n", "serve", "Serve the catalog.");
    for (size_t i = 0; tarn_commands[i]; i++) {
        snprintf(left, sizeof left, "%s %s", tarn_commands[i]->name, tarn_commands[i]->takes);
        printf("  %-34s %s\n", left, tarn_commands[i]->sentence);
    }
    printf("\n`tarn COMMAND --help` tells the flags of a command. Commands that ask a server take:\n\n");
    print_flags(tarn_flags_server);
    printf("\n`tarn serve --help` tells the settings of the server.\n");
}
