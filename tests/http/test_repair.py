#!/usr/bin/env python3
"""Repairs over HTTP: each fault is cured by the plan that its finding names; what a plan takes and what it leaves out; a dry run
changes nothing and tells what a run then does.

REPAIR_SEED repeats a choice of faults."""
import itertools, json, os, random, shutil, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from faults import FAULTS, GOOD, OTHER, SCHEMA, Lake, Table, a_folder, cure, findings
from make_cases import P, T0, add, iso, man, rep, std, txn
from tarn import TARN, await_true, folder, main, replay


SEED = os.environ.get("REPAIR_SEED") or str(random.SystemRandom().randrange(10 ** 9))
RNG = random.Random(SEED)


def expect_ok(table):
    status = table.check()
    assert status["severity"] == "ok", status["findings"]


def each_fault_is_named_cured_by_its_plan_and_gone():
    with folder() as data:
        lake = Lake(data)
        for i, fault in enumerate(FAULTS.values()):
            table = fault.make(lake, f"t{i}")
            status = table.check()
            found = findings(status)
            if fault.severity:
                found |= findings(status, (fault.severity,))
                fault.also |= found.keys() - findings(status).keys()
            assert fault.code in found, f"{fault.name}: {status['findings']}"
            assert found.keys() <= {fault.code} | fault.also, f"{fault.name}: {sorted(found)}"
            assert found[fault.code]["cure"], f"{fault.name}: {found[fault.code]} tells no cure"
            assert cure(table, status), f"{fault.name}: nothing cures {status['findings']}"
            last = table.client.get(table.url("/status"))
            assert last["severity"] == "ok", f"{fault.name}: after its cure {last['findings']}"
            assert fault.code not in {f["code"] for f in last["findings"]}, f"{fault.name}: {last['findings']}"
            expect_ok(table)
        lake.stop()


def two_faults_at_once_are_cured_one_after_the_other():
    pairs = list(itertools.permutations([f for f in FAULTS.values() if f.strike], 2))
    with folder() as data:
        lake = Lake(data)
        for i, pair in enumerate(RNG.sample(pairs, 25)):
            table = lake.table(f"t{i}", commits=6)
            try:
                for fault in pair:
                    fault.strike(table)
            except (OSError, ValueError, LookupError):
                continue # the first took away what the second would hit
            status, what = table.check(), f"seed {SEED}: {pair[0].name} and {pair[1].name}"
            for _ in range(3): # what one cure brings to light is the next one's
                if findings(status):
                    assert cure(table, status), f"{what}: nothing cures {status['findings']}"
                    status = table.client.get(table.url("/status"))
            assert not findings(status), f"{what}: {status['findings']}"
        lake.stop()


def every_code_that_names_a_cure_has_a_fault():
    """docs/MONITORS.md is made from the table of codes."""
    with open(os.path.join(HERE, "..", "..", "docs", "MONITORS.md")) as f:
        rows = [line.split("|") for line in f if line.startswith("| [`")]
    cures = {row[1].split("`")[1]: row[5].strip(" `") for row in rows}
    named = {code for code, plan in cures.items() if plan in ("republish", "register", "forget", "adopt")}
    assert len(named) > 20, cures
    struck = {fault.code for fault in FAULTS.values()} | {code for fault in FAULTS.values() for code in fault.also}
    struck.add("missing_metadata_file") # of Iceberg tables alone: test_iceberg_reads.py
    assert named <= struck, f"no fault for {sorted(named - struck)}"


def a_dry_run_tells_what_a_run_does_and_changes_nothing():
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t")
        table.write(table.data(8))
        table.remove(table.data(1))
        before = table.get(), table.files(), sorted(os.listdir(table.path("_transactions")))
        plan = table.repair("register")
        assert plan["dry_run"] and plan["commit"] is None and plan["status"] is None, plan
        assert [(o["type"], o["path"]) for o in plan["operations"]] == [("add_file", table.data(8))], plan
        # Two rows; 1000 and 5000 are the values that the fixture's writer put into user_id.
        op = plan["operations"][0]
        assert op["size"] == len(GOOD) and op["numRecords"] == 2 and op["schemaVersion"] == 1, op
        assert op["partitionValues"] == {"date": "2026-01-01", "hour": "08"}, op
        assert op["columnStats"]["user_id"] == {"min": 1000, "max": 5000, "nullCount": 0}, op
        assert before == (table.get(), table.files(), sorted(os.listdir(table.path("_transactions"))))

        done = table.repair("register", run=True, wanted=[201], expected_version=plan["version"])
        assert done["operations"] == plan["operations"] and not done["dry_run"], done
        assert done["commit"]["version"] == 5 and done["commit"]["published"], done
        entry = table.client.get(table.url("/commits"))["commits"][0]
        assert entry["description"].startswith("repair register") and entry["author"] == "admin", entry
        assert entry["data_change"] is True
        # the other fault is still there, and the status says so
        assert findings(done["status"]).keys() == {"missing_data_file"}, done["status"]
        again = table.repair("register", run=True, wanted=[200])
        assert again["commit"] is None and again["operations"] == [], again

        gone = table.repair("forget", run=True, wanted=[201])
        assert [(o["type"], o["path"]) for o in gone["operations"]] == [("remove_file", table.data(1))], gone
        assert gone["status"]["severity"] == "ok", gone["status"]["findings"]
        # Its rows were lost before: no fresh data.
        assert table.client.get(table.url("/commits"))["commits"][0]["data_change"] is False
        files, versions = replay(table.location)
        assert files.keys() == table.files().keys() and versions[-1] == 6
        lake.stop()


