#!/usr/bin/env python3
"""Refusals of the Iceberg face: status and type as the reference maps them, bodies that are no requests, and doors."""
import os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import I, SCHEMA, append, known_files, metadata_files, snapshot, start, view_body
from tarn import folder, main

T = "/namespaces/n/tables/t"
BAD, ILLEGAL = "BadRequestException", "IllegalArgumentException"


def ident(name, *levels):
    return {"namespace": list(levels or ("n",)), "name": name}


def each_refusal_has_the_references_status_type_and_words():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        catalog.view("n", "v")
        create = lambda name: {"name": name, "schema": SCHEMA}
        rename = lambda a, b: {"source": a, "destination": b}
        none = {"requirements": [], "updates": []}
        for status, kind, method, path, body, message in [
            (404, "NoSuchNamespaceException", "GET", "/namespaces/no", None, "Namespace does not exist: no"),
            (404, "NoSuchNamespaceException", "GET", "/namespaces/no%1Fno", None, "Namespace does not exist: no.no"),
            (404, "NoSuchNamespaceException", "DELETE", "/namespaces/no", None, "Namespace does not exist: no"),
            (404, "NoSuchNamespaceException", "POST", "/namespaces/no/properties", {"updates": {"a": "b"}},
             "Namespace does not exist: no"),
            (404, "NoSuchNamespaceException", "GET", "/namespaces/no/tables", None, "Namespace does not exist: no"),
            (404, "NoSuchNamespaceException", "GET", "/namespaces/no/views", None, "Namespace does not exist: no"),
            (404, "NoSuchNamespaceException", "POST", "/namespaces/no/tables", create("t"), "Namespace does not exist: no"),
            (404, "NoSuchNamespaceException", "POST", "/namespaces/no/tables", {**create("t"), "stage-create": True},
             "Namespace does not exist: no"),
            (404, "NoSuchNamespaceException", "POST", "/namespaces/no/views", view_body("t"), "Namespace does not exist: no"),
            (404, "NoSuchNamespaceException", "POST", "/tables/rename", rename(ident("t"), ident("t", "no")),
             "Namespace does not exist: no"),
            (404, "NoSuchNamespaceException", "POST", "/views/rename", rename(ident("v"), ident("v", "no")),
             "Namespace does not exist: no"),
            (404, "NoSuchTableException", "GET", "/namespaces/n/tables/no", None, "Table does not exist: n.no"),
            (404, "NoSuchTableException", "GET", "/namespaces/n/tables/v", None, "Table does not exist: n.v"),
            (404, "NoSuchTableException", "DELETE", "/namespaces/n/tables/no", None, "Table does not exist: n.no"),
            (404, "NoSuchTableException", "POST", "/namespaces/n/tables/no", none, "Table does not exist: n.no"),
            (404, "NoSuchTableException", "POST", "/tables/rename", rename(ident("no"), ident("x")), "Table does not exist: n.no"),
            (404, "NoSuchTableException", "POST", "/transactions/commit",
             {"table-changes": [{"identifier": ident("no"), **none}]}, "Table does not exist: n.no"),
            (404, "NoSuchViewException", "GET", "/namespaces/n/views/no", None, "View does not exist: n.no"),
            (404, "NoSuchViewException", "GET", "/namespaces/n/views/t", None, "View does not exist: n.t"),
            (404, "NoSuchViewException", "DELETE", "/namespaces/n/views/no", None, "View does not exist: n.no"),
            (404, "NoSuchViewException", "POST", "/namespaces/n/views/no", none, "View does not exist: n.no"),
            (404, "NoSuchViewException", "POST", "/views/rename", rename(ident("no"), ident("x")), "View does not exist: n.no"),
            (409, "AlreadyExistsException", "POST", "/namespaces", {"namespace": ["n"]}, "Namespace already exists: n"),
            (409, "AlreadyExistsException", "POST", "/namespaces/n/tables", create("t"), "Table already exists: n.t"),
            (409, "AlreadyExistsException", "POST", "/namespaces/n/tables", {**create("t"), "stage-create": True},
             "Table already exists: n.t"),
            (409, "AlreadyExistsException", "POST", "/namespaces/n/tables", create("v"), "View with same name already exists: n.v"),
            (409, "AlreadyExistsException", "POST", "/namespaces/n/views", view_body("v"), "View already exists: n.v"),
            (409, "AlreadyExistsException", "POST", "/namespaces/n/views", view_body("t"), "Table with same name already exists: n.t"),
            (409, "AlreadyExistsException", "POST", "/tables/rename", rename(ident("t"), ident("v")),
             "Cannot rename n.t to n.v. View already exists"),
            (409, "AlreadyExistsException", "POST", "/views/rename", rename(ident("v"), ident("t")),
             "Cannot rename n.v to n.t. Table already exists"),
            (409, "NamespaceNotEmptyException", "DELETE", "/namespaces/n", None, "Namespace n is not empty"),
            (409, "CommitFailedException", "POST", T, {"requirements": [{"type": "assert-create"}], "updates": []},
             "Requirement failed: table already exists"),
            (409, "CommitFailedException", "POST", T, {"requirements": [{"type": "assert-current-schema-id",
                                                                       "current-schema-id": 9}], "updates": []},
             "Requirement failed: current schema changed: expected id 9 != 0"),
            (409, "CommitFailedException", "POST", T, {"requirements": [
                {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 9}], "updates": []},
             "Requirement failed: branch or tag main is missing, expected 9"),
            (422, "UnprocessableEntityException", "POST", "/namespaces/n/properties", {"updates": {"a": "b"}, "removals": ["a"]},
             "Invalid namespace update, cannot simultaneously set and remove keys: [a]"),
        ]:
            got = catalog.refused(status, kind, method, path, body)
            assert got == message, (method, path, got, message)
        assert server.stop() == 0


