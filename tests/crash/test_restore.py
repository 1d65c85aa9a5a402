#!/usr/bin/env python3
"""A backup put in place after the server went on: what storage knows is taken back at the start, and where something of it is
missing commits wait for POST .../recover."""
import os, shutil, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from answers import Writer, assert_same, catalog_answers, quoted
from tarn import TARN, Server, await_true, folder, main

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


def until_published(client, tables):
    def all_shown():
        rows = [client.get(f"/api/table/{quoted(t)}") for t in tables]
        batches = [b for t in tables for b in client.get(f"/api/table/{quoted(t)}/batches")["batches"]]
        return all(r["published_version"] == r["version"] for r in rows) and all(b["published"] for b in batches)
    await_true("storage shows everything", all_shown)


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


if __name__ == "__main__":
    main(a_thousand_commits_after_the_backup_are_taken_back, the_same_request_after_the_restart_gets_the_same_answer)