def left_out(plan):
    return {item["path"]: item["reason"] for item in plan["left_out"]}


def register_leaves_out_what_is_not_to_be_taken():
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t")
        status, answer = table.client.call("POST", table.url("/commits"), {"dataChange": False, "operations": [
            {"type": "remove_file", "path": table.data(1)}]})
        assert status == 201, answer
        young = table.write("date=2026-01-01/hour=07/young.parquet", age=60)
        broken = table.write("date=2026-01-01/hour=07/broken.parquet", b"PAR1 is not enough")
        flat = table.write("flat.parquet")
        for path in ("staging/a/b.parquet", "processed/c.parquet", "_temp/d.parquet", ".hidden.parquet", "date=2026-01-01/_e.parquet"):
            table.write(path)
        good = table.write(table.data(9))
        plan = table.repair("register")
        assert [o["path"] for o in plan["operations"]] == [good], plan
        assert left_out(plan) == {young: "too_young", broken: "unreadable", flat: "no_partition_values"}, plan

        named = table.repair("register", paths=[young, broken, flat, table.data(1), table.data(2), "no/such.parquet", "date=2026-01-01/x.csv"])
        assert sorted(o["path"] for o in named["operations"]) == sorted([young, flat]), named
        assert left_out(named) == {broken: "unreadable", table.data(1): "removed", table.data(2): "as_listed",
                                   "no/such.parquet": "not_there", "date=2026-01-01/x.csv": "no_data_file"}, named
        below = table.repair("register", paths=["date=2026-01-01/hour=07/"])
        assert [o["path"] for o in below["operations"]] == [young] and left_out(below) == {broken: "unreadable"}, below
        for path in ("../x.parquet", "/x.parquet", "staging/a/b.parquet", "a//b.parquet", "_temp/", ""):
            status, answer = table.client.call("POST", table.url("/repair"), {"plan": "register", "paths": [path]})
            assert (status, answer["code"], answer["field"]) == (400, "invalid_request", "paths[0]"), answer
        # the grace time is the table's own
        table.client.call("PATCH", table.url(), {"monitors": {"unregistered_data_file": {"grace": "10s"}}})
        assert sorted(o["path"] for o in table.repair("register")["operations"]) == sorted([young, good])
        lake.stop()


def register_takes_facts_again_where_they_are_wrong():
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t", commits=2)
        bare = table.write("date=2026-01-02/hour=03/bare.parquet")
        wrong = table.write("date=2026-01-02/hour=04/wrong.parquet")
        status, answer = table.client.call("POST", table.url("/commits"), {"operations": [
            {"type": "add_file", "path": bare, "size": len(GOOD)},
            {"type": "add_file", "path": wrong, "size": len(GOOD), "numRecords": 2, "columnStats": {"mine": {"min": 1, "max": 2}},
             "partitionValues": {"date": "2026-01-02", "hour": 5}}]})
        assert status == 201, answer
        table.repair("register", run=True, wanted=[201], paths=["date=2026-01-02/"])
        files = table.files()
        assert files[bare]["numRecords"] == 2 and files[bare]["columnStats"]["user_id"]["min"] == 1000, files[bare]
        assert files[bare]["partitionValues"] == {"date": "2026-01-02", "hour": "03"}, files[bare]
        # what the path does not contradict stays as it was told
        assert files[wrong]["partitionValues"] == {"date": "2026-01-02", "hour": "04"}, files[wrong]
        assert files[wrong]["columnStats"] == {"mine": {"min": 1, "max": 2}}, files[wrong]
        assert table.client.get(table.url("/commits"))["commits"][0]["data_change"] is False
        again = table.repair("register", run=True, wanted=[200], paths=["/"])
        assert set(left_out(again).values()) == {"as_listed"} and len(left_out(again)) == 4, again
        lake.stop()


