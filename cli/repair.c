/* repair.c - tarn repair: what a plan would do, and with --run what it did and how the table is now. */
#include "base/time.h"
#include "cli/client.h"
#include "cli/cures.h"
#include "cli/out.h"
#include "cli/status_show.h"
#include "lake/repair.h"
#include <stdio.h>
#include <string.h>

static const struct tarn_flag k_flags[] = {
    { "run", TARN_FLAG_BOOL, NULL, "Do it. Without it the plan is told and nothing changes." },
    { "path", TARN_FLAG_MANY, "PATH", "Only these files (register, forget); a folder ends in /." },
    { "choose", TARN_FLAG_TEXT, "SIDE", "adopt: manifest or log, where they disagree." },
    { "expected-version", TARN_FLAG_TEXT, "N", "Refuse when the table is at another version." },
    { NULL, TARN_FLAG_BOOL, NULL, NULL }
};

static tarn_code add_paths(const struct tarn_cli *cli, json_t *body, struct tarn_err *err)
{
    const char *path = tarn_cli_many(cli, "path", 0);
    json_t *paths = path ? json_array() : NULL;

    for (size_t i = 0; path; path = tarn_cli_many(cli, "path", ++i))
        if (json_array_append_new(paths, json_string(path)) != 0) {
            json_decref(paths);
            return tarn_fail(err, TARN_INVALID, "--path: the name is no UTF-8");
        }
    return !paths || json_object_set_new(body, "paths", paths) == 0 ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code make_body(const struct tarn_cli *cli, json_t **out, struct tarn_err *err)
{
    const char *choose = tarn_cli_text(cli, "choose");
    long long version = 0;
    json_auto_t *body = json_pack("{s:s, s:b, s:s*}", "plan", cli->args[1], "dry_run",
                                  !tarn_cli_has(cli, "run"), "choose", choose);

    if (!body)
        return tarn_fail_oom(err);
    tarn_code code = add_paths(cli, body, err);
    if (code == TARN_OK && tarn_cli_has(cli, "expected-version")) {
        code = tarn_cli_number(cli, "expected-version", &version, err);
        json_object_set_new(body, "expected_version", json_integer(version));
    }
    if (code == TARN_OK)
        *out = json_incref(body);
    return code;
}

/* --- what people read --- */

static void line(const char *first, const char *second, const char *third)
{
    fputs("  ", stdout);
    tarn_print_safe(first);
    fputs(second, stdout);
    tarn_print_safe(third);
    fputc('\n', stdout);
}

static void print_rest(const json_t *answer, const char *total, size_t shown)
{
    json_int_t all = json_integer_value(json_object_get(answer, total));

    if (all > (json_int_t)shown)
        printf("  ... and %lld more\n", (long long)all - (long long)shown);
}

static void print_pairs(const json_t *answer, const char *key, const char *title, const char *left,
                        const char *between, const char *right)
{
    const json_t *list = json_object_get(answer, key);
    char total[32];

    if (json_array_size(list) == 0)
        return;
    printf("%s\n", title);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *text = json_string_value(item);
        line(text ? text : tarn_show(item, left), text ? "" : between, text ? "" : tarn_show(item, right));
    }
    snprintf(total, sizeof total, "%s_total", key);
    print_rest(answer, total, json_array_size(list));
}

/* What a folder's name meant too and is as it should be:
 * counted, but for a single one, which was asked for. */
static const struct counted { const char *reason, *words; } k_counted[] = {
    { "as_listed", "files that are as the table says" },
    { "removed", "files that a commit removed: they do not come back this way" },
};

static const struct counted *counted_as(const json_t *item)
{
    for (size_t i = 0; i < TARN_COUNT(k_counted); i++)
        if (strcmp(tarn_show(item, "reason"), k_counted[i].reason) == 0)
            return &k_counted[i];
    return NULL;
}

static void print_left_out(const json_t *answer)
{
    const json_t *list = json_object_get(answer, "left_out");
    size_t counts[TARN_COUNT(k_counted)] = { 0 }, i;
    json_t *item;

    json_array_foreach (list, i, item)
        if (counted_as(item))
            counts[counted_as(item) - k_counted]++;
    if (json_array_size(list) > 0)
        printf("left out:\n");
    json_array_foreach (list, i, item)
        if (!counted_as(item) || counts[counted_as(item) - k_counted] == 1)
            line(tarn_show(item, "path"), ": ", tarn_show(item, "message"));
    for (i = 0; i < TARN_COUNT(k_counted); i++)
        if (counts[i] > 1)
            printf("  %zu %s\n", counts[i], k_counted[i].words);
    print_rest(answer, "left_out_total", json_array_size(list));
}

