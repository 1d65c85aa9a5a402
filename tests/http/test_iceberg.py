#!/usr/bin/env python3
"""The Iceberg face as engines meet it: configuration, tokens, names, paging, tags, refusals."""
import base64, json, os, sqlite3, sys, threading, urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import I, SCHEMA, Catalog, append, known_files, metadata_files, start, view_body
from tarn import folder, main

FORM = "application/x-www-form-urlencoded"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS = "urn:ietf:params:oauth:token-type:access_token"


def basic(text):
    return "Basic " + base64.b64encode(text.encode()).decode()


def a_token_of_the_server_is_a_client_secret_and_is_answered_as_the_token():
    with folder() as top:
        server, catalog = start(top, tokens=True)
        secret = server.token
        open_door = Catalog(server.port)
        path = I + "/oauth/tokens"
        credentials = {"grant_type": "client_credentials", "client_id": "any", "client_secret": secret, "scope": "catalog"}
        exchange = {"grant_type": EXCHANGE, "subject_token": secret, "subject_token_type": ACCESS}
        bare = {"grant_type": "client_credentials", "scope": "catalog"}
        for what, query, body, headers, status, error in [
            ("in the body", "", credentials, {}, 200, None),
            ("without a client id", "", {**bare, "client_secret": secret}, {}, 200, None),
            ("in the query, empty body", "?" + urllib.parse.urlencode(credentials), None, {}, 200, None),
            ("by a Basic header", "", bare, {"Authorization": basic("id:" + secret)}, 200, None),
            ("by a Basic header without an id", "", bare, {"Authorization": basic(":" + secret)}, 200, None),
            ("exchanged", "", exchange, {}, 200, None),
            ("exchanged with the token itself as the bearer", "", exchange, {"Authorization": "Bearer " + secret}, 200, None),
            ("a wrong secret", "", {**credentials, "client_secret": "tarn_no"}, {}, 401, "invalid_client"),
            ("a wrong secret in the header", "", bare, {"Authorization": basic("id:no")}, 401, "invalid_client"),
            ("a wrong subject", "", {**exchange, "subject_token": "no"}, {}, 400, "invalid_grant"),
            ("no subject", "", {"grant_type": EXCHANGE, "subject_token_type": ACCESS}, {}, 400, "invalid_request"),
            ("no secret", "", bare, {}, 400, "invalid_request"),
            ("a broken header", "", bare, {"Authorization": "Basic ?"}, 400, "invalid_request"),
            ("no grant", "", {"client_secret": secret}, {}, 400, "invalid_request"),
            ("another grant", "", {**credentials, "grant_type": "password"}, {}, 400, "unsupported_grant_type"),
            ("a field twice", "?grant_type=client_credentials", credentials, {}, 400, "invalid_request"),
            ("a broken escape", "", "grant_type=%zz", {}, 400, "invalid_request"),
            ("no form", "", json.dumps(credentials), {"Content_Type": "application/json"}, 400, "invalid_request"),
        ]:
            text = urllib.parse.urlencode(body) if isinstance(body, dict) else body
            sent = {**({"Content_Type": FORM} if body is not None else {}), **headers}
            got, answer = open_door.call("POST", path + query, text, **sent)
            assert got == status, (what, got, answer)
            if status == 200:
                assert answer["access_token"] == secret and answer["token_type"] == "bearer", (what, answer)
                assert answer["issued_token_type"] == ACCESS
                assert open_door.headers["Cache-Control"] == "no-store"
                assert Catalog(server.port, answer["access_token"]).call("GET", "/config")[0] == 200
            else:
                assert answer["error"] == error and set(answer) == {"error", "error_description"}, (what, answer)
        endpoints = catalog.ok("GET", "/config")["endpoints"]
        assert not [e for e in endpoints if "oauth" in e or "config" in e], endpoints
        open_door.refused(401, "NotAuthorizedException", "GET", "/config")
        assert server.stop() == 0


