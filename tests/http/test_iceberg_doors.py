#!/usr/bin/env python3
"""What a token reaches through the Iceberg face, where tables may lie, and what a purge may take."""
import json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import SCHEMA, Catalog, append, known_files, local, metadata_files, start, view_body
from tarn import await_true, folder, main


def ident(namespace, name):
    return {"namespace": [namespace], "name": name}


def tree(top):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(top) for name in names)


def locations_outside_the_roots_are_refused_before_anything_is_written():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        catalog.view("n", "v")
        os.makedirs(top + "/outside")
        os.symlink(top + "/outside", top + "/lake/link")
        before, files = catalog.load("n", "t"), tree(top + "/lake")
        data = sorted(os.listdir(top + "/data"))
        bad = [top + "/outside/t", "file://" + top + "/outside/t", top + "/lake/../outside/t", top + "/lakeside/t", "/etc/t",
               top + "/data/x", "file:///", "s3://bucket/t", top + "/lake/link/t", "relative/t", "http://x/t", "file://host/t"]
        for location in bad:
            create = {"name": "x", "schema": SCHEMA, "location": location}
            for what, path, body in [
                ("create", "/namespaces/n/tables", create), ("staged", "/namespaces/n/tables", {**create, "stage-create": True}),
                ("set-location", "/namespaces/n/tables/t", {"updates": [{"action": "set-location", "location": location}]}),
                ("path", "/namespaces/n/tables", {"name": "x", "schema": SCHEMA, "properties": {"write.metadata.path": location}}),
                ("set path", "/namespaces/n/tables/t",
                 {"updates": [{"action": "set-properties", "updates": {"write.metadata.path": location}}]}),
                ("view", "/namespaces/n/views", {**view_body("x"), "location": location}),
                ("view's location", "/namespaces/n/views/v", {"updates": [{"action": "set-location", "location": location}]}),
                ("register", "/namespaces/n/register", {"name": "x", "metadata-location": location + "/metadata/v1.metadata.json"}),
                ("register view", "/namespaces/n/register-view",
                 {"name": "x", "metadata-location": location + "/metadata/v1.metadata.json"}),
            ]:
                status, answer = catalog.call("POST", path, body)
                if what == "staged" and location.endswith("/link/t"):
                    continue  # nothing is touched on storage
                assert status in (400, 403) or (status == 404 and "link" in location), (what, location, status, answer)
        assert tree(top + "/lake") == files and tree(top + "/outside") == []
        assert sorted(os.listdir(top + "/data")) == data
        assert catalog.load("n", "t") == before
        status, answer = catalog.call("POST", "/namespaces/n/tables", {"name": "x", "schema": SCHEMA, "location": "/etc/x"})
        assert (status, answer["error"]["type"]) == (403, "ForbiddenException"), answer
        assert server.stop() == 0


def one_tables_place_is_not_anothers():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        place = local(catalog.table("n", "t")["metadata"]["location"])
        catalog.table("n", "u")
        for location in (place, place + "/", place + "/inner", place + "/metadata", os.path.dirname(place), top + "/lake",
                         "file://" + place, place.replace("/n/", "//n/./")):
            status, answer = catalog.call("POST", "/namespaces/n/tables", {"name": "x", "schema": SCHEMA, "location": location})
            assert status == 409, (location, status, answer)
            status, answer = catalog.commit("n", "u", [{"action": "set-location", "location": location}])
            assert status == 409, (location, status, answer)
            assert "t" not in json.dumps(answer).split("owner"), answer
        # Without a wish another place is found.
        catalog.ok("POST", "/tables/rename", {"source": ident("n", "t"), "destination": ident("n", "z")})
        other = local(catalog.table("n", "t")["metadata"]["location"])
        assert other != place and os.path.dirname(other) == os.path.dirname(place)
        table = catalog.load("n", "u")
        assert metadata_files(table) == known_files(table), "what was refused left no file"
        assert server.stop() == 0


