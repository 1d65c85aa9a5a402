/* What happens while a table is looked at: folders that cannot be read to their end, and writers between two steps. Neither
 * gives a verdict. */
#include "monitors/judge.h"
#include "tests/monitors/table.h"
#include "tests/support/meddler.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(meddled, .timeout = 60);

#define NOW INT64_C(1767229200000) /* 2026-01-01T01:00:00Z */
#define HOUR INT64_C(3600000)
enum { FOLDERS = 4, FILES = 5 };

static char folder[512];
static size_t file_bytes;

static const char *in_table(const char *name) { return tarn_path(folder, name); }

static void path_of(int d, int f, char out[64]) { snprintf(out, 64, "d=%d/f%d.parquet", d, f); }

/* Entry 1 adds everything; entry 2, when there is one, removes the first file and adds `added` (NULL: nothing). */
static void write_log(int version, const char *added)
{
    struct tarn_buf text = { 0 };
    char path[64], name[64], id[32];

    snprintf(name, sizeof name, "_transactions/txn-%d.json", version);
    tarn_buf_addf(&text, "{\"id\":\"txn-%d\",\"timestamp\":\"2026-01-01T00:00:0%dZ\",\"operations\":[", version, version);
    if (version == 1) {
        for (int d = 0; d < FOLDERS; d++)
            for (int f = 0; f < FILES; f++) {
                path_of(d, f, path);
                tarn_buf_addf(&text, "%s{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}", d + f ? "," : "", path, file_bytes);
            }
    } else {
        tarn_buf_addf(&text, "{\"type\":\"remove_file\",\"path\":\"d=0/f0.parquet\"}");
        if (added)
            tarn_buf_addf(&text, ",{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}", added, file_bytes);
    }
    tarn_buf_adds(&text, "]}");
    tarn_write_text(in_table(name), text.data);
    tarn_set_mtime(in_table(name), version == 1 ? NOW - HOUR : NOW - 1000);
    snprintf(id, sizeof id, "txn-%d\n", version);
    tarn_write_text(in_table("last_committed_txn"), id);
    tarn_buf_done(&text);
}

static void write_manifest(int version, const char *added)
{
    struct tarn_buf text = { 0 };
    char path[64];

    tarn_buf_addf(&text, "{\"version\":%d,\"last_updated\":\"2026-01-01T00:00:0%dZ\",\"files\":[", version, version);
    for (int d = 0; d < FOLDERS; d++)
        for (int f = version > 1 && d == 0; f < FILES; f++) {
            path_of(d, f, path);
            tarn_buf_addf(&text, "{\"path\":\"%s\",\"size\":%zu,\"partitionValues\":{\"d\":\"%d\"}},", path, file_bytes, d);
        }
    if (added)
        tarn_buf_addf(&text, "{\"path\":\"%s\",\"size\":%zu,\"partitionValues\":{\"d\":\"0\"}},", added, file_bytes);
    text.len--;
    tarn_buf_adds(&text, "]}");
    tarn_write_text(in_table("manifest.json.new"), text.data);
    cr_assert(eq(int, rename(in_table("manifest.json.new"), in_table("manifest.json")), 0));
    tarn_set_mtime(in_table("manifest.json"), NOW - HOUR + version);
    tarn_buf_done(&text);
}

static void make_table(const char *name)
{
    char path[64];

    snprintf(folder, sizeof folder, "%s/%s", tarn_tmp(), name);
    for (int d = 0; d < FOLDERS; d++)
        for (int f = 0; f < FILES; f++) {
            path_of(d, f, path);
            file_bytes = write_parquet(in_table(path), "1; req i64 id", NOW - 2 * HOUR);
        }
    write_log(1, NULL);
    write_manifest(1, NULL);
}

