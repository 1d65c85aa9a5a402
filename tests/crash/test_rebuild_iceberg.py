#!/usr/bin/env python3
"""The Iceberg tables of a catalog that was deleted come back from their metadata files: documents, versions and history are as they
were, and what is odd in a folder is told."""
import datetime, gzip, json, os, random, shutil, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from answers import Writer, assert_same, quoted, table_answers
from iceberg import append, local, metadata_files
from iceberg_lake import Lake, begin, dotted, path_of
from tarn import TARN, Server, folder, main
from test_rebuild import NOT_THERE, lose as lose_database, put, recover, spoil, until_published

A, B = "11111111-1111-4111-8111-111111111111", "ffffffff-ffff-4fff-8fff-ffffffffffff"
NOT_THERE_ROW = {"revision", *NOT_THERE} - {"properties"}  # of an Iceberg table the document has them
CLOCK = ("created_at", "last_updated", "committed_at")  # the document's instants and the row's are taken one after the other


def answers(lake, namespace, name):
    """All that both faces tell of an Iceberg table."""
    url = "/api/table/" + quoted(dotted(namespace, name))
    row = lake.client.get(url)
    return {"load": lake.load(namespace, name), "row": {k: v for k, v in row.items() if k not in NOT_THERE_ROW},
            "commits": lake.client.get(url + "/commits")["commits"]}


def lose(lake):
    lake.server.kill()
    lose_database(lake.server)


def without_clock(told):
    """The same but for the instants, which are near."""
    commits = [{k: v for k, v in c.items() if k not in CLOCK} for c in told["commits"]]
    return {**told, "row": {k: v for k, v in told["row"].items() if k not in CLOCK}, "commits": commits}


def assert_back(before, after, what):
    assert_same(without_clock(before), without_clock(after), what)
    for one, other in [(before["row"], after["row"]), *zip(before["commits"], after["commits"])]:
        for key in CLOCK:
            was, now = (datetime.datetime.fromisoformat(told.get(key) or "2000-01-01T00:00:00Z") for told in (one, other))
            assert abs(was - now) < datetime.timedelta(seconds=5), (what, key, one, other)


def numbered(path, number, uuid):
    """Another metadata file beside that one."""
    return os.path.join(os.path.dirname(path), f"{number:05d}-{uuid}.metadata.json")


def number_of(path):
    return int(os.path.basename(path).split("-")[0])


# --- the whole ---

def fill(lake):
    """Tables of many kinds; gives (namespace, name) as they are, and as the folders name them."""
    as_folders = {}
    for levels in (("s",), ("deep",), ("deep", "a.b"), ("deep", "a.b", "ü %☃")):
        lake.face.ok("POST", "/namespaces", {"namespace": list(levels), "properties": {"owner": "x"}})
    kinds = [(("s",), "plain", {}), (("deep", "a.b", "ü %☃"), "t/x", {}), (("s",), "given", {"location": f"file://{lake.lake}/else/where"}),
             (("s",), "bare", {"location": f"{lake.lake}/else/bare"}), (("s",), "packed", {"properties": {"write.metadata.compression-codec": "gzip"}}),
             (("s",), "kept", {"properties": {"write.metadata.previous-versions-max": "2"}}),
             (("s",), "short", {"properties": {"write.metadata.previous-versions-max": "2", "write.metadata.delete-after-commit.enabled": "true"}}),
             (("s",), "old_form", {"properties": {"format-version": "1"}}), (("s",), "before", {}), (("s",), "gone", {})]
    for namespace, name, more in kinds:
        lake.create(namespace, name, **more)
        for n in range(3):
            lake.append(namespace, name)
            lake.set(namespace, name, **{f"p{n}": "x"})
        as_folders[namespace, name] = (namespace, name)
    lake.create(("s",), "empty")
    as_folders[("s",), "empty"] = (("s",), "empty")
    staged = lake.create(("s",), "whole", **{"stage-create": True})["metadata"]
    begin(lake, ("s",), "whole", staged)
    lake.append(("s",), "whole")
    as_folders[("s",), "whole"] = (("s",), "whole")
    lake.face.ok("POST", "/tables/rename", {"source": {"namespace": ["s"], "name": "before"},
                                            "destination": {"namespace": ["deep"], "name": "after"}})
    del as_folders[("s",), "before"]
    as_folders.update({(("deep",), "after"): (("s",), "before"), (("s",), "given"): (("else",), "where"), (("s",), "bare"): (("else",), "bare")})
    return as_folders


