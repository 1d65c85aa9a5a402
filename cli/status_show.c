/* status_show.c - what a status document says, in the order in which the engineer on call asks. */
#include "cli/status_show.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/cures.h"
#include "cli/out.h"
#include <stdio.h>
#include <string.h>

int tarn_status_exit(const char *severity)
{
    static const struct { const char *word; int code; } k_rows[] = {
        { "ok", 0 }, { "info", 0 }, { "warning", TARN_EXIT_WARNING }, { "error", TARN_EXIT_ERROR },
    };

    for (size_t i = 0; severity && i < TARN_COUNT(k_rows); i++)
        if (strcmp(severity, k_rows[i].word) == 0)
            return k_rows[i].code;
    return TARN_EXIT_UNKNOWN;
}

static void line(const char *title, const char *text)
{
    printf("  %-14s ", title);
    tarn_print_safe(text);
    fputc('\n', stdout);
}

static void show_keys(const json_t *status)
{
    const json_t *keys = json_object_get(status, "partition_keys");
    char text[512] = "";
    size_t len = 0;

    for (size_t i = 0; i < json_array_size(keys) && len < sizeof text; i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i ? ", " : "", key ? key : "?");
    }
    if (*text)
        line("partitioned by", text);
}

/* What people and windows say of a finding; "" when nobody says anything. */
static void note_of(const json_t *finding, char out[512])
{
    const json_t *ack = json_object_get(finding, "acknowledged"), *accepted = json_object_get(finding, "accepted");
    const char *quiet = json_string_value(json_object_get(finding, "suppressed_by"));
    const char *comment = json_string_value(json_object_get(ack, "comment"));
    const char *until = json_string_value(json_object_get(ack, "until"));
    size_t len = 0;

    out[0] = '\0';
    if (json_is_object(accepted))
        len += (size_t)snprintf(out, 512, "accepted: %.150s", tarn_show(accepted, "reason"));
    if (json_is_object(ack))
        len += (size_t)snprintf(out + len, 512 - len, "%sacknowledged by %.100s%s%.40s%s%.120s",
                                len ? "; " : "", tarn_show(ack, "by"), until ? " until " : "",
                                until ? until : "", comment ? ": " : "", comment ? comment : "");
    if (quiet)
        (void)snprintf(out + len, 512 - len, "%squiet: %.60s", len ? "; " : "", quiet);
}

static bool has_notes(const json_t *findings)
{
    char note[512] = "";

    for (size_t i = 0; i < json_array_size(findings) && !note[0]; i++)
        note_of(json_array_get(findings, i), note);
    return note[0] != '\0';
}

static void show_findings(const json_t *findings)
{
    static const char *const k_titles[] = { "SEVERITY", "SINCE", "CODE", "CURE", "MESSAGE", NULL };
    static const char *const k_noted[] = { "SEVERITY", "SINCE", "CODE", "CURE", "MESSAGE", "NOTE", NULL };
    static const char *const k_members[] = { "severity", "since", "code", "cure", "message" };
    struct tarn_grid grid = { .titles = has_notes(findings) ? k_noted : k_titles };
    char note[512];

    if (json_array_size(findings) == 0)
        return;
    for (size_t i = 0; i < json_array_size(findings); i++) {
        for (size_t k = 0; k < TARN_COUNT(k_members); k++)
            tarn_grid_member(&grid, json_array_get(findings, i), k_members[k]);
        note_of(json_array_get(findings, i), note);
        if (grid.titles == k_noted)
            tarn_grid_text(&grid, note[0] ? note : NULL);
    }
    fputc('\n', stdout);
    tarn_grid_print(&grid);
    tarn_grid_done(&grid);
    fputs("each code has a page: docs/findings/CODE.md\n", stdout);
}

/* Of which version the findings are, and how old they are. */
static void show_checked(const json_t *status, int64_t now_ms)
{
    const char *at = json_string_value(json_object_get(status, "checked_at"));
    char text[256], version[64] = "", age[TARN_TIME_TEXT];
    int64_t at_ms;
    TARN_ERR(ignored);

    if (!at || tarn_time_parse(at, &at_ms, NULL, &ignored) != TARN_OK) {
        line("checked", "not yet");
        return;
    }
    if (json_is_integer(json_object_get(status, "checked_version")))
        snprintf(version, sizeof version, "at version %.20s, ", tarn_show(status, "checked_version"));
    snprintf(text, sizeof text, "%s%s ago (%.40s)%s", version, tarn_duration_format(now_ms - at_ms, age), at,
             json_is_true(json_object_get(status, "stale")) ? ", stale: three scans are overdue" : "");
    line("checked", text);
}

void tarn_status_show(const json_t *status, int64_t now_ms)
{
    char text[2304];

    snprintf(text, sizeof text, "%s is %s, severity %s", tarn_show(status, "table"),
             tarn_show(status, "status"), tarn_show(status, "severity"));
    tarn_print_safe(text);
    fputc('\n', stdout);
    snprintf(text, sizeof text, "%s, %s", tarn_show(status, "format"), tarn_show(status, "mode"));
    line("format", text);
    snprintf(text, sizeof text, "%s, transaction %s", tarn_show(status, "version"),
             tarn_show(status, "latest_transaction"));
    line("version", text);
    snprintf(text, sizeof text, "%s, %s", tarn_show(status, "files"), tarn_show(status, "total_size"));
    line("files", text);
    line("schema version", tarn_show(status, "schema_version"));
    show_keys(status);
    line("last updated", tarn_show(status, "last_updated"));
    line("manifest age", tarn_show(status, "manifest_age"));
    show_checked(status, now_ms);
    show_findings(json_object_get(status, "findings"));
    tarn_cures_show(status);
}
