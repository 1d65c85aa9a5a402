#!/usr/bin/env python3
"""The catalog deleted and rebuilt by `tarn recover` from the folders alone: every answer about every table is as it was."""
import json, os, random, shutil, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from answers import Writer, assert_same, catalog_answers, quoted, table_answers, until_published
from tarn import TARN, Server, await_true, folder, main

SCHEMA = {"type": "struct", "fields": [{"name": "id", "type": "int64", "nullable": True}]}
# Of the row: what storage does not hold.
NOT_THERE = ("properties", "owner", "monitors", "schema_enforcement", "verify", "protected")
HARMLESS = {"corrupt_data_file", "gap_check_disabled", "missing_column_stats", "history_truncated"}


def recover(data, *words, code=0):
    done = subprocess.run([TARN, "recover", "--data", data, *words, "--json"], capture_output=True, text=True)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout else done.stderr


def lose(server):
    """The server is dead."""
    for suffix in ("", "-wal", "-shm"):
        path = f"{server.data}/tarn.sqlite{suffix}"
        if os.path.exists(path):
            os.remove(path)


def put(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump(value, f) if not isinstance(value, str) else f.write(value)


def lay_a_table(location, entries, extra=3):
    """A table that somebody else wrote: `extra` files that no entry tells of, then one an entry. The newest entry says more than
    once what it does: only the last word on a path counts."""
    files = []
    for n in range(extra):
        path = f"date=2024-01-0{n + 1}/old-{n}.parquet"
        put(f"{location}/{path}", "x" * (10 + n))
        files.append({"path": path, "size": 10 + n, "partitionValues": {"date": f"2024-01-0{n + 1}"}, "numRecords": 5,
                      "columnStats": {"id": {"min": n, "max": 9, "nullCount": 0}}})
    for n in range(1, entries + 1):
        path = f"date=2024-02-0{n}/new-{n}.parquet"
        put(f"{location}/{path}", "y" * (20 + n))
        op = {"path": path, "size": 20 + n, "partitionValues": {"date": f"2024-02-0{n}"}}
        files.append(op)
        said = [{"type": "add_file", **op}]
        if n == entries:
            undone = {"path": "date=2024-02-09/undone.parquet", "size": 7}
            said = [{"type": "add_file", **op, "size": 1}, {"type": "remove_file", "path": path}, {"type": "add_file", **undone}, *said,
                    {"type": "remove_file", "path": undone["path"]}]
        put(f"{location}/_transactions/txn-{n}.json", {"id": f"txn-{n}", "timestamp": f"2024-02-01T14:3{n}:00Z",
                                                      "operations": said, "commitMetadata": {"author": "old"}})
    put(f"{location}/manifest.json", {"version": entries + extra, "last_updated": "2024-02-01T14:45:00Z", "files": files})
    put(f"{location}/last_committed_txn", f"txn-{entries}\n")
    put(f"{location}/schema.json", {"current_version": 2, "schema": {"type": "struct", "fields": SCHEMA["fields"] + [
        {"name": "c0", "type": "string", "nullable": True}]}, "versions": [{"version": 1, "schema": SCHEMA}]})
    for root, _, names in os.walk(location):
        for name in names:
            os.utime(os.path.join(root, name), (1706798700, 1706798700))


def a_rich_catalog_comes_back_as_it_was():
    with folder() as home:
        data, lake = f"{home}/data", f"{home}/lake"
        os.makedirs(lake)
        server = Server(data, "--root", lake).start()
        client = server.client()
        writer = Writer(client, lake, seed=5)
        writer.register("plain")
        writer.register("keyed", partition_keys=["date"], schema=SCHEMA)
        writer.register('deep.er."a.b"', location=f"{lake}/deep/er/x", schema=SCHEMA, partition_keys=["date"])
        writer.register("süß.grün ☃", location=f"{lake}/unicode ☃")
        writer.register("empty", schema=SCHEMA)
        for n, (entries, extra) in enumerate(((3, 0), (3, 3), (0, 2))):
            lay_a_table(f"{lake}/old{n}", entries, extra)
            writer.register(f"old{n}", location=f"{lake}/old{n}")
            writer.live[f"old{n}"] = {f["path"]: f for f in client.get(f"/api/table/old{n}/files")["files"]}
            writer.schemas[f"old{n}"] = 2
        writer.tables.remove("empty")
        writer.live_on(300)
        for table in ("old0", "old1", "old2"):
            for _ in range(8):
                writer.commit(table)
            writer.compact(table)
        # Renamed, dropped: the first is told by its manifest, the second is not.
        client.call("PATCH", "/api/table/plain", {"name": "sales.plain"})
        writer.tables.append("empty")
        until_published(client, [t["name"] for t in client.get("/api/tables")["tables"]])
        await_true("the new name is shown", lambda: json.load(open(f"{lake}/plain/manifest.json"))["table"] == "sales.plain")
        before = catalog_answers(client, NOT_THERE)
        old_token = server.token
        server.kill()
        lose(server)
        dry = recover(data, lake, "--dry-run")
        assert not os.path.exists(f"{data}/tarn.sqlite") and dry["told"] == [], dry["told"]
        done = recover(data, lake)
        assert {t["table"] for t in done["tables"]} == set(before) and done["told"] == [], done
        assert [{**t} for t in dry["tables"]] == done["tables"]
        assert recover(data, lake, code=2).startswith("tarn: "), "a catalog with tables is not written over"
        server.start()
        client = writer.client = server.client()
        assert server.token == old_token
        after = catalog_answers(client, NOT_THERE)
        assert_same(before, after, "after the rebuild")
        writer.tables = [t for t in before]
        for old in ("plain",):
            writer.live["sales.plain"], writer.locations["sales.plain"] = writer.live.pop(old), writer.locations[old]
            writer.schemas["sales.plain"] = writer.schemas[old]
        for table in writer.tables:
            writer.commit(table)
        writer.live_on(60)
        until_published(client, writer.tables)
        for table in writer.tables:
            status, answer = client.call("POST", f"/api/table/{quoted(table)}/check?depth=sweep")
            codes = {f["code"] for f in answer["findings"]}
            assert codes <= HARMLESS, (table, answer["findings"])
        server.stop()


def what_lay_there_before_tarn_is_known_by_its_numbers_where_a_copy_made_all_files_young():
    with folder() as home:
        data, lake = f"{home}/data", f"{home}/lake"
        os.makedirs(lake)
        server = Server(data, "--root", lake).start()
        writer = Writer(server.client(), lake, seed=13)
        for name, entries, extra, never in (("all", 3, 0, False), ("part", 3, 3, False), ("none", 0, 2, False), ("above", 3, 3, True)):
            lay_a_table(f"{lake}/{name}", entries, extra)
            if never: # committed by nobody, above the pointer
                put(f"{lake}/{name}/_transactions/txn-4.json", {"id": "txn-4", "operations": [
                    {"type": "add_file", "path": "date=2024-02-09/never.parquet", "size": 4}]})
                os.utime(f"{lake}/{name}/_transactions/txn-4.json", (1706798700, 1706798700))
            writer.register(name, location=f"{lake}/{name}")
            writer.live[name] = {f["path"]: f for f in writer.client.get(f"/api/table/{name}/files")["files"]}
            writer.schemas[name] = 2
            for _ in range(8):
                writer.commit(name)
        until_published(writer.client, writer.tables)
        def answers(): # when the schema of before came is told by its document's time alone
            return {name: {k: v for k, v in answer.items() if k != "schemas"}
                    for name, answer in catalog_answers(writer.client, NOT_THERE).items()}
        before = answers()
        server.kill()
        lose(server)
        for path in (os.path.join(top, name) for top, _, names in os.walk(lake) for name in names):
            os.utime(path)
        done = recover(data, lake)
        assert done["told"] == [], done
        server.start()
        writer.client = server.client()
        assert_same(before, answers(), "after the rebuild")
        for name in writer.tables:
            writer.commit(name)
            status, answer = writer.client.call("POST", f"/api/table/{name}/check?depth=sweep")
            told = [f for f in answer["findings"] if f["subject"] != "_transactions/txn-4.json"] # which nobody ever committed
            assert {f["code"] for f in told} <= HARMLESS, (name, told)
        server.stop()


def a_thousand_commits_and_an_expired_history():
    with folder() as home:
        data, lake = f"{home}/data", f"{home}/lake"
        os.makedirs(lake)
        flags = ("--root", lake, "--history-retention", "0s", "--history-versions", "50")
        server = Server(data, *flags).start()
        client = server.client()
        writer = Writer(client, lake, seed=6)
        writer.register("t", partition_keys=["date"])
        for n in range(1100):
            body = {"operations": [writer.file("t")]}
            if n % 7 == 6:
                body["expected_version"] = n
                body["operations"].append({"type": "remove_file", "path": gone})
            gone = body["operations"][0]["path"]
            writer.must("POST", "/api/table/t/commits", body)
        until_published(client, ["t"])
        server.stop()
        server.start() # the sweep at the start ends the old history
        client = server.client()
        await_true("history ended", lambda: client.get("/api/table/t")["oldest_version"] == 1051)
        await_true("the log was cut", lambda: client.get("/api/table/t/commits")["commits"][-1]["version"] == 1000 and
                   not os.path.exists(f"{lake}/t/_transactions/txn-999.json"))
        before = table_answers(client, "t", NOT_THERE)
        server.kill()
        lose(server)
        done = recover(data, lake)
        assert done["told"] == [] and done["tables"][0]["oldest_version"] <= 1051, done
        flags = ("--root", lake)
        server = Server(data, *flags).start()
        client = writer.client = server.client()
        after = table_answers(client, "t", NOT_THERE)
        assert after["row"]["oldest_version"] == 1000 or after["row"]["oldest_version"] <= 1051, after["row"]
        for version, answer in before["versions"].items():
            assert_same(answer, after["versions"][version], f"version {version}")
        status, answer = client.call("GET", "/api/table/t/files?version=5")
        assert status == 404 and answer["code"] == "version_expired", answer
        wanted = [c for c in before["commits"] if c["version"] >= 1051]
        assert after["commits"][:len(wanted)] == wanted
        status, answer = client.call("POST", "/api/table/t/check?depth=sweep")
        codes = {f["code"] for f in answer["findings"]}
        assert codes <= HARMLESS, answer["findings"] # files removed long ago are not taken for unregistered ones
        writer.commit("t")
        server.stop()


def what_is_odd_is_told_and_does_not_stop_the_rest():
    with folder() as home:
        data, lake, other = f"{home}/data", f"{home}/lake", f"{home}/other"
        os.makedirs(lake)
        os.makedirs(other)
        server = Server(data, "--root", lake).start()
        client = server.client()
        writer = Writer(client, lake, seed=7)
        for name in ("good", "ahead", "behind", "edited", "holes", "gone", "nameless", "copied", "dropped"):
            writer.register(name)
            for _ in range(4):
                writer.append(name)
        writer.must("DELETE", "/api/table/dropped", wanted=(204,))
        writer.register("dropped", location=f"{lake}/again")
        writer.append("dropped")
        stranger = Server(f"{home}/stranger", "--root", other).start()
        w2 = Writer(stranger.client(), other, seed=8)
        w2.register("theirs")
        w2.commit("theirs")
        stranger.stop()
        until_published(client, [t["name"] for t in client.get("/api/tables")["tables"]])
        uuids = {t["name"]: t["uuid"] for t in client.get("/api/tables")["tables"]}
        good = table_answers(client, "good", NOT_THERE)
        server.kill()
        lose(server)
        shutil.move(f"{other}/theirs", f"{lake}/theirs")
        shutil.copytree(f"{lake}/copied", f"{lake}/copy of copied")
        with open(f"{lake}/copied/manifest.json") as f:
            newest = f.read()
        # The copy is an old one.
        os.remove(f"{lake}/copy of copied/_transactions/txn-4.json")
        put(f"{lake}/copy of copied/manifest.json", json.dumps({**json.loads(newest), "version": 3}))
        # Half published: the log has version 4, the manifest is at 3.
        with open(f"{lake}/ahead/manifest.json") as f:
            manifest = json.load(f)
        with open(f"{lake}/ahead/_transactions/txn-4.json") as f:
            last = json.load(f)["operations"][0]["path"]
        with open(f"{lake}/ahead/_transactions/txn-3.json") as f:
            third = json.load(f)
        put(f"{lake}/ahead/manifest.json", {**manifest, "version": 3, "transaction": "txn-3", "last_updated": third["timestamp"],
                                            "files": [f for f in manifest["files"] if f["path"] != last]})
        os.remove(f"{lake}/behind/_transactions/txn-4.json")
        with open(f"{lake}/edited/manifest.json") as f:
            manifest = json.load(f)
        put(f"{lake}/edited/manifest.json", {**manifest, "files": manifest["files"] + [{"path": "foreign.parquet", "size": 4}]})
        os.remove(f"{lake}/holes/_transactions/txn-2.json")
        put(f"{lake}/holes/_transactions/txn-9.json", "{")
        os.remove(f"{lake}/gone/manifest.json")
        with open(f"{lake}/nameless/manifest.json") as f:
            manifest = json.load(f)
        del manifest["table"]
        put(f"{lake}/nameless/manifest.json", manifest)
        lay_a_table(f"{lake}/observed", 2)
        os.makedirs(f"{lake}/delta/_delta_log")
        put(f"{lake}/delta/_delta_log/00000000000000000000.json", "{}")
        done = recover(data, lake, code=1)
        told = {}
        for line in done["told"]:
            told.setdefault(os.path.relpath(line["location"], lake) if line["location"] else None, []).append(line["message"])
        tables = {t["table"]: t for t in done["tables"]}
        assert set(tables) == {"good", "ahead", "behind", "edited", "holes", "gone", "nameless", "copied", "dropped", "dropped_2"}, tables
        for name in set(tables) - {"dropped_2"}:
            assert tables[name]["uuid"] == uuids[name], (name, tables[name])
        assert set(told) == {None, "theirs", "copy of copied", "ahead", "behind", "edited", "holes", "gone", "nameless", "dropped",
                             "observed", "delta"}, told
        for where, words in (("theirs", "another catalog"), ("copy of copied", "a copy of"), ("ahead", "manifest"),
                             ("behind", "version 4 is missing"), ("edited", "manifest.json does not hold"), ("holes", "versions 2 to 3 are lost"),
                             ("gone", "manifest.json is missing"), ("nameless", "no name"), ("dropped", "dropped_2"),
                             ("observed", "no document tells a table id"), ("delta", "delta")):
            assert any(words in m for m in told[where]), (where, told[where])
        server = Server(data, "--root", lake).start()
        client = writer.client = server.client()
        assert_same(good, table_answers(client, "good", NOT_THERE), "the good one")
        for name in ("ahead", "behind", "holes", "gone", "nameless", "copied", "dropped", "dropped_2"):
            row = client.get(f"/api/table/{name}")
            assert row["block"] is None and row["version"] == (1 if name == "dropped" else 4), row
            writer.locations[name] = row["location"]
            writer.live[name] = {}
            writer.commit(name)
            await_true(f"{name} is published", lambda: client.get(f"/api/table/{name}")["published_version"] == client.get(f"/api/table/{name}")["version"])
        assert client.get("/api/table/edited")["block"] == "foreign_write"
        server.stop()


def a_wrong_folder_is_told_and_the_right_one_still_taken():
    with folder() as home:
        server = Server(f"{home}/data", "--root", f"{home}/lake").start()
        assert server.client().call("POST", "/api/tables", {"name": "t", "location": f"{home}/lake/t"})[0] == 201
        server.kill()
        lose(server)
        os.mkdir(f"{home}/empty")
        told = recover(server.data, f"{home}/empty", code=1)
        assert told["tables"] == [] and [line["message"] for line in told["told"]] == ["no table was found"], told
        assert [t["table"] for t in recover(server.data, f"{home}/lake")["tables"]] == ["t"]


def tables_made_after_a_backup_are_added():
    with folder() as home:
        data, lake = f"{home}/data", f"{home}/lake"
        os.makedirs(lake)
        server = Server(data, "--root", lake).start()
        client = server.client()
        writer = Writer(client, lake, seed=9)
        writer.register("one")
        writer.commit("one")
        backup = f"{home}/backup.sqlite"
        subprocess.run([TARN, "backup", backup, "--url", f"http://127.0.0.1:{server.port}", "--token", server.token], check=True,
                       stdout=subprocess.DEVNULL)
        writer.register("two", schema=SCHEMA)
        writer.live_on(20)
        until_published(client, ["one", "two"])
        before = catalog_answers(client, NOT_THERE)
        server.kill()
        lose(server)
        shutil.copyfile(backup, f"{data}/tarn.sqlite")
        assert "--missing" in recover(data, lake, code=2)
        dry = recover(data, lake, "--missing", "--dry-run")
        assert [t["table"] for t in dry["tables"]] == ["two"], dry
        done = recover(data, lake, "--missing")
        assert [t["table"] for t in done["tables"]] == ["two"] and done["told"] == [], done
        none = recover(data, lake, "--missing")
        assert none["tables"] == [] and "admin token" not in none["not_rebuilt"], none
        server.start()
        client = server.client()
        assert_same(before, catalog_answers(client, NOT_THERE), "after backup and rebuild")
        server.stop()


def documents_of_older_servers_do_too():
    """Without the members that were added for this."""
    with folder() as home:
        data, lake = f"{home}/data", f"{home}/lake"
        os.makedirs(lake)
        server = Server(data, "--root", lake).start()
        client = server.client()
        writer = Writer(client, lake, seed=10)
        writer.register("t", schema=SCHEMA, partition_keys=["date"])
        lay_a_table(f"{lake}/old", 3, 0)
        writer.register("old", location=f"{lake}/old")
        writer.schemas["old"] = 2
        for table in ("t", "old"):
            for _ in range(10):
                writer.commit(table)
            writer.batch(table)
            writer.schema(table)
            writer.commit(table)
        until_published(client, ["t", "old"])
        before = catalog_answers(client, NOT_THERE + ("created_at",))
        server.kill()
        lose(server)
        for table in ("t", "old"):
            for root, _, names in os.walk(f"{lake}/{table}"):
                for path in (os.path.join(root, n) for n in names if n.endswith(".json")):
                    with open(path) as f:
                        document = json.load(f)
                    for key in ("schema_version", "rollback_to", "body_sha256", "partition_keys", "first_version", "size", "updated_at"):
                        if not (key == "schema_version" and path.endswith("manifest.json")):
                            document.pop(key, None)
                    if not path.endswith("schema.json"):
                        document.pop("created_at", None)
                    for op in document.get("operations", []):
                        if op["type"] == "remove_file":
                            op = [op.pop(k) for k in list(op) if k not in ("type", "path")]
                    was = os.stat(path)
                    put(path, document)
                    os.utime(path, (was.st_atime, was.st_mtime))
        done = recover(data, lake)
        assert {t["table"] for t in done["tables"]} == {"t", "old"} and done["told"] == [], done
        server.start()
        client = writer.client = server.client()
        after = catalog_answers(client, NOT_THERE + ("created_at",))
        for answers in (before, after):
            for table in answers.values():
                table["manifest"].pop("created_at", None)
                for batch in table["batches"].values():
                    batch.pop("size"), batch.pop("updated_at")
                for entry in table["entries"].values():
                    entry.pop("body_sha256", None)
        assert_same(before, after, "of older documents")
        for table in ("t", "old"):
            writer.commit(table)
        until_published(client, ["t", "old"])
        server.stop()


HOSTILE = (0, -1, 1, 2 ** 62, 2 ** 63 - 1, 2 ** 63, 1e300, "", "x" * 5000, "../../etc/passwd", "a\u0001b", None, True, [], {}, [[]], "txn-3",
           "2024-02-01T14:30:00Z", "9999-12-31T23:59:59Z", ["a", "b"], {"a": {"b": []}})


def spoil(rng, value):
    """The document with one place changed."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(sorted(value))
        changed = dict(value)
        if rng.random() < 0.15:
            del changed[key]
        else:
            changed[key] = spoil(rng, value[key])
        return changed
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return value[:at] + [spoil(rng, value[at])] * rng.choice((1, 1, 1, 0, 2)) + value[at + 1:]
    return rng.choice(HOSTILE)


def spoiled_documents_are_told_and_nothing_crashes():
    seed = os.environ.get("TARN_REBUILD_SEED", "1")
    rng = random.Random(seed)
    with folder() as home:
        data, lake = f"{home}/data", f"{home}/lake"
        os.makedirs(lake)
        server = Server(data, "--root", lake).start()
        writer = Writer(server.client(), lake, seed=11)
        for name in ("a", "b"):
            writer.register(name, schema=SCHEMA, partition_keys=["date"])
        lay_a_table(f"{lake}/old", 3, 2)
        writer.register("old", location=f"{lake}/old")
        writer.live["old"] = {f["path"]: f for f in writer.client.get("/api/table/old/files")["files"]}
        writer.schemas["old"] = 2
        writer.live_on(40)
        until_published(writer.client, writer.tables)
        server.stop()
        kinds = {}
        for n in range(int(os.environ.get("TARN_REBUILD_SPOILED", "60"))):
            spoilt, new = f"{home}/spoilt", f"{home}/new"
            shutil.copytree(lake, spoilt)
            documents = [os.path.join(r, f) for r, _, names in os.walk(spoilt) for f in names if f.endswith(".json")]
            for path in rng.sample(documents, rng.randrange(1, 6)):
                with open(path) as f:
                    text = f.read()
                if rng.random() < 0.1:
                    put(path, text[:rng.randrange(len(text))])
                else:
                    put(path, json.dumps(spoil(rng, json.loads(text))))
            done = subprocess.run([TARN, "recover", "--data", new, spoilt, "--json"], capture_output=True, text=True)
            assert done.returncode in (0, 1), (seed, n, done.returncode, done.stderr[-3000:])
            told = json.loads(done.stdout)
            assert (done.returncode == 1) == bool(told["told"])
            kinds[done.returncode] = kinds.get(done.returncode, 0) + 1
            if n % 10 == 0: # and what came of it serves
                server = Server(new, "--root", spoilt).start()
                assert len(server.client().get("/api/tables")["tables"]) == len(told["tables"])
                assert server.stop() == 0
            shutil.rmtree(spoilt)
            shutil.rmtree(new)
        print(f"     {kinds}")


if __name__ == "__main__":
    main(a_rich_catalog_comes_back_as_it_was, what_lay_there_before_tarn_is_known_by_its_numbers_where_a_copy_made_all_files_young,
         a_thousand_commits_and_an_expired_history, what_is_odd_is_told_and_does_not_stop_the_rest,
         a_wrong_folder_is_told_and_the_right_one_still_taken,
         tables_made_after_a_backup_are_added, documents_of_older_servers_do_too, spoiled_documents_are_told_and_nothing_crashes)
