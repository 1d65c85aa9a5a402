#!/usr/bin/env python3
"""Requests of the Iceberg face that no engine sends: each is refused in the protocol's form, and the server goes on."""
import copy, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import SCHEMA, start
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


if __name__ == "__main__":
    main(a_create_whose_updates_make_no_table_is_refused,
         a_member_that_is_true_or_false_is_nothing_else)
