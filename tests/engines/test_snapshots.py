#!/usr/bin/env python3
"""Engines read a snapshot through its list of files: DuckDB and pyarrow take the URIs of GET .../files as they are,
count what was committed, and go back in time."""
import os, sys
from urllib.parse import unquote, urlsplit

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from tarn import Server, folder, main

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

PARTS = [("2024-02-01", 13, 100), ("2024-02-01", 14, 250), ("2024-02-02", 0, 50)]


def write(at, day, hour, rows, name="part-0"):
    place = f"date={day}/hour={hour}"
    os.makedirs(f"{at}/{place}", exist_ok=True)
    pq.write_table(pa.table({"user_id": pa.array(range(rows), pa.int64()), "event_type": ["view"] * rows}),
                   f"{at}/{place}/{name}.parquet")
    return f"{place}/{name}.parquet"


def uris(client, query=""):
    text = client.get("/api/table/events/files" + query, headers={"Accept": "text/uri-list"})
    return [line for line in text.split() if not line.startswith("#")]


def duckdb_count(files):
    return duckdb.execute("SELECT count(*) FROM read_parquet(?, hive_partitioning = true)", [files]).fetchone()[0]


def imported(data):
    at = data + "/lake/events"
    for day, hour, rows in PARTS:
        write(at, day, hour, rows)
    server = Server(data).start()
    client = server.client()
    status, answer = client.call("POST", "/api/tables", {"name": "events", "location": at, "import": True,
                                                         "partition_keys": ["date", "hour"]})
    assert status == 201 and answer["version"] == 1, answer
    return at, client


def duckdb_counts_what_the_catalog_says():
    with folder() as data:
        at, client = imported(data)
        files = client.get("/api/table/events/files")["files"]
        assert duckdb_count(uris(client)) == sum(f["numRecords"] for f in files) == 400
        stray = write(at, "2024-02-02", 1, 1000, "not-committed")
        assert duckdb_count(uris(client)) == 400, "a file that nobody committed is read"
        status, answer = client.call("POST", "/api/table/events/commits", {"operations": [
            {"type": "add_file", "path": stray, "size": os.path.getsize(f"{at}/{stray}")},
            {"type": "remove_file", "path": "date=2024-02-01/hour=13/part-0.parquet"}], "expected_version": 1})
        assert status == 201, answer
        assert duckdb_count(uris(client)) == 1300
        assert duckdb_count(uris(client, "?version=1")) == 400, "no way back in time"


def duckdb_and_the_server_prune_alike():
    with folder() as data:
        _, client = imported(data)
        whole = duckdb.execute("SELECT count(*) FROM read_parquet(?, hive_partitioning = true) WHERE date = '2024-02-01'",
                               [uris(client)]).fetchone()[0]
        assert whole == duckdb_count(uris(client, "?partition.date=2024-02-01")) == 350


def pyarrow_reads_the_same_rows():
    with folder() as data:
        _, client = imported(data)
        paths = [unquote(urlsplit(u).path) for u in uris(client)]
        assert ds.dataset(paths, format="parquet").count_rows() == 400


def duckdb_reads_the_published_manifest():
    """Without the server: the manifest on storage lists the same files."""
    with folder() as data:
        at, client = imported(data)
        listed = duckdb.execute("SELECT unnest(files).path FROM read_json(?)", [at + "/manifest.json"]).fetchall()
        assert duckdb_count([f"{at}/{path}" for path, in listed]) == 400


main(duckdb_counts_what_the_catalog_says, duckdb_and_the_server_prune_alike, pyarrow_reads_the_same_rows,
     duckdb_reads_the_published_manifest)