def a_token_that_ends_says_when():
    with folder() as top:
        server, catalog = start(top, tokens=True)
        status, made = catalog.call("POST", "/api/tokens", {"name": "short", "scope": "catalog:read", "expires": "1h"})
        assert status in (200, 201), made
        text = urllib.parse.urlencode({"grant_type": "client_credentials", "client_secret": made["token"]})
        answer = catalog.ok("POST", I + "/oauth/tokens", text, Content_Type=FORM)
        assert 3500 < answer["expires_in"] <= 3600, answer
        assert server.stop() == 0


def without_tokens_a_header_that_says_bearer_none_is_ignored():
    with folder() as top:
        server, catalog = start(top)
        assert catalog.call("GET", "/config", Authorization="Bearer None")[0] == 200
        text = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": "a", "client_secret": "b"})
        assert catalog.ok("POST", I + "/oauth/tokens", text, Content_Type=FORM)["token_type"] == "bearer"
        assert server.stop() == 0


def another_warehouse_than_the_configured_one_is_not_found():
    with folder() as top:
        server, catalog = start(top, "--warehouse", "lake")
        for query in ("", "?warehouse=", "?warehouse=lake"):
            answer = catalog.ok("GET", "/config" + query)
            assert isinstance(answer["defaults"], dict) and isinstance(answer["overrides"], dict), answer
            assert "prefix" not in answer["overrides"]
        catalog.refused(404, "NoSuchWarehouseException", "GET", "/config?warehouse=other")
        assert server.stop() == 0
        server, catalog = start(top)
        assert catalog.call("GET", "/config?warehouse=whatever")[0] == 200
        assert server.stop() == 0


def a_request_under_its_key_has_one_effect_and_one_answer():
    with folder() as top:
        server, catalog = start(top)
        assert catalog.ok("GET", "/config")["idempotency-key-lifetime"] == "PT24H"
        catalog.namespace("s")
        file = catalog.table("s", "old")["metadata-location"]
        updates, requirements = append(11, 1)
        steps = [  # what changes the catalog, in an order that each step of it needs
            ("POST", "/namespaces", {"namespace": ["n"], "properties": {"a": "b"}}, 200),
            ("POST", "/namespaces/n/properties", {"updates": {"c": "d"}, "removals": ["a", "x"]}, 200),
            ("POST", "/namespaces/n/tables", {"name": "t", "schema": SCHEMA}, 200),
            ("POST", "/namespaces/n/tables", {"name": "staged", "schema": SCHEMA, "stage-create": True}, 200),
            ("POST", "/namespaces/n/tables/t", {"requirements": requirements, "updates": updates}, 200),
            ("POST", "/transactions/commit", {"table-changes": [
                {"identifier": {"namespace": ["n"], "name": "t"}, "requirements": [],
                 "updates": [{"action": "set-properties", "updates": {"k": "v"}}]}]}, 204),
            ("POST", "/tables/rename", {"source": {"namespace": ["n"], "name": "t"},
                                        "destination": {"namespace": ["n"], "name": "u"}}, 204),
            ("DELETE", "/namespaces/n/tables/u", None, 204),
            ("POST", "/namespaces/n/register", {"name": "r", "metadata-location": None}, 200),
            ("DELETE", "/namespaces/n/tables/r?purgeRequested=false", None, 204),
            ("POST", "/namespaces/n/views", view_body("v"), 200),
            ("POST", "/namespaces/n/views/v", {"updates": [{"action": "set-properties", "updates": {"k": "v"}}]}, 200),
            ("POST", "/views/rename", {"source": {"namespace": ["n"], "name": "v"},
                                       "destination": {"namespace": ["n"], "name": "w"}}, 204),
            ("DELETE", "/namespaces/n/views/w", None, 204),
            ("DELETE", "/namespaces/n", None, 204)]
        for number, (method, path, body, status) in enumerate(steps):
            if path.endswith("/register"):
                catalog.ok("DELETE", "/namespaces/s/tables/old")
                body["metadata-location"] = file
            key = f"017f22e2-79b0-7cc3-98c4-dc0c0c07{number:04d}"
            got, first = catalog.call(method, path, body, Idempotency_Key=key)
            assert got == status, (method, path, got, first)
            tag = catalog.headers["ETag"]
            got, again = catalog.call(method, path, body, Idempotency_Key=key)
            assert (got, again) == (status, first), (method, path, got, again, first)
            assert catalog.headers["ETag"] == tag, (method, path)
            # The same JSON value in another order is the same request; another body, path or method is another one.
            if body is not None:
                turned = json.dumps(dict(reversed(list(body.items()))), indent=1).encode()
                assert catalog.call(method, path, turned, Idempotency_Key=key)[0] == status
                catalog.refused(400, "BadRequestException", method, path, {**body, "more": 1}, Idempotency_Key=key)
            catalog.refused(400, "BadRequestException", "DELETE", "/namespaces/s", Idempotency_Key=key)
            # Under no key, or another one, it is judged anew.
            if "drop" not in path and method == "DELETE":
                assert catalog.call(method, path, body, Idempotency_Key=key[:-4] + "9999")[0] == 404
        assert server.stop() == 0