/* "code subject" of each warning and error, and of scan_incomplete. */
static const char *look_as(struct tarn_place *place, enum tarn_format format)
{
    static char out[2048];
    const struct tarn_facts_options options = { .now_ms = NOW, .sweep = true, .unregistered_grace_ms = 900000,
                                                .leftover_grace_ms = 60000 };
    struct tarn_facts facts;
    struct tarn_settings settings;
    struct tarn_judging judging = { .facts = &facts, .settings = &settings, .now_ms = NOW };
    size_t len = 0;
    TARN_ERR(err);

    tarn_settings_resolve(NULL, NULL, &settings);
    cr_assert(eq(int, tarn_facts_gather(place, format, &options, &facts, &err), TARN_OK), "%s", err.detail);
    cr_assert(eq(int, tarn_judge_all(&judging, &err), TARN_OK));
    out[0] = '\0';
    for (size_t i = 0; i < judging.out.count; i++) {
        const struct tarn_finding *finding = &judging.out.items[i];
        if (finding->severity >= TARN_SEV_WARNING || strcmp(finding->code, "scan_incomplete") == 0)
            len += (size_t)snprintf(out + len, sizeof out - len, "%s%s %s", len ? "; " : "", finding->code, finding->subject);
    }
    tarn_judging_done(&judging);
    tarn_facts_done(&facts);
    return out;
}

static const char *look(struct tarn_place *place) { return look_as(place, TARN_FORMAT_MANIFEST); }

static const char *look_with(meddler_fn *fn, void *ctx)
{
    TARN_AUTO(place) struct tarn_place *place = meddler_open(folder, fn, ctx);
    return look(place);
}

/* --- S12: a listing that is not whole --- */

struct denied { const char *folder; };

static tarn_code deny(void *ctx, enum meddler_step step, const char *path, struct tarn_err *err)
{
    struct denied *denied = ctx;

    if (step != MEDDLER_FOLDER || strcmp(path, denied->folder) != 0)
        return TARN_OK;
    return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "cannot list '%s': Permission denied", path);
}

Test(meddled, a_folder_that_cannot_be_read_is_told_and_nothing_in_it_is_missing_or_unregistered)
{
    struct denied denied = { "d=2" };

    make_table("denied");
    cr_expect(eq(str, (char *)look_with(NULL, NULL), ""));
    cr_expect(eq(str, (char *)look_with(deny, &denied), "scan_incomplete d=2"));
    cr_assert(eq(int, unlink(in_table("d=2/f1.parquet")), 0));
    write_parquet(in_table("d=2/new.parquet"), "1; req i64 id", NOW - HOUR);
    write_parquet(in_table("d=2/deep/new.parquet"), "1; req i64 id", NOW - HOUR);
    cr_expect(eq(str, (char *)look_with(deny, &denied), "scan_incomplete d=2"));
    cr_assert(eq(int, unlink(in_table("d=3/f1.parquet")), 0));
    cr_expect(eq(str, (char *)look_with(deny, &denied), "missing_data_file d=3/f1.parquet; scan_incomplete d=2"),
              "what was seen is judged");
}

Test(meddled, a_listing_that_ends_in_the_middle_is_no_listing)
{
    make_table("half");
    for (size_t names = 0; names < FILES; names++) {
        TARN_AUTO(place) struct tarn_place *place = meddler_open(folder, NULL, NULL);
        meddler_fail_after(place, "d=1", names);
        cr_expect(eq(str, (char *)look(place), "scan_incomplete d=1"), "after %zu names", names);
    }
    TARN_AUTO(place) struct tarn_place *place = meddler_open(folder, NULL, NULL);
    meddler_fail_after(place, "", 1);
    cr_expect(strncmp(look(place), "scan_failed", 11) == 0, "without the top nothing is known: %s", look(place));
}

static tarn_code take_away(void *ctx, enum meddler_step step, const char *path, struct tarn_err *err)
{
    const char *victim = ctx;

    (void)err;
    if (step == MEDDLER_FOLDER && strcmp(path, victim) == 0 && tarn_file_exists(in_table(path)))
        tarn_remove_tree(in_table(path));
    return TARN_OK;
}

Test(meddled, a_folder_that_vanishes_while_it_is_read_is_judged_by_the_next_look)
{
    make_table("vanishes");
    cr_expect(eq(str, (char *)look_with(take_away, "d=1"), "scan_incomplete d=1"));
    cr_expect(eq(int, strncmp(look_with(NULL, NULL), "missing_data_file d=1/f0.parquet; missing_data_file d=1/f1", 50), 0));
}

