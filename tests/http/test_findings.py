#!/usr/bin/env python3
"""The life of findings on the real server: a sick table is found, somebody acknowledges, accepts, silences; all of it survives
a restart; and who may do what."""
import datetime, json, os, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from tarn import Client, Server, await_true, folder, main


def instant(seconds):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def make_table(root, name):
    """A table whose manifest lists a file that is not there, and whose log lacks the entry of txn-2."""
    place = os.path.join(root, name)
    os.makedirs(os.path.join(place, "_transactions"))
    files = {"manifest.json": {"version": 3, "last_updated": "2024-02-01T14:32:15Z", "files": [
                 {"path": "a.parquet", "size": 8, "partitionValues": {}, "columnStats": {}}]},
             "_transactions/txn-1.json": {"id": "txn-1", "timestamp": "2024-02-01T14:30:00Z", "operations": [
                 {"type": "add_file", "path": "a.parquet", "size": 8}]},
             "_transactions/txn-3.json": {"id": "txn-3", "timestamp": "2024-02-01T14:32:00Z", "operations": []}}
    for path, content in files.items():
        with open(os.path.join(place, path), "w") as f:
            json.dump(content, f)
    with open(os.path.join(place, "last_committed_txn"), "w") as f:
        f.write("txn-3\n")
    for path in [*files, "last_committed_txn"]:
        os.utime(os.path.join(place, path), (1706797935, 1706797935))
    return place


def found(client, table):
    """The shown findings of a table by code, once it was looked at."""
    status = client.get(f"/api/table/{table}/status")
    return status["checked_at"] and {f["code"]: f for f in status["findings"]}


def must(client, expected, method, path, body=None):
    status, answer = client.call(method, path, body)
    assert status == expected, f"{method} {path}: {status} {answer}"
    return answer


def start(data):
    lake = os.path.join(data, "lake")
    os.makedirs(lake, exist_ok=True)
    return Server(os.path.join(data, "data"), "--root", lake, "--scan-interval", "1s").start(), lake


def what_people_say_survives_a_restart():
    with folder() as data:
        server, lake = start(data)
        client = server.client()
        must(client, 201, "POST", "/api/tables", {"name": "t", "location": make_table(lake, "t"), "mode": "observed"})
        open_ = await_true("the first scan", lambda: found(client, "t"))
        missing, hole = open_["missing_data_file"], open_["missing_transaction_log_entry"]
        assert missing["severity"] == "error" and hole["subject"] == "txn-2", open_
        at = "/api/table/t/findings/"
        ack = must(client, 200, "POST", at + missing["id"] + "/ack", {"by": "anna", "comment": "restoring", "until": instant(3600)})
        assert ack["acknowledged"]["by"] == "anna" and ack["severity"] == "error"
        accepted = must(client, 200, "POST", at + hole["id"] + "/accept", {"reason": "nobody can bring it back"})
        assert accepted["accepted"]["reason"] == "nobody can bring it back" and accepted["accepted"]["by"] == "admin"
        silence = must(client, 201, "POST", "/api/silences", {
            "matchers": [{"name": "code", "value": "missing_data.*", "isRegex": True}], "ends_at": instant(3600), "comment": "moving"})
        before = client.get("/api/table/t/status")
        assert [w for w in before["warnings"] if "txn-2" in w] == [], before["warnings"]
        assert before["status"] == "unhealthy", "acknowledged and silenced it is as true as before"
        row = client.get("/api/status")[0]
        assert row["errors"] == 1 and row["worst_code"] == "missing_data_file", row

        server.kill()
        server.start()
        client = server.client()
        after = found(client, "t")
        assert after["missing_data_file"]["acknowledged"] == ack["acknowledged"]
        assert after["missing_data_file"]["suppressed_by"] == "silence:" + silence["id"]
        assert after["missing_data_file"]["since"] == missing["since"]
        assert after["missing_transaction_log_entry"]["accepted"] == accepted["accepted"]
        must(client, 204, "DELETE", "/api/silences/" + silence["id"])
        assert found(client, "t")["missing_data_file"]["suppressed_by"] is None, "at once"
        assert must(client, 200, "DELETE", at + hole["id"] + "/accept")["accepted"] is None
        assert any("txn-2" in w for w in client.get("/api/table/t/status")["warnings"])

        with open(os.path.join(lake, "t", "a.parquet"), "wb") as f:
            f.write(b"PAR1PAR1")  # there, and no Parquet
        closed = await_true("the file is found again", lambda: [
            f for f in client.get("/api/table/t/findings?state=closed")["findings"] if f["code"] == "missing_data_file"])
        assert closed[0]["id"] == missing["id"] and closed[0]["closed_reason"] == "cleared" and closed[0]["acknowledged"] is None
        told = [(e["type"], e["code"]) for e in client.get("/api/events")["events"] if e["type"].startswith("finding.")]
        assert told.count(("finding.opened", "missing_data_file")) >= 1 and ("finding.closed", "missing_data_file") in told, told
        samples = client.get("/api/table/t/history?metric=files,missing_files,errors")["samples"]
        assert samples and samples[0]["files"] == 1 and samples[0]["missing_files"] == 1 and samples[-1]["missing_files"] == 0, samples
        assert samples == sorted(samples, key=lambda s: s["at"])
        assert server.stop() == 0, "".join(server.output)


