#!/usr/bin/env python3
"""From observing an Iceberg table to managing it: register_table takes the observed row over, and what Tarn knows of it goes on."""
import json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import append, local, start
from iceberg_documents import table, write
from tarn import await_true, folder, main

R = "/namespaces/n/register"


def lay(top, name, version=2, **other):
    """The file of a table under <top>/lake/<name>; other: members of the document."""
    doc = table(version, f"file://{top}/lake/{name}")
    return write(doc["location"], json.dumps({**doc, **other}))


def observe(catalog, top, name, **more):
    body = {"name": "n." + name, "format": "iceberg", "mode": "observed", "location": f"{top}/lake/{name}", **more}
    status, answer = catalog.ask("POST", "/api/tables", body)
    assert status == 201, answer
    return answer


def state(catalog, name):
    status, answer = catalog.ask("GET", "/api/table/n." + name)
    assert status == 200, answer
    return answer


def codes(catalog, name):
    return {finding["code"] for finding in catalog.ask("GET", f"/api/table/n.{name}/status")[1]["findings"]}


def an_observed_table_that_is_registered_at_its_place_goes_on_as_a_managed_one():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        file = lay(top, "t")
        observe(catalog, top, "t", schema={"type": "struct", "fields": [{"name": "old", "type": "int64"}]}, owner="me", monitors={"interval": "33s"}, publish=True, verify="size", schema_enforcement="warn", protected=True)
        await_true("judged", lambda: codes(catalog, "t") == {"format_not_supported"})
        found = catalog.ask("GET", "/api/table/n.t/findings")[1]["findings"][0]
        status, _ = catalog.ask("POST", f"/api/table/n.t/findings/{found['id']}/ack", {"by": "me", "comment": "soon"})
        assert status == 200
        assert len(catalog.ask("GET", "/api/table/n.t/schemas")[1]["versions"]) == 1
        catalog.refused(404, "NoSuchTableException", "GET", "/namespaces/n/tables/t")
        answer = catalog.ok("POST", R, {"name": "t", "metadata-location": file})
        tag = catalog.headers["ETag"]
        assert answer["metadata-location"] == file
        assert catalog.load("n", "t") == answer and catalog.headers["ETag"] == tag
        after = state(catalog, "t")
        document = answer["metadata"]
        expected = {"mode": "managed", "owner": "me", "protected": True, "uuid": document["table-uuid"], "version": 1,
                    "latest_transaction": "12", "schema_version": 1, "partition_keys": ["day"], "properties": {"owner": "me"},
                    "metadata_location": file, "location": f"{top}/lake/t"}
        assert {k: after[k] for k in expected} == expected, after
        assert after["monitors"]["interval"] == "33s"
        assert catalog.ask("GET", "/api/table/n.t/schemas")[1]["versions"] == []
        history = catalog.ask("GET", "/api/table/n.t/commits")[1]["commits"]
        assert [(c["version"], c["transaction"]) for c in history] == [(1, "12")], history
        assert [e["type"] for e in catalog.ask("GET", "/api/events")[1]["events"] if e["table"] == "n.t" and e["type"].startswith("table")] == \
            ["table.registered", "table.updated", "table.committed"]
        assert catalog.ask("POST", "/api/table/n.t/check")[0] == 200  # looks twice, as two scans would
        assert "format_not_supported" not in codes(catalog, "t")
        closed = catalog.ask("GET", "/api/table/n.t/findings?state=closed")[1]["findings"]
        assert found["id"] in {f["id"] for f in closed}, closed
        updates, requirements = append(13, 3, 12, location=f"file://{top}/lake/t", now=1700000000009)
        assert catalog.commit("n", "t", updates, requirements)[0] == 200
        assert state(catalog, "t")["version"] == 2
        assert server.stop() == 0
        server.start()
        assert catalog.__class__(server.port).load("n", "t")["metadata"]["current-snapshot-id"] == 13
        assert server.stop() == 0


def who_is_taken_over_and_who_is_not():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        rows = [  # what, how it is observed, overwrite, status
            ("at its place", {}, None, 200), ("at its place, as a URI", {"location": "file://{top}/lake/{name}/"}, None, 200),
            ("by the very file", {"location": "{top}/lake/elsewhere-{name}", "metadata_location": "{file}"}, None, 200),
            ("by another file of its folder", {"metadata_location": "{top}/lake/{name}/metadata/00000-a.metadata.json"}, None, 200),
            ("at another place", {"location": "{top}/lake/other"}, None, 409), ("at another place", {"location": "{top}/lake/other"}, False, 409),
            ("at another place", {"location": "{top}/lake/other"}, True, 200),
            ("of another format", {"format": "delta"}, None, 409), ("of another format", {"format": "delta"}, True, 409),
            ("of another format", {"format": "manifest"}, True, 409),
        ]
        os.makedirs(top + "/lake/other")
        for n, (what, how, overwrite, wanted) in enumerate(rows):
            name = f"t{n}"
            file = lay(top, name, **{"table-uuid": f"5f3a9c1e-0000-4000-8000-{n:012d}"})
            observe(catalog, top, name, **{k: v.format(top=top, name=name, file=file) for k, v in how.items()})
            before = state(catalog, name)
            status, answer = catalog.call("POST", R, {"name": name, "metadata-location": file, **({} if overwrite is None else {"overwrite": overwrite})})
            assert status == wanted, (what, overwrite, status, answer)
            if status == 409:
                assert answer["error"]["message"] == f"Table already exists: n.{name}", (what, answer)
                after = state(catalog, name)
                assert all(after[k] == before[k] for k in ("mode", "location", "uuid", "metadata_location", "format")), what
            else:
                assert state(catalog, name)["mode"] == "managed" and state(catalog, name)["location"] == f"{top}/lake/{name}", what
        assert server.stop() == 0


def the_place_must_be_the_tables_alone():
    """Observed tables may share a folder; a managed one has it for itself."""
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        file = lay(top, "t")
        observe(catalog, top, "t")
        observe(catalog, top, "u", location=f"{top}/lake/t")
        for name, other in (("t", "u"), ("u", "t")):
            assert f"n.{other}" in catalog.refused(409, "AlreadyExistsException", "POST", R, {"name": name, "metadata-location": file})
            assert state(catalog, name)["mode"] == "observed"
        assert catalog.ask("DELETE", "/api/table/n.t")[0] == 204
        catalog.ok("POST", R, {"name": "u", "metadata-location": file})
        assert state(catalog, "u")["mode"] == "managed"
        status, answer = catalog.ask("POST", "/api/table/n.t/restore")
        assert (status, answer["code"], answer["table"]) == (409, "location_taken", "n.u"), answer
        assert server.stop() == 0


def who_asks_for_managed_mode_is_told_the_way():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        lay(top, "t")
        body = {"name": "n.x", "format": "iceberg", "mode": "managed", "location": f"{top}/lake/t"}
        observe(catalog, top, "t")
        for method, path, sent in (("POST", "/api/tables", body), ("PATCH", "/api/table/n.t", {"mode": "managed"})):
            status, answer = catalog.ask(method, path, sent)
            assert status == 400 and answer["field"] == "mode" and "register_table" in answer["detail"], (status, answer)
        assert server.stop() == 0


main(an_observed_table_that_is_registered_at_its_place_goes_on_as_a_managed_one, who_is_taken_over_and_who_is_not,
     the_place_must_be_the_tables_alone, who_asks_for_managed_mode_is_told_the_way)
