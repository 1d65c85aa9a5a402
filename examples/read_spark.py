#!/usr/bin/env python3
"""Reads one snapshot of a Tarn table with Spark (4.0 or newer, which reads a narrower number as a wider one):
read_spark.py TABLE [VERSION]

    frame = read_spark.frame(spark, tarn_snapshot.get("sales.orders"))
"""
import json, re, sys

import tarn_snapshot
from pyspark.sql import SparkSession, functions as F
from pyspark.sql.types import StructType

WORDS = {"int32": "int", "int64": "bigint", "uint64": "decimal(20,0)", "float16": "float", "timestamp_ms": "timestamp",
         "timestamp_ns": "timestamp", "timestamp_ntz_ms": "timestamp_ntz", "timestamp_ntz_ns": "timestamp_ntz"}


def ddl(type):
    if isinstance(type, str):
        return WORDS.get(type, type)
    if type[0] == "struct":
        return "struct<" + members(type[1], ":") + ">"
    return {"list": "array", "map": "map"}[type[0]] + "<" + ",".join(map(ddl, type[1:])) + ">"


def members(types, between=" "):
    return ",".join(name(n) + between + ddl(t) for n, t in types.items())


def name(text):
    return "`" + text.replace("`", "``") + "`"


def escaped(path):
    """parquet() takes patterns: a path stands for itself alone."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


def file_path():
    """Spark tells the URI of a row's file; local files are listed by their path."""
    decoded = F.url_decode(F.replace(F.col("_metadata.file_path"), F.lit("+"), F.lit("%2B")))
    return F.when(F.col("_metadata.file_path").startswith("file:"), F.regexp_replace(decoded, "^file:/+", "/")) \
            .otherwise(F.col("_metadata.file_path"))


def default(field):
    """By way of JSON, whatever the type."""
    return F.from_json(F.lit(json.dumps({"v": field.default})), "v " + ddl(field.type)).v


def rows(spark, snapshot, group):
    """Each row knows its file, and the file its partition values."""
    source = {f.source: f.file_type for f in group.fields if f.source is not None}
    file = spark.read.schema(members(source) if source else StructType()).parquet(*map(escaped, group.paths))
    keys = {"tarn_key " + key: values for key, values in group.partitions.items()}
    values = spark.createDataFrame(list(zip(group.paths, *keys.values())),
                                   members(dict.fromkeys(["tarn_file", *keys], "string")))
    fields = {f.name: f for f in group.fields}
    columns = []
    for column, type in snapshot.columns.items():
        if column in group.partitions:
            value = F.col(name("tarn_key " + column))
        elif fields[column].source is not None:
            value = F.col(name(fields[column].source))
        else:
            value = default(fields[column])
        columns.append(value.cast(ddl(type)).alias(column))
    return file.withColumn("tarn_file", file_path()).join(F.broadcast(values), "tarn_file").select(columns)


def frame(spark, snapshot):
    found = spark.createDataFrame([], members(snapshot.columns))
    for group in snapshot.groups:
        found = found.union(rows(spark, snapshot, group))
    return found


if __name__ == "__main__":
    frame(SparkSession.builder.getOrCreate(),
          tarn_snapshot.get(sys.argv[1], **({"version": sys.argv[2]} if sys.argv[2:] else {}))).show()
