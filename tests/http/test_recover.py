#!/usr/bin/env python3
"""POST .../recover: a restored backup over a log with holes, foreign and damaged entries."""
import glob, json, os, shutil, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from answers import Writer
from tarn import TARN, Server, await_true, folder, main


class Case:
    """A table t of five versions at the backup and ten at the end; then the server is killed and the backup put back."""

    def __init__(self, home, later=5):
        self.data = os.path.join(home, "data")
        self.server = Server(self.data).start()
        self.writer = Writer(self.server.client(), f"{self.data}/lake", seed=3)
        self.writer.register("t")
        self.paths = {}
        for _ in range(5):
            self.commit()
        self.backup = os.path.join(home, "backup.sqlite")
        subprocess.run([TARN, "backup", self.backup, "--url", f"http://127.0.0.1:{self.server.port}", "--token", self.server.token],
                       check=True, stdout=subprocess.DEVNULL)
        for _ in range(later):
            self.commit()
        self.table = f"{self.data}/lake/t"
        self.last = 5 + later

    @property
    def client(self):
        return self.writer.client

    def commit(self, remove=None):
        """Version n adds one file."""
        op = self.writer.file("t")
        ops = [op] + ([{"type": "remove_file", "path": remove}] if remove else [])
        answer = self.writer.must("POST", "/api/table/t/commits", {"operations": ops, "expected_version": len(self.paths)})
        self.paths[answer["version"]] = op["path"]
        assert answer["published"], answer

    def put_back(self):
        self.server.kill()
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(f"{self.data}/tarn.sqlite{suffix}"):
                os.remove(f"{self.data}/tarn.sqlite{suffix}")
        shutil.copyfile(self.backup, f"{self.data}/tarn.sqlite")

    def start(self):
        self.server.start()
        self.writer.client = self.server.client()

    def row(self):
        return self.client.get("/api/table/t")

    def files(self, version=None):
        return {f["path"] for f in self.client.get("/api/table/t/files" + (f"?version={version}" if version else ""))["files"]}

    def expect(self, versions):
        return {self.paths[v] for v in versions}

    def entry(self, version):
        return f"{self.table}/_transactions/txn-{version}.json"

    def recover(self, run=False):
        status, answer = self.client.call("POST", "/api/table/t/recover", {"dry_run": not run})
        return status, answer

    def refused(self, code="storage_ahead"):
        status, answer = self.client.call("POST", "/api/table/t/commits", {"operations": [self.writer.file("t")]})
        assert status == 409 and answer["code"] == code, answer

    def goes_on(self):
        """The next commit works, is published, and the log on disk says what the catalog says."""
        version = self.row()["version"]
        op = self.writer.file("t")
        status, answer = self.client.call("POST", "/api/table/t/commits", {"operations": [op]})
        assert status == 201 and answer["version"] == version + 1, answer
        await_true("published", lambda: self.row()["published_version"] == version + 1)
        with open(f"{self.table}/manifest.json") as f:
            manifest = json.load(f)
        assert {f["path"] for f in manifest["files"]} == self.files() and manifest["version"] == version + 1
        assert self.row()["block"] is None


def readers_files(table):
    """docs/FORMAT.md: the newest checkpoint, then the entries of higher versions."""
    files, at = {}, -1
    for path in glob.glob(f"{table}/_transactions/*.checkpoint.json"):
        with open(path) as f:
            checkpoint = json.load(f)
        if checkpoint["version"] > at:
            at, files = checkpoint["version"], {f["path"] for f in checkpoint["files"]}
    entries = []
    for path in glob.glob(f"{table}/_transactions/*.json"):
        if not path.endswith(".checkpoint.json"):
            with open(path) as f:
                entries.append(json.load(f))
    files = set(files)
    for entry in sorted((e for e in entries if "version" in e), key=lambda e: e["version"]): # others are from before Tarn
        if entry["version"] <= at:
            continue
        for op in entry["operations"]:
            (files.add if op["type"] == "add_file" else files.discard)(op["path"])
    return files


def without_holes_there_is_nothing_left_to_do():
    with folder() as home:
        case = Case(home)
        case.put_back()
        case.start()
        assert case.row()["version"] == 10 and case.files() == case.expect(range(1, 11))
        for run in (False, True):
            status, answer = case.recover(run)
            assert status == 200 and answer["versions"] == 0 and answer["complete"] and not answer["changed"], answer
            assert (answer["from_version"], answer["to_version"], answer["lost_versions"], answer["block"]) == (10, 10, [], None)
        case.goes_on()
        case.server.stop()


