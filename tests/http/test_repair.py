#!/usr/bin/env python3
"""Repairs over HTTP: each fault is cured by the plan that its finding names; what a plan takes and what it leaves out; a dry run
changes nothing and tells what a run then does."""
import json, os, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from faults import FAULTS, GOOD, OTHER, Lake, cure, findings
from tarn import folder, main, replay


def expect_ok(table):
    status = table.check()
    assert status["severity"] == "ok", status["findings"]


def each_fault_is_named_cured_by_its_plan_and_gone():
    with folder() as data:
        lake = Lake(data)
        for i, fault in enumerate(FAULTS.values()):
            table = lake.table(f"t{i}")
            expect_ok(table)
            fault.strike(table)
            status = table.check()
            found = findings(status)
            assert fault.code in found, f"{fault.name}: {status['findings']}"
            assert found.keys() <= {fault.code} | fault.also, f"{fault.name}: {sorted(found)}"
            assert cure(table, status), f"{fault.name}: nothing cures {status['findings']}"
            last = table.client.get(table.url("/status"))
            assert last["severity"] == "ok", f"{fault.name}: after its cure {last['findings']}"
            expect_ok(table)
        lake.stop()


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
    main(each_fault_is_named_cured_by_its_plan_and_gone, a_dry_run_tells_what_a_run_does_and_changes_nothing,
         register_leaves_out_what_is_not_to_be_taken, register_takes_facts_again_where_they_are_wrong,
         forget_takes_only_what_is_proved_to_be_gone, a_repair_of_what_is_not_managed_or_not_there_is_refused,
         a_protected_table_and_one_that_publishes_nothing_are_repaired, more_files_than_a_transaction_takes_are_one_commit)
