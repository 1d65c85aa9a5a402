#!/usr/bin/env python3
"""Data contracts through the real server (`tarn register --contract`), and every flag of `tarn check`."""
import json, os, subprocess, sys, textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "cases")]
from make_cases import GOOD, SCH, T0, parquet, std
from tarn import TARN, Server, await_true, folder, main

HEAD = "apiVersion: v3.1.0\nkind: DataContract\nid: c-7\nversion: 1.4.0\nstatus: active\n"
# What make_cases.GOOD holds: user_id, event_type, duration_seconds; its folders are date and hour.
COLUMNS = """\
    properties:
      - {name: user_id, logicalType: integer, required: true}
      - {name: event, physicalName: event_type, logicalType: string, required: true}
      - {name: duration_seconds, logicalType: number}
      - {name: hour, logicalType: integer, partitioned: true, partitionKeyPosition: 2}
      - {name: date, logicalType: date, partitioned: true, partitionKeyPosition: 1}
"""
CLICKS = HEAD + "schema:\n  - name: clicks\n" + COLUMNS + textwrap.dedent("""\
    slaProperties:
      - {property: latency, value: 2, unit: h, element: clicks.date}
      - {property: timeOfAvailability, value: 09:00-08:00}
    team: {name: web}
    """)


def put(path, content, at=None):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(content.encode() if isinstance(content, str) else content)
    if at is not None:
        os.utime(path, (at, at))
    return path


def lay(table, files):
    for path, at, content in files:
        put(os.path.join(table, path), content, T0 + at)


def tarn(*words, env=None):
    run = subprocess.run([TARN, *words], capture_output=True, text=True, env={**os.environ, **(env or {})})
    return run.returncode, run.stdout, run.stderr


class Lake:
    def __init__(self, place):
        self.root = os.path.join(place, "lake")
        os.mkdir(self.root)
        self.server = Server(os.path.join(place, "data"), "--root", self.root).start()
        self.client = self.server.client()
        self.env = {"TARN_URL": f"http://127.0.0.1:{self.server.port}", "TARN_TOKEN": self.server.token}

    def tarn(self, *words):
        return tarn(*words, env=self.env)

    def check(self, table):
        status, answer = self.client.call("POST", f"/api/table/{table}/check?depth=sweep")
        assert status == 200, answer
        return answer


def test_a_contract_gives_a_managed_table_schema_keys_freshness_owner_and_properties():
    with folder() as place:
        lake = Lake(place)
        contract = put(place + "/clicks.yaml", CLICKS)
        code, out, err = lake.tarn("register", "web.clicks", lake.root + "/clicks", "--contract", contract)
        assert code == 0, err
        table = lake.client.get("/api/table/web.clicks")
        assert table["owner"] == "web" and table["partition_keys"] == ["date", "hour"], table
        assert table["monitors"]["freshness"] == {"contract": {
            "warning": "1h36m", "error": "2h", "deadline": {"at": "09:00", "timezone": "-08:00"}}}, table
        assert table["properties"] == {"contract.id": "c-7", "contract.version": "1.4.0", "contract.status": "active"}, table
        assert table["schema_enforcement"] == "warn", table
        schema = lake.client.get("/api/table/web.clicks/schemas/1")["schema"]
        assert [(f["name"], f["type"], f["nullable"]) for f in schema["fields"]] == [
            ("user_id", "int64", False), ("event_type", "string", False), ("duration_seconds", "double", True),
            ("hour", "int64", True), ("date", "date", True)], schema
        put(lake.root + "/clicks/date=2026-01-01/hour=14/a.parquet", GOOD)
        code, out, err = lake.tarn("commit", "web.clicks", "--add", "date=2026-01-01/hour=14/a.parquet")
        assert code == 0 and "warning" not in out + err, out + err
        status = lake.check("web.clicks")
        freshness = status["details"]["freshness"]
        assert freshness["threshold_source"] == "contract" and freshness["error_after_seconds"] == 7200, freshness
        found = [f["code"] for f in status["findings"] if f["severity"] != "info"]
        assert not any(c.startswith("schema_drift") for c in found), found