def a_hole_stops_commits_until_the_manifest_is_taken():
    with folder() as home:
        case = Case(home)
        case.put_back()
        os.remove(case.entry(7))
        case.start()
        row = case.row()
        assert row["version"] == 5 and row["block"] == "storage_ahead", row
        case.refused()
        status, plan = case.recover()
        assert status == 200 and plan["dry_run"] and not plan["complete"] and "7" in plan["reason"], plan
        assert plan["from_version"] == 5 and plan["to_version"] == 10 and plan["snapshots"] == [10], plan
        assert plan["lost_versions"] == [{"from": 7, "to": 9}] and plan["versions"] == 2, plan
        assert case.row() == row
        status, done = case.recover(run=True)
        assert status == 201 and done["changed"] and done["block"] is None and done["to_version"] == 10, done
        assert done["status"]["version"] == 10, done
        assert case.files() == case.expect(range(1, 11)) and case.files(6) == case.expect(range(1, 7))
        for lost in (7, 8, 9):
            status, answer = case.client.call("GET", f"/api/table/t/files?version={lost}")
            assert status == 404 and answer["code"] == "version_not_found", answer
        history = case.client.get("/api/table/t/commits")["commits"]
        assert [c["version"] for c in history] == [10, 6, 5, 4, 3, 2, 1], history
        assert history[0]["transaction"] == "txn-10"
        case.goes_on()
        assert readers_files(case.table) == case.files()
        case.server.stop()
        case.start() # and it stays so
        assert case.row()["version"] == 11 and case.row()["block"] is None
        case.server.stop()


def without_a_manifest_what_still_fits_is_taken():
    with folder() as home:
        case = Case(home)
        case.put_back()
        os.remove(case.entry(7))
        os.remove(f"{case.table}/manifest.json")
        case.start()
        case.refused()
        status, plan = case.recover()
        assert plan["lost_versions"] == [{"from": 7, "to": 7}] and plan["snapshots"] == [] and plan["to_version"] == 10, plan
        status, done = case.recover(run=True)
        assert status == 201, done
        assert case.files() == case.expect(set(range(1, 11)) - {7})
        case.goes_on()
        # The file of the lost version is there, and told.
        status, answer = case.client.call("POST", "/api/table/t/repair", {"plan": "register", "paths": [case.paths[7]]})
        assert status == 200, answer
        case.server.stop()


def what_does_not_follow_stays_out():
    with folder() as home:
        case = Case(home, later=1)
        case.commit()                          # 7
        case.commit(remove=case.paths[7])      # 8 removes what 7 added
        case.put_back()
        os.remove(case.entry(7))
        os.remove(f"{case.table}/manifest.json")
        case.start()
        status, answer = case.recover(run=True)
        assert status == 409 and answer["code"] == "storage_ahead" and "version 8" in answer["detail"], answer
        assert answer["path"] == case.paths[7], answer
        assert case.row()["version"] == 6 and case.row()["block"] == "storage_ahead"
        assert case.files() == case.expect(range(1, 7))
        case.refused()
        case.server.stop()


def another_history_is_not_mixed_with_the_catalog_s():
    """Two servers went on from one backup: version 6 of the catalog is not the one of storage."""
    with folder() as home:
        case = Case(home, later=0)
        copy = f"{home}/copy"
        shutil.copytree(case.table, copy)
        for _ in range(5):
            case.commit()
        case.put_back()
        aside = f"{home}/aside"
        shutil.move(case.table, aside)
        shutil.move(copy, case.table)
        case.start()
        answer = case.writer.must("POST", "/api/table/t/commits", {"transaction_id": "mine", "operations": [case.writer.file("t")]})
        assert answer["version"] == 6, answer
        case.server.kill()
        shutil.rmtree(case.table)
        shutil.move(aside, case.table)
        case.start()
        await_true("looked at in the background", lambda: case.row()["block"] == "storage_ahead")
        assert case.row()["version"] == 6
        case.refused()
        status, plan = case.recover()
        assert not plan["complete"] and "another version 6" in plan["reason"] and plan["snapshots"] == [10], plan
        status, done = case.recover(run=True)
        assert status == 201 and done["block"] is None and case.row()["version"] == 10, done
        assert case.files() == case.expect(range(1, 11))
        case.goes_on()
        case.server.stop()


def entries_of_others_are_no_history():
    with folder() as home:
        case = Case(home, later=2)
        case.put_back()
        log = f"{case.table}/_transactions"
        with open(f"{log}/txn-8.json", "w") as f:
            json.dump({"id": "txn-8", "version": 8, "catalog": "other", "table_uuid": "other", "operations": []}, f)
        with open(f"{log}/txn-9.json", "w") as f:
            f.write('{"id": "txn-9", "operations": [')
        case.start()
        assert case.row()["version"] == 7 and case.row()["block"] is None
        case.goes_on()
        assert case.row()["latest_transaction"] == "txn-10" # both ids are taken
        case.server.stop()


