#!/usr/bin/env python3
"""A folder comes under management in each state that it can be in. First a dry run, which must tell the same and change
nothing: neither the folder nor the database. Then the adoption, and what a commit meets after it.

ADOPTION_FILES (100000) sizes the large one."""
import hashlib, json, os, re, shutil, sqlite3, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "cases")]
from make_cases import GOOD, J, P, SCH, T0, add, drop, iso, man, pq, rep, std, txn
from tarn import Server, await_true, folder, main

FILES = int(os.environ.get("ADOPTION_FILES", "100000"))
SIZE = len(GOOD)


# --- what lies there ---

def put(location, files):
    for path, at, content in files:
        target = os.path.join(location, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)
        os.utime(target, (T0 + at, T0 + at))


def listing(location):
    """Every name below with its kind, modification time and bytes; None when the folder is not there."""
    if not os.path.isdir(location):
        return None
    found = {}
    for root, folders, names in os.walk(location):
        for name in folders:
            found[os.path.join(root, name)] = "folder"
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as f:
                found[path] = (os.stat(path).st_mtime_ns, hashlib.sha256(f.read()).hexdigest())
    return found


# What scans in the background write: their rows, and the events of the findings that they open and close.
BACKGROUND = re.compile(
    r"""INSERT INTO "(scans|findings|samples|sqlite_sequence|meta" VALUES\('samples\.|events" VALUES\(\d+,'finding\.)""")


def database(client):
    """All rows of a consistent copy, but those of the scans that run in the background."""
    client.connection.request("POST", "/api/backup", None, {"Authorization": "Bearer " + client.token})
    answer = client.connection.getresponse()
    copy = answer.read()
    assert answer.status == 200, copy
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        file.write(copy)
        file.flush()
        with sqlite3.connect(file.name) as connection:
            return [row for row in connection.iterdump() if not BACKGROUND.match(row)]


def entries(location):
    return {name: content for name, content in (listing(location + "/_transactions") or {}).items()}


def document(location, name):
    with open(os.path.join(location, name)) as f:
        return json.load(f)


# --- the states ---
# what lies there; the body of the request besides name and location; what the answer must hold; codes of its remarks;
# the code that refuses commits afterwards (None: they go on, under the id `next`).

REMOVED = rep(std(3), txn(3, 600, [{"type": "remove_file", "path": P(1)}]))
PART = "date=2026-01-01/part-0.parquet"


def large():
    """One manifest of many files, the log of one commit; two inodes stand for all of them (a link count has its limit)."""
    paths = [f"date=2026-01-{1 + i % 28:02}/{i:06}.parquet" for i in range(FILES)]
    files = [{"path": p, "size": SIZE, "partitionValues": {"date": p[5:15]}} for p in paths]
    return paths, [("manifest.json", 600, J({"version": 1, "last_updated": iso(600), "files": files})),
                   ("last_committed_txn", 600, "txn-1\n"),
                   txn(1, 590, [{"type": "add_file", "path": p, "size": SIZE} for p in paths])]


