#!/usr/bin/env python3
"""examples/merge_worker.py with a key: rows of staged batches over those of the table, by DuckDB; and what engines that read
_symlink_format_manifest/ see of it."""
import glob, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tarn import Server, folder, main

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq


class Lake:
    def __init__(self, data):
        self.server = Server(data).start()
        self.client = self.server.client()
        self.table = data + "/lake/sessions"
        status, answer = self.client.call("POST", "/api/tables", {
            "name": "sessions", "location": self.table, "partition_keys": ["date"],
            "properties": {"publish.symlink_manifest": True}})
        assert status == 201, answer

    def stage(self, batch, rows):
        """Rows: user and seconds."""
        path = f"{self.table}/staging/{batch}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        users, seconds = zip(*rows)
        pq.write_table(pa.table({"user_id": pa.array(users, pa.int64()), "duration_seconds": pa.array(seconds, pa.float64())}),
                       path)

    def merge(self):
        done = subprocess.run([sys.executable, os.path.join(HERE, "..", "..", "examples", "merge_worker.py"), "sessions",
                               "--url", f"http://127.0.0.1:{self.server.port}", "--token", self.server.token,
                               "--key", "user_id"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout

    def rows(self, files):
        return {(day, user): seconds for day, user, seconds in duckdb.execute(
            "SELECT date::text, user_id, duration_seconds FROM read_parquet(?, hive_partitioning = true)", [files]).fetchall()}

    def snapshot(self, query=""):
        page = self.client.get("/api/table/sessions/files" + query)
        return self.rows([f"{self.table}/{f['path']}" for f in page["files"]])

    def listed(self):
        """What a reader of the lists sees."""
        files = []
        for name in glob.glob(f"{self.table}/_symlink_format_manifest/*/manifest"):
            with open(name) as f:
                files += [line.rstrip("\n").removeprefix("file://") for line in f]
        return self.rows(files)


def matching_rows_are_updated_and_the_others_inserted():
    with folder() as data:
        lake = Lake(data)
        lake.stage("2024-02-01/batch-1.parquet", [(1, 10.0), (2, 20.0)])
        lake.stage("2024-02-02/batch-1.parquet", [(1, 11.0)])
        lake.merge()
        first = {("2024-02-01", 1): 10.0, ("2024-02-01", 2): 20.0, ("2024-02-02", 1): 11.0}
        assert lake.snapshot() == first, lake.snapshot()
        lake.stage("2024-02-01/batch-2.parquet", [(2, 21.0), (3, 30.0)])
        lake.stage("2024-02-01/batch-3.parquet", [(3, 31.0)])
        lake.merge()
        second = {**first, ("2024-02-01", 2): 21.0, ("2024-02-01", 3): 31.0}
        assert lake.snapshot() == second, lake.snapshot()
        assert lake.snapshot("?version=1") == first
        assert lake.listed() == second, lake.listed()
        commits = lake.client.get("/api/table/sessions/commits")["commits"]
        assert commits[0]["batch_ids"] == ["2024-02-01/batch-2.parquet", "2024-02-01/batch-3.parquet"], commits[0]
        assert (commits[0]["files_added"], commits[0]["files_removed"]) == (1, 1), commits[0]
        files = lake.client.get("/api/table/sessions/files")["files"]
        assert sorted(f["numRecords"] for f in files) == [1, 3], files
        lake.merge()
        assert lake.client.get("/api/table/sessions")["version"] == 2


main(matching_rows_are_updated_and_the_others_inserted)
