#!/usr/bin/env python3
"""Requests of the Iceberg face that no engine sends: each is refused in the protocol's form, and the server goes on."""
import copy, json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import SCHEMA, local, start
from tarn import folder, main

CREATE = [{"type": "assert-create"}]
NO_CHANGES = [[], [{"action": "remove-partition-statistics", "snapshot-id": 1}], [{"action": "remove-statistics", "snapshot-id": 1}],
              [{"action": "remove-snapshots", "snapshot-ids": [1]}], [{"action": "remove-snapshot-ref", "ref-name": "b"}],
              [{"action": "remove-properties", "removals": ["a"]}], [{"action": "set-properties", "updates": {}}],
              [{"action": "upgrade-format-version", "format-version": 2}],
              [{"action": "assign-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}],
              [{"action": "set-location", "location": "file:///nowhere"}]]


def a_create_whose_updates_make_no_table_is_refused():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        for updates in NO_CHANGES:
            status, answer = catalog.commit("n", "t", updates, CREATE)
            assert status == 400, (updates, status, answer)
            change = {"identifier": {"namespace": ["n"], "name": "t"}, "requirements": CREATE, "updates": updates}
            status, answer = catalog.call("POST", "/transactions/commit", {"table-changes": [change]})
            assert status == 400, (updates, status, answer)
        assert catalog.ok("GET", "/namespaces/n/tables")["identifiers"] == []
        assert server.stop() == 0


def a_member_that_is_true_or_false_is_nothing_else():
    kinds = {"field": SCHEMA["fields"][0],
             "element": {"type": "list", "element-id": 8, "element": "int", "element-required": True},
             "value": {"type": "map", "key-id": 8, "key": "int", "value-id": 9, "value": "int", "value-required": True}}
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "there")
        for kind, doc in kinds.items():
            key = "required" if kind == "field" else kind + "-required"
            for wrong in (None, 0, 1.5, "true", [], {}):
                broken = {**doc, key: wrong}
                schema = copy.deepcopy(SCHEMA)
                schema["fields"].append({**broken, "id": 7, "name": "x"} if kind == "field"
                                        else {"id": 7, "name": "x", "required": False, "type": broken})
                catalog.refused(400, "IllegalArgumentException", "POST", "/namespaces/n/tables", {"name": "t", "schema": schema})
                status, answer = catalog.commit("n", "there", [{"action": "add-schema", "schema": schema, "last-column-id": 9}])
                assert status == 400, (kind, wrong, status, answer)
        for wrong in (0, "true", [], {}):
            catalog.refused(400, "BadRequestException", "POST", "/namespaces/n/tables",
                            {"name": "t", "schema": SCHEMA, "stage-create": wrong})
            catalog.refused(400, "BadRequestException", "POST", "/namespaces/n/register",
                            {"name": "there", "metadata-location": "file:///x", "overwrite": wrong})
        assert server.stop() == 0


def a_foreign_document_with_an_impossible_value_is_refused():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        made = catalog.table("n", "there", **{"properties": {"format-version": "1"}})
        doc, where = made["metadata"], local(made["metadata"]["location"]).replace("there", "foreign")
        os.makedirs(where + "/metadata")
        doc["location"] = where
        wrong = [("table-uuid", text) for text in ("", "x", "../..", doc["table-uuid"] + "0", doc["table-uuid"].replace("-", "0"))]
        wrong += [("partition-specs", [{"spec-id": 0, "fields": [field]}]) for field in (None, True, 1, "x", [], [{}])]
        wrong += [(key, [file]) for key in ("statistics", "partition-statistics")
                  for file in (None, 1, [], {}, {"snapshot-id": 1, "statistics-path": 1, "file-size-in-bytes": 1})]
        for number, (key, value) in enumerate(wrong):
            path = f"{where}/metadata/{number:05}-x.metadata.json"
            with open(path, "w") as f:
                json.dump({**doc, key: value}, f)
            status, answer = catalog.call("POST", "/namespaces/n/register", {"name": "foreign", "metadata-location": path})
            assert status == 400, (key, value, status, answer)
        for text in ("x", "../..", doc["table-uuid"] + "0"):
            status, answer = catalog.commit("n", "there", [{"action": "assign-uuid", "uuid": text}])
            assert status == 400, (text, status, answer)
        assert server.stop() == 0


def a_lake_whose_mount_is_gone_takes_no_commit_and_no_repair_and_no_folder_is_made_under_it():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        before = catalog.load("n", "t")
        change = [{"action": "set-properties", "updates": {"a": "b"}}]
        for is_there in (True, False): # an empty folder, as a mount point is; then none at all
            os.rename(top + "/lake", top + "/away")
            if is_there:
                os.mkdir(top + "/lake")
            status, answer = catalog.commit("n", "t", change)
            assert status == 503 and "gone or empty" in answer["error"]["message"], (status, answer)
            status, answer = catalog.call("POST", "/transactions/commit", {"table-changes": [
                {"identifier": {"namespace": ["n"], "name": "t"}, "requirements": [], "updates": change}]})
            assert status == 503, (status, answer)
            for dry_run in (True, False):
                status, answer = catalog.call("POST", "/api/table/n.t/repair", {"plan": "republish", "dry_run": dry_run})
                assert (status, answer["code"]) == (503, "storage_unavailable"), (status, answer)
            assert os.path.exists(top + "/lake") == is_there
            assert not is_there or os.listdir(top + "/lake") == []
            if is_there:
                os.rmdir(top + "/lake")
            os.rename(top + "/away", top + "/lake")
            assert catalog.load("n", "t") == before
        assert catalog.commit("n", "t", change)[0] == 200
        assert server.stop() == 0


if __name__ == "__main__":
    main(a_lake_whose_mount_is_gone_takes_no_commit_and_no_repair_and_no_folder_is_made_under_it,
         a_create_whose_updates_make_no_table_is_refused,
         a_member_that_is_true_or_false_is_nothing_else,
         a_foreign_document_with_an_impossible_value_is_refused)
