#!/usr/bin/env python3
"""More fixtures of the kinds in make_cases.py: for each kind of fault its neighbours. Same layout, same use:
more_cases.py OUTDIR."""
import copy
import json
import os
import struct
import sys

from make_cases import DUR, EVT, GOOD, J, P, SCH, T0, UID, add, drop, iso, man, parquet, pq, rep, std, txn

OK, WARNING, ERROR, UNKNOWN = "ok", "warning", "error", "unknown"
CASES = []


def sized(name, content, sizes):
    """A manifest or log entry with the sizes that the files have."""
    if name != "manifest.json" and not name.startswith("_transactions/"):
        return content
    try:
        document = json.loads(content)
    except ValueError:
        return content
    for entry in document.get("files", []) + document.get("operations", []):
        if entry.get("path") in sizes and "size" in entry:
            entry["size"] = sizes[entry["path"]]
    return J(document)


def case(name, lies_there, severity, findings, now=3600, sizes=True, **more):
    lengths = {path: len(content) for path, _, content in lies_there if path.endswith(".parquet")}
    if sizes:
        lies_there = [(path, at, sized(path, content, lengths)) for path, at, content in lies_there]
    CASES.append(dict(id=name, files=lies_there, now=T0 + now, expected=dict(severity=severity, findings=findings, **more)))


def remove(path):
    return {"type": "remove_file", "path": path}


def hive(name, content, severity, findings, **more):
    case(name, [("date=2026-01-01/part-0.parquet", 100, GOOD), ("date=2026-01-01/part-1.parquet", 200, content)],
         severity, findings, **more)


def second(columns, rows=2):
    """The control with another second file."""
    return rep(std(2), pq(2, 590, parquet(columns, rows)))


# --- the log and its pointer ---
case("M01-uncommitted", rep(std(2), txn(3, 900, [add(P(3))]), pq(3, 895)), WARNING,
     ["uncommitted_transaction", "manifest_age", "unregistered_data_file"])
case("M02-pointer-behind", rep(std(3), ("last_committed_txn", 600, "txn-2\n")), WARNING, ["uncommitted_transaction"])
case("M03-manifest-behind", rep(std(3), man(2, iso(540), [P(1), P(2)], 540)), ERROR, ["committed_file_not_in_manifest"])
case("M04-still-listed", rep(std(2), txn(3, 590, [remove(P(1))]), ("last_committed_txn", 600, "txn-3\n"),
                             man(3, iso(600), [P(1), P(2)])), ERROR, ["removed_file_in_manifest"])
REMOVED = rep(std(2), txn(3, 590, [remove(P(1))]), ("last_committed_txn", 600, "txn-3\n"), man(3, iso(600), [P(2)]))
case("M05-removed-lies-there", REMOVED, OK, [], files=1)
case("M06-removed-and-gone", drop(REMOVED, P(1)), OK, [], files=1)
case("M07-replaced-in-one", rep(std(2), txn(3, 590, [remove(P(1)), add(P(1))]), ("last_committed_txn", 600, "txn-3\n"),
                                man(3, iso(600), [P(1), P(2)])), OK, [], files=2)
# Operations count in their order: the last word of an entry on a path is what it leaves.
for name, words, is_left in (("added-and-removed", "+-", False), ("removed-and-added", "-+", True), ("added-removed-added", "+-+", True),
                             ("removed-added-removed", "-+-", False), ("added-twice-and-removed", "++-", False)):
    for path, older in ((P(2), "of-the-one-before"), (P(3), "of-its-own")):
        said = txn(3, 590, [add(path) if word == "+" else remove(path) for word in words] + [add(P(4))])
        lies = rep(std(2), said, ("last_committed_txn", 600, "txn-3\n"), pq(4, 550)) + ([pq(3, 550)] if path == P(3) else [])
        rest = [P(1)] + ([P(2)] if path == P(3) else []) + [P(4)]
        lists = {True: man(3, iso(600), rest + [path]), False: man(3, iso(600), rest)}
        case(f"M07-{name}-{older}", rep(lies, lists[is_left]), OK, [])
        wrong = "committed_file_not_in_manifest" if is_left else "removed_file_in_manifest"
        case(f"M07-{name}-{older}-not-so", rep(lies, lists[not is_left]), ERROR, [wrong])

case("M08-pointer-missing", drop(std(2), "last_committed_txn"), WARNING, ["pointer_missing"])
case("M09-pointer-garbage", rep(std(2), ("last_committed_txn", 600, "%%% no id")), WARNING, ["pointer_unreadable"])
case("M10-pointer-empty", rep(std(2), ("last_committed_txn", 600, "")), WARNING, ["pointer_unreadable"])
case("M11-pointer-ahead", rep(std(2), ("last_committed_txn", 600, "txn-5\n")), ERROR, ["missing_transaction_log_entry"],
     warnings_contain=["missing_transaction_log_entry: txn-3..txn-5"])
case("M12-newest-missing", drop(std(3), "_transactions/txn-3.json"), ERROR, ["missing_transaction_log_entry"])
PADDED = [("schema.json", 0, J(SCH)), ("last_committed_txn", 600, "txn-0010\n"), man(10, iso(600), [P(i) for i in range(1, 11)])]
PADDED += [txn(i, 600 - 60 * (10 - i) - 5, [add(P(i))], name=f"txn-{i:04}", idv=f"txn-{i:04}") for i in range(1, 11)]
PADDED += [pq(i, 600 - 60 * (10 - i) - 10) for i in range(1, 11)]
case("M13-padded", PADDED, OK, [], latest_transaction="txn-0010")
case("M14-padded-hole", drop(PADDED, "_transactions/txn-0004.json"), WARNING, ["missing_transaction_log_entry"],
     warnings_contain=["missing_transaction_log_entry: txn-0004"])
case("M15-only-the-name-is-padded", rep(drop(std(2), "_transactions/txn-2.json"), txn(2, 595, [add(P(2))], name="txn-000002")),
     OK, [])
case("M16-another-id-inside", rep(drop(std(3), "_transactions/txn-2.json"), txn(2, 535, [add(P(2))], name="txn-22")), WARNING,
     ["transaction_id_mismatch"])