def test_an_observed_folder_is_held_to_its_contract():
    with folder() as place:
        lake = Lake(place)
        contract = put(place + "/clicks.yaml", CLICKS)
        table = lake.root + "/plain"
        put(table + "/date=2026-01-01/hour=14/a.parquet", GOOD)
        code, out, err = lake.tarn("register", "plain", table, "--format", "parquet", "--mode", "observed", "--contract", contract)
        assert code == 0, err
        drift = lambda: [f["code"] for f in lake.check("plain")["findings"] if f["code"].startswith("schema_drift")]
        assert drift() == [], drift()
        wrong = parquet([("user_id", "binary", "string", False, ["a"], None), ("event_type", "binary", "string", False, ["b"], None)], 1)
        put(table + "/date=2026-01-01/hour=15/b.parquet", wrong)
        assert "schema_drift.type_changed" in drift(), drift()


def test_an_adopted_table_whose_schema_is_the_contracts_in_other_words_is_taken():
    with folder() as place:
        lake = Lake(place)
        lay(lake.root + "/t", std(2))
        same = COLUMNS.split("      - {name: hour")[0]
        contract = put(place + "/t.yaml", HEAD + "schema:\n  - name: t\n" + same)
        code, out, err = lake.tarn("register", "t", lake.root + "/t", "--contract", contract)
        assert code == 0, err
        assert lake.client.get("/api/table/t")["schema_version"] == 3
        lay(lake.root + "/u", std(2))
        other = put(place + "/u.yaml", HEAD + "schema:\n  - name: u\n" + same.replace("integer", "string"))
        code, out, err = lake.tarn("register", "u", lake.root + "/u", "--contract", other)
        assert code == 1 and "schema_conflict" in err, err


def test_flags_beat_the_contract():
    with folder() as place:
        lake = Lake(place)
        contract = put(place + "/clicks.yaml", CLICKS)
        schema = put(place + "/s.json", json.dumps({"type": "struct", "fields": [{"name": "a", "type": "int32", "nullable": True}]}))
        code, out, err = lake.tarn("register", "clicks", lake.root + "/c", "--contract", contract, "--owner", "me",
                                   "--partition-keys", "a", "--schema", schema)
        assert code == 0, err
        table = lake.client.get("/api/table/clicks")
        assert (table["owner"], table["partition_keys"]) == ("me", ["a"]), table
        assert [f["name"] for f in lake.client.get("/api/table/clicks/schemas/1")["schema"]["fields"]] == ["a"]


def test_a_dry_run_tells_what_was_taken_and_what_was_not():
    with folder() as place:
        lake = Lake(place)
        contract = put(place + "/clicks.yaml", CLICKS.replace("required: true", "requried: true", 1) +
                       "colour: red\nquality: []\n")
        words = ("register", "clicks", lake.root + "/c", "--contract", contract, "--dry-run")
        code, out, err = lake.tarn(*words)
        assert code == 0, err
        assert "contract: c-7 1.4.0; element clicks; 5 columns; partition keys date, hour; freshness warning 1h36m; error 2h; " \
               "deadline 09:00; in zone -08:00; owner web\n" in out, out
        for line in ("contract: colour: is no key of the standard", "contract: quality: is no key",
                     "contract: schema[0].properties[0].requried: is no key of the standard"):
            assert line in out, out
        assert "would register clicks" in out, out
        status, _ = lake.client.call("GET", "/api/table/clicks")
        assert status == 404
        code, out, err = lake.tarn(*words, "--json")
        assert json.loads(out)["dry_run"] is True and "colour: is no key" in err, (out, err)