static void print_operations(const json_t *answer, bool is_dry)
{
    const json_t *list = json_object_get(answer, "operations");

    if (json_array_size(list) == 0)
        return;
    printf("%s\n", is_dry ? "would commit:" : "committed:");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *op = json_array_get(list, i);
        line(tarn_show(op, "type"), " ", tarn_show(op, "path"));
    }
    print_rest(answer, "operations_total", json_array_size(list));
}

static void print_head(const json_t *answer, bool is_dry)
{
    const json_t *commit = json_object_get(answer, "commit");
    const char *ends = json_string_value(json_object_get(answer, "ends"));
    bool is_nothing = json_integer_value(json_object_get(answer, "operations_total")) == 0 && !ends &&
                      json_integer_value(json_object_get(answer, "writes_total")) == 0 &&
                      json_integer_value(json_object_get(answer, "moves_total")) == 0;
    char text[2304];

    snprintf(text, sizeof text, "%s %s of %s at version %s%s", tarn_show(answer, "plan"),
             is_dry ? "(dry run)" : "(run)", tarn_show(answer, "table"), tarn_show(answer, "version"),
             is_nothing ? ": nothing to do" : "");
    tarn_print_safe(text);
    fputc('\n', stdout);
    if (ends)
        printf("%s the block %s\n", is_dry ? "would end" : "ended", ends);
    if (json_is_object(commit)) {
        snprintf(text, sizeof text, "it is at version %s by %s now%s", tarn_show(commit, "version"),
                 tarn_show(commit, "transaction"),
                 json_is_false(json_object_get(commit, "published")) ? "; storage does not show it yet" : "");
        tarn_print_safe(text);
        fputc('\n', stdout);
    }
}

static void print_repair(const json_t *answer)
{
    bool is_dry = json_is_true(json_object_get(answer, "dry_run"));
    const json_t *status = json_object_get(answer, "status");

    print_head(answer, is_dry);
    print_operations(answer, is_dry);
    print_pairs(answer, "moves", is_dry ? "would move:" : "moved:", "from", " -> ", "to");
    print_pairs(answer, "writes", is_dry ? "would write:" : "wrote:", "", "", "");
    print_left_out(answer);
    if (json_integer_value(json_object_get(answer, "more")) > 0)
        printf("%s more files are for the next run\n", tarn_show(answer, "more"));
    if (!json_is_object(status))
        return;
    fputc('\n', stdout);
    tarn_status_show(status, tarn_now_ms());
}

static bool is_plan(const char *word)
{
    for (int plan = TARN_REPAIR_REPUBLISH; plan <= TARN_REPAIR_ADOPT; plan++)
        if (strcmp(word, tarn_repair_plan_text((enum tarn_repair_plan)plan)) == 0)
            return true;
    return false;
}

/* A dry run that names no file says which listed files the plan would mend if they were
 * named. A word beside the answer: where the status cannot be had there is none. */
static void print_by_name(struct tarn_client *client, const struct tarn_cli *cli)
{
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    json_auto_t *status = NULL;
    TARN_ERR(ignored);

    if (tarn_cli_has(cli, "run") || tarn_cli_has(cli, "path"))
        return;
    tarn_client_table_path(&path, cli->args[0], "/status");
    if (tarn_buf_check(&path, &ignored) == TARN_OK &&
        tarn_client_fetch(client, "GET", path.data, NULL, &status, &ignored) == TARN_OK)
        tarn_cures_named_show(status, cli->args[1]);
}

static int run(struct tarn_cli *cli)
{
    TARN_ERR(err);
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    TARN_AUTO(client) struct tarn_client *client = NULL;
    json_auto_t *answer = NULL, *body = NULL;

    if (!is_plan(cli->args[1]))
        return tarn_cli_usage(cli->command, "'%s' is no plan; they are republish, register, forget and adopt", cli->args[1]);
    if (make_body(cli, &body, &err) != TARN_OK)
        return tarn_cli_usage(cli->command, "%s", err.detail);
    tarn_client_table_path(&path, cli->args[0], "/repair");
    tarn_code code = tarn_buf_check(&path, &err);
    if (code == TARN_OK)
        code = tarn_client_open(cli, false, &client, &err);
    if (code == TARN_OK)
        code = tarn_client_ask(client, cli, "POST", path.data, body, &answer, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    if (tarn_cli_has(cli, "json"))
        return 0;
    print_repair(answer);
    print_by_name(client, cli);
    return 0;
}

const struct tarn_command tarn_command_repair = {
    .name = "repair", .takes = "TABLE PLAN", .least = 2, .most = 2, .flags = k_flags, .asks_server = true,
    .sentence = "Cure a table: republish, register, forget or adopt.", .run = run,
};
