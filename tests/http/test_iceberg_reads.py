#!/usr/bin/env python3
"""Reads of the Iceberg face: tags, forms, lists in pages, names in paths, looks without a body."""
import json, os, shutil, socket, sys, urllib.parse, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import I, SCHEMA, Catalog, append, local, start, view_body
from tarn import folder, main

T = "/namespaces/n/tables/t"


def text(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
        return answer.read().decode()


def a_tag_names_what_is_behind_it_whoever_tells_it():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        tags = [catalog.headers["ETag"]]

        def equals_load():
            tag = catalog.headers["ETag"]
            assert ("ETag", tag) in catalog.headers.items(), "the reference's client looks for this very spelling"
            catalog.load("n", "t")
            assert catalog.headers["ETag"] == tag
            catalog.load("n", "t", "?snapshots=all")
            assert catalog.headers["ETag"] == tag
            catalog.load("n", "t", "?snapshots=refs")
            assert catalog.headers["ETag"] != tag
            return tag

        tag = equals_load()
        assert tag == tags[0]
        assert catalog.commit("n", "t", *append(1, 1))[0] == 200
        assert equals_load() != tag
        tag = catalog.headers["ETag"]
        file = catalog.load("n", "t")["metadata-location"]
        assert catalog.call("DELETE", T)[0] == 204
        catalog.ok("POST", "/namespaces/n/register", {"name": "t", "metadata-location": file})
        tag = equals_load()
        catalog.load("n", "t", "?snapshots=refs")
        refs = catalog.headers["ETag"]
        catalog.load("n", "t")
        tag = catalog.headers["ETag"]
        bare = tag.strip('"')
        for what, given, query, status in [
            ("the tag", tag, "", 304), ("the tag, weak", "W/" + tag, "", 304), ("any", "*", "", 304),
            ("in a list", f'"x", {tag}', "", 304), ("in a list without blanks", f'"x",W/{tag},"y"', "", 304),
            ("another", '"x"', "", 200), ("a longer one", '"' + bare + 'x"', "", 200),
            ("a longer one in front", '"x' + bare + '"', "", 200), ("a part", '"' + bare[:5] + '"', "", 200),
            ("of the other form", refs, "", 200), ("the other form's", refs, "?snapshots=refs", 304),
            ("the tag for the other form", tag, "?snapshots=refs", 200), ("empty", "", "", 200),
        ]:
            got, body = catalog.call("GET", T + query, If_None_Match=given)
            assert got == status, (what, given, got)
            assert (body is None) == (status == 304), what
            assert catalog.headers["ETag"] == (refs if query else tag), what
        catalog.refused(404, "NoSuchTableException", "GET", "/namespaces/n/tables/no", If_None_Match="*")
        assert catalog.commit("n", "t", [{"action": "set-properties", "updates": {"a": "b"}}])[0] == 200
        assert catalog.call("GET", T, If_None_Match=tag)[0] == 200
        assert server.stop() == 0


def loads_are_for_the_client_alone_and_delegation_is_accepted():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        for wish in ("vended-credentials", "vended-credentials,remote-signing", "whatever"):
            body = catalog.ok("POST", "/namespaces/n/tables", {"name": "t", "schema": SCHEMA},
                              X_Iceberg_Access_Delegation=wish)
            assert catalog.headers["Cache-Control"] == "private, no-cache", catalog.headers["Cache-Control"]
            body = catalog.ok("GET", T, X_Iceberg_Access_Delegation=wish)
            assert catalog.headers["Cache-Control"] == "private, no-cache"
            assert body["config"] == {} and "storage-credentials" not in body
            catalog.ok("DELETE", T)
        assert server.stop() == 0


def a_file_that_is_registered_again_with_other_content_is_sent_again():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        file = local(catalog.table("n", "t")["metadata-location"])

        def write(n):
            with open(file) as f:
                document = json.load(f)
            with open(file, "w") as f:
                json.dump({**document, "properties": {"n": str(n)}}, f)

        ways = [("in its own place", lambda: None), ("after a drop", lambda: catalog.ok("DELETE", T))]
        for n, ((way, before), loads) in enumerate((way, loads) for way in ways for loads in (1, 3)): # seldom read, and kept in memory
            for query in ("", "?snapshots=refs"):
                for _ in range(loads):
                    catalog.load("n", "t", query)
                tag = catalog.headers["ETag"]
                assert catalog.call("GET", T + query, If_None_Match=tag)[0] == 304, way
                before()
                write(f"{n}{query}")
                catalog.ok("POST", "/namespaces/n/register", {"name": "t", "metadata-location": "file://" + file, "overwrite": True})
                status, answer = catalog.call("GET", T + query, If_None_Match=tag)
                assert status == 200 and answer["metadata"]["properties"] == {"n": f"{n}{query}"}, (way, query, status)
        assert server.stop() == 0


def a_load_that_was_answered_before_tells_what_is_now():
    """What is asked again and again is answered from memory: each change must end that, for both forms."""
    def commit(catalog):
        assert catalog.commit("n", "t", *append(1, 1))[0] == 200

    def by_group(catalog):
        updates, requirements = append(1, 1)
        catalog.ok("POST", "/transactions/commit", {"table-changes": [
            {"identifier": {"namespace": ["n"], "name": "t"}, "requirements": requirements, "updates": updates}]})

    def rename(catalog):
        catalog.ok("POST", "/tables/rename", {"source": {"namespace": ["n"], "name": "t"},
                                              "destination": {"namespace": ["n"], "name": "away"}})

    def drop(catalog):
        catalog.ok("DELETE", T)

    def drop_and_create(catalog):
        drop(catalog)
        catalog.table("n", "t", properties={"new": "yes"})

    def swap_names(catalog):
        catalog.table("n", "other", properties={"new": "yes"})
        rename(catalog)
        catalog.ok("POST", "/tables/rename", {"source": {"namespace": ["n"], "name": "other"},
                                              "destination": {"namespace": ["n"], "name": "t"}})

    def overwrite(catalog):
        other = catalog.table("n", "other", properties={"new": "yes"})["metadata-location"]
        catalog.ok("DELETE", "/namespaces/n/tables/other")
        catalog.ok("POST", "/namespaces/n/register", {"name": "t", "metadata-location": other, "overwrite": True})

    def lose_the_file(catalog):
        os.unlink(local(catalog.load("n", "t")["metadata-location"]))

    def rename_the_file(catalog):
        file = local(catalog.load("n", "t")["metadata-location"])
        os.rename(file, file + ".away")

    def make_it_a_link(catalog):
        rename_the_file(catalog)
        file = local(catalog.load_kept["metadata-location"])
        os.symlink(file + ".away", file)

    with folder() as top:
        server, catalog = start(top)
        for change, status in [(commit, 200), (by_group, 200), (rename, 404), (drop, 404), (drop_and_create, 200), (swap_names, 200),
                               (overwrite, 200), (lose_the_file, 404), (rename_the_file, 404), (make_it_a_link, 404)]:
            name = change.__name__
            catalog.namespace("n")
            catalog.table("n", "t")
            for query in ("", "?snapshots=refs") * 3:
                catalog.load_kept = catalog.load("n", "t", query)
                tag = catalog.headers["ETag"]
            change(catalog)
            for query in ("", "?snapshots=refs", "", "?snapshots=refs"):
                got, answer = catalog.call("GET", T + query)
                assert got == status, (name, query, got, answer)
                if got == 200:
                    assert answer["metadata-location"] != catalog.load_kept["metadata-location"], name
                    now = answer["metadata"]
                    assert now["current-snapshot-id"] == 1 or now["properties"].get("new") == "yes", name
                    assert catalog.call("GET", T + "?snapshots=refs", If_None_Match=tag)[0] == 200, name
            for left in catalog.ok("GET", "/namespaces/n/tables")["identifiers"]:
                catalog.ok("DELETE", f"/namespaces/n/tables/{left['name']}")
            catalog.ok("DELETE", "/namespaces/n")
        assert server.stop() == 0


def a_table_comes_back_with_its_file():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        file = local(catalog.table("n", "t")["metadata-location"])
        for _ in range(3):
            catalog.load("n", "t")
            os.rename(file, file + ".away")
            message = catalog.refused(404, "NotFoundException", "GET", T)
            assert message == f"Failed to open input stream for file: file://{file}", message
            os.rename(file + ".away", file)
            catalog.load("n", "t")
        assert server.stop() == 0


def the_cure_of_a_metadata_file_that_is_gone_writes_it_again():
    with folder() as top:
        server, catalog = start(top, "--scan-interval", "1h")
        catalog.namespace("n")
        for name, properties, lose in (
                ("plain", {}, os.remove),
                ("packed", {"write.metadata.compression-codec": "gzip"}, os.remove),
                ("its_folder_too", {}, lambda file: shutil.rmtree(os.path.dirname(os.path.dirname(file))))):
            before, api = catalog.table("n", name, properties=properties), f"/api/table/n.{name}"
            file = local(before["metadata-location"])
            with open(file, "rb") as f:
                content = f.read()
            lose(file)
            catalog.refused(404, "NotFoundException", "GET", f"/namespaces/n/tables/{name}")
            found = catalog.ok("POST", api + "/check")["findings"]
            assert [(f["code"], f["cure"]) for f in found] == [("missing_metadata_file", "republish")], (name, found)
            plan = catalog.ok("POST", api + "/repair", {"plan": "republish"})
            assert plan["writes"] == ["file://" + file] and not os.path.exists(file), (name, plan)
            done = catalog.ok("POST", api + "/repair", {"plan": "republish", "dry_run": False})
            assert done["writes"] == plan["writes"] and not done["left_out"] and done["commit"] is None, (name, done)
            assert done["status"]["severity"] == "ok" and done["version"] == done["status"]["version"], (name, done)
            with open(file, "rb") as f:
                assert f.read() == content, name
            assert catalog.load("n", name)["metadata"] == before["metadata"], name
            assert catalog.ok("POST", api + "/repair", {"plan": "republish", "dry_run": False})["writes"] == [], name
            for other in ("register", "forget", "adopt"):
                status, answer = catalog.call("POST", api + "/repair", {"plan": other})
                assert (status, answer["code"]) == (409, "table_not_managed") and "/iceberg" in answer["detail"], (name, other, answer)
        assert server.stop() == 0


def a_manifest_list_that_is_gone_is_left_out_and_told():
    with folder() as top:
        server, catalog = start(top, "--scan-interval", "1h")
        catalog.namespace("n")
        file = local(catalog.table("n", "t")["metadata-location"])
        assert catalog.commit("n", "t", *append(1, 1, location="file://" + os.path.dirname(os.path.dirname(file))))[0] == 200
        done = catalog.ok("POST", "/api/table/n.t/repair", {"plan": "republish", "dry_run": False})
        assert not done["writes"] and [(item["path"].rsplit("/", 1)[1], item["reason"]) for item in done["left_out"]] == [
            ("snap-1.avro", "not_kept")], done
        assert done["status"]["findings"][0]["code"] == "missing_metadata_file", done
        assert server.stop() == 0


def a_manifest_list_that_two_snapshots_share_is_missed_once():
    with folder() as top:
        server, catalog = start(top, "--scan-interval", "1h")
        catalog.namespace("n")
        at = catalog.table("n", "t")["metadata"]["location"]
        for id, branch in ((1, "main"), (2, "other")):
            updates = append(id, id, branch=branch, location=at)[0]
            updates[0]["snapshot"]["manifest-list"] = f"{at}/metadata/snap-1.avro"
            assert catalog.commit("n", "t", updates)[0] == 200
        for look in range(2):
            found = catalog.ok("POST", "/api/table/n.t/check")["findings"]
            assert [(f["code"], f["subject"]) for f in found] == [("missing_metadata_file", f"{at}/metadata/snap-1.avro")], found
        assert server.stop() == 0


def a_manifest_list_where_nobody_may_look_hides_nothing_else():
    with folder() as top:
        server, catalog = start(top, "--scan-interval", "1h")
        catalog.namespace("n")
        for name, outside in (("elsewhere", f"file://{top}/outside"), ("bucket", "s3://bucket/t"), ("scheme", "gs://bucket/t"),
                              ("relative", "t"), ("long", f"{top}/lake/{'x' * 300}")):
            inside = catalog.table("n", name)["metadata"]["location"]
            for id, place in ((1, outside), (2, inside)):
                updates = append(id, id, id - 1 or None, location=place, **{"total-data-files": "3"})[0]
                assert catalog.commit("n", name, [*updates, {"action": "set-snapshot-ref", "ref-name": f"r{id}", "type": "tag", "snapshot-id": id}])[0] == 200
            status = catalog.ok("POST", f"/api/table/n.{name}/check")
            assert (status["files"], status["version"], status["severity"]) == (3, 2, "error"), (name, status)
            assert [(f["code"], f["subject"]) for f in status["findings"]] == [
                ("missing_metadata_file", f"{inside}/metadata/snap-2.avro")], (name, status["findings"])
            done = catalog.ok("POST", f"/api/table/n.{name}/repair", {"plan": "republish", "dry_run": False})
            assert [item["path"] for item in done["left_out"]] == [f"{inside}/metadata/snap-2.avro"], (name, done)
        assert server.stop() == 0


def what_a_summary_does_not_say_is_told_as_unknown():
    totals = {"total-data-files": "3", "total-files-size": "30"}
    with folder() as top:
        server, catalog = start(top, "--scan-interval", "1h")
        catalog.namespace("n")
        for name, said, files, size in (("all", totals, 3, 30), ("no_size", {"total-data-files": "3"}, 3, None), ("none", {}, None, None),
                                        ("no_number", {**totals, "total-files-size": "many"}, 3, None)):
            place = catalog.table("n", name)["metadata"]["location"]
            assert catalog.commit("n", name, *append(1, 1, location=place, **said))[0] == 200, name
            status = catalog.ok("POST", f"/api/table/n.{name}/check")
            assert (status["files"], status["total_size_bytes"], status["total_size"] is None) == (files, size, size is None), (name, status)
            history = f"/api/table/n.{name}/history?metric=version,files,total_size_bytes"
            sample = catalog.ok("GET", history)["samples"][-1]
            assert (sample["files"], sample["total_size_bytes"]) == (files, size), (name, sample)
            row = next(r for r in catalog.ok("GET", "/api/status") if r["table"] == "n." + name)
            assert (row["files"], row["total_size_bytes"]) == (files, size), (name, row)
            metrics = text(server.port, "/metrics")
            for family, value in (("files", files), ("size_bytes", size)):
                told = [line.split()[1] for line in metrics.splitlines() if line.startswith(f'tarn_table_{family}{{table="n.{name}"')]
                assert told == ([] if value is None else [str(value)]), (name, family, told)
        assert server.stop() == 0


def what_one_token_loaded_another_one_does_not_see():
    with folder() as top:
        server, catalog = start(top, tokens=True)
        catalog.namespace("n")
        catalog.table("n", "t")
        for _ in range(3):
            catalog.load("n", "t")
        status, made = catalog.call("POST", "/api/tokens", {"name": "narrow", "scope": "catalog:read", "tables": "m.*"})
        assert status == 201, made
        for token, status in [(made["token"], 404), (None, 401), ("tarn_wrong", 401), (server.token, 200)]:
            got, answer = Catalog(server.port, token).call("GET", T)
            assert got == status, (token, got, answer)
        assert server.stop() == 0


def refs_alone_leave_the_other_snapshots_out_and_nothing_else():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        for n in range(1, 4):
            assert catalog.commit("n", "t", *append(n, n, n - 1 or None))[0] == 200
        assert catalog.commit("n", "t", [{"action": "set-snapshot-ref", "ref-name": "one", "type": "tag",
                                          "snapshot-id": 1}])[0] == 200
        whole, refs = catalog.load("n", "t"), catalog.load("n", "t", "?snapshots=refs")
        assert [s["snapshot-id"] for s in whole["metadata"]["snapshots"]] == [1, 2, 3]
        assert [s["snapshot-id"] for s in refs["metadata"]["snapshots"]] == [1, 3]
        for document in (whole, refs):
            del document["metadata"]["snapshots"]
        assert whole == refs
        catalog.refused(400, "BadRequestException", "GET", T + "?snapshots=some")
        assert server.stop() == 0


def a_look_has_no_body():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n", "m")
        catalog.table("n", "t")
        catalog.view("n", "v")
        for path, status in [("/namespaces/n", 204), ("/namespaces/n%1Fm", 204), ("/namespaces/no", 404),
                             ("/namespaces/n/tables/t", 204), ("/namespaces/n/tables/no", 404),
                             ("/namespaces/no/tables/t", 404), ("/namespaces/n/tables/v", 404),
                             ("/namespaces/n/views/v", 204), ("/namespaces/n/views/no", 404), ("/namespaces/n/views/t", 404),
                             ("/nothing", 404), ("/config", 200), ("/namespaces", 200), ("/namespaces/n/tables", 200)]:
            # On the wire, so that no client drops what should not have been sent.
            with socket.create_connection(("127.0.0.1", server.port)) as wire:
                wire.sendall(f"HEAD {I}{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
                answer = b""
                while piece := wire.recv(65536):
                    answer += piece
            head, _, rest = answer.partition(b"\r\n\r\n")
            assert head.split()[1] == str(status).encode() and rest == b"", (path, answer)
        status, body = catalog.call("DELETE", "/namespaces/n/views/v")
        assert (status, catalog.raw) == (204, b"") and "Content-Type" not in catalog.headers, catalog.headers.items()
        assert server.stop() == 0


# --- lists ---

def pages(catalog, path, size, key):
    """Every page, and what stood between two of them was done by `between`."""
    token, found = "", []
    while token is not None:
        answer = catalog.ok("GET", f"{path}{'&' if '?' in path else '?'}pageToken={urllib.parse.quote(token)}&pageSize={size}")
        assert len(answer[key]) <= size
        found.append(answer[key])
        assert answer.get("next-page-token") != token
        token = answer.get("next-page-token")
    return found


def lists_come_in_pages_that_miss_and_repeat_nothing():
    with folder() as top:
        server, catalog = start(top)
        names = [f"x{n:02d}" for n in range(7)]
        catalog.namespace("n")
        for name in names:
            catalog.table("n", name)
            catalog.view("n", "v" + name)
            catalog.namespace("n", name)
        for path, key, name_of in [("/namespaces/n/tables", "identifiers", lambda i: i["name"]),
                                   ("/namespaces/n/views", "identifiers", lambda i: i["name"][1:]),
                                   ("/namespaces?parent=n", "namespaces", lambda levels: levels[-1])]:
            glue = "&" if "?" in path else "?"
            whole = catalog.ok("GET", path)
            assert [name_of(i) for i in whole[key]] == names and whole.get("next-page-token") is None
            for query in ("pageSize=3", "pageToken=&pageSize=3"):
                first = catalog.ok("GET", f"{path}{glue}{query}")
                assert [name_of(i) for i in first[key]] == names[:3] and first["next-page-token"], (path, query)
            whole = catalog.ok("GET", f"{path}{glue}pageToken=")
            assert [name_of(i) for i in whole[key]] == names and whole.get("next-page-token") is None
            for size in (1, 3, 6, 7, 8, 1000):
                got = pages(catalog, path, size, key)
                assert [name_of(i) for page in got for i in page] == names, (path, size)
                assert size >= 7 or all(got[:-1]), (path, size)
            # The token stands for a place: what is added and dropped around it moves nothing else.
            for bad in ("0", "-1", "x", "99999999999999999999", "1.5"):
                catalog.refused(400, "BadRequestException", "GET", f"{path}{glue}pageSize={bad}")
            for bad in ("!!", "AAAA%20", "abc=", "%FF", "Zm9v" * 2000, "..", "a" * 5):
                status, answer = catalog.call("GET", f"{path}{glue}pageSize=3&pageToken={bad}")
                assert status in (400, 414, 431), (path, bad[:20], status)
                assert answer["error"]["type"] == "BadRequestException"
        first = catalog.ok("GET", "/namespaces/n/tables?pageToken=&pageSize=3")
        for dropped in ("x02", "x03"):  # the one the token stands at, too
            catalog.ok("DELETE", f"/namespaces/n/tables/{dropped}")
        for added in ("x00a", "x05a"):
            catalog.table("n", added)
        rest, token = [], first["next-page-token"]
        while token:
            answer = catalog.ok("GET", f"/namespaces/n/tables?pageSize=1&pageToken={token}")
            rest += [i["name"] for i in answer["identifiers"]]
            token = answer.get("next-page-token")
        assert rest == ["x04", "x05", "x05a", "x06"], rest
        assert server.stop() == 0


def a_token_of_another_list_is_refused():
    with folder() as top:
        server, catalog = start(top)
        for level in ("n", "m"):
            catalog.namespace(level)
            for name in ("a", "b", "c"):
                catalog.table(level, name)
                catalog.view(level, "v" + name)
                catalog.namespace(level, name)
        lists = ["/namespaces/n/tables", "/namespaces/m/tables", "/namespaces/n/views", "/namespaces/m/views",
                 "/namespaces?parent=n", "/namespaces?parent=m", "/namespaces"]
        token = {p: catalog.ok("GET", f"{p}{'&' if '?' in p else '?'}pageSize=1&pageToken=")["next-page-token"] for p in lists}
        for mine in lists:
            for other in lists:
                path = f"{mine}{'&' if '?' in mine else '?'}pageSize=1&pageToken={token[other]}"
                status, answer = catalog.call("GET", path)
                assert status == (200 if mine == other else 400), (mine, other, status, answer)
        assert server.stop() == 0


def nested_namespaces_are_listed_below_their_parent():
    with folder() as top:
        server, catalog = start(top)
        for levels in (["a"], ["a", "b"], ["a", "b", "c"], ["a.b"], ["a", "x"], ["ab"], ["p", "q"]):
            catalog.namespace(*levels)
        for query, found in [("", [["a"], ["a.b"], ["ab"], ["p"]]), ("?parent=", [["a"], ["a.b"], ["ab"], ["p"]]),
                             ("?parent=a", [["a", "b"], ["a", "x"]]), ("?parent=a%1Fb", [["a", "b", "c"]]),
                             ("?parent=a.b", []), ("?parent=a%1Fb%1Fc", []), ("?parent=p", [["p", "q"]])]:
            got = catalog.ok("GET", "/namespaces" + query)["namespaces"]
            assert sorted(got) == found, (query, got)
        for parent in ("no", "a%1Fno", "b"):
            message = catalog.refused(404, "NoSuchNamespaceException", "GET", "/namespaces?parent=" + parent)
            assert message == "Namespace does not exist: " + parent.replace("%1F", "."), message
        catalog.refused(409, "NamespaceNotEmptyException", "DELETE", "/namespaces/a")
        # A native table brings the namespaces around it with it.
        assert catalog.call("POST", "/api/tables", {"name": "x.y.z.t", "location": top + "/lake/native"})[0] == 201
        for parent, child in (("x", ["x", "y"]), ("x%1Fy", ["x", "y", "z"])):
            assert catalog.ok("GET", "/namespaces?parent=" + parent)["namespaces"] == [child]
            catalog.ok("GET", "/namespaces/" + parent)
            assert catalog.call("HEAD", "/namespaces/" + parent)[0] == 204
        catalog.table("x", "t")
        catalog.view("x", "v")
        assert catalog.ok("GET", "/namespaces?parent=x")["namespaces"] == [["x", "y"]]
        assert catalog.call("POST", "/api/tables", {"name": "w.y.t", "location": top + "/lake/native2"})[0] == 201
        catalog.ok("POST", "/namespaces/w/properties", {"updates": {"a": "b"}})
        assert catalog.ok("GET", "/namespaces/w")["properties"] == {"a": "b", "location": f"file://{top}/lake/w"}
        catalog.refused(409, "NamespaceNotEmptyException", "DELETE", "/namespaces/w")
        assert server.stop() == 0


def a_namespace_says_where_its_tables_come_to_lie():
    with folder() as top:
        server, catalog = start(top)
        for levels, path, place in ((["n"], "n", "n"), (["n", "i"], "n%1Fi", "n/i"), (["a.b"], "a.b", "a.b"), (["a/b"], "a%2Fb", "a%2Fb")):
            place = f"file://{top}/lake/{place}"
            assert catalog.namespace(*levels, owner="me")["properties"] == {"owner": "me", "location": place}
            assert catalog.ok("GET", "/namespaces/" + path)["properties"] == {"owner": "me", "location": place}
            assert catalog.table(path, "t")["metadata"]["location"] == place + "/t"
        # What engines like Trino make of it.
        place = catalog.ok("GET", "/namespaces/n")["properties"]["location"] + "/u-0123"
        assert catalog.table("n", "u", **{"location": place})["metadata"]["location"] == place
        # The namespace's own word comes first; taking it away brings the default back, which is nobody's to take.
        own = f"file://{top}/lake/elsewhere"
        assert catalog.namespace("o", location=own)["properties"] == {"location": own}
        assert catalog.table("o", "t")["metadata"]["location"] == own + "/t"
        for removed, missing in ((["location"], []), ([], ["location"])):
            answer = catalog.ok("POST", "/namespaces/o/properties", {"removals": ["location"]})
            assert answer == {"updated": [], "removed": removed, "missing": missing}, answer
        assert catalog.ok("GET", "/namespaces/o")["properties"] == {"location": f"file://{top}/lake/o"}
        # Tables alone made it: it has no row.
        assert catalog.call("POST", "/api/tables", {"name": "x.y.t", "location": top + "/lake/native"})[0] == 201
        assert catalog.ok("GET", "/namespaces/x")["properties"] == {"location": f"file://{top}/lake/x"}
        assert server.stop() == 0


# --- names ---

# What it is, and how clients write it: the reference with URLEncoder, PyIceberg with quote, others with less.
NAMES = [("my ns", ["my+ns", "my%20ns"]), ("a+b", ["a%2Bb"]), ("a/b", ["a%2Fb", "a%2fb"]), ("100%", ["100%25"]),
         ("a.b", ["a.b", "a%2Eb"]), ("größe", ["gr%C3%B6%C3%9Fe", "gr%c3%b6%c3%9fe"]), ("日本", ["%E6%97%A5%E6%9C%AC"]),
         ('say "x"', ["say+%22x%22", "say%20%22x%22"]), ("it's", ["it%27s", "it's"]), ("a&b=c?d#e", ["a%26b%3Dc%3Fd%23e"]),
         ("~t*", ["%7Et*", "~t*"]), ("%2F", ["%252F"]), ("a\\b", ["a%5Cb"]), ("😀", ["%F0%9F%98%80"]), ("A:b;c,d", ["A:b;c,d"]),
         ("tables", ["tables"]), ("rename", ["rename"]), ("a b/c+d.e%f", ["a+b%2Fc%2Bd.e%25f", "a%20b%2Fc%2Bd%2Ee%25f"])]


def names_mean_themselves_in_namespaces_tables_and_views():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        for name, spellings in NAMES:
            catalog.namespace(name)
            catalog.namespace(name, name)
            catalog.ok("POST", f"/namespaces/{spellings[0]}/tables", {"name": name, "schema": SCHEMA})
            catalog.ok("POST", f"/namespaces/{spellings[0]}/views", view_body(name + "v"))
            for s in spellings:
                assert catalog.ok("GET", f"/namespaces/{s}")["namespace"] == [name], (name, s)
                for separator in ("%1F", "%1f"):
                    assert catalog.ok("GET", f"/namespaces/{s}{separator}{s}")["namespace"] == [name, name]
                assert catalog.ok("GET", f"/namespaces?parent={s}")["namespaces"] == [[name, name]]
                assert catalog.ok("GET", f"/namespaces/{s}/tables")["identifiers"] == [{"namespace": [name], "name": name}]
                assert catalog.ok("GET", f"/namespaces/{s}/views")["identifiers"] == [{"namespace": [name], "name": name + "v"}]
                for kind, end in (("tables", ""), ("views", "v")):
                    assert catalog.call("HEAD", f"/namespaces/{s}/{kind}/{s}{end}")[0] == 204
                    loaded = catalog.ok("GET", f"/namespaces/{s}/{kind}/{s}{end}")
                    assert os.path.exists(loaded["metadata-location"][len("file://"):]), loaded["metadata-location"]
                    assert catalog.call("HEAD", f"/namespaces/{s}/{kind}/{s}{end}x")[0] == 404
            s = spellings[-1]
            catalog.ok("POST", f"/namespaces/{s}/tables/{s}", {"requirements": [], "updates": [
                {"action": "set-properties", "updates": {"a": "b"}}]})
            for kind, end in (("tables", ""), ("views", "v")):
                there, here = ({"namespace": [name, name], "name": name + end + "2"}, {"namespace": [name], "name": name + end})
                catalog.ok("POST", f"/{kind}/rename", {"source": here, "destination": there})
                assert catalog.ok("GET", f"/namespaces/{s}%1F{s}/{kind}")["identifiers"] == [there]
                assert catalog.call("HEAD", f"/namespaces/{s}/{kind}/{s}{end}")[0] == 404
                catalog.ok("DELETE", f"/namespaces/{s}%1F{s}/{kind}/{s}{end}2")
            catalog.ok("DELETE", f"/namespaces/{s}%1F{s}")
            catalog.ok("DELETE", f"/namespaces/{s}")
        assert catalog.ok("GET", "/namespaces")["namespaces"] == [["n"]]
        assert server.stop() == 0


def names_that_are_none_are_refused():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        long = "x" * 256
        for name in ("", ".", "..", "a\x00b", "a\nb", "a\x1fb", long):
            catalog.refused(400, "BadRequestException", "POST", "/namespaces", {"namespace": [name]})
            catalog.refused(400, "BadRequestException", "POST", "/namespaces", {"namespace": ["n", name]})
            catalog.refused(400, "BadRequestException", "POST", "/namespaces/n/tables", {"name": name, "schema": SCHEMA})
            catalog.refused(400, "BadRequestException", "POST", "/namespaces/n/views", view_body(name))
            catalog.refused(400, "BadRequestException", "POST", "/tables/rename",
                            {"source": {"namespace": ["n"], "name": "t"}, "destination": {"namespace": ["n"], "name": name}})
        for levels in ([], "n", None, [1], [["n"]], {}):
            catalog.refused(400, "BadRequestException", "POST", "/namespaces", {"namespace": levels})
        for path in ("/namespaces/%00", "/namespaces/%zz", "/namespaces/%FF", "/namespaces/n/tables/%C3", "/namespaces/..",
                     "/namespaces/n/tables/..", "/namespaces/n%1F", "/namespaces/%1Fn", "/namespaces/n/tables/" + long,
                     "/namespaces/a%0Ab"):
            catalog.refused(400, "BadRequestException", "GET", path)
        assert server.stop() == 0


main(a_tag_names_what_is_behind_it_whoever_tells_it, a_file_that_is_registered_again_with_other_content_is_sent_again,
     a_load_that_was_answered_before_tells_what_is_now,
     a_table_comes_back_with_its_file, the_cure_of_a_metadata_file_that_is_gone_writes_it_again,
     a_manifest_list_that_is_gone_is_left_out_and_told, a_manifest_list_that_two_snapshots_share_is_missed_once,
     a_manifest_list_where_nobody_may_look_hides_nothing_else, what_a_summary_does_not_say_is_told_as_unknown,
     what_one_token_loaded_another_one_does_not_see, loads_are_for_the_client_alone_and_delegation_is_accepted,
     refs_alone_leave_the_other_snapshots_out_and_nothing_else, a_look_has_no_body,
     lists_come_in_pages_that_miss_and_repeat_nothing, a_token_of_another_list_is_refused,
     nested_namespaces_are_listed_below_their_parent, a_namespace_says_where_its_tables_come_to_lie, names_mean_themselves_in_namespaces_tables_and_views,
     names_that_are_none_are_refused)