def a_row_says_why_a_table_cannot_be_judged_not_what_was_wrong_with_it_before():
    with folder() as data:
        server, lake = start(data)
        client = server.client()
        place = make_table(lake, "t")
        must(client, 201, "POST", "/api/tables", {"name": "t", "location": place, "mode": "observed"})
        await_true("the first scan", lambda: found(client, "t"))
        row = client.get("/api/status")[0]
        assert (row["severity"], row["worst_code"]) == ("error", "missing_data_file"), row
        os.rename(place, place + ".away")
        must(client, 200, "POST", "/api/table/t/check")
        row = client.get("/api/status")[0]
        assert (row["status"], row["severity"], row["status_code"]) == ("unknown", "unknown", 3), row
        assert row["worst_code"] == "storage_unreachable" and row["worst_message"].startswith("storage_unreachable: "), row
        assert "missing_data_file" in found(client, "t"), "what was open stays listed"
        os.rename(place + ".away", place)
        must(client, 200, "POST", "/api/table/t/check")
        row = client.get("/api/status")[0]
        assert (row["severity"], row["worst_code"]) == ("error", "missing_data_file"), row
        assert server.stop() == 0, "".join(server.output)


def each_needs_its_right():
    with folder() as data:
        server, lake = start(data)
        admin = server.client()
        for name in ("sales.a", "hr.b"):
            must(admin, 201, "POST", "/api/tables", {"name": name, "location": make_table(lake, name), "mode": "observed"})
            await_true("the first scan", lambda: found(admin, name))
        tokens = {}
        for name, scope, tables in (("status", "status:read", None), ("reader", "catalog:read", None),
                                    ("sales", "catalog:write", "sales.*")):
            made = must(admin, 201, "POST", "/api/tokens", {"name": name, "scope": scope, "tables": tables})
            tokens[name] = Client(server.port, made["token"])
        ids = {name: found(admin, name)["missing_data_file"]["id"] for name in ("sales.a", "hr.b")}
        body = {"matchers": [{"name": "severity", "value": "error"}], "ends_at": instant(60)}
        rows = [  # who, status, method, path, body
            ("status", 200, "GET", "/api/table/hr.b/findings?state=all", None),
            ("status", 200, "GET", "/api/table/hr.b/history?metric=files", None),
            ("status", 403, "GET", "/api/silences", None),
            ("reader", 200, "GET", "/api/silences", None),
            ("reader", 403, "POST", "/api/silences", body),
            ("reader", 403, "POST", f"/api/table/hr.b/findings/{ids['hr.b']}/ack", {"by": "x"}),
            ("reader", 403, "POST", f"/api/table/hr.b/findings/{ids['hr.b']}/accept", {"reason": "x"}),
            ("reader", 403, "DELETE", f"/api/table/hr.b/findings/{ids['hr.b']}/ack", None),
            ("sales", 404, "POST", f"/api/table/hr.b/findings/{ids['hr.b']}/ack", {"by": "x"}),
            ("sales", 404, "POST", f"/api/table/sales.a/findings/{ids['hr.b']}/ack", {"by": "x"}),
            ("sales", 200, "POST", f"/api/table/sales.a/findings/{ids['sales.a']}/ack", {"by": "x"}),
            ("sales", 404, "GET", "/api/table/hr.b/history", None),
        ]
        for who, expected, method, path, content in rows:
            must(tokens[who], expected, method, path, content)
        own = must(tokens["sales"], 201, "POST", "/api/silences", body)
        assert own["tables"] == "sales.*" and own["created_by"] == "sales", own
        assert found(admin, "sales.a")["missing_data_file"]["suppressed_by"] == "silence:" + own["id"]
        assert found(admin, "hr.b")["missing_data_file"]["suppressed_by"] is None, "beyond the rights of who made it"
        all_ = must(admin, 201, "POST", "/api/silences", body)
        must(tokens["sales"], 404, "DELETE", "/api/silences/" + all_["id"])
        assert [s["id"] for s in tokens["sales"].get("/api/silences")["silences"]] == [own["id"]]
        must(tokens["sales"], 204, "DELETE", "/api/silences/" + own["id"])
        assert server.stop() == 0, "".join(server.output)


main(what_people_say_survives_a_restart, a_row_says_why_a_table_cannot_be_judged_not_what_was_wrong_with_it_before,
     each_needs_its_right)
