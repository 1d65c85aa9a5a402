/* kinds_doc.c - docs/MONITORS.md and the heads of docs/findings/ from the table of kinds, so that no page falls behind. */
#include "monitors/judge.h"

static const char k_head[] =
    "# Monitors\n"
    "\n"
    "A scan looks at a table's folder, log, documents and footers; what looks wrong becomes a *finding* with one of the codes\n"
    "below. Findings open after two bad looks and close after two good ones; `check` and a table's first scan look twice at once.\n"
    "A look counts for a finding only when what it rests on could be read: nothing that was told of files closes while the manifest is gone,\n"
    "and nothing that rests on a log entry while that is torn.\n"
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
    "The *cure* is the plan that cures a managed table's finding: `tarn repair TABLE PLAN` tells what it would do, `--run` does it\n"
    "and judges the table again (`POST /api/table/{table}/repair`). `republish` writes the documents again from the catalog and moves\n"
    "what somebody else wrote to `_conflicts/`; of an Iceberg table, the metadata file that is gone. `register` commits files that\n"
    "nobody registered; `forget` takes files that are gone out of the snapshot; `adopt` takes what another hand wrote as a new\n"
    "version. A file that is there and listed is touched only by name (`--path FILE`, `--path /` for all): `register` takes its size,\n"
    "rows, statistics and partition values again, which cures `size_mismatch`, `partition_drift` and `missing_column_stats`;\n"
    "`forget` gives it up, which cures `corrupt_data_file` (by a folder's name only what is gone or cannot be read). `recover` takes\n"
    "back what the catalog lost. Where none is named the data itself is at fault: `rollback` to a version before, a new file, or `accept`.\n"
    "\n"
    "Not every finding can be cured at once. What is said of one shows in it:\n"
    "\n"
    "| what | how | what it changes | ends |\n"
    "|---|---|---|---|\n"
    "| acknowledged | `POST …/findings/{id}/ack` | nothing: it counts on, and says who knows | at `until`, with the finding, by `DELETE` |\n"
    "| accepted | `POST …/findings/{id}/accept` | it counts no more in severity, `warnings`, rows, and is not told | when what was "
    "observed or its severity changes, with the finding, by `DELETE` |\n"
    "| silenced | `POST /api/silences` with matchers and `ends_at` | it counts on and is not told | at `ends_at`, by `DELETE`; what "
    "still looks wrong is told then, once |\n"
    "| in maintenance | `\"maintenance\": [{\"days\": [\"sat\"], \"from\": \"22:00\", \"to\": \"02:00\", \"timezone\": "
    "\"Europe/Berlin\"}]` in `monitors` | what first looks wrong inside does not open; what was open is not told | with the window; "
    "what still looks wrong opens and is told then |\n"
    "\n"
    "A window is of the wall clock: without `days` every day, a `to` below `from` is on the day after (a whole day is `00:00` to\n"
    "`24:00`), an hour that a clock change\n"
    "repeats lies in it both times; `timezone` defaults to that of the table's `monitors`. The nearest list counts whole; `[]` takes an\n"
    "outer one away. Learned freshness leaves gaps out that lie in windows. One that comes back within ten minutes after it closed is the same finding.\n"
    "A storage root that is lost is told once, by the table that met it first; the findings of the others are `suppressed_by` `storage_root`.\n"
    "\n";
static const char k_freshness[] =
    "## Freshness\n"
    "\n"
    "How old may the newest data be? The first of these that a table has decides; `details.freshness` tells age, threshold, whence it\n"
    "comes (`threshold_source`) and when the next data is due:\n"
    "\n"
    "```json\n"
    "{\"monitors\": {\"timezone\": \"Europe/Berlin\", \"freshness\": {\n"
    "  \"warning\": \"2h\", \"error\": \"6h\",\n"
    "  \"deadline\": {\"at\": \"09:00\", \"days\": [\"mon\", \"tue\", \"wed\", \"thu\", \"fri\"]}}}}\n"
    "```\n"
    "\n"
    "1. What is set (`config`, `deadline`). A deadline asks for data of the same day by then (an error), on the wall clock of its `timezone`, else\n"
    "   the table's; with `\"window\": \"12h\"` for data that came at most so long before. A `grace` delays all of it.\n"
    "2. What a data contract promised (`contract`): `\"contract\": {\"warning\", \"error\", \"deadline\"}`, made by `tarn register --contract`.\n"
    "3. What the table's own past lets expect (`learned`), never more than a warning: one and a half of what nearly all gaps between runs at the\n"
    "   same hour of the week were, twice the median, two scans at least. Four weeks count; incidents and maintenance windows teach nothing,\n"
    "   and after a change of habit only the newer gaps do. Below eight gaps, and while the silence lies in hours of a kind that\n"
    "   was never seen (the first night, the first weekend), it is `learning` and says nothing. `tarn check` has no past.\n"
    "\n"
    "Data is a commit that changed some and was not undone: no compaction, no rollback, nothing with `dataChange` false. A completed batch with\n"
    "`num_records` 0 is proof of life and counts as a run. A table that never had data is late for deadlines alone.\n"
    "\n"
    "## Codes\n"
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
    tarn_buf_adds(out, k_freshness);
    for (size_t i = 0; i < tarn_kinds_count; i++) {
        const struct tarn_kind *kind = &tarn_kinds[i];
        tarn_buf_addf(out, "| [`%s`](findings/%s.md) | %s |", kind->code, kind->code, kind->is_unjudged ? "unknown" : tarn_severity_text(kind->severity));
        add_cell(out, kind->warning);
        add_cell(out, kind->grace);
        add_cell(out, kind->cure);
        tarn_buf_addf(out, " %s |\n", kind->text);
    }
}

