#!/usr/bin/env python3
"""A merge worker: staged batches into a table, each exactly once, through Tarn.

    merge_worker.py clickstream                    # TARN_URL and TARN_TOKEN say where and who
    merge_worker.py clickstream --key user_id      # update matching rows, insert the others (needs DuckDB)

A stream processor leaves batches under <table>/staging/2024-02-01/14/batch-000123.parquet. Each round of the worker

  1. picks up what is staged, and drops what Tarn says is merged already
  2. tells Tarn that those batches run
  3. writes the results under _temp/, where no reader looks
  4. moves them into the table's folders under names never used before: still in no snapshot
  5. commits: the new files in, the merged batches completed, both in one transaction of the catalog
  6. drops the staged files

It may die between any two steps, or before it reads the answer of 5, and be started again: a batch counts as merged when
its commit does, and a second commit of it is refused (409 batch_completed). What an attempt left behind is in no
snapshot. A batch whose commit is rolled back runs again, if its staged file is still there (--keep) or staged anew.

Only the standard library. Without DuckDB, or without --key, a staged file becomes a file of the table as it is."""
import argparse, http.client, json, os, shutil, sys, time, urllib.error, urllib.parse, urllib.request, uuid
from datetime import datetime, timezone

BATCHES_A_COMMIT = 100
LEFTOVER_SECONDS = 24 * 3600   # a file in _temp/ that is older belongs to nobody any more


def step(name, detail=""):
    print(f"{name:<9} {detail}", flush=True)


class Refused(Exception):
    """The server's no; `problem` is the application/problem+json."""

    def __init__(self, status, problem):
        super().__init__(f"{status} {problem.get('code')}: {problem.get('detail')}")
        self.status, self.problem, self.code = status, problem, problem.get("code")


