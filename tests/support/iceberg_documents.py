"""Metadata documents with a part of every kind that the table and view specifications have."""
import json, os

from iceberg import local

UUID = "5f3a9c1e-0000-4000-8000-00000000000"


def field(id, name, type, **more):
    return {"id": id, "name": name, "required": False, "type": type, "doc": "d", **more}


def struct(*fields, **more):
    return {"type": "struct", "fields": list(fields), **more}


def schema(id, *more):
    return struct(field(1, "id", "long") | {"required": True},
                  field(2, "s", struct(field(3, "in", struct(field(4, "deep", "string"))))),
                  field(5, "l", {"type": "list", "element-id": 6, "element-required": False, "element": struct(field(7, "e", "int"))}),
                  field(8, "m", {"type": "map", "key-id": 9, "key": struct(field(10, "k", "int")), "value-id": 11, "value-required": False,
                                 "value": struct(field(12, "v", "date"))}),
                  field(13, "at", "timestamp"), *more, **{"schema-id": id, "identifier-field-ids": [1]})


def table(version, location):
    spec = [{"source-id": 13, "field-id": 1000, "name": "day", "transform": "day"}]
    newest = {3: [field(14, "n", "long", **{"initial-default": 5, "write-default": 6})]}.get(version, [field(14, "n", "long")])
    doc = {"format-version": version, "table-uuid": UUID + str(version), "location": location, "last-updated-ms": 1700000000003,
           "last-column-id": 14, "current-schema-id": 1, "schemas": [schema(0), schema(1, *newest)], "default-spec-id": 1,
           "partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": spec}], "last-partition-id": 1000,
           "default-sort-order-id": 1, "sort-orders": [{"order-id": 0, "fields": []}, {"order-id": 1, "fields": [
               {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}],
           "properties": {"owner": "me"}, "current-snapshot-id": 12,
           "refs": {"main": {"snapshot-id": 12, "type": "branch", "min-snapshots-to-keep": 2},
                    "old": {"snapshot-id": 11, "type": "tag", "max-ref-age-ms": 5}},
           "snapshots": [{"snapshot-id": id, "timestamp-ms": 1700000000000 + id - 10, "summary": {"operation": "append"},
                          "manifest-list": f"{location}/metadata/snap-{id}.avro", "schema-id": 1} for id in (11, 12)],
           "statistics": [{"snapshot-id": 12, "statistics-path": f"{location}/metadata/s.puffin", "file-size-in-bytes": 9,
                           "file-footer-size-in-bytes": 4, "blob-metadata": [
                               {"type": "t", "snapshot-id": 12, "sequence-number": 2, "fields": [1], "properties": {"p": "1"}}]}],
           "partition-statistics": [{"snapshot-id": 12, "statistics-path": f"{location}/metadata/p", "file-size-in-bytes": 9}],
           "snapshot-log": [{"timestamp-ms": 1700000000000 + id - 10, "snapshot-id": id} for id in (11, 12)],
           "metadata-log": [{"timestamp-ms": 1700000000001, "metadata-file": f"{location}/metadata/00000-a.metadata.json"}]}
    if version == 1:
        doc |= {"schema": doc["schemas"][1], "partition-spec": spec}
        doc["snapshots"][0].pop("manifest-list")
        doc["snapshots"][0]["manifests"] = [f"{location}/metadata/m.avro"]
    if version >= 2:
        doc["last-sequence-number"] = 2
        for n, snapshot in enumerate(doc["snapshots"]):
            snapshot["sequence-number"] = n + 1
    if version >= 3:
        doc |= {"next-row-id": 20, "encryption-keys": [{"key-id": "k", "encrypted-key-metadata": "aaaa", "encrypted-by-id": "q",
                                                       "properties": {"p": "1"}}]}
        for n, snapshot in enumerate(doc["snapshots"]):
            snapshot |= {"first-row-id": 10 * n, "added-rows": 10, "key-id": "k"}
    return doc


def view(location):
    def version(id):
        return {"version-id": id, "timestamp-ms": 1700000000000 + id, "schema-id": id - 1, "summary": {"operation": "create"},
                "default-catalog": "c", "default-namespace": ["n"],
                "representations": [{"type": "sql", "sql": f"select {id}", "dialect": "spark"}, {"type": "sql", "sql": "1", "dialect": "trino"}]}
    return {"format-version": 1, "view-uuid": UUID + "9", "location": location, "current-version-id": 2, "properties": {"owner": "me"},
            "versions": [version(1), version(2)], "schemas": [schema(0), schema(1, field(14, "n", "long"))],
            "version-log": [{"timestamp-ms": 1700000000000 + id, "version-id": id} for id in (1, 2)]}


def lay(doc, name="00001-b.metadata.json"):
    """Writes it into its folder; gives its location."""
    return write(doc["location"], json.dumps(doc), name)


def write(location, text, name="00001-b.metadata.json"):
    os.makedirs(local(location) + "/metadata")
    with open(local(location) + "/metadata/" + name, "w") as f:
        f.write(text)
    return location + "/metadata/" + name
