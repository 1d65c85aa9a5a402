#!/usr/bin/env python3
"""The readers of examples/: DuckDB, Polars and Spark read one snapshot as the same rows, across schema versions, and
these are the rows that were worked out by hand."""
import contextlib, datetime, decimal, glob, io, json, os, re, runpy, shutil, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
sys.path[:0] = [os.path.join(HERE, "..", "support"), EXAMPLES]
from tarn import Server, await_true, folder, main

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import read_duckdb, read_polars, read_spark, tarn_snapshot
from pyspark.sql import SparkSession

D, DAY = decimal.Decimal, datetime.date
UTC = datetime.timezone.utc
NOON = datetime.datetime(2024, 2, 1, 12, 0, 0, 250000, tzinfo=UTC)

spark = None


def start_spark():
    global spark
    if spark is None:
        spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
                 .config("spark.driver.host", "127.0.0.1")
                 .config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.session.timeZone", "UTC")
                 .config("spark.sql.shuffle.partitions", "1").config("spark.sql.warehouse.dir", tempfile.gettempdir() + "/none")
                 .config("spark.hadoop.javax.jdo.option.ConnectionURL", "jdbc:derby:memory:metastore;create=true")
                 .config("spark.driver.extraJavaOptions", "-Dderby.stream.error.file=/dev/null -XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
                 .enableHiveSupport().getOrCreate())
        spark.sparkContext.setLogLevel("ERROR")
    return spark


# ---- each engine's rows as plain Python ----

def plain(value):
    if hasattr(value, "asDict"):
        return plain(value.asDict())
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict) and set(value[0]) == {"key", "value"}:
        return {v["key"]: plain(v["value"]) for v in value}    # a map, as Polars has it
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return value


def rows_of(columns, rows):
    return sorted((dict(zip(columns, map(plain, row))) for row in rows), key=lambda r: r["id"])


def by_duckdb(snapshot):
    with duckdb.connect() as connection:
        connection.sql("SET TimeZone = 'UTC'")
        found = read_duckdb.relation(snapshot, connection)
        return rows_of(found.columns, found.fetchall())


def by_polars(snapshot):
    found = read_polars.frame(snapshot).collect()
    return rows_of(found.columns, found.rows())


def by_spark(snapshot):
    found = read_spark.frame(start_spark(), snapshot)
    return rows_of(found.columns, found.collect())


def all_read(client, table, expected, where={}, **at):
    snapshot = tarn_snapshot.get(table, url=f"http://127.0.0.1:{client.connection.port}", token=client.token, where=where, **at)
    for read in (by_duckdb, by_polars, by_spark):
        found = read(snapshot)
        assert found == expected, f"{read.__name__} {at}:\n  " + "\n  ".join(map(str, found)) + "\nnot\n  " + \
            "\n  ".join(map(str, expected))
        assert not found or list(found[0]) == list(expected[0]), f"{read.__name__}: {list(found[0])}"
    return snapshot


# ---- a table with three schema versions ----

def struct(**columns):
    return {"type": "struct", "fields": [{"name": n, "type": t} if isinstance(t, str) else {"name": n, **t}
                                         for n, t in columns.items()]}


SCHEMAS = [
    struct(id={"type": "int32", "nullable": False}, duration="float", note="string", score="int32", price="decimal(8,2)",
           at="timestamp", place="struct<lat:float,city:string>", tags="list<int32>", counts="map<string,int32>", day="date"),
    # id, duration and price widened, duration renamed, note dropped, country added.
    struct(id={"type": "int64", "nullable": False}, duration_seconds="double", score="int32", price="decimal(12,2)",
           at="timestamp", place="struct<lat:float,city:string>", tags="list<int32>", counts="map<string,int32>", day="date",
           country={"type": "string", "default": "none's"}),
    # score is another type, columns inside of others widened and added, note is there again and another column.
    struct(id={"type": "int64", "nullable": False}, country={"type": "string", "default": "none's"}, duration_seconds="double",
           score="double", price="decimal(12,2)", at="timestamp", place="struct<lat:double,city:string,zip:int32>",
           tags="list<int64>", counts="map<string,int64>", day="date", note="string",
           since={"type": "date", "default": "2020-12-31"}, level={"type": "int32", "default": 3},
           flags={"type": "list<int32>", "default": [1, 2]}),
]
NARROW = dict(id=pa.int32(), duration=pa.float32(), note=pa.string(), score=pa.int32(), price=pa.decimal128(8, 2),
              at=pa.timestamp("us", tz="UTC"), place=pa.struct([("lat", pa.float32()), ("city", pa.string())]),
              tags=pa.list_(pa.int32()), counts=pa.map_(pa.string(), pa.int32()))