STATES = {
    "whole": dict(
        lies=std(3), tells=dict(version=3, files=3, total_size_bytes=3 * SIZE, latest_transaction="txn-3", transactions=3,
                                schema_version=3, partition_keys=["date", "hour"]), found=[], next="txn-4"),
    "whole, with an entry above the pointer": dict(
        lies=rep(std(2), txn(4, 900, [add(P(4))]), pq(4, 895)),
        tells=dict(version=2, files=2, latest_transaction="txn-2", transactions=2),
        found=["uncommitted_transaction", "unregistered_data_file"], next="txn-5"),
    "without pointer": dict(
        lies=drop(std(3), "last_committed_txn"), tells=dict(version=3, files=3, latest_transaction="txn-3", transactions=3),
        found=["pointer_missing"], next="txn-4"),
    "pointer unreadable": dict(
        lies=rep(std(3), ("last_committed_txn", 600, "what?\n")),
        tells=dict(version=3, files=3, latest_transaction="txn-3", transactions=3), found=["pointer_unreadable"], next="txn-4"),
    "pointer ahead": dict(
        lies=rep(std(3), ("last_committed_txn", 600, "txn-5\n")),
        tells=dict(version=3, files=3, latest_transaction="txn-5", transactions=3),
        found=["missing_transaction_log_entry"], next="txn-6"),
    "pointer behind": dict(
        lies=rep(std(3), ("last_committed_txn", 600, "txn-2\n")),
        tells=dict(version=3, files=3, latest_transaction="txn-2", transactions=2),
        found=["history_truncated", "uncommitted_transaction"], next="txn-4"),
    "manifest behind the log": dict(
        lies=rep(std(3), man(2, iso(540), [P(1), P(2)], 540)),
        tells=dict(version=3, files=2, latest_transaction="txn-3", transactions=3, block="adoption_conflict"),
        found=["adoption_conflict", "committed_file_not_in_manifest", "manifest_version_not_a_counter"],
        refused="adoption_conflict"),
    "manifest still lists what the log removed": dict(
        lies=rep(REMOVED, man(3, iso(600), [P(1), P(2)])),
        tells=dict(version=3, files=2, latest_transaction="txn-3", block="adoption_conflict"),
        found=["adoption_conflict", "removed_file_in_manifest", "unregistered_data_file"], refused="adoption_conflict"),
    "an entry that adds a file and removes it again": dict(
        lies=rep(std(3), txn(3, 595, [add(P(3)), {"type": "remove_file", "path": P(3)}]), man(3, iso(600), [P(1), P(2)])),
        tells=dict(version=3, files=2, latest_transaction="txn-3"), found=[], next="txn-4"),
    "an entry that adds a file and removes it again, and a manifest that lists it": dict(
        lies=rep(std(3), txn(3, 595, [add(P(3)), {"type": "remove_file", "path": P(3)}])),
        tells=dict(version=3, files=3, latest_transaction="txn-3", block="adoption_conflict"),
        found=["adoption_conflict", "removed_file_in_manifest"], refused="adoption_conflict"),
    "log behind the manifest": dict(
        lies=drop(std(4), "_transactions/txn-1.json", "_transactions/txn-2.json"),
        tells=dict(version=4, files=4, latest_transaction="txn-4", transactions=2), found=["history_truncated"], next="txn-5"),
    "no log at all": dict(
        lies=drop(std(2), "_transactions/txn-1.json", "_transactions/txn-2.json", "last_committed_txn"),
        tells=dict(version=2, files=2, latest_transaction=None, transactions=0), found=["history_truncated"], next="txn-3"),
    "format-number versions": dict(
        lies=rep(std(5), man(1, iso(600), [P(i) for i in range(1, 6)])),
        tells=dict(version=5, files=5, latest_transaction="txn-5", transactions=5),
        found=["manifest_version_not_a_counter"], next="txn-6"),
    "no version at all": dict(
        lies=rep(std(2), ("manifest.json", 600, J({"last_updated": iso(600), "files": [
            {"path": P(i), "size": SIZE} for i in (1, 2)]}))),
        tells=dict(version=2, files=2, partition_keys=[]), found=["manifest_version_not_a_counter"], next="txn-3"),
    "a data file that is gone": dict(
        lies=drop(std(2), P(1)), tells=dict(version=2, files=2), found=["missing_data_file"], next="txn-3"),
    "an empty folder": dict(
        lies=[], body=dict(schema=SCH["schema"], partition_keys=["date"]),
        tells=dict(version=0, files=0, latest_transaction=None, transactions=0, schema_version=1), found=[], next="txn-1"),
    "no folder": dict(
        lies=None, tells=dict(version=0, files=0, latest_transaction=None, schema_version=0), found=[], next="txn-1"),
    "data without manifest": dict(
        lies=[(PART, 0, GOOD)], refuses=(409, "location_not_empty")),
    "data without manifest, imported": dict(
        lies=[(PART, 0, GOOD)], body={"import": True},
        tells=dict(version=1, files=1, total_size_bytes=SIZE, partition_keys=["date"]), next="txn-2"),
    "a log without manifest": dict(
        lies=drop(std(2), "manifest.json"), body={"import": True}, refuses=(409, "location_not_empty")),
    "manifest unreadable": dict(
        lies=rep(std(2), ("manifest.json", 600, '{"version":2,"files":[')), refuses=(422, "location_unreachable")),
    "manifest with a path that leaves the table": dict(
        lies=rep(std(2), ("manifest.json", 600, J({"version": 2, "files": [{"path": "../../x.parquet", "size": 1}]}))),
        refuses=(422, "location_unreachable")),
    "schema unreadable": dict(
        lies=rep(std(2), ("schema.json", 0, "{")), refuses=(422, "location_unreachable")),
}


