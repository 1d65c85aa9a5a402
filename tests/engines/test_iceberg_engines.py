#!/usr/bin/env python3
"""PyIceberg, DuckDB, Spark, Flink and ClickHouse on one catalog, each with its own client of the Iceberg REST protocol: what one writes the others
read; schemas and partitions change, snapshots expire, branches and views come and go, appends race."""
import json, os, sys, threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tarn import await_true, folder, main
from iceberg_house import House

import pyarrow as pa
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.types import StringType

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", "b", "c"]})


def pyiceberg_creates_appends_evolves_expires_and_renames():
    with folder() as work:
        house = House(work)
        table = house.catalog.create_table("db.t", schema=ROWS.schema)
        table.append(ROWS)
        table.append(ROWS)
        with table.update_schema() as update:
            update.add_column("extra", StringType())
        with table.update_spec() as update:
            update.add_field("name", "identity", "name_part")
        table.append(pa.table({"id": pa.array([9], pa.int64()), "name": ["z"], "extra": ["q"]}))
        assert table.scan().to_arrow().num_rows == 7
        assert table.scan(row_filter="name = 'z'").to_arrow().to_pylist() == [{"id": 9, "name": "z", "extra": "q"}]
        first = table.metadata.snapshots[0].snapshot_id
        assert table.scan(snapshot_id=first).to_arrow().num_rows == 3
        table.manage_snapshots().create_tag(first, "start").commit()
        table.maintenance.expire_snapshots().by_id(table.metadata.snapshots[1].snapshot_id).commit()
        assert [s.snapshot_id for s in house.catalog.load_table("db.t").metadata.snapshots][0] == first
        house.catalog.rename_table("db.t", "db.u")
        assert house.catalog.list_tables("db") == [("db", "u")] and not house.catalog.table_exists("db.t")
        assert house.catalog.load_table("db.u").scan().to_arrow().num_rows == 7
        client = house.server.client()
        status = client.call("POST", "/api/table/db.u/check")[1]
        assert (status["format"], status["severity"], status["files"], status["schema_version"]) == ("iceberg", "ok", 3, 1), status
        assert status["partition_keys"] == ["name_part"] and status["details"]["rows"] == 7, status
        # 2 appends, schema, spec, append, tag, expiry; the newest first
        commits = client.get("/api/table/db.u/commits")["commits"]
        assert [c["data_change"] for c in commits] == [False, False, True, False, False, True, True], commits


def a_table_made_in_a_transaction_is_there_with_its_rows_or_not_at_all():
    with folder() as work:
        house = House(work)
        with house.catalog.create_table_transaction("db.made", schema=ROWS.schema) as transaction:
            transaction.append(ROWS)
            assert not house.catalog.table_exists("db.made")
        assert house.catalog.load_table("db.made").scan().to_arrow().num_rows == 3


def purging_takes_data_manifests_and_metadata_and_dropping_leaves_them():
    with folder() as work:
        house = House(work)
        for name in ("kept", "gone"):
            table = house.catalog.create_table(f"db.{name}", schema=ROWS.schema)
            table.append(ROWS)
            table.append(ROWS)
        house.catalog.drop_table("db.kept")
        house.catalog.purge_table("db.gone")
        await_true("the purged table's files are gone", lambda: not [f for f in house.files() if "/db/gone/" in f])
        assert len([f for f in house.files() if "/db/kept/data/" in f]) == 2
        try:
            house.catalog.load_table("db.gone")
            raise AssertionError("a purged table was loaded")
        except NoSuchTableError:
            pass


def of_appends_that_race_each_lands_once_and_none_is_lost():
    with folder() as work:
        house = House(work)
        house.catalog.create_table("db.race", schema=ROWS.schema)
        won, lost = [], []

        def append(number):
            table = house.pyiceberg().load_table("db.race")
            while True:
                try:
                    table.append(pa.table({"id": pa.array([number], pa.int64()), "name": [str(number)]}))
                    return won.append(number)
                except CommitFailedException:
                    lost.append(number)
                    table.refresh()

        threads = [threading.Thread(target=append, args=(n,)) for n in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        table = house.catalog.load_table("db.race")
        assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(8))
        assert len(table.metadata.snapshots) == 8 and sorted(won) == list(range(8))
        known = {e.metadata_file for e in table.metadata.metadata_log} | {table.metadata_location}
        left = {"file://" + f for f in house.files() if "/db/race/metadata/" in f and f.endswith(".metadata.json")}
        assert left == known, (left - known, known - left)


