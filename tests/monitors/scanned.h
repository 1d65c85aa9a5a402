/* scanned.h - an observed table of the test's own lake, scanned by the test alone with a clock of its own. */
#ifndef TARN_TESTS_MONITORS_SCANNED_H
#define TARN_TESTS_MONITORS_SCANNED_H
#include "lake/publish.h"
#include "monitors/judge.h"
#include "tests/monitors/table.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define TEXT(chars) ((char *)(uintptr_t)(chars))
#define SEED_FILE "date=2024-02-01/hour=14/data-000123.parquet"

static int64_t clock_ms = SEED_NOW;
static inline int64_t test_clock(void) { return clock_ms; }
static const struct tarn_monitor_defaults k_defaults = { .interval_ms = 60000, .sweep_interval_ms = 600000 };

/* The founding text's example, with the warnings manifest_age and missing_transaction_log_entry; its folder. */
static inline const char *observed(const char *name)
{
    const char *folder = tarn_path(g_lake->root, name);

    write_seed_table(folder);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"%s\",\"location\":\"%s\",\"mode\":\"observed\"}", name, folder), 201),
              "%s", tarn_answer_text());
    return folder;
}

/* One scan so many minutes later; the status document at that moment, owned. */
static const char *s_monitors_of_server; /* the server's `monitors`, NULL: none */

static inline json_t *scan_later(const char *name, int minutes, bool confirm)
{
    json_auto_t *server = s_monitors_of_server ? json_loads(s_monitors_of_server, 0, NULL) : NULL;
    struct tarn_monitor_defaults defaults = k_defaults;
    struct tarn_scan_use use = { .confirm = confirm, .defaults = &defaults, .now = test_clock };
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    TARN_ERR(err);

    defaults.monitors = server;
    clock_ms += minutes * 60000;
    cr_assert(eq(int, tarn_ident_parse(name, "name", &use.ident, &err), TARN_OK));
    cr_assert(eq(int, tarn_use_run(&g_lake->lake, &tarn_scan, &use, &err), TARN_OK), "%s", err.detail);
    tarn_status_write(&out, use.table, &use.scan, &use.findings, &k_defaults, clock_ms);
    tarn_scan.done(&use);
    return json_loads(out.data, 0, NULL);
}

/* NULL: it is not shown. */
static inline const json_t *finding_of(const json_t *status, const char *code)
{
    const json_t *findings = json_object_get(status, "findings");

    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        if (strcmp(json_string_value(json_object_get(finding, "code")), code) == 0)
            return finding;
    }
    return NULL;
}

static inline char *str_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return TEXT(text ? text : "null");
}

static inline bool is_null(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value && json_is_null(value);
}

/* What the feed tells of findings of that code after the sequence *after, which moves on: "opened; closed". */
static inline char *finding_events(int64_t *after, const char *code)
{
    static char out[4096];
    char target[64];
    size_t len = 0;

    snprintf(target, sizeof target, "/api/events?after=%lld", (long long)*after);
    cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200), "%s", tarn_answer_text());
    const json_t *events = json_object_get(tarn_answer(), "events");
    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *type = str_of(event, "type");
        if (strncmp(type, "finding.", 8) == 0 && strcmp(str_of(event, "code"), code) == 0)
            len += (size_t)snprintf(out + len, sizeof out - len, "%s%s", len ? "; " : "", type + 8);
    }
    *after = tarn_answer_i64("next");
    return out;
}
#endif