def a_narrowed_token_reaches_its_own_tables_alone():
    with folder() as top:
        server, admin = start(top, tokens=True)
        for namespace in ("sales", "hr"):
            admin.namespace(namespace)
            for name in ("a", "b"):
                admin.table(namespace, name)
            admin.view(namespace, "v")
        made = admin.call("POST", "/api/tokens", {"name": "s", "scope": "catalog:write", "tables": "sales.*",
                                                  "roots": top + "/lake/sales/*"})[1]
        own = Catalog(server.port, made["token"])
        one = admin.call("POST", "/api/tokens", {"name": "o", "scope": "catalog:write", "tables": "sales.a"})[1]
        single = Catalog(server.port, one["token"])
        assert own.ok("GET", "/namespaces")["namespaces"] == [["sales"]]
        assert [i["name"] for i in own.ok("GET", "/namespaces/sales/tables")["identifiers"]] == ["a", "b"]
        own.load("sales", "a")
        file = admin.load("hr", "a")["metadata-location"]
        before = tree(top + "/lake")
        report = {"report-type": "scan-report", "table-name": "x", "snapshot-id": 1, "metrics": {}}
        none = {"requirements": [], "updates": []}
        for method, path, body in [
            ("GET", "/namespaces/hr", None), ("HEAD", "/namespaces/hr", None), ("DELETE", "/namespaces/hr", None),
            ("POST", "/namespaces/hr/properties", {"updates": {"a": "b"}}), ("GET", "/namespaces/hr/tables", None),
            ("GET", "/namespaces?parent=hr", None),
            ("GET", "/namespaces/hr/views", None), ("GET", "/namespaces/hr/tables/a", None), ("HEAD", "/namespaces/hr/tables/a", None),
            ("POST", "/namespaces/hr/tables/a", none), ("DELETE", "/namespaces/hr/tables/a?purgeRequested=true", None),
            ("POST", "/namespaces/hr/tables/a/metrics", report), ("GET", "/namespaces/hr/views/v", None),
            ("HEAD", "/namespaces/hr/views/v", None), ("POST", "/namespaces/hr/views/v", {"updates": []}),
            ("DELETE", "/namespaces/hr/views/v", None), ("POST", "/namespaces", {"namespace": ["hr", "x"]}),
            ("POST", "/namespaces", {"namespace": ["other"]}),
            ("POST", "/namespaces/hr/tables", {"name": "x", "schema": SCHEMA}), ("POST", "/namespaces/hr/views", view_body("x")),
            ("POST", "/namespaces/hr/register", {"name": "x", "metadata-location": file}),
            ("POST", "/namespaces/hr/register", {"name": "a", "metadata-location": file, "overwrite": True}),
            ("POST", "/namespaces/sales/register", {"name": "x", "metadata-location": file}),
            ("POST", "/namespaces/sales/register", {"name": "a", "metadata-location": file, "overwrite": True}),
            ("POST", "/namespaces/sales/tables", {"name": "x", "schema": SCHEMA, "location": top + "/lake/hr/x"}),
            ("POST", "/namespaces/sales/views", {**view_body("x"), "location": top + "/lake/hr/x"}),
            ("POST", "/namespaces/sales/tables/a", {"updates": [{"action": "set-location", "location": top + "/lake/hr/x"}]}),
            ("POST", "/namespaces/sales/tables/a",
             {"updates": [{"action": "set-properties", "updates": {"write.metadata.path": top + "/lake/hr/m"}}]}),
            ("POST", "/namespaces/sales/tables/a",
             {"updates": [{"action": "set-properties", "updates": {"write.data.path": top + "/lake/hr/raw"}}]}),
            ("POST", "/namespaces/sales/tables",
             {"name": "x", "schema": SCHEMA, "properties": {"write.object-storage.path": top + "/lake/hr/raw"}}),
            ("POST", "/tables/rename", {"source": ident("hr", "a"), "destination": ident("sales", "x")}),
            ("POST", "/tables/rename", {"source": ident("sales", "a"), "destination": ident("hr", "x")}),
            ("POST", "/views/rename", {"source": ident("hr", "v"), "destination": ident("sales", "x")}),
            ("POST", "/views/rename", {"source": ident("sales", "v"), "destination": ident("hr", "x")}),
            ("POST", "/transactions/commit", {"table-changes": [{"identifier": ident("sales", "a"), **none},
                                                                {"identifier": ident("hr", "a"), **none}]}),
        ]:
            status, answer = own.call(method, path, body)
            assert status in (403, 404), (method, path, status, answer)
        for path in ("/namespaces/sales/tables/b", "/namespaces/sales/views/v"):
            assert single.call("GET", path)[0] == 404
        # What it may not see is as what is not there.
        said = [own.call("GET", path)[1] for path in ("/namespaces/hr/tables/a", "/namespaces/hr/tables/zz")]
        assert said[0]["error"]["type"] == said[1]["error"]["type"]
        assert said[0]["error"]["message"].replace("hr.a", "hr.zz") == said[1]["error"]["message"]
        assert tree(top + "/lake") == before
        reader = Catalog(server.port, admin.call("POST", "/api/tokens", {"name": "r", "scope": "catalog:read"})[1]["token"])
        assert reader.call("POST", "/namespaces/sales/tables/a/metrics", report)[0] == 204
        for method, path, body in [("POST", "/namespaces", {"namespace": ["x"]}), ("DELETE", "/namespaces/sales/tables/a", None),
                                   ("POST", "/namespaces/sales/tables/a", none), ("POST", "/transactions/commit", {})]:
            reader.refused(403, "ForbiddenException", method, path, body)
        Catalog(server.port, "wrong").refused(401, "NotAuthorizedException", "GET", "/namespaces")
        assert server.stop() == 0