def duckdb_reads_creates_inserts_updates_and_deletes():
    with folder() as work:
        house = House(work)
        house.catalog.create_table("db.t", schema=ROWS.schema).append(ROWS)
        con = house.duckdb()
        assert con.execute("SELECT * FROM lake.db.t ORDER BY id").fetchall() == [(1, "a"), (2, "b"), (3, "c")]
        con.execute("CREATE TABLE lake.db.d (id BIGINT, v VARCHAR)")
        con.execute("INSERT INTO lake.db.d VALUES (1, 'x'), (2, 'y')")
        con.execute("INSERT INTO lake.db.t VALUES (10, 'duck')")
        assert house.catalog.load_table("db.t").scan().to_arrow().num_rows == 4
        assert house.catalog.load_table("db.d").scan().to_arrow().to_pylist() == [{"id": 1, "v": "x"}, {"id": 2, "v": "y"}]
        con.execute("UPDATE lake.db.d SET v = 'z' WHERE id = 1")
        con.execute("DELETE FROM lake.db.d WHERE id = 2")
        assert con.execute("SELECT * FROM lake.db.d").fetchall() == [(1, "z")]
        con.execute("CREATE TABLE lake.db.c AS SELECT id, v FROM lake.db.d")
        assert house.catalog.load_table("db.c").scan().to_arrow().to_pylist() == [{"id": 1, "v": "z"}]
        con.begin()
        con.execute("CREATE TABLE lake.db.w (id BIGINT)")
        con.execute("INSERT INTO lake.db.w VALUES (7)")
        con.commit()
        assert house.catalog.load_table("db.w").scan().to_arrow().to_pylist() == [{"id": 7}]
        con.execute("DROP TABLE lake.db.d")
        assert not house.catalog.table_exists("db.d")


def flink_upserts_overwrites_evolves_and_purges():
    with folder() as work:
        house = House(work)
        house.catalog.create_table("db.t", schema=ROWS.schema).append(ROWS)
        sql = house.flink()
        sql(f"CREATE CATALOG lake WITH ('type'='iceberg', 'catalog-type'='rest', 'uri'='{house.uri}', 'token'='{house.server.token}')")
        sql("USE CATALOG lake")
        assert sorted(sql("SELECT * FROM db.t")) == [(1, "a"), (2, "b"), (3, "c")]
        sql("CREATE DATABASE made")
        sql("CREATE TABLE made.up (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) "
            "WITH ('format-version'='2', 'write.upsert.enabled'='true')")
        sql("INSERT INTO made.up VALUES (1, 'a'), (2, 'b')")
        sql("INSERT INTO made.up VALUES (2, 'B')")
        assert sorted(sql("SELECT * FROM made.up")) == [(1, "a"), (2, "B")]
        sql("CREATE TABLE made.copied AS SELECT * FROM db.t")
        sql("ALTER TABLE made.copied ADD (more DOUBLE)")
        sql("INSERT OVERWRITE made.copied SELECT id, name, 0.5 FROM db.t WHERE id = 1")
        sql("ALTER TABLE made.copied RENAME TO made.named")
        assert house.catalog.load_table("made.named").scan().to_arrow().to_pylist() == [{"id": 1, "name": "a", "more": 0.5}]
        sql("DROP TABLE made.up")
        sql("DROP TABLE made.named")
        sql("DROP DATABASE made")
        assert house.catalog.list_namespaces() == [("db",)]
        await_true("the dropped tables' files are gone", lambda: not [f for f in house.files() if "/made/" in f and not f.endswith(".crc")])


def clickhouse_reads_creates_inserts_deletes_and_evolves():
    with folder() as work:
        house = House(work)
        house.catalog.create_table("db.t", schema=ROWS.schema).append(ROWS)
        told = house.clickhouse(
            "SET allow_database_iceberg = 1, allow_insert_into_iceberg = 1, write_full_path_in_iceberg_metadata = 1",
            f"CREATE DATABASE lake ENGINE = DataLakeCatalog('{house.uri}/v1') SETTINGS catalog_type = 'rest', warehouse = 'lake', "
            f"vended_credentials = false, auth_header = 'Authorization: Bearer {house.server.token}'",
            "SHOW TABLES FROM lake",
            "SELECT * FROM lake.`db.t` ORDER BY id",
            "INSERT INTO lake.`db.t` VALUES (10, 'click')",
            "ALTER TABLE lake.`db.t` DELETE WHERE id = 1",
            "ALTER TABLE lake.`db.t` ADD COLUMN more Nullable(String)",
            f"CREATE TABLE lake.`db.made` (id Int64, name String) ENGINE = IcebergLocal('{work}/data/lake/db/made/')",
            "INSERT INTO lake.`db.made` VALUES (1, 'x')")
        assert told == [[], [], [["db.t"]], [[1, "a"], [2, "b"], [3, "c"]]] + 5 * [[]], told
        rows = house.catalog.load_table("db.t").scan().to_arrow().to_pylist()
        assert sorted((r["id"], r["name"], r["more"]) for r in rows) == [(2, "b", None), (3, "c", None), (10, "click", None)], rows
        assert house.catalog.load_table("db.made").scan().to_arrow().to_pylist() == [{"id": 1, "name": "x"}]