def a_refusal_under_a_key_is_judged_anew_and_keys_belong_to_their_principal():
    with folder() as top:
        server, catalog = start(top, tokens=True)
        body = {"name": "t", "schema": SCHEMA}
        catalog.refused(404, "NoSuchNamespaceException", "POST", "/namespaces/n/tables", body, Idempotency_Key="k")
        catalog.namespace("n")
        catalog.ok("POST", "/namespaces/n/tables", body, Idempotency_Key="k")
        made = catalog.ok("POST", "/namespaces/n/tables", body, Idempotency_Key="k")
        catalog.refused(409, "AlreadyExistsException", "POST", "/namespaces/n/tables", body)
        token = catalog.call("POST", "/api/tokens", {"name": "b", "scope": "catalog:write"})[1]["token"]
        other = Catalog(server.port, token)
        other.refused(409, "AlreadyExistsException", "POST", "/namespaces/n/tables", body, Idempotency_Key="k")
        other.ok("DELETE", "/namespaces/n/tables/t", Idempotency_Key="k")
        for key in ("", "x" * 256):
            catalog.refused(400, "BadRequestException", "DELETE", "/namespaces/n/tables/t", Idempotency_Key=key)
        # It is noted with its effect: it holds after a kill.
        catalog.ok("POST", "/namespaces/n/tables", {"name": "u", "schema": SCHEMA}, Idempotency_Key="u")
        server.kill()
        server.start()
        catalog = Catalog(server.port, server.token)
        catalog.ok("POST", "/namespaces/n/tables", {"name": "u", "schema": SCHEMA}, Idempotency_Key="u")
        assert len(catalog.ok("GET", "/namespaces/n/tables")["identifiers"]) == 1, made
        assert server.stop() == 0


def two_at_once_under_one_key_have_one_effect():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        parent = None
        for n in range(1, 11):
            updates, requirements = append(n, n, parent)
            body = {"requirements": requirements, "updates": updates}
            gate, answers = threading.Barrier(4), []

            def ask():
                own = Catalog(server.port)
                own.ok("GET", "/config")
                gate.wait()
                answers.append(own.call("POST", "/namespaces/n/tables/t", body, Idempotency_Key=f"k{n}"))

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert [status for status, _ in answers] == [200] * 4, answers
            assert len({answer["metadata-location"] for _, answer in answers}) == 1
            parent = n
        table = catalog.load("n", "t")
        assert len(table["metadata"]["snapshots"]) == 10
        assert metadata_files(table) == known_files(table)
        assert server.stop() == 0


