#!/usr/bin/env python3
"""A finding is open, then a document can no longer be read: the finding stays, and nothing else is told but the document. When
the document is there again and the fault is mended, both end. Every fault of tests/cases/seeded_faults.py with every tear.

TORN_ONLY takes those whose names hold a text."""
import os, random, sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "cases")]
from seeded_faults import FAULTS
from seeded_lake import HOURS, LAST, entry_of, path_of
from tarn import folder, main
from test_seeded_faults import Lake, Watched

ONLY = os.environ.get("TORN_ONLY", "")
SHARE = os.environ.get("TORN_SHARE", "0.1")  # of all rows, chosen by chance; "1": all
SEED = int(os.environ.get("TORN_SEED", random.randrange(10**6)))
N = 5  # the commit that a fault hurts

# what is torn, how (None: it is gone), what is told of it
TEARS = [
    ("manifest.json", b'{"version": 1', {("manifest_unreadable", "error", "manifest.json")}),
    ("manifest.json", None, {("manifest_missing", "error", "manifest.json")}),
    ("last_committed_txn", b"%%% no id", {("pointer_unreadable", "warning", "last_committed_txn")}),
    ("last_committed_txn", None, {("pointer_missing", "warning", "last_committed_txn")}),
    ("schema.json", b'{"current', {("schema_unreadable", "warning", "schema.json")}),
    (entry_of(3), b'{"id": "txn', {("unreadable_transaction_log_entry", "warning", "txn-3")}),
    (entry_of(3), None, {("missing_transaction_log_entry", "warning", "txn-3")}),
    (entry_of(8), b'{"id": "txn', {("unreadable_transaction_log_entry", "warning", "txn-8")}),
    (entry_of(8), None, {("missing_transaction_log_entry", "warning", "txn-8")}),
    (entry_of(HOURS), b"", {("unreadable_transaction_log_entry", "error", f"txn-{HOURS}")}),
    (entry_of(HOURS), None, {("missing_transaction_log_entry", "error", f"txn-{HOURS}")}),
]


TEARS += [(entry_of(n), b'{"id": "txn', {("unreadable_transaction_log_entry", "warning", "txn-%d" % n)}) for n in (N - 1, N, N + 1)]
TEARS.append(("_transactions/copy-%d.json" % N, b'{"id": "txn',  # which number it is a copy of nobody knows then
              {("unreadable_transaction_log_entry", "warning", "copy-%d" % N), ("gap_check_disabled", "info", "_transactions")}))
TEARS.append(("processed/2026-01-01/batch-%06d.json" % N, b'{"batch', set()))


def tear(model, path, content):
    """As it was, to be put back."""
    was = model.docs.get(path)
    if content is None:
        del model.docs[path]
    else:
        model.put(path, content, LAST)
    return was


def write(table):
    """What changed, and nothing else: a scan may be under way."""
    there = {path: lies for path, lies in table.model.docs.items() if table.lying.get(path) != lies}
    gone = table.lying.keys() - table.model.docs.keys()
    table.lying = dict(table.model.docs)
    every, table.model.docs = table.model.docs, there
    for path in gone:
        os.remove(table.at(path))
    table.model.write(table.folder)
    table.model.docs = every


def told(table):
    severity, found = table.judge()
    return set(found)


def found_form(model):
    """As the founding text writes them: neither manifest nor entries tell versions, uuids, or how far they are."""
    for path in [p for p in model.docs if p == "manifest.json" or p.startswith("_transactions/")]:
        model.edit(path, lambda d: [d.pop(key, None) for key in ("transaction", "table_uuid", "catalog", "dataChange")] and None)
    model.truth = dict(model.docs)


def trial(lake, fault, path, content, named, found):
    table = Watched(lake, hours=HOURS, breaks=found_form if found else lambda model: None)
    table.lying = dict(table.model.docs)
    try:
        found = told(table)
        assert not found, f"healthy: {found}"
        fault.breaks(table.model, N)
        write(table)
        before = told(table)
        if path not in table.model.docs or table.model.docs[path][1] == content:
            return
        was = tear(table.model, path, content)
        write(table)
        after = told(table)
        for finding in sorted(before - after):
            yield f"ended: {finding}"
        for finding in sorted(after - before - named):
            yield f"told besides: {finding}"
        for finding in sorted(named - after):
            yield f"not told: {finding}"
        table.model.docs[path] = was
        fault.cure(table.model, N)
        write(table)
        found = {f for f in told(table) if f[1] != "info"}
        if found:
            yield f"after the cure: {found}"
    except AssertionError as why:
        yield str(why)
    finally:
        table.client.close()