class Tarn:
    def __init__(self, url, token, table):
        self.base, self.token = f"{url.rstrip('/')}/api/table/{urllib.parse.quote(table)}", token

    def ask(self, method, path="", body=None):
        """The answer's JSON. A lost answer or a busy server is asked again: every request here may be repeated."""
        request = urllib.request.Request(self.base + path, method=method,
                                         data=json.dumps(body).encode() if body is not None else None,
                                         headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        for pause in (0.2, 1, 5, None):
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as refusal:
                text = refusal.read()
                if refusal.code < 500 or pause is None:
                    raise Refused(refusal.code, json.loads(text or b"{}")) from None
            except (OSError, http.client.HTTPException):
                if pause is None:
                    raise
            time.sleep(pause)

    def pages(self, path, key):
        token = None
        while True:
            page = self.ask("GET", path + (f"&page_token={urllib.parse.quote(token)}" if token else ""))
            yield from page[key]
            token = page["next_page_token"]
            if token is None:
                return


class Staged:
    """One staged file. The batch id is its path under staging/; the folders are the partition values."""

    def __init__(self, table, path):
        self.id, self.file = path, os.path.join(table.folder, "staging", path)
        self.size = os.path.getsize(self.file)
        values = path.split("/")[:-1]
        self.values = dict(zip(table.keys, map(typed, values))) if len(values) == len(table.keys) else {}
        self.folder = "/".join(f"{k}={v}" for k, v in zip(table.keys, values)) if self.values else "data"


def typed(text):
    """"14" is an hour, "2024-02-01" and "007" are text."""
    return int(text) if text.isdecimal() and str(int(text)) == text else text


class Table:
    def __init__(self, tarn, options):
        about = tarn.ask("GET")
        self.tarn, self.options = tarn, options
        self.folder, self.keys = about["location"], about["partition_keys"]

    # --- 1: what is there, and what of it is merged already

    def staged(self):
        root = os.path.join(self.folder, "staging")
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".parquet") and name[0] not in "._":
                    yield os.path.relpath(os.path.join(folder, name), root)

    def merged_in(self, folder):
        prefix = urllib.parse.quote(folder + "/" if folder else "")
        return {b["batch_id"]: b for b in
                self.tarn.pages(f"/batches?page_size=1000&status=completed&prefix={prefix}", "batches")}

    def pick_up(self):
        picked, merged = [], {}
        for path in self.staged():
            folder = os.path.dirname(path)
            if folder not in merged:
                merged[folder] = self.merged_in(folder)
            try:
                batch = Staged(self, path)
            except FileNotFoundError:
                continue                             # another worker was faster
            if path in merged[folder]:
                self.drop(batch, merged[folder][path])
            elif self.marked(path):
                step("left out", f"{path}: merged before Tarn took the table over")
            elif len(picked) < BATCHES_A_COMMIT:
                picked.append(batch)
        step("picked", f"{len(picked)} batches")
        return picked

    def marked(self, path):
        """The checkpoint of another merge engine, from before. Tarn's own carry its ids, and Tarn was asked already."""
        try:
            with open(os.path.join(self.folder, "processed", path.removesuffix(".parquet") + ".json")) as f:
                marker = json.load(f)
        except (OSError, ValueError):
            return False
        return marker.get("status") == "completed" and "table_uuid" not in marker

    def drop(self, batch, told):
        """Merged batches stay for --keep seconds, so that a rollback can run them again."""
        merged = told["committed_at"] or told["updated_at"]
        age = datetime.now(timezone.utc) - datetime.fromisoformat(merged.replace("Z", "+00:00"))
        if age.total_seconds() < self.options.keep:
            return
        try:
            os.unlink(batch.file)
        except FileNotFoundError:
            pass
        step("dropped", batch.id)

    # --- 2

    def tell(self, batch, status):
        try:
            self.tarn.ask("POST", "/batches", {"batch_id": batch.id, "status": status, "size": batch.size})
            return True
        except Refused as refusal:
            step("left out", f"{batch.id}: {refusal}")   # completed meanwhile, or another file under a known id
            return False

    # --- 3 and 4

    def write(self, batches, operations):
        """Adds the operations of the commit; the version that it needs, or None for an append."""
        version = None
        if self.options.key:
            for values in unique([b.values for b in batches]):
                version = self.merge([b for b in batches if b.values == values], version, operations)
        else:
            for batch in batches:
                self.place(batch, lambda temp: shutil.copyfile(batch.file, temp), operations)
        return version

    def place(self, batch, write, operations):
        name = f"{batch.folder}/merged-{uuid.uuid4().hex}.parquet"
        temp, final = os.path.join(self.folder, "_temp", os.path.basename(name)), os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(temp), exist_ok=True)
        write(temp)
        size = sync(temp)
        step("written", name)
        os.makedirs(os.path.dirname(final), exist_ok=True)
        os.rename(temp, final)
        sync(os.path.dirname(final))
        step("moved", name)
        operations.append({"type": "add_file", "path": name, "size": size, "partitionValues": batch.values})

    def merge(self, batches, version, operations):
        """The rows of a partition with those of the batches over them: old files out, one new file in."""
        import duckdb
        query = "".join(f"&partition.{k}={urllib.parse.quote(str(v))}" for k, v in batches[0].values.items())
        page = self.tarn.ask("GET", f"/files?{query.lstrip('&')}")
        if version is not None and page["version"] != version:
            raise Refused(409, {"code": "version_conflict", "detail": "the table moved while it was read"})
        old = [f["path"] for f in page["files"]]
        quoted = lambda files: "[" + ", ".join("'" + f.replace("'", "''") + "'" for f in files) + "]"
        keys = ", ".join('"' + k.replace('"', '""') + '"' for k in self.options.key.split(","))
        read = "SELECT * EXCLUDE (filename) FROM read_parquet({}, union_by_name = true, hive_partitioning = false, filename = true)"
        new = (read.format(quoted([b.file for b in batches])) +
               f" QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY filename DESC) = 1")
        rows = f"WITH fresh AS ({new}) SELECT * FROM fresh"
        if old:
            rows += (" UNION ALL BY NAME " + read.format(quoted([os.path.join(self.folder, p) for p in old])) +
                     f" WHERE ({keys}) NOT IN (SELECT ({keys}) FROM fresh)")
        operations += [{"type": "remove_file", "path": path} for path in old]
        self.place(batches[0], lambda temp: duckdb.sql(f"COPY ({rows}) TO {quoted([temp])[1:-1]} (FORMAT parquet)"), operations)
        return page["version"]

    # --- 5 and 6

    def commit(self, batches, operations, version):
        body = {"operations": operations, "batch_ids": [b.id for b in batches], "verify": self.options.verify,
                "commitMetadata": {"author": "merge-worker", "description": f"merged {len(batches)} batches"}}
        if version is not None:
            body["expected_version"] = version
        step("commits", f"{len(batches)} batches")
        answer = self.tarn.ask("POST", "/commits", body)
        step("committed", f"version {answer['version']} as {answer['transaction']}")
        for batch in batches:
            self.drop(batch, answer)

    def discard(self, operations):
        """Only after a no for certain: a commit whose answer is lost may stand."""
        for operation in operations:
            if operation["type"] == "add_file":
                os.unlink(os.path.join(self.folder, operation["path"]))

    def round(self):
        """True when there was something to merge."""
        self.tidy()
        batches, operations = [b for b in self.pick_up() if self.tell(b, "running")], []
        if not batches:
            return False
        step("runs", ", ".join(b.id for b in batches))
        try:
            self.commit(batches, operations, self.write(batches, operations))
        except FileNotFoundError as gone:
            self.discard(operations)
            step("lost", f"{gone.filename}: another worker was faster")
        except Refused as refusal:
            if refusal.status < 500:
                self.discard(operations)
            if refusal.code not in ("batch_completed", "version_conflict", "file_conflict"):
                for batch in batches:
                    self.tell(batch, "failed")
                raise
            step("again", str(refusal))              # the next round sees what is left
        return True

    def tidy(self):
        temp = os.path.join(self.folder, "_temp")
        for name in os.listdir(temp) if os.path.isdir(temp) else ():
            path = os.path.join(temp, name)
            if name.startswith("merged-") and time.time() - os.path.getmtime(path) > LEFTOVER_SECONDS:
                os.unlink(path)


def unique(items):
    return [item for i, item in enumerate(items) if item not in items[:i]]


def sync(path):
    """A file, or the names in a folder, onto the disk; its size."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("table")
    parser.add_argument("--url", default=os.environ.get("TARN_URL", "http://127.0.0.1:8181"))
    parser.add_argument("--token", default=os.environ.get("TARN_TOKEN", ""))
    parser.add_argument("--key", help="columns that tell a row, separated by commas: merge instead of append")
    parser.add_argument("--keep", type=float, default=0, metavar="SECONDS", help="how long staged files outlive their merge")
    parser.add_argument("--verify", default="footer", choices=("off", "size", "footer"),
                        help="footer: Tarn reads rows and statistics of the new files, and refuses broken ones")
    parser.add_argument("--every", type=float, metavar="SECONDS", help="go on for ever, so often; else until nothing is staged")
    options = parser.parse_args(arguments)
    table = Table(Tarn(options.url, options.token, options.table), options)
    while table.round() or options.every:
        if options.every:
            time.sleep(options.every)


if __name__ == "__main__":
    try:
        main()
    except (Refused, OSError) as fault:
        sys.exit(f"merge_worker: {fault}")