def reports_of_scans_and_commits_are_kept_as_facts():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        path = "/namespaces/n/tables/t/metrics"
        count = lambda n: {"unit": "count", "value": n}
        # As the reference writes them: ScanReportParser, CommitReportParser.
        scan = {"report-type": "scan-report", "table-name": "n.t", "snapshot-id": 7, "filter": True, "schema-id": 0,
                "projected-field-ids": [1], "projected-field-names": ["id"], "metadata": {"engine": "x"},
                "metrics": {"total-planning-duration": {"count": 1, "time-unit": "nanoseconds", "total-duration": 2644235116},
                            "result-data-files": count(3), "total-file-size-in-bytes": {"unit": "bytes", "value": 1045},
                            "something-new": count(1)}}
        commit = {"report-type": "commit-report", "table-name": "n.t", "snapshot-id": 8, "sequence-number": 2,
                  "operation": "append",
                  "metrics": {"total-duration": {"count": 1, "time-unit": "seconds", "total-duration": 2},
                              "attempts": count(2), "added-data-files": count(4), "added-records": count(40),
                              "added-files-size-bytes": {"unit": "bytes", "value": 4000}}}
        for body in (scan, commit, {**scan, "snapshot-id": -1, "metrics": {}}):
            assert catalog.call("POST", path, body) == (204, None) and catalog.raw == b""
        for body in ({**scan, "report-type": "sum-report"}, {k: v for k, v in scan.items() if k != "report-type"}, {},
                     {**scan, "report-type": 1}, {**scan, "metrics": []}, {**commit, "snapshot-id": "8"}):
            catalog.refused(400, "BadRequestException", "POST", path, body)
        catalog.refused(404, "NoSuchTableException", "POST", "/namespaces/n/tables/no/metrics", scan)
        catalog.refused(404, "NoSuchTableException", "POST", "/namespaces/no/tables/t/metrics", scan)
        kept = catalog.ok("GET", "/api/table/n.t/reports")["reports"]
        assert [(r["kind"], r["snapshot"]) for r in kept] == [("scan", None), ("commit", "8"), ("scan", "7")], kept
        assert kept[1]["facts"]["rows"] == 40 and kept[1]["at"].endswith("Z")
        assert catalog.ok("GET", "/api/table/n.t/reports?limit=1")["reports"] == kept[:1]
        assert catalog.call("GET", "/api/table/n.no/reports")[0] == 404
        assert catalog.call("GET", "/api/table/n.t/reports?limit=0")[0] == 400
        assert "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics" in catalog.ok("GET", "/config")["endpoints"]
        assert server.stop() == 0
        rows = sqlite3.connect(top + "/data/tarn.sqlite").execute(
            "SELECT kind, snapshot, report FROM reports ORDER BY id").fetchall()
        assert [(kind, snapshot) for kind, snapshot, _ in rows] == [("scan", 7), ("commit", 8), ("scan", None)], rows
        assert json.loads(rows[0][2]) == {"files": 3, "bytes": 1045, "duration_ms": 2644}, rows[0]
        assert json.loads(rows[1][2]) == {"operation": "append", "files": 4, "rows": 40, "bytes": 4000, "attempts": 2,
                                          "duration_ms": 2000}, rows[1]


def of_a_table_no_more_than_a_thousand_reports_are_kept():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        report = {"report-type": "scan-report", "table-name": "n.t", "metrics": {}}
        for n in range(1010):
            assert catalog.call("POST", "/namespaces/n/tables/t/metrics", {**report, "snapshot-id": n})[0] == 204
        assert server.stop() == 0
        kept = [n for n, in sqlite3.connect(top + "/data/tarn.sqlite").execute("SELECT snapshot FROM reports ORDER BY id")]
        assert kept == list(range(10, 1010)), (len(kept), kept[:3])


main(a_token_of_the_server_is_a_client_secret_and_is_answered_as_the_token, a_token_that_ends_says_when,
     without_tokens_a_header_that_says_bearer_none_is_ignored, another_warehouse_than_the_configured_one_is_not_found,
     a_request_under_its_key_has_one_effect_and_one_answer,
     a_refusal_under_a_key_is_judged_anew_and_keys_belong_to_their_principal, two_at_once_under_one_key_have_one_effect,
     reports_of_scans_and_commits_are_kept_as_facts, of_a_table_no_more_than_a_thousand_reports_are_kept)