def rows():
    for fault in FAULTS:
        if fault.severity:
            continue
        for path, content, named in TEARS:
            doc = {"manifest.json": "manifest", "last_committed_txn": "pointer", "schema.json": "schema", entry_of(HOURS): "newest"}.get(path, "entry:" + path)
            spoils = {doc} | ({"manifest." + u.split(".")[1] for u in fault.uses if u.startswith("manifest.")} if doc == "manifest" else set())
            if fault.uses & {doc} or (doc == "newest" and "above" in fault.uses):
                continue
            if (fault.name, path) == ("the oldest entries gone", entry_of(3)):
                continue  # nobody tells any more what it removed, and a longer prefix is no hole
            yield fault, path, content, named, False
            if not fault.uses & {"entry", "pointer"}:  # some of these are none without what is left out
                yield fault, path, content, named, True


def nothing_that_was_found_ends_because_something_cannot_be_read():
    chosen = [row for row in rows() if ONLY in row[0].name + " / " + row[1]]
    random.seed(SEED)
    if SHARE != "1" and not ONLY:
        chosen = random.sample(chosen, int(len(chosen) * float(SHARE)))
    failed = []
    with folder() as place:
        lake = Lake(place)
        with ThreadPoolExecutor(max_workers=4) as pool:
            for (fault, path, content, _, form), faults in zip(chosen, pool.map(lambda row: list(trial(lake, *row)), chosen)):
                failed += [f"{fault.name} / {path} {'gone' if content is None else 'torn'}{' (founding form)' * form}: {line}" for line in faults]
        lake.server.stop()
    print(f"     {len(chosen)} rows, TORN_SEED={SEED}")
    assert not failed, "\n".join(failed)


def a_table_is_not_late_because_its_newest_commit_cannot_be_read():
    """The newest commit is half an hour old, the one before it an hour and a half."""
    newest = entry_of(HOURS)
    with folder() as place:
        lake = Lake(place)
        for warning, content, is_late in (("45m", None, False), ("45m", b"", False), ("45m", b"{", False), ("20m", b"{", True), ("20m", None, True)):
            table = Watched(lake, hours=HOURS)
            table.lying = dict(table.model.docs)
            table.api("", {"monitors": {"freshness": {"warning": warning}}}, "PATCH")
            late = {("freshness", "warning", "table")}
            assert told(table) == (late if is_late else set())
            tear(table.model, newest, content)
            write(table)
            after = {f for f in told(table) if f[2] != f"txn-{HOURS}"}
            assert after == (late if is_late else set()), (warning, content, after)
        lake.server.stop()


def a_probe_that_reads_the_newest_entries_ends_nothing_that_older_ones_tell():
    many, old = 1100, 5  # a probe reads 1,000

    def spoil(model):
        model.relist(lambda files: [f for f in files if f["path"] != path_of(old)])
        model.edit(entry_of(old), lambda e: e.update(timestamp=model.iso((old - 1) * 3600 - 7200), table_uuid="another", version=1))
        for k in (old + 2, old + 3):
            model.edit(entry_of(k), lambda e: e.update(batch_ids=["2026-01-01/batch-000001.parquet"]))

    with folder() as place:
        lake = Lake(place)
        table = Watched(lake, hours=many, breaks=spoil)
        wanted = {("committed_file_not_in_manifest", "error", path_of(old)), ("transaction_time_regression", "warning", f"txn-{old}"),
                  ("transaction_of_another_table", "warning", f"txn-{old}"), ("transaction_version_mismatch", "warning", f"txn-{old}"),
                  ("duplicate_batch", "warning", "2026-01-01/batch-000001.parquet")}
        assert told(table) == wanted, told(table) ^ wanted
        for n in range(3):
            found = {(f["code"], f["severity"], f["subject"]) for f in table.api("/check?depth=probe")["findings"]}
            assert found == wanted, (n, found ^ wanted)
        table.model.docs = dict(table.model.truth)
        table.write()
        assert told(table) == set()
        lake.server.stop()


if __name__ == "__main__":
    main(nothing_that_was_found_ends_because_something_cannot_be_read, a_table_is_not_late_because_its_newest_commit_cannot_be_read,
         a_probe_that_reads_the_newest_entries_ends_nothing_that_older_ones_tell)
