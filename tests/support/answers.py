"""All that a catalog answers about its tables, for tests that compare one with another that should be the same; and a
writer that fills tables by the API with all that can happen to them."""
import json, os, random, urllib.parse
from tarn import await_true

# What may differ between two catalogs that tell the same: how often a row changed, what a scan saw when.
ROW_LEFT_OUT = ("revision", "published_version", "block")


def quoted(table):
    return urllib.parse.quote(table, safe="")


def pages(client, path, plural):
    return client.get(path)[plural]


def table_answers(client, table, left_out=()):
    """Everything that GET tells of one table, every version of it."""
    url = f"/api/table/{quoted(table)}"
    row = client.get(url)
    out = {"row": {k: v for k, v in row.items() if k not in ROW_LEFT_OUT and k not in left_out}}
    out["commits"] = client.get(url + "/commits")["commits"]
    out["entries"] = {}
    for commit in out["commits"]:
        status, entry = client.call("GET", f"{url}/commits/{commit['transaction']}")
        assert status == 200, (table, commit, entry)
        if commit["version"] is None or commit["version"] <= row["oldest_version"]:
            continue  # told from storage, whoever asks
        out["entries"][commit["transaction"]] = {**entry, "operations": sorted(entry["operations"], key=lambda op: (op["type"], op["path"]))}
    out["versions"] = {}
    for version in range(row["oldest_version"], row["version"] + 1):
        answer = client.get(f"{url}/files?version={version}")
        answer["files"].sort(key=lambda f: f["path"])
        out["versions"][version] = answer
    out["schemas"] = client.get(url + "/schemas")
    out["mappings"] = [client.get(f"{url}/schemas/{v['version']}/mapping") for v in out["schemas"]["versions"]]
    out["batches"] = {b["batch_id"]: {k: v for k, v in b.items() if k != "published"}
                      for b in client.get(url + "/batches")["batches"]}
    status, manifest = client.call("GET", url + "/manifest")
    out["manifest"] = manifest if status == 200 else status
    return out


def catalog_answers(client, left_out=()):
    tables = client.get("/api/tables")["tables"]
    return {t["name"]: table_answers(client, t["name"], left_out) for t in tables}


def until_published(client, tables):
    def all_shown():
        rows = [client.get(f"/api/table/{quoted(t)}") for t in tables]
        batches = [b for t in tables for b in client.get(f"/api/table/{quoted(t)}/batches")["batches"]]
        return all(r["published_version"] == r["version"] for r in rows) and all(b["published"] for b in batches)
    await_true("storage shows everything", all_shown)


def assert_same(one, other, what):
    """Names the first place where the two differ."""
    def differ(a, b, at):
        if isinstance(a, dict) and isinstance(b, dict):
            for key in sorted(set(a) | set(b), key=str):
                assert key in a and key in b, f"{what}: {at}.{key} is only {'before' if key in a else 'after'}"
                differ(a[key], b[key], f"{at}.{key}")
        elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
            for i, (x, y) in enumerate(zip(a, b)):
                differ(x, y, f"{at}[{i}]")
        else:
            assert a == b, f"{what}: {at} was {a!r:.2000} and is {b!r:.2000}"
    differ(one, other, "")


