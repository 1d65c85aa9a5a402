#!/usr/bin/env python3
"""The blocks of docs/ICEBERG.md, run as they stand, one after the other on one catalog."""
import os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tarn import folder, main
from iceberg_house import House


def blocks():
    """(heading, language, text) of each."""
    with open(os.path.join(HERE, "..", "..", "docs", "ICEBERG.md")) as file:
        for section in file.read().split("\n## ")[1:]:
            for language, text in re.findall(r"^```(\w+)\n(.*?)^```", section, re.S | re.M):
                yield section.splitlines()[0], language, text


def python(text):
    exec(compile(text, "docs/ICEBERG.md", "exec"), {})


def statements(house, text):
    text = text.replace("http://tarn:8181", house.uri.removesuffix("/iceberg")).replace("TOKEN", house.server.token)
    return [part.strip() for part in text.split(";\n") if part.strip()]


def the_lines_of_the_documentation_run_as_they_stand():
    with folder() as work:
        house = House(work)
        os.environ["TARN_URL"], os.environ["TARN_TOKEN"] = house.uri.removesuffix("/iceberg"), house.server.token
        house.spark()  # with the jar that spark.jars.packages would fetch
        tried = []
        for heading, language, text in blocks():
            tried.append(heading)
            if language == "python":
                python(text)
            elif heading == "Flink":
                told = list(map(house.flink(), statements(house, text)))
                assert told[-1] == [(6,)], told
            elif heading == "ClickHouse":
                told = house.clickhouse(*statements(house, text))
                assert told[-1] == [[4]], told
            else:
                raise AssertionError(f"a block that is not tried: {heading}, {language}")
        assert tried == ["PyIceberg", "ClickHouse", "DuckDB", "Spark", "Flink"] + 3 * ["Polars, Daft, DataFusion"], tried
        amounts = house.catalog.load_table("sales.orders").scan().to_arrow()["amount"].to_pylist()
        assert sorted(amounts) == [2.0, 3.0, 4.5, 5.5, 6.5, 7.25, 7.5, 9.5], amounts


main(the_lines_of_the_documentation_run_as_they_stand)