def found_in(answer):
    return sorted({remark["code"] for remark in answer["found"]})


def judge_answer(state, answer):
    for member, value in state["tells"].items():
        assert answer[member] == value, f"{member} is {answer[member]}, not {value}"
    if "found" in state:
        assert found_in(answer) == state["found"], answer["found"]


def dry_run(client, location, state, request):
    """Tells, and changes nothing."""
    lay, rows = listing(location), database(client)
    status, answer = client.call("POST", "/api/tables", {**request, "dry_run": True})
    if "refuses" in state:
        assert (status, answer["code"]) == state["refuses"], answer
    else:
        assert status == 200 and answer["dry_run"] is True, answer
        judge_answer(state, answer)
    assert listing(location) == lay, "the dry run changed the folder"
    changed = set(database(client)) ^ set(rows)
    assert not changed, f"the dry run changed the database: {changed}"


def adopt(client, location, state, request):
    lay = listing(location)
    status, answer = client.call("POST", "/api/tables", request)
    if "refuses" in state:
        assert (status, answer["code"]) == state["refuses"], answer
        assert listing(location) == lay, "a refusal changed the folder"
        return False
    assert status == 201 and answer["dry_run"] is False, answer
    judge_answer(state, answer)
    if answer["version"] > 0 and not request.get("import"):
        assert listing(location) == lay, "nothing is written before the first commit"
    return True


def judge_snapshot(client, name, location, version):
    """The API and the documents say the same."""
    there = client.get(f"/api/table/{name}/files")
    files = {f["path"]: f["size"] for f in there["files"]}
    manifest = document(location, "manifest.json")
    assert {f["path"]: f["size"] for f in manifest["files"]} == files
    assert there["version"] == manifest["version"] == version
    return files


def commit(client, name, state, location):
    before = client.get(f"/api/table/{name}")
    log = entries(location)
    status, answer = client.call("POST", f"/api/table/{name}/commits", {"operations": [
        {"type": "add_file", "path": "new/a.parquet", "size": 7}]})
    if "refused" in state:
        assert (status, answer["code"]) == (409, state["refused"]), answer
        assert entries(location) == log
        return
    assert status == 201 and answer["published"], answer
    assert answer["transaction"] == state["next"] and answer["version"] == before["version"] + 1, answer
    after = entries(location)
    assert {n: e for n, e in after.items() if n in log} == log, "an old log entry was changed"
    assert [os.path.basename(n) for n in after if n not in log][-1] == state["next"] + ".json"
    files = judge_snapshot(client, name, location, answer["version"])
    assert files["new/a.parquet"] == 7 and len(files) == state["tells"]["files"] + 1
    with open(location + "/last_committed_txn") as f:
        assert f.read().strip() == state["next"]
    assert client.get(f"/api/table/{name}")["published_version"] == answer["version"]


def history(client, name, state, answer_version):
    """Entries from before are told without a version; earlier versions are not known."""
    commits = client.get(f"/api/table/{name}/commits")["commits"]
    old = [c for c in commits if c["version"] is None]
    assert len(old) == state["tells"].get("transactions", len(old)), commits
    if answer_version > 1 and old:
        status, answer = client.call("GET", f"/api/table/{name}/files?version={answer_version - 1}")
        assert (status, answer.get("code")) == (404, "version_not_found"), answer


def each_state_ends_as_it_should_after_a_dry_run_that_changes_nothing():
    with folder() as data:
        client = Server(data, "--scan-interval", "1h").start().client()
        faults = []
        for n, (what, state) in enumerate(STATES.items()):
            location = f"{data}/lake/t{n}"
            if state["lies"] is not None:
                os.makedirs(location)
                put(location, state["lies"])
            request = {"name": f"t{n}", "location": location, **state.get("body", {})}
            try:
                dry_run(client, location, state, request)
                if adopt(client, location, state, request):
                    version = client.get(f"/api/table/t{n}")["version"]
                    await_true("the first scan", lambda: client.get(f"/api/table/t{n}/status")["checked_at"])
                    history(client, f"t{n}", state, version)
                    commit(client, f"t{n}", state, location)
            except AssertionError as fault:
                faults.append(f"{what}: {fault}")
        assert not faults, "\n".join(faults)
        print(f"     {len(STATES)} states")