def unknown_paths_and_methods_are_refused_in_the_protocols_form():
    with folder() as top:
        server, catalog = start(top)
        for method, path, status in [("GET", "/nothing", 404), ("GET", "/", 404), ("GET", I, 404), ("POST", I + "/", 404),
                                     ("GET", "/iceberg/v2/config", 404), ("GET", "/iceberg/", 404),
                                     ("GET", "/namespaces/n/tables/t/plan", 404), ("GET", "/namespaces//tables", 404),
                                     ("GET", "/prefix/namespaces", 404), ("PUT", "/namespaces", 405), ("PATCH", "/namespaces/n", 405),
                                     ("DELETE", "/config", 405), ("GET", "/tables/rename", 405), ("GET", "/oauth/tokens", None)]:
            got, answer = catalog.call(method, path if path.startswith(I) or path.startswith("/iceberg") else I + path)
            if status is None:
                assert got in (400, 405), (method, path, got)
                continue
            assert got == status and set(answer) == {"error"}, (method, path, got, answer)
            assert answer["error"]["code"] == status and answer["error"]["type"] and answer["error"]["message"]
            if status == 405: # each method once, as a client reads it
                allowed = catalog.headers["Allow"].split(", ")
                assert len(allowed) == len(set(allowed)) and method not in allowed and ", ".join(allowed) in answer["error"]["message"], allowed
        assert server.stop() == 0


def a_client_at_the_wrong_address_is_told_the_right_one():
    with folder() as top:
        server, catalog = start(top)
        for path, told in (("/v1/config?warehouse=lake", "ends with /iceberg"), ("/v1/namespaces", "ends with /iceberg"), ("/v1", "ends with /iceberg"),
                           ("/v1/a/b/c/d/e/f/g/h/i/j/k/l", "ends with /iceberg"), ("/iceberg", "GET /iceberg/v1/config"),
                           ("/iceberg?a=b", "GET /iceberg/v1/config"), ("/iceberg/v1/lake/namespaces", "GET /iceberg/v1/config"),
                           ("/iceberg/a/b/c/d/e/f/g/h/i/j/k/l", "GET /iceberg/v1/config"),
                           ("/v10", "/openapi.yaml"), ("/icebergs", "/openapi.yaml"), ("/api/v1/config", "/openapi.yaml")):
            got, answer = catalog.ask("GET", path)
            message = answer["detail"] if told == "/openapi.yaml" else answer["error"]["message"]
            assert got == 404 and told in message, (path, answer)
        assert server.stop() == 0