SECOND = dict(id=pa.int64(), duration_seconds=pa.float64(), score=pa.int32(), price=pa.decimal128(12, 2), at=NARROW["at"],
              place=NARROW["place"], tags=NARROW["tags"], counts=NARROW["counts"], country=pa.string())
THIRD = dict(id=pa.int64(), country=pa.string(), duration_seconds=pa.float64(), score=pa.float64(), price=pa.decimal128(12, 2),
             at=NARROW["at"], place=pa.struct([("lat", pa.float64()), ("city", pa.string()), ("zip", pa.int32())]),
             tags=pa.list_(pa.int64()), counts=pa.map_(pa.string(), pa.int64()), note=pa.string(), since=pa.date32(),
             level=pa.int32(), flags=pa.list_(pa.int32()))

FIRST_ROWS = [
    dict(id=1, duration=0.5, note="old", score=7, price=D("1.25"), at=NOON, place={"lat": 1.5, "city": "Bern"}, tags=[1, None],
         counts={"a": 1}),
    dict(id=2, duration=None, note=None, score=None, price=None, at=None, place=None, tags=None, counts=None)]
LATE_ROWS = [dict(id=3, duration=2.0, note="late", score=-1, price=D("-3.00"), at=NOON, place={"lat": None, "city": None}, tags=[],
                  counts={"z": None})]
SECOND_ROWS = [dict(id=2**40, duration_seconds=0.1, score=8, price=D("9999999999.99"), at=NOON, place={"lat": 2.5, "city": "Ulm"},
                    tags=[5], counts={"b": 2}, country="CH")]
THIRD_ROWS = [dict(id=2**41, country=None, duration_seconds=None, score=0.25, price=D("0.01"), at=NOON,
                   place={"lat": 0.1, "city": "Rom", "zip": 123}, tags=[2**40], counts={"c": 2**40}, note="new",
                   since=DAY(2024, 1, 1), level=None, flags=[])]

# What a reader of the newest snapshot sees, in the order of its columns; region is no column of the schema.
DEFAULTS = dict(note=None, since=DAY(2020, 12, 31), level=3, flags=[1, 2])
NEWEST = [
    dict(id=1, country="none's", duration_seconds=0.5, score=7.0, price=D("1.25"), at=NOON,
         place={"lat": 1.5, "city": "Bern", "zip": None}, tags=[1, None], counts={"a": 1}, day=DAY(2024, 2, 1), **DEFAULTS,
         region="north + [w]"),
    dict(id=2, country="none's", duration_seconds=None, score=None, price=None, at=None, place=None, tags=None, counts=None,
         day=DAY(2024, 2, 1), **DEFAULTS, region="north + [w]"),
    dict(id=3, country="none's", duration_seconds=2.0, score=-1.0, price=D("-3.00"), at=NOON,
         place={"lat": None, "city": None, "zip": None}, tags=[], counts={"z": None}, day=None, **DEFAULTS, region="süd"),
    dict(id=2**40, country="CH", duration_seconds=0.1, score=8.0, price=D("9999999999.99"), at=NOON,
         place={"lat": 2.5, "city": "Ulm", "zip": None}, tags=[5], counts={"b": 2}, day=DAY(2024, 2, 2), **DEFAULTS, region="1"),
    dict(id=2**41, country=None, duration_seconds=None, score=0.25, price=D("0.01"), at=NOON,
         place={"lat": 0.1, "city": "Rom", "zip": 123}, tags=[2**40], counts={"c": 2**40}, day=DAY(2024, 2, 3), note="new",
         since=DAY(2024, 1, 1), level=None, flags=[], region="1")]
