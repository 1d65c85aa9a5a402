#!/usr/bin/env python3
"""Documents of newer writers: what this version does not know stays as it came, in every object at every depth, whatever is committed
beside it. Source: Iceberg table and view specification (their objects); members beginning with x- are in none of them."""
import copy, json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import Catalog, append, local, start
from iceberg_documents import lay, table, view
from tarn import folder, main

NEW = {"x-future": {"a": [1, 2.5, None, {"b": True}], "c": -9007199254740993}}
TEXT = {"x-future": "later"}
# Members whose values are texts by names of the writer's choice, and those that hold objects by name.
MAPS, NAMED = {"properties", "summary", "encryption-properties"}, {"refs"}


def future(value, key=None):
    """`value` with an unknown member in every object of it."""
    if isinstance(value, list):
        return [future(item) for item in value]
    if not isinstance(value, dict):
        return value
    if key in MAPS:
        return {**value, **TEXT}
    return {**{k: future(v, k) for k, v in value.items()}, **({} if key in NAMED else NEW)}


def objects(value, path=""):
    """The path of every object that has the unknown member; of an array its entries count as one."""
    if isinstance(value, list):
        return {p for item in value for p in objects(item, path + "[]")}
    if not isinstance(value, dict):
        return set()
    found = {path} if "x-future" in value else set()
    return found | {p for k, v in value.items() if k != "x-future" for p in objects(v, f"{path}.{k}")}


def same(what, found, expected, path=""):
    """Names the first place at which the two differ."""
    if isinstance(expected, dict) and isinstance(found, dict):
        assert set(found) == set(expected), (what, path, "members", sorted(set(found) ^ set(expected)))
        for key in expected:
            same(what, found[key], expected[key], f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(found, list):
        assert len(found) == len(expected), (what, path, len(found), len(expected))
        for n, item in enumerate(expected):
            same(what, found[n], item, f"{path}[{n}]")
    else:
        assert found == expected and type(found) is type(expected), (what, path, found, expected)


def kept(what, before, answer, *changed):
    """The answer's document is the one before but for the members named; of those the objects that were there are as they were."""
    document = answer["metadata"]
    same(what, {k: v for k, v in document.items() if k not in changed}, {k: v for k, v in before.items() if k not in changed})
    for key in changed:
        if isinstance(before[key], list):
            same(f"{what}, {key}", document[key][:len(before[key])], before[key])
        elif isinstance(before[key], dict):
            same(f"{what}, {key}", {k: v for k, v in document[key].items() if k in before[key]}, before[key])
    with open(local(answer["metadata-location"])) as f:
        same(what + ", its file", json.load(f), document)
    return document


EACH = ("last-updated-ms", "metadata-log")
COUNTED = {1: (), 2: ("last-sequence-number",), 3: ("last-sequence-number", "next-row-id")}


def each_object_of_a_table_keeps_what_is_not_known():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        for version in (1, 2, 3):
            name = f"t{version}"
            known = table(version, f"file://{top}/lake/{name}")
            doc = future(known)
            here = objects(doc)
            for path in (".snapshot-log[]", ".metadata-log[]", ".refs.old", ".statistics[].blob-metadata[].properties", ".schemas[].fields[].type",
                         ".schemas[].fields[].type.value.fields[]", ".sort-orders[].fields[]", ".snapshots[].summary"):
                assert path in here, (path, here)
            catalog.ok("POST", "/namespaces/n/register", {"name": name, "metadata-location": lay(doc)})
            answer = catalog.load("n", name)
            same(f"v{version} registered", answer["metadata"], doc)
            status, answer = catalog.commit("n", name, [{"action": "set-properties", "updates": {"a": "b"}}])
            assert status == 200, answer
            doc = kept(f"v{version} after a property", doc, answer, "properties", *EACH)
            updates, requirements = append(13, 3 if version > 1 else 0, 12, now=1700000000005, location=known["location"])
            if version == 3:
                updates[0]["snapshot"] |= {"first-row-id": 20, "added-rows": 1}
            status, answer = catalog.commit("n", name, updates, requirements)
            assert status == 200, answer
            assert server.stop() == 0
            server.start()
            catalog = Catalog(server.port)
            answer = catalog.load("n", name)
            doc = kept(f"v{version} after an append and a restart", {**doc, "refs": {"old": doc["refs"]["old"]}}, answer, "refs", "snapshots",
                       "snapshot-log", "current-snapshot-id", *EACH, *COUNTED[version])
            status, answer = catalog.commit("n", name, [{"action": "remove-snapshots", "snapshot-ids": [11]}])
            assert status == 200, answer
            document = answer["metadata"]
            same(f"v{version} what stays of the log", document["snapshot-log"], doc["snapshot-log"][1:])
            same(f"v{version} what stays of the snapshots", document["snapshots"], doc["snapshots"][1:])
            refs = catalog.load("n", name, "?snapshots=refs")["metadata"]
            same(f"v{version} the form of refs", refs, {**document, "snapshots": document["snapshots"][1:]})
        assert server.stop() == 0


def each_object_of_a_view_keeps_what_is_not_known():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        doc = future(view(f"file://{top}/lake/v"))
        assert {".version-log[]", ".versions[].representations[]", ".versions[].summary", ".schemas[].fields[].type.fields[]"} <= objects(doc)
        catalog.ok("POST", "/namespaces/n/register-view", {"name": "v", "metadata-location": lay(doc)})
        V = "/namespaces/n/views/v"
        same("registered", catalog.ok("GET", V)["metadata"], doc)
        answer = catalog.ok("POST", V, {"updates": [{"action": "set-properties", "updates": {"a": "b"}}]})
        doc = {**doc, "properties": {**doc["properties"], "a": "b"}}
        same("after a property", answer["metadata"], doc)
        version = copy.deepcopy(view("")["versions"][1]) | {"version-id": 3, "summary": {"operation": "replace"}}
        answer = catalog.ok("POST", V, {"updates": [{"action": "add-view-version", "view-version": version},
                                                    {"action": "set-current-view-version", "view-version-id": -1}]})
        document = answer["metadata"]
        for key in ("versions", "version-log"):
            same(f"after a new version, {key}", document[key][:2], doc[key])
        assert server.stop() == 0
        server.start()
        catalog = Catalog(server.port)
        same("after a restart", catalog.ok("GET", V)["metadata"], document)
        answer = catalog.ok("POST", V, {"updates": [{"action": "set-properties", "updates": {"version.history.num-entries": "2"}}]})
        same("what stays of the log", answer["metadata"]["version-log"], document["version-log"][1:])
        same("what stays of the versions", answer["metadata"]["versions"], document["versions"][1:])
        assert server.stop() == 0


main(each_object_of_a_table_keeps_what_is_not_known, each_object_of_a_view_keeps_what_is_not_known)