def bodies_that_are_no_requests_are_refused_and_change_nothing():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        catalog.view("n", "v")
        before = catalog.load("n", "t")
        deep = b'{"updates":' + b"[" * 500 + b"]" * 500 + b"}"
        texts = [b"", b"{", b"[]", b"1", b"null", b'"x"', b"\xff\xfe", b'{"a":1,}', b'{"a":1}{', deep, b'{"a":"\\ud800"}', b"NaN"]
        posts = ["/namespaces", "/namespaces/n/properties", "/namespaces/n/tables", "/namespaces/n/register", T, "/tables/rename",
                 "/transactions/commit", "/namespaces/n/views", "/namespaces/n/register-view", "/namespaces/n/views/v",
                 "/views/rename", T + "/metrics"]
        for path in posts:
            for text in texts:
                catalog.refused(400, BAD, "POST", path, text)
            status, answer = catalog.call("POST", path, b"{}")
            if path != "/namespaces/n/properties":
                assert (status, answer["error"]["type"]) == (400, BAD), (path, status, answer)
            catalog.refused(415, BAD, "POST", path, b"a=b", Content_Type="application/x-www-form-urlencoded")
        wrong = [None, 1, "x", [], [1], {"a": 1}, True, 1e300]
        for path, good, members in [
            ("/namespaces", {"namespace": ["z"], "properties": {}}, ["namespace"]),
            ("/namespaces/n/tables", {"name": "z", "schema": SCHEMA}, ["name", "schema"]),
            ("/namespaces/n/register", {"name": "z", "metadata-location": before["metadata-location"]}, ["name", "metadata-location"]),
            ("/namespaces/n/views", view_body("z"), ["name", "schema", "view-version"]),
            ("/tables/rename", {"source": ident("t"), "destination": ident("z")}, ["source", "destination"]),
            ("/transactions/commit", {"table-changes": []}, ["table-changes"]),
            (T, {"requirements": [], "updates": []}, ["updates"]),
        ]:
            for member in members:
                status, answer = catalog.call("POST", path, {k: v for k, v in good.items() if k != member})
                assert status == 400 and answer["error"]["type"] in (BAD, ILLEGAL), (path, member, status, answer)
                for value in wrong:
                    if isinstance(value, type(good[member])) and not (isinstance(value, (dict, list)) and value):
                        continue
                    status, answer = catalog.call("POST", path, {**good, member: value})
                    assert status == 400 and answer["error"]["type"] in (BAD, ILLEGAL), (path, member, value, status, answer)
        for path, body in [("/namespaces/n/properties", {"removals": [1]}), ("/namespaces/n/properties", {"updates": {"a": 1}}),
                           ("/namespaces/n/properties", {"updates": []}), ("/namespaces/n/properties", {"removals": {"a": 1}}),
                           ("/namespaces", {"namespace": ["z"], "properties": {"a": 1}}),
                           ("/namespaces/n/tables", {"name": "z", "schema": SCHEMA, "stage-create": "yes"}),
                           ("/namespaces/n/tables", {"name": "z", "schema": SCHEMA, "properties": {"a": 1}}),
                           ("/namespaces/n/register", {"name": "z", "metadata-location": before["metadata-location"],
                                                       "overwrite": "yes"})]:
            status, answer = catalog.call("POST", path, body)
            assert status == 400 and answer["error"]["type"] in (BAD, ILLEGAL), (path, body, status, answer)
        status, answer = catalog.call("GET", "/namespaces/" + "n" * 20000)
        assert (status, answer["error"]["code"], answer["error"]["type"]) == (414, 414, BAD), (status, answer)
        assert catalog.load("n", "t") == before
        assert catalog.ok("GET", "/namespaces")["namespaces"] == [["n"]]
        assert [i["name"] for i in catalog.ok("GET", "/namespaces/n/tables")["identifiers"]] == ["t"]
        assert [i["name"] for i in catalog.ok("GET", "/namespaces/n/views")["identifiers"]] == ["v"]
        assert server.stop() == 0