# And of version 2, with the second schema: without the note that was dropped, with the file that was removed later.
SECOND_VERSION = [
    dict(id=-1, duration_seconds=1.0, score=1, price=D("1.00"), at=NOON, place=None, tags=None, counts=None, day=DAY(2024, 1, 31),
         country="none's", region="1"),
    dict(id=1, duration_seconds=0.5, score=7, price=D("1.25"), at=NOON, place={"lat": 1.5, "city": "Bern"}, tags=[1, None],
         counts={"a": 1}, day=DAY(2024, 2, 1), country="none's", region="north + [w]"),
    dict(id=2, duration_seconds=None, score=None, price=None, at=None, place=None, tags=None, counts=None, day=DAY(2024, 2, 1),
         country="none's", region="north + [w]"),
    dict(id=2**40, duration_seconds=0.1, score=8, price=D("9999999999.99"), at=NOON, place={"lat": 2.5, "city": "Ulm"}, tags=[5],
         counts={"b": 2}, day=DAY(2024, 2, 2), country="CH", region="1")]


def write(at, path, types, rows):
    os.makedirs(os.path.dirname(f"{at}/{path}"), exist_ok=True)
    table = {n: pa.array([list(r[n].items()) if isinstance(t, pa.MapType) and r[n] is not None else r[n] for r in rows], t)
             for n, t in types.items()}
    pq.write_table(pa.table(table), f"{at}/{path}")
    return {"type": "add_file", "path": path}


def asked(client, method, path, body, status=201):
    found, answer = client.call(method, path, body)
    assert found == status, f"{method} {path}: {found} {answer}"
    return answer


def commit(client, *operations, **more):
    asked(client, "POST", "/api/table/events/commits", {"operations": list(operations), **more})


def evolve(client, number, **more):
    asked(client, "POST", "/api/table/events/schemas", {"expected_version": number - 1, "schema": SCHEMAS[number - 1],
                                                        "compatibility": "none", **more})


def evolved(data):
    """Version 1: files of the first schema. 2: one of the second. 3: one of the third, a late one of the first, and one goes."""
    client, at = Server(data).start().client(), data + "/lake/events"
    asked(client, "POST", "/api/tables", {"name": "events", "location": at, "schema": SCHEMAS[0], "partition_keys": ["day", "region"],
                                          "verify": "footer", "schema_enforcement": "reject"})
    gone = write(at, "day=2024-01-31/region=1/gone.parquet", NARROW,
                 [dict(FIRST_ROWS[1], id=-1, duration=1.0, score=1, price=D("1.00"), at=NOON)])
    commit(client, gone, write(at, "day=2024-02-01/region=north + [w]/part {1} 100%25 ü#.parquet", NARROW, FIRST_ROWS))
    evolve(client, 2, renames={"duration": "duration_seconds"})
    commit(client, write(at, "day=2024-02-02/region=1/a.parquet", SECOND, SECOND_ROWS))
    evolve(client, 3)
    commit(client, write(at, "day=2024-02-03/region=1/b.parquet", THIRD, THIRD_ROWS),
           write(at, "day=__HIVE_DEFAULT_PARTITION__/region=süd/late.parquet", NARROW, LATE_ROWS),
           {"type": "remove_file", "path": gone["path"]}, expected_version=2)
    return client


def three_engines_read_the_same_rows_across_schema_versions():
    with folder() as data:
        client = evolved(data)
        newest = all_read(client, "events", NEWEST)
        assert [(g.schema_version, len(g.paths)) for g in newest.groups] == [(1, 2), (2, 1), (3, 1)], newest.groups
        all_read(client, "events", SECOND_VERSION, version=2)
        all_read(client, "events", [], version=0)
        all_read(client, "events", [r for r in NEWEST if r["region"] == "1"], where={"partition.region": "1"})


