#!/usr/bin/env python3
"""Reads one snapshot of a Tarn table with Polars (1.44 or newer): read_polars.py TABLE [VERSION]

    frame = read_polars.frame(tarn_snapshot.get("sales.orders"))    # lazy: filter and select, then collect()
"""
import decimal, re, sys
from datetime import date, datetime

import polars as pl
import tarn_snapshot

WORDS = {"boolean": pl.Boolean, "int32": pl.Int32, "int64": pl.Int64, "uint64": pl.UInt64, "float16": pl.Float32,
         "float": pl.Float32, "double": pl.Float64, "string": pl.String, "binary": pl.Binary, "date": pl.Date,
         "timestamp": pl.Datetime("us", "UTC"), "timestamp_ms": pl.Datetime("ms", "UTC"),
         "timestamp_ns": pl.Datetime("ns", "UTC"), "timestamp_ntz": pl.Datetime("us"),
         "timestamp_ntz_ms": pl.Datetime("ms"), "timestamp_ntz_ns": pl.Datetime("ns")}
# Within one schema version a file may hold narrower numbers and another unit of time than registered.
CASTS = pl.ScanCastOptions(integer_cast="upcast", float_cast="upcast",
                           datetime_cast=["nanosecond-downcast", "millisecond-upcast"],
                           missing_struct_fields="insert", extra_struct_fields="ignore")
# Partition values are text, and so are some defaults.
TEXTS = {"boolean": lambda text: text == "true", "int": int, "uint": int, "float": float, "double": float,
         "decimal": decimal.Decimal, "date": date.fromisoformat, "timestamp": datetime.fromisoformat}


def dtype(type):
    if isinstance(type, str) and type.startswith("decimal("):
        return pl.Decimal(*map(int, type[8:-1].split(",")))
    if isinstance(type, str):
        return WORDS[type]
    if type[0] == "struct":
        return pl.Struct({name: dtype(t) for name, t in type[1].items()})
    if type[0] == "list":
        return pl.List(dtype(type[1]))
    return pl.List(pl.Struct({"key": dtype(type[1]), "value": dtype(type[2])}))


def constants(name, values, type):
    if isinstance(type, str):
        kind = TEXTS.get(re.match("[a-z]+", type)[0], str)
        values = [kind(v) if isinstance(v, str) else v for v in values]
    return pl.Series(name, values, dtype=dtype(type))


def rows(snapshot, group):
    """Each row knows its file, and its file the partition values and defaults."""
    source = {f.source: dtype(f.file_type) for f in group.fields if f.source is not None}
    file = pl.scan_parquet(group.paths, glob=False, hive_partitioning=False, include_file_paths="tarn_file", schema=source,
                           missing_columns="insert", extra_columns="ignore", cast_options=CASTS)
    given = group.partitions | {f.name: [f.default] * len(group.paths) for f in group.fields if f.source is None}
    given = [constants("tarn given " + name, values, snapshot.columns[name]) for name, values in given.items()]
    place = {f.name: f.source for f in group.fields if f.source is not None}
    columns = [pl.col(place.get(name, "tarn given " + name)).cast(dtype(type)).alias(name)
               for name, type in snapshot.columns.items()]
    return file.join(pl.LazyFrame([pl.Series("tarn_file", group.paths), *given]), on="tarn_file").select(columns)


def frame(snapshot):
    nothing = pl.LazyFrame(schema={column: dtype(type) for column, type in snapshot.columns.items()})
    return pl.concat([nothing] + [rows(snapshot, g) for g in snapshot.groups])


if __name__ == "__main__":
    print(frame(tarn_snapshot.get(sys.argv[1], **({"version": sys.argv[2]} if sys.argv[2:] else {}))).collect())