def a_refusal_says_what_it_is_about():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        long = "x" * 300
        for subject, method, path, body, headers in [
            ("Idempotency-Key", "POST", "/namespaces", {"namespace": ["z"]}, {"Idempotency_Key": long}),
            ("pageSize", "GET", "/namespaces?pageSize=0", None, {}), ("pageToken", "GET", "/namespaces?pageToken=x", None, {}),
            ("parent", "GET", "/namespaces?parent=n&parent=m", None, {}), ("name", "GET", "/namespaces/" + long, None, {}),
            ("name", "POST", "/namespaces", {"namespace": [long]}, {}), ("name", "POST", "/namespaces", {"namespace": [""]}, {}),
            ("name", "GET", "/namespaces/n/tables/" + long, None, {}), ("name", "POST", "/namespaces/n/tables", {"name": "", "schema": SCHEMA}, {}),
            ("name", "POST", "/tables/rename", {"source": ident("t"), "destination": ident(long)}, {}),
        ]:
            message = catalog.refused(400, BAD, method, path, body, **headers)
            assert subject in message, (subject, message)
        status, answer = catalog.call("POST", "/oauth/tokens", b"grant_type=a&grant_type=b", Content_Type="application/x-www-form-urlencoded")
        assert status == 400 and "grant_type" in answer["error_description"], answer
        assert server.stop() == 0