class Writer:
    """Random life of tables by the API. Data files are a few bytes: nobody reads them here."""

    def __init__(self, client, root, seed=0):
        self.client, self.root, self.rng, self.serial = client, root, random.Random(seed), 0
        self.tables, self.live, self.locations, self.schemas, self.commits = [], {}, {}, {}, 0

    def must(self, method, path, body=None, wanted=(200, 201)):
        status, answer = self.client.call(method, path, body)
        assert status in wanted, (method, path, body, status, answer)
        return answer

    def url(self, table, rest=""):
        return f"/api/table/{quoted(table)}{rest}"

    def register(self, name, location=None, **more):
        location = location or f"{self.root}/{urllib.parse.quote(name, safe='')}"
        answer = self.must("POST", "/api/tables", {"name": name, "location": location, **more})
        self.tables.append(name)
        self.live[name] = {}
        self.locations[name] = location
        self.schemas[name] = 1 if "schema" in more else 0
        return answer

    def file(self, table):
        self.serial += 1
        day = self.rng.randrange(1, 29)
        path = f"date=2024-02-{day:02}/f-{self.serial}.parquet"
        size = self.rng.randrange(1, 40)
        full = f"{self.locations[table]}/{path}"
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as f:
            f.write(b"x" * size)
        op = {"type": "add_file", "path": path, "size": size, "partitionValues": {"date": f"2024-02-{day:02}"}}
        if self.rng.random() < 0.5:
            op.update(numRecords=size, columnStats={"id": {"min": 0, "max": size, "nullCount": 0}})
        return op

    def body(self, table, adds=None):
        ops = [self.file(table) for _ in range(self.rng.randrange(1, 4) if adds is None else adds)]
        if self.live[table] and self.rng.random() < 0.3:
            gone = self.rng.sample(sorted(self.live[table]), min(len(self.live[table]), self.rng.randrange(1, 3)))
            ops += [{"type": "remove_file", "path": p} for p in gone]
        return {"operations": ops, "expected_version": self.version(table)}

    def version(self, table):
        return self.client.get(self.url(table))["version"]

    def note(self, table):
        self.live[table] = {f["path"]: f for f in self.client.get(self.url(table, "/files"))["files"]}
        self.commits += 1

    # --- what can happen ---

    def commit(self, table):
        body = self.body(table)
        kind = self.rng.randrange(4)
        if kind == 0:
            self.serial += 1
            body["transaction_id"] = f"job-{self.serial}.x"
        elif kind == 1:
            body["commitMetadata"] = {"author": "é", "description": "hourly \"load\"", "more": {"n": [1, 2.5, None]}}
        self.must("POST", self.url(table, "/commits"), body)
        self.note(table)

    def append(self, table):
        """One file, under the next number."""
        self.must("POST", self.url(table, "/commits"), {"operations": [self.file(table)]})
        self.note(table)

    def compact(self, table):
        if len(self.live[table]) < 2:
            return self.commit(table)
        gone = self.rng.sample(sorted(self.live[table]), 2)
        self.must("POST", self.url(table, "/commits"),
                  {"dataChange": False, "operations": [{"type": "remove_file", "path": p} for p in gone] + [self.file(table)]})
        self.note(table)

    def batch(self, table):
        self.serial += 1
        ids = [f"2024-02-01/b-{self.serial}-{i}.parquet" for i in range(self.rng.randrange(1, 3))]
        if self.rng.random() < 0.7:
            for batch in ids:
                self.must("POST", self.url(table, "/batches"), {"batch_id": batch, "status": "running", "num_records": 5, "size": 77,
                                                                "start_time": "2024-02-01T14:30:00Z"})
        body = self.body(table)
        body["batch_ids"] = ids
        self.must("POST", self.url(table, "/commits"), body)
        self.note(table)

    def checkpoint(self, table):
        self.serial += 1
        self.must("POST", self.url(table, "/batches"),
                  {"batch_id": f"alone-{self.serial}", "status": self.rng.choice(("running", "failed", "completed")), "num_records": 0})

    def rollback(self, table):
        row = self.client.get(self.url(table))
        if row["version"] - max(row["oldest_version"], 0) < 2:
            return self.commit(table)
        to = self.rng.randrange(max(row["oldest_version"], row["version"] - 12), row["version"])
        self.must("POST", self.url(table, "/rollback"), {"expected_version": row["version"], "to_version": to})
        self.note(table)

    def schema(self, table):
        number = self.schemas[table]
        fields = [{"name": "id", "type": "int64", "nullable": True}]
        fields += [{"name": f"c{i}", "type": "string", "nullable": True} for i in range(number + 1)]
        self.must("POST", self.url(table, "/schemas"), {"expected_version": number, "schema": {"type": "struct", "fields": fields}})
        self.schemas[table] += 1

    def group(self, table):
        others = [t for t in self.tables if t != table][:2]
        tables = [table, *others]
        self.must("POST", "/api/transactions", {"tables": [{"table": t, **self.body(t)} for t in tables]})
        for t in tables:
            self.note(t)

    def live_on(self, steps, tables=None):
        kinds = [(10, self.commit), (2, self.compact), (3, self.batch), (1, self.checkpoint), (1.5, self.rollback), (0.5, self.schema),
                 (1, self.group)]
        weights, makers = zip(*kinds)
        for _ in range(steps):
            self.rng.choices(makers, weights)[0](self.rng.choice(tables or self.tables))
