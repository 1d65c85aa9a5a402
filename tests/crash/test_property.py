#!/usr/bin/env python3
"""Random commits, compactions, replacements, commits to several tables, rollbacks, repairs, schema changes, renames, drops and restores, with
kill -9 in between and in the middle, lost databases (a backup put back, a rebuild), against a model of a few lines. After each step and each crash, for every version that is
kept: the API's snapshot, the replay of the log on disk and the model are the same; manifest and pointer are the newest published
version; a storage that is looked at while the server is dead is a prefix of what was committed.

TARN_PROPERTY_SECONDS (8) says how long, TARN_PROPERTY_SEED which steps. A failure prints the seed and the steps."""
import copy, http.client, json, os, random, shutil, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "cases")]
from make_cases import GOOD
from tarn import TARN, Server, await_true, folder, main

SECONDS = float(os.environ.get("TARN_PROPERTY_SECONDS", "8"))
SEED = os.environ.get("TARN_PROPERTY_SEED") or str(random.SystemRandom().randrange(10 ** 9))
IS_LONG = SECONDS > 30
FILES_MAX = 200 if IS_LONG else 60     # live files of a table, about
LARGE = 10000 if IS_LONG else 0
VERSIONS_LOOKED_AT = 12                # a step, besides the newest; all of them after a crash
LAST_TOLD = 100                        # of the steps before a failure
VERSIONS_KEPT = 25                     # whatever the sweeper does beside us
# What the writer of the fixture put into it: two rows.
GOOD_STATS = {"user_id": {"min": 1000, "max": 5000, "nullCount": 0}, "event_type": {"min": "click", "max": "view", "nullCount": 0},
              "duration_seconds": {"min": 1.5, "max": 1.5, "nullCount": 1}}
BROKEN = (OSError, http.client.HTTPException)
FAULTS = {"manifest_missing", "manifest_unreadable", "foreign_write", "missing_transaction_log_entry", "storage_ahead",
          "unreadable_transaction_log_entry", "committed_file_not_in_manifest", "removed_file_in_manifest", "pointer_missing",
          "adoption_conflict", "pointer_mismatch", "pointer_unreadable", "version_regression", "missing_data_file", "size_mismatch",
          "duplicate_file", "schema_unreadable", "schema_version_not_in_history"}


# --- the model ---

class Table:
    """What a table must be: its snapshots by version, the transactions that made them, its schemas."""

    def __init__(self, name, location):
        self.name, self.location, self.is_live = name, location, True
        self.snapshots = {0: {}}      # version -> path -> file as the API tells it
        self.transactions = {}        # version -> id
        self.bodies = {}              # id -> (version, body) of commits that named their id
        self.schemas = []             # (schema, renames)
        self.base = 0                 # the first version: what an adoption began with
        self.oldest = 0               # the oldest one that is still kept
        self.undone = {}              # id -> id of the first rollback that undid it
        self.rollbacks = 0
        self.serial = 0
        self.log = {}                 # file name -> (stat, document): entries never change

    version = property(lambda self: max(self.snapshots))
    live = property(lambda self: self.snapshots[self.version])

    def after(self, operations):
        """The snapshot that a commit of these makes."""
        files = dict(self.live)
        for op in operations:
            if op["type"] == "remove_file":
                del files[op["path"]]
        for op in operations:
            if op["type"] == "add_file":
                entry = {k: v for k, v in op.items() if k != "type"}
                if self.schemas:
                    entry.setdefault("schemaVersion", len(self.schemas))
                files[op["path"]] = entry
        return files

    def lose(self, path):
        """The file of the snapshots so far is not there any more."""
        for files in self.snapshots.values():
            if path in files:
                files[path] = {**files[path], "_gone": True}

    def step_to(self, files, transaction):
        self.snapshots[self.version + 1] = files
        self.transactions[self.version] = transaction


class Step:
    """One request. `happened(client)` tells after a crash whether it did; `apply(answer)` then changes the model (the answer is None
    when a crash took it). `refused`: (status, code) that it must get, and nothing changes."""

    def __init__(self, method, path, body, tables, apply, happened=None, refused=None, wanted=(201,), makes=()):
        self.method, self.path, self.body, self.tables = method, path, body, tables
        self.apply, self.happened, self.refused, self.wanted = apply, happened, refused, wanted
        self.makes = dict(zip(tables, makes)) # the snapshots that it makes

    def __str__(self):
        return f"{self.method} {self.path} {json.dumps(self.body)}" + (f" -> {self.refused}" if self.refused else "")


def url(table, rest=""):
    return f"/api/table/{table.name}{rest}"


def moved(table, by=1):
    """Is the catalog one version further than the model?"""
    def ask(client):
        now = client.get(url(table))["version"]
        assert table.version <= now <= table.version + by, f"{table.name} is at {now}, the model at {table.version}"
        return now > table.version
    return ask


