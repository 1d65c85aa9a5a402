#!/usr/bin/env python3
"""Our footer reader against files of the real writers: pyarrow and DuckDB, many types, codecs, page versions.

What a commit with `verify` footer fills in must be what pyarrow's own reader says of the file; a declared schema must
fit the types that the writers use, and a wrong one must not."""
import datetime, decimal, itertools, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from tarn import Server, folder, main

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

UTC = datetime.timezone.utc
ROWS = 1000


def column(make, nulls=True):
    return [None if nulls and i % 7 == 3 else make(i) for i in range(ROWS)]


# name, arrow type, values, the spelling in schema.json, and one that the file must not pass for
TYPES = [
    ("i8", pa.int8(), column(lambda i: i % 100), "int32", "string"),
    ("i16", pa.int16(), column(lambda i: i), "int32", "boolean"),
    ("i32", pa.int32(), column(lambda i: i - 500), "int32", "string"),
    ("i64", pa.int64(), column(lambda i: i << 33, nulls=False), "int64", "int32"),
    ("f32", pa.float32(), column(lambda i: i / 4), "float", "int64"),
    ("f64", pa.float64(), column(lambda i: i / 8), "double", "float"),
    ("b", pa.bool_(), column(lambda i: i % 2 == 0), "boolean", "int32"),
    ("s", pa.string(), column(lambda i: f"row {i:05}"), "string", "int64"),
    ("bin", pa.binary(), column(lambda i: bytes([i % 256, 255])), "binary", "double"),
    ("d", pa.date32(), column(lambda i: datetime.date(2024, 1, 1) + datetime.timedelta(days=i)), "date", "string"),
    ("ts_us", pa.timestamp("us", tz="UTC"), column(lambda i: datetime.datetime(2024, 1, 1, i % 24, tzinfo=UTC)),
     "timestamp", "int64"),
    ("dec", pa.decimal128(12, 2), column(lambda i: decimal.Decimal(i) / 100), "decimal(12,2)", "decimal(12,3)"),
]
NESTED = {
    "l": pa.array([[i, i + 1] if i % 5 else None for i in range(ROWS)], pa.list_(pa.int64())),
    "st": pa.array([{"a": i, "b": "x"} for i in range(ROWS)], pa.struct([("a", pa.int64()), ("b", pa.string())])),
    "m": pa.array([[("k", i)] for i in range(ROWS)], pa.map_(pa.string(), pa.int32())),
}


def flat_table():
    return pa.table({name: pa.array(values, kind) for name, kind, values, _, _ in TYPES})


def schema(pick=lambda name, good, bad: good, names=None):
    return {"type": "struct", "fields": [{"name": n, "type": pick(n, good, bad), "nullable": True}
                                         for n, _, _, good, bad in TYPES if names is None or n in names]}


def pyarrow_files(at):
    plain = pa.table({**{n: flat_table()[n] for n in flat_table().column_names}, **NESTED})
    codecs, pages, versions = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"], ["1.0", "2.0"], ["1.0", "2.4", "2.6"]
    for codec, page, version in itertools.product(codecs, pages, versions):
        yield f"pyarrow-{codec}-{page}-{version}.parquet", plain, dict(
            compression=codec, data_page_version=page, version=version, row_group_size=300)
    yield "pyarrow-plain.parquet", plain, dict(use_dictionary=False, write_statistics=True)
    yield "pyarrow-nostats.parquet", plain, dict(write_statistics=False)
    yield "pyarrow-pageindex.parquet", plain, dict(write_page_index=True, write_page_checksum=True)
    yield "pyarrow-delta.parquet", flat_table().select(["i32", "i64"]), dict(
        use_dictionary=False, column_encoding={"i32": "DELTA_BINARY_PACKED", "i64": "DELTA_BINARY_PACKED"})
    yield "pyarrow-int96.parquet", flat_table().select(["ts_us"]), dict(use_deprecated_int96_timestamps=True)
    yield "pyarrow-empty.parquet", plain.slice(0, 0), {}
    yield "pyarrow-wide.parquet", pa.table({f"c{i:04}": [i] for i in range(3000)}), {}
    yield "pyarrow-metadata.parquet", flat_table().replace_schema_metadata({"k" * 20: "v" * 100000}), {}


def duckdb_files(at):
    table = flat_table()
    connection = duckdb.connect()
    connection.register("t", table)
    for codec in ("uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli"):
        for version in ("v1", "v2"):
            path = f"{at}/duckdb-{codec}-{version}.parquet"
            connection.sql(f"COPY (SELECT * FROM t) TO '{path}' (FORMAT parquet, COMPRESSION {codec}, "
                           f"PARQUET_VERSION {version}, ROW_GROUP_SIZE 2048)")
            yield os.path.basename(path)
    path = f"{at}/duckdb-kinds.parquet"
    connection.sql("COPY (SELECT 1::HUGEINT h, 1::UTINYINT u, uuid() id, [1, 2] l, {'a': 1} s, '12:00:00'::TIME t, "
                   "INTERVAL 1 DAY v, 'x'::BLOB b, '2024-01-01'::TIMESTAMP_NS n) "
                   f"TO '{path}' (FORMAT parquet)")
    yield os.path.basename(path)