def test_what_is_wrong_in_a_contract_is_told_with_file_line_and_key():
    rows = [
        (HEAD + "schema:\n- name: x\n  properties:\n  - name: a\n    required: maybe\n", ":10: schema[0].properties[0].required: must be true or false"),
        (HEAD + "slaProperties:\n- property: latency\n  value: 3\n", ":7: slaProperties[0].unit: is missing"),
        (HEAD + "slaProperties:\n- {property: timeOfAvailability, value: 09:00 Mars/Base}\n",
         ":7: slaProperties[0].value: 'Mars/Base' is no time zone known here"),
        (HEAD + "slaProperties:\n- property: timeOfAvailability\n  value: 09:00\n  valueExt: Mars/Base\n",
         ":9: slaProperties[0].valueExt: 'Mars/Base' is no time zone known here"),
        ("apiVersion: v2.2.2\nkind: DataContract\n", ":1: apiVersion: is 'v2.2.2': only version 3"),
        ("# a product\napiVersion: v1.0.0\nkind: DataProduct\n", ":3: kind: is 'DataProduct'"),
        ("a: 1\nb: [\n", ": line 3: "),
        ("a: 1\na: 2\n", ": line 2: 'a' is there twice"),
        (HEAD + "schema: [{name: a}, {name: b}]\n", ":6: schema: holds 2 elements and none is named 'x': a, b"),
    ]
    with folder() as place:
        for i, (text, told) in enumerate(rows):
            file = put(f"{place}/{i}.yaml", text)
            code, out, err = tarn("register", "n.x", "/lake/x", "--contract", file, "--url", "http://127.0.0.1:1")
            assert code == 1 and f"tarn: {file}{told}" in err, (text, err)
        code, out, err = tarn("register", "x", "--contract", place + "/none.yaml", "--url", "http://127.0.0.1:1")
        assert code == 1 and "none.yaml" in err, err


# --- tarn check ---