# --- what is tried ---

class Try:
    def __init__(self, rng, tables, lake, can):
        self.rng, self.tables, self.lake, self.can = rng, tables, lake, can
        self.names, self.busy = 0, set()

    def free(self, is_live=True):
        return [t for t in self.tables if t.is_live == is_live and t not in self.busy]

    def pick(self, of=lambda t: True):
        found = [t for t in self.free() if of(t)]
        return self.rng.choice(found) if found else None

    def step(self, others=(), may_damage=True):
        """The next one, of tables that none of the others is about; None: this kind does not fit now. Without `may_damage` storage is in
        order all the time."""
        self.busy = {table for other in others for table in other.tables}
        kinds = [(30, self.commit), (8, self.replace), (8, self.compact), (6, self.stale), (6, self.replay), (5, self.conflict),
                 (6, self.schema), (4, self.rename), (3, self.drop), (5, self.restore)]
        if "group" in self.can:
            kinds += [(8, self.group), (3, self.group_stale)]
        if "rollback" in self.can:
            kinds += [(7, self.rollback), (2, self.rollback_incomplete)]
        if "repair" in self.can:
            kinds += [(5, self.register), (4, self.forget), (2, self.republish)]
        if "repair" in self.can and may_damage:
            kinds += [(3, self.damage), (3, self.adopt)]
        weights, makers = zip(*kinds)
        return self.rng.choices(makers, weights)[0]()

    # files

    def write(self, table, path, size):
        target = os.path.join(table.location, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as f:
            f.truncate(size)

    def mend(self, table, files):
        """A replacement that did not come about has written over its file."""
        for path, entry in files.items():
            self.write(table, path, entry["size"])

    def add(self, table, path=None):
        rng = self.rng
        if path is None:
            table.serial += 1
            path = f"d={rng.randrange(4)}/{rng.choice('abc')}-{table.serial:06}.parquet"
        op = {"type": "add_file", "path": path, "size": rng.randrange(1, 5000)}
        if rng.random() < 0.5:
            op["partitionValues"] = {"d": path[2]}
            op["columnStats"] = {"id": {"min": rng.randrange(100), "max": rng.randrange(100, 200), "nullCount": 0}}
        if rng.random() < 0.5:
            op["numRecords"] = rng.randrange(1, 10 ** 6)
        if table.schemas and rng.random() < 0.3:
            op["schemaVersion"] = rng.randrange(1, len(table.schemas) + 1)
        self.write(table, path, op["size"])
        return op

    def adds(self, table, most=6, may_be_large=True):
        count = self.rng.randrange(1, most + 1)
        if self.rng.random() < 0.02:
            count = self.rng.randrange(400)
        if LARGE and may_be_large and self.rng.random() < 0.01:
            count = LARGE + self.rng.randrange(1000) # more than one transaction of the store takes
        return [self.add(table) for _ in range(max(count, 1))]

    def removes(self, table, most=4):
        count = min(len(table.live), self.rng.randrange(most + 1))
        if len(table.live) > FILES_MAX:
            count = len(table.live) // 2
        return [{"type": "remove_file", "path": p} for p in self.rng.sample(sorted(table.live), count)]

    # commits

    def make(self, table, operations, **more):
        body = {"operations": operations, **more}
        if self.rng.random() < 0.4:
            table.serial += 1
            # No default id may come to be the same: those go on from the newest number under its prefix.
            body["transaction_id"] = self.rng.choice([f"c-{table.serial:05}x", f"job.{table.serial}_7", f"{table.serial}-0009"])
        if self.rng.random() < 0.3:
            body["commitMetadata"] = {"author": "property", "description": "ä \" \\ " + str(table.serial)}

        files = table.after(operations)

        def apply(answer, client=None):
            entry = answer or newest_commit(client, table)
            assert entry["version"] == table.version + 1, entry
            if answer:
                assert answer["files"] == len(files) and answer["table"] == table.name, answer
            if "transaction_id" in body:
                assert entry["transaction"] == body["transaction_id"], entry
                table.bodies[body["transaction_id"]] = (table.version + 1, body)
            table.step_to(files, entry["transaction"])
        return body, apply, files

    def commit(self):
        table = self.pick()
        if not table:
            return None
        removes = self.removes(table)
        body, apply, files = self.make(table, removes + self.adds(table))
        if removes or self.rng.random() < 0.5:
            body["expected_version"] = table.version
        return Step("POST", url(table, "/commits"), body, [table], apply, moved(table), makes=[files])

    def replace(self):
        table = self.pick(lambda t: t.live)
        if not table:
            return None
        paths = self.rng.sample(sorted(table.live), min(len(table.live), self.rng.randrange(1, 3)))
        operations = [{"type": "remove_file", "path": p} for p in paths] + [self.add(table, p) for p in paths]
        body, apply, files = self.make(table, operations, expected_version=table.version)
        for path in paths: # what lies there is another file now: no rollback can bring the old one back
            table.lose(path)
        return Step("POST", url(table, "/commits"), body, [table], apply, moved(table), makes=[files])

    def compact(self):
        table = self.pick(lambda t: len(t.live) > 2)
        if not table:
            return None
        body, apply, files = self.make(table, self.removes(table, 8) + [self.add(table)], dataChange=False)
        return Step("POST", url(table, "/commits"), body, [table], apply, moved(table), makes=[files])

    def stale(self):
        table = self.pick(lambda t: t.version > t.base)
        if not table:
            return None
        body = {"operations": self.adds(table)}
        body["expected_version"] = self.rng.choice([table.version - 1, table.version + 1, 0])
        return Step("POST", url(table, "/commits"), body, [table], None, refused=(409, "version_conflict"))

    def replay(self):
        """The same id and body again gives the first answer; with another body, or undone since, a refusal."""
        table = self.pick(lambda t: t.bodies)
        if not table:
            return None
        transaction = self.rng.choice(sorted(table.bodies))
        version, body = table.bodies[transaction]
        if transaction in table.undone:
            if table.rollbacks > 1: # it may have come back
                return None
            return Step("POST", url(table, "/commits"), body, [table], None, refused=(409, "transaction_rolled_back"))
        if self.rng.random() < 0.3:
            other = {**body, "operations": body["operations"] + [self.add(table)]}
            return Step("POST", url(table, "/commits"), other, [table], None, refused=(409, "transaction_exists"))

        def apply(answer, client=None):
            if answer:
                assert answer["version"] == version, answer
        return Step("POST", url(table, "/commits"), body, [table], apply, lambda client: True, wanted=(200,))

    def conflict(self):
        table = self.pick(lambda t: t.live)
        if not table:
            return None
        there = self.rng.choice(sorted(table.live))
        wrong = ({"type": "add_file", "path": there, "size": 1} if self.rng.random() < 0.5
                 else {"type": "remove_file", "path": "d=0/never.parquet"})
        body = {"operations": [self.add(table), wrong], "expected_version": table.version}
        return Step("POST", url(table, "/commits"), body, [table], None, refused=(409, "file_conflict"))

    # several tables

    def members(self):
        found = self.free()
        if len(found) < 2:
            return None
        return self.rng.sample(found, self.rng.randrange(2, len(found) + 1))

    def group(self):
        tables = self.members()
        if not tables:
            return None
        bodies, applies, snapshots = [], [], []
        for table in tables:
            body, apply, files = self.make(table, self.removes(table) + self.adds(table, may_be_large=False),
                                            expected_version=table.version)
            bodies.append({"table": table.name, **body})
            applies.append(apply)
            snapshots.append(files)
        if sum(len(b["operations"]) for b in bodies) > 10000: # together at most
            return None

        def apply(answer, client=None):
            for i, one in enumerate(applies):
                one(answer and answer["commits"][i], client)

        def happened(client):
            each = [moved(t)(client) for t in tables]
            assert len(set(each)) == 1, f"a part of the tables moved: {[t.name for t in tables]}: {each}"
            return each[0]
        return Step("POST", "/api/transactions", {"tables": bodies}, tables, apply, happened, makes=snapshots)

    def group_stale(self):
        tables = self.members()
        if not tables:
            return None
        bodies = [{"table": t.name, "expected_version": t.version, "operations": self.adds(t, 2, False)} for t in tables]
        self.rng.choice(bodies)["expected_version"] += 1
        return Step("POST", "/api/transactions", {"tables": bodies}, tables, None, refused=(409, "version_conflict"))

    # back

    def rollback(self):
        table = self.pick(lambda t: t.version > t.oldest)
        if not table:
            return None
        to = self.rng.randrange(max(table.oldest, table.version - VERSIONS_KEPT + 1), table.version)
        files = table.snapshots[to]
        back = [p for p in files if table.live.get(p) != files[p]]
        is_gone = any("_gone" in files[p] for p in back)
        body = {"expected_version": table.version, "to_version": to}

        def apply(answer, client=None):
            entry = answer or newest_commit(client, table)
            assert entry["version"] == table.version + 1, entry
            for version in range(to + 1, table.version + 1):
                table.undone.setdefault(table.transactions.get(version), entry["transaction"])
            table.rollbacks += 1
            table.step_to(dict(files), entry["transaction"])
        if is_gone:
            return None
        return Step("POST", url(table, "/rollback"), body, [table], apply, moved(table), makes=[files])

    def rollback_incomplete(self):
        """A file of the snapshot is gone for good: a reader of it would fail, so it is not brought back."""
        table = self.pick(lambda t: t.version > t.oldest)
        if not table:
            return None
        to = self.rng.randrange(max(table.oldest, table.version - VERSIONS_KEPT + 1), table.version)
        back = [p for p in table.snapshots[to] if p not in table.live]
        if not back:
            return None
        path = self.rng.choice(sorted(back))
        try:
            os.unlink(os.path.join(table.location, path))
        except FileNotFoundError:
            pass
        table.lose(path)
        return Step("POST", url(table, "/rollback"), {"expected_version": table.version, "to_version": to}, [table], None,
                    refused=(422, "snapshot_incomplete"))

    # repairs

    def put_good(self, table):
        """A real file that nobody registered, and the entry that register makes of it."""
        table.serial += 1
        path = f"d={self.rng.randrange(4)}/good-{table.serial:06}.parquet"
        self.write(table, path, 0)
        with open(os.path.join(table.location, path), "wb") as f:
            f.write(GOOD)
        entry = {"path": path, "size": len(GOOD), "numRecords": 2, "partitionValues": {"d": path[2]}, "columnStats": GOOD_STATS}
        return {**entry, "schemaVersion": len(table.schemas)} if table.schemas else entry

    def repair(self, table, plan, files, paths=None, **more):
        def apply(answer, client=None):
            entry = answer["commit"] if answer else newest_commit(client, table)
            assert entry["version"] == table.version + 1, entry
            table.step_to(files, entry["transaction"])
        body = {"plan": plan, "dry_run": False, **({"paths": paths} if paths else {}), **more}
        return Step("POST", url(table, "/repair"), body, [table], apply, moved(table), makes=[files])

    def register(self):
        table = self.pick()
        if not table:
            return None
        added = [self.put_good(table) for _ in range(self.rng.randrange(1, 4))]
        return self.repair(table, "register", {**table.live, **{e["path"]: e for e in added}}, [e["path"] for e in added])

    def forget(self):
        table = self.pick(lambda t: t.live)
        if not table:
            return None
        paths = self.rng.sample(sorted(table.live), min(len(table.live), self.rng.randrange(1, 4)))
        files = {p: e for p, e in table.live.items() if p not in paths}
        for path in paths:
            os.unlink(os.path.join(table.location, path))
            table.lose(path)
        return self.repair(table, "forget", files, paths if self.rng.random() < 0.5 else None)

    def republish(self):
        table = self.pick()
        if not table:
            return None
        return Step("POST", url(table, "/repair"), {"plan": "republish", "dry_run": False}, [table], lambda answer, client=None: None,
                    lambda client: True, wanted=(200,))

    def damage(self):
        """Of the documents of a published table: some are gone, others hold something else. The republish brings them back."""
        step = self.republish()
        if not step:
            return None
        table = step.tables[0]
        newest = [v for v in table.transactions if v > max(table.oldest + 3, table.version - 8)]
        names = ["manifest.json", "last_committed_txn"] + (["schema.json"] if table.schemas else [])
        names += [f"_transactions/{table.transactions[v]}.json" for v in newest]
        for name in self.rng.sample(names, self.rng.randrange(1, len(names) + 1)):
            path = os.path.join(table.location, name)
            if not os.path.exists(path):
                continue
            table.log.pop(os.path.basename(name), None)
            if self.rng.random() < 0.4:
                os.unlink(path)
            else:
                with open(path, "r+b") as f:
                    f.truncate(self.rng.choice([0, os.path.getsize(path) // 2]))
        return step

    def adopt(self):
        """An old writer adds a file to the manifest and takes one out, and adoption makes a version of it."""
        table = self.pick(lambda t: t.version > t.base)
        if not table or not os.path.exists(os.path.join(table.location, "manifest.json")):
            return None
        added, files = self.put_good(table), dict(table.live)
        with open(os.path.join(table.location, "manifest.json")) as f:
            document = json.load(f)
        if document["version"] != table.version:
            return None
        document["files"].append({"path": added["path"], "size": added["size"]})
        if files and self.rng.random() < 0.5:
            gone = self.rng.choice(sorted(files))
            del files[gone]
            document["files"] = [f for f in document["files"] if f["path"] != gone]
        with open(os.path.join(table.location, "manifest.json"), "w") as f:
            json.dump(document, f)
        return self.repair(table, "adopt", {**files, added["path"]: added})

    # the rest

    def schema(self):
        table = self.pick()
        if not table or len(table.schemas) > 12:
            return None
        fields = copy.deepcopy(table.schemas[-1][0]["fields"]) if table.schemas else []
        renames = {}
        if fields and self.rng.random() < 0.4:
            field = self.rng.choice(fields)
            renames = {field["name"]: f"{field['name'].split('_')[0]}_{len(table.schemas)}"}
            field["name"] = renames[field["name"]]
        else:
            fields.append({"name": f"c{len(table.schemas)}", "type": self.rng.choice(["int32", "string", "list<double>"]),
                           "nullable": True})
        schema = {"type": "struct", "fields": fields}
        body = {"expected_version": len(table.schemas), "schema": schema, **({"renames": renames} if renames else {})}

        def happened(client):
            now = client.get(url(table))["schema_version"]
            assert len(table.schemas) <= now <= len(table.schemas) + 1
            return now > len(table.schemas)
        return Step("POST", url(table, "/schemas"), body, [table],
                    lambda answer, client=None: table.schemas.append((schema, renames)), happened)

    def rename(self):
        table = self.pick()
        if not table:
            return None
        self.names += 1
        before, after = table.name, f"{self.rng.choice(['', 'sales.', 'sales.eu.'])}{table.name.split('.')[-1][0]}{self.names}"

        def apply(answer, client=None):
            table.name = after

        def happened(client):
            was, now = (client.call("GET", f"/api/table/{name}")[0] for name in (before, after))
            assert sorted((was, now)) == [200, 404], (was, now)
            return now == 200
        return Step("PATCH", url(table), {"name": after}, [table], apply, happened, wanted=(200,))

    def drop(self):
        table = self.pick()
        if not table:
            return None

        def apply(answer, client=None):
            table.is_live = False
        return Step("DELETE", url(table), None, [table], apply,
                    lambda client: client.call("GET", url(table))[0] == 404, wanted=(204,))

    def restore(self):
        dropped = self.free(is_live=False)
        if not dropped:
            return None
        table = self.rng.choice(dropped)

        def apply(answer, client=None):
            table.is_live = True
        return Step("POST", url(table, "/restore"), None, [table], apply,
                    lambda client: client.call("GET", url(table))[0] == 200, wanted=(200,))


def newest_commit(client, table):
    return client.get(url(table, "/commits?page_size=1"))["commits"][0]


# --- what must hold ---

def plain(files):
    return {path: {k: v for k, v in entry.items() if k != "_gone"} for path, entry in files.items()}


def by_path(listed):
    files = {}
    for entry in listed:
        assert entry["path"] not in files, f"{entry['path']} is listed twice"
        files[entry["path"]] = entry
    return files


def same(what, got, wanted):
    if got == wanted:
        return
    lacking = sorted(set(wanted) - set(got))[:3]
    extra = sorted(set(got) - set(wanted))[:3]
    differing = [(p, got[p], wanted[p]) for p in sorted(set(got) & set(wanted)) if got[p] != wanted[p]][:3]
    raise AssertionError(f"{what}: {len(got)} files, not {len(wanted)}; lacks {lacking}, has {extra}, differs in {differing}")


class Storage:
    """The documents of one table as they lie there."""

    def __init__(self, table):
        self.table = table
        self.manifest = self.read("manifest.json")
        pointer = self.text("last_committed_txn")
        self.pointer = pointer.strip() if pointer is not None else None

    def text(self, name):
        try:
            with open(os.path.join(self.table.location, name)) as f:
                return f.read()
        except FileNotFoundError:
            return None

    def read(self, name):
        text = self.text(name)
        return None if text is None else json.loads(text)

    def entries(self):
        """By version. An entry that was read once must stay as it is."""
        log, found = os.path.join(self.table.location, "_transactions"), {}
        for name in os.listdir(log) if os.path.isdir(log) else []:
            if not name.endswith(".json") or name.endswith(".checkpoint.json") or name.startswith("."):
                continue
            path = os.path.join(log, name)
            stat = os.stat(path)
            key = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            if name not in self.table.log:
                with open(path) as f:
                    self.table.log[name] = (key, json.load(f))
            assert self.table.log[name][0] == key, f"{name} was written again"
            entry = self.table.log[name][1]
            assert entry["id"] + ".json" == name
            if "version" in entry:
                assert entry["version"] not in found, f"two entries of version {entry['version']}"
                found[entry["version"]] = entry
        return found

    def checkpoint(self):
        """The newest log checkpoint, the ground from which a shortened log is replayed: (version, files) or None."""
        log, best = os.path.join(self.table.location, "_transactions"), None
        for name in os.listdir(log) if os.path.isdir(log) else []:
            if name.endswith(".checkpoint.json"):
                document = self.read("_transactions/" + name)
                if best is None or document["version"] > best[0]:
                    best = document["version"], by_path(document["files"])
        return best

    def replay(self, newest):
        """Snapshots by version, as the log tells them."""
        entries, table = self.entries(), self.table
        version, files = table.base, plain(table.snapshots[table.base])
        if version + 1 not in entries and self.checkpoint():
            version, files = self.checkpoint()
        snapshots = {version: files}
        for version in range(version + 1, newest + 1):
            assert version in entries, f"the log lacks version {version} of {newest}"
            files = dict(files)
            for op in entries[version]["operations"]: # in their order
                if op["type"] == "remove_file":
                    del files[op["path"]]
                else:
                    assert op["path"] not in files, f"version {version} adds {op['path']}, which is there"
                    files[op["path"]] = {k: v for k, v in op.items() if k != "type"}
            snapshots[version] = files
        return snapshots


def judge_dead_storage(table, pending):
    """While the server is dead: pointer <= manifest <= log <= committed, each of them whole. `pending` is the snapshot that a step in
    the middle makes, if it does."""
    storage = Storage(table)
    snapshots = dict(table.snapshots)
    if pending is not None:
        snapshots[table.version + 1] = pending
    log = max(storage.entries(), default=table.base)
    assert log <= max(snapshots), f"the log is ahead: {log}"
    if storage.manifest is None:
        assert table.base == 0 and log == 0 and storage.pointer is None, "no manifest, but a log"
        return
    version = storage.manifest["version"]
    assert version <= log or version == table.base, f"manifest {version} is ahead of the log {log}"
    for v, files in storage.replay(log).items():
        same(f"dead: {table.name}: the log at {v}", files, plain(snapshots[v]))
    same(f"dead: {table.name}: the manifest at {version}", by_path(storage.manifest["files"]), plain(snapshots[version]))
    known = {t: v for v, t in table.transactions.items()}
    if storage.pointer in known:
        assert known[storage.pointer] <= version, f"the pointer {storage.pointer} is ahead of the manifest {version}"


def files_at(client, table, version):
    """A long list is cut when its version expires meanwhile: asked again it says so."""
    try:
        return client.call("GET", url(table, f"/files?version={version}"))
    except http.client.IncompleteRead:
        client.close()
        status, there = client.call("GET", url(table, f"/files?version={version}"))
        assert (status, there["code"]) == (404, "version_expired"), there
        return status, there


def judge_snapshots(client, table, oldest, versions):
    for version in versions:
        status, there = files_at(client, table, version)
        if status == 404 and there["code"] == "version_expired" and version < there["oldest_version"] < table.version:
            table.oldest = max(table.oldest, there["oldest_version"]) # the sweeper works beside us
            continue
        assert status == 200, there
        assert there["version"] == version and there["transaction"] == table.transactions.get(version, there["transaction"])
        same(f"{table.name}: the API at {version}", by_path(there["files"]), plain(table.snapshots[version]))
    if oldest > 0:
        status, answer = client.call("GET", url(table, f"/files?version={oldest - 1}"))
        assert status == 404 and answer["code"] in ("version_expired", "version_not_found"), answer
    status, answer = client.call("GET", url(table, f"/files?version={table.version + 1}"))
    assert (status, answer["code"]) == (404, "version_not_found"), answer


def judge_table(client, table, rng, is_all):
    row = await_true(f"{table.name} is published", lambda: (lambda r: r if r["published_version"] == r["version"] else
                                                            None)(client.get(url(table))))
    assert row["version"] == table.version and row["schema_version"] == len(table.schemas), row
    assert row["latest_transaction"] == table.transactions.get(table.version, row["latest_transaction"]), row
    assert row["block"] is None, row
    oldest = table.oldest = row["oldest_version"]
    versions = [v for v in sorted(table.snapshots) if oldest <= v < table.version]
    if not is_all and len(versions) > VERSIONS_LOOKED_AT:
        versions = rng.sample(versions, VERSIONS_LOOKED_AT)
    judge_snapshots(client, table, oldest, versions + [table.version])
    newest = client.get(url(table, "/files"))
    same(f"{table.name}: the newest", by_path(newest["files"]), plain(table.live))

    storage = Storage(table)
    for version, files in storage.replay(table.version).items():
        same(f"{table.name}: the log at {version}", files, plain(table.snapshots[version]))
    if storage.manifest is None:
        raise AssertionError(f"{table.name} has no manifest")
    assert storage.manifest["version"] == table.version
    same(f"{table.name}: the manifest", by_path(storage.manifest["files"]), plain(table.live))
    assert storage.pointer == row["latest_transaction"], storage.pointer
    history = client.get(url(table, "/commits"))["commits"]
    told = {c["version"]: c["transaction"] for c in history if c["version"] is not None}
    kept = client.get(url(table))["oldest_version"] # asked afterwards: the sweeper works beside us
    wanted = {v: t for v, t in table.transactions.items() if v in told or v > kept}
    assert told == wanted, f"the history: {set(told.items()) ^ set(wanted.items())}"
    judge_schemas(client, table, storage)
    # Scans run beside it all: what they say may be old, but not wrong. (A replaced file has another size before its commit.)
    found = [f["message"] for f in client.get(url(table, "/status"))["findings"] if f["code"] in FAULTS - {"size_mismatch"}]
    assert not found, f"{table.name}: the monitors say {found}"


def judge_schemas(client, table, storage):
    if not table.schemas:
        return
    wanted = {n + 1: schema for n, (schema, _) in enumerate(table.schemas)}
    told = client.get(url(table, "/schemas"))
    assert {v["version"]: v["schema"] for v in told["versions"]} == wanted, told

    def published():
        document = storage.read("schema.json")
        return document and document["current_version"] == len(wanted) and document
    document = await_true("schema.json", published)
    shown = {v["version"]: v["schema"] for v in document["versions"]}
    shown[document["current_version"]] = document["schema"]
    assert shown == wanted, document


def judge_findings(client, table):
    """A scan may have met a replaced file before its commit: such a finding closes after two good looks."""
    for _ in range(2):
        status, answer = client.call("POST", url(table, "/check?depth=sweep"))
        assert status == 200, answer
        found = [f["message"] for f in answer["findings"] if f["code"] in FAULTS]
        if not found:
            return
    assert not found, found


# --- the run ---

def flags_known(*flags):
    """Those that this program knows."""
    text = subprocess.run([TARN, "serve", "--help"], capture_output=True, text=True).stdout
    return flags if flags[0] in text else ()


class Run:
    def __init__(self, data, rng):
        self.rng, self.lake, self.steps, self.counts, self.backup = rng, data + "/lake", [], {}, None
        self.server = Server(data, "--scan-interval", "1s", *flags_known("--history-retention", "1s", "--history-versions", str(VERSIONS_KEPT))).start()
        self.client = self.server.client()
        self.tables = [self.register(n) for n in "abc"]
        self.tables.append(self.adopt("d"))
        self.tries = Try(rng, self.tables, self.lake, self.capabilities())

    def register(self, name):
        table = Table(name, f"{self.lake}/{name}")
        body = {"name": name, "location": table.location}
        if name != "c":
            table.schemas.append(({"type": "struct", "fields": [{"name": "id", "type": "int64", "nullable": False}]}, {}))
            body["schema"] = table.schemas[0][0]
        status, answer = self.client.call("POST", "/api/tables", body)
        assert status == 201, answer
        return table

    def adopt(self, name):
        """One that another writer began: version 4, an entry above the pointer. (Of a rebuilt catalog that entry is one of those from before,
        so that a number left out before it would be told as a lost one.)"""
        table = Table(name, f"{self.lake}/{name}")
        os.makedirs(table.location + "/_transactions")
        files = {f"d=0/old-{n}.parquet": {"path": f"d=0/old-{n}.parquet", "size": 10 + n} for n in range(1, 5)}
        for n, entry in enumerate(files.values(), 1):
            with open(f"{table.location}/_transactions/txn-{n}.json", "w") as f:
                json.dump({"id": f"txn-{n}", "operations": [{"type": "add_file", **entry}]}, f)
        with open(f"{table.location}/_transactions/txn-5.json", "w") as f:
            json.dump({"id": "txn-5", "operations": [{"type": "add_file", "path": "d=0/never.parquet", "size": 1}]}, f)
        with open(table.location + "/manifest.json", "w") as f:
            json.dump({"version": 4, "files": list(files.values())}, f)
        with open(table.location + "/last_committed_txn", "w") as f:
            f.write("txn-4")
        for entry in files.values():
            path = os.path.join(table.location, entry["path"])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.truncate(entry["size"])
        status, answer = self.client.call("POST", "/api/tables", {"name": name, "location": table.location})
        assert status == 201 and answer["version"] == 4, answer
        table.base, table.oldest, table.snapshots = 4, 4, {4: files}
        return table

    def capabilities(self):
        """Routes that this program has."""
        asked = {"rollback": "/api/table/no_such_table/rollback", "group": "/api/transactions",
                 "repair": "/api/table/no_such_table/repair"}
        return {what for what, path in asked.items() if self.client.call("POST", path, {})[1].get("code") != "not_found"}

    def note(self, line):
        self.steps.append(line)

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    # a step whose answer comes

    def go(self, step):
        self.note(str(step))
        status, answer = self.client.call(step.method, step.path, step.body)
        self.settle(step, status, answer)

    def settle(self, step, status, answer):
        if step.refused:
            assert (status, answer["code"]) == step.refused, f"{step}: {status} {answer}"
            self.count("refused")
            return
        assert status in step.wanted, f"{step}: {status} {answer}"
        self.count(f"{step.method} {step.path.rsplit('/', 1)[-1] if step.method == 'POST' else 'table'}")
        if step.method == "DELETE" or step.path.endswith("/restore"):
            self.backup = None
        step.apply(answer, self.client)

    # steps that a crash may meet

    def crash(self):
        steps = []
        for _ in range(self.rng.randrange(4)):
            step = self.tries.step(steps, may_damage=False)
            if step:
                steps.append(step)
        delay = self.rng.choice([0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.02])
        self.note(f"kill -9 after {delay} s with " + (" | ".join(map(str, steps)) or "nothing"))
        answers = {}
        threads = [threading.Thread(target=self.send, args=(step, answers), daemon=True) for step in steps]
        for thread in threads:
            thread.start()
        time.sleep(delay)
        self.server.kill()
        for thread in threads:
            thread.join(60)
        self.judge_dead(steps)
        self.server.start()
        self.client = self.server.client()
        for step in steps:
            self.recover(step, answers.get(step))
        self.count("crash")

    def lose(self):
        """At a quiet moment the database is lost: an older backup of it is put back, or it is rebuilt from the folders alone."""
        self.restore_all()
        self.judge(True)
        self.server.kill()
        for suffix in ("", "-wal", "-shm"):
            path = f"{self.server.data}/tarn.sqlite{suffix}"
            if os.path.exists(path):
                os.unlink(path)
        logs = {table: Storage(table).entries() for table in self.tables}
        if self.backup and self.rng.random() < 0.5 and self.leads_to(self.backup[1], logs):
            self.note("the backup is put back")
            shutil.copyfile(self.backup[0], f"{self.server.data}/tarn.sqlite")
            self.count("restored backup")
        else:
            self.note("tarn recover")
            done = subprocess.run([TARN, "recover", "--data", self.server.data, "--json", self.lake], capture_output=True, text=True)
            told = [t for t in json.loads(done.stdout or "{}").get("told", ["no answer"])]
            assert done.returncode == 0, (done.returncode, told, done.stderr)
            for table, log in logs.items(): # an id whose entry is gone is known to nobody
                table.bodies = {i: (version, body) for i, (version, body) in table.bodies.items() if version in log}
            self.backup = None
            self.count("rebuilt")
        self.server.start()
        self.client = self.server.client()
        self.judge(True)

    def leads_to(self, versions, logs):
        """Is every version since those still in the log? Else a start takes nothing back by itself."""
        return all(v in logs[t] for t in self.tables for v in range(versions[t] + 1, t.version + 1))

    def back_up(self):
        """What a backup does not hold and storage does not tell, a drop or a restore, ends its use."""
        path = f"{self.server.data}/../backup-{len(self.steps)}.sqlite"
        subprocess.run([TARN, "backup", path, "--url", f"http://127.0.0.1:{self.server.port}", "--token", self.server.token], check=True,
                       stdout=subprocess.DEVNULL)
        if self.backup:
            os.unlink(self.backup[0])
        self.backup = path, {table: table.version for table in self.tables}
        self.note(f"backup {path}")

    def restore_all(self):
        for table in self.tables:
            if not table.is_live:
                assert self.client.call("POST", url(table, "/restore"))[0] == 200
                table.is_live = True
                self.backup = None

    def send(self, step, answers):
        try:
            client = self.server.client()
            answers[step] = client.call(step.method, step.path, step.body)
        except BROKEN:
            pass

    def judge_dead(self, steps):
        for table in self.tables:
            pending = [s.makes[table] for s in steps if table in s.makes and not s.refused]
            judge_dead_storage(table, pending[0] if pending else None)

    def recover(self, step, answer):
        """What was answered holds; what was not is asked for."""
        if answer:
            self.settle(step, *answer)
        elif step.refused:
            pass # nothing of it may be there: the judges see
        elif step.happened(self.client):
            self.note(f"  it happened: {step.method} {step.path}")
            step.apply(None, self.client)
            self.count("happened before the crash")
        else:
            for table in step.makes:
                self.tries.mend(table, table.live)

    # everything

    def judge(self, is_all):
        for table in self.tables:
            if table.is_live:
                judge_table(self.client, table, self.rng, is_all)
            else:
                status, answer = self.client.call("GET", url(table))
                assert status == 404, answer

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            chance = self.rng.random()
            if chance < 0.06:
                self.crash()
                self.judge(True)
                continue
            if chance < 0.08 and all(t.version > t.base for t in self.tables):
                self.lose()
                continue
            if chance < 0.11:
                self.back_up()
            began = time.monotonic()
            step = self.tries.step()
            if time.monotonic() - began > 5: # many files were written: the server may have closed the idle connection
                self.client = self.server.client()
            if step:
                self.go(step)
                self.judge(False)
        for table in self.tables:
            if not table.is_live:
                self.client.call("POST", url(table, "/restore"))
                table.is_live = True
        self.judge(True)
        for table in self.tables:
            judge_findings(self.client, table)
        assert self.server.stop() == 0


def snapshot_log_and_model_are_the_same_after_every_step_and_crash():
    rng = random.Random(SEED)
    with folder() as home:
        run = Run(home + "/data", rng)
        try:
            run.run(SECONDS)
        except Exception as fault:
            steps = run.steps[-LAST_TOLD:]
            print(f"--- seed {SEED}: after {len(run.steps)} steps, the last ones:", *(s[:1000] for s in steps), sep="\n  ")
            raise AssertionError(f"seed {SEED}") from fault
        print(f"     seed {SEED}: {len(run.steps)} steps, versions {[t.version for t in run.tables]}, "
              + ", ".join(f"{n} {what}" for what, n in sorted(run.counts.items())))


main(snapshot_log_and_model_are_the_same_after_every_step_and_crash)
