#!/usr/bin/env python3
"""Healthy managed tables of a real server are broken behind its back, singly and in pairs. Each fault must be named with its
code, severity, subject and cure, nothing else may be said, and the cure that the finding names, or else the one of its
page, must bring the table back to ok.

SEEDED_SEED repeats a choice of pairs; SEEDED_MANAGED_PAIRS is how many are tried (a number, or "all"); SEEDED_ONLY takes
those whose names hold a text."""
import contextlib, datetime, itertools, json, os, random, shutil, subprocess, sys, threading, time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "cases")]
from seeded_faults import FAULTS as OBSERVED
from seeded_lake import HOURS, Lake as Model, SCHEMA, data, folder_of, healthy, path_of, stats
from tarn import TARN, Server, await_true, folder

SEED = int(os.environ.get("SEEDED_SEED", random.randrange(10**6)))
PAIRS = os.environ.get("SEEDED_MANAGED_PAIRS", "25")
WATCHED = 20  # of the faults of seeded_faults.py so many are watched, unless all pairs are tried
ONLY = os.environ.get("SEEDED_ONLY", "")
INFO, WARNING, ERROR = "info", "warning", "error"
COMMITS, SLOTS = 6, (2, 4)  # commits of a healthy table; those that the faults of a pair hurt
HOUR = 3600
# What has a grace time is judged at once; nothing here is a writer between two steps.
MONITORS = {code: {"grace": "0s"} for code in (
    "manifest_age", "unregistered_data_file", "missing_transaction_log_entry", "unreadable_transaction_log_entry", "transaction_gap",
    "uncommitted_transaction", "pointer_mismatch", "unexpected_file_format", "leftover_temp")}
WORST = {"ok": 0, INFO: 0, WARNING: 1, ERROR: 2}


