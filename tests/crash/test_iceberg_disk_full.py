#!/usr/bin/env python3
"""The disk under the lake, or under the catalog, fills up while Iceberg clients commit: a refusal is honest (nothing was changed, and
clients may try again), the pointer's file is whole, and it goes on when there is space again."""
import json, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from iceberg import SCHEMA, Catalog, known_files, local, metadata_files
from small_disk import enter_namespace, small_disk
from tarn import Server, folder, main


def fill(disk):
    """All of it; the name of the file that has the space."""
    with open(disk + "/filler", "wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(1 << 16))
        except OSError:
            pass
        try:
            while f.write(bytes(512)):
                pass
        except OSError:
            pass
    return disk + "/filler"


def whole(table):
    with open(local(table["metadata-location"])) as f:
        assert json.load(f) == table["metadata"]
    assert metadata_files(table) == known_files(table), metadata_files(table) ^ known_files(table)


def refused_until_there_is_space(catalog, disk, kinds):
    catalog.namespace("n")
    catalog.table("n", "t")
    grow = lambda n: catalog.commit("n", "t", [{"action": "set-properties", "updates": {f"k{n}": "x" * 50000}}])
    assert grow(0)[0] == 200
    space = fill(disk)
    told, n = set(), 0
    for n in range(1, 200):
        before = catalog.load("n", "t")
        status, answer = grow(n)
        if status != 200:
            told.add((status, answer["error"]["type"]))
            assert catalog.load("n", "t") == before
            if len(told) and n > 20:
                break
    assert told and told <= kinds, told
    whole(catalog.load("n", "t"))
    status, answer = catalog.call("POST", "/namespaces/n/tables", {"name": "new", "schema": SCHEMA, "properties": {"x": "y" * 50000}})
    assert status == 200 or (status, answer["error"]["type"]) in kinds, (status, answer)
    assert catalog.call("GET", "/namespaces/n/tables/new")[0] == (200 if status == 200 else 404)
    os.unlink(space)
    status, answer = grow(n + 1)
    assert status == 200, answer
    whole(catalog.load("n", "t"))


def a_full_disk_under_the_lake_refuses_commits_and_moves_no_pointer():
    with folder() as top:
        disk = small_disk(top + "/disk", 4)
        server = Server(top + "/data", "--root", disk, "--auth-mode", "none").start()
        refused_until_there_is_space(Catalog(server.port), disk, {(507, "ServiceFailureException")})
        assert server.stop() == 0


def a_full_disk_under_the_catalog_leaves_no_file_that_nobody_knows():
    with folder() as top:
        disk = small_disk(top + "/disk", 8)
        os.makedirs(top + "/lake")
        server = Server(disk + "/data", "--root", top + "/lake", "--auth-mode", "none").start()
        refused_until_there_is_space(Catalog(server.port), disk, {(507, "ServiceFailureException")})
        assert server.stop() == 0


enter_namespace()
main(a_full_disk_under_the_lake_refuses_commits_and_moves_no_pointer,
     a_full_disk_under_the_catalog_leaves_no_file_that_nobody_knows)
