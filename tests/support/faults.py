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
from make_cases import DUR, EVT, GOOD, P, T0, UID, add, drop, iso, man, parquet, rep, std, txn
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

    def commit(self, n, content=GOOD, values=None, stats=True, **more):
        """The n-th file, with all that a writer should tell of it."""
        path = self.write(self.data(n), content)
        operation = {"type": "add_file", "path": path, "size": os.path.getsize(self.path(path)), "numRecords": 2,
                     "partitionValues": values or {"date": "2026-01-01", "hour": f"{n % 24:02}"}}
        if stats:
            operation["columnStats"] = {"user_id": {"min": 1000, "max": 5000, "nullCount": 0},
                                        "event_type": {"min": "click", "max": "view", "nullCount": 0},
                                        "duration_seconds": {"min": 1.5, "max": 1.5, "nullCount": 1}}
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

    def adopt(self, name, files):
        """A folder as make_cases writes it, taken over."""
        table = Table(self, name)
        for path, at, content in files:
            table.write(path, content, age=time.time() - T0 - at)
        status, answer = self.client.call("POST", "/api/tables", {"name": name, "location": table.location})
        assert status == 201, answer
        return table

    def stop(self):
        assert self.server.stop() == 0


# --- what can break ---

FAULTS = {}
PLANS_WITH_NAMES = {"register", "forget"}


class Fault:
    """`code`: what must name it. `also`: codes that come with it by nature."""

    def __init__(self, name, strike, code, also=(), severity=None, change=None):
        self.name, self.strike, self.code, self.also = name, strike, code, set(also)
        self.severity, self.change = severity, change

    def make(self, lake, name):
        """A table with this fault, healthy until then where it is one that strikes."""
        if self.change:
            return lake.adopt(name, self.change(std(4)))
        table = lake.table(name)
        self.strike(table)
        return table


def fault(code, *also, severity=None):
    """`severity`: of a finding that is no warning by itself."""
    def keep(strike):
        FAULTS[strike.__name__] = Fault(strike.__name__, strike, code, also, severity)
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


def edited(table, path, **members):
    table.write(path, json.dumps({**table.read(path), **members}))


@fault("foreign_write")
def a_log_entry_that_names_another_table(table):
    edited(table, entry(2), table_uuid="11111111-1111-4111-8111-111111111111")


@fault("foreign_write")
def a_log_entry_that_names_another_catalog(table):
    edited(table, entry(3), catalog="11111111-1111-4111-8111-111111111111")


@fault("foreign_write")
def a_log_entry_that_became_a_compaction(table):
    edited(table, entry(2), dataChange=False)


@fault("foreign_write")
def a_log_entry_of_another_schema_version(table):
    edited(table, entry(1), schema_version=7)


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


@fault("schema_missing")
def a_schema_that_is_gone(table):
    table.remove("schema.json")


@fault("schema_unreadable")
def a_schema_that_is_no_json(table):
    table.write("schema.json", "{")


@fault("schema_version_not_in_history")
def a_schema_whose_current_version_is_not_in_it(table):
    document = table.read("schema.json")
    document.pop("schema")
    document["current_version"] = 7
    table.write("schema.json", json.dumps(document))


@fault("partition_drift")
def partition_values_that_contradict_the_path(table):
    table.commit(20, values={"date": "2026-01-01", "hour": "21"})


@fault("missing_column_stats", severity="info")
def a_file_without_statistics(table):
    table.commit(21, stats=None)


@fault("duplicate_transaction", "transaction_id_mismatch")
def a_copy_of_a_log_entry(table):
    shutil.copy(table.path(entry(2)), table.path("_transactions/txn-2-copy.json"))


# What is no file at all.

def a_folder(table, path):
    if os.path.exists(table.path(path)):
        table.remove(path)
    table.write(path + "/note.txt", "kept")


@fault("pointer_missing")
def a_folder_in_the_place_of_the_pointer(table):
    a_folder(table, "last_committed_txn")


