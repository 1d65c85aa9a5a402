#!/usr/bin/env python3
"""A backup put in place after the server went on: what storage knows is taken back at the start, and where something of it is
missing commits wait for POST .../recover."""
import os, shutil, subprocess, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from answers import Writer, assert_same, catalog_answers, quoted, until_published
from tarn import TARN, Server, await_true, folder, main

LARGE = 12000
COMMITS = int(os.environ.get("TARN_RESTORE_COMMITS", "1000"))
# The files of these tests are a few bytes that are no Parquet.
HARMLESS = {"corrupt_data_file", "gap_check_disabled", "missing_column_stats"}
SCHEMA = {"type": "struct", "fields": [{"name": "id", "type": "int64", "nullable": True}]}


def database(server):
    return os.path.join(server.data, "tarn.sqlite")


def back_up(server):
    path = os.path.join(os.path.dirname(server.data), f"backup-{time.monotonic_ns()}.sqlite")
    subprocess.run([TARN, "backup", path, "--url", f"http://127.0.0.1:{server.port}", "--token", server.token], check=True,
                   stdout=subprocess.DEVNULL)
    return path


def put_back(server, backup):
    """The server is dead."""
    for suffix in ("-wal", "-shm"):
        if os.path.exists(database(server) + suffix):
            os.remove(database(server) + suffix)
    shutil.copyfile(backup, database(server))


def found(client, table):
    status, answer = client.call("POST", f"/api/table/{quoted(table)}/check?depth=sweep")
    assert status == 200, answer
    return {f["code"] for f in answer["findings"]}


def events_of(client, kind):
    found, after = [], 0
    while True:
        page = client.get(f"/api/events?after={after}")
        if not page["events"]:
            return found
        found += [e for e in page["events"] if e["type"] == kind]
        after = page["next"]


def a_thousand_commits_after_the_backup_are_taken_back():
    with folder() as home:
        data = os.path.join(home, "data")
        server = Server(data).start()
        client = server.client()
        writer = Writer(client, f"{data}/lake", seed=1)
        for i in range(5):
            writer.register(f"t{i}", partition_keys=["date"], **({"schema": SCHEMA} if i % 2 else {}))
        writer.register('deep.er."a.b"', schema=SCHEMA)
        writer.live_on(100)
        backup = back_up(server)
        kept = writer.commits
        while writer.commits < kept + COMMITS:
            writer.live_on(50)
        until_published(client, writer.tables)
        before = catalog_answers(client)
        server.kill()
        put_back(server, backup)
        server.start()
        client = writer.client = server.client()
        after = catalog_answers(client)
        assert_same(before, after, "after the start")
        rows = [client.get(f"/api/table/{quoted(t)}") for t in writer.tables]
        assert all(r["block"] is None for r in rows), rows
        told = events_of(client, "table.recovered")
        assert len(told) == len(writer.tables), told
        for table in writer.tables:
            writer.commit(table)
        writer.live_on(30)
        until_published(client, writer.tables)
        # Nothing is taken back twice, and the next start finds nothing.
        server.stop()
        server.start()
        client = server.client()
        assert len(events_of(client, "table.recovered")) == len(writer.tables)
        for table in writer.tables:
            assert found(client, table) <= HARMLESS, found(client, table)
        server.stop()


def the_same_request_after_the_restart_gets_the_same_answer():
    with folder() as home:
        data = os.path.join(home, "data")
        server = Server(data).start()
        client = server.client()
        writer = Writer(client, f"{data}/lake", seed=2)
        writer.register("t")
        writer.commit("t")
        backup = back_up(server)
        first = {"transaction_id": "mine-1", "operations": [writer.file("t")]}
        second = {"batch_id": "b-1", "operations": [writer.file("t")]}
        third = {"transaction_id": "last", "operations": [writer.file("t")]}
        bodies = (first, second, third)
        answers = [writer.must("POST", "/api/table/t/commits", b) for b in bodies]
        writer.must("POST", "/api/table/t/rollback", {"expected_version": 4, "to_version": 3})
        until_published(client, ["t"])
        server.kill()
        put_back(server, backup)
        server.start()
        client = server.client()
        for body, answer in list(zip(bodies, answers))[:2]:
            status, again = client.call("POST", "/api/table/t/commits", body)
            assert status == 200, again
            assert {k: v for k, v in again.items() if k != "published"} == {k: v for k, v in answer.items() if k != "published"}
            other = {**body, "operations": [writer.file("t")]}
            status, refused = client.call("POST", "/api/table/t/commits", other)
            assert status == 409 and refused["code"] in ("transaction_exists", "batch_completed"), refused
        status, refused = client.call("POST", "/api/table/t/commits", third)
        assert status == 409 and refused["code"] == "transaction_rolled_back", refused
        server.stop()


