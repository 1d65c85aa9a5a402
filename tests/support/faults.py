"""Healthy managed tables, and the faults that break them: what each one does, the code that must name it, and how it is cured.

    with folder() as data:
        lake = Lake(data)
        table = lake.table("t")
        FAULTS["unregistered_data_file"].strike(table)
        cure(table, check(table))

A fault is cured by what its finding's `cure` says, with the finding's subject where the plan takes names; nothing else is known
to cure() of it. Only the standard library."""
import json, os, shutil, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "cases")]
from make_cases import DUR, EVT, GOOD, UID, parquet
from tarn import Server

SCHEMA = {"type": "struct", "fields": [{"name": "user_id", "type": "int64", "nullable": False},
                                       {"name": "event_type", "type": "string", "nullable": False},
                                       {"name": "duration_seconds", "type": "double", "nullable": True}]}
# Readable, and of another size: three rows.
OTHER = parquet([("user_id", "int64", None, False, [1, 2, 3], None), ("event_type", "binary", "string", False, ["a", "b", "c"], None),
                 ("duration_seconds", "double", None, True, [1.5, 2.5, None], None)], 3)
OLD_SECONDS = 3600   # data files are written so long ago: none is within its grace time


class Table:
    """One managed table: its folder, its documents, its API."""

    def __init__(self, lake, name):
        self.lake, self.name, self.location = lake, name, f"{lake.root}/{name}"

    client = property(lambda self: self.lake.client)

    def path(self, *parts):
        return os.path.join(self.location, *parts)

    def url(self, rest=""):
        return f"/api/table/{self.name}{rest}"

    def write(self, path, content=GOOD, age=OLD_SECONDS):
        target = self.path(path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        os.utime(target, (time.time() - age,) * 2)
        return path

    def read(self, path):
        with open(self.path(path)) as f:
            return json.load(f)

    def remove(self, path):
        os.remove(self.path(path))

    def data(self, n):
        return f"date=2026-01-01/hour={n % 24:02}/data-{n:06}.parquet"

    def commit(self, n, **more):
        """The n-th file, with all that a writer should tell of it."""
        path = self.write(self.data(n), more.pop("content", GOOD))
        operation = {"type": "add_file", "path": path, "size": os.path.getsize(self.path(path)), "numRecords": 2,
                     "partitionValues": {"date": "2026-01-01", "hour": f"{n % 24:02}"},
                     "columnStats": {"user_id": {"min": 1000, "max": 5000, "nullCount": 0}}}
        status, answer = self.client.call("POST", self.url("/commits"), {"operations": [operation], **more})
        assert status == 201, answer
        return answer

    def get(self):
        return self.client.get(self.url())

    def files(self):
        return {f["path"]: f for f in self.client.get(self.url("/files"))["files"]}

    def check(self):
        """The fresh status of a sweep."""
        status, answer = self.client.call("POST", self.url("/check?depth=sweep"))
        assert status == 200, answer
        return answer

    def repair(self, plan, run=False, wanted=(200, 201), **more):
        status, answer = self.client.call("POST", self.url("/repair"), {"plan": plan, "dry_run": not run, **more})
        assert status in wanted, f"{plan}: {status} {answer}"
        return answer


class Lake:
    def __init__(self, data, *flags):
        self.data, self.root = data, os.path.join(data, "lake")
        self.server = Server(data, "--scan-interval", "1h", *flags).start()
        self.client = self.server.client()

    def restart(self):
        self.server.stop()
        self.server.start()
        self.client = self.server.client()

    def table(self, name, commits=4, **more):
        table = Table(self, name)
        status, answer = self.client.call("POST", "/api/tables",
                                          {"name": name, "location": table.location, "schema": SCHEMA,
                                           "partition_keys": ["date", "hour"], **more})
        assert status == 201, answer
        for n in range(1, commits + 1):
            table.commit(n)
        return table

    def stop(self):
        assert self.server.stop() == 0


# --- what can break ---

FAULTS = {}
PLANS_WITH_NAMES = {"register", "forget"}


class Fault:
    """`code`: what must name it. `also`: codes that come with it by nature."""

    def __init__(self, name, strike, code, also=()):
        self.name, self.strike, self.code, self.also = name, strike, code, set(also)


def fault(code, *also, name=None):
    def keep(strike):
        key = name or strike.__name__
        FAULTS[key] = Fault(key, strike, code, also)
        return strike
    return keep


@fault("unregistered_data_file")
def a_file_that_nobody_registered(table):
    table.write(table.data(901))


@fault("missing_data_file")
def a_data_file_that_is_gone(table):
    table.remove(table.data(2))


@fault("size_mismatch")
def a_data_file_of_another_size(table):
    table.write(table.data(2), OTHER)


@fault("corrupt_data_file")
def a_data_file_that_is_no_parquet(table):
    table.write(table.data(2), b"x" * len(GOOD))


# The log.

def entry(n):
    return f"_transactions/txn-{n}.json"


@fault("missing_transaction_log_entry")
def a_log_entry_that_is_gone(table):
    table.remove(entry(2))


@fault("missing_transaction_log_entry")
def two_log_entries_and_the_first_are_gone(table):
    for n in (1, 2, 3):
        table.remove(entry(n))


@fault("missing_transaction_log_entry")
def the_newest_log_entry_is_gone(table):
    table.remove(entry(table.get()["version"]))


@fault("missing_transaction_log_entry")
def the_whole_log_is_gone(table):
    shutil.rmtree(table.path("_transactions"))


@fault("unreadable_transaction_log_entry")
def a_log_entry_that_is_cut(table):
    with open(table.path(entry(2))) as f:
        text = f.read()
    table.write(entry(2), text[:len(text) // 2])


@fault("unreadable_transaction_log_entry")
def the_newest_log_entry_is_empty(table):
    table.write(entry(table.get()["version"]), "")


# Pointer, manifest, schema.

@fault("pointer_missing")
def a_pointer_that_is_gone(table):
    table.remove("last_committed_txn")


@fault("pointer_unreadable")
def a_pointer_that_is_no_id(table):
    table.write("last_committed_txn", "not an id\n")


@fault("pointer_mismatch")
def a_pointer_to_an_older_transaction(table):
    table.write("last_committed_txn", "txn-2\n")


@fault("pointer_mismatch")
def a_pointer_to_a_transaction_that_never_was(table):
    table.write("last_committed_txn", "txn-99\n")


@fault("manifest_missing")
def a_manifest_that_is_gone(table):
    table.remove("manifest.json")


@fault("manifest_unreadable", "foreign_write")
def a_manifest_that_is_cut(table):
    with open(table.path("manifest.json")) as f:
        text = f.read()
    table.write("manifest.json", text[:len(text) // 2])


@fault("foreign_write", "unregistered_data_file")
def a_manifest_that_an_old_writer_edited(table):
    document = table.read("manifest.json")
    document["version"] += 1
    document["files"].append({"path": table.write(table.data(700)), "size": len(GOOD)})
    table.write("manifest.json", json.dumps(document))


@fault("foreign_write")
def a_manifest_of_somebody_else(table):
    table.write("manifest.json", json.dumps({"version": 9, "files": []}))


@fault("duplicate_file", "foreign_write")
def a_manifest_that_lists_a_file_twice(table):
    document = table.read("manifest.json")
    document["files"].append(document["files"][0])
    table.write("manifest.json", json.dumps(document))


@fault("schema_unreadable")
def a_schema_that_is_no_json(table):
    table.write("schema.json", "{")


@fault("schema_version_not_in_history")
def a_schema_whose_current_version_is_not_in_it(table):
    document = table.read("schema.json")
    document.pop("schema")
    document["current_version"] = 7
    table.write("schema.json", json.dumps(document))


# --- how it is cured ---

def findings(status):
    """Open warnings and errors by code."""
    return {f["code"]: f for f in status["findings"] if f["severity"] in ("warning", "error")}


def cure(table, status):
    """Each finding by its own cure. Gives the plans that ran."""
    ran = []
    for finding in status["findings"]:
        if finding["severity"] == "info" or finding["cure"] is None:
            continue
        more = {}
        if finding["cure"] in PLANS_WITH_NAMES and finding["subject"] not in ("*", "manifest.json"):
            more["paths"] = [finding["subject"]]
        if finding["code"] == "adoption_conflict":
            more["choose"] = "log"
        table.repair(finding["cure"], run=True, **more)
        ran.append(finding["cure"])
    return ran
