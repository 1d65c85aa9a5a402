"""A healthy lake of the manifest format as one hour-by-hour writer leaves it, held in memory so that it can be broken and
mended: documents by path, each with its modification time in seconds after T0.

Every commit adds one Parquet file; commit 3 also takes away what commit 1 added beside it. Nothing in it is worth a finding."""
import copy, datetime, json, os

from make_cases import T0, parquet

HOURS = 12
LAST = (HOURS - 1) * 3600        # the newest commit
NOW = LAST + 1800                # when it is looked at: every grace time is over, no hour is missed
UUID, CATALOG = "0c4f7a52-8c1e-4a70-9d7e-1f0f5f3a1b11", "a4a5c7de-93a4-4a63-8b43-0d9a4de1c001"

FIELDS = [("user_id", "int64", False), ("event_type", "string", False), ("level", "int32", True), ("duration", "double", True),
          ("seen_at", "timestamp_us", True)]
SCHEMA = {"type": "struct", "fields": [{"name": n, "type": t, "nullable": o} for n, t, o in FIELDS]}


def columns(n, **replaced):
    """Columns of file n for make_cases.parquet; a keyword replaces one (None: leaves it out), others come behind."""
    own = {"user_id": ("user_id", "int64", None, False, [1000 + n, 5000 + n], None),
           "event_type": ("event_type", "binary", "string", False, ["click", "view"], None),
           "level": ("level", "int32", None, True, [1, 2], None),
           "duration": ("duration", "double", None, True, [1.5, 2.5], None),
           "seen_at": ("seen_at", "int64", "ts_us_utc", True, [n, n + 1], None)}
    own.update(replaced)
    return [c for c in own.values() if c]


def data(n, **replaced):
    return parquet(columns(n, **replaced), 2)


def stats(n):
    return {"user_id": {"min": 1000 + n, "max": 5000 + n, "nullCount": 0},
            "event_type": {"min": "click", "max": "view", "nullCount": 0},
            "level": {"min": 1, "max": 2, "nullCount": 0}, "duration": {"min": 1.5, "max": 2.5, "nullCount": 0},
            "seen_at": {"min": n, "max": n + 1, "nullCount": 0}}


def hour_of(n):
    return {"date": "2026-01-01", "hour": n - 1}


def folder_of(n):
    return "date=2026-01-01/hour=%d" % (n - 1)


def path_of(n):
    return folder_of(n) + "/data-%06d.parquet" % n


OLD = folder_of(1) + "/old.parquet"


def at_of(n):
    return (n - 1) * 3600


def entry_of(n):
    return "_transactions/txn-%d.json" % n


class Lake:
    def __init__(self, base=T0, hours=HOURS):
        """base: the instant of the first commit, in seconds since 1970."""
        self.docs, self.base, self.hours = {}, base, hours
        self.now = at_of(hours) + NOW - LAST
        for n in range(1, hours + 1):
            self.put(path_of(n), data(n), at_of(n) - 10)
            self.put_json(entry_of(n), self.entry(n, [self.added(n)]), at_of(n))
        self.put(OLD, data(1), at_of(1) - 10)
        old = dict(self.added(1), path=OLD)
        self.edit(entry_of(1), lambda e: e["operations"].append(old))
        self.edit(entry_of(3), lambda e: e["operations"].append({"type": "remove_file", "path": OLD}))
        self.put_json("manifest.json", {
            "version": hours, "table": "clicks", "table_uuid": UUID, "catalog": CATALOG, "transaction": "txn-%d" % hours,
            "last_updated": self.iso(at_of(hours)), "schema_version": 1,
            "files": [self.listed(n) for n in range(1, hours + 1)]}, at_of(hours))
        self.put("last_committed_txn", "txn-%d\n" % hours, at_of(hours))
        self.put_json("schema.json", {"current_version": 1, "schema": SCHEMA, "versions": [{"version": 1, "schema": SCHEMA}]}, 0)
        self.truth = dict(self.docs)

    def iso(self, at):
        return datetime.datetime.fromtimestamp(self.base + at, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    # --- documents ---
    def put(self, path, content, at):
        self.docs[path] = (at, content.encode() if isinstance(content, str) else content)

    def put_json(self, path, document, at):
        self.put(path, json.dumps(document) + "\n", at)

    def json(self, path):
        return json.loads(self.docs[path][1])

    def edit(self, path, change):
        document = self.json(path)
        document = change(document) or document
        self.put_json(path, document, self.docs[path][0])

    def touch(self, path, at):
        self.docs[path] = (at, self.docs[path][1])

    def drop(self, *paths):
        for path in paths:
            del self.docs[path]

    def restore(self, *paths):
        """As from a backup: the document or file as it was."""
        for path in paths:
            self.docs[path] = self.truth[path]

    # --- what the writer says of a file ---
    def added(self, n, path=None, content=None):
        content = data(n) if content is None else content
        return {"type": "add_file", "path": path or path_of(n), "size": len(content), "partitionValues": hour_of(n),
                "columnStats": stats(n), "numRecords": 2, "schemaVersion": 1}

    def listed(self, n):
        return {k: v for k, v in self.added(n).items() if k != "type"}

    def entry(self, n, operations, at=None):
        return {"id": "txn-%d" % n, "timestamp": self.iso(at_of(n) if at is None else at), "operations": operations,
                "commitMetadata": {"author": "hourly"}, "version": n, "table_uuid": UUID, "catalog": CATALOG, "dataChange": True}

    def replace(self, n, content):
        """File n with another content, its size told everywhere: nothing but the content is wrong."""
        path = path_of(n)
        self.put(path, content, self.docs[path][0])

        def resize(document):
            for each in document.get("files", []) + document.get("operations", []):
                if each["path"] == path and "size" in each:
                    each["size"] = len(content)
        self.edit(entry_of(n), resize)
        self.edit("manifest.json", resize)

    def relist(self, change):
        """Changes the manifest's list of files: change(files) may give a new one."""
        def edit(manifest):
            manifest["files"] = change(manifest["files"]) or manifest["files"]
        self.edit("manifest.json", edit)

    def commit(self, *operations):
        """The writer's next commit, now."""
        self.hours += 1
        n, at = self.hours, self.now
        while entry_of(n) in self.docs:
            self.hours = n = n + 1
        self.put_json(entry_of(n), self.entry(n, list(operations), at), at)
        manifest = self.json("manifest.json")
        gone = {op["path"] for op in operations if op["type"] == "remove_file"}
        manifest["files"] = [f for f in manifest["files"] if f["path"] not in gone]
        manifest["files"] += [{k: v for k, v in op.items() if k != "type"} for op in operations if op["type"] == "add_file"]
        manifest.update(version=n, transaction="txn-%d" % n, last_updated=self.iso(at))
        self.put_json("manifest.json", manifest, at)
        self.put("last_committed_txn", "txn-%d\n" % n, at)

    # --- onto the disk ---
    def write(self, folder):
        """docs None: the folder is not there."""
        for path, (at, content) in (self.docs or {}).items():
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if isinstance(content, tuple):  # ("link", to)
                os.symlink(content[1], target)
                continue
            with open(target, "wb") as f:
                f.write(content)
            os.utime(target, (self.base + at, self.base + at))


def healthy():
    """A fresh one; the same bytes every time."""
    global _healthy
    if _healthy is None:
        _healthy = Lake()
    return copy.deepcopy(_healthy)


_healthy = None