def at(seconds):
    import datetime
    return datetime.datetime.fromtimestamp(T0 + seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def findings(out):
    return sorted(f["code"] for f in json.loads(out)["findings"] if f["severity"] != "info")


def test_a_schema_may_be_a_document_a_bare_struct_or_a_contract():
    with folder() as place:
        table = place + "/clicks"
        lay(table, std(2))
        bare = SCH["schema"]
        other = {"type": "struct", "fields": [{**f, "type": "string"} if f["name"] == "user_id" else f for f in bare["fields"]]}
        contract = HEAD + "schema:\n  - name: clicks\n" + COLUMNS
        two = HEAD + "schema:\n  - name: other\n    properties: [{name: zzz, logicalType: date, required: true}]\n  - name: clicks\n" + COLUMNS
        drift = "schema_drift.type_changed"
        rows = [("document.json", json.dumps(SCH), []), ("bare.json", json.dumps(bare), []),
                ("other.json", json.dumps(other), [drift]), ("other-document.json", json.dumps({"current_version": 1, "schema": other}), [drift]),
                ("contract.yaml", contract, []), ("other.yaml", contract.replace("integer", "string", 1), [drift]),
                ("two.yaml", two, []),
                ("contract.json", json.dumps({"apiVersion": "v3.0.0", "kind": "DataContract", "id": "a", "version": "1", "schema": [
                    {"name": "clicks", "properties": [{"name": "user_id", "logicalType": "string"}]}]}), [drift, "schema_drift.extra_column"])]
        for name, text, expected in rows:
            code, out, err = tarn("check", table, "--json", "--now", at(3600), "--schema", put(f"{place}/{name}", text))
            assert findings(out) == expected or set(findings(out)) == set(expected), (name, out, err)
            assert code == (2 if expected else 0), (name, code)


def test_a_schema_that_cannot_be_read_is_unknown_and_says_why():
    with folder() as place:
        lay(place + "/t", std(2))
        for text, told in (('{"a":', "no valid JSON"), ("a: [\n", "line 2"), ('{"type":"struct"}', "/s: current_version"), (HEAD, "no schema"),
                           ("kind: Table\n", ":1: kind: is 'Table'")):
            code, out, err = tarn("check", place + "/t", "--schema", put(place + "/s", text))
            assert code == 3 and told in err and out == "", (text, code, err)
        code, out, err = tarn("check", place + "/t", "--schema", place + "/missing")
        assert code == 3 and "missing" in err, err


def test_exit_codes_are_those_of_monitoring_plugins():
    with folder() as place:
        lay(place + "/ok", std(2))
        lay(place + "/warning", [f for f in std(5) if f[0] != "_transactions/txn-3.json"])
        lay(place + "/error", [f for f in std(2) if not f[0].endswith("data-000001.parquet")])
        os.mkdir(place + "/unknown")
        os.mkdir(place + "/delta")
        put(place + "/delta/_delta_log/00000000000000000000.json", "{}")
        rows = (("ok", 0), ("warning", 1), ("error", 2), ("unknown", 3), ("nothing-there", 3), ("delta", 3))
        for name, expected in rows:
            for words in ((), ("--json",)):
                code, out, err = tarn("check", f"{place}/{name}", "--now", at(3600), *words)
                assert code == expected and out and not err, (name, code, out, err)
        for words in ((), ("a", "b"), ("a", "--format", "csv"), ("a", "--now", "yesterday"), ("a", "--nope"), ("a", "--now")):
            code, out, err = tarn("check", *words)
            assert code == 64 and err and not out, (words, code, out, err)


def test_a_verdict_that_cannot_be_written_is_unknown_unless_it_is_worse():
    with folder() as place:
        lay(place + "/ok", std(2))
        lay(place + "/error", [f for f in std(2) if not f[0].endswith("data-000001.parquet")])
        for name, expected in (("ok", 3), ("error", 2)):
            with open("/dev/full", "w") as full:
                run = subprocess.run([TARN, "check", f"{place}/{name}", "--now", at(3600)], stdout=full, stderr=subprocess.PIPE, text=True)
            assert (run.returncode, run.stderr) == (expected, "tarn: standard output: No space left on device\n"), (name, run)


def test_now_is_the_clock_that_grace_times_and_the_document_go_by():
    with folder() as place:
        lay(place + "/t", std(2) + [("date=2026-01-01/hour=14/late.parquet", 3000, GOOD)])
        for now, expected in ((3030, 0), (3000 + 16 * 60, 1)):
            code, out, err = tarn("check", place + "/t", "--json", "--now", at(now))
            status = json.loads(out)
            assert status["checked_at"] == at(now), status["checked_at"]
            assert ("unregistered_data_file" in findings(out)) == (expected == 1), (now, findings(out))


def test_a_format_that_is_named_is_not_guessed():
    with folder() as place:
        lay(place + "/t", std(2))
        code, out, err = tarn("check", place + "/t", "--json", "--now", at(3600), "--format", "parquet")
        assert json.loads(out)["format"] == "parquet" and code == 0, out
        code, out, err = tarn("check", place + "/t", "--json", "--now", at(3600), "--format", "auto")
        assert json.loads(out)["format"] == "manifest", out
        code, out, err = tarn("check", place + "/t", "--json", "--now", at(3600), "--format", "delta")
        assert code == 3 and json.loads(out)["severity"] == "unknown", out
        put(place + "/p/date=2026-01-01/a.parquet", GOOD)
        code, out, err = tarn("check", place + "/p", "--json", "--now", at(3600), "--format", "manifest")
        assert code == 3 and json.loads(out)["severity"] == "unknown", out


def test_the_document_names_the_table_and_people_can_read_it():
    with folder() as place:
        lay(place + "/t", [f for f in std(5) if f[0] != "_transactions/txn-3.json"])
        run = subprocess.run([TARN, "check", ".", "--now", at(3600)], cwd=place + "/t", capture_output=True, text=True,
                             env={**os.environ, "PATH": os.environ["PATH"]}) if os.path.isabs(TARN) else None
        code, out, err = tarn("check", place + "/t/", "--now", at(3600))
        for text in (out, run.stdout if run else out):
            assert text.startswith("t is healthy, severity warning\n"), text
            assert "missing_transaction_log_entry: txn-3" in text and "5, transaction txn-5" in text, text
        status = json.loads(tarn("check", place + "/t", "--json", "--now", at(3600))[1])
        for member in ("table", "format", "mode", "version", "latest_transaction", "last_updated", "files", "total_size",
                       "total_size_bytes", "manifest_age", "manifest_age_seconds", "schema_version", "partition_keys", "status",
                       "severity", "warnings", "findings", "details", "checked_at", "stale"):
            assert member in status, member


if __name__ == "__main__":
    main(*[value for name, value in list(globals().items()) if name.startswith("test_")])