case("M17-no-numbers", rep(drop(std(2), "_transactions/txn-2.json"), txn(2, 595, [add(P(2))], name="alpha", idv="alpha"),
                           ("last_committed_txn", 600, "alpha\n")), OK, ["gap_check_disabled:info"])
case("M18-prefix-gone", drop(std(6), "_transactions/txn-1.json", "_transactions/txn-2.json"), OK, ["history_truncated:info"])
case("M19-two-holes", drop(std(9), *[f"_transactions/txn-{i}.json" for i in (3, 4, 5, 7)]), WARNING,
     ["missing_transaction_log_entry"] * 2, warnings_contain=["missing_transaction_log_entry: txn-3..txn-5"])
case("M20-entry-cut", rep(std(3), ("_transactions/txn-2.json", 535, '{"id"')), WARNING, ["unreadable_transaction_log_entry"])
case("M21-newest-entry-cut", rep(std(3), ("_transactions/txn-3.json", 595, '{"id"')), ERROR,
     ["unreadable_transaction_log_entry"])
case("M22-empty-entry-young", std(2) + [("_transactions/txn-3.json", 3595, "")], OK, [], pending_transactions=1)
case("M23-no-entry-names-it", drop(rep(std(3), man(3, iso(600), [P(1), P(3)])), "_transactions/txn-2.json"), WARNING,
     ["missing_transaction_log_entry", "unregistered_data_file"])
case("M24-numbers-in-fives", rep(drop(std(2), "_transactions/txn-1.json", "_transactions/txn-2.json"), txn(5, 500, [add(P(1)), add(P(2))]),
                                 *[txn(5 * i, 500 + i, []) for i in range(2, 9)], ("last_committed_txn", 600, "txn-40\n")), OK,
     ["gap_check_disabled:info"])


def entry(n, at, name=None, **more):
    """The log entry of std with other or more members."""
    path, _, content = txn(n, at, [add(P(n))], name=name)
    return (path, at, J(dict(json.loads(content), **more)))


def with_head(case_files, **more):
    path, at, content = next(f for f in case_files if f[0] == "manifest.json")
    return rep(case_files, (path, at, J(dict(json.loads(content), **more))))


def dated(at):
    return {"timestamp": iso(at)}


case("M200-a-copy-of-an-entry", std(3) + [entry(2, 700, name="txn-2-copy", **dated(535))], WARNING, ["duplicate_transaction"])
case("M201-one-number-padded-twice", std(3) + [entry(2, 700, name="txn-002", id="txn-002", **dated(535))], WARNING, ["duplicate_transaction"])
case("M201d-a-copy-of-one-above-the-pointer", std(2) + [txn(3, 900, []), txn(3, 910, [], name="txn-3b")], WARNING,
     ["uncommitted_transaction", "duplicate_transaction"])
NAMED = drop(std(2), "_transactions/txn-1.json", "_transactions/txn-2.json")
COPY = entry(2, 535)[2]
case("M201a-a-copy-by-a-file-manager", std(3) + [("_transactions/txn-2 (1).json", 700, COPY)], WARNING, ["duplicate_transaction"])
case("M201b-only-its-copy-is-there", rep(drop(std(3), "_transactions/txn-2.json"), ("_transactions/Copy of txn-2.json", 535, COPY)), WARNING,
     ["transaction_id_mismatch"])
case("M201c-a-note-in-the-log", std(3) + [("_transactions/to do.json", 700, "{}"), ("_transactions/@eaDir.json", 700, "")], OK, [])
case("M203-a-copy-among-names", rep(NAMED, entry(1, 535, name="alpha", id="alpha"), entry(2, 595, name="beta", id="beta"),
                                    entry(2, 598, name="beta.1", id="beta"), ("last_committed_txn", 600, "beta\n")), WARNING,
     ["gap_check_disabled:info", "duplicate_transaction"])
case("M204-versions-rise", rep(std(3), *[entry(i, 600 - 60 * (3 - i) - 5, version=i) for i in (1, 2, 3)]), OK, [])
case("M205-version-twice", rep(std(3), *[entry(i, 600 - 60 * (3 - i) - 5, version=v) for i, v in ((1, 1), (2, 2), (3, 2))]), WARNING,
     ["transaction_version_mismatch"])
case("M206-version-back", rep(std(3), *[entry(i, 600 - 60 * (3 - i) - 5, version=v) for i, v in ((1, 4), (2, 5), (3, 3))]), WARNING,
     ["transaction_version_mismatch"])
case("M207-version-of-some", rep(std(3), entry(1, 475, version=7), entry(3, 595, version=8)), OK, [])
case("M208-dated-back-within-a-minute", rep(std(3), entry(3, 595, **dated(475))), OK, [])
case("M209-dated-back", rep(std(3), entry(3, 595, **dated(474))), WARNING, ["transaction_time_regression"])
case("M210-dated-ahead-once", rep(std(3), entry(2, 535, **dated(90000))), WARNING, ["transaction_time_regression"])
UUIDS = [entry(i, 600 - 60 * (3 - i) - 5, table_uuid=u) for i, u in ((1, "a"), (2, "b"), (3, "a"))]
case("M211-entry-of-another-table", with_head(rep(std(3), *UUIDS), table_uuid="a"), WARNING, ["transaction_of_another_table"])
case("M212-taken-over", with_head(rep(std(3), *UUIDS[:2]), table_uuid="b"), OK, [])
case("M213-no-uuid-in-the-manifest", rep(std(3), *UUIDS), OK, [])
case("M214-pointer-names-nothing", rep(std(3), ("last_committed_txn", 600, "other\n")), ERROR, ["missing_transaction_log_entry"],
     warnings_contain=["missing_transaction_log_entry: other"])
case("M215-pointer-names-nothing-yet", rep(std(3), ("last_committed_txn", 3590, "other\n")), OK, [])
case("M216-pointer-of-another-sequence", rep(std(3), ("last_committed_txn", 600, "job-3\n")), ERROR, ["missing_transaction_log_entry"])
BY_NAME = rep(NAMED, entry(1, 535, name="alpha", id="alpha", version=3), entry(2, 595, name="beta", id="beta", version=4),
              ("last_committed_txn", 600, "beta\n"))
