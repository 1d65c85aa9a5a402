/* traces.h - what the documents in a table's folder tell of its commits, and
 * what a catalog that lacks some of them can take back: an entry after the other
 * where none is missing between, else a snapshot that lies there whole. */
#ifndef TARN_LAKE_TRACES_H
#define TARN_LAKE_TRACES_H
#include "base/hash.h"
#include "formats/manifest/manifest.h"
#include "lake/lake.h"

/* A document of the log; its id stands in tarn_traces.names. */
struct tarn_trace {
    int64_t version, timestamp, mtime_ms; /* -1: not told */
    size_t id_at;
};
struct tarn_trace_list {
    struct tarn_trace *items; /* owned */
    size_t count, cap;
};

struct tarn_traces {
    /* whose they are: what carries both ids counts; owned by the caller */
    const char *catalog, *uuid;
    /* manifest.json */
    enum { TARN_TRACE_NONE, TARN_TRACE_BAD, TARN_TRACE_READ } manifest_is;
    bool manifest_own;                 /* it carries the ids */
    struct tarn_manifest_head manifest; /* owned */
    char manifest_token[TARN_TOKEN_TEXT], manifest_sha256[TARN_SHA256_HEX];
    /* the log, ascending by version */
    struct tarn_trace_list entries, checkpoints; /* that carry the ids */
    struct tarn_trace_list others;               /* readable entries of somebody else, in no order */
    struct tarn_trace_list bad;                  /* names that are no readable entry: links, nonsense */
    struct tarn_buf names;
};
void tarn_traces_done(struct tarn_traces *traces);
const char *tarn_trace_id(const struct tarn_traces *traces, const struct tarn_trace *trace);

/* Reads manifest.json: state, head, fingerprint. Errors are storage's alone. */
TARN_MUST tarn_code tarn_traces_manifest(struct tarn_place *place, struct tarn_traces *traces,
                                         struct tarn_err *err);

struct tarn_traces_ask {
    struct tarn_lake *lake;
    int64_t table_id; /* entries of its commits and of its adopted history are passed over; 0: of none */
    int64_t since_ms; /* older documents are passed over; INT64_MIN: none are */
    bool entries_only; /* checkpoints are long */
};
/* Lists the log and opens what is not passed over, heads only.
 * Blocks; ends with TARN_OVERLOADED when the server stops. */
TARN_MUST tarn_code tarn_traces_log(struct tarn_place *place, const struct tarn_traces_ask *ask,
                                    struct tarn_traces *traces, struct tarn_err *err);

/* traces_ids.c: no commit may have the id of an entry of somebody else, or of a name that is no entry. */
TARN_MUST tarn_code tarn_traces_take_ids(struct tarn_lake *lake, int64_t table_id,
                                         const struct tarn_traces *traces, struct tarn_err *err);

/* --- traces_plan.c --- */
struct tarn_retake_step {
    int64_t version;
    bool is_snapshot;   /* the files of a document that holds them all, else those of a log entry */
    bool is_manifest;   /* that document is manifest.json, else the checkpoint `id` */
    const char *id;     /* of the entry or the checkpoint, borrowed from the traces; NULL: none */
};
struct tarn_retake_gap { int64_t from, to; }; /* versions that storage does not tell, both included */
struct tarn_retake {
    int64_t from, to;   /* the version before and the one after all steps */
    struct tarn_retake_step *steps; /* owned */
    size_t count;
    struct tarn_retake_gap *gaps;   /* owned */
    size_t gap_count;
    bool is_clean;      /* nothing is missing and nothing contradicts */
    char why[256];      /* else why */
};
void tarn_retake_done(struct tarn_retake *plan);
/* How to get from version `from` to the newest one that storage knows. Entries from `lowest` up
 * to `from` that the catalog does not know are another history than its own: then only a snapshot
 * can go on from there, as where the files of `from` are not known (`has_base` false). Pure. */
TARN_MUST tarn_code tarn_retake_plan(const struct tarn_traces *traces, int64_t from, int64_t lowest,
                                     bool has_base, struct tarn_retake *out, struct tarn_err *err);
/* The one entry of that version; NULL: there is none, or more than one. */
const struct tarn_trace *tarn_traces_entry(const struct tarn_traces *traces, int64_t version);
#endif
