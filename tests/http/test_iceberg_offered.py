#!/usr/bin/env python3
"""Documents of other writers, offered to be registered: what the reference's parser does not read is refused by name, and what it
reads is taken. Source: Apache Iceberg, TableMetadataParser and ViewMetadataParser with the parsers they call."""
import copy, json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import start
from iceberg_documents import table, view, write
from tarn import folder, main

GONE = object()


def put(*path):
    """The document with the value at `path` replaced by the last argument; GONE: taken away."""
    *way, last, value = path

    def change(doc):
        at = doc
        for step in way:
            at = at[step]
        if value is GONE:
            del at[last]
        else:
            at[last] = value
    return change


def twice(list, **other):
    """Its first item once more, with other content."""
    return lambda doc: doc[list].append({**copy.deepcopy(doc[list][0]), **other})


def day(id, name="day", transform="day"):
    return {"source-id": 13, "field-id": id, "name": name, "transform": transform}


SNAPSHOT, FIELD, OLD_FIELD = ("snapshots", 0), ("schemas", 1, "fields", 5), ("schemas", 0, "fields", 1, "type", "fields", 0)
TABLES = [  # what, the change, a part of the refusal (None: it is read)
    ("as it is", lambda doc: None, None),
    ("a snapshot twice", twice("snapshots", **{"timestamp-ms": 1700000000002}), "snapshots: two have the snapshot-id 11"),
    ("a schema twice", twice("schemas", **{"fields": [], "identifier-field-ids": []}), "schemas: two have the schema-id 0"),
    ("a spec twice", twice("partition-specs", fields=[day(1000)]), "partition-specs: two have the spec-id 0"),
    ("a sort order twice", lambda doc: doc["sort-orders"].append({**doc["sort-orders"][1], "fields": doc["sort-orders"][1]["fields"] * 2}),
     "sort-orders: two have the order-id 1"),
    ("a key twice", twice("encryption-keys", **{"encrypted-key-metadata": "bbbb"}), "encryption-keys: two have the key-id k"),
    ("a column's id twice", put(*OLD_FIELD, "id", 8), "schemas[0]: Invalid schema: the id 8 stands for two fields"),
    ("a column's name twice", put("schemas", 0, "fields", 4, "name", "id"), "schemas[0]: Invalid schema: multiple fields for name id"),
    ("a partition field's id twice", put("partition-specs", 0, "fields", [day(1000), day(1000, "h", "hour")]), "partition-specs[0]: "),
    ("a partition field's name twice", put("partition-specs", 0, "fields", [day(1000), day(1001, "day", "hour")]), "partition-specs[0]: "),
    ("a column without id", put(*OLD_FIELD, "id", GONE), "schemas[0]: Cannot parse missing field: id"),
    ("a column without name", put(*FIELD, "name", GONE), "schemas[1]: Cannot parse missing field: name"),
    ("a column without type", put(*OLD_FIELD, "type", GONE), "schemas[0]: Cannot parse type"),
    ("a column without required", put(*FIELD, "required", GONE), "schemas[1]: Cannot parse missing field: required"),
    ("a type that is none", put(*OLD_FIELD, "type", "lang"), "schemas[0]: Cannot parse type string to primitive: lang"),
    ("an identifier that is no column", put("schemas", 0, "identifier-field-ids", [77]), "schemas[0]: Cannot add fieldId 77"),
    ("a partition field without name", put("partition-specs", 1, "fields", 0, "name", GONE), "partition-specs[1]: "),
    ("a past partition of a column that is gone", put("partition-specs", 0, "fields", [{**day(1000), "source-id": 99}]), None),
    ("a sort field without direction", put("sort-orders", 1, "fields", 0, "direction", GONE), "direction"),
    ("the unsorted order with a field", lambda doc: doc["sort-orders"][0]["fields"].append(doc["sort-orders"][1]["fields"][0]),
     "sort-orders[0]: Sort order ID 0 is reserved"),
    ("a past sort order by a column that is gone", lambda doc: doc["sort-orders"].append(
        {"order-id": 2, "fields": [{**doc["sort-orders"][1]["fields"][0], "source-id": 99}]}), None),
    ("a snapshot without its list", put(*SNAPSHOT, "manifest-list", GONE), "snapshots[0]: Cannot parse missing field: manifest-list"),
    ("a snapshot with its manifests, as of version 1", lambda doc: (put(*SNAPSHOT, "manifest-list", GONE)(doc), put(*SNAPSHOT, "manifests", [])(doc)), None),
    ("a snapshot without summary", put(*SNAPSHOT, "summary", GONE), None),
    ("a number in a summary", put(*SNAPSHOT, "summary", {"operation": "append", "n": 5}), "snapshots[0]: Cannot parse summary"),
    ("a tag that keeps snapshots", put("refs", "old", "min-snapshots-to-keep", 2), "Tags do not support setting min-snapshots-to-keep"),
    ("a branch that keeps none", put("refs", "main", "min-snapshots-to-keep", 0), "min-snapshots-to-keep must be greater than 0"),
    ("a key without its text", put("encryption-keys", 0, "encrypted-key-metadata", GONE), "encryption-keys[0]: "),
    ("a key without id", put("encryption-keys", 0, "key-id", GONE), "encryption-keys[0]: "),
    ("statistics twice for a snapshot", twice("statistics"), None),
    ("statistics without blobs", put("statistics", 0, "blob-metadata", GONE), "statistics[0]: Cannot parse missing field: blob-metadata"),
    ("a blob without fields", put("statistics", 0, "blob-metadata", 0, "fields", GONE), "statistics[0]: Cannot parse missing field: fields"),
    ("partition statistics without size", put("partition-statistics", 0, "file-size-in-bytes", GONE), "partition-statistics[0]: "),
]
REPRESENTATION = ("versions", 0, "representations", 0)
VIEWS = [
    ("as it is", lambda doc: None, None),
    ("a version twice", twice("versions", **{"timestamp-ms": 1}), "versions: two have the version-id 1"),
    ("a schema twice", twice("schemas", **{"fields": [], "identifier-field-ids": []}), "schemas: two have the schema-id 0"),
    ("the current version's schema is not there", put("versions", 1, "schema-id", 7), "Cannot find current schema with id 7"),
    ("the current version is not there", put("current-version-id", 7), "Cannot find current version 7 in view versions"),
    ("a column without id", put(*OLD_FIELD, "id", GONE), "schemas[0]: Cannot parse missing field: id"),
    ("SQL without its text", put(*REPRESENTATION, "sql", GONE), "versions[0]: Cannot parse missing field: sql"),
    ("SQL without dialect", put(*REPRESENTATION, "dialect", GONE), "versions[0]: Cannot parse missing field: dialect"),
    ("a representation of a later kind", put("versions", 1, "representations", 0, {"type": "ast", "tree": {}}), None),
    ("a namespace of numbers", put("versions", 0, "default-namespace", [5]), "versions[0]: Cannot parse default-namespace"),
    ("a number in a summary", put("versions", 0, "summary", {"operation": "create", "n": 5}), "versions[0]: Cannot parse summary"),
]