def files_that_share_no_column_with_the_snapshot_give_its_defaults():
    with folder() as data:
        client, at = Server(data).start().client(), data + "/lake/events"
        asked(client, "POST", "/api/tables", {"name": "events", "location": at, "schema": struct(a="int32")})
        commit(client, write(at, "x.parquet", dict(a=pa.int32()), [dict(a=1), dict(a=2)]), verify="footer")
        asked(client, "POST", "/api/table/events/schemas",
              {"expected_version": 1, "compatibility": "none", "schema": struct(id={"type": "int32", "default": 4}, b="string")})
        all_read(client, "events", [dict(id=4, b=None)] * 2)


def a_file_may_be_narrower_than_its_schema_and_lack_columns():
    """What verify=footer lets pass: int32 for int64, float for double, milliseconds, another order, no such column."""
    with folder() as data:
        client, at = Server(data).start().client(), data + "/lake/events"
        asked(client, "POST", "/api/tables", {"name": "events", "location": at,
                                              "schema": struct(id="int64", x="double", t="timestamp", y="string")})
        commit(client, write(at, "a.parquet", dict(t=pa.timestamp("ms", tz="UTC"), x=pa.float32(), id=pa.int32()),
                             [dict(id=1, x=0.5, t=NOON)]),
               write(at, "b.parquet", dict(id=pa.int64(), x=pa.float64(), t=pa.timestamp("us", tz="UTC"), y=pa.string()),
                     [dict(id=2**40, x=0.1, t=NOON, y="z")]), verify="footer")
        all_read(client, "events", [dict(id=1, x=0.5, t=NOON, y=None), dict(id=2**40, x=0.1, t=NOON, y="z")])


def run_example(name, *arguments):
    """What it prints."""
    sys.argv, out = [name, *arguments], io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(os.path.join(EXAMPLES, name), run_name="__main__")
    return out.getvalue()


def the_examples_run_from_the_command_line():
    with folder() as data:
        client = evolved(data)
        os.environ.update(TARN_URL=f"http://127.0.0.1:{client.connection.port}", TARN_TOKEN=client.token)
        start_spark()
        for name in ("read_duckdb.py", "read_polars.py", "read_spark.py"):
            assert "none's" in run_example(name, "events", "2"), name
        try:
            run_example("read_duckdb.py", "nobody")
            assert False, "a table that is not there was read"
        except RuntimeError as refused:
            assert str(refused).startswith("table_not_found: "), refused



# ---- the README ----

def blocks(language):
    with open(os.path.join(HERE, "..", "..", "README.md")) as f:
        return re.findall(rf"^```{language}\n(.*?)^```", f.read(), re.S | re.M)


def clickstream(data, **more):
    """Three rows on one day, two on another, in three files."""
    client, at = Server(data).start().client(), data + "/lake/clickstream"
    asked(client, "POST", "/api/tables", {"name": "clickstream", "location": at, "schema": struct(user_id="int64", event_type="string"),
                                          "partition_keys": ["date", "hour"], "verify": "footer", **more})
    for day, hour, rows in (("2024-02-01", 13, 1), ("2024-02-01", 14, 2), ("2024-02-02", 0, 2)):
        path = f"date={day}/hour={hour}/x.parquet"
        asked(client, "POST", "/api/table/clickstream/commits", {"operations": [
            write(at, path, dict(user_id=pa.int64(), event_type=pa.string()), [dict(user_id=hour, event_type="view")] * rows)]})
    os.environ.update(TARN_URL=f"http://127.0.0.1:{client.connection.port}", TARN_TOKEN=client.token)
    return client, at


def demo_flights(data, **more):
    """The table `flights` as `make demo` begins with it."""
    client, at = Server(data).start().client(), data + "/lake/flights"
    shutil.copytree(os.path.join(EXAMPLES, "lake", "flights"), at)
    with open(os.path.join(EXAMPLES, "schemas", "flights.json")) as f:
        asked(client, "POST", "/api/tables", {"name": "flights", "location": at, "import": True, "partition_keys": ["date", "hour"],
                                              "schema": json.load(f), **more})
    os.environ.update(TARN_URL=f"http://127.0.0.1:{client.connection.port}", TARN_TOKEN=client.token)
    return client, at