def a_registered_log_cannot_take_anothers_files_away():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        other = catalog.table("n", "other")
        loose = put(top + "/lake/loose.metadata.json")
        data = put(top + "/lake/evil/data/a.parquet")
        document = dict(catalog.table("n", "model")["metadata"])
        at = top + "/lake/evil"
        mine = [put(f"{at}/metadata/0000{n}-x.metadata.json") for n in range(2)]
        document.update({"location": "file://" + at, "table-uuid": "00000000-0000-4000-8000-000000000001",
                         "properties": {"write.metadata.delete-after-commit.enabled": "true",
                                        "write.metadata.previous-versions-max": "1"},
                         "metadata-log": [{"timestamp-ms": 1, "metadata-file": f} for f in
                                          [other["metadata-location"], loose, data, top + "/data/tarn.sqlite",
                                           at + "/../n/other/metadata/" + os.path.basename(other["metadata-location"]), *mine]]})
        file = put(at + "/metadata/00002-x.metadata.json", json.dumps(document))
        catalog.ok("POST", "/namespaces/n/register", {"name": "evil", "metadata-location": file})
        status, answer = catalog.commit("n", "evil", [{"action": "set-properties", "updates": {"a": "b"}}])
        assert status == 200, answer
        for kept in (local(other["metadata-location"]), loose, data, top + "/data/tarn.sqlite"):
            assert os.path.exists(kept), kept
        assert not [f for f in mine if os.path.exists(f)], "its own ones go"
        # In another table's folder no metadata file comes to lie.
        place = local(other["metadata"]["location"])
        for path in (place, place + "/metadata", place + "/x"):
            status, answer = catalog.commit("n", "evil", [{"action": "set-properties", "updates": {"write.metadata.path": path}}])
            assert status == 409, (path, status, answer)
        catalog.load("n", "other")
        assert metadata_files(other) == known_files(other)
        shared = top + "/lake/shared-metadata"
        for name in ("evil", "model"):
            status, answer = catalog.commit("n", name, [{"action": "set-properties", "updates": {"write.metadata.path": shared}}])
            assert status == 200 and local(answer["metadata-location"]).startswith(shared), answer
        assert server.stop() == 0


# --- a hand-made Avro file: manifest lists and manifests as writers leave them ---

def number(n):
    n = n << 1 if n >= 0 else (-n << 1) - 1
    out = b""
    while n > 0x7f:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def text(value):
    data = value.encode()
    return number(len(data)) + data


def avro(path, schema, records):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    sync = bytes(range(16))
    block = b"".join(records)
    with open(path, "wb") as f:
        f.write(b"Obj\x01" + number(2) + text("avro.schema") + text(json.dumps(schema)) + text("avro.codec") + text("null") +
                b"\x00" + sync + number(len(records)) + number(len(block)) + block + sync)


def manifest_list(path, manifests):
    fields = [{"name": "manifest_path", "type": "string", "field-id": 500},
              {"name": "manifest_length", "type": "long", "field-id": 501},
              {"name": "partition_spec_id", "type": "int", "field-id": 502},
              {"name": "content", "type": "int", "field-id": 517}]
    avro(path, {"type": "record", "name": "manifest_file", "fields": fields},
         [text(m) + number(os.path.getsize(local(m)) if os.path.exists(local(m)) else 1) + number(0) + number(0) for m in manifests])