def a_foreign_manifest_is_not_recovered():
    with folder() as home:
        case = Case(home)
        case.put_back()
        with open(f"{case.table}/manifest.json") as f:
            manifest = json.load(f)
        manifest["files"].append({"path": "x.parquet", "size": 1})
        with open(f"{case.table}/manifest.json", "w") as f:
            json.dump(manifest, f)
        case.start()
        row = case.row()
        assert row["version"] == 10 and row["block"] == "foreign_write", row
        assert case.files() == case.expect(range(1, 11))
        case.refused("foreign_write")
        case.server.stop()


def only_admins_recover():
    with folder() as home:
        case = Case(home, later=0)
        writer = subprocess.run([TARN, "token", "create", "--name", "w", "--scope", "catalog:write", "--url",
                                 f"http://127.0.0.1:{case.server.port}", "--token", case.server.token], check=True,
                                capture_output=True, text=True).stdout.strip()
        status, answer = case.client.call("POST", "/api/table/t/recover", {}, headers={"Authorization": "Bearer " + writer})
        assert status == 403, answer
        for body, field in (({"dry_run": 1}, "dry_run"), ({"run": True}, "run")):
            status, answer = case.client.call("POST", "/api/table/t/recover", body)
            assert status == 400 and answer["field"] == field, answer
        status, answer = case.client.call("POST", "/api/table/t/recover")
        assert status == 200 and answer["dry_run"], answer
        os.mkdir(f"{case.data}/lake/o")
        case.writer.must("POST", "/api/tables", {"name": "o", "location": f"{case.data}/lake/o", "mode": "observed"})
        status, answer = case.client.call("POST", "/api/table/o/recover", {})
        assert status == 409 and answer["code"] == "table_not_managed", answer
        case.server.stop()


def contents(table):
    """Every document of a folder, byte for byte, with its times."""
    out = {}
    for root, _, names in os.walk(table):
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as f:
                out[path] = (f.read(), os.stat(path).st_mtime_ns)
    return out


def a_restored_copy_looks_and_writes_nothing():
    """Two servers at once: the one that owns the lake, and a copy of its database beside it."""
    with folder() as home:
        case = Case(home, later=0)
        for _ in range(3):
            case.commit()
        lake, copy = f"{case.data}/lake", f"{home}/copy"
        os.mkdir(copy)
        shutil.copyfile(case.backup, f"{copy}/tarn.sqlite")
        shutil.copy(f"{case.data}/admin.token", copy)
        lay = contents(case.table)
        second = Server(copy, "--restored-copy", "--root", lake, "--root", f"{copy}/lake").start()
        client = second.client()
        row = client.get("/api/table/t")
        assert row["version"] == 5 and row["publish"] is False and row["uuid"] == case.row()["uuid"], row
        own = client.get("/api/table/t/commits/txn-1")["catalog"]
        assert own != case.client.get("/api/table/t/commits/txn-1")["catalog"]
        assert client.call("POST", "/api/table/t/check?depth=sweep")[0] == 200
        status, answer = client.call("POST", "/api/table/t/commits", {"operations": [{"type": "add_file", "path": "mine.parquet", "size": 1}]})
        assert status == 201 and answer["published"] is False, answer
        status, answer = client.call("POST", "/api/tables", {"name": "n", "location": f"{copy}/lake/n"})
        assert status == 201, answer
        assert contents(case.table) == lay
        case.commit() # the owner goes on
        assert case.row()["block"] is None
        lay = contents(case.table)
        assert client.call("PATCH", "/api/table/t", {"publish": True})[0] == 200
        status, answer = client.call("POST", "/api/table/t/commits", {"operations": [{"type": "add_file", "path": "b.parquet", "size": 1}]})
        assert status == 409 and answer["code"] == "foreign_write", answer
        assert contents(case.table) == lay
        # The flag may stay: the next start finds a copy already.
        second.stop()
        second.start()
        client = second.client()
        assert client.get("/api/table/n")["publish"] is True and client.get("/api/table/t/commits/txn-1")["catalog"] == own
        second.stop()
        assert contents(case.table) == lay
        case.commit()
        case.server.stop()


if __name__ == "__main__":
    main(without_holes_there_is_nothing_left_to_do, a_hole_stops_commits_until_the_manifest_is_taken,
         without_a_manifest_what_still_fits_is_taken, what_does_not_follow_stays_out, another_history_is_not_mixed_with_the_catalog_s,
         entries_of_others_are_no_history, a_foreign_manifest_is_not_recovered, only_admins_recover,
         a_restored_copy_looks_and_writes_nothing)