def rows_that_lie_there(day, condition="true"):
    return duckdb.sql(f"SELECT count(*) FROM read_parquet('{EXAMPLES}/lake/flights/date={day}/**/*.parquet') WHERE {condition}").fetchone()[0]


def the_python_lines_of_the_readme_run():
    first, late = rows_that_lie_there("2013-07-03"), rows_that_lie_there("2013-07-04", "dep_delay > 60")
    wanted = {"read_duckdb": rf"2013-07-03 .* {first} ", "read_polars": rf" {late} ", "read_spark": rf"2013-07-03\|\s+{first}\|",
              "uri-list": rf" {rows_that_lie_there('*')} "}
    with folder() as data:
        demo_flights(data)
        start_spark()
        for name, pattern in wanted.items():
            block, = [b for b in blocks("python") if name in b]
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(block, {})
            assert re.search(pattern, out.getvalue()), f"{name}:\n{out.getvalue()}"
        assert len(blocks("python")) == len(wanted), "a block of the README that is not tried"


# ---- _symlink_format_manifest/ ----

def follow(at):
    """What an engine does that follows lists: each names the data files of its partition, the folder says the values."""
    found = []
    for name in glob.glob(at + "/_symlink_format_manifest/**/manifest", recursive=True):
        values = dict(part.split("=") for part in name.split("/")[:-1] if "=" in part)
        files = [line.removeprefix("file://") for line in open(name).read().splitlines()]
        found += [(values["date"], values["hour"], user) for user, in
                  duckdb.execute("SELECT user_id FROM read_parquet(?, hive_partitioning = false)", [files]).fetchall()]
    return sorted(found)


def lists_of_files_name_the_rows_of_the_snapshot():
    with folder() as data:
        client, at = clickstream(data, properties={"publish.symlink_manifest": True})
        await_true("the lists", lambda: len(follow(at)) == 5)
        assert follow(at) == [("2024-02-01", "13", 13), ("2024-02-01", "14", 14), ("2024-02-01", "14", 14),
                              ("2024-02-02", "0", 0), ("2024-02-02", "0", 0)]
        asked(client, "POST", "/api/table/clickstream/commits", {"expected_version": 3, "operations": [
            {"type": "remove_file", "path": "date=2024-02-01/hour=14/x.parquet"}]})
        await_true("the list is gone", lambda: not os.path.exists(at + "/_symlink_format_manifest/date=2024-02-01/hour=14/manifest"))
        assert follow(at) == [("2024-02-01", "13", 13), ("2024-02-02", "0", 0), ("2024-02-02", "0", 0)]


def the_table_of_the_readme_is_made_in_a_metastore():
    """Spark brings Hive's metastore. It does not follow lists itself; that the partitions are found is what it can show."""
    with folder() as data:
        client, at = demo_flights(data)
        asked(client, "PATCH", "/api/table/flights", {"properties": {"publish.symlink_manifest": True}}, 200)
        partitions = sorted(os.path.relpath(path, at) for path in glob.glob(at + "/date=*/hour=*"))
        lists = at + "/_symlink_format_manifest/date=*/hour=*/manifest"
        await_true("the lists", lambda: len(glob.glob(lists)) == len(partitions))
        session, (block,) = start_spark(), blocks("sql")
        for statement in block.replace("/lake/flights", at).strip().rstrip(";").split(";\n"):
            session.sql(statement)
        found = sorted(row[0] for row in session.sql("SHOW PARTITIONS flights").collect())
        session.sql("DROP TABLE flights")
        values = lambda path: (path.split("/")[0], int(path.split("hour=")[1]))
        assert sorted(map(values, found)) == sorted(map(values, partitions)), found


main(three_engines_read_the_same_rows_across_schema_versions, files_that_share_no_column_with_the_snapshot_give_its_defaults,
     a_file_may_be_narrower_than_its_schema_and_lack_columns, the_examples_run_from_the_command_line,
     the_python_lines_of_the_readme_run, lists_of_files_name_the_rows_of_the_snapshot, the_table_of_the_readme_is_made_in_a_metastore)