def manifest(path, files):
    data_file = {"type": "record", "name": "r2", "fields": [
        {"name": "content", "type": "int", "field-id": 134}, {"name": "file_path", "type": "string", "field-id": 100},
        {"name": "file_format", "type": "string", "field-id": 101}, {"name": "record_count", "type": "long", "field-id": 103},
        {"name": "file_size_in_bytes", "type": "long", "field-id": 104}]}
    fields = [{"name": "status", "type": "int", "field-id": 0}, {"name": "data_file", "type": data_file, "field-id": 2}]
    avro(path, {"type": "record", "name": "manifest_entry", "fields": fields},
         [number(1) + number(0) + text(f) + text("PARQUET") + number(1) + number(1) for f in files])


def put(path, content="x"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(content)
    return path


def sums_of(path):
    """Where Hadoop keeps the sums of a file."""
    return f"{os.path.dirname(path)}/.{os.path.basename(path)}.crc"


def purged(gc):
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        table = catalog.table("n", "t")
        other = catalog.table("n", "other")
        at, there = local(table["metadata"]["location"]), local(other["metadata"]["location"])
        foreign = put(there + "/data/keep.parquet")
        outside = put(top + "/outside.parquet")
        loose = put(top + "/lake/loose.parquet")
        mine = [put(f"{at}/data/{n}.parquet") for n in range(3)]
        unnamed = put(at + "/data/unnamed.parquet")
        named = [*mine, at + "/metadata/m1.avro", at + "/metadata/snap-1.avro", at + "/metadata/s.puffin", local(table["metadata-location"])]
        sums = [put(sums_of(file)) for file in named]
        strangers = [put(sums_of(file)) for file in (unnamed, foreign)]
        tricky = at + "/data/../../other/data/keep.parquet"
        other_list = there + "/metadata/snap-9.avro"
        put(other_list)
        manifest(at + "/metadata/m1.avro", ["file://" + mine[0], mine[1], foreign, outside, tricky, loose,
                                            other["metadata-location"], "s3://bucket/x", "", "relative", at + "/data",
                                            at + "/" + "x" * 300, at + "/gone/x", outside + "/x", mine[2] + "/x"])
        manifest(at + "/metadata/m2.avro", [mine[2], "file://" + mine[0]])
        manifest_list(at + "/metadata/snap-1.avro", ["file://" + at + "/metadata/m1.avro"])
        manifest_list(at + "/metadata/snap-2.avro", [at + "/metadata/m1.avro", at + "/metadata/m2.avro", other_list,
                                                     at + "/metadata/gone.avro"])
        for id in (1, 2):
            status, answer = catalog.commit("n", "t", *append(id, id, id - 1 or None, location="file://" + at))
            assert status == 200, answer
        commits = [{"action": "set-properties", "updates": {"gc.enabled": gc}}]
        commits.append({"action": "set-statistics", "statistics": {
            "snapshot-id": 2, "statistics-path": put(at + "/metadata/s.puffin"), "file-size-in-bytes": 1,
            "file-footer-size-in-bytes": 1, "blob-metadata": []}})
        status, answer = catalog.commit("n", "t", commits)
        assert status == 200, answer
        assert catalog.call("DELETE", "/namespaces/n/tables/t?purgeRequested=true")[0] == 204
        await_true("the metadata is gone", lambda: not os.path.isdir(at + "/metadata") or not os.listdir(at + "/metadata"), 20)
        for kept in (foreign, outside, loose, other_list, local(other["metadata-location"])):
            assert os.path.exists(kept), kept
        assert [os.path.exists(f) for f in mine] == [gc == "false"] * 3, gc
        assert [os.path.exists(f) for f in sums] == [gc == "false"] * 3 + [False] * 4, (gc, sums)
        assert os.path.exists(unnamed) and all(os.path.exists(f) for f in strangers), "no manifest names it"
        catalog.load("n", "other")
        assert server.stop() == 0


def a_purge_takes_what_the_manifests_name_and_nothing_of_another_table():
    purged("true")


def a_purge_with_gc_disabled_leaves_the_data_files():
    purged("false")


main(locations_outside_the_roots_are_refused_before_anything_is_written, one_tables_place_is_not_anothers,
     a_narrowed_token_reaches_its_own_tables_alone, a_registered_log_cannot_take_anothers_files_away, a_purge_takes_what_the_manifests_name_and_nothing_of_another_table,
     a_purge_with_gc_disabled_leaves_the_data_files)