def parts_of_a_commit_that_are_none_are_refused_and_change_nothing():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        assert catalog.commit("n", "t", *append(1, 1))[0] == 200
        before = catalog.load("n", "t")
        huge = 2 ** 63
        updates = [
            {}, 1, None, "x", [], {"action": 1}, {"action": None}, {"action": "no-such-action"}, {"action": ""},
            {"action": "add-view-version", "view-version": {}}, {"action": "set-current-view-version", "view-version-id": 1},
            {"action": "upgrade-format-version"}, {"action": "upgrade-format-version", "format-version": 1},
            {"action": "upgrade-format-version", "format-version": 99}, {"action": "upgrade-format-version", "format-version": "3"},
            {"action": "upgrade-format-version", "format-version": -1}, {"action": "upgrade-format-version", "format-version": huge},
            {"action": "assign-uuid"}, {"action": "assign-uuid", "uuid": 1}, {"action": "assign-uuid", "uuid": ""},
            {"action": "add-schema"}, {"action": "add-schema", "schema": []}, {"action": "add-schema", "schema": {"type": "struct"}},
            {"action": "add-schema", "schema": {"type": "list", "fields": []}},
            {"action": "add-schema", "schema": {"type": "struct", "fields": [{"id": 1, "name": "a", "required": False}]}},
            {"action": "add-schema", "schema": {"type": "struct", "fields": [
                {"id": 1, "name": "a", "required": False, "type": "no-such-type"}]}},
            {"action": "add-schema", "schema": {"type": "struct", "fields": [
                {"id": 1, "name": "a", "required": False, "type": "int"}, {"id": 1, "name": "b", "required": False, "type": "int"}]}},
            {"action": "add-schema", "schema": {"type": "struct", "fields": [
                {"id": 1, "name": "a", "required": False, "type": "int"}, {"id": 2, "name": "a", "required": False, "type": "int"}]}},
            {"action": "add-schema", "schema": {"type": "struct", "fields": [
                {"id": 2147483600, "name": "a", "required": False, "type": "int"}]}},
            {"action": "add-schema", "schema": {"type": "struct", "fields": [
                {"id": huge, "name": "a", "required": False, "type": "int"}]}},
            {"action": "set-current-schema"}, {"action": "set-current-schema", "schema-id": 9},
            {"action": "set-current-schema", "schema-id": -1}, {"action": "set-current-schema", "schema-id": "0"},
            {"action": "add-spec"}, {"action": "add-spec", "spec": {}}, {"action": "add-spec", "spec": {"fields": [
                {"source-id": 99, "name": "p", "transform": "identity"}]}},
            {"action": "add-spec", "spec": {"fields": [{"source-id": 1, "name": "p"}]}},
            {"action": "set-default-spec", "spec-id": 9}, {"action": "set-default-spec", "spec-id": -1},
            {"action": "add-sort-order"}, {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": [
                {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}},
            {"action": "add-sort-order", "sort-order": {"order-id": 5, "fields": []}},
            {"action": "set-default-sort-order", "sort-order-id": 9}, {"action": "set-default-sort-order", "sort-order-id": -1},
            {"action": "add-snapshot", "snapshot": {}},
            {"action": "add-snapshot", "snapshot": snapshot(1, 2, 1)}, {"action": "add-snapshot", "snapshot": snapshot(huge, 2, 1)},
            {"action": "add-snapshot", "snapshot": {**snapshot(2, 2, 1), "snapshot-id": 1.5}},
            {"action": "add-snapshot", "snapshot": {**snapshot(2, 2, 1), "timestamp-ms": "now"}},
            {"action": "add-snapshot", "snapshot": {**snapshot(2, 2, 1), "manifest-list": 7}},
            {"action": "set-snapshot-ref", "ref-name": "b", "type": "branch", "snapshot-id": 99},
            {"action": "set-snapshot-ref", "ref-name": "b", "type": "twig", "snapshot-id": 1},
            {"action": "set-snapshot-ref", "ref-name": "b", "type": "branch"},
            {"action": "set-snapshot-ref", "type": "branch", "snapshot-id": 1},
            {"action": "set-snapshot-ref", "ref-name": "main", "type": "tag", "snapshot-id": 1},
            {"action": "set-snapshot-ref", "ref-name": "b", "type": "tag", "snapshot-id": 1, "min-snapshots-to-keep": 1},
            {"action": "set-snapshot-ref", "ref-name": "b", "type": "branch", "snapshot-id": 1, "max-ref-age-ms": 0},
            {"action": "remove-snapshots"}, {"action": "remove-snapshots", "snapshot-ids": ["1"]},
            {"action": "remove-snapshot-ref"}, {"action": "set-location"}, {"action": "set-location", "location": ""},
            {"action": "set-properties"}, {"action": "set-properties", "updates": {"a": 1}},
            {"action": "set-properties", "updates": {"a": None}}, {"action": "remove-properties", "removals": [1]},
            {"action": "remove-schemas", "schema-ids": [0]}, {"action": "remove-partition-specs", "spec-ids": [0]},
            {"action": "set-statistics"}, {"action": "set-statistics", "statistics": {}},
        ]
        odd = []
        for update in updates:
            status, answer = catalog.commit("n", "t", [{"action": "set-properties", "updates": {"x": "y"}}, update])
            if status != 400 or answer["error"]["type"] not in (BAD, ILLEGAL):
                odd.append((update, status, answer if status != 200 else ""))
        for requirement in [{}, 1, None, "x", {"type": 1}, {"type": "assert-nothing"}, {"type": "assert-table-uuid"},
                            {"type": "assert-table-uuid", "uuid": 1}, {"type": "assert-ref-snapshot-id"},
                            {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": "1"},
                            {"type": "assert-current-schema-id"}, {"type": "assert-current-schema-id", "current-schema-id": "0"},
                            {"type": "assert-last-assigned-field-id", "last-assigned-field-id": None},
                            {"type": "assert-view-uuid", "uuid": "x"}]:
            status, answer = catalog.commit("n", "t", [{"action": "set-properties", "updates": {"x": "y"}}], [requirement])
            if status != 400 or answer["error"]["type"] not in (BAD, ILLEGAL):
                odd.append((requirement, status, answer if status != 200 else ""))
        assert not odd, "\n".join(map(str, odd))
        for name in ("t", "none"): # whether it exists is not asked
            for requirements in ([{"type": "assert-create"}, {"type": "assert-table-uuid", "uuid": "x"}],
                                 [{"type": "assert-table-uuid", "uuid": "x"}, {"type": "assert-create"}]):
                message = catalog.refused(400, ILLEGAL, "POST", f"/namespaces/n/tables/{name}", {"requirements": requirements, "updates": []})
                assert message == "Invalid create requirements: [assert-table-uuid]", message
        after = catalog.load("n", "t")
        assert after == before and metadata_files(after) == known_files(after)
        assert server.stop() == 0


main(each_refusal_has_the_references_status_type_and_words, unknown_paths_and_methods_are_refused_in_the_protocols_form,
     a_client_at_the_wrong_address_is_told_the_right_one,
     bodies_that_are_no_requests_are_refused_and_change_nothing, a_refusal_says_what_it_is_about, parts_of_a_commit_that_are_none_are_refused_and_change_nothing)