def spark_merges_travels_maintains_and_shares_views_and_tables():
    with folder() as work:
        house = House(work)
        house.catalog.create_table("db.t", schema=ROWS.schema).append(ROWS)
        house.duckdb().execute("INSERT INTO lake.db.t VALUES (10, 'duck')")
        sql = house.spark().sql
        assert [tuple(r) for r in sql("SELECT * FROM lake.db.t ORDER BY id").collect()] == [(1, "a"), (2, "b"), (3, "c"), (10, "duck")]
        sql("CREATE TABLE lake.db.s (id BIGINT, n STRING) USING iceberg PARTITIONED BY (bucket(4, id))")
        sql("INSERT INTO lake.db.s VALUES (1, 'a'), (2, 'b')")
        sql("MERGE INTO lake.db.s t USING (SELECT 2L AS id, 'B' AS n UNION SELECT 3L, 'c') u ON t.id = u.id "
            "WHEN MATCHED THEN UPDATE SET n = u.n WHEN NOT MATCHED THEN INSERT *")
        assert [tuple(r) for r in sql("SELECT * FROM lake.db.s ORDER BY id").collect()] == [(1, "a"), (2, "B"), (3, "c")]
        first = sql("SELECT snapshot_id FROM lake.db.s.snapshots ORDER BY committed_at").collect()[0][0]
        assert [tuple(r) for r in sql(f"SELECT * FROM lake.db.s VERSION AS OF {first} ORDER BY id").collect()] == [(1, "a"), (2, "b")]
        sql("ALTER TABLE lake.db.s CREATE BRANCH audit")
        sql("INSERT INTO lake.db.s.branch_audit VALUES (9, 'branch')")
        assert sql("SELECT count(*) FROM lake.db.s").collect()[0][0] == 3
        sql("CALL lake.system.rewrite_data_files(table => 'db.s', options => map('min-input-files', '2'))")
        sql("CALL lake.system.expire_snapshots(table => 'db.s', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)")
        assert sorted(house.catalog.load_table("db.s").scan().to_arrow()["id"].to_pylist()) == [1, 2, 3]
        sql("CREATE VIEW lake.db.v AS SELECT id FROM lake.db.s WHERE id > 1")
        assert sorted(r[0] for r in sql("SELECT * FROM lake.db.v").collect()) == [2, 3]
        assert [r[1] for r in sql("SHOW VIEWS IN lake.db").collect()] == ["v"]
        sql("CREATE OR REPLACE VIEW lake.db.v AS SELECT id FROM lake.db.s WHERE id = 1")
        assert [r[0] for r in sql("SELECT * FROM lake.db.v").collect()] == [1]
        sql("CREATE OR REPLACE TABLE lake.db.s USING iceberg AS SELECT 7 AS q")
        assert house.catalog.load_table("db.s").scan().to_arrow().to_pylist() == [{"q": 7}]
        sql("DROP VIEW lake.db.v")
        sql("DROP TABLE lake.db.s PURGE")
        assert [r[1] for r in sql("SHOW TABLES IN lake.db").collect()] == ["t"]
        rows = house.server.client().get("/api/status")
        assert [(r["table"], r["format"]) for r in rows] == [("db.t", "iceberg")], json.dumps(rows)


main(pyiceberg_creates_appends_evolves_expires_and_renames,
     a_table_made_in_a_transaction_is_there_with_its_rows_or_not_at_all,
     purging_takes_data_manifests_and_metadata_and_dropping_leaves_them,
     of_appends_that_race_each_lands_once_and_none_is_lost,
     duckdb_reads_creates_inserts_updates_and_deletes,
     flink_upserts_overwrites_evolves_and_purges,
     clickhouse_reads_creates_inserts_deletes_and_evolves,
     spark_merges_travels_maintains_and_shares_views_and_tables)
