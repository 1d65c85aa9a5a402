#!/usr/bin/env python3
"""What is told of a plain folder of Parquet files is told no more once it is as it was: each kind of finding that one can have."""
import os, shutil, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "cases")]
from make_cases import GOOD
from tarn import Server, folder, main

HOUR = 3600
LATER = "date=2026-01-01/hour=15/b.parquet"


def put(place, path, content=GOOD, age=HOUR):
    target = os.path.join(place, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as f:
        f.write(content)
    os.utime(target, (time.time() - age,) * 2)


def many(place):
    for n in range(101):
        put(place, f"date=2026-01-02/hour=01/{n}.parquet", age=48 * HOUR)


FAULTS = [  # the code, what is done to the folder
    ("unexpected_file_format", lambda place: put(place, "notes.csv", b"a,b\n")),
    ("small_files", many),
    ("clock_skew", lambda place: put(place, LATER, age=-HOUR)),
    ("leftover_temp", lambda place: put(place, "date=2026-01-01/.part.tmp", b"x")),
    ("corrupt_data_file", lambda place: put(place, LATER, b"PAR1 no more")),
    ("symlink_skipped", lambda place: os.symlink(os.path.join(place, "date=2026-01-01"), os.path.join(place, "link"))),
    ("missing_partition_values", lambda place: put(place, "b.parquet")),
    ("freshness", lambda place: put(place, "date=2026-01-01/hour=14/a.parquet", age=72 * HOUR)),
]


def check(client, name):
    """Codes that are open after looks enough to close what looks well."""
    for _ in range(3):
        status, answer = client.call("POST", f"/api/table/{name}/check?depth=sweep")
        assert status == 200, answer
    return {f["code"] for f in answer["findings"]}


def what_a_plain_folder_is_told_of_ends_with_it():
    with folder() as top:
        server = Server(top + "/data", "--root", top + "/lake", "--scan-interval", "1h").start()
        client = server.client()
        for n, (code, strike) in enumerate(FAULTS):
            name, place, good = f"t{n}", f"{top}/lake/t{n}", f"{top}/good{n}"
            put(place, "date=2026-01-01/hour=14/a.parquet")
            shutil.copytree(place, good)
            status, answer = client.call("POST", "/api/tables", {
                "name": name, "location": place, "mode": "observed", "format": "parquet",
                "monitors": {"freshness": {"warning": "1d"}}})
            assert status == 201, answer
            assert check(client, name) == set(), (code, "before")
            strike(place)
            assert code in check(client, name), (code, check(client, name))
            shutil.rmtree(place)
            shutil.copytree(good, place)
            assert check(client, name) == set(), (code, "stays", check(client, name))
        assert server.stop() == 0


main(what_a_plain_folder_is_told_of_ends_with_it)
