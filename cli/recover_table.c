/* recover_table.c - one table over the API: what would be taken back, or was. */
#include "cli/client.h"
#include "cli/out.h"
#include "cli/recover_table.h"
#include <stdio.h>

static bool has_any(const json_t *answer)
{
    static const char *const k_counts[] = { "versions", "schemas", "batches" };

    for (size_t i = 0; i < TARN_COUNT(k_counts); i++)
        if (json_integer_value(json_object_get(answer, k_counts[i])) > 0)
            return true;
    return json_is_string(json_object_get(answer, "block"));
}

static void print_answer(const json_t *answer)
{
    bool dry_run = json_is_true(json_object_get(answer, "dry_run"));
    const json_t *lost = json_object_get(answer, "lost_versions");

    tarn_print_safe(tarn_show(answer, "table"));
    printf(": version %s to %s, %s%s versions, %s schema versions, %s batches\n", tarn_show(answer, "from_version"),
           tarn_show(answer, "to_version"), dry_run ? "would take " : "took ", tarn_show(answer, "versions"),
           tarn_show(answer, "schemas"), tarn_show(answer, "batches"));
    if (!json_is_true(json_object_get(answer, "complete"))) {
        printf("not complete: ");
        tarn_print_safe(tarn_show(answer, "reason"));
        fputc('\n', stdout);
    }
    for (size_t i = 0; i < json_array_size(lost); i++)
        printf("lost: versions %s to %s\n", tarn_show(json_array_get(lost, i), "from"), tarn_show(json_array_get(lost, i), "to"));
    if (json_is_string(json_object_get(answer, "block")))
        printf("commits wait: %s\n", tarn_show(answer, "block"));
    if (dry_run)
        printf(has_any(answer) ? "nothing was changed: --run does it\n" : "there is nothing to take back\n");
}

int tarn_recover_one(struct tarn_cli *cli)
{
    TARN_ERR(err);
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };
    json_auto_t *body = json_pack("{s:b}", "dry_run", !tarn_cli_has(cli, "run")), *answer = NULL;

    tarn_client_table_path(&path, tarn_cli_text(cli, "table"), "/recover");
    tarn_code code = tarn_buf_check(&path, &err);
    if (code == TARN_OK && !body)
        code = tarn_fail_oom(&err);
    if (code == TARN_OK)
        code = tarn_client_ask_once(cli, false, "POST", path.data, body, &answer, &err);
    if (code != TARN_OK)
        return tarn_cli_fail(&err, TARN_EXIT_FAILED);
    if (!tarn_cli_has(cli, "json"))
        print_answer(answer);
    return 0;
}