def a_catalog_of_both_kinds_comes_back():
    with folder() as home:
        lake = Lake(home)
        as_folders = fill(lake)
        writer = Writer(lake.client, lake.lake, seed=3)
        writer.register("native")
        writer.register("s.native2", location=f"{lake.lake}/s/native2")
        for _ in range(5):
            writer.commit("native")
        until_published(lake.client, writer.tables)
        native = {t: table_answers(lake.client, t, NOT_THERE) for t in writer.tables}
        before = {key: answers(lake, *key) for key in as_folders}
        assert before[("s",), "short"]["row"]["version"] == 6 and len(metadata_files(before[("s",), "short"]["load"])) == 3
        lake.face.ok("DELETE", path_of(("s",), "gone"))
        lose(lake)
        dry = recover(lake.server.data, lake.lake, "--dry-run")
        done = recover(lake.server.data, lake.lake)
        assert done["tables"] == dry["tables"] and done["told"] == [], done["told"]
        assert {t["table"] for t in done["tables"]} == {dotted(*name) for name in as_folders.values()} | set(native), done["tables"]
        formats = {t["table"]: t["format"] for t in done["tables"]}
        assert formats["native"] == "manifest" and formats["s.plain"] == "iceberg"
        lake.restart()
        for key, name in as_folders.items():
            was, now = before[key], answers(lake, *name)
            was["row"].update(name=now["row"]["name"], namespace=now["row"]["namespace"])
            if key[1] == "short":  # the older files are gone
                assert [c["version"] for c in now["commits"]] == [6, 5, 4], now["commits"]
                was["commits"] = was["commits"][:3]
                was["row"]["oldest_version"] = 4
            assert_back(was, now, dotted(*key))
            status = lake.client.call("POST", f"/api/table/{quoted(dotted(*name))}/check?depth=sweep")[1]
            assert status["severity"] == "ok" and status["findings"] == [], (name, status)
            after = lake.append(*name)
            assert number_of(after["metadata-location"]) == number_of(was["load"]["metadata-location"]) + 1
            assert lake.client.get("/api/table/" + quoted(dotted(*name)))["version"] == was["row"]["version"] + 1
        for table, told in native.items():
            assert_same(told, table_answers(lake.client, table, NOT_THERE), table)
        lake.server.stop()


# --- what is odd ---

def read(path):
    with (gzip.open if ".gz." in path else open)(path, "rt") as f:
        return json.load(f)


def torn_next(path):
    with open(path) as f:
        put(numbered(path, number_of(path) + 1, A), f.read()[:-20])


def rival(path, uuid, later_ms, number=0, **change):
    document = read(path)
    made = numbered(path, number_of(path) + number, uuid)
    put(made, {**document, "last-updated-ms": document["last-updated-ms"] + later_ms, **change})
    return made


def named_rival(path):
    """The newest names it: it came before."""
    made = numbered(path, number_of(path), A)
    document = read(path)
    shutil.copy(path, made)
    put(path, {**document, "metadata-log": document["metadata-log"] + [{"timestamp-ms": document["last-updated-ms"], "metadata-file": "file://" + made}]})


def all_torn(path):
    for name in os.listdir(os.path.dirname(path)):
        if name.endswith(".metadata.json"):
            put(os.path.join(os.path.dirname(path), name), "")


def hadoop_alone(path):
    at = os.path.dirname(path)
    for name in sorted(os.listdir(at)):
        if name.endswith(".metadata.json"):
            os.rename(f"{at}/{name}", f"{at}/v{int(name[:5]) + 1}.metadata.json")
    put(f"{at}/version-hint.text", "4")


def renumbered(path, number):
    """As other catalogs count: from another number on."""
    os.rename(path, numbered(path, number, A))
    return numbered(path, number, A)


def gap(path):
    at = os.path.dirname(path)
    os.remove(next(f"{at}/{name}" for name in os.listdir(at) if name.startswith("00002-")))


def moved(path):
    at = os.path.dirname(os.path.dirname(path))
    shutil.copytree(at, at + "_copy")
    shutil.rmtree(at)