def forget_takes_only_what_is_proved_to_be_gone():
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t", commits=6)
        table.remove(table.data(1))
        table.write(table.data(2), OTHER)
        table.write(table.data(3), b"y" * len(GOOD))
        plan = table.repair("forget")
        assert [o["path"] for o in plan["operations"]] == [table.data(1)], plan
        named = table.repair("forget", paths=[table.data(n) for n in range(1, 5)] + [table.data(77)])
        assert sorted(o["path"] for o in named["operations"]) == [table.data(n) for n in (1, 2, 3)], named
        assert left_out(named) == {table.data(4): "as_listed", table.data(77): "not_in_table"}, named

        # A link in the way is not followed, and is no proof.
        os.rename(table.path("date=2026-01-01/hour=05"), data + "/moved")
        os.symlink(data + "/moved", table.path("date=2026-01-01/hour=05"))
        plan = table.repair("forget")
        assert [o["path"] for o in plan["operations"]] == [table.data(1)], plan
        assert left_out(plan) == {table.data(5): "unreachable"}, plan

        # Nothing of the table is there: an empty mount point, not a thousand lost files.
        os.rename(table.location, data + "/elsewhere")
        for make in (lambda: None, lambda: os.mkdir(table.location)):
            make()
            for run in (False, True):
                for more in ({}, {"paths": [table.data(1)]}):
                    status, answer = table.client.call("POST", table.url("/repair"), {"plan": "forget", "dry_run": not run, **more})
                    assert (status, answer["code"]) == (503, "storage_unavailable"), answer
        os.rmdir(table.location)
        os.rename(data + "/elsewhere", table.location)
        assert table.get()["version"] == 6
        lake.stop()


def forget_of_a_folder_gives_up_no_file_that_can_be_read():
    """More than 20 subjects of a code are one finding, `*`, and cured by the name of all."""
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t", commits=1)
        paths = [table.write(f"date=2026-01-02/hour=00/f{n}.parquet") for n in range(75)]
        table.repair("register", run=True, wanted=[201])
        other, broken, gone = paths[:25], paths[25:50], paths[50:]
        for path in other:
            table.write(path, OTHER)
        for path in broken:
            table.write(path, b"x" * (len(GOOD) - 1))
        for path in gone:
            table.remove(path)
        status = table.check()
        assert findings(status).keys() == {"size_mismatch", "corrupt_data_file", "missing_data_file"}, status["findings"]
        assert {f["subject"] for f in status["findings"]} == {"*"}, status["findings"]
        cure(table, status)
        expect_ok(table)
        assert table.files().keys() == {table.data(1), *other}, len(table.files())
        table.write(other[0])
        assert [o["path"] for o in table.repair("forget", paths=other[:1])["operations"]] == other[:1], "by its own name it goes"
        lake.stop()


def a_repair_of_what_is_not_managed_or_not_there_is_refused():
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t")
        gone = lake.table("gone")
        assert gone.client.call("DELETE", gone.url())[0] == 204
        seen = lake.table("seen")
        status, answer = seen.client.call("PATCH", seen.url(), {"mode": "observed"})
        assert status == 200, answer
        for body, wanted in (({}, "plan"), ({"plan": "heal"}, "plan"), ({"plan": "forget", "paths": []}, "paths"),
                             ({"plan": "forget", "choose": "log"}, "choose"), ({"plan": "register", "what": 1}, "what"),
                             ({"plan": "register", "paths": [1]}, "paths[0]")):
            status, answer = table.client.call("POST", table.url("/repair"), body)
            assert (status, answer["field"]) == (400, wanted), answer
        for plan in ("register", "forget"):
            for other, code in ((gone, "table_not_found"), (seen, "table_not_managed")):
                for run in (False, True):
                    status, answer = other.client.call("POST", other.url("/repair"), {"plan": plan, "dry_run": not run})
                    assert (status, answer["code"]) == (404 if other is gone else 409, code), answer
            status, answer = table.client.call("POST", table.url("/repair"), {"plan": plan, "expected_version": 3})
            assert (status, answer["code"], answer["current_version"]) == (409, "version_conflict", 4), answer
        lake.stop()