def offer(catalog, top, kind, name, text):
    file = write(f"file://{top}/lake/{name}", text)
    return catalog.call("POST", f"/namespaces/n/register{'-view' if kind == 'view' else ''}", {"name": name, "metadata-location": file})


def judge(answer, status, what, part):
    if part is None:
        assert status == 200, (what, answer)
    else:
        assert status == 400 and answer["error"]["type"] == "IllegalArgumentException" and part in answer["error"]["message"], (what, status, answer)


def what_readers_cannot_open_is_refused_by_name():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        for kind, rows, make, id in (("table", TABLES, lambda at: table(3, at), "table-uuid"), ("view", VIEWS, view, "view-uuid")):
            for n, (what, change, part) in enumerate(rows):
                doc = json.loads(json.dumps(make(f"file://{top}/lake/{kind}{n}")))
                doc[id] = f"5f3a9c1e-0000-4000-8000-00000000{n:04d}"
                change(doc)
                status, answer = offer(catalog, top, kind, f"{kind}{n}", json.dumps(doc))
                judge(answer, status, (kind, what), part)
        taken = [i["name"] for i in catalog.ok("GET", "/namespaces/n/tables")["identifiers"]]
        assert taken == sorted(f"table{n}" for n, row in enumerate(TABLES) if row[2] is None), taken
        assert server.stop() == 0


def a_member_that_is_there_twice_is_refused():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        for n, (kind, make, old, new) in enumerate([
            ("table", lambda at: table(3, at), '"old":', '"main":'), ("table", lambda at: table(3, at), '"last-column-id":', '"format-version":'),
            ("table", lambda at: table(3, at), '"max-ref-age-ms":', '"type":'), ("view", view, '"default-catalog":', '"schema-id":'),
        ]):
            text = json.dumps(make(f"file://{top}/lake/{n}"))
            assert old in text
            status, answer = offer(catalog, top, kind, str(n), text.replace(old, new, 1))
            judge(answer, status, (kind, old, new), "a member that is there twice at line 1")
        assert server.stop() == 0


main(what_readers_cannot_open_is_refused_by_name, a_member_that_is_there_twice_is_refused)