NEXT = "00005"
ODD = [ # name, what happens to its folder (the newest file is 00004), what is told, which file is the table's ("newest", "made", None)
    ("torn", torn_next, ["cannot be read", NEXT], "newest"),
    ("torn_to_nothing", lambda p: put(numbered(p, 5, A), ""), ["cannot be read", NEXT], "newest"),
    ("torn_twice", lambda p: (put(numbered(p, 5, A), "{"), put(numbered(p, 6, A), "{}"), None)[2], ["2 metadata files cannot be read, the newest is 00006"], "newest"),
    ("torn_gzip", lambda p: put(numbered(p, 5, A).replace(".meta", ".gz.meta"), "\x1f\x8b"), ["cannot be read"], "newest"),
    ("torn_rival", lambda p: put(numbered(p, 4, A), "{"), ["cannot be read", "00004"], "newest"),
    ("torn_below", lambda p: put(numbered(p, 3, A), "{"), [], "newest"),
    ("old_rival", lambda p: rival(p, A, -1), ["two metadata files have the number 4", f"{A}.metadata.json is not"], "newest"),
    ("new_rival", lambda p: rival(p, A, 1000), ["two metadata files have the number 4", f"{A}.metadata.json, which was made last, is taken"], "made"),
    ("named_rival", named_rival, [], "newest"),
    ("lost_below", lambda p: rival(p, A, 60000, -1) and None, [], "newest"),
    ("all_torn", all_torn, ["cannot be read", "left out"], None),
    ("hadoop", hadoop_alone, ["names that this catalog does not give", "v", "left out", "docs/ICEBERG.md"], None),
    ("hadoop_beside", lambda p: shutil.copy(p, os.path.dirname(p) + "/v9.metadata.json") and None, ["1 other metadata files", "v9.metadata.json"], "newest"),
    ("folder_as_file", lambda p: os.makedirs(numbered(p, 7, A)), [], "newest"),
    ("moved", moved, ["lies at", "left out"], None),
    ("elsewhere_later", lambda p: put(p, {**read(p), "properties": {"write.metadata.path": "file:///other/meta"}}), ["file:///other/meta", "left out"], None),
    ("no_place", lambda p: put(p, {**read(p), "location": "relative"}), ["lies at relative", "left out"], None),
    ("gap", gap, ["versions 2 to 2 are lost"], "newest"),
    ("far_number", lambda p: renumbered(p, 70), ["versions 4 to 69 are lost"], "made"),
    ("another_before", lambda p: rival(p, A, -60000, 3, **{"table-uuid": B}) and None, ["another table had the folder before", B], "newest"),
    ("another_after", lambda p: rival(p, A, 60000, -3, **{"table-uuid": B, "metadata-log": []}), ["another table had the folder before"], "made"),
]


def what_is_odd_in_a_folder_is_told_and_the_newest_good_file_is_taken():
    with folder() as home:
        lake = Lake(home)
        lake.face.namespace("s")
        newest, uuids, expected = {}, {}, {}
        for name, _, _, _ in ODD:
            lake.create(("s",), name)
            for _ in range(4):
                newest[name] = lake.append(("s",), name)["metadata-location"]
            uuids[name] = lake.load(("s",), name)["metadata"]["table-uuid"]
        lake.create(("s",), "set_off")
        lake.append(("s",), "set_off")
        lake.send(("s",), "set_off", [{"action": "set-location", "location": f"file://{lake.lake}/s/arrived"}])
        arrived = answers(lake, ("s",), "set_off")
        lake.face.view("s", "view")
        lake.create(("s",), "apart", properties={"write.metadata.path": f"file://{lake.lake}/s/kept/metadata"})
        lake.create(("s",), "stale")
        lake.append(("s",), "stale")
        lake.set(("s",), "stale", **{"write.metadata.path": f"file://{lake.lake}/off/stale"})
        lake.create(("s",), "flat", location=f"file://{lake.lake}/s/flat", properties={"write.metadata.path": f"file://{lake.lake}/s/flat/"})
        flat = lake.append(("s",), "flat")
        lose(lake)
        for name, odd, _, taken in ODD:
            made = odd(local(newest[name]))
            expected[name] = {"newest": newest[name], "made": "file://" + (made or ""), None: None}[taken]
        done = recover(lake.server.data, lake.lake, code=1)
        told = {}
        for line in done["told"]:
            told.setdefault(os.path.relpath(line["location"], lake.lake + "/s"), []).append(line["message"])
        rows = {t["table"]: t for t in done["tables"]}
        lake.restart()
        for name, _, words, taken in ODD:
            said = told.pop("moved_copy" if name == "moved" else name, [])
            assert (len(said) == 1) == bool(words) and all(w in said[0] for w in words), (name, said)
            assert (f"s.{name}" in rows) == (taken is not None), (name, sorted(rows))
            if taken:
                now = lake.load(("s",), name)
                assert now["metadata-location"] == expected[name], (name, now["metadata-location"], expected[name])
                assert now["metadata"]["table-uuid"] == (B if name == "another_after" else uuids[name])
                lake.append(("s",), name)
        assert "an Iceberg view" in told.pop("view")[0]
        assert f"lies at file://{lake.lake}/s/apart" in told.pop("kept")[0]
        assert "a copy of" in told.pop("set_off")[0]
        now = answers(lake, ("s",), "arrived")
        assert now["load"] == arrived["load"] and [c["version"] for c in now["commits"]] == [2, 1], now["commits"]
        # The file in the folder does not know that later ones lie elsewhere; those do.
        assert "stale: a copy, or metadata apart" in told.pop("../off/stale")[0] and rows["s.stale"]["version"] == 1
        assert lake.load(("s",), "flat") == {**flat, "config": lake.load(("s",), "flat")["config"]}, flat
        assert told == {}, told
        lake.server.stop()