def a_protected_table_and_one_that_publishes_nothing_are_repaired():
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t")
        status, answer = table.client.call("PATCH", table.url(), {"protected": True, "publish": False})
        assert status == 200, answer
        table.write(table.data(9))
        table.remove(table.data(1))
        assert table.repair("register", run=True, wanted=[201])["commit"]["published"] is False
        gone = table.repair("forget", run=True, wanted=[201])
        assert gone["status"]["severity"] == "ok", gone["status"]["findings"]
        assert table.read("manifest.json")["version"] == 4 and table.get()["version"] == 6
        status, answer = table.client.call("PATCH", table.url(), {"publish": True})
        assert status == 200, answer
        assert table.check()["severity"] == "ok" and table.read("manifest.json")["version"] == 6
        lake.stop()


def conflicts(table):
    """What lies below _conflicts/, by its path without the time."""
    found = {}
    for root, _, names in os.walk(table.path("_conflicts")):
        for name in names:
            path = os.path.relpath(os.path.join(root, name), table.path("_conflicts"))
            with open(os.path.join(root, name), "rb") as f:
                found.setdefault(path.split("/", 1)[1], []).append(f.read())
    return found


def documents(table):
    """Everything that is no data, but for what was put aside."""
    found = {}
    for root, folders, names in os.walk(table.location):
        folders[:] = [f for f in folders if f != "_conflicts"]
        for name in names:
            if not name.endswith(".parquet"):
                with open(os.path.join(root, name), "rb") as f:
                    found[os.path.relpath(os.path.join(root, name), table.location)] = f.read()
    return found


def lived_in(lake, name):
    """A table with a history: two schema versions, batches, a rollback, lists of files."""
    table = lake.table(name, commits=3, properties={"publish.symlink_manifest": True})
    schema = json.loads(json.dumps(SCHEMA))
    schema["fields"].append({"name": "device", "type": "string", "nullable": True})
    status, answer = table.client.call("POST", table.url("/schemas"), {"expected_version": 1, "schema": schema})
    assert status == 201, answer
    for n in (4, 5):
        table.commit(n, batch_id=f"2026-01-01/{n}/b-{n}.parquet")
    status, answer = table.client.call("POST", table.url("/rollback"), {"expected_version": 5, "to_version": 4})
    assert status == 201, answer
    table.commit(6, batch_id="2026-01-01/6/b-6.parquet", commitMetadata={"author": "a", "description": "ä"})
    return table


