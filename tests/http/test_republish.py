#!/usr/bin/env python3
"""A log entry never changes: republish leaves right ones as they are, also where the catalog cannot tell any more what their commits
did, since a recovery took a snapshot for the versions before."""
import json, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "cases"), HERE]
from make_cases import GOOD
from tarn import TARN, Server, await_true, folder, main
from test_recover import Case, readers_files

# A history that ends early: the sweep of a start takes what five versions do not need.
FLAGS = ("--history-retention", "0s", "--history-versions", "5", "--scan-interval", "1h")
CUT = 8      # the checkpoint that the log begins with
NEWEST = 12  # the newest version when it is cut


def write(location, path, content=GOOD):
    target = os.path.join(location, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as f:
        f.write(content if isinstance(content, bytes) else json.dumps(content).encode())


def old(n):
    return {"path": f"d=0/old-{n}.parquet", "size": len(GOOD)}


def log(location):
    """What lies in the log: file by file who it is and what it says."""
    found = {}
    for name in os.listdir(f"{location}/_transactions"):
        path = f"{location}/_transactions/{name}"
        stat = os.stat(path)
        with open(path, "rb") as f:
            found[name] = (stat.st_ino, stat.st_mtime_ns, f.read())
    return found


def lose(data):
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(f"{data}/tarn.sqlite{suffix}"):
            os.remove(f"{data}/tarn.sqlite{suffix}")


class CutLog:
    """A table that somebody else began and Tarn took over at version 2; its log begins with a checkpoint of version 8, and the catalog
    is rebuilt from that. Each version adds a file; 8 removes one too, and 10 one of those from before."""

    def __init__(self, home):
        self.data, self.location = f"{home}/data", f"{home}/data/lake/t"
        for n in (1, 2):
            write(self.location, old(n)["path"])
            write(self.location, f"_transactions/txn-{n}.json", {"id": f"txn-{n}", "operations": [{"type": "add_file", **old(n)}]})
        write(self.location, "manifest.json", {"version": 2, "files": [old(1), old(2)]})
        write(self.location, "last_committed_txn", b"txn-2")
        self.start(Server(self.data, *FLAGS))
        status, answer = self.client.call("POST", "/api/tables", {"name": "t", "location": self.location})
        assert status == 201 and answer["version"] == 2, answer
        for n in range(3, CUT + 1):
            self.commit(n, ["d=1/f-7.parquet"] if n == CUT else [])
        assert self.republish()["writes"] == [f"_transactions/txn-{CUT}.checkpoint.json"] # for the log from before
        for n in range(CUT + 1, NEWEST + 1):
            self.commit(n, [old(1)["path"]] if n == 10 else [])
        self.server.stop()
        self.start(self.server)
        await_true("the log is cut", lambda: f"txn-{CUT - 1}.json" not in os.listdir(f"{self.location}/_transactions"))
        self.server.stop()
        lose(self.data)
        done = subprocess.run([TARN, "recover", "--data", self.data, "--json", f"{self.data}/lake"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["tables"][0]["oldest_version"] == CUT, done.stdout

    def start(self, server):
        self.server = server.start()
        self.client = server.client()

    def commit(self, n, removes):
        path = f"d=1/f-{n}.parquet"
        write(self.location, path)
        status, answer = self.client.call("POST", "/api/table/t/commits", {"expected_version": n - 1, "operations": [
            {"type": "remove_file", "path": p} for p in removes] + [{"type": "add_file", "path": path, "size": len(GOOD)}]})
        assert status == 201 and answer["published"] and answer["transaction"] == f"txn-{n}", answer

    def republish(self):
        status, answer = self.client.call("POST", "/api/table/t/repair", {"plan": "republish", "dry_run": False})
        assert status == 200, answer
        return answer

    def files(self):
        return {f["path"] for f in self.client.get("/api/table/t/files")["files"]}


def a_rebuilt_catalog_leaves_the_entries_of_a_cut_log_as_they_are():
    with folder() as home:
        table = CutLog(home)
        before = log(table.location)
        table.start(table.server)
        status, answer = table.client.call("POST", "/api/table/t/check?depth=sweep")
        assert not [f for f in answer["findings"] if f["severity"] != "info"], answer["findings"]
        answer = table.republish()
        assert (answer["writes"], answer["moves"]) == ([], []), answer
        assert log(table.location) == before
        entry = table.client.get(f"/api/table/t/commits/txn-{CUT}")
        assert [op["path"] for op in entry["operations"]] == ["d=1/f-7.parquet", f"d=1/f-{CUT}.parquet"], entry
        assert readers_files(table.location) == table.files()
        table.server.stop()


def an_entry_is_not_made_up_from_a_snapshot():
    """Gone, or damaged: the checkpoint of its version stands for it."""
    for damage in (None, b"", b'{"id": "txn-8", "operations": ['):
        with folder() as home:
            table = CutLog(home)
            path = f"{table.location}/_transactions/txn-{CUT}.json"
            os.remove(path)
            if damage is not None:
                write(table.location, f"_transactions/txn-{CUT}.json", damage)
            table.start(table.server)
            answer = table.republish()
            assert answer["writes"] == [] and not os.path.exists(path), answer
            assert [m["from"] for m in answer["moves"]] == ([f"_transactions/txn-{CUT}.json"] if damage is not None else []), answer
            assert readers_files(table.location) == table.files()
            status, answer = table.client.call("POST", "/api/table/t/check?depth=sweep")
            assert not [f for f in answer["findings"] if f["severity"] != "info"], answer["findings"]
            table.server.stop()


def recovered(home, with_checkpoint):
    """A backup of version 5 over a log of ten versions that lacks 7 and what is left out; with a checkpoint of version 8 for a snapshot
    that nobody else tells, or with the manifest of version 10."""
    case = Case(home)
    case.put_back()
    os.remove(case.entry(7))
    if with_checkpoint:
        with open(f"{case.table}/manifest.json") as f:
            document = json.load(f)
        files = [f for f in document["files"] if f["path"] in case.expect(range(1, 9))]
        write(case.table, "_transactions/txn-8.checkpoint.json", {**document, "version": 8, "transaction": "txn-8", "files": files})
        os.remove(f"{case.table}/manifest.json")
    case.start()
    status, answer = case.recover(run=True)
    assert status == 201 and answer["to_version"] == 10, answer
    return case


def the_entry_after_a_recovered_hole_stays_as_it_is():
    for with_checkpoint, after_hole in ((False, 10), (True, 8)):
        with folder() as home:
            case = recovered(home, with_checkpoint)
            await_true("published", lambda: case.row()["block"] or case.row()["published_version"] == 10)
            assert case.row()["block"] is None, case.row()
            status, answer = case.client.call("POST", "/api/table/t/check?depth=sweep")
            assert "foreign_write" not in {f["code"] for f in answer["findings"]}, answer["findings"]
            name = f"txn-{after_hole}.json"
            before = log(case.table)[name]
            status, answer = case.client.call("POST", "/api/table/t/repair", {"plan": "republish", "dry_run": False})
            assert status == 200 and answer["writes"] == [], answer
            assert log(case.table)[name] == before
            case.goes_on()
            assert readers_files(case.table) == case.files()
            case.server.stop()


if __name__ == "__main__":
    main(a_rebuilt_catalog_leaves_the_entries_of_a_cut_log_as_they_are, an_entry_is_not_made_up_from_a_snapshot,
         the_entry_after_a_recovered_hole_stays_as_it_is)
