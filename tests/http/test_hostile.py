#!/usr/bin/env python3
"""Bodies that mean harm, and bodies that are merely wrong: each a 4xx that says where, and nothing is written."""
import json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tarn import Server, folder, main

ADD = {"type": "add_file", "path": "a.parquet", "size": 1}


def commit(**more):
    return {"expected_version": 0, "operations": [ADD], **more}


def op(**more):
    return commit(operations=[{**ADD, **more}])


def raw(text):
    return text if isinstance(text, bytes) else text.encode()


def deep(levels):
    return '{"expected_version":0,"operations":[],"commitMetadata":' + '{"a":' * levels + "1" + "}" * levels + "}"


# body, status, the field that the answer names (None: the detail says where in the text)
BODIES = [
    (raw("this is no JSON"), 400, None),
    (raw(""), 400, None),
    (raw("{"), 400, None),
    (raw("[]"), 400, None),
    (raw("null"), 400, None),
    (raw('{"operations":[]} trailing'), 400, None),
    (raw('{"operations":[],"operations":[]}'), 400, None),
    (raw('{"expected_version":9223372036854775808,"operations":[]}'), 400, None),
    (raw('{"expected_version":1e999,"operations":[]}'), 400, None),
    (raw('{"operations":[{"type":"add_file","path":"a\\u0000b"}]}'), 400, None),
    (b'{"operations":[{"type":"add_file","path":"a\x00b"}]}', 400, None),
    (b'{"operations":[{"type":"add_file","path":"a\xff.parquet"}]}', 400, None),
    (b'{"operations":[{"type":"add_file","path":"\xed\xa0\x80"}]}', 400, None),
    (raw(deep(100)), 400, None),
    (raw("[" * 100000), 400, None),
    (commit(suprise=1), 400, "suprise"),
    (op(colour="red"), 400, "operations[0].colour"),
    (commit(operations=[]), 400, "operations"),
    (commit(operations="all"), 400, "operations"),
    (commit(operations=[1]), 400, "operations[0]"),
    (commit(operations=[{"path": "a"}]), 400, "operations[0].type"),
    (op(type="move_file"), 400, "operations[0].type"),
    (op(path="../a.parquet"), 400, "operations[0].path"),
    (op(path="x/../../a.parquet"), 400, "operations[0].path"),
    (op(path="/etc/passwd"), 400, "operations[0].path"),
    (op(path=""), 400, "operations[0].path"),
    (op(path="a" * 4096), 400, "operations[0].path"),
    (op(path="x/" + "a" * 256), 400, "operations[0].path"),
    (op(path="ä" * 128 + "/x"), 400, "operations[0].path"),
    (op(path="./a"), 400, "operations[0].path"),
    (op(path="a//b"), 400, "operations[0].path"),
    (op(path="staging/a.parquet"), 400, "operations[0].path"),
    (op(path="_transactions/a.json"), 400, "operations[0].path"),
    (op(path="manifest.json"), 400, "operations[0].path"),
    (op(size=-1), 400, "operations[0].size"),
    (op(size=1.5), 400, "operations[0].size"),
    (op(size="big"), 400, "operations[0].size"),
    (op(partitionValues=[]), 400, "operations[0].partitionValues"),
    (op(partitionValues={"date": {"y": 2024}}), 400, "operations[0].partitionValues.date"),
    (commit(operations=[ADD, ADD]), 400, "operations[1].path"),
    (commit(expected_version=-1), 400, "expected_version"),
    (commit(expected_version="0"), 400, "expected_version"),
    (commit(transaction_id=".hidden"), 400, "transaction_id"),
    (commit(transaction_id="a/b"), 400, "transaction_id"),
    (commit(transaction_id="x" * 129), 400, "transaction_id"),
    (commit(dataChange="yes"), 400, "dataChange"),
    (commit(commitMetadata=[]), 400, "commitMetadata"),
]


def listing(place):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(place) for name in names)


def every_bad_body_is_refused_where_it_is_bad_and_nothing_is_written():
    with folder() as top:
        server = Server(top + "/data", "--root", top + "/lake").start()
        client = server.client()
        assert client.call("POST", "/api/tables", {"name": "t", "location": top + "/lake/t"})[0] == 201
        before, files = client.get("/api/table/t"), listing(top + "/lake")
        for body, status, field in BODIES:
            got, answer = client.call("POST", "/api/table/t/commits", body)
            shown = body if isinstance(body, bytes) else json.dumps(body)
            assert got == status, f"{shown[:200]}: {got} {answer}"
            assert answer.get("field") == field, f"{shown[:200]}: {answer}"
            assert answer["code"] == "invalid_request" and answer["detail"], answer
        assert client.get("/api/table/t") == before
        assert client.get("/api/table/t/files")["files"] == []
        assert listing(top + "/lake") == files
        assert server.stop() == 0


