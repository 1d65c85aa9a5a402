#!/usr/bin/env python3
"""The Iceberg face as engines meet it: configuration, tokens, names, paging, tags, refusals."""
import base64, http.client, json, os, sys, urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import I, SCHEMA, Catalog, append, known_files, local, metadata_files, snapshot, start, view_body
from tarn import Server, folder, main

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


main(a_token_of_the_server_is_a_client_secret_and_is_answered_as_the_token, a_token_that_ends_says_when,
     without_tokens_a_header_that_says_bearer_none_is_ignored, another_warehouse_than_the_configured_one_is_not_found)