def expected_stats(path):
    """What pyarrow says of the columns of plain numbers and strings: min, max, nullCount over all row groups."""
    meta = pq.ParquetFile(path).metadata
    found = {}
    for c in range(meta.num_columns):
        parts = [meta.row_group(g).column(c) for g in range(meta.num_row_groups)]
        name = parts[0].path_in_schema if parts else None
        kind = meta.schema.column(c)
        simple = kind.physical_type in ("INT32", "INT64", "DOUBLE") and str(kind.logical_type.type) in ("NONE", "INT")
        text = str(kind.logical_type.type) == "STRING"
        if not parts or not (simple or text) or "." in name:
            continue
        stats = [p.statistics for p in parts]
        if all(s is not None and s.has_min_max and s.has_null_count for s in stats):
            found[name] = {"min": min(s.min for s in stats), "max": max(s.max for s in stats),
                           "nullCount": sum(s.null_count for s in stats)}
    return found


def register(client, name, location, **more):
    status, answer = client.call("POST", "/api/tables", {"name": name, "location": location, **more})
    assert status == 201, answer


def settle(client, name, **settings):
    status, answer = client.call("PATCH", f"/api/table/{name}", settings)
    assert status == 200, answer


def add(client, name, *paths):
    return client.call("POST", f"/api/table/{name}/commits",
                       {"operations": [{"type": "add_file", "path": p} for p in paths]})


def facts_of_every_file_are_what_pyarrow_reads():
    with folder() as data:
        client = Server(data).start().client()
        at = data + "/lake/facts"
        register(client, "facts", at)
        settle(client, "facts", verify="footer")
        names = []
        for name, table, options in pyarrow_files(at):
            pq.write_table(table, f"{at}/{name}", **options)
            names.append(name)
        names += duckdb_files(at)
        for name in names:
            status, answer = add(client, "facts", name)
            assert status == 201, f"{name}: {answer}"
        files = {f["path"]: f for f in client.get("/api/table/facts/files")["files"]}
        assert sorted(files) == sorted(names)
        for name, file in files.items():
            path = f"{at}/{name}"
            assert file["size"] == os.path.getsize(path), name
            assert file["numRecords"] == pq.ParquetFile(path).metadata.num_rows, name
            stats = file.get("columnStats") or {}
            for column_, wanted in expected_stats(path).items():
                got = {k: stats.get(column_, {}).get(k) for k in wanted}
                assert got == wanted, f"{name} {column_}: {got}, not {wanted}"
        print(f"     {len(names)} files")


def a_declared_schema_fits_the_types_of_the_writers():
    with folder() as data:
        client = Server(data).start().client()
        at = data + "/lake/fits"
        register(client, "fits", at, schema=schema())
        settle(client, "fits", verify="footer", schema_enforcement="reject")
        pq.write_table(flat_table(), f"{at}/arrow.parquet")
        pq.write_table(flat_table(), f"{at}/spark.parquet", use_deprecated_int96_timestamps=True, version="1.0")
        connection = duckdb.connect()
        connection.register("t", flat_table())
        connection.sql(f"COPY (SELECT * FROM t) TO '{at}/duck.parquet' (FORMAT parquet)")
        for name in ("arrow", "spark", "duck"):
            status, answer = add(client, "fits", f"{name}.parquet")
            assert status == 201, f"{name}: {answer}"


def a_wrong_type_is_refused_column_by_column():
    with folder() as data:
        client = Server(data).start().client()
        for name, kind, values, _, _ in TYPES:
            at = f"{data}/lake/wrong_{name}"
            register(client, f"wrong_{name}", at, schema=schema(lambda n, good, bad: bad, [name]))
            settle(client, f"wrong_{name}", verify="footer", schema_enforcement="reject")
            pq.write_table(pa.table({name: pa.array(values, kind)}), f"{at}/x.parquet")
            status, answer = add(client, f"wrong_{name}", "x.parquet")
            assert (status, answer.get("code")) == (422, "incompatible_schema"), f"{name}: {status} {answer}"


def a_cut_or_foreign_file_is_refused():
    with folder() as data:
        client = Server(data).start().client()
        at = data + "/lake/broken"
        register(client, "broken", at)
        settle(client, "broken", verify="footer")
        pq.write_table(flat_table(), f"{at}/whole.parquet")
        whole = open(f"{at}/whole.parquet", "rb").read()
        broken = {"cut": whole[:-100], "head": whole[:len(whole) // 2], "tail": whole[len(whole) // 2:], "empty": b"",
                  "csv": b"a,b\n1,2\n", "magic": b"PAR1PAR1", "length": whole[:-8] + b"\xff\xff\xff\x7fPAR1"}
        for name, content in broken.items():
            with open(f"{at}/{name}.parquet", "wb") as f:
                f.write(content)
            status, answer = add(client, "broken", f"{name}.parquet")
            assert (status, answer.get("code")) == (422, "verification_failed"), f"{name}: {status} {answer}"
            assert answer["path"] == f"{name}.parquet", answer


main(facts_of_every_file_are_what_pyarrow_reads, a_declared_schema_fits_the_types_of_the_writers,
     a_wrong_type_is_refused_column_by_column, a_cut_or_foreign_file_is_refused)
