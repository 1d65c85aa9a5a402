/* token.c - tarn token create, list, revoke: through the server, or on a stopped one with --data. */
#include "cli/client.h"
#include "cli/out.h"
#include "net/http.h"
#include <stdio.h>

static const struct tarn_flag k_create_flags[] = {
    { "name", TARN_FLAG_TEXT, "NAME", "What to call it." },
    { "scope", TARN_FLAG_TEXT, "SCOPE", "status:read, catalog:read, catalog:write or admin." },
    { "tables", TARN_FLAG_TEXT, "PATTERN", "Only these tables, such as 'sales.*'." },
    { "roots", TARN_FLAG_TEXT, "PATTERN", "Registers only under these locations." },
    { "expires", TARN_FLAG_TEXT, "DURATION", "How long it is good, such as 30d. Default: for ever." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

static int create(struct tarn_cli *cli)
{
    static const char *const k_members[] = { "name", "scope", "tables", "roots", "expires" };
    TARN_ERR(err);
    json_auto_t *body = json_object(), *answer = NULL;

    for (size_t i = 0; i < TARN_COUNT(k_members); i++)
        if (tarn_cli_has(cli, k_members[i]))
            json_object_set_new(body, k_members[i], json_string(tarn_cli_text(cli, k_members[i])));
    if (!json_object_get(body, "name") || !json_object_get(body, "scope"))
        return tarn_cli_usage(cli->command, "--name and --scope are needed");
    tarn_code code = tarn_client_ask_once(cli, true, "POST", "/api/tokens", body, &answer, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    if (!tarn_cli_has(cli, "json"))
        printf("%s\n", tarn_show(answer, "token"));
    return 0;
}

static void print_tokens(const json_t *tokens)
{
    static const struct tarn_column k_columns[] = {
        TARN_COLUMN("NAME", "name"),
        TARN_COLUMN("SCOPE", "scope"),
        TARN_COLUMN("TABLES", "tables"),
        TARN_COLUMN("ROOTS", "roots"),
        TARN_COLUMN("CREATED", "created_at"),
        TARN_COLUMN("EXPIRES", "expires_at"),
        TARN_COLUMN("REVOKED", "revoked_at"),
    };

    tarn_rows_print(k_columns, TARN_COUNT(k_columns), tokens);
}

static int list(struct tarn_cli *cli)
{
    TARN_ERR(err);
    json_auto_t *answer = NULL;

    tarn_code code = tarn_client_ask_once(cli, true, "GET", "/api/tokens", NULL, &answer, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    if (!tarn_cli_has(cli, "json"))
        print_tokens(json_object_get(answer, "tokens"));
    return 0;
}

static int revoke(struct tarn_cli *cli)
{
    TARN_ERR(err);
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    json_auto_t *answer = NULL;

    tarn_buf_adds(&path, "/api/tokens/");
    tarn_http_encode(&path, cli->args[0]);
    tarn_code code = tarn_buf_check(&path, &err);
    if (code == TARN_OK)
        code = tarn_client_ask_once(cli, true, "DELETE", path.data, NULL, &answer, &err);
    return code == TARN_OK ? 0 : tarn_cli_fail(&err, TARN_EXIT_FAILED);
}

const struct tarn_command tarn_command_token_create = {
    .name = "token create", .takes = "", .flags = k_create_flags, .asks_server = true,
    .sentence = "Make a token and print it, this once.", .run = create,
};
const struct tarn_command tarn_command_token_list = {
    .name = "token list", .takes = "", .asks_server = true, .sentence = "The tokens there are.", .run = list,
};
const struct tarn_command tarn_command_token_revoke = {
    .name = "token revoke", .takes = "NAME", .least = 1, .most = 1, .asks_server = true,
    .sentence = "Take a token back.", .run = revoke,
};
