/* options.c - every setting of the server, one row each. The YAML key, the flag, the variable, --help and
 * docs/CONFIGURATION.md come from here; a setting that has no row does not exist. */
#include "config/options.h"
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct tarn_config, member)
#define MIB (INT64_C(1) << 20)
#define SECOND INT64_C(1000)
#define DAY (86400 * SECOND)
#define YEAR (365 * DAY)

const struct tarn_option tarn_options[] = {
    { "listen", NULL, TARN_O_TEXT, AT(listen), "127.0.0.1:8181", 0, 0, NULL,
      "Address and port to serve on; port 0 takes a free one. An IPv6 address stands in brackets: [::1]:8181." },
    { "data", NULL, TARN_O_TEXT, AT(data), NULL, 0, 0, NULL,
      "Folder of the database and admin.token. Default: /var/lib/tarn for root, else $XDG_STATE_HOME/tarn." },
    { "roots", "root", TARN_O_LIST, AT(roots), NULL, 0, 0, NULL,
      "Locations that tables must lie under. Default: <data>/lake. Repeat the flag; separate by commas in the "
      "variable." },
    { "auth.mode", "auth", TARN_O_WORD, AT(auth_mode), "tokens", 0, 0, "tokens none",
      "Who may ask: tokens, or everybody (none), which needs a loopback address." },
    { "restored_copy", NULL, TARN_O_BOOL, AT(restored_copy), "false", 0, 0, NULL,
      "The database is a copy to be looked at beside the one it came from: it gets a catalog id of its own, and its tables are "
      "taken off publication, so that nothing is written to their folders. Not for a backup that takes the place of a lost "
      "database." },
    { "metrics.public", NULL, TARN_O_BOOL, AT(metrics_public), "false", 0, 0, NULL,
      "Serve /metrics without a token, for all tables." },
    { "warehouse", NULL, TARN_O_TEXT, AT(warehouse), NULL, 0, 0, NULL,
      "The only warehouse name that Iceberg clients may use. Default: any." },
    { "log.level", NULL, TARN_O_WORD, AT(log_level), "info", 0, 0, "debug info warn error",
      "Least level of the lines that are logged." },
    { "log.format", NULL, TARN_O_WORD, AT(log_format), "logfmt", 0, 0, "logfmt json", "Form of a log line." },
    { "status_policy", NULL, TARN_O_WORD, AT(status_policy), "default", 0, 0, "default strict",
      "Whether warnings leave a table healthy (default) or degraded (strict)." },
    { "monitors", NULL, TARN_O_OBJECT, AT(monitors), "{}", 0, 0, NULL,
      "Severities and thresholds for all tables, as in a table's `monitors`; flag and variable take JSON." },
    { "publish.wait", NULL, TARN_O_DURATION, AT(publish_wait_ms), "2s", 0, 600 * SECOND, NULL,
      "How long a commit waits until storage shows it before it is answered with \"published\": false." },
    { "publish.backlog", NULL, TARN_O_NUMBER, AT(publish_backlog), "1000", 1, 1000000, NULL,
      "Versions that storage may be behind before commits to that table are refused." },
    { "scan.interval", NULL, TARN_O_DURATION, AT(scan_interval_ms), "60s", SECOND, YEAR, NULL,
      "Pause between two probes of a table." },
    { "scan.sweep_interval", NULL, TARN_O_DURATION, AT(scan_sweep_interval_ms), "10m", SECOND, YEAR, NULL,
      "Pause between two sweeps, which look at every folder." },
    { "scan.full_interval", NULL, TARN_O_DURATION, AT(scan_full_interval_ms), "1h", SECOND, YEAR, NULL,
      "How often a sweep of a table of more than 1,000 files also reads the folders that did not change, for files that "
      "were changed in place." },
    { "scan.memory", NULL, TARN_O_BYTES, AT(scan_memory_bytes), "64MiB", 0, 65536 * MIB, NULL,
      "What is kept of large tables between two scans, all together (a folder takes some 400 bytes); what does not fit is "
      "read again." },
    { "scan.threads", NULL, TARN_O_NUMBER, AT(scan_threads), "4", 1, 256, NULL, "Tables scanned at the same time; beside them as many that are asked for (check, repair, recover)." },
    { "history.retention", NULL, TARN_O_DURATION, AT(history_retention_ms), "30d", 0, 100 * YEAR, NULL,
      "How long old versions can be read." },
    { "history.versions", NULL, TARN_O_NUMBER, AT(history_versions), "100", 1, 1000000000, NULL,
      "Versions that are kept whatever their age." },
    { "retention.dropped", NULL, TARN_O_DURATION, AT(retention_dropped_ms), "7d", 0, 100 * YEAR, NULL,
      "How long a dropped table can be restored." },
    { "retention.events", NULL, TARN_O_DURATION, AT(retention_events_ms), "30d", 0, 100 * YEAR, NULL,
      "How long events are kept." },
    { "retention.samples", NULL, TARN_O_DURATION, AT(retention_samples_ms), "30d", 0, 100 * YEAR, NULL,
      "How long samples of metrics are kept." },
    { "retention.findings", NULL, TARN_O_DURATION, AT(retention_findings_ms), "90d", 0, 100 * YEAR, NULL,
      "How long closed findings are kept." },
    { "limits.body", NULL, TARN_O_BYTES, AT(limits_body_bytes), "64MiB", 1024, 1024 * MIB, NULL,
      "Largest body of a request." },
    { "limits.bodies", NULL, TARN_O_BYTES, AT(limits_bodies_bytes), "256MiB", 1024, 65536 * MIB, NULL,
      "All bodies in memory together; above, requests are refused for the moment." },
    { "limits.headers", NULL, TARN_O_BYTES, AT(limits_headers_bytes), "32KiB", 1024, MIB, NULL,
      "Address and headers of a request together." },
    { "limits.json_values", NULL, TARN_O_NUMBER, AT(limits_json_values), "2000000", 100, 100000000, NULL,
      "JSON values in a body." },
    { "limits.json_depth", NULL, TARN_O_NUMBER, AT(limits_json_depth), "64", 8, 64, NULL, "Nesting of a body." },
    { "limits.page", NULL, TARN_O_NUMBER, AT(limits_page), "10000", 1, 1000000, NULL, "Largest page_size of a list." },
    { "limits.connections", NULL, TARN_O_NUMBER, AT(limits_connections), "1000", 1, 1000000, NULL,
      "Connections open at the same time." },
    { "limits.timeout", NULL, TARN_O_DURATION, AT(limits_timeout_ms), "30s", SECOND, 3600 * SECOND, NULL,
      "How long a connection may be silent." },
    { "limits.workers", NULL, TARN_O_NUMBER, AT(limits_workers), "4", 1, 256, NULL,
      "Threads for work that a request hands off." },
};
const size_t tarn_options_count = TARN_COUNT(tarn_options);
_Static_assert(TARN_COUNT(tarn_options) <= TARN_OPTIONS_MAX, "the table outgrew TARN_OPTIONS_MAX");