/* --- the heads of the pages of docs/findings/ --- */

static void add_needs(struct tarn_buf *out, unsigned needs)
{
    static const struct { unsigned bit; const char *text; } k_parts[] = {
        { TARN_SAW_STORAGE, "the folder" },
        { TARN_SAW_DOCUMENTS, "pointer, manifest and schema" },
        { TARN_SAW_LOG, "the transaction log" },
        { TARN_SAW_LISTING, "the list of all files" },
        { TARN_SAW_ENTRIES, "the entry of each listed file" },
        { TARN_SAW_FOOTERS, "footers of data files" },
        { TARN_SAW_STAGING, "`staging/` and `processed/`" },
        { TARN_SAW_BATCHES, "the batches that commits name" },
        { TARN_SAW_WORDS, "what the log says of the file" },
        { TARN_SAW_COMMITTED, "how far the log is committed" },
        { TARN_SAW_TEXTS, "what the entries say" },
        { TARN_SAW_LIFE, "when data came last" },
    };
    bool any = false;

    tarn_buf_adds(out, "| looked at |");
    for (size_t i = 0; i < TARN_COUNT(k_parts); i++) {
        if (!(needs & k_parts[i].bit))
            continue;
        tarn_buf_addf(out, "%s %s", any ? "," : "", k_parts[i].text);
        any = true;
    }
    tarn_buf_adds(out, any ? " |\n" : " nothing: it is found on the way to the table |\n");
}

static void add_threshold(struct tarn_buf *out, const struct tarn_kind *kind)
{
    if (kind->threshold == TARN_THRESHOLD_NONE)
        return;
    tarn_buf_addf(out, "| warning above | %s |\n", kind->warning ? kind->warning : "not set");
    tarn_buf_addf(out, "| error above | %s |\n", kind->error ? kind->error : "not set");
}

static void add_example(struct tarn_buf *out, const struct tarn_kind *kind)
{
    static const char *const k_values[] = { [TARN_THRESHOLD_DURATION] = "\"30m\"", [TARN_THRESHOLD_NUMBER] = "100",
                                            [TARN_THRESHOLD_SHARE] = "\"20%\"" };

    tarn_buf_addf(out, "| to set it | `{\"monitors\": {\"%s\": {", kind->code);
    if (kind->threshold != TARN_THRESHOLD_NONE)
        tarn_buf_addf(out, "\"error\": %s, ", k_values[kind->threshold]);
    if (kind->grace)
        tarn_buf_adds(out, "\"grace\": \"30m\", ");
    tarn_buf_adds(out, "\"severity\": \"off\"}}}` (any of them) |\n");
}

static void add_head(struct tarn_buf *out, const struct tarn_kind *kind)
{
    const char *severity = tarn_severity_text(kind->severity);

    tarn_buf_addf(out, "# %s\n\n%s\n\n| | |\n|---|---|\n", kind->code, kind->text);
    tarn_buf_addf(out, "| severity | %s%s |\n", severity, kind->is_unjudged ? "; the table is `unknown` while it is open" : "");
    add_threshold(out, kind);
    if (kind->grace)
        tarn_buf_addf(out, "| grace time | %s |\n", kind->grace);
    if (kind->cure)
        tarn_buf_addf(out, "| repair plan of a managed table | `%s` |\n", kind->cure);
    add_needs(out, kind->needs);
    add_example(out, kind);
}

void tarn_finding_heads(struct tarn_buf *out)
{
    for (size_t i = 0; i < tarn_kinds_count; i++) {
        tarn_buf_addf(out, "== %s\n", tarn_kinds[i].code);
        add_head(out, &tarn_kinds[i]);
    }
}
