/* Probes and sweeps of a table that is too large to be looked at whole each time: 1,600 files in 40 folders. */
#include "monitors/judge.h"
#include "tests/monitors/table.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FOLDERS = 40, FILES = 40 };
#define HOUR INT64_C(3600000)

static int64_t clock_ms;
static int64_t test_clock(void) { return clock_ms; }
static struct tarn_monitor_defaults defaults = { .interval_ms = 60000, .sweep_interval_ms = 600000, .full_interval_ms = 3600000 };
static char folder[600];

static const char *path_of(int d, int f)
{
    char name[64];

    snprintf(name, sizeof name, "d=%02d/f%02d.parquet", d, f);
    return tarn_path(folder, name);
}

/* Folder 39 is the newest. */
static size_t write_file(int d, int f) { return write_parquet(path_of(d, f), "1; req i64 id", clock_ms - 3 * HOUR + d * 60000); }

static void setup(void)
{
    struct tarn_buf text = { 0 };

    tarn_lake_setup();
    clock_ms = tarn_now_ms();
    snprintf(folder, sizeof folder, "%s", tarn_path(g_lake->root, "t"));
    tarn_buf_addf(&text, "{\"version\":1,\"last_updated\":%lld,\"files\":[", (long long)((clock_ms - 2 * HOUR) / 1000));
    for (int d = 0; d < FOLDERS; d++)
        for (int f = 0; f < FILES; f++)
            tarn_buf_addf(&text, "%s{\"path\":\"d=%02d/f%02d.parquet\",\"size\":%zu,\"partitionValues\":{\"d\":\"%02d\"}}", d + f ? "," : "",
                          d, f, write_file(d, f), d);
    tarn_buf_adds(&text, "]}");
    tarn_write_file(tarn_path(folder, "manifest.json"), text.data, text.len);
    tarn_buf_done(&text);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s\",\"mode\":\"observed\"}", folder), 201), "%s",
              tarn_answer_text());
    cr_assert(eq(int, tarn_recalls_new(1 << 24, &defaults.recalls, NULL), TARN_OK));
}

static void teardown(void)
{
    tarn_recalls_free(defaults.recalls);
    tarn_lake_teardown();
}

TestSuite(depths, .init = setup, .fini = teardown, .timeout = 60);

/* What a new process begins with. */
static void restart(void)
{
    tarn_recalls_free(defaults.recalls);
    cr_assert(eq(int, tarn_recalls_new(1 << 24, &defaults.recalls, NULL), TARN_OK));
}

/* One scan a minute later; the status document, owned. */
static json_t *scan(bool sweep)
{
    struct tarn_scan_use use = { .sweep = sweep, .defaults = &defaults, .now = test_clock };
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    TARN_ERR(err);

    clock_ms += 60000;
    cr_assert(eq(int, tarn_ident_parse("t", "name", &use.ident, &err), TARN_OK));
    cr_assert(eq(int, tarn_use_run(&g_lake->lake, &tarn_scan, &use, &err), TARN_OK), "%s", err.detail);
    tarn_status_write(&out, use.table, &use.scan, &use.findings, &defaults, clock_ms);
    tarn_scan.done(&use);
    return json_loads(out.data, 0, NULL);
}

/* The subjects of the open findings of that code, "a b". */
static char *open_ones(const json_t *status, const char *code)
{
    static char out[1024];
    size_t index, len = 0;
    const json_t *finding, *findings = json_object_get(status, "findings");

    out[0] = '\0';
    for (index = 0; index < json_array_size(findings); index++) {
        finding = json_array_get(findings, index);
        if (strcmp(json_string_value(json_object_get(finding, "code")), code) == 0)
            len += (size_t)snprintf(out + len, sizeof out - len, "%s%s", len ? " " : "", json_string_value(json_object_get(finding, "subject")));
    }
    return out;
}

static char *missing_after(int scans, bool sweep)
{
    json_t *status = NULL;

    for (int i = 0; i < scans; i++) {
        json_decref(status);
        status = scan(sweep);
    }
    char *out = open_ones(status, "missing_data_file");
    json_decref(status);
    return out;
}

