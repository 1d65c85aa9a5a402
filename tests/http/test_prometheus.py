#!/usr/bin/env python3
"""Prometheus itself reads what the server tells: a healthy table, one that lost a file, and one of somebody else's with a
hole in its log. The rules of deploy/prometheus/ are checked, tested and loaded; the alerts of the sick tables fire."""
import json, os, re, shutil, subprocess, sys, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "cases")]
from make_cases import GOOD, T0, drop, std
from tarn import Server, Skip, await_true, folder, main

DEPLOY = os.path.join(HERE, "..", "..", "deploy", "prometheus")
OPEN = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;q=0.5,*/*;q=0.1"


def need(program):
    if not shutil.which(program):
        raise Skip(f"no {program} here: the Debian package prometheus brings it")


def promtool(*arguments, text=None):
    need("promtool")
    done = subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True)
    assert done.returncode == 0 and "FAILED" not in done.stdout, done.stdout + done.stderr
    return done.stdout + done.stderr


# --- a lake ---

def put(location, files):
    for path, at, content in files:
        target = os.path.join(location, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)
        os.utime(target, (T0 + at, T0 + at))


def commit(client, table, path, location):
    put(location, [(path, 0, GOOD)])
    status, answer = client.call("POST", f"/api/table/{table}/commits", {"operations": [
        {"type": "add_file", "path": path, "size": len(GOOD), "numRecords": 100}]})
    assert status == 201 and answer["published"], answer


def make_lake(client, lake):
    """well: two commits. sick: two, the first file of which is gone, and a file of months ago that nobody registered. team."feed.x": observed, txn-4 to txn-6 are missing."""
    for table in ("well", "sick"):
        status, answer = client.call("POST", "/api/tables", {"name": table, "location": f"{lake}/{table}", "owner": 'a "b" \\c'})
        assert status == 201, answer
        commit(client, table, "a.parquet", f"{lake}/{table}")
        commit(client, table, "b.parquet", f"{lake}/{table}")
    os.unlink(f"{lake}/sick/a.parquet")
    put(f"{lake}/sick", [("stray.parquet", 0, GOOD)])
    put(f"{lake}/feed", drop(std(9), *(f"_transactions/txn-{n}.json" for n in (4, 5, 6))))
    status, answer = client.call("POST", "/api/tables", {"name": 'team."feed.x"', "location": f"{lake}/feed", "mode": "observed"})
    assert status == 201, answer
    for table in ("well", "sick", "team.%22feed.x%22"):
        status, answer = client.call("POST", f"/api/table/{table}/check?depth=sweep")
        assert status == 200, answer


class Lake:
    def __init__(self, place, *flags):
        self.lake = place + "/lake"
        os.mkdir(self.lake)
        self.server = Server(place + "/data", "--root", self.lake, *flags).start()
        self.client = self.server.client()
        make_lake(self.client, self.lake)

    def metrics(self, accept="text/plain"):
        status, text = self.client.call("GET", "/metrics", headers={"Accept": accept})
        assert status == 200, text
        return text


def value(text, series):
    for line in text.splitlines():
        if line.startswith(series + " "):
            return float(line[len(series) + 1:])
    return None


# --- the tests ---

def what_the_server_tells_is_clean_and_right():
    with folder() as place:
        lake = Lake(place)
        status, answer = lake.client.call("PATCH", "/api/table/well", {"monitors": {"freshness": {"warning": "2h", "error": "1d"}}})
        assert status == 200, answer
        lake.client.call("POST", "/api/table/well/check")
        text = lake.metrics()
        assert promtool("check", "metrics", text=text) == ""
        feed = r'table="team.\"feed.x\""'
        expected = {
            'tarn_table_files{table="well"}': 2,
            'tarn_table_rows{table="well"}': 200,
            'tarn_table_size_bytes{table="well"}': 2 * len(GOOD),
            'tarn_table_version{table="well"}': 2,
            'tarn_table_published_version{table="well"}': 2,
            'tarn_table_latest_data_file_timestamp_seconds{table="well"}': T0,
            'tarn_table_missing_files{table="well"}': 0,
            'tarn_table_freshness_threshold_seconds{table="well",severity="warning"}': 7200,
            'tarn_table_freshness_threshold_seconds{table="well",severity="error"}': 86400,
            'tarn_table_freshness_threshold_seconds{table="sick",severity="error"}': None,
            'tarn_table_status{table="well",tarn_table_status="healthy"}': 1,
            'tarn_table_status{table="well",tarn_table_status="unhealthy"}': 0,
            'tarn_table_findings{table="well",severity="error"}': 0,
            'tarn_table_missing_files{table="sick"}': 1,
            'tarn_table_unregistered_files{table="sick"}': 1,
            'tarn_table_orphan_files{table="sick"}': 1,
            'tarn_table_orphan_bytes{table="sick"}': len(GOOD),
            'tarn_table_findings{table="sick",severity="warning"}': 1,
            'tarn_table_publication_lag_seconds{table="sick"}': 0,
            'tarn_table_status{table="sick",tarn_table_status="unhealthy"}': 1,
            'tarn_table_findings{table="sick",severity="error"}': 1,
            'tarn_table_finding_active{table="sick",code="missing_data_file",severity="error"}': 1,
            r'tarn_table_info{table="sick",format="manifest",mode="managed",location_scheme="file",owner="a \"b\" \\c"}': 1,
            'tarn_table_missing_log_entries{%s}' % feed: 3,
            'tarn_table_transaction_gaps{%s}' % feed: 0,
            'tarn_table_finding_active{%s,code="missing_transaction_log_entry",severity="warning"}' % feed: 1,
            'tarn_table_published_version{%s}' % feed: None,
            'tarn_table_scan_failures_total{table="sick"}': 0,
            'tarn_tables': 3,
            'tarn_commits_total': 4,
            'tarn_commit_conflicts_total{code="version_conflict"}': 0,
            'tarn_http_requests_total{method="POST",route="/api/table/{table}/commits",status="2xx"}': 4,
            'tarn_http_request_duration_seconds_count{method="POST",route="/api/table/{table}/commits"}': 4,
        }
        wrong = {series: value(text, series) for series, number in expected.items() if value(text, series) != number}
        assert not wrong, wrong
        now = time.time()
        for name in ("tarn_table_last_commit_timestamp_seconds", "tarn_table_last_run_timestamp_seconds", "tarn_table_manifest_last_updated_timestamp_seconds",
                     "tarn_table_scan_last_success_timestamp_seconds"):
            assert 0 <= now - value(text, name + '{table="well"}') < 60, name
        assert 0 <= now - value(text, "process_start_time_seconds") < 60
        pid = lake.server.process.pid
        assert value(text, "process_max_fds") > value(text, "process_open_fds") > 5
        with open(f"/proc/{pid}/statm") as f:
            resident = int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")
        assert 0.5 < value(text, "process_resident_memory_bytes") / resident < 2
        assert value(text, "tarn_store_wal_bytes") + value(text, "tarn_store_database_bytes") > 4096


def a_table_that_goes_is_told_no_more():
    with folder() as place:
        lake = Lake(place)
        before = lake.metrics(OPEN)
        assert before.endswith("# EOF\n") and 'table="well"' in before
        status, answer = lake.client.call("DELETE", "/api/table/well")
        assert status == 204, answer
        after = lake.metrics(OPEN)
        assert 'table="well"' not in after and 'table="sick"' in after
        assert value(after, "tarn_tables") == 2


def what_is_silenced_or_began_in_a_maintenance_window_is_told_apart():
    active = 'tarn_table_finding_active{table="sick",code="%s",severity="%s"}'
    quiet = active.replace("_active", "_suppressed")
    lost, gone = ("missing_data_file", "error"), ("storage_unreachable", "error")
    with folder() as place:
        lake = Lake(place)
        text = lake.metrics()
        assert value(text, active % lost) == 1 and value(text, quiet % lost) is None
        ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
        status, answer = lake.client.call("POST", "/api/silences", {
            "matchers": [{"name": "table", "value": "sick"}], "ends_at": ends, "created_by": "test", "comment": "known"})
        assert status == 201, answer
        lake.client.call("POST", "/api/table/sick/check")
        text = lake.metrics()
        assert value(text, active % lost) == 1 and value(text, quiet % lost) == 1
        status, answer = lake.client.call("DELETE", "/api/silences/" + answer["id"])
        assert status == 204, answer
        status, answer = lake.client.call("PATCH", "/api/table/sick", {"monitors": {"maintenance": [
            {"days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "from": "00:00", "to": "24:00"}]}})
        assert status == 200, answer
        os.unlink(f"{lake.lake}/sick/manifest.json")
        lake.client.call("POST", "/api/table/sick/check?depth=sweep")
        text = lake.metrics()
        missing = ("manifest_missing", "error")
        assert value(text, active % missing) is None and value(text, quiet % missing) == 1, re.findall(".*manifest_missing.*", text)


def a_scan_that_fails_is_counted_for_good():
    with folder() as place:
        lake = Lake(place)
        os.rename(lake.lake + "/feed", lake.lake + "/away")
        for _ in range(2):
            lake.client.call("POST", "/api/table/team.%22feed.x%22/check")
        failures = r'tarn_table_scan_failures_total{table="team.\"feed.x\""}'
        failed = value(lake.metrics(), failures)
        assert failed >= 2, failed
        os.rename(lake.lake + "/away", lake.lake + "/feed")
        lake.client.call("POST", "/api/table/team.%22feed.x%22/check")
        lake.server.stop()
        lake.client = lake.server.start().client()
        assert value(lake.metrics(), failures) >= failed


def the_rules_are_valid_and_each_alert_fires_after_its_time_alone():
    assert "SUCCESS" in promtool("check", "rules", os.path.join(DEPLOY, "tarn.rules.yml"))
    assert "SUCCESS" in promtool("test", "rules", os.path.join(DEPLOY, "tarn.rules.test.yml"))
    with open(os.path.join(DEPLOY, "tarn.rules.yml")) as f:
        alerts = set(re.findall(r"alert: (\w+)", f.read()))
    with open(os.path.join(DEPLOY, "tarn.rules.test.yml")) as f:
        tested = f.read()
    for alert in alerts:
        assert re.search(r"alertname: %s, eval_time" % alert, tested), f"{alert} is not tested before its time"
        assert re.search(r"alertname: %s\n.*\n *exp_alerts" % alert, tested), f"{alert} is not tested after its time"


def the_rules_ask_for_metrics_that_there_are():
    with folder() as place:
        text = Lake(place).metrics()
        told = set(re.findall(r"^# TYPE (\w+)", text, re.M))
        for name in ("tarn.rules.yml", "tarn.rules.test.yml"):
            with open(os.path.join(DEPLOY, name)) as f:
                asked = {word for word in re.findall(r"(?<!:)\b(tarn_\w+)", f.read())}
            assert asked - told <= {"tarn_table_status"}, asked - told


class Prometheus:
    """One of its own: a free port, its own folder, everything within a second."""

    def __init__(self, place, lake):
        need("prometheus")
        self.place = place + "/prometheus"
        os.mkdir(self.place)
        with open(os.path.join(DEPLOY, "tarn.rules.yml")) as f:
            rules = re.sub(r"(for|keep_firing_for): \d+m", r"\1: 1s", f.read())
        with open(os.path.join(DEPLOY, "prometheus.yml")) as f:
            config = f.read().replace("127.0.0.1:8181", f"127.0.0.1:{lake.server.port}").replace(": 30s", ": 1s")
        with open(self.place + "/tarn.token", "w") as f:
            status, token = lake.client.call("POST", "/api/tokens", {"name": "prometheus", "scope": "status:read"})
            assert status == 201, token
            f.write(token["token"])
        for name, text in (("tarn.rules.yml", rules), ("prometheus.yml",
                           config.replace("/etc/prometheus/tarn.token", self.place + "/tarn.token"))):
            with open(f"{self.place}/{name}", "w") as f:
                f.write(text)
        promtool("check", "config", self.place + "/prometheus.yml")

    def __enter__(self):
        self.log = open(self.place + "/log", "w+")
        self.process = subprocess.Popen(
            ["prometheus", "--config.file", self.place + "/prometheus.yml", "--storage.tsdb.path", self.place + "/data",
             "--web.listen-address", "127.0.0.1:0"], stdout=self.log, stderr=subprocess.STDOUT)
        self.port = await_true("Prometheus listens", self.listening_port, 30)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def listening_port(self):
        """The port that it took: the one listening socket among its descriptors."""
        assert self.process.poll() is None, open(self.place + "/log").read()
        folder = f"/proc/{self.process.pid}/fd"
        mine = {os.readlink(f"{folder}/{name}") for name in os.listdir(folder) if os.path.islink(f"{folder}/{name}")}
        with open("/proc/net/tcp") as f:
            for fields in map(str.split, list(f)[1:]):
                if fields[3] == "0A" and f"socket:[{fields[9]}]" in mine:
                    return int(fields[1].split(":")[1], 16)
        return None

    def ask(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=10) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def query(self, text):
        found = self.ask("query?query=" + urllib.request.quote(text))
        return {item["metric"].get("table", ""): float(item["value"][1]) for item in found["result"]} if found else {}

    def firing(self):
        found = self.ask("alerts") or {"alerts": []}
        return {(a["labels"]["alertname"], a["labels"].get("table")) for a in found["alerts"] if a["state"] == "firing"}


def prometheus_scrapes_the_server_and_the_alerts_of_sick_tables_fire():
    wanted = {("TarnFilesMissing", "sick"), ("TarnTableUnhealthy", "sick"), ("TarnTransactionGap", 'team."feed.x"')}
    with folder() as place:
        lake = Lake(place, "--scan-interval", "1s")
        with Prometheus(place, lake) as prometheus:
            await_true("the sick tables' alerts fire", lambda: wanted <= prometheus.firing(), 30)
            strangers = {alert for alert in prometheus.firing() if alert[1] in (None, "well")}
            assert not strangers, strangers
            target = prometheus.ask("targets")["activeTargets"][0]
            assert target["health"] == "up" and target["lastError"] == "", target
            assert prometheus.query('tarn_table_status{tarn_table_status="healthy"}') == {"well": 1, "sick": 0, 'team."feed.x"': 1}
            assert prometheus.query("tarn_table_missing_files") == {"well": 0, "sick": 1, 'team."feed.x"': 0}
            kinds = {name: entry[0]["type"] for name, entry in prometheus.ask("metadata").items() if name.startswith("tarn_table")}
            assert kinds["tarn_table_status"] == "stateset" and kinds["tarn_table"] == "info", kinds
            put(lake.lake + "/sick", [("a.parquet", 0, GOOD)])
            os.unlink(lake.lake + "/sick/stray.parquet")
            await_true("the cured table's alerts end", lambda: not any(a[1] == "sick" for a in prometheus.firing()), 30)


main(what_the_server_tells_is_clean_and_right, a_table_that_goes_is_told_no_more,
     what_is_silenced_or_began_in_a_maintenance_window_is_told_apart, a_scan_that_fails_is_counted_for_good,
     the_rules_are_valid_and_each_alert_fires_after_its_time_alone, the_rules_ask_for_metrics_that_there_are,
     prometheus_scrapes_the_server_and_the_alerts_of_sick_tables_fire)
