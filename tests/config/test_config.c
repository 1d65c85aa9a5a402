/* test_config.c - the configuration from file, variables and flags. */
#include "config/config.h"
#include "monitors/monitors.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Flags separated by blanks. */
static tarn_code load(const char *flags, struct tarn_config **out, struct tarn_err *err)
{
    char copy[2048], *argv[64], *rest = copy;
    int argc = 0;

    snprintf(copy, sizeof copy, "%s", flags);
    for (char *arg = strsep(&rest, " "); arg; arg = strsep(&rest, " "))
        if (*arg)
            argv[argc++] = arg;
    return tarn_config_load(argc, argv, out, err);
}

static tarn_code load_yaml(const char *yaml, const char *flags, struct tarn_config **out, struct tarn_err *err)
{
    char all[2048];
    const char *file = tarn_path(tarn_tmp(), "tarn.yaml");

    tarn_write_text(file, yaml);
    snprintf(all, sizeof all, "--config %s %s", file, flags);
    return load(all, out, err);
}

Test(config, defaults_are_those_of_the_contract)
{
    TARN_AUTO(config) struct tarn_config *c = NULL;
    TARN_ERR(err);

    setenv("XDG_STATE_HOME", "/tmp/state", 1);
    cr_assert(eq(int, load("", &c, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(str, c->listen, "127.0.0.1:8181"));
    cr_expect(eq(str, c->data, geteuid() == 0 ? "/var/lib/tarn" : "/tmp/state/tarn"));
    cr_expect(eq(sz, c->root_count, 1));
    cr_expect(eq(str, c->roots[0], geteuid() == 0 ? "/var/lib/tarn/lake" : "/tmp/state/tarn/lake"));
    cr_expect(eq(str, c->auth_mode, "tokens"));
    cr_expect(not(c->metrics_public));
    cr_expect(c->warehouse == NULL);
    cr_expect(eq(sz, json_object_size(c->monitors), 0));
    static const struct { const char *name; int64_t value; } k_rows[] = {
        { "publish.wait", 2000 },        { "scan.interval", 60000 },       { "scan.sweep_interval", 600000 },
        { "history.retention", 30LL * 86400000 }, { "history.versions", 100 }, { "retention.dropped", 7LL * 86400000 },
        { "retention.findings", 90LL * 86400000 }, { "limits.body", 64 << 20 }, { "limits.bodies", 256 << 20 },
        { "limits.headers", 32 << 10 },  { "limits.json_values", 2000000 }, { "limits.json_depth", 64 },
        { "limits.page", 10000 },
    };
    const int64_t found[] = {
        c->publish_wait_ms, c->scan_interval_ms, c->scan_sweep_interval_ms, c->history_retention_ms,
        c->history_versions, c->retention_dropped_ms, c->retention_findings_ms, c->limits_body_bytes,
        c->limits_bodies_bytes, c->limits_headers_bytes, c->limits_json_values, c->limits_json_depth, c->limits_page,
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        cr_expect(eq(i64, found[i], k_rows[i].value), "%s", k_rows[i].name);
}

Test(config, a_file_sets_what_it_names)
{
    static const char k_yaml[] = "listen: 0.0.0.0:9000\n"
                                 "data: /srv/tarn\n"
                                 "roots:\n  - /srv/lake\n  - \"s3://bucket/lake\"\n"
                                 "auth: {mode: tokens}\n"
                                 "metrics.public: yes\n"
                                 "scan:\n  interval: 2m\n  threads: 8\n"
                                 "limits: {body: 8 MiB}\n"
                                 "monitors:\n  manifest_age: {warning: 1m, error: 15m}\n  small_files: {severity: \"off\"}\n"
                                 "  timezone: Europe/Berlin\n  freshness: {grace: 90, factor: 1.5, on: true}\n"
                                 "  maintenance: [a, b]\n";
    TARN_AUTO(config) struct tarn_config *c = NULL;
    TARN_ERR(err);

    cr_assert(eq(int, load_yaml(k_yaml, "", &c, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(str, c->listen, "0.0.0.0:9000"));
    cr_expect(eq(str, c->data, "/srv/tarn"));
    cr_assert(eq(sz, c->root_count, 2));
    cr_expect(eq(str, c->roots[0], "/srv/lake"));
    cr_expect(eq(str, c->roots[1], "s3://bucket/lake"));
    cr_expect(c->metrics_public);
    cr_expect(eq(i64, c->scan_interval_ms, 120000));
    cr_expect(eq(i64, c->scan_threads, 8));
    cr_expect(eq(i64, c->limits_body_bytes, 8388608));
    json_auto_t *expected = json_loads("{\"manifest_age\":{\"warning\":\"1m\",\"error\":\"15m\"},\"small_files\":{\"severity\":\"off\"},"
                                       "\"timezone\":\"Europe/Berlin\",\"freshness\":{\"grace\":90,\"factor\":1.5,\"on\":true},"
                                       "\"maintenance\":[\"a\",\"b\"]}", 0, NULL);
    cr_expect(json_equal(c->monitors, expected), "%s", json_dumps(c->monitors, 0));
}

Test(config, flag_beats_variable_beats_file)
{
    TARN_AUTO(config) struct tarn_config *c = NULL;
    TARN_ERR(err);

    setenv("TARN_SCAN_INTERVAL", "3m", 1);
    setenv("TARN_SCAN_THREADS", "3", 1);
    setenv("TARN_ROOTS", "/a,/b", 1);
    setenv("TARN_PORT", "tcp://10.0.0.1:80", 1); /* Kubernetes sets such names */
    cr_assert(eq(int, load_yaml("data: /srv/tarn\nroots: [/file]\nscan: {interval: 2m, threads: 2, sweep_interval: 2m}\n",
                                "--scan-interval 4m --root /c --root=/d --metrics-public", &c, &err), TARN_OK),
              "%s", err.detail);
    cr_expect(eq(i64, c->scan_interval_ms, 240000));
    cr_expect(eq(i64, c->scan_threads, 3));
    cr_expect(eq(i64, c->scan_sweep_interval_ms, 120000));
    cr_assert(eq(sz, c->root_count, 2));
    cr_expect(eq(str, c->roots[0], "/c"));
    cr_expect(eq(str, c->roots[1], "/d"));
    cr_expect(c->metrics_public);
}

Test(config, a_variable_replaces_the_roots_of_the_file)
{
    TARN_AUTO(config) struct tarn_config *c = NULL;
    TARN_ERR(err);

    setenv("TARN_ROOTS", "/a,/b,", 1);
    cr_assert(eq(int, load_yaml("data: /srv/tarn\nroots: [/file]\n", "", &c, &err), TARN_OK), "%s", err.detail);
    cr_assert(eq(sz, c->root_count, 2));
    cr_expect(eq(str, c->roots[1], "/b"));
}

Test(config, variables_name_the_file_too)
{
    TARN_AUTO(config) struct tarn_config *c = NULL;
    const char *file = tarn_path(tarn_tmp(), "other.yaml");
    TARN_ERR(err);

    tarn_write_text(file, "data: /from/file\n");
    setenv("TARN_CONFIG", file, 1);
    cr_assert(eq(int, load("", &c, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(str, c->data, "/from/file"));
}

Test(config, faults_of_a_file_name_the_line_and_the_key)
{
    static const struct { const char *yaml, *says; } k_rows[] = {
        { "listen: 127.0.0.1:1\nscan:\n  intervall: 60s\n", "tarn.yaml:3: unknown key 'scan.intervall', perhaps 'scan.interval'?" },
        { "tls: {cert: a}\n", "tarn.yaml:1: unknown key 'tls'" },
        { "alerts:\n  receivers: []\n", "tarn.yaml:1: unknown key 'alerts'" },
        { "scan: {interval: 60x}\n", "tarn.yaml:1: scan.interval: '60x' is no duration" },
        { "scan:\n  interval: [60s]\n", "tarn.yaml:2: scan.interval: must be one value" },
        { "\n\nscan: 5\n", "tarn.yaml:3: scan: must hold keys with values" },
        { "scan: {threads: many}\n", "scan.threads: 'many' is no whole number" },
        { "scan: {threads: 0}\n", "scan.threads: 0 lies outside 1 to 256" },
        { "scan: {threads: 1.5}\n", "scan.threads: '1.5' is no whole number" },
        { "scan: {interval: 0s}\n", "0s lies outside 1s to 365d" },
        { "limits: {body: big}\n", "limits.body: 'big' is no size" },
        { "limits: {body: 1}\n", "limits.body: 1 lies outside 1024 bytes" },
        { "metrics: {public: maybe}\n", "metrics.public: 'maybe' is neither true nor false" },
        { "auth: {mode: jwt}\n", "auth.mode: 'jwt' is none of: tokens none" },
        { "log: {level: loud}\n", "'loud' is none of: debug info warn error" },
        { "monitors: [a]\n", "monitors: must be an object" },
        { "monitors: {a: 1, a: 2}\n", "monitors: holds a key twice" },
        { "monitors: &x {a: *x}\n", "monitors: holds a key twice or is nested too deep" },
        { "listen: a:1\nlisten: b:1\n", "tarn.yaml:2: listen: is there twice" },
        { "scan: {interval: 1m}\nscan.interval: 2m\n", "tarn.yaml:2: scan.interval: is there twice" },
        { "listen: ''\n", "listen: must not be empty" },
        { "listen: [\n", "tarn.yaml:" },
        { "- a\n", "tarn.yaml:1: must hold keys with values" },
        { "roots: [{a: b}]\n", "roots: must be a list of texts" },
        { "roots: [\"\"]\n", "roots: must not be empty" },
        { "? [a]\n: b\n", "unknown key '?'" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_config *c = NULL;
        TARN_ERR(err);
        cr_expect(eq(int, load_yaml(k_rows[i].yaml, "", &c, &err), TARN_INVALID), "%s", k_rows[i].yaml);
        cr_expect(tarn_has(err.detail, k_rows[i].says), "%s gave: %s", k_rows[i].yaml, err.detail);
    }
}

/* An unknown or ill-typed key stops the start with its line number, inside of `monitors` too. */
static const struct { const char *yaml, *says; } k_monitors[] = {
    { "monitors:\n  manifest_age:\n    warning: 1m\n    wrong: 1\n", "tarn.yaml:4: monitors.manifest_age.wrong: is not known here" },
    { "scan: {interval: 1m}\nmonitors:\n  nope: {severity: info}\n", "tarn.yaml:3: monitors.nope: is not a monitor" },
    { "monitors:\n  schema_drift.extra_column:\n    severity: bad\n", "tarn.yaml:3: monitors.schema_drift.extra_column.severity: must be" },
    { "monitors:\n  maintenance:\n    - {from: '01:00', to: '02:00'}\n    - {from: '25:00', to: '02:00'}\n",
      "tarn.yaml:4: monitors.maintenance[1].from: must be" },
    { "monitors:\n  timezone: Mars\n", "tarn.yaml:2: monitors.timezone: " },
};

Test(config, a_fault_inside_of_monitors_names_the_place_and_the_member)
{
    char file[300], *argv[] = { "--config", file }, *flag[] = { "--monitors", "{\"nope\":{}}" };
    struct tarn_config *c = NULL;

    snprintf(file, sizeof file, "%s", tarn_path(tarn_tmp(), "tarn.yaml"));
    for (size_t i = 0; i < TARN_COUNT(k_monitors); i++) {
        TARN_ERR(err);
        tarn_write_text(file, k_monitors[i].yaml);
        cr_expect(eq(int, tarn_config_load_judged(2, argv, tarn_monitors_check, &c, &err), TARN_INVALID), "%s", k_monitors[i].yaml);
        cr_expect(tarn_has(err.detail, k_monitors[i].says), "%s gave: %s", k_monitors[i].yaml, err.detail);
    }
    TARN_ERR(told);
    cr_expect(eq(int, tarn_config_load_judged(2, flag, tarn_monitors_check, &c, &told), TARN_INVALID));
    cr_expect(tarn_has(told.detail, "--monitors: monitors.nope: is not a monitor"), "%s", told.detail);
    TARN_ERR(variable);
    setenv("TARN_MONITORS", "{\"manifest_age\":{\"error\":\"x\"}}", 1);
    cr_expect(eq(int, tarn_config_load_judged(0, NULL, tarn_monitors_check, &c, &variable), TARN_INVALID));
    cr_expect(tarn_has(variable.detail, "TARN_MONITORS: monitors.manifest_age.error: must be"), "%s", variable.detail);
}

Test(config, an_empty_file_is_fine)
{
    static const char *const k_rows[] = { "", "\n", "# nothing\n", "---\n", "{}\n" };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(config) struct tarn_config *c = NULL;
        TARN_ERR(err);
        cr_expect(eq(int, load_yaml(k_rows[i], "--data /srv/tarn", &c, &err), TARN_OK), "%s", err.detail);
    }
}

Test(config, faults_of_flags_and_variables_name_them)
{
    static const struct { const char *flags, *variable, *value, *says; } k_rows[] = {
        { "--scan-intervall 60s", NULL, NULL, "unknown flag --scan-intervall, perhaps --scan-interval?" },
        { "--nonsense", NULL, NULL, "unknown flag --nonsense" },
        { "--scan-interval", NULL, NULL, "--scan-interval needs a value" },
        { "--scan-interval=soon", NULL, NULL, "--scan-interval: scan.interval: 'soon' is no duration" },
        { "stray", NULL, NULL, "unexpected argument 'stray'" },
        { "-x", NULL, NULL, "unexpected argument '-x'" },
        { "--", NULL, NULL, "unexpected argument '--'" },
        { "--config", NULL, NULL, "--config needs a value" },
        { "--config /nonexistent.yaml", NULL, NULL, "/nonexistent.yaml: No such file" },
        { "--config /", NULL, NULL, "/: Is a directory" },
        { "--monitors [1]", NULL, NULL, "--monitors: monitors: must be an object" },
        { "--monitors {", NULL, NULL, "--monitors: monitors: no valid JSON" },
        { "--auth everybody", NULL, NULL, "--auth: auth.mode: 'everybody' is none of" },
        { "", "TARN_SCAN_THREADS", "many", "TARN_SCAN_THREADS: scan.threads: 'many' is no whole number" },
        { "", "TARN_MONITORS", "1", "TARN_MONITORS: monitors: must be an object" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_config *c = NULL;
        TARN_ERR(err);
        if (k_rows[i].variable)
            setenv(k_rows[i].variable, k_rows[i].value, 1);
        cr_expect(eq(int, load(k_rows[i].flags, &c, &err), TARN_INVALID), "%s", k_rows[i].flags);
        cr_expect(tarn_has(err.detail, k_rows[i].says), "%s gave: %s", k_rows[i].flags, err.detail);
        if (k_rows[i].variable)
            unsetenv(k_rows[i].variable);
    }
}

Test(config, roots_and_data_do_not_lie_in_each_other)
{
    static const struct { const char *flags; tarn_code code; } k_rows[] = {
        { "--data /srv/t --root /srv/t/lake", TARN_OK },
        { "--data /srv/t --root /srv/t/lake/inner", TARN_OK },
        { "--data /srv/t --root /srv/t2", TARN_OK },
        { "--data /srv/t --root /srv/t/../l", TARN_OK },
        { "--data /srv/t --root s3://bucket", TARN_OK },
        { "--data /srv/t --root /srv/t", TARN_INVALID },
        { "--data /srv/t --root /srv", TARN_INVALID },
        { "--data /srv/t --root /", TARN_INVALID },
        { "--data /srv/t --root /srv/t/other", TARN_INVALID },
        { "--data /srv/t --root /srv/t/lakes", TARN_INVALID },
        { "--data /srv/t --root /x --root /srv//t/./", TARN_INVALID },
        { "--data s3://bucket/x", TARN_INVALID },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(config) struct tarn_config *c = NULL;
        TARN_ERR(err);
        cr_expect(eq(int, load(k_rows[i].flags, &c, &err), k_rows[i].code), "%s: %s", k_rows[i].flags, err.detail);
    }
}

Test(config, a_link_does_not_hide_that_root_and_data_are_one)
{
    TARN_AUTO(config) struct tarn_config *c = NULL;
    const char *folder = tarn_tmp();
    char flags[1024];
    TARN_ERR(err);

    tarn_make_folder(tarn_path(folder, "data"));
    cr_assert(eq(int, symlink(tarn_path(folder, "data"), tarn_path(folder, "link")), 0));
    snprintf(flags, sizeof flags, "--data %s/data --root %s/link", folder, folder);
    cr_expect(eq(int, load(flags, &c, &err), TARN_INVALID));
}

Test(config, relative_paths_count_from_the_working_folder)
{
    TARN_AUTO(config) struct tarn_config *c = NULL;
    const char *folder = tarn_tmp();
    TARN_ERR(err);

    cr_assert(eq(int, chdir(folder), 0));
    cr_assert(eq(int, load("--data state --root lake", &c, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(str, c->data, (char *)tarn_path(folder, "state")));
    cr_expect(eq(str, c->roots[0], (char *)tarn_path(folder, "lake")));
}

Test(config, auth_none_needs_a_loopback_address)
{
    static const struct { const char *listen; tarn_code code; } k_rows[] = {
        { "127.0.0.1:8181", TARN_OK },    { "127.9.9.9:0", TARN_OK },     { "localhost:8181", TARN_OK },
        { "[::1]:8181", TARN_OK },        { "0.0.0.0:8181", TARN_INVALID }, { "[::]:8181", TARN_INVALID },
        { "10.0.0.1:8181", TARN_INVALID }, { "example.org:8181", TARN_INVALID }, { "127.0.0.1.example.org:80", TARN_INVALID },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(config) struct tarn_config *c = NULL;
        char flags[256];
        TARN_ERR(err);
        snprintf(flags, sizeof flags, "--data /srv/t --auth none --listen %s", k_rows[i].listen);
        cr_expect(eq(int, load(flags, &c, &err), k_rows[i].code), "%s: %s", k_rows[i].listen, err.detail);
    }
}

Test(config, an_address_has_a_host_and_a_port)
{
    static const struct { const char *listen; tarn_code code; } k_rows[] = {
        { "0.0.0.0:8181", TARN_OK }, { "[::]:1", TARN_OK }, { "host:65535", TARN_OK }, { "8181", TARN_INVALID },
        { ":8181", TARN_INVALID }, { "host:", TARN_INVALID }, { "host:65536", TARN_INVALID }, { "host:-1", TARN_INVALID },
        { "host:8181x", TARN_INVALID }, { "::1:8181", TARN_INVALID },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(config) struct tarn_config *c = NULL;
        char flags[256];
        TARN_ERR(err);
        snprintf(flags, sizeof flags, "--data /srv/t --listen %s", k_rows[i].listen);
        cr_expect(eq(int, load(flags, &c, &err), k_rows[i].code), "%s", k_rows[i].listen);
    }
}

Test(config, sizes_take_units)
{
    static const struct { const char *text; int64_t bytes; } k_rows[] = {
        { "4096", 4096 }, { "4kB", 4000 }, { "4KiB", 4096 }, { "1MB", 1000000 }, { "1MiB", 1048576 }, { "1GB", 1000000000 },
        { "2048B", 2048 },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(config) struct tarn_config *c = NULL;
        char flags[256];
        TARN_ERR(err);
        snprintf(flags, sizeof flags, "--data /srv/t --limits-bodies 2GB --limits-body %s", k_rows[i].text);
        cr_assert(eq(int, load(flags, &c, &err), TARN_OK), "%s", err.detail);
        cr_expect(eq(i64, c->limits_body_bytes, k_rows[i].bytes), "%s", k_rows[i].text);
    }
}

Test(config, help_and_page_name_every_setting)
{
    TARN_AUTO_DONE(buf) struct tarn_buf help = { 0 };
    TARN_AUTO_DONE(buf) struct tarn_buf page = { 0 };

    tarn_config_help(&help);
    tarn_config_markdown(&page);
    cr_expect(tarn_has(help.data, "--scan-interval DURATION") && tarn_has(help.data, "--root TEXT") &&
              tarn_has(help.data, "--auth tokens|none") && tarn_has(help.data, "--config FILE"));
    cr_expect(tarn_has(page.data, "| `limits.body` | `--limits-body` | `TARN_LIMITS_BODY` | size | `64MiB` |"));
}
