/* What only a real file system has: links, which are never followed, and what a listing meets of them. */
#include "monitors/monitors.h"
#include "tests/monitors/table.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <unistd.h>

TestSuite(files, .timeout = 30);

static char folder[512];

/* "code severity" of each finding, "; " between; the document is left to the caller. */
static const char *check(void)
{
    static char out[2048];
    const struct tarn_check_options options = { .location = folder, .format = -1, .now_ms = SEED_NOW };
    json_auto_t *status = NULL;
    enum tarn_severity severity;
    size_t i, len = 0;
    json_t *finding;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_check_run(&options, &status, &severity, &err), TARN_OK), "%s", err.detail);
    out[0] = '\0';
    json_array_foreach (json_object_get(status, "findings"), i, finding) {
        const char *code = json_string_value(json_object_get(finding, "code"));
        if (strcmp(code, "missing_transaction_log_entry") == 0 || strcmp(code, "manifest_age") == 0 || strcmp(code, "history_truncated") == 0)
            continue; /* of the founding text's example */
        len += (size_t)snprintf(out + len, sizeof out - len, "%s%s %s", len ? "; " : "", code,
                                json_string_value(json_object_get(finding, "severity")));
    }
    return out;
}

static const char *in_table(const char *name) { return tarn_path(folder, name); }

#define FIRST "date=2024-02-01/hour=14/data-000123.parquet"

Test(files, a_listed_file_behind_a_link_is_skipped_and_not_missing)
{
    static const char *const k_linked[] = { FIRST, "date=2024-02-01/hour=14", "date=2024-02-01" };

    for (size_t i = 0; i < TARN_COUNT(k_linked); i++) {
        char away[64], name[16];
        snprintf(name, sizeof name, "t%zu", i);
        snprintf(away, sizeof away, "elsewhere%zu", i);
        snprintf(folder, sizeof folder, "%s/%s", tarn_tmp(), name);
        write_seed_table(folder);
        cr_expect(eq(str, (char *)check(), ""));
        const char *from = in_table(k_linked[i]), *to = tarn_path(tarn_tmp(), away);
        cr_assert(eq(int, rename(from, to), 0));
        tarn_make_link(from, to);
        cr_expect(eq(str, (char *)check(), "symlink_skipped info"), "%s", k_linked[i]);
        cr_assert(eq(int, unlink(from), 0));
        cr_expect(eq(int, strncmp(check(), "missing_data_file error", 23), 0), "%s: %s", k_linked[i], check());
    }
}

Test(files, a_link_to_a_file_that_nobody_lists_is_no_unregistered_file)
{
    snprintf(folder, sizeof folder, "%s/t", tarn_tmp());
    write_seed_table(folder);
    tarn_make_link(in_table("date=2024-02-01/hour=14/x.parquet"), in_table(FIRST));
    tarn_make_link(in_table("date=2024-02-02"), "/");
    cr_expect(eq(str, (char *)check(), "symlink_skipped info"));
}

Test(files, a_document_that_is_a_link_is_not_read)
{
    snprintf(folder, sizeof folder, "%s/t", tarn_tmp());
    write_seed_table(folder);
    cr_assert(eq(int, rename(in_table("manifest.json"), tarn_path(tarn_tmp(), "m.json")), 0));
    tarn_make_link(in_table("manifest.json"), tarn_path(tarn_tmp(), "m.json"));
    cr_expect(eq(str, (char *)check(), "manifest_missing error; symlink_skipped info"));
}