def republish_makes_every_document_again_as_it_was():
    with folder() as data:
        lake = Lake(data)
        table = lived_in(lake, "t")
        whole = documents(table)
        names = sorted(whole)
        assert {"manifest.json", "last_committed_txn", "schema.json", "schema_cache.json", "_transactions/txn-4.json",
                "processed/2026-01-01/6/b-6.json"} <= whole.keys(), names
        damages = {"gone": None, "empty": b"", "cut": lambda old: old[:len(old) // 2], "another": b'{"version": 1, "files": []}',
                   "noise": b"\0\xff\0"}
        # of the whole log at once, of each document alone, and of all of them
        rounds = [(what, names) for what in damages] + [(what, [name]) for name in names for what in RNG.sample(sorted(damages), 2)]
        for what, hit in rounds:
            for name in hit:
                damage = damages[what]
                if damage is None:
                    os.remove(table.path(name))
                else:
                    with open(table.path(name), "wb") as f:
                        f.write(damage(whole[name]) if callable(damage) else damage)
            told = table.repair("republish")
            before = documents(table)
            assert before == documents(table)
            done = table.repair("republish", run=True, wanted=[200])
            assert done["commit"] is None and done["status"]["severity"] == "ok", (what, hit, done["status"]["findings"])
            assert told["writes"] == done["writes"], (what, hit, told["writes"], done["writes"])
            assert {m["from"] for m in told["moves"]} == {m["from"] for m in done["moves"]}
            assert documents(table) == whole, (what, hit, [n for n in names if documents(table).get(n) != whole[n]])
            again = table.repair("republish", run=True)
            assert again["moves"] == [] and again["writes"] == ["_symlink_format_manifest/"], again
        # Nothing was lost: all that was in the way lies aside. Two documents follow from the others.
        kept = conflicts(table)
        for name in names:
            if name.startswith("_symlink") or name == "schema_cache.json":
                continue
            for damage in (b"", whole[name][:len(whole[name]) // 2], damages["another"], damages["noise"]):
                assert damage in kept.get(name, []), (name, damage)
        table.commit(7)
        assert table.check()["severity"] == "ok"
        lake.stop()


def what_is_no_file_and_in_a_document_s_place_is_kept_aside_whole():
    with folder() as data:
        lake = Lake(data)
        table = lived_in(lake, "t")
        names = ["manifest.json", "last_committed_txn", "schema.json", "schema_cache.json", "_transactions/txn-1.json", "_transactions/txn-7.json"]
        whole = documents(table)
        assert whole.keys() >= set(names), sorted(whole)
        for name in names:
            a_folder(table, name)
        told = table.repair("republish")
        assert sorted(m["from"] for m in told["moves"]) == sorted(names), told["moves"]
        assert all(os.path.isdir(table.path(name)) for name in names), "a dry run changes nothing"
        done = table.repair("republish", run=True)
        assert done["status"]["severity"] == "ok" and documents(table) == whole, done["status"]["findings"]
        assert conflicts(table) == {f"{name}/note.txt": [b"kept"] for name in names}, conflicts(table)
        assert table.repair("republish", run=True)["moves"] == []
        lake.stop()


def republish_puts_the_pen_back_into_one_hand():
    """An old writer wrote a whole commit of its own: entry, manifest, pointer."""
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t")
        legacy_commit(table, 5, table.data(700))
        status, answer = table.client.call("POST", table.url("/commits"), {"operations": [
            {"type": "add_file", "path": table.write(table.data(8)), "size": len(GOOD)}]})
        assert status == 201 and not answer["published"], answer
        assert "foreign_write" in findings(table.check())
        status, answer = table.client.call("POST", table.url("/commits"), {"operations": [
            {"type": "add_file", "path": table.data(9), "size": len(GOOD)}]})
        assert (status, answer["code"]) == (409, "foreign_write"), answer
        for plan in ("register", "forget"):
            status, answer = table.client.call("POST", table.url("/repair"), {"plan": plan})
            assert (status, answer["code"]) == (409, "foreign_write"), answer

        told = table.repair("republish")
        assert told["ends"] == "foreign_write" and {m["from"] for m in told["moves"]} == {
            "manifest.json", "_transactions/txn-5.json"}, told # the pointer names a commit, if only by chance
        foreign = {m["from"]: open(table.path(m["from"]), "rb").read() for m in told["moves"]}
        done = table.repair("republish", run=True)
        assert done["ends"] == "foreign_write" and done["commit"] is None, done
        for path, text in foreign.items():
            assert conflicts(table)[path] == [text], path
        # What the old writer added is in nobody's list now, and register finds it.
        assert findings(done["status"]).keys() == {"unregistered_data_file"}, done["status"]["findings"]
        assert table.repair("register", run=True, wanted=[201])["status"]["severity"] == "ok"
        assert table.read("manifest.json")["version"] == 6 and table.data(700) in table.files()
        events = [e for e in lake.client.get("/api/events")["events"] if e.get("repair")]
        assert [(e["type"], e["repair"], e["ended"]) for e in events] == [("table.updated", "republish", "foreign_write")], events
        lake.stop()


def legacy_commit(table, number, path, with_entry=True, with_manifest=True):
    """What a writer from before Tarn does, who knows nothing of catalogs."""
    table.write(path)
    if with_entry:
        table.write(f"_transactions/txn-{number}.json", json.dumps({"id": f"txn-{number}", "operations": [
            {"type": "add_file", "path": path, "size": len(GOOD), "partitionValues": {"date": "2026-01-01", "hour": "04"}}]}))
    if with_manifest:
        document = table.read("manifest.json")
        document["version"] += 1
        document["files"].append({"path": path, "size": len(GOOD)})
        table.write("manifest.json", json.dumps(document))
        table.write("last_committed_txn", f"txn-{number}")


def adopt_takes_what_the_other_hand_changed():
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t")
        legacy_commit(table, 5, table.data(700))
        document = table.read("manifest.json")
        document["files"] = [f for f in document["files"] if f["path"] != table.data(1)]
        document["files"].append({"path": "date=2026-01-01/hour=09/not-there.parquet", "size": 5})
        table.write("manifest.json", json.dumps(document))
        # a commit that storage never showed: it stays
        status, answer = table.client.call("POST", table.url("/commits"), {"operations": [
            {"type": "add_file", "path": table.write(table.data(8)), "size": len(GOOD), "numRecords": 2,
             "partitionValues": {"date": "2026-01-01", "hour": "08"}, "columnStats": {"user_id": {"min": 1, "max": 2}}}]})
        assert status == 201, answer
        told = table.repair("adopt")
        wanted = sorted([("add_file", table.data(700)), ("remove_file", table.data(1))])
        assert sorted((o["type"], o["path"]) for o in told["operations"]) == wanted and told["ends"] == "foreign_write", told
        assert left_out(told) == {"date=2026-01-01/hour=09/not-there.parquet": "unreadable"}, told
        added = [o for o in told["operations"] if o["type"] == "add_file"][0]
        assert added["numRecords"] == 2 and added["partitionValues"] == {"date": "2026-01-01", "hour": "04"}, added
        done = table.repair("adopt", run=True, wanted=[201])
        assert done["operations"] == told["operations"] and done["commit"]["version"] == 6, done
        assert done["commit"]["transaction"] != "txn-5" and done["commit"]["published"], done["commit"]
        assert done["status"]["severity"] == "ok", done["status"]["findings"]
        assert table.files().keys() == {table.data(n) for n in (2, 3, 4, 8, 700)}
        assert conflicts(table).keys() == {"manifest.json", "_transactions/txn-5.json"}, conflicts(table).keys()
        assert replay(table.location)[0].keys() == table.files().keys()
        table.commit(10)
        assert table.check()["severity"] == "ok"
        assert table.repair("adopt", run=True, wanted=[200])["operations"] == []
        lake.stop()


def adopt_takes_the_operations_of_entries_that_never_reached_a_manifest():
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t")
        legacy_commit(table, 7, table.data(700), with_manifest=False)
        table.write("_transactions/txn-8.json", json.dumps({"id": "txn-8", "operations": [
            {"type": "remove_file", "path": table.data(1)}, {"type": "remove_file", "path": table.data(700)},
            {"type": "add_file", "path": table.write(table.data(701)), "size": len(GOOD)}]}))
        done = table.repair("adopt", run=True, wanted=[201])
        assert sorted((o["type"], o["path"]) for o in done["operations"]) == sorted([
            ("add_file", table.data(701)), ("remove_file", table.data(1))]), done["operations"]
        assert findings(done["status"]).keys() == {"unregistered_data_file"}, done["status"]["findings"] # data(700): added and removed
        assert conflicts(table).keys() == {"_transactions/txn-7.json", "_transactions/txn-8.json"}
        assert replay(table.location)[0].keys() == table.files().keys()
        # A manifest that cannot be read is taken by nobody.
        table.write("manifest.json", "{")
        status, answer = table.client.call("POST", table.url("/repair"), {"plan": "adopt"})
        assert (status, answer["code"]) == (422, "location_unreachable"), answer
        table.repair("republish", run=True)
        assert table.read("manifest.json")["version"] == 5
        lake.stop()


def adopt_takes_the_last_word_that_an_entry_has_on_a_file():
    for words, is_left in (("+-", False), ("-+", True), ("+-+", True), ("-+-", False)):
        with folder() as data:
            lake = Lake(data)
            table = lake.table("t")
            known, new = table.data(1), table.write(table.data(700), OTHER)
            table.write(known, OTHER)
            said = lambda path: [{"type": "add_file", "path": path, "size": len(OTHER)} if word == "+" else
                                 {"type": "remove_file", "path": path} for word in words]
            table.write("_transactions/txn-7.json", json.dumps({"id": "txn-7", "operations": said(known) + said(new)}))
            done = table.repair("adopt", run=True, wanted=[201])
            expected = [("remove_file", known)] + ([("add_file", known), ("add_file", new)] if is_left else [])
            assert sorted((o["type"], o["path"]) for o in done["operations"]) == sorted(expected), (words, done["operations"])
            assert (new in table.files(), known in table.files()) == (is_left, is_left), words
            lake.stop()


def adopt_settles_which_side_counts_where_manifest_and_log_disagreed():
    lost = rep(std(4), man(4, iso(600), [P(1), P(3)]))                                        # the manifest lacks 2 and 4
    kept = rep(std(4), txn(4, 595, [{"type": "remove_file", "path": P(1)}, add(P(4))]))       # it lists 1, which the log removed
    undone = rep(std(4), txn(4, 595, [add(P(4)), {"type": "remove_file", "path": P(4)}]))     # it lists 4, which the log added and removed
    for choose, files, wanted in (("manifest", undone, {1, 2, 3, 4}), ("log", undone, {1, 2, 3}), ("manifest", lost, {1, 3}), ("log", lost, {1, 2, 3, 4}),
                                  ("manifest", kept, {1, 2, 3, 4}), ("log", kept, {2, 3, 4})):
        with folder() as data:
            lake = Lake(data)
            table = lake.adopt("t", files)
            assert "adoption_conflict" in findings(table.check())
            for plan, more in (("republish", {}), ("register", {}), ("forget", {})):
                status, answer = table.client.call("POST", table.url("/repair"), {"plan": plan, **more})
                assert (status, answer["code"]) == (409, "adoption_conflict"), answer
            status, answer = table.client.call("POST", table.url("/repair"), {"plan": "adopt"})
            assert (status, answer["field"]) == (400, "choose"), answer
            told = table.repair("adopt", choose=choose)
            done = table.repair("adopt", choose=choose, run=True)
            assert told["ends"] == done["ends"] == "adoption_conflict"
            assert table.files().keys() == {P(n) for n in wanted}, (choose, table.files().keys())
            assert {f["path"] for f in table.read("manifest.json")["files"]} == {P(n) for n in wanted}
            assert not findings(done["status"]), (choose, done["status"]["findings"])
            status, answer = table.client.call("POST", table.url("/commits"), {"operations": [
                {"type": "add_file", "path": table.write(P(9)), "size": len(GOOD), "numRecords": 2, "partitionValues":
                 {"date": "2026-01-01", "hour": 14}, "columnStats": {"user_id": {"min": 1000, "max": 5000}}}]})
            assert status == 201 and answer["published"], answer
            assert not findings(table.check()), (choose, table.check()["findings"])
            lake.stop()


def a_repair_writes_over_nothing_that_the_catalog_lost():
    """The database is a copy from before two commits."""
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t", commits=2)
        lake.server.stop()
        shutil.copy(data + "/tarn.sqlite", data + "/old.sqlite")
        lake.restart()
        for n in (3, 4):
            table.commit(n)
        lake.server.stop()
        for name in ("tarn.sqlite", "tarn.sqlite-wal", "tarn.sqlite-shm"):
            if os.path.exists(f"{data}/{name}"):
                os.remove(f"{data}/{name}")
        shutil.copy(data + "/old.sqlite", data + "/tarn.sqlite")
        lake.restart()
        before = documents(table)
        for plan in ("republish", "adopt", "register", "forget"):
            for run in (False, True):
                def ask():
                    status, answer = table.client.call("POST", table.url("/repair"), {"plan": plan, "dry_run": not run})
                    return None if status == 503 else (status, answer) # it is compared with its storage first
                status, answer = await_true("an answer", ask)
                if status in (200, 201): # the entries were replayed at the start
                    assert table.get()["version"] == 4, answer
                else:
                    assert (status, answer["code"]) == (409, "storage_ahead"), answer
        after = documents(table)
        assert {k: after.get(k) for k in before} == before
        lake.stop()


def the_command_line_tells_the_plan_and_runs_it():
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t")
        table.write("last_committed_txn", "noise")
        table.remove(table.data(1))

        def tarn(*words):
            done = subprocess.run([TARN, "repair", *words, "--url", f"http://127.0.0.1:{lake.server.port}", "--data", data],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr
        code, told, _ = tarn("t", "republish")
        assert code == 0 and told.startswith("republish (dry run) of t at version 4\n"), told
        assert "would move:\n  last_committed_txn -> _conflicts/" in told and "would write:\n  last_committed_txn\n" in told, told
        code, told, _ = tarn("t", "republish", "--run")
        assert code == 0 and "\nwrote:\n  last_committed_txn\n" in told and "severity error" in told, told
        code, told, _ = tarn("t", "forget", "--run", "--path", table.data(1), table.data(2))
        assert code == 0 and f"\ncommitted:\n  remove_file {table.data(1)}\n" in told, told
        assert f"left out:\n  {table.data(2)}: it is there, as the table says\n" in told and "t is healthy, severity ok" in told, told
        code, told, _ = tarn("t", "forget")
        assert code == 0 and told == "forget (dry run) of t at version 5: nothing to do\n", told
        code, told, _ = tarn("t", "forget", "--json")
        assert code == 0 and json.loads(told)["version"] == 5, told
        code, _, why = tarn("t", "heal")
        assert code == 64 and "republish, register, forget and adopt" in why, why
        code, _, why = tarn("t", "forget", "--expected-version", "3")
        assert code == 1 and "the table is at version 5" in why, why
        # What is there and listed is touched by name: the plain dry run says how many files would be.
        table.write(table.data(2), b"y" * len(GOOD))
        table.write(table.data(3), OTHER)
        table.check()
        code, told, _ = tarn("t", "forget")
        assert code == 0 and "1 listed file (corrupt_data_file) can be mended by name: tarn repair t forget --path FILE" in told, told
        code, told, _ = tarn("t", "register")
        assert code == 0 and "1 listed file (size_mismatch) can be mended by name: tarn repair t register --path FILE" in told, told
        code, told, _ = tarn("t", "register", "--path", "/")
        assert code == 0 and told.count(table.data(2)) == 1 and f"  {table.data(2)}: no Parquet file" in told, told
        assert "by name" not in told and "as the table says" not in told, told
        assert tarn("t", "forget", "--path", table.data(3), "--run")[0] == 0 # of another size: by its own name
        code, told, _ = tarn("t", "forget", "--path", "/", "--run")
        assert code == 0 and "left out" in told and "it is there" in told and "t is healthy" in told, told
        for hour in (7, 8):
            table.write(table.data(hour))
        assert tarn("t", "register", "--path", "/", "--run")[0] == 0
        code, told, _ = tarn("t", "register", "--path", "/")
        assert code == 0 and told.endswith("left out:\n  3 files that are as the table says\n"
                                            "  2 files that a commit removed: they do not come back this way\n"), told
        assert tarn("t")[0] == 64 and tarn("t", "forget", "--expected-version", "x")[0] == 64
        lake.stop()


def in_threads(lake, *works):
    """Each with a client of its own, until it ends; the first fault is raised."""
    faults = []

    def run(work):
        try:
            work(lake.server.client())
        except BaseException as fault:
            faults.append(fault)
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    if faults:
        raise faults[0]


def repairs_run_beside_commits_and_each_other():
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t", commits=3)
        lost = [table.write(table.data(n)) for n in range(100, 140)]
        done = []

        def commits(client):
            for n in range(200, 240):
                path = table.write(f"date=2026-01-03/hour=00/f{n}.parquet")
                body = {"operations": [{"type": "add_file", "path": path, "size": len(GOOD)}]}
                status, answer = client.call("POST", table.url("/commits"), body)
                while status == 503:
                    status, answer = client.call("POST", table.url("/commits"), body)
                assert status == 201, answer

        def repairs(plan, **more):
            def run(client):
                for _ in range(8):
                    status, answer = client.call("POST", table.url("/repair"), {"plan": plan, "dry_run": False, **more})
                    assert status in (200, 201) or answer["code"] in ("version_conflict", "overloaded"), answer
                    done.append((plan, status))
            return run
        in_threads(lake, commits, repairs("register", paths=lost), repairs("register", paths=lost), repairs("republish"),
                   repairs("forget"))
        status = table.check()
        assert not findings(status), status["findings"]
        files = table.files()
        assert files.keys() >= set(lost) and len(files) == 3 + 40 + 40, len(files)
        assert replay(table.location)[0].keys() == files.keys()
        # What two found, one committed: no file twice, no empty commit.
        entries = [e for e in table.client.get(table.url("/commits"))["commits"] if "repair" in (e["description"] or "")]
        assert sum(e["files_added"] for e in entries) == 40 and all(e["files_added"] for e in entries), entries
        lake.stop()


def more_files_than_a_transaction_takes_are_one_commit():
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t", commits=1)
        for n in range(100, 10250):
            table.write(f"date=2026-01-02/hour=00/f{n}.parquet")
        done = table.repair("register", run=True, wanted=[201])
        assert done["commit"]["version"] == 2 and done["commit"]["files_added"] == 10150, done["commit"]
        assert done["operations_total"] == 10150 and len(done["operations"]) == 10000
        assert done["status"]["severity"] == "ok", done["status"]["findings"]
        for n in range(100, 10250):
            table.remove(f"date=2026-01-02/hour=00/f{n}.parquet")
        done = table.repair("forget", run=True, wanted=[201])
        assert done["commit"]["version"] == 3 and done["commit"]["files_removed"] == 10150, done["commit"]
        assert done["status"]["severity"] == "ok" and len(table.files()) == 1, done["status"]["findings"]
        lake.stop()


if __name__ == "__main__":
    main(each_fault_is_named_cured_by_its_plan_and_gone, two_faults_at_once_are_cured_one_after_the_other, every_code_that_names_a_cure_has_a_fault, a_dry_run_tells_what_a_run_does_and_changes_nothing,
         register_leaves_out_what_is_not_to_be_taken, register_takes_facts_again_where_they_are_wrong,
         forget_takes_only_what_is_proved_to_be_gone, forget_of_a_folder_gives_up_no_file_that_can_be_read,
         a_repair_of_what_is_not_managed_or_not_there_is_refused,
         a_protected_table_and_one_that_publishes_nothing_are_repaired, republish_makes_every_document_again_as_it_was,
         what_is_no_file_and_in_a_document_s_place_is_kept_aside_whole,
         republish_puts_the_pen_back_into_one_hand, adopt_takes_what_the_other_hand_changed,
         adopt_takes_the_operations_of_entries_that_never_reached_a_manifest,
         adopt_takes_the_last_word_that_an_entry_has_on_a_file,
         adopt_settles_which_side_counts_where_manifest_and_log_disagreed, a_repair_writes_over_nothing_that_the_catalog_lost,
         the_command_line_tells_the_plan_and_runs_it, repairs_run_beside_commits_and_each_other, more_files_than_a_transaction_takes_are_one_commit)
