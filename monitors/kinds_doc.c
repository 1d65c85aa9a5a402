/* kinds_doc.c - docs/MONITORS.md from the table of kinds, so that the page cannot fall behind. */
#include "monitors/judge.h"

static const char k_head[] =
    "# Monitors\n"
    "\n"
    "A scan looks at a table's folder, log, documents and footers; what looks wrong becomes a *finding* with one of the codes\n"
    "below. Findings open after two bad looks and close after two good ones; `check` and a table's first scan look twice at once.\n"
    "`error` makes a table `unhealthy`; `warning` is listed and leaves it `healthy` (`degraded` under the policy `strict`);\n"
    "`info` is listed and changes nothing. More than 20 subjects of one code become one finding with the subject `*`.\n"
    "\n"
    "Thresholds are strictly greater, and the error's is tested first. Within its *grace time* a fault is taken for work in\n"
    "progress. All of it can be set for the server (`monitors` in the configuration), a namespace and a table, member by member, the\n"
    "nearest winning: table, inner namespace, outer namespace, server.\n"
    "\n"
    "```json\n"
    "{\"monitors\": {\"interval\": \"60s\", \"status_policy\": \"strict\",\n"
    "              \"manifest_age\": {\"warning\": \"5m\", \"error\": \"1h\"},\n"
    "              \"uncommitted_transaction\": {\"grace\": \"30m\"},\n"
    "              \"schema_drift.extra_column\": {\"severity\": \"off\"}}}\n"
    "```\n"
    "\n"
    "The *cure* is the repair plan that a managed table's finding names. Tarn does not run repairs\n"
    "yet: until it does, the cure only says which kind of remedy fits.\n"
    "\n"
    "| code | severity | warning above | grace | cure | what it says |\n"
    "|---|---|---|---|---|---|\n";

static void add_cell(struct tarn_buf *out, const char *text)
{
    if (text)
        tarn_buf_addf(out, " `%s` |", text);
    else
        tarn_buf_adds(out, " |");
}

void tarn_monitors_markdown(struct tarn_buf *out)
{
    tarn_buf_adds(out, k_head);
    for (size_t i = 0; i < tarn_kinds_count; i++) {
        const struct tarn_kind *kind = &tarn_kinds[i];
        tarn_buf_addf(out, "| `%s` | %s |", kind->code, kind->is_unjudged ? "unknown" : tarn_severity_text(kind->severity));
        add_cell(out, kind->warning);
        add_cell(out, kind->grace);
        add_cell(out, kind->cure);
        tarn_buf_addf(out, " %s |\n", kind->text);
    }
}
