#!/usr/bin/env python3
"""The uuid of an Iceberg table: the catalog's row and the metadata name the same one, and no two tables share one."""
import json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import SCHEMA, known_files, metadata_files, with_table
from tarn import main

T = "/namespaces/n/tables/t"
A, B, C = ("%d1111111-1111-4111-8111-111111111111" % n for n in range(3))


def foreign(catalog, name, uuid):
    """A metadata file in a folder of its own, as another catalog wrote it; None: without a uuid."""
    document = {**catalog.load("n", "t")["metadata"], "location": f"{catalog.top}/lake/foreign/{name}", "format-version": 1}
    document.update(schema=document["schemas"][0], **{"partition-spec": []})
    document.pop("table-uuid")
    document.update({"table-uuid": uuid} if uuid else {})
    file = document["location"] + "/metadata/00001-a.metadata.json"
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w") as f:
        json.dump(document, f)
    return file


def both_faces_name_one_uuid_whatever_changes_it():
    with with_table() as catalog:
        def register(uuid):
            catalog.ok("POST", "/namespaces/n/register", {"name": "t", "metadata-location": foreign(catalog, "t", uuid), "overwrite": True})

        def change(action, **more):
            status, answer = catalog.commit("n", "t", [{"action": action, **more}])
            assert status == 200, answer

        gone = catalog.table("n", "gone")["metadata"]["table-uuid"]
        catalog.ok("DELETE", "/namespaces/n/tables/gone")
        rows = [("as it was created", lambda: None), ("assigned", lambda: change("assign-uuid", uuid=A)),
                ("assigned anew", lambda: change("assign-uuid", uuid=B)),
                ("another change", lambda: change("set-properties", updates={"a": "b"})),
                ("one that is free again", lambda: change("assign-uuid", uuid=A)), ("overwritten", lambda: register(C)),
                ("overwritten by one without", lambda: register(None)), ("assigned where none was", lambda: change("assign-uuid", uuid=B)),
                ("that of a dropped table", lambda: change("assign-uuid", uuid=gone))]
        for what, happens in rows:
            happens()
            told, native = catalog.load("n", "t")["metadata"].get("table-uuid"), catalog.ok("GET", "/api/table/n.t")["uuid"]
            assert told == (None if what.endswith("without") else native), (what, told, native)
        catalog.ok("DELETE", T)
        assert catalog.ok("POST", "/api/table/n.t/restore", {"uuid": gone})["uuid"] == gone


def the_uuid_of_another_table_is_refused_as_such_and_nothing_is_left():
    with with_table() as catalog:
        uuid = catalog.table("n", "other")["metadata"]["table-uuid"]
        before, file = catalog.load("n", "t"), foreign(catalog, "copy", uuid)
        assign = {"action": "assign-uuid", "uuid": uuid}
        create = [assign, {"action": "add-schema", "schema": SCHEMA}, {"action": "set-current-schema", "schema-id": -1},
                  {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}}, {"action": "set-default-spec", "spec-id": -1},
                  {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
                  {"action": "set-default-sort-order", "sort-order-id": -1},
                  {"action": "set-location", "location": f"{catalog.top}/lake/n/made"}]
        rows = [("/namespaces/n/register", {"name": "copy", "metadata-location": file}),
                ("/namespaces/n/register", {"name": "t", "metadata-location": file, "overwrite": True}),
                (T, {"requirements": [], "updates": [assign]}),
                ("/namespaces/n/tables/made", {"requirements": [{"type": "assert-create"}], "updates": create})]
        for path, body in rows:
            said = catalog.refused(409, "AlreadyExistsException", "POST", path, body)
            assert said == "another table has the uuid " + uuid, (path, said)
        after = catalog.load("n", "t")
        assert after == before and metadata_files(after) == known_files(after)
        assert {i["name"] for i in catalog.ok("GET", "/namespaces/n/tables")["identifiers"]} == {"t", "other"}


main(both_faces_name_one_uuid_whatever_changes_it, the_uuid_of_another_table_is_refused_as_such_and_nothing_is_left)