def commits_of_many_files_are_taken_back_over_kills():
    """More rows than a transaction of the store writes, and a start that is killed again and again."""
    with folder() as home:
        data = os.path.join(home, "data")
        server = Server(data).start()
        client = server.client()
        writer = Writer(client, f"{data}/lake", seed=4)
        writer.register("t")
        writer.append("t")
        backup = back_up(server)
        files = [{"type": "add_file", "path": f"d={n % 50}/f-{n}.parquet", "size": n} for n in range(LARGE)]
        removes = [{"type": "remove_file", "path": f["path"]} for f in files]
        url = "/api/table/t/commits"
        for n in range(3):
            writer.must("POST", url, {"operations": files, "expected_version": 1 + 3 * n})
            writer.must("POST", url, {"operations": [{"type": "add_file", "path": f"all-{n}.parquet", "size": 7}], "expected_version": 2 + 3 * n})
            writer.must("POST", url, {"dataChange": False, "operations": removes, "expected_version": 3 + 3 * n})
        until_published(client, ["t"])
        before = catalog_answers(client)
        server.kill()
        put_back(server, backup)
        kills = 0
        for n in range(60):
            process = subprocess.Popen([TARN, "serve", "--data", data, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
            timer = threading.Timer(0.02 + 0.03 * n, process.kill)
            timer.start()
            listens = any("listening" in line for line in process.stdout)
            timer.cancel()
            process.kill()
            process.wait()
            if listens:
                break
            kills += 1
        print(f"     {kills} kills before it was through")
        server.start()
        client = writer.client = server.client()
        assert_same(before, catalog_answers(client), "after the kills")
        writer.append("t")
        until_published(client, ["t"])
        server.stop()


def a_file_that_was_copied_tells_nothing_and_is_compared_too():
    """A database put back by other means than `tarn backup`: in the background, and before a first commit at the latest."""
    with folder() as home:
        data = os.path.join(home, "data")
        server = Server(data).start()
        writer = Writer(server.client(), f"{data}/lake", seed=5)
        for name in ("a", "b"):
            writer.register(name, schema=SCHEMA)
        writer.live_on(10)
        server.stop()
        copy = os.path.join(home, "copy.sqlite")
        shutil.copyfile(database(server), copy)
        server.start()
        client = writer.client = server.client()
        writer.live_on(40)
        writer.schema("b")
        until_published(client, ["a", "b"])
        before = catalog_answers(client)
        server.kill()
        put_back(server, copy)
        server.start()
        client = writer.client = server.client()
        status = 503
        while status == 503: # being compared just now
            status, answer = client.call("POST", "/api/table/a/commits", {"expected_version": before["a"]["row"]["version"],
                                                                         "operations": [writer.file("a")]})
        assert status == 201, answer
        await_true("b is compared", lambda: client.get("/api/table/b")["version"] == before["b"]["row"]["version"] and
                   client.get("/api/table/b")["schema_version"] == before["b"]["row"]["schema_version"] and
                   client.get("/api/table/b")["block"] is None)
        assert_same(before["b"], catalog_answers(client)["b"], "the other table")
        server.stop()


def names_and_batches_since_the_backup_are_taken_back():
    with folder() as home:
        data = os.path.join(home, "data")
        server = Server(data).start()
        client = server.client()
        writer = Writer(client, f"{data}/lake", seed=6)
        for name in ("renamed", "quiet", "dropped", "both"):
            writer.register(name)
            writer.append(name)
        writer.must("POST", "/api/table/quiet/batches", {"batch_id": "b-1", "status": "running", "num_records": 3})
        until_published(client, ["renamed", "quiet", "dropped", "both"])
        backup = back_up(server)
        writer.must("PATCH", "/api/table/renamed", {"name": "sales.new"})
        writer.must("PATCH", "/api/table/both", {"name": "other"})
        writer.live["other"], writer.locations["other"] = writer.live["both"], writer.locations["both"]
        writer.append("other")
        writer.must("POST", "/api/table/quiet/batches", {"batch_id": "b-1", "status": "failed"})
        writer.must("POST", "/api/table/quiet/batches", {"batch_id": "b-2", "status": "completed", "num_records": 0})
        writer.must("POST", "/api/table/quiet/schemas", {"expected_version": 0, "schema": SCHEMA})
        writer.append("dropped")
        names = ["sales.new", "quiet", "dropped", "other"]
        until_published(client, names)
        for name, table in (("sales.new", "renamed"), ("other", "both")):
            await_true("the name is shown", lambda: f'"table":"{name}"' in open(f"{data}/lake/{table}/manifest.json").read())
        before = catalog_answers(client)
        client.call("DELETE", "/api/table/dropped")
        server.kill()
        put_back(server, backup)
        server.start()
        client = writer.client = server.client()
        after = catalog_answers(client)
        assert_same(before, after, "after the start") # what was dropped since is there again, with its last commit
        assert {e["from"] for e in events_of(client, "table.renamed")} == {"renamed", "both"}
        for name in names:
            writer.locations[name] = client.get(f"/api/table/{name}")["location"]
            writer.live.setdefault(name, {})
            writer.append(name)
        until_published(client, names)
        server.stop()


def tables_that_changed_names_with_each_other_come_out_right():
    with folder() as home:
        data = os.path.join(home, "data")
        server = Server(data).start()
        client = server.client()
        writer = Writer(client, f"{data}/lake", seed=7)
        for name in ("a", "b", "c", "d", "e"):
            writer.register(name)
            writer.append(name)
        uuids = {t["name"]: t["uuid"] for t in client.get("/api/tables")["tables"]}
        until_published(client, list("abcde"))
        backup = back_up(server)
        # a and b change names; c becomes d, d becomes e, e becomes f.
        moves = [("a", "x"), ("b", "a"), ("x", "b"), ("e", "f"), ("d", "e"), ("c", "d")]
        for before, after in moves:
            writer.must("PATCH", f"/api/table/{before}", {"name": after})
        wanted = {"a": uuids["b"], "b": uuids["a"], "d": uuids["c"], "e": uuids["d"], "f": uuids["e"]}
        for name, folder_ in (("a", "b"), ("b", "a"), ("d", "c"), ("e", "d"), ("f", "e")):
            await_true("the name is shown", lambda: f'"table":"{name}"' in open(f"{data}/lake/{folder_}/manifest.json").read())
        before = catalog_answers(client)
        assert {t["name"]: t["uuid"] for t in client.get("/api/tables")["tables"]} == wanted
        server.kill()
        put_back(server, backup)
        server.start()
        client = writer.client = server.client()
        assert {t["name"]: t["uuid"] for t in client.get("/api/tables")["tables"]} == wanted
        assert_same(before, catalog_answers(client), "after the start")
        for name in wanted:
            writer.locations[name], writer.live[name] = client.get(f"/api/table/{name}")["location"], {}
            writer.append(name)
        until_published(client, list(wanted))
        server.stop()


if __name__ == "__main__":
    main(a_thousand_commits_after_the_backup_are_taken_back, the_same_request_after_the_restart_gets_the_same_answer,
         commits_of_many_files_are_taken_back_over_kills, a_file_that_was_copied_tells_nothing_and_is_compared_too,
         names_and_batches_since_the_backup_are_taken_back, tables_that_changed_names_with_each_other_come_out_right)