static tarn_code file_fails(void *ctx, enum meddler_step step, const char *path, struct tarn_err *err)
{
    if (step != MEDDLER_STAT || strcmp(path, ctx) != 0)
        return TARN_OK;
    return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "cannot look at '%s': Input/output error", path);
}

Test(meddled, a_file_that_cannot_be_looked_at_is_not_missing)
{
    make_table("file");
    cr_assert(eq(int, unlink(in_table("d=1/f2.parquet")), 0));
    cr_expect(eq(str, (char *)look_with(file_fails, "d=1/f2.parquet"), "scan_incomplete d=1"));
    cr_expect(eq(str, (char *)look_with(NULL, NULL), "missing_data_file d=1/f2.parquet"));
}

Test(meddled, a_plain_folder_of_parquet_files_is_judged_as_far_as_it_can_be_read)
{
    struct denied denied = { "d=2" };

    make_table("plain");
    TARN_AUTO(place) struct tarn_place *place = meddler_open(folder, deny, &denied);
    cr_expect(eq(str, (char *)look_as(place, TARN_FORMAT_PARQUET), "scan_incomplete d=2"));
    tarn_write_text(in_table("d=1/f1.parquet"), "PAR1 and no more");
    tarn_set_mtime(in_table("d=1/f1.parquet"), NOW - HOUR);
    cr_expect(eq(str, (char *)look_as(place, TARN_FORMAT_PARQUET), "corrupt_data_file d=1/f1.parquet; scan_incomplete d=2"));
    denied.folder = "";
    cr_expect(eq(str, (char *)look_as(place, TARN_FORMAT_PARQUET), "scan_failed table"), "without the top nothing is known");
}

static tarn_code footer_fails(void *ctx, enum meddler_step step, const char *path, struct tarn_err *err)
{
    if (step != MEDDLER_READ || strcmp(path, ctx) != 0)
        return TARN_OK;
    return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "cannot read '%s': Permission denied", path);
}

Test(meddled, a_footer_that_cannot_be_read_is_no_corrupt_file)
{
    make_table("footer");
    cr_expect(eq(str, (char *)look_with(footer_fails, "d=1/f2.parquet"), "scan_incomplete d=1/f2.parquet"));
}

/* --- S13: a writer between two steps --- */

#define ADDED "d=0/new.parquet"

/* At the n-th step of the scan somebody replaces a file: data first, then entry, manifest and pointer; the old file goes. */
struct writer { int at, steps; bool is_done; };

static tarn_code commit_once(void *ctx, enum meddler_step step, const char *path, struct tarn_err *err)
{
    struct writer *w = ctx;

    (void)step;
    (void)path;
    (void)err;
    if (w->steps++ != w->at || w->is_done)
        return TARN_OK;
    w->is_done = true;
    write_parquet(in_table(ADDED), "1; req i64 id", NOW - HOUR);
    write_log(2, ADDED);
    write_manifest(2, ADDED);
    unlink(in_table("d=0/f0.parquet"));
    return TARN_OK;
}

Test(meddled, a_commit_at_any_step_of_a_scan_is_no_finding)
{
    struct writer w = { .is_done = false };
    char name[32];

    for (int at = 0; at == 0 || w.is_done; at++) {
        snprintf(name, sizeof name, "writer%d", at);
        make_table(name);
        w = (struct writer){ .at = at };
        cr_expect(eq(str, (char *)look_with(commit_once, &w), ""), "at step %d", at);
        cr_expect(eq(str, (char *)look_with(NULL, NULL), ""), "after step %d", at);
        cr_assert(lt(int, at, 200));
    }
}

/* A writer that commits all the time hides no real fault. */
static tarn_code commit_always(void *ctx, enum meddler_step step, const char *path, struct tarn_err *err)
{
    int *version = ctx;

    (void)err;
    if (step != MEDDLER_READ || strcmp(path, "manifest.json") != 0)
        return TARN_OK;
    *version = *version % 9 + 1;
    write_manifest(1, NULL);
    return TARN_OK;
}

Test(meddled, a_missing_file_is_told_however_busy_the_writer_is)
{
    int version = 1;

    make_table("busy");
    cr_assert(eq(int, unlink(in_table("d=3/f1.parquet")), 0));
    cr_expect(eq(str, (char *)look_with(commit_always, &version), "missing_data_file d=3/f1.parquet"));
}