case("M217-names-with-versions", BY_NAME, OK, ["gap_check_disabled:info"])
case("M218-names-with-a-hole", rep(BY_NAME, entry(2, 595, name="beta", id="beta", version=6)), WARNING,
     ["gap_check_disabled:info", "missing_transaction_log_entry"],
     warnings_contain=["missing_transaction_log_entry: versions 4..5"])
case("M219-no-log-and-a-name", rep(NAMED, ("last_committed_txn", 600, "beta\n")), ERROR, ["missing_transaction_log_entry"])
case("M220-manifest-says-so", with_head(std(3), transaction="txn-3"), OK, [])
case("M221-pointer-behind-the-manifest", with_head(rep(std(3), ("last_committed_txn", 600, "txn-2\n")), transaction="txn-3"), WARNING,
     ["pointer_mismatch"])
case("M222-pointer-right-behind-it", with_head(rep(std(3, 3550), ("last_committed_txn", 3490, "txn-2\n")), transaction="txn-3"), OK, [])
case("M223-manifest-behind-the-pointer", with_head(rep(std(3), man(2, iso(540), [P(1), P(2)], 540)), transaction="txn-2"), ERROR,
     ["committed_file_not_in_manifest"])
case("M224-checkpoint-stands-for-the-log", rep(NAMED, ("last_committed_txn", 600, "beta\n"), ("_transactions/beta.checkpoint.json", 600, "{}")),
     OK, [])

# --- what is committed when the pointer does not tell: the manifest does ---
SAYS_3 = with_head(std(3), transaction="txn-3")
case("M225-no-pointer-and-the-newest-entry-gone", drop(SAYS_3, "last_committed_txn", "_transactions/txn-3.json"), ERROR,
     ["pointer_missing", "missing_transaction_log_entry"], warnings_contain=["missing_transaction_log_entry: txn-3"])
case("M226-no-pointer-and-an-entry-above", drop(SAYS_3, "last_committed_txn") + [txn(4, 900, [add(P(4))]), pq(4, 550)], WARNING,
     ["pointer_missing", "uncommitted_transaction", "unregistered_data_file"])
case("M227-no-pointer-and-a-number-left-out", drop(SAYS_3, "last_committed_txn") + [txn(5, 900, [])], WARNING,
     ["pointer_missing", "transaction_gap", "uncommitted_transaction"], warnings_contain=["transaction_gap: txn-4"])
case("M228-pointer-behind-and-the-newest-entry-gone", drop(rep(SAYS_3, ("last_committed_txn", 600, "txn-2\n")), "_transactions/txn-3.json"),
     ERROR, ["pointer_mismatch", "missing_transaction_log_entry"], warnings_contain=["missing_transaction_log_entry: txn-3"])
case("M229-pointer-behind-and-the-newest-entry-cut", rep(SAYS_3, ("last_committed_txn", 600, "txn-2\n"), ("_transactions/txn-3.json", 595, '{"id"')),
     ERROR, ["pointer_mismatch", "unreadable_transaction_log_entry"])
case("M230-pointer-behind-and-a-lost-update",
     with_head(rep(std(3), man(3, iso(600), [P(1), P(3)]), ("last_committed_txn", 600, "txn-2\n")), transaction="txn-3"), ERROR,
     ["pointer_mismatch", "committed_file_not_in_manifest"])
case("M231-an-old-and-the-newest-entry-cut", rep(std(4), ("_transactions/txn-2.json", 475, '{"id"'), ("_transactions/txn-4.json", 595, '{"id"')),
     ERROR, ["unreadable_transaction_log_entry"] * 2)