def tables_made_since_a_backup_are_added_and_known_ones_are_left_alone():
    with folder() as home:
        lake = Lake(home)
        lake.face.namespace("s")
        for name in ("known", "dropped", "moves"):
            lake.create(("s",), name)
            lake.append(("s",), name)
        lake.face.ok("DELETE", path_of(("s",), "dropped"))
        lake.send(("s",), "moves", [{"action": "set-location", "location": f"file://{lake.lake}/s/moved"}])
        lake.face.view("s", "view")
        lake.create(("s",), "apart", properties={"write.metadata.path": f"file://{lake.lake}/off/apart"})
        backup = f"{home}/backup.sqlite"
        subprocess.run([TARN, "backup", backup, "--url", f"http://127.0.0.1:{lake.server.port}", "--token", lake.server.token], check=True,
                       stdout=subprocess.DEVNULL)
        lake.create(("s",), "new")
        lake.append(("s",), "new")
        lake.face.view("s", "new_view")
        before = answers(lake, ("s",), "new")
        rival(local(lake.load(("s",), "known")["metadata-location"]), A, 1000)
        lose(lake)
        shutil.copyfile(backup, f"{lake.server.data}/tarn.sqlite")
        assert "--missing" in recover(lake.server.data, lake.lake, code=2)
        for tables in (["s.new"], []):
            done = recover(lake.server.data, lake.lake, "--missing", code=1)
            assert [t["table"] for t in done["tables"]] == tables, done
            told = {os.path.relpath(line["location"], lake.lake + "/s"): line["message"] for line in done["told"]}
            assert set(told) == {"moves", "new_view"} and "at another place" in told["moves"] and "view" in told["new_view"], told
        lake.restart()
        assert_back(before, answers(lake, ("s",), "new"), "new")
        lake.server.stop()


def names_that_tables_tell_themselves_go_before_those_of_folders():
    with folder() as home:
        lake = Lake(home)
        lake.face.namespace("s")
        lake.create(("s",), "t")
        lake.face.ok("POST", "/tables/rename", {"source": {"namespace": ["s"], "name": "t"}, "destination": {"namespace": ["s"], "name": "other"}})
        writer = Writer(lake.client, lake.lake, seed=4)
        writer.register("s.t", location=f"{lake.lake}/native")
        writer.append("s.t")
        until_published(lake.client, ["s.t"])
        lake.append(("s",), "other")
        # Inside the native table's folder, where no walk looks unless it is told to.
        inner = f"{lake.lake}/native/inner"
        lake.server.kill()
        shutil.copytree(f"{lake.lake}/s/t", inner)
        for name in os.listdir(inner + "/metadata"):
            if name.endswith(".metadata.json"):
                path = f"{inner}/metadata/{name}"
                put(path, {**read(path), "location": "file://" + inner, "table-uuid": B})
        lose_database(lake.server)
        done = recover(lake.server.data, lake.lake, "--dry-run", code=1)
        assert {t["table"]: t["location"] for t in done["tables"]} == {"s.t": f"{lake.lake}/native", "s.t_2": f"{lake.lake}/s/t"}, done
        assert len(done["told"]) == 1 and "s.t_2" in done["told"][0]["message"], done["told"]
        done = recover(lake.server.data, lake.lake, inner, code=1)
        told = {line["location"]: line["message"] for line in done["told"]}
        assert len(done["tables"]) == 2 and "belongs to table s.t" in told[inner], done
        lake.restart()
        status, answer = lake.client.call("POST", "/api/table/s.t_2/recover", {})
        assert status == 409 and answer["code"] == "table_not_managed" and "register" in answer["detail"], answer
        lake.server.stop()


