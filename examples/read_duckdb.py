#!/usr/bin/env python3
"""Reads one snapshot of a Tarn table with DuckDB (1.3 or newer): read_duckdb.py TABLE [VERSION]

    rows = read_duckdb.relation(tarn_snapshot.get("sales.orders"))
    rows.filter("price > 100").aggregate("date, sum(price)")        # or: duckdb.sql("SELECT ... FROM rows")
"""
import json, sys

import duckdb
import tarn_snapshot

WORDS = {"int32": "INTEGER", "int64": "BIGINT", "uint64": "UBIGINT", "float16": "FLOAT", "string": "VARCHAR",
         "binary": "BLOB", "timestamp": "TIMESTAMPTZ", "timestamp_ms": "TIMESTAMPTZ", "timestamp_ns": "TIMESTAMPTZ",
         "timestamp_ntz": "TIMESTAMP", "timestamp_ntz_ms": "TIMESTAMP", "timestamp_ntz_ns": "TIMESTAMP_NS"}


def sql_type(type):
    if isinstance(type, str):
        return WORDS.get(type, type)
    if type[0] == "list":
        return sql_type(type[1]) + "[]"
    if type[0] == "map":
        return f"MAP({sql_type(type[1])}, {sql_type(type[2])})"
    return "STRUCT(" + ", ".join(f"{name(n)} {sql_type(t)}" for n, t in type[1].items()) + ")"


def name(text):
    return '"' + text.replace('"', '""') + '"'


def literal(text):
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"


def texts(values):
    return "[" + ", ".join(literal(v) for v in values) + "]"


def escaped(path):
    """read_parquet takes patterns: a path stands for itself alone."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def default(field):
    """By way of JSON, whatever the type."""
    return f"(CAST({literal(json.dumps({'v': field.default}))}::JSON AS STRUCT(v {sql_type(field.type)}))).v"


def read(group):
    """The files under the names and types of the snapshot; a column that one of them lacks is null there."""
    found = [f"{literal(f.source)}: {{name: {literal(f.name)}, type: {literal(sql_type(f.type))}, "
             "default_value: NULL}" for f in group.fields if f.source is not None]
    schema = f", schema = MAP {{{', '.join(found)}}}" if found else ""
    paths = texts(map(escaped, group.paths))
    return f"read_parquet({paths}, filename = 'tarn_file', hive_partitioning = false{schema})"


def select(snapshot, group):
    fields = {f.name: f for f in group.fields}
    columns = []
    for column, type in snapshot.columns.items():
        value = f"rows.{name(column)}"
        if column in group.partitions:
            value = f"CAST(files.{name(column)} AS {sql_type(type)})"
        elif fields[column].source is None:
            value = default(fields[column])
        columns.append(f"{value} AS {name(column)}")
    files = [f"unnest({texts(group.paths)}) AS tarn_file"]
    files += [f"unnest({texts(values)}) AS {name(key)}" for key, values in group.partitions.items()]
    return (f"SELECT {', '.join(columns)} FROM {read(group)} AS rows "
            f"JOIN (SELECT {', '.join(files)}) AS files USING (tarn_file)")


def relation(snapshot, connection=duckdb):
    nothing = ", ".join(f"NULL::{sql_type(type)} AS {name(column)}" for column, type in snapshot.columns.items())
    parts = [f"SELECT {nothing} WHERE false"] + [select(snapshot, group) for group in snapshot.groups]
    return connection.sql(" UNION ALL ".join(parts))


if __name__ == "__main__":
    print(relation(tarn_snapshot.get(sys.argv[1], **({"version": sys.argv[2]} if sys.argv[2:] else {}))))