# --- the manifest ---
MANIFEST = man(2, iso(600), [P(1), P(2)])
case("M30-manifest-cut", rep(std(2), ("manifest.json", 600, MANIFEST[2][:len(MANIFEST[2]) // 2])), ERROR, ["manifest_unreadable"])
case("M31-manifest-empty", rep(std(2), ("manifest.json", 600, "")), ERROR, ["manifest_unreadable"])
case("M32-manifest-gone", drop(std(2), "manifest.json"), ERROR, ["manifest_missing"])
case("M33-no-instant", rep(std(2), man(2, "yesterday", [P(1), P(2)])), WARNING, ["implausible_timestamp"],
     manifest_age_seconds=-10)
case("M35-year-1970", rep(std(2), man(2, "1970-01-01T00:00:00Z", [P(1), P(2)])), WARNING, ["implausible_timestamp"])
case("M36-epoch-seconds", rep(std(2), man(2, T0 + 600, [P(1), P(2)])), OK, [], manifest_age_seconds=-10)
case("M37-future", rep(std(2), man(2, iso(90000), [P(1), P(2)])), WARNING, ["clock_skew"])
case("M38-manifest-alone", [f for f in std(2) if f[0] != "last_committed_txn" and not f[0].startswith("_transactions/")], OK, [])
case("M39-nothing-yet", [("manifest.json", 600, J({"version": 0, "last_updated": iso(600), "files": []}))], OK, [], files=0)
case("M40-many-unregistered", std(2) + [pq(i, 500 + i) for i in range(10, 40)], WARNING, ["unregistered_data_file"])

# --- the schema ---
case("M50-no-schema", drop(std(2), "schema.json"), OK, [])
case("M51-schema-cut", rep(std(2), ("schema.json", 0, "{")), WARNING, ["schema_unreadable"])
case("M52-current-not-there", rep(std(2), ("schema.json", 0, J({"current_version": 4, "versions": SCH["versions"]}))), WARNING,
     ["schema_version_not_in_history"])
case("M53-string-for-int", second([("user_id", "binary", "string", False, ["a", "b"], None), EVT, DUR]), ERROR,
     ["schema_drift.type_changed"])
case("M54-float-for-double", second([UID, EVT, ("duration_seconds", "float", None, True, [1.5, None], None)]), OK,
     ["schema_drift.widened:info"])
case("M55-double-for-int", second([("user_id", "double", None, False, [1.0, 2.0], None), EVT, DUR]), ERROR,
     ["schema_drift.type_changed"])
NARROW = copy.deepcopy(SCH)
NARROW["schema"]["fields"][0]["type"] = "int32"
case("M56-int64-for-int32", rep(std(2), ("schema.json", 0, J(NARROW))), ERROR, ["schema_drift.narrowed"])
case("M57-bare-bytes", second([UID, ("event_type", "binary", None, False, ["view", "click"], None), DUR]), WARNING,
     ["schema_drift.type_changed"])
case("M58-another-order", second([EVT, UID, DUR]), OK, ["schema_drift.reordered:info"])
case("M59-all-null", second([UID, EVT, ("duration_seconds", "double", None, True, None, None)]), WARNING, ["column_all_null"])
case("M60-required-missing", second([UID, DUR]), ERROR, ["schema_drift.missing_column"])
case("M61-renamed", second([UID, EVT, ("duration_sec", "double", None, True, [1.0, None], None)]), WARNING,
     ["schema_drift.missing_column", "schema_drift.extra_column"])
case("M62-file-older-than-the-column", rep(std(2), ("schema.json", 545, J(SCH)), pq(1, 535, parquet([UID, EVT], 2))), OK,
     ["schema_drift.missing_column:info"])
case("M63-column-of-an-older-schema",
     rep(std(2), ("schema.json", 545, J(SCH)), pq(1, 535, parquet([UID, EVT, ("duration", "int32", None, True, [1, None], None)], 2))),
     OK, ["schema_drift.missing_column:info"])

SINCE = dict(copy.deepcopy(SCH), created_at=iso(560))
case("M64-the-schema-says-since-when", rep(std(2), ("schema.json", 0, J(SINCE)), pq(1, 530, parquet([UID, EVT], 2))), OK,
     ["schema_drift.missing_column:info"])
case("M65-though-it-was-copied-since", rep(std(2), ("schema.json", 3000, J(SINCE)), pq(2, 590, parquet([UID, EVT], 2))), WARNING,
     ["schema_drift.missing_column"])

# --- the data files ---
case("M70-empty-but-listed", rep(std(2), pq(1, 500, b"")), ERROR, ["corrupt_data_file", "size_mismatch"], sizes=False)
case("M71-staged-just-now", std(2) + [(f"staging/2026-01-01/00/batch-{i:06}.parquet", 3500, GOOD) for i in (1, 2)], OK, [],
     staging_files=2)
FOOTER = struct.unpack("<I", GOOD[-8:-4])[0]
hive("M80-empty", b"", OK, [], files=1)
hive("M81-tail-cut", GOOD[:-1], ERROR, ["corrupt_data_file"])
hive("M82-head-cut", GOOD[4:], ERROR, ["corrupt_data_file"])
hive("M83-footer-longer-than-the-file", GOOD[:-8] + struct.pack("<I", 100000) + b"PAR1", ERROR, ["corrupt_data_file"])
hive("M84-footer-of-4-GiB", GOOD[:-8] + struct.pack("<I", 0xffffffff) + b"PAR1", ERROR, ["corrupt_data_file"])
hive("M85-encrypted", GOOD[:-4] + b"PARE", OK, ["encrypted:info"])
hive("M86-footer-scrambled", GOOD[:-40] + b"\xff" * 32 + GOOD[-8:], ERROR, ["corrupt_data_file"])
hive("M87-pages-gone", b"PAR1" + GOOD[-(FOOTER + 8):], ERROR, ["corrupt_data_file"])
hive("M88-contradicts-the-path", parquet([UID, EVT, DUR, ("date", "binary", "string", True, ["2025-12-31"] * 2, None)], 2), WARNING,
     ["partition_column_in_file"])
hive("M89-many-types", parquet([UID, EVT, DUR, ("t", "int64", "ts_us_utc", True, [1, 2], None), ("b", "bool", None, True, [True, None], None),
                                ("d", "int32", "dec_8_2", True, [1, None], None), ("x", "int96", None, True, [1, 2], None)], 2), OK, [])

# --- what the manifest tells of the files ---
def entries(*more, paths=(1, 2)):
    """The control's manifest, its last entry changed by each of `more`; None takes a member away."""
    document = json.loads(man(len(paths), iso(600), [P(i) for i in paths])[2])
    for change in more:
        document["files"][-1].update(change)
        for key in [k for k, v in document["files"][-1].items() if v is None]:
            del document["files"][-1][key]
    return ("manifest.json", 600, J(document))


def moved(path, *more):
    """The control, its second file under another path."""
    return rep(drop(std(2), P(2)), entries({"path": path}, *more), txn(2, 595, [add(path)]), (path, 590, GOOD))


case("M100-no-values-but-folders", rep(std(2), entries({"partitionValues": None})), OK, [])
case("M101-no-values-at-all", moved("data/x.parquet", {"partitionValues": None}), WARNING, ["missing_partition_values"])
case("M102-a-value-missing", moved("data/x.parquet", {"partitionValues": {"date": "2026-01-01"}}), WARNING, ["missing_partition_values"])
case("M103-bare-folders-with-values", moved("data/2026-01-01/14/x.parquet"), OK, [])
case("M104-contradicts-the-path", moved("date=2026-01-01/hour=15/x.parquet"), WARNING, ["partition_drift"])
case("M105-same-value-as-text", rep(std(2), entries({"partitionValues": {"date": "2026-01-01", "hour": "14"}})), OK, [])
case("M106-other-keys", moved("region=eu/date=2026-01-01/hour=14/x.parquet"), WARNING, ["partition_drift"])
case("M107-a-folder-less", moved("date=2026-01-01/x.parquet", {"partitionValues": {"date": "2026-01-01"}}), WARNING, ["partition_drift"])
case("M108-no-statistics", rep(std(2), entries({"columnStats": None})), OK, ["missing_column_stats:info"])
case("M109-empty-statistics", rep(std(2), entries({"columnStats": {}})), OK, ["missing_column_stats:info"])
case("M110-no-schema-no-statistics", drop(rep(std(2), entries({"columnStats": None})), "schema.json"), OK, [])
case("M111-many-contradict", [f for f in std(30) if f[0] != "manifest.json"] +
     [("manifest.json", 600, man(30, iso(600), [P(i) for i in range(1, 31)])[2].replace('"hour": 14', '"hour": 13'))], WARNING,
     ["partition_drift"])
case("M112-folders-otherwise", [("date=2026-01-01/a.parquet", 100, GOOD), ("date=2026-01-02/b.parquet", 200, GOOD),
                                ("region=eu/c.parquet", 300, GOOD)], WARNING, ["partition_drift"])
case("M113-outside-of-all-partitions", [("date=2026-01-01/a.parquet", 100, GOOD), ("date=2026-01-02/b.parquet", 200, GOOD),
                                        ("c.parquet", 300, GOOD)], WARNING, ["missing_partition_values"])

# --- paths, sizes, other formats ---
CSV = "user_id,event_type\n1,view\n"


def listed(path, content=GOOD, **more):
    """The control and one more entry, committed by txn-3, with its file."""
    document = json.loads(man(3, iso(600), [P(1), P(2)])[2])
    entry = dict(document["files"][0], path=path, size=len(content) if content is not None else len(GOOD), **more)
    document["files"].append({k: v for k, v in entry.items() if v is not None})
    operation = dict(add(path), size=entry["size"])
    there = [(path, 588, content)] if content is not None else []
    return rep(std(2), txn(3, 592, [operation]), ("last_committed_txn", 600, "txn-3\n"), ("manifest.json", 600, J(document))) + there


D = "date=2026-01-01/hour=14/"
case("M120-dot-before", rep(std(2), entries({"path": "./" + P(2)})), OK, [], files=2)
case("M121-two-slashes", rep(std(2), entries({"path": P(2).replace("/", "//")})), OK, [], files=2)
case("M122-twice-in-two-spellings", rep(std(2), entries({"path": "./" + P(2)}, paths=(1, 2, 2))), WARNING, ["duplicate_file"], files=2)
case("M123-twice-three-times", rep(std(2), entries(paths=(1, 2, 2, 2))), WARNING, ["duplicate_file"], files=2)
case("M124-leads-out", listed("../other/x.parquet", None), WARNING, ["invalid_data_path"], files=3)
case("M125-absolute", listed("/etc/passwd", None), WARNING, ["invalid_data_path"], files=3)
case("M126-leads-out-in-the-middle", listed(D + "../../../x.parquet", None), WARNING, ["invalid_data_path"])
case("M127-another-store", listed("s3://bucket/t/x.parquet", None), WARNING, ["invalid_data_path"])
case("M128-listed-in-staging", listed("staging/2026-01-01/14/batch-000001.parquet"), WARNING, ["invalid_data_path", "staging_backlog"])
case("M129-listed-under-temp", listed("_temp/x.parquet"), WARNING, ["invalid_data_path"])
case("M130-size-negative", rep(std(2), entries({"size": -5})), ERROR, ["size_mismatch"], sizes=False)
case("M131-size-absent", rep(std(2), entries({"size": None})), OK, [], files=2, total_size_bytes=2 * len(GOOD))
case("M132-size-zero", rep(std(2), entries({"size": 0})), ERROR, ["size_mismatch"], sizes=False)
case("M133-negative-and-gone", rep(drop(std(2), P(2)), entries({"size": -5})), ERROR, ["missing_data_file", "size_mismatch"], sizes=False)
case("M134-empty-unlisted", std(2) + [pq(3, 683, b"")], OK, ["leftover_temp:info"], manifest_age_seconds=-10)
case("M135-empty-unlisted-young", std(2) + [pq(3, 3590, b"")], OK, [])
case("M136-csv-listed", listed(D + "x.csv", CSV.encode()), WARNING, ["unexpected_file_format"], files=3)
case("M137-json-gone", listed(D + "x.json", None), ERROR, ["missing_data_file", "unexpected_file_format"])
case("M138-no-ending-but-parquet", listed(D + "part-0"), OK, [])
case("M139-no-ending-no-parquet", listed(D + "part-0", b"hello"), ERROR, ["corrupt_data_file"])
case("M140-csv-beside-data", std(2) + [(D + "x.csv", 900, CSV)], WARNING, ["unexpected_file_format"], manifest_age_seconds=-10)
case("M141-json-in-a-partition", std(2) + [("date=2026-01-02/hour=1/x.json.gz", 900, CSV)], WARNING, ["unexpected_file_format"])
case("M142-csv-just-written", std(2) + [(D + "x.csv", 3000, CSV)], OK, [])
case("M143-notes-and-tools", std(2) + [("README.md", 900, "a"), ("owner.json", 900, "{}"), ("docs/x.csv", 900, CSV), ("_SUCCESS", 900, ""),
                                       (D + "_SUCCESS", 900, ""), (D + ".x.csv.crc", 900, "crc"), (D + "_metadata", 900, "PAR1"),
                                       ("metadata/snap-1.avro", 900, "Obj"), ("_delta_log/0.json", 900, "{}"), (D + "notes.txt", 900, "a")], OK, [])
case("M145-orc-in-a-folder-of-parquet", [("date=2026-01-01/a.parquet", 100, GOOD), ("date=2026-01-02/b.orc", 200, b"ORC")], WARNING,
     ["unexpected_file_format"], files=1)
case("M146-many-csv", std(2) + [(f"{D}{i}.csv", 900, CSV) for i in range(21)], WARNING, ["unexpected_file_format"])

# --- batches that were applied twice ---
def of_batch(n, **metadata):
    """Commit n of std(4), which applied a batch."""
    return entry(n, 600 - 60 * (4 - n) - 5, commitMetadata={"author": "merge", **metadata})


def twice(name, findings, *entries, severity=WARNING, more=()):
    case(name, rep(std(4), *entries, *more), severity, findings)


FLINK = {"flink.job-id": "3d0a", "flink.max-committed-checkpoint-id": 17}
STAGED = "s3://analytics-data/clickstream_logs/staging/2026-01-01/00/batch-000123.parquet"
twice("M220-batch-twice", ["duplicate_batch"], of_batch(2, batch_id="d/batch-1.parquet"), of_batch(4, batch_id="d/batch-1.parquet"))
twice("M221-batches-once", [], *[of_batch(n, batch_id=f"d/batch-{n}.parquet") for n in (1, 2, 3, 4)], severity=OK)
twice("M222-checkpoint-twice", ["duplicate_batch"], of_batch(3, **FLINK), of_batch(4, **FLINK))
twice("M223-checkpoints-of-two-jobs", [], of_batch(3, **FLINK), of_batch(4, **dict(FLINK, **{"flink.job-id": "77"})), severity=OK)
twice("M224-staged-file-twice", ["duplicate_batch"], of_batch(1, source=STAGED), of_batch(2, source=STAGED.replace("s3:", "s3a:")))
twice("M225-staging-is-a-folder", [], *[of_batch(n, source="s3://x/staging/2026-01-01/") for n in (1, 2)], severity=OK)
twice("M226-members-of-the-entry", ["duplicate_batch"], entry(1, 415, batch_ids=["a/1", "a/2"]), of_batch(4, batch_ids=["a/2", "a/3"]))
twice("M227-epoch-twice", ["duplicate_batch"], *[of_batch(n, queryId="q", epochId=0) for n in (1, 2)])
twice("M228-epochs-of-two-queries", [], *[of_batch(n, queryId=q, batchId=0) for n, q in ((1, "p"), (2, "q"))], severity=OK)
twice("M229-a-job-name-is-no-id", [], *[of_batch(n, batch_id="nightly") for n in (1, 2, 3, 4)], severity=OK)
twice("M230-one-name-for-all", [], *[of_batch(n, batch_id="load-v2") for n in (1, 2, 3, 4)], severity=OK)
twice("M231-two-batches-twice", ["duplicate_batch"] * 2, *[of_batch(n, batch_id=f"b{n % 2}") for n in (1, 2, 3, 4)])
AGAIN = [of_batch(2, batch_id="b/1"), of_batch(4, batch_id="b/1")]
UNDONE = [txn(5, 598, [remove(P(2))]), man(5, iso(600), [P(1), P(3), P(4)]), ("last_committed_txn", 600, "txn-5\n")]
twice("M232-the-first-was-taken-out", [], *AGAIN, *UNDONE, severity=OK)
PACKED = entry(5, 598, operations=[remove(P(2)), remove(P(4)), add(P(5))], dataChange=False)
twice("M233-both-were-rewritten", ["duplicate_batch"], *AGAIN, PACKED, pq(5, 597), man(5, iso(600), [P(1), P(3), P(5)]),
      ("last_committed_txn", 600, "txn-5\n"))
twice("M234-a-compaction-names-its-source", [], of_batch(2, batch_id="b/1"), entry(4, 595, dataChange=False, commitMetadata={"batch_id": "b/1"}),
      severity=OK)
twice("M235-uncommitted-again", ["uncommitted_transaction"], of_batch(2, batch_id="b/1"), of_batch(4, batch_id="b/1"),
      more=[("last_committed_txn", 600, "txn-3\n")])

# --- clocks ---
case("M240-newest-entry-ahead", rep(std(3), entry(3, 595, **dated(3600 + 7200))), WARNING, ["clock_skew"])
case("M241-newest-entry-45-s-ahead", rep(std(3), entry(3, 595, **dated(3645))), OK, [])
case("M242-data-45-s-ahead", std(2) + [], OK, [], now=540)
case("M243-entries-without-a-zone", rep(std(3), entry(2, 535, timestamp="2026-01-01T00:08:55"), entry(3, 595, timestamp="2026-01-01 00:09:55")),
     OK, ["naive_timestamp:info"])
case("M244-entry-of-no-time", rep(std(3), entry(2, 535, timestamp="yesterday")), WARNING, ["implausible_timestamp"])
case("M245-entry-of-1970", rep(std(3), entry(2, 535, timestamp=0)), WARNING, ["implausible_timestamp"])
case("M246-entry-without-a-time", rep(std(3), ("_transactions/txn-2.json", 535, J({"id": "txn-2", "operations": [add(P(2))]}))), OK, [])

# --- what came last ---
case("M250-compaction-is-no-data", rep(std(3), entry(3, 595, operations=[remove(P(1)), add(P(3))], dataChange=False), man(3, iso(600), [P(2), P(3)])),
     OK, [], last_data_commit=T0 + 535)
case("M251-metadata-is-no-data", rep(std(3), entry(3, 595, operations=[]), man(3, iso(600), [P(1), P(2)]), ("_transactions/txn-2.json", 535, entry(2, 535)[2])),
     WARNING, ["unregistered_data_file"], last_data_commit=T0 + 535)
case("M252-manifest-alone-goes-by-its-files", [f for f in std(2) if f[0] != "last_committed_txn" and not f[0].startswith("_transactions/")],
     OK, [], last_data_commit=T0 + 590)
case("M253-rolled-back-data", rep(std(3), entry(1, 475, version=1), entry(2, 535, version=2),
                                  entry(3, 595, version=3, operations=[remove(P(2))], rollback_to=1, dataChange=False),
                                  man(3, iso(600), [P(1)])), WARNING, ["unregistered_data_file"], last_data_commit=T0 + 475)

# --- many small files ---
def crowded(name, count, at, now, severity, findings, size=len(GOOD)):
    """A plain folder of so many files, the newest `at` seconds after T0."""
    case(name, [(f"date=2026-01-01/part-{i:05}.parquet", at - count + i, GOOD) for i in range(count)], severity, findings, now=now)


DAY = 86400
crowded("M150-a-hundred-small-files", 100, 0, 3 * DAY, OK, [])
crowded("M151-more-than-a-hundred", 101, 0, 3 * DAY, OK, ["small_files:info"])
crowded("M152-more-but-in-use", 101, 0, DAY - 600, OK, [])
crowded("M153-a-day-every-half-minute", 2880, 0, 3600, OK, [])
crowded("M154-never-compacted", 3130, 0, 3600, OK, ["small_files:info"])
STREAM = [f for f in std(150) if f[0] != "manifest.json" and not f[0].startswith("_transactions/")]
STREAM = [(path, 600, content) for path, _, content in STREAM if path != "last_committed_txn"]
STREAM.append(("manifest.json", 600, man(1, iso(600), [P(i) for i in range(1, 151)])[2]))
case("M155-small-files-of-a-manifest", STREAM, OK, ["small_files:info"], now=3 * DAY)
case("M156-small-files-of-this-hour", STREAM, OK, [])

# --- the numbers beside the findings ---
UNREGISTERED = std(2) + [pq(3, 683), pq(4, 700)]
case("M160-numbers-of-unregistered-files", UNREGISTERED, WARNING, ["manifest_age"] + ["unregistered_data_file"] * 2,
     unregistered_files=2, unregistered_bytes=2 * len(GOOD), registration_lag_seconds=3600 - 683, orphan_files=0, missing_files=0)
case("M161-after-a-week", UNREGISTERED, WARNING, ["manifest_age"] + ["unregistered_data_file"] * 2, now=7 * DAY + 690,
     unregistered_files=2, orphan_files=1, orphan_bytes=len(GOOD))
case("M162-numbers-of-the-log", drop(std(9), "_transactions/txn-3.json", "_transactions/txn-4.json", "_transactions/txn-7.json"), WARNING,
     ["missing_transaction_log_entry"] * 2, missing_log_entries=3, log_entries=6, pending_transactions=0, last_commit=T0 + 595)
case("M163-numbers-of-statistics", rep(std(2), entries({"columnStats": None})), OK, ["missing_column_stats:info"],
     files_without_column_stats=1)

# --- a finding needs more than its grace time, not as much ---
case("M260-unregistered-for-15-minutes", std(2, 3000) + [pq(3, 2700)], OK, [])
case("M261-unregistered-for-longer", std(2, 3000) + [pq(3, 2699)], WARNING, ["unregistered_data_file"], registration_lag_seconds=901)
case("M262-csv-for-15-minutes", std(2) + [(D + "x.csv", 2700, CSV)], OK, [])
case("M263-csv-for-longer", std(2) + [(D + "x.csv", 2699, CSV)], WARNING, ["unexpected_file_format"])
case("M264-leftover-for-a-minute", std(2) + [("manifest.json.tmp", 3540, "{")], OK, [])
case("M265-leftover-for-longer", std(2) + [("manifest.json.tmp", 3539, "{")], OK, ["leftover_temp:info"])
case("M266-leftover-of-an-entry", std(2) + [("_transactions/txn-3.json.tmp", 3539, "{")], OK, ["leftover_temp:info"])
case("M267-entry-being-written", std(2) + [("_transactions/txn-3.json.tmp", 3540, "{")], OK, [])
crowded("M268-small-files-a-day-old", 101, 0, DAY - 1, OK, [])
crowded("M269-small-files-older", 101, 0, DAY, OK, ["small_files:info"])

# --- what a file holds of its partition, against the folder's name ---
def keyed(name, folder, column, severity):
    """A plain folder whose first file stores the partition key too."""
    other = folder.split("=")[0] + "=9"
    case(name, [(folder + "/a.parquet", 100, parquet([UID, EVT, DUR, column], 2)), (other + "/b.parquet", 100, GOOD)],
         severity, ["partition_column_in_file" + (":info" if severity == OK else "")])


def text(*values, key="city"):
    return (key, "binary", "string", True, list(values), None)


keyed("M270-percent-in-the-folder", "city=New%20York", text("New York", "New York"), OK)
keyed("M271-percent-in-the-file", "city=New%20York", text("New%20York", "New%20York"), WARNING)
keyed("M272-percent-in-the-key", "a%20b=x", text("x", "x", key="a b"), OK)
keyed("M273-padded-number", "hour=01", ("hour", "int32", None, True, [1, 1], None), OK)
keyed("M274-another-number", "hour=01", ("hour", "int32", None, True, [2, 2], None), WARNING)
keyed("M275-within-what-it-holds", "hour=14", ("hour", "int32", None, True, [13, 15], None), OK)
keyed("M276-outside-of-what-it-holds", "hour=14", ("hour", "int32", None, True, [15, 18], None), WARNING)
keyed("M277-text-outside", "city=Bern", text("Chur", "Genf"), WARNING)
keyed("M278-no-number-in-the-folder", "hour=abc", ("hour", "int32", None, True, [1, 2], None), WARNING)
keyed("M279-values-in-the-folder-of-null", "hour=__HIVE_DEFAULT_PARTITION__", ("hour", "int32", None, True, [1, 1], None), WARNING)
keyed("M280-an-instant-has-a-zone", "ts=2026-01-01 02%3A00%3A00", ("ts", "int64", "ts_us_utc", True, [T0 * 10**6] * 2, None), OK)
keyed("M281-a-fraction", "v=1.50", ("v", "double", None, True, [1.5, 1.5], None), OK)
keyed("M282-only-nulls-in-the-key", "city=Bern", text(None, None), OK)

# --- finished batches and the commits that name them ---
def batch(n, at=1600, **more):
    told = {"batch_id": f"batch-{n:06}.parquet", "status": "completed", "end_time": iso(at), "num_records": 2, **more}
    return (f"processed/batch-{n:06}.json", at, J({k: v for k, v in told.items() if v is not None}))


def finished(name, severity, findings, *more, without=()):
    case(name, drop(rep(std(4), of_batch(2, batch_id="batch-000001.parquet"), *more), *without), severity, findings)


finished("M290-named-by-its-commit", OK, [], batch(1))
finished("M291-named-by-the-staged-file", OK, [], batch(1), batch(2),
         of_batch(3, source="s3://x/staging/2026-01-01/00/batch-000002.parquet"))
finished("M292-named-without-its-ending", OK, [], batch(1), batch(2), of_batch(3, batchId="batch-000002"))
finished("M293-others-are-named", WARNING, ["processed_without_result"], batch(1), batch(2))
finished("M294-none-is-named", OK, ["processed_without_result:info"], batch(2), batch(3))
finished("M295-for-15-minutes", OK, [], batch(1), batch(2, 2700))
finished("M296-an-entry-is-gone-that-may-name-it", WARNING, ["missing_transaction_log_entry", "processed_without_result:info"], batch(1), batch(2),
         without=["_transactions/txn-3.json"])
finished("M297-older-than-the-log", OK, ["history_truncated:info"], batch(1), batch(2, 300), without=["_transactions/txn-1.json"])
finished("M298-named-by-what-is-not-committed", WARNING, ["processed_without_result", "uncommitted_transaction"], batch(1), batch(2),
         of_batch(4, batch_id="batch-000002.parquet"), ("last_committed_txn", 600, "txn-3\n"))
finished("M299-its-files-were-removed-since", OK, [], batch(1), txn(5, 598, [remove(P(2))]), ("last_committed_txn", 600, "txn-5\n"),
         man(5, iso(600), [P(1), P(3), P(4)]))
case("M300-marker-named-by-its-file", std(2) + [("staging/2026-01-01/00/batch-000007.parquet", 1500, GOOD), batch(7, batch_id=None, num_records=0)],
     OK, [], staging_files=0)
case("M301-marker-that-is-no-object", std(2) + [("processed/x.json", 1500, "[1]")], OK, [])

# --- sizes that no file has ---
case("M302-size-of-2-to-the-63", rep(std(2), entries({"size": 2**63 - 1})), ERROR, ["size_mismatch"], sizes=False)
case("M303-size-and-2-to-the-48", rep(std(2), entries({"size": 2**48 + len(GOOD)})), ERROR, ["size_mismatch"], sizes=False)

case("M90-no-table", [("notes.txt", 0, "a")], UNKNOWN, ["no_table_found"])

# --- as other writers spell it ---
for number, form in enumerate(("2026-01-01T00:10:00.000+0000", "2026-01-01T09:10:00+0900", "2026-01-01 01:10:00+01", "2026-01-01T00:10Z",
                               "2025-12-31T16:10-08:00", str(T0 + 600), str((T0 + 600) * 1000))):
    case(f"M310-instant-{number}", with_head(std(2), last_updated=form), OK, [], manifest_age_seconds=-10)
    case(f"M311-instant-of-an-entry-{number}", rep(std(2), entry(2, 595, timestamp=form.replace("00:10:00", "00:09:55"))), OK, [])
case("M312-numbers-with-a-point", with_head(rep(std(2), ("manifest.json", 600, MANIFEST[2].replace(str(len(GOOD)), f"{len(GOOD)}.0"))), version=2.0),
     OK, [], sizes=False, version=2, files=2)
case("M313-half-a-byte", rep(std(2), ("manifest.json", 600, MANIFEST[2].replace(str(len(GOOD)), f"{len(GOOD)}.5"))), ERROR,
     ["manifest_unreadable"], sizes=False)
case("M314-metadata-that-is-text", rep(std(2), entry(2, 595, commitMetadata="by hand")), OK, [])
NO_LOG = drop(std(3), *[f"_transactions/txn-{i}.json" for i in (1, 2, 3)])
case("M315-no-log-and-a-number", NO_LOG, ERROR, ["missing_transaction_log_entry"], warnings_contain=["missing_transaction_log_entry: txn-3"])
case("M316-no-log-and-a-padded-number", rep(NO_LOG, ("last_committed_txn", 600, "load_000003")), ERROR, ["missing_transaction_log_entry"],
     warnings_contain=["missing_transaction_log_entry: load_000003"])
case("M317-no-log-but-a-checkpoint", NO_LOG + [("_transactions/txn-3.checkpoint.json", 600, "{}")], OK, [], latest_transaction="txn-3")
case("M318-status-in-capitals", std(2) + [("staging/2026-01-01/00/batch-000001.parquet", 1000, GOOD),
     ("processed/batch-000001.json", 3500, J({"batch_id": "batch-000001.parquet", "status": "COMPLETED", "num_records": 2}))], OK, [],
     staging_files=0)

# --- files that are younger than the grace time, and what writers leave behind in plain folders ---
PLAIN = [("date=2026-01-01/part-0.parquet", 100, GOOD)]
for name, content in (("half-written", GOOD[:len(GOOD) // 2]), ("four-bytes", b"PAR1"), ("text", b"hello world, not parquet")):
    for age, is_told in ((0, False), (30, False), (60, False), (61, True)):
        for folder in ("date=2026-01-01", "date=2026-01-02"):
            case(f"M300-plain-{name}-{age}s-{folder[-2:]}", PLAIN + [(folder + "/part-1.parquet", 3600 - age, content)],
                 ERROR if is_told else OK, ["corrupt_data_file"] if is_told else [], files=2)
case("M301-plain-young-and-whole", PLAIN + [("date=2026-01-01/part-1.parquet", 3590, GOOD)], OK, [], files=2)
case("M302-listed-half-written", rep(std(2), pq(2, 3570, GOOD[:200])), OK, [], sizes=True)
case("M303-listed-and-cut", rep(std(2), pq(2, 530, GOOD[:200])), ERROR, ["corrupt_data_file"], sizes=True)
case("M304-plain-in-the-future", PLAIN + [("date=2026-01-01/part-1.parquet", 3600 + 7200, b"PAR1")], ERROR, ["corrupt_data_file", "clock_skew"])
LEFT = ("_temp/x.parquet", "_temp/a/b.parquet", "_temporary/0/task/part-0.parquet", "date=2026-01-01/_temporary/0/part-0.parquet",
        "date=2026-01-01/.part-9.parquet", "_part-9.parquet", "date=2026-01-01/part-9.parquet.tmp")
for number, path in enumerate(LEFT):
    for what, lies in (("plain", PLAIN), ("manifest", std(2))):
        case(f"M305-{what}-leftover-{number}", lies + [(path, 3500, GOOD)], OK, ["leftover_temp:info"], files=len(lies) if what == "plain" else 2)
        case(f"M305-{what}-leftover-{number}-young", lies + [(path, 3540, GOOD)], OK, [])


def build(out):
    for c in CASES:
        folder = os.path.join(out, c["id"])
        for path, at, content in c["files"]:
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as f:
                f.write(content.encode() if isinstance(content, str) else content)
            os.utime(target, (T0 + at, T0 + at))
        with open(folder + ".expected.json", "w") as f:
            json.dump({k: c[k] for k in ("id", "now", "expected")}, f)


if __name__ == "__main__":
    build(sys.argv[1])
    print(len(CASES), "cases")