const struct tarn_option *tarn_option_by_key(const char *key)
{
    for (size_t i = 0; i < tarn_options_count; i++)
        if (strcmp(tarn_options[i].key, key) == 0)
            return &tarn_options[i];
    return NULL;
}

/* A key as a flag (lower case, dashes) or a variable (upper case, underscores). */
static void spell(const char *key, char separator, bool upper, char *out, size_t size)
{
    size_t len = 0;

    for (; key[len] && len + 1 < size; len++) {
        char c = key[len] == '.' || key[len] == '_' ? separator : key[len];
        out[len] = upper ? (char)toupper((unsigned char)c) : c;
    }
    out[len] = '\0';
}

const struct tarn_option *tarn_option_by_flag(const char *name)
{
    char spelt[64];

    for (size_t i = 0; i < tarn_options_count; i++) {
        const struct tarn_option *option = &tarn_options[i];
        spell(option->key, '-', false, spelt, sizeof spelt);
        if (strcmp(spelt, name) == 0 || (option->flag && strcmp(option->flag, name) == 0))
            return option;
    }
    return NULL;
}

void tarn_option_flag(const struct tarn_option *option, char out[64])
{
    char spelt[60];

    spell(option->flag ? option->flag : option->key, '-', false, spelt, sizeof spelt);
    snprintf(out, 64, "--%s", spelt);
}

void tarn_option_variable(const struct tarn_option *option, char out[64])
{
    char spelt[58];

    spell(option->key, '_', true, spelt, sizeof spelt);
    snprintf(out, 64, "TARN_%s", spelt);
}

const char *tarn_option_type_name(const struct tarn_option *option)
{
    static const char *const k_names[] = { "TEXT",   "WORD",     "TEXT", "BOOL",
                                           "NUMBER", "DURATION", "SIZE", "JSON" };

    return k_names[option->type];
}

/* Edit distance of two short texts, a dash, dot or underscore counting as equal. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);

    if (n >= TARN_COUNT(row))
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (; *a; a++) {
        size_t diagonal = row[0]++;
        for (size_t j = 1; j <= n; j++) {
            bool same = *a == b[j - 1] || (strchr(".-_", *a) && strchr(".-_", b[j - 1]));
            size_t best = diagonal + !same;
            diagonal = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[n];
}

const char *tarn_option_near(const char *name)
{
    const char *nearest = NULL;
    size_t least = 3; /* edits: more is another word */

    for (size_t i = 0; i < tarn_options_count; i++) {
        size_t edits = distance(name, tarn_options[i].key);
        if (edits < least) {
            least = edits;
            nearest = tarn_options[i].key;
        }
    }
    return nearest;
}