@fault("manifest_missing")
def a_folder_in_the_place_of_the_manifest(table):
    a_folder(table, "manifest.json")


@fault("schema_missing")
def a_folder_in_the_place_of_the_schema(table):
    a_folder(table, "schema.json")


@fault("missing_transaction_log_entry")
def a_folder_in_the_place_of_a_log_entry(table):
    a_folder(table, entry(2))


@fault("missing_transaction_log_entry", "symlink_skipped")
def a_link_in_the_place_of_a_log_entry(table):
    table.remove(entry(2))
    os.symlink("txn-1.json", table.path(entry(2)))


@fault("missing_transaction_log_entry")
def a_file_in_the_place_of_the_log(table):
    shutil.rmtree(table.path("_transactions"))
    table.write("_transactions", "no folder")


# --- what an adoption can bring with it: each takes the folder's files as make_cases writes them ---

def adopted(code, *also, name=None, severity=None):
    def keep(change):
        FAULTS[change.__name__] = Fault(change.__name__, None, code, also, severity, change)
        return change
    return keep


@adopted("committed_file_not_in_manifest", "adoption_conflict")
def a_lost_update(files):
    return rep(files, man(4, iso(600), [P(1), P(3), P(4)]))


@adopted("removed_file_in_manifest", "adoption_conflict")
def a_removed_file_that_is_still_listed(files):
    return rep(files, txn(4, 595, [{"type": "remove_file", "path": P(1)}, add(P(4))]))


@adopted("duplicate_file")
def a_file_listed_twice(files):
    return rep(files, man(4, iso(600), [P(1), P(2), P(3), P(4), P(4)]))


@adopted("missing_transaction_log_entry")
def a_hole_in_the_log_from_before(files):
    return drop(files, "_transactions/txn-3.json")


@adopted("missing_transaction_log_entry")
def the_newest_entry_lost_before(files):
    return drop(files, "_transactions/txn-4.json")


@adopted("unreadable_transaction_log_entry")
def a_broken_entry_from_before(files):
    return rep(files, ("_transactions/txn-2.json", 400, "{"))


@adopted("transaction_id_mismatch")
def an_entry_under_a_wrong_name(files):
    return [("_transactions/txn-3x.json" if f[0] == "_transactions/txn-3.json" else f[0],) + f[1:] for f in files]


@adopted("pointer_missing")
def no_pointer(files):
    return drop(files, "last_committed_txn")


@adopted("pointer_unreadable")
def a_pointer_of_noise(files):
    return rep(files, ("last_committed_txn", 600, "no id at all"))


@adopted("implausible_timestamp", "manifest_age")
def a_manifest_dated_in_the_last_century(files):
    return rep(files, man(4, "1970-01-02T00:00:00Z", [P(n) for n in (1, 2, 3, 4)]))


@adopted("naive_timestamp", severity="info")
def a_manifest_without_zone(files):
    return rep(files, man(4, iso(600, ""), [P(n) for n in (1, 2, 3, 4)]))


@adopted("manifest_last_updated_missing", severity="info")
def a_manifest_without_time(files):
    return rep(files, man(4, None, [P(n) for n in (1, 2, 3, 4)]))


# --- how it is cured ---

def findings(status, severities=("warning", "error")):
    """Those of the severities, warnings and errors by default, by code."""
    return {f["code"]: f for f in status["findings"] if f["severity"] in severities}


def cure(table, status):
    """Each finding by its own cure. Gives the plans that ran."""
    ran = []
    for finding in status["findings"]:
        if finding["cure"] is None:
            continue
        more = {}
        if finding["cure"] in PLANS_WITH_NAMES and finding["subject"] != "manifest.json":
            more["paths"] = ["/" if finding["subject"] == "*" else finding["subject"]]
        if finding["cure"] == "adopt":
            more["choose"] = "log"
        table.repair(finding["cure"], run=True, **more)
        ran.append(finding["cure"])
    return ran