def iso(at):
    return datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Table:
    """A managed table with COMMITS commits of one file each; the files are an hour old and older."""
    count = itertools.count(1)

    def __init__(self, lake, lies_there=None):
        """lies_there: a Lake of seeded_lake.py to be adopted instead."""
        self.lake, self.client = lake, lake.client()
        self.name = "t%d" % next(Table.count)
        self.folder = os.path.join(lake.root, self.name)
        if lies_there:
            lies_there.write(self.folder)
            self.ask("POST", "/api/tables", {"name": self.name, "location": self.folder, "monitors": {
                **MONITORS, "freshness": {"severity": "off"}}})  # its last hour is long ago
            return
        self.ask("POST", "/api/tables", {"name": self.name, "location": self.folder, "schema": SCHEMA,
                                         "partition_keys": ["date", "hour"], "monitors": MONITORS})
        self.operations = []
        for n in range(1, COMMITS + 1):
            self.put(self.path(n), data(n), time.time() - 2 * HOUR - 60 * (COMMITS - n))
            self.commit([self.added(n)])

    def ask(self, method, path, body=None):
        status, answer = self.client.call(method, path, body)
        assert 200 <= status < 300, f"{method} {path}: {status} {answer}"
        return answer

    def api(self, rest, body=None, method="POST"):
        return self.ask(method, f"/api/table/{self.name}{rest}", body)

    def commit(self, operations, **more):
        answer = self.api("/commits", {"operations": operations, **more})
        if not answer["published"]:
            await_true("published", lambda: self.api("", method="GET")["published_version"] >= answer["version"])
        return answer

    # --- files ---
    def hour(self, n):
        return "date=2026-01-01/hour=%d" % n

    def path(self, n):
        return self.hour(n) + "/data-%06d.parquet" % n

    def at(self, path):
        return os.path.join(self.folder, path)

    def put(self, path, content, at=None):
        os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
        with open(self.at(path), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        if at is not None:
            os.utime(self.at(path), (at, at))

    def get(self, path):
        with open(self.at(path), "rb") as f:
            return f.read()

    def rewrite(self, path, change):
        """A document with a change in it, by another hand."""
        document = json.loads(self.get(path))
        self.put(path, json.dumps(change(document) or document))

    def added(self, n, path=None, content=None, **more):
        return {"type": "add_file", "path": path or self.path(n), "size": len(data(n) if content is None else content),
                "partitionValues": {"date": "2026-01-01", "hour": n}, "columnStats": stats(n), "numRecords": 2, **more}

    def judge(self):
        """The findings as (code, severity, subject): cure."""
        status = self.api("/check?depth=sweep")
        return status["severity"], {(f["code"], f["severity"], f["subject"]): f["cure"] for f in status["findings"]}

    def repair(self, plan, **more):
        return self.api("/repair", {"plan": plan, "dry_run": False, **more})


# --- the faults: how to break, what is found with which cure, how to mend when the cure is no plan ---

class Fault:
    def __init__(self, name, breaks, finds, mend=None, uses=(), paths=False, hides=(), last=False, make=None, severity=None, more=None):
        """finds: {(code, severity): (subject, cure)}. mend: the cure of its page where the finding names no plan.
        paths: the plan is given the subject, as its page says. uses: what it spoils (two of the same are no pair).
        hides: codes that cannot be told while it is there. make: the table is another than the usual one; severity: the table's, when it is
        not that of the worst finding; more: members of the repair's body. One with any of these stands alone."""
        self.name, self.breaks, self.finds, self.mend = name, breaks, finds, mend
        self.uses, self.paths, self.hides, self.last = set(uses), paths, set(hides), last
        self.make, self.severity, self.more = make, severity, more or {}
        self.is_alone = bool(make or severity or more)

    def expected(self, table, n):
        words = {"n": n, "path": table.path(n), "hour": table.hour(n), "folder": table.hour(n)}
        return {(code, severity, subject.format(**words)): cure for (code, severity), (subject, cure) in self.finds.items()}

    def fits(self, other):
        if self.is_alone or other.is_alone:
            return False
        spoilt = lambda a, b: any((x == y and x not in OF_A_COMMIT) or x.startswith(y + ".") for x in a for y in b)
        return not spoilt(self.uses, other.uses) and not spoilt(other.uses, self.uses)


class Watched:
    """An observed table, written by the hourly writer of seeded_lake.py, whose newest commit is half an hour and `ago` seconds old."""
    put = Table.put
    at = Table.at
    ask = Table.ask
    api = Table.api
    judge = Table.judge

    def __init__(self, lake, hours=18, ago=0, breaks=lambda model: None):
        self.lake, self.client = lake, lake.client()
        self.name = "o%d" % next(Table.count)
        self.folder = os.path.join(lake.root, self.name)
        self.model = Model(time.time() - 1800 - ago - (hours - 1) * HOUR, hours)
        self.model.now += ago
        breaks(self.model)
        self.write()
        self.ask("POST", "/api/tables", {"name": self.name, "location": self.folder, "mode": "observed"})

    def write(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.model.docs is not None:
            os.mkdir(self.folder)
        self.model.write(self.folder)

    def path(self, n):
        return path_of(n)

    def hour(self, n):
        return folder_of(n)

    def load(self):
        """The writer's next commit, with data."""
        n = self.model.hours
        path = folder_of(n) + "/next-%d.parquet" % n
        self.model.put(path, data(n), self.model.now - 10)
        self.model.commit(self.model.added(n, path))
        self.write()


OF_A_COMMIT = ("file", "entry", "commit", "commits.more")  # each fault hurts that of its own commit
FAULTS = []


def fault(*row, **more):
    FAULTS.append(Fault(*row, **more))


def entry(n):
    return "_transactions/txn-%d.json" % n


def remove(path):
    return lambda t, n: os.remove(t.at(path.format(path=t.path(n), entry=entry(n), newest=entry(COMMITS))))


def write(path, content):
    return lambda t, n: t.put(path.format(path=t.path(n), entry=entry(n), newest=entry(COMMITS), hour=t.hour(n)), content,
                              time.time() - 3 * HOUR)


def edit(path, change):
    return lambda t, n: t.rewrite(path.format(entry=entry(n)), lambda d: change(t, n, d))


# files
fault("a file that nobody registered", lambda t, n: t.put(t.hour(n) + "/stray.parquet", data(n), time.time() - 3 * HOUR),
      {("unregistered_data_file", WARNING): ("{hour}/stray.parquet", "register")})
fault("a file that is gone", remove("{path}"), {("missing_data_file", ERROR): ("{path}", "forget")}, uses={"file"})


def another_size(t, n):
    t.put(t.path(n), data(n, event_type=("event_type", "binary", "string", False, ["click", "a longer one"], None)), time.time() - 3 * HOUR)


fault("a file of another size", another_size, {("size_mismatch", ERROR): ("{path}", "register")}, paths=True, uses={"file"})
fault("a file of garbage", lambda t, n: t.put(t.path(n), b"x" * len(data(n)), time.time() - 3 * HOUR),
      {("corrupt_data_file", ERROR): ("{path}", "forget")}, paths=True, uses={"file"})
fault("a file of another format among the data", write("{hour}/part.csv", "a,b\n"),
      {("unexpected_file_format", WARNING): ("{hour}/part.csv", None)}, lambda t, n: os.remove(t.at(t.hour(n) + "/part.csv")))
fault("what a writer left behind", write("_temp/x.parquet", "x"), {("leftover_temp", INFO): ("*", None)},
      lambda t, n: shutil.rmtree(t.at("_temp")), uses={"leftover"})
fault("a file dated in the future", lambda t, n: os.utime(t.at(t.path(n)), (time.time() + 7200,) * 2),
      {("clock_skew", WARNING): ("{path}", None)}, lambda t, n: os.utime(t.at(t.path(n)), (time.time() - HOUR,) * 2), uses={"file"})

# documents
fault("no manifest", remove("manifest.json"), {("manifest_missing", ERROR): ("manifest.json", "republish")}, uses={"manifest"})
fault("a manifest that was cut off", lambda t, n: t.put("manifest.json", t.get("manifest.json")[:90]),
      {("manifest_unreadable", ERROR): ("manifest.json", "republish"), ("foreign_write", ERROR): ("manifest.json", "republish")},
      uses={"manifest"})
fault("a manifest of another hand", edit("manifest.json", lambda t, n, m: m.update(version=77)),
      {("foreign_write", ERROR): ("manifest.json", "republish")}, uses={"manifest"})
fault("no pointer", remove("last_committed_txn"), {("pointer_missing", WARNING): ("last_committed_txn", "republish")}, uses={"pointer"})
fault("a pointer that is no id", write("last_committed_txn", "%% no id"),
      {("pointer_unreadable", WARNING): ("last_committed_txn", "republish")}, uses={"pointer"})
fault("a pointer that went back", write("last_committed_txn", "txn-1\n"),
      {("pointer_mismatch", WARNING): ("last_committed_txn", "republish")}, uses={"pointer"})
fault("an entry that is gone", remove("{entry}"), {("missing_transaction_log_entry", WARNING): ("txn-{n}", "republish")}, uses={"entry"})
fault("the newest entry gone", remove("{newest}"),
      {("missing_transaction_log_entry", ERROR): (f"txn-{COMMITS}", "republish")}, uses={"newest", "commits"})
fault("an entry that was cut off", write("{entry}", '{"id": "tx'),
      {("unreadable_transaction_log_entry", WARNING): ("txn-{n}", "republish")}, uses={"entry"})
fault("an entry of another hand", edit("{entry}", lambda t, n, e: e.update(operations=[])),
      {("foreign_write", ERROR): ("_transactions/txn-{n}.json", "republish")}, uses={"entry"})
SAYS_OTHER = {("foreign_write", ERROR): ("_transactions/txn-{n}.json", "republish")}
for what, change in (("author", lambda t, n, e: e.update(commitMetadata={"author": "somebody else"})),
                     ("batch", lambda t, n, e: e.update(batch_ids=["2026-01-01/batch-000001.parquet"])),
                     ("instant", lambda t, n, e: e.update(timestamp="2026-01-01T00:00:00Z")),
                     ("path as long as it was", lambda t, n, e: e["operations"][0].update(path=t.path(n)[:-9] + "9.parquet")),
                     ("count of records", lambda t, n, e: e["operations"][0].update(numRecords=3))):
    fault("an entry with another " + what, edit("{entry}", change), SAYS_OTHER, uses={"entry"})
fault("an entry that no commit wrote", lambda t, n: t.put(entry(COMMITS + 1), json.dumps({"id": f"txn-{COMMITS + 1}", "operations": []})),
      {("foreign_write", ERROR): (entry(COMMITS + 1), "adopt")}, uses={"above", "commits"})


def put_aside(t, n):
    """The catalog is right: the entry goes, and its number stays without one."""
    t.repair("republish")
    t.put(t.hour(n) + "/next.parquet", data(n), time.time() - 3 * HOUR)
    answer = t.commit([t.added(n, t.hour(n) + "/next.parquet")])
    assert answer["transaction"] != f"txn-{COMMITS + 1}", answer


fault("an entry that no commit wrote, put aside", lambda t, n: t.put(entry(COMMITS + 1), json.dumps({"id": f"txn-{COMMITS + 1}", "operations": []})),
      {("foreign_write", ERROR): (entry(COMMITS + 1), "adopt")}, put_aside, uses={"above", "commits"}, last=True)
fault("an entry under another name", lambda t, n: os.rename(t.at(entry(n)), t.at("_transactions/txn-7%02d.json" % n)),
      {("transaction_id_mismatch", WARNING): ("txn-7{n:02d}", "republish")}, uses={"entry"})
fault("an entry copied in the log", lambda t, n: shutil.copy(t.at(entry(n)), t.at("_transactions/copy-%d.json" % n)),
      {("duplicate_transaction", WARNING): ("txn-{n}", "republish")}, uses={"entry"})
fault("a manifest that lists a file twice", edit("manifest.json", lambda t, n, m: m.update(files=m["files"] + m["files"][:1])),
      {("foreign_write", ERROR): ("manifest.json", "republish"), ("duplicate_file", WARNING): ("date=2026-01-01/hour=1/data-000001.parquet", "republish")},
      uses={"manifest"})
fault("a schema of another hand", edit("schema.json", lambda t, n, s: s["schema"]["fields"].append({"name": "more", "type": "string", "nullable": True})),
      {("foreign_write", ERROR): ("schema.json", "republish")}, uses={"schema"})
fault("a schema that is gone", remove("schema.json"), {("schema_missing", WARNING): ("schema.json", "republish")}, uses={"schema"})
fault("a schema that was cut off", write("schema.json", '{"cur'), {("schema_unreadable", WARNING): ("schema.json", "republish")}, uses={"schema"})

# commits that tell their files wrong
TWO = {"file", "commit", "commits.more"}


def replace(change, content=None):
    """Commits file n anew: the same path, told otherwise or with another content."""
    def breaks(t, n):
        bytes_ = data(n) if content is None else content(n)
        if content is not None:
            t.put(t.path(n), bytes_, time.time() - 3 * HOUR)
        operation = t.added(n, content=bytes_)
        change(operation)
        version = t.api("", method="GET")["version"]
        t.commit([{"type": "remove_file", "path": t.path(n)}, operation], expected_version=version)
    return breaks


again = replace(lambda operation: None, data)
fault("partition values against the path", replace(lambda o: o["partitionValues"].update(hour=99)),
      {("partition_drift", WARNING): ("{path}", "register")}, paths=True, uses=TWO)
fault("a file without statistics", replace(lambda o: o.pop("columnStats")), {("missing_column_stats", INFO): ("*", "register")}, again, uses=TWO | {"stats"})
COUNTRY = ("country", "binary", "string", True, ["CH", "FR"], None)


def new_column(t, n):
    """The column is wanted: it is registered, and the file is taken as one that has it."""
    t.api("/schemas", {"expected_version": 1, "schema": dict(SCHEMA, fields=SCHEMA["fields"] + [
        {"name": "country", "type": "string", "nullable": True}])})
    t.repair("register", paths=[t.path(n)])


for what, replaced, code, severity, column, cure in (
        ("a column more", dict(country=COUNTRY), "schema_drift.extra_column", WARNING, "country", new_column),
        ("a column less", dict(duration=None), "schema_drift.missing_column", WARNING, "duration", again),
        ("a column in capitals", dict(level=("LEVEL", "int32", None, True, [1, 2], None)), "schema_drift.renamed_case", WARNING, "level", again),
        ("a wider column", dict(level=("level", "int64", None, True, [1, 2], None)), "schema_drift.narrowed", ERROR, "level", again),
        ("text for numbers", dict(user_id=("user_id", "binary", "string", False, ["a", "b"], None)), "schema_drift.type_changed", ERROR, "user_id", again),
        ("a null where none may be", dict(event_type=("event_type", "binary", "string", True, ["view", None], None)),
         "schema_drift.null_in_required", ERROR, "event_type", again)):
    fault("a file with " + what, replace(lambda o: None, lambda n, replaced=replaced: data(n, **replaced)), {(code, severity): (column, None)}, cure,
          uses=TWO | {"drift:" + column} | ({"schema"} if cure is new_column else set()), last=cure is new_column)

# staging


def batch(n):
    return "2026-01-01/batch-%06d.parquet" % n


def merge(t, n):
    """What a merge worker does: one commit that names the batch; then its file goes."""
    t.put(t.hour(n) + "/merged.parquet", data(n), time.time() - HOUR)
    t.commit([t.added(n, t.hour(n) + "/merged.parquet")], batch_id=batch(n))
    os.remove(t.at("staging/" + batch(n)))


fault("a staged batch that nobody merges", lambda t, n: t.put("staging/" + batch(n), data(n), time.time() - HOUR),
      {("staging_backlog", WARNING): ("*", None)}, merge, uses={"backlog"})
fault("a merge that does not end",
      lambda t, n: t.api("/batches", {"batch_id": batch(n), "status": "running", "start_time": iso(time.time() - HOUR)}),
      {("merge_stuck", WARNING): (batch(0).replace("000000", "{n:06d}"), None)},
      lambda t, n: t.api("/batches", {"batch_id": batch(n), "status": "failed", "start_time": iso(time.time() - HOUR),
                                      "end_time": iso(time.time())}), uses={"marker"})

# time

def old_data(t, n):
    """The table is promised new data every four seconds, and none came for longer."""
    t.api("", {"monitors": {"freshness": {"contract": {"warning": "4s", "error": "4s"}}}}, "PATCH")
    time.sleep(4.2)


def load(t, n):
    t.put(t.hour(n) + "/fresh.parquet", data(n), time.time() - 3 * HOUR)
    t.commit([t.added(n, t.hour(n) + "/fresh.parquet")])


fault("data that is older than the contract allows", old_data, {("freshness", ERROR): ("table", None)}, load, more={"alone": True})


def stop_publication(t, n):
    """A folder lies where the manifest has to go: storage stays behind the catalog."""
    os.remove(t.at("manifest.json"))
    os.mkdir(t.at("manifest.json"))
    t.api("", {"monitors": {"publication_behind": {"warning": "1s"}}}, "PATCH")
    t.put(t.hour(n) + "/behind.parquet", data(n), time.time() - 3 * HOUR)
    t.api("/commits", {"operations": [t.added(n, t.hour(n) + "/behind.parquet")]})
    time.sleep(1.2)


def let_publish(t, n):
    os.rmdir(t.at("manifest.json"))
    await_true("published", lambda: t.api("", method="GET")["published_version"] == COMMITS + 1)


fault("storage that does not take what was committed", stop_publication, {("publication_behind", WARNING): ("manifest.json", None), ("manifest_missing", ERROR): ("manifest.json", "republish")}, let_publish,
      more={"alone": True})

# the place, and what was there before


def move(t, n):
    t.judge()  # the first scan may have met a file between its writing and its commit; that is seen to be over
    os.rename(t.folder, t.folder + ".away")


fault("a folder that is gone", move, {("storage_unreachable", ERROR): ("table", None)},
      lambda t, n: os.rename(t.folder + ".away", t.folder), severity="unknown")


def adopt(fault_name):
    """A folder with one of the faults of an observed table, taken under management."""
    def make(lake):
        model = healthy()
        next(f for f in OBSERVED if f.name == fault_name).breaks(model, 5)
        return Table(lake, model)
    return make


LOST = ("committed_file_not_in_manifest", ERROR), ("date=2026-01-01/hour=4/data-000005.parquet", "adopt")
LISTED = ("removed_file_in_manifest", ERROR), ("date=2026-01-01/hour=0/old.parquet", "adopt")
for name, choose, (code, found) in (("a lost update", "log", LOST), ("a removed file that is still listed", "log", LISTED),
                                    ("a lost update", "manifest", LOST)):
    fault(f"adopted: {name}, the {choose} counts", lambda t, n: None, {("adoption_conflict", ERROR): ("manifest.json", "adopt"), code: found},
          make=adopt(name), more={"choose": choose})

# what only a server of its own shows

NOBODY = 65534


def give(path):
    """To the user that the server runs as."""
    for root, _, names in os.walk(path):
        for each in [root] + [os.path.join(root, name) for name in names]:
            os.chown(each, NOBODY, NOBODY)


class Apart(Table):
    """A managed table with a server that nobody else asks, which may not read everything: not even where the tests are root's."""

    def __init__(self, lake):
        self.home = os.path.join(os.path.dirname(lake.root), "apart%d" % next(Table.count))
        os.mkdir(self.home)
        self.as_root = os.getuid() == 0
        self.own = Lake(self.home, user=NOBODY if self.as_root else None)
        super().__init__(self.own)
        self.judge()  # what the first scan met between a file's writing and its commit is seen to be over

    def put(self, path, content, at=None):
        super().put(path, content, at)
        if self.as_root:
            give(self.folder)

    def restart(self, *flags):
        """With other flags, if there are some."""
        self.client.close()
        self.own.server.stop()
        self.own.server.flags = flags or self.own.server.flags
        self.own.server.start()
        self.client = self.own.client()


def deny(path, right):
    return (lambda t, n: os.chmod(t.at(path.format(hour=t.hour(n), path=t.path(n), entry=entry(n))), 0),
            lambda t, n: os.chmod(t.at(path.format(hour=t.hour(n), path=t.path(n), entry=entry(n))), right))


# The one that lost its right is read when it is not what was read last: a document that Tarn wrote is known by its token.
for path, right, finds in (("last_committed_txn", 0o644, {("scan_failed", WARNING): ("table", None)}),
                           ("schema.json", 0o644, {("scan_failed", WARNING): ("table", None)}),
                           ("_transactions", 0o755, {("scan_failed", WARNING): ("table", None)}),
                           ("{hour}", 0o755, {("scan_incomplete", INFO): ("{hour}", None)}),
                           ("{path}", 0o644, {("scan_incomplete", INFO): ("{path}", None)})):
    breaks, mend = deny(path, right)
    fault("what the server may not read: " + path, breaks, finds, mend, make=Apart)


def take_root(t, n):
    other = os.path.join(t.home, "other")
    os.mkdir(other)
    t.restart("--root", other, "--scan-interval", "1h")


fault("a root that was taken from the configuration", take_root, {("location_not_allowed", ERROR): ("table", None)},
      lambda t, n: t.restart("--root", t.own.root, "--scan-interval", "1h"), make=Apart, severity="unknown")


def lose_commits(t, n):
    """The database is an older copy, and of what came since an entry is lost: the start cannot take it back by itself."""
    backup = os.path.join(t.home, "backup.sqlite")
    subprocess.run([TARN, "backup", backup, "--url", f"http://127.0.0.1:{t.own.server.port}", "--token", t.own.server.token], check=True,
                   stdout=subprocess.DEVNULL)
    for k in (COMMITS + 1, COMMITS + 2):
        t.put(t.path(k), data(k), time.time() - 3 * HOUR)
        t.commit([t.added(k)])
    t.own.server.kill()
    for suffix in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(f"{t.own.server.data}/tarn.sqlite{suffix}")
    shutil.copyfile(backup, f"{t.own.server.data}/tarn.sqlite")
    os.remove(t.at(entry(COMMITS + 1)))
    t.restart()
    await_true("it was compared with its storage", lambda: t.api("", method="GET")["block"])


def take_back(t, n):
    done = t.api("/recover", {"dry_run": False})
    assert done["to_version"] == COMMITS + 2, done


fault("a database that is older than its lake", lose_commits, {("storage_ahead", ERROR): ("manifest.json", "recover")}, take_back, make=Apart)

# observed tables over time


def load_on(t, n):
    t.load()


def stop(model):
    """Batches are staged, and nobody merges them any more."""
    model.put("staging/2026-01-01/batch-000007.parquet", data(7), model.now - 19 * HOUR)


def merge_on(t, n):
    t.model.drop("staging/2026-01-01/batch-000007.parquet")
    t.load()


def compact_only(model):
    for n in range(model.hours - 5, model.hours + 1):
        model.edit("_transactions/txn-%d.json" % n, lambda e: e.update(dataChange=False))


def go_back(change):
    def breaks(t, n):
        severity, found = t.judge()
        assert not found, f"healthy: {found}"
        change(t.model)
        t.write()
    return breaks


def yesterday(model):
    """The folder as it was before the newest commit, from a backup."""
    n = model.hours
    model.drop("_transactions/txn-%d.json" % n, path_of(n))
    model.edit("manifest.json", lambda m: m.update(version=n - 1, transaction="txn-%d" % (n - 1),
                                                   files=[f for f in m["files"] if f["path"] != path_of(n)]))
    model.put("last_committed_txn", "txn-%d\n" % (n - 1), (n - 1) * 3600)
    model.hours -= 1


def shrink(model):
    """A file less, and no commit that took it: neither manifest nor log knows it any more."""
    model.edit("manifest.json", lambda m: m.update(files=[f for f in m["files"] if f["path"] != path_of(5)]))
    model.edit("_transactions/txn-5.json", lambda e: e.update(operations=[]))
    model.drop(path_of(5))


def past_it(t, n):
    """The writer goes on, past what was lost, loading again what is missing."""
    t.load()
    t.load()


def shrink_back(t, n):
    t.model.restore("manifest.json", "_transactions/txn-5.json", path_of(5))
    t.write()


# More than a week: before that a table's first weekend and its first nights are no silence.
watched = lambda **more: lambda lake: Watched(lake, **more)
fault("an hourly writer that fell silent", lambda t, n: None, {("freshness", WARNING): ("table", None)}, load_on, make=watched(hours=200, ago=6 * HOUR))
fault("a merge engine that stopped", lambda t, n: None,
      {("commits_stopped", WARNING): ("table", None), ("staging_backlog", WARNING): ("*", None), ("freshness", WARNING): ("table", None)},
      merge_on, make=watched(hours=200, ago=20 * HOUR, breaks=stop))
fault("commits that bring no data", lambda t, n: None, {("commits_without_data", WARNING): ("table", None), ("freshness", WARNING): ("table", None)},
      load_on, make=watched(hours=200, breaks=compact_only))
fault("a folder restored from yesterday", go_back(yesterday), {("version_regression", ERROR): ("manifest.json", None)}, past_it, make=watched())
fault("a snapshot that lost a file", go_back(shrink), {("snapshot_regression", ERROR): ("manifest.json", None)}, shrink_back, make=watched())

# every fault of seeded_faults.py, told by the server of a table that it watches: what it found must end as well


def watch(fault_):
    def make(lake):
        return Watched(lake, hours=HOURS)

    def breaks(t, n):
        severity, found = t.judge()
        assert not found, f"healthy: {found}"
        fault_.breaks(t.model, n)
        t.write()

    def mend(t, n):
        fault_.cure(t.model, n)
        t.write()
    return breaks, mend, make


# Who saw the table before knows that it went back.
SINCE = {"a pointer behind the manifest": {("transaction_regression", ERROR): ("last_committed_txn", None)}}
for other in OBSERVED:
    if other.name in ("a table of another format", "a hundred small files"):
        continue  # the format is what it was registered with; the server's clock is not moved
    breaks, mend, make = watch(other)
    finds = {found: (subject, None) for found, subject in other.finds.items()} | SINCE.get(other.name, {})
    fault("watched: " + other.name, breaks, finds, mend, make=make, severity=other.severity)


# --- a trial ---

def differences(found, expected):
    for finding in sorted(expected.keys() - found.keys()):
        yield f"not found: {finding}"
    for finding in sorted(found.keys() - expected.keys()):
        yield f"found besides: {finding}"
    for finding in sorted(found.keys() & expected.keys()):
        if found[finding] != expected[finding]:
            yield f"{finding}: cure {found[finding]}, not {expected[finding]}"


def cure(t, chosen, found):
    """First the plans that findings name, the documents before the files; then what people do."""
    plans = {}
    for fault, n in chosen:
        for finding, plan in fault.expected(t, n).items():
            if plan and not fault.mend and finding in found:
                plans.setdefault(plan, {})[finding[2]] = fault.paths
    for plan in sorted(plans, key=("republish", "adopt", "forget", "register").index):
        named = [subject for subject, by_name in plans[plan].items() if by_name]
        if len(named) < len(plans[plan]):
            t.repair(plan, **{k: v for fault, _ in chosen for k, v in fault.more.items() if k != "alone"})
        if named:
            t.repair(plan, paths=named)
    for fault, n in sorted(chosen, key=lambda c: c[0].last):
        if fault.mend:
            fault.mend(t, n)


def faults_of(lake, chosen):
    t = chosen[0][0].make(lake) if chosen and chosen[0][0].make else Table(lake)
    try:
        if not chosen:
            severity, found = t.judge()
            yield from differences(found, {})
        for fault, n in sorted(chosen, key=lambda c: "commit" not in c[0].uses):
            fault.breaks(t, n)
        severity, found = t.judge()
        expected = {}
        for fault, n in chosen:
            hidden = set().union(*[other.hides for other, _ in chosen if other is not fault])
            expected.update({f: c for f, c in fault.expected(t, n).items() if f[0] not in hidden})
        yield from differences(found, expected)
        worst = ("ok", WARNING, ERROR)[max([WORST[f[1]] for f in expected], default=0)]
        worst = next((fault.severity for fault, _ in chosen if fault.severity), worst)
        if found.keys() == expected.keys() and severity != worst:
            yield f"severity {severity}"
        cure(t, chosen, found)
        severity, found = t.judge()
        if severity != "ok":
            yield f"after the cure {severity}: {sorted(found)}"
    except AssertionError as why:
        yield str(why)
    finally:
        t.client.close()
        if isinstance(t, Apart):
            t.own.server.stop()


class Lake:
    def __init__(self, place, user=None):
        self.root = os.path.join(place, "lake")
        os.mkdir(self.root)
        os.mkdir(os.path.join(place, "data"))
        if user is not None:
            give(place)
        self.server = Server(os.path.join(place, "data"), "--root", self.root, "--scan-interval", "1h", user=user).start()

    def client(self):
        return self.server.client()


def try_all(lake, name, choices):
    failed = 0
    with ThreadPoolExecutor(max_workers=4) as pool:
        for chosen, faults in zip(choices, pool.map(lambda c: list(faults_of(lake, c)), choices)):
            failed += bool(faults)
            for line in faults:
                print(f"FAIL {' + '.join(fault.name for fault, _ in chosen)}: {line}")
    print(f"{name}: {len(choices) - failed} of {len(choices)}", flush=True)
    return len(choices) - failed, failed


def pairs():
    fitting = [((a, SLOTS[0]), (b, SLOTS[1])) for a, b in itertools.combinations(FAULTS, 2) if a.fits(b)]
    fitting = [pair for pair in fitting if any(ONLY in fault.name for fault, _ in pair)]
    return fitting if PAIRS == "all" else random.sample(fitting, min(int(PAIRS), len(fitting)))


def singles():
    chosen = [fault for fault in FAULTS if ONLY in fault.name]
    watched = [fault for fault in chosen if fault.name.startswith("watched: ")]
    if PAIRS != "all" and not ONLY:
        watched = random.sample(watched, WATCHED)
    return [((fault, SLOTS[0]),) for fault in chosen if fault in watched or not fault.name.startswith("watched: ")]


def main():
    print(f"SEEDED_SEED={SEED}")
    random.seed(SEED)
    with folder() as place:
        os.chmod(place, 0o755)  # for servers of another user
        lake = Lake(place)
        results = [try_all(lake, "no fault", [()]),
                   try_all(lake, "single faults", singles()),
                   try_all(lake, "pairs of faults", pairs())]
        lake.server.stop()
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