Test(depths, a_probe_looks_at_the_newest_folders_and_leaves_the_others_to_the_sweep)
{
    cr_expect(eq(str, missing_after(1, true), ""));
    cr_assert(eq(int, unlink(path_of(39, 1)), 0));
    cr_assert(eq(int, unlink(path_of(3, 1)), 0));
    cr_expect(eq(str, missing_after(3, false), "d=39/f01.parquet"));
    cr_expect(eq(str, missing_after(1, true), "d=39/f01.parquet"), "one look at the other");
    cr_expect(eq(str, missing_after(1, false), "d=03/f01.parquet d=39/f01.parquet"), "what looked wrong is looked at by probes too");
}

Test(depths, what_is_mended_is_found_to_be_by_probes)
{
    cr_assert(eq(int, unlink(path_of(3, 1)), 0));
    cr_expect(eq(str, missing_after(2, true), "d=03/f01.parquet"));
    write_file(3, 1);
    cr_expect(eq(str, missing_after(1, false), "d=03/f01.parquet"));
    cr_expect(eq(str, missing_after(1, false), ""));
}

/* Where nothing is known of the folders yet, a probe looks at none of them, and says nothing of what lies in them. */
Test(depths, after_a_restart_probes_keep_what_the_last_sweep_found)
{
    cr_assert(eq(int, unlink(path_of(3, 1)), 0));
    write_parquet(tarn_path(folder, "d=05/new.parquet"), "1; req i64 id", clock_ms - HOUR);
    cr_expect(eq(str, missing_after(2, true), "d=03/f01.parquet"));
    json_auto_t *before = scan(false);
    restart();
    for (int i = 0; i < 3; i++) {
        json_auto_t *status = scan(false);
        const json_t *details = json_object_get(status, "details"), *old = json_object_get(before, "details");
        static const char *const k_kept[] = { "missing_files", "unregistered_files", "unregistered_bytes", "newest_data_file_at" };
        cr_expect(eq(str, open_ones(status, "missing_data_file"), "d=03/f01.parquet"));
        cr_expect(eq(str, open_ones(status, "unregistered_data_file"), "d=05/new.parquet"));
        cr_expect(eq(str, open_ones(status, "manifest_age"), "manifest.json"));
        cr_expect(eq(i64, json_integer_value(json_object_get(status, "manifest_age_seconds")), 3600));
        for (size_t k = 0; k < TARN_COUNT(k_kept); k++)
            cr_expect(json_equal(json_object_get(details, k_kept[k]), json_object_get(old, k_kept[k])), "%s", k_kept[k]);
    }
    write_file(3, 1);
    cr_expect(eq(str, missing_after(3, false), "d=03/f01.parquet"), "nobody looked");
    cr_expect(eq(str, missing_after(2, true), ""));
}

static tarn_code due_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_scan_row row = { 0 };
    tarn_code code = tx->ops->monitors.get(tx, 1, &row, err);

    *(int64_t *)ctx = row.next_sweep_at;
    tarn_scan_row_done(&row);
    return code;
}

static int64_t next_sweep_at(void)
{
    int64_t at = 0;

    cr_assert(eq(int, tarn_store_read(g_lake->store, due_tx, &at, NULL), TARN_OK));
    return at;
}

Test(depths, a_probe_puts_off_no_sweep)
{
    json_decref(scan(true));
    int64_t due = next_sweep_at();
    cr_expect(ge(i64, due, clock_ms + 540000));
    cr_expect(le(i64, due, clock_ms + 660000));
    for (int i = 0; i < 4; i++)
        json_decref(scan(false));
    cr_expect(eq(i64, next_sweep_at(), due));
    cr_assert(eq(int, unlink(path_of(3, 1)), 0));
    clock_ms = due;
    cr_expect(eq(str, missing_after(1, false), ""), "this one is a sweep");
    cr_expect(gt(i64, next_sweep_at(), due));
    cr_expect(eq(str, missing_after(1, false), "d=03/f01.parquet"));
}

/* Files that are changed in place leave no trace in their folder. */
Test(depths, a_file_changed_in_place_is_met_by_the_full_sweep)
{
    json_decref(scan(true));
    cr_assert(eq(int, truncate(path_of(3, 1), 5), 0));
    clock_ms += HOUR;
    json_auto_t *first = scan(true), *second = scan(true), *third = scan(false);
    (void)first;
    cr_expect(eq(str, open_ones(second, "size_mismatch"), "d=03/f01.parquet"), "once read, the folder is looked at again");
    cr_expect(eq(str, open_ones(third, "size_mismatch"), "d=03/f01.parquet"));
}