def sixty_four_mebibytes_are_taken_and_one_more_byte_is_not():
    with folder() as top:
        server = Server(top + "/data", "--root", top + "/lake").start()
        client = server.client()
        limit = 64 << 20
        status, answer = client.call("POST", "/api/table/t/commits", b" " * limit)
        assert status == 400, (status, answer)
        status, answer = client.call("POST", "/api/table/t/commits", b" " * (limit + 1))
        assert (status, answer["code"]) == (413, "payload_too_large"), (status, answer)
        client = server.client()
        status, answer = client.call("POST", "/api/table/t/commits", b"[" + b"1," * 2000001 + b"1]")
        assert status == 400 and "too many values" in answer["detail"], (status, answer)
        assert client.get("/healthz") == {"status": "ok"}
        assert server.stop() == 0


def names_and_queries_are_refused_by_name():
    with folder() as top:
        server = Server(top + "/data", "--root", top + "/lake").start()
        client = server.client()
        for path, status, code in [
                ("/api/table/%00", 400, "invalid_request"), ("/api/table/a%FFb", 400, "invalid_request"),
                ("/api/table/a%0Ab", 400, "invalid_request"), ("/api/table/.", 400, "invalid_request"),
                ("/api/table/" + "n" * 256, 400, "invalid_request"), ("/api/table/a..b", 400, "invalid_request"),
                ("/api/table/nobody", 404, "table_not_found"), ("/api/table/a%2Fb", 404, "table_not_found"),
                ("/api/tables?page_size=0", 400, "invalid_request"), ("/api/tables?page_size=10001", 400, "invalid_request"),
                ("/api/tables?page_token=xyz", 400, "invalid_request"), ("/api/tables?format=orc", 400, "invalid_request"),
                ("/api/tables?colour=red", 400, "invalid_request"), ("/api/tables/", 404, "not_found")]:
            got, answer = client.call("GET", path)
            assert (got, answer["code"]) == (status, code), f"{path}: {got} {answer}"
        assert server.stop() == 0


def a_path_that_no_file_system_can_have_is_the_callers_fault_in_both_faces():
    with folder() as top:
        server = Server(top + "/data", "--root", top + "/lake").start()
        client, long = server.client(), top + "/lake/" + "a" * 256 + "/t"
        ice = {"name": "t", "schema": {"type": "struct", "fields": []}}
        assert client.call("POST", "/iceberg/v1/namespaces", {"namespace": ["n"]})[0] == 200
        assert client.call("POST", "/iceberg/v1/namespaces/n/tables", {**ice, "name": "there"})[0] == 200
        tables, there = "/iceberg/v1/namespaces/n/tables", "/iceberg/v1/namespaces/n/tables/there"
        assert client.call("POST", "/api/tables", {"name": "p", "location": top + "/lake/p", "mode": "observed", "format": "iceberg",
                                                   "metadata_location": top + "/lake/p/1.metadata.json"})[0] == 201
        before = listing(top + "/lake")
        for method, path, body, field in [
                ("POST", "/api/tables", {"name": "t", "location": long}, "location"),
                ("POST", "/api/tables", {"name": "t", "location": "file://" + long.replace("a", "%61")}, "location"),
                ("POST", "/api/tables", {"name": "t", "location": long, "mode": "observed", "format": "delta"}, "location"),
                ("POST", "/api/tables", {"name": "t", "location": long, "dry_run": True}, "location"),
                ("POST", "/api/tables", {"name": "%" * 255}, "location"),
                ("POST", "/api/tables", {"name": "t", "location": top + "/lake/t", "mode": "observed", "format": "iceberg", "metadata_location": long},
                 "metadata_location"),
                ("PUT", "/api/table/p/pointer", {"expected_version": 0, "metadata_location": long, "transaction": "1"}, "metadata_location"),
                ("POST", "/api/discover", {"location": long}, "location"),
                ("POST", tables, {**ice, "location": long}, None), ("POST", tables, {**ice, "location": "file://" + long}, None),
                ("POST", tables, {**ice, "stage-create": True, "location": long}, None),
                ("POST", tables, {**ice, "properties": {"write.metadata.path": long}}, None),
                ("POST", there, {"requirements": [], "updates": [{"action": "set-location", "location": long}]}, None),
                ("POST", there, {"requirements": [], "updates": [{"action": "set-properties", "updates": {"write.metadata.path": long}}]}, None),
                ("POST", "/iceberg/v1/namespaces/n/register", {"name": "t", "metadata-location": long + "/1.metadata.json"}, None)]:
            status, answer = client.call(method, path, body)
            assert status == 400 and "255" in json.dumps(answer), (path, body, status, answer)
            assert "error" in answer or (answer["code"], answer["field"]) == ("invalid_request", field), (path, body, answer)
        assert listing(top + "/lake") == before
        assert server.stop() == 0


main(every_bad_body_is_refused_where_it_is_bad_and_nothing_is_written,
     sixty_four_mebibytes_are_taken_and_one_more_byte_is_not, names_and_queries_are_refused_by_name,
     a_path_that_no_file_system_can_have_is_the_callers_fault_in_both_faces)
