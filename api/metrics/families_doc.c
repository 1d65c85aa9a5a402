/* families_doc.c - docs/METRICS.md from the table of families, so that the page cannot fall behind. */
#include "api/metrics/metrics.h"
#include "base/text.h"
#include <string.h>

static const char k_head[] =
    "# Metrics\n"
    "\n"
    "`GET /metrics` answers in the text format of Prometheus (0.0.4), or in OpenMetrics 1.0 for who asks for it in `Accept`. It needs a\n"
    "token with the scope `status:read`, or none with the setting `metrics.public`; a token that is narrowed to some tables gets\n"
    "those alone. Nothing is scanned for an answer: what a scan knows is as of the last one.\n"
    "\n"
    "A number that is not known, or that a table has none of, has no sample; counts of findings, states and drifts are always there. A table\n"
    "is called by its dotted name, without `default.`. Counters without `table` begin at 0 when the server starts. One family\n"
    "stands in one piece, tables in the order of their names; some 45 samples a table.\n"
    "\n"
    "`deploy/prometheus/` holds a scrape configuration and alert rules; [MONITORS.md](MONITORS.md) says what each `code` means.\n";

static void add_family(struct tarn_buf *out, const struct tarn_family *family)
{
    bool is_histogram = family->type == TARN_M_HISTOGRAM;

    tarn_buf_addf(out, "| `%s` | %s |", family->name, tarn_metric_type_text(family->type, true));
    for (const char *at = family->labels; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        tarn_buf_addf(out, "%s `%.*s`", at == family->labels ? "" : ",", (int)len, at);
        at += len;
    }
    tarn_buf_addf(out, " | %s%s |\n", family->help, is_histogram ? " With `_bucket`, `_sum`, `_count`." : "");
}

static void add_section(struct tarn_buf *out, const char *title, bool of_tables)
{
    tarn_buf_addf(out, "\n## %s\n\n| metric | type | labels | what it says |\n|---|---|---|---|\n", title);
    for (size_t i = 0; i < tarn_families_count; i++)
        if (tarn_starts_with(tarn_families[i].labels, "table") == of_tables)
            add_family(out, &tarn_families[i]);
}

void tarn_metrics_markdown(struct tarn_buf *out)
{
    tarn_buf_adds(out, k_head);
    add_section(out, "The server", false);
    add_section(out, "Tables", true);
}