def a_number_of_files_that_no_summary_tells_is_not_known():
    with folder() as home:
        lake = Lake(home)
        lake.face.namespace("s")
        for name, told in ROWS_OF_FILES:
            metadata = lake.create(("s",), name)["metadata"]
            if told is not None:
                updates, requirements = append(1, 1, None, now=int(time.time() * 1000), location=metadata["location"], **told[0])
                lake.send(("s",), name, updates, requirements)
        lose(lake)
        done = recover(lake.server.data, lake.lake, "--dry-run")
        text = subprocess.run([TARN, "recover", "--data", lake.server.data, "--dry-run", lake.lake], capture_output=True, text=True, check=True).stdout
        for name, told in ROWS_OF_FILES:
            files = told[1] if told is not None else 0
            assert next(t["files"] for t in done["tables"] if t["table"] == f"s.{name}") == files, (name, done)
            line = next(line for line in text.splitlines() if line.startswith(f"s.{name}: "))
            assert f" files {'-' if files is None else files}," in line, line


ROWS_OF_FILES = [ # name, what its one snapshot tells (None: it has none) and the number of files that is known from it
    ("none", None), ("zero", ({"total-data-files": "0"}, 0)), ("some", ({"total-data-files": "7"}, 7)), ("silent", ({}, None)),
    ("garbled", ({"total-data-files": "many"}, None))]


def spoiled_metadata_is_told_and_nothing_crashes():
    seed = os.environ.get("TARN_REBUILD_SEED", "1")
    rng = random.Random(seed)
    with folder() as home:
        lake = Lake(home)
        lake.face.namespace("s")
        for name in ("a", "b", "c"):
            lake.create(("s",), name)
            for _ in range(4):
                lake.append(("s",), name)
        lake.server.stop()
        kinds = {}
        for n in range(int(os.environ.get("TARN_REBUILD_SPOILED", "40"))):
            spoilt, new = lake.lake, f"{home}/new"
            kept = f"{home}/kept"
            shutil.copytree(spoilt, kept)
            documents = sorted(os.path.join(r, f) for r, _, names in os.walk(spoilt) for f in names if f.endswith(".json"))
            for path in rng.sample(documents, rng.randrange(1, 8)):
                with open(path) as f:
                    text = f.read()
                put(path, text[:rng.randrange(len(text))] if rng.random() < 0.2 else json.dumps(spoil(rng, json.loads(text))))
            done = subprocess.run([TARN, "recover", "--data", new, spoilt, "--json"], capture_output=True, text=True)
            assert done.returncode in (0, 1), (seed, n, done.returncode, done.stderr[-3000:])
            told = json.loads(done.stdout)
            assert (done.returncode == 1) == bool(told["told"])
            kinds[done.returncode] = kinds.get(done.returncode, 0) + 1
            if n % 10 == 0:
                server = Server(new, "--root", spoilt).start()
                assert len(server.client().get("/api/tables")["tables"]) == len(told["tables"])
                assert server.stop() == 0
            shutil.rmtree(spoilt)
            shutil.rmtree(new)
            os.rename(kept, spoilt)
        print(f"     {kinds}")


if __name__ == "__main__":
    main(a_catalog_of_both_kinds_comes_back, a_number_of_files_that_no_summary_tells_is_not_known, what_is_odd_in_a_folder_is_told_and_the_newest_good_file_is_taken,
         tables_made_since_a_backup_are_added_and_known_ones_are_left_alone, names_that_tables_tell_themselves_go_before_those_of_folders,
         spoiled_metadata_is_told_and_nothing_crashes)