def a_hundred_thousand_files():
    with folder() as data:
        client = Server(data, "--scan-interval", "1h").start().client()
        location = data + "/lake/t"
        paths, documents = large()
        os.makedirs(location)
        put(location, documents)
        for day in {os.path.dirname(p) for p in paths}:
            os.makedirs(f"{location}/{day}")
        for n, path in enumerate(paths):
            if n % 30000 == 0:
                source = f"{location}/{path}"
                put(location, [(path, 500, GOOD)])
            else:
                os.link(source, f"{location}/{path}")
        state = dict(tells=dict(version=1, files=FILES, total_size_bytes=FILES * SIZE, latest_transaction="txn-1"),
                     found=[], next="txn-2")
        request = {"name": "t", "location": location}
        names = sorted(os.listdir(location))
        status, answer = client.call("POST", "/api/tables", {**request, "dry_run": True})
        assert status == 200 and sorted(os.listdir(location)) == names, answer
        judge_answer(state, answer)
        status, answer = client.call("POST", "/api/tables", request)
        assert status == 201, answer
        judge_answer(state, answer)
        commit(client, "t", state, location)


def add_one(client, name, n):
    status, answer = client.call("POST", f"/api/table/{name}/commits",
                                 {"operations": [{"type": "add_file", "path": f"{n}.parquet", "size": n}]})
    assert status == 201 and answer["published"], answer


def a_folder_that_another_server_manages_is_told_and_neither_writes_over_the_other():
    with folder() as one, folder() as two, folder() as lake:
        location = lake + "/t"
        first = Server(one, "--root", lake).start().client()
        second = Server(two, "--root", lake).start().client()
        status, answer = first.call("POST", "/api/tables", {"name": "t", "location": location})
        assert status == 201, answer
        add_one(first, "t", 1)
        add_one(first, "t", 2)
        state = dict(tells=dict(version=2, files=2, total_size_bytes=3, latest_transaction="txn-2", transactions=2), next="txn-3",
                     found=["managed_by_another_catalog", "missing_data_file"])
        request = {"name": "t", "location": location}
        dry_run(second, location, state, request)
        status, answer = second.call("POST", "/api/tables", request)
        assert status == 201, answer
        judge_answer(state, answer)
        told = [r for r in answer["found"] if r["code"] == "managed_by_another_catalog"]
        assert [r["severity"] for r in told] == ["warning"], answer["found"]
        assert document(location, "manifest.json")["catalog"] in told[0]["message"]
        commit(second, "t", state, location)
        # The first one decides in its own catalog, but writes over nothing.
        lay = listing(location)
        status, answer = first.call("POST", "/api/table/t/commits",
                                    {"operations": [{"type": "add_file", "path": "3.parquet", "size": 3}]})
        assert status == 201 and answer["published"] is False, answer
        await_true("the block", lambda: first.get("/api/table/t")["block"] == "foreign_write")
        assert listing(location) == lay
        status, answer = first.call("POST", "/api/table/t/commits",
                                    {"operations": [{"type": "add_file", "path": "4.parquet", "size": 3}]})
        assert (status, answer["code"]) == (409, "foreign_write"), answer


def a_copy_of_a_managed_folder_tells_whose_documents_they_are():
    with folder() as data:
        client = Server(data).start().client()
        status, answer = client.call("POST", "/api/tables", {"name": "t", "location": data + "/lake/t"})
        assert status == 201 and answer["found"] == [], answer
        add_one(client, "t", 1)
        shutil.copytree(data + "/lake/t", data + "/lake/u")
        state = dict(tells=dict(version=1, files=1, latest_transaction="txn-1", transactions=1), next="txn-2",
                     found=["documents_of_another_table", "missing_data_file"])
        request = {"name": "u", "location": data + "/lake/u"}
        dry_run(client, request["location"], state, request)
        assert adopt(client, request["location"], state, request)
        commit(client, "u", state, request["location"])
        add_one(client, "t", 2)



main(each_state_ends_as_it_should_after_a_dry_run_that_changes_nothing,
     a_hundred_thousand_files,
     a_folder_that_another_server_manages_is_told_and_neither_writes_over_the_other,
     a_copy_of_a_managed_folder_tells_whose_documents_they_are)
