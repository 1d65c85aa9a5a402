#!/usr/bin/env python3
"""What can be wrong with an Iceberg table, found under its code, with a cure that cures it or none: then what its page tells does."""
import contextlib, glob, json, os, shutil, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import append, local, start
from iceberg_lake import lay
from tarn import await_true, folder, main

AT_ONCE = {"newer_metadata_file": {"grace": "0s"}}


class Sick:
    """A table n.<name> with three snapshots, a tag on the first, and every manifest list there."""

    def __init__(self, catalog, name):
        self.catalog, self.name, self.api, self.path = catalog, name, f"/api/table/n.{name}", f"/namespaces/n/tables/{name}"
        self.place = catalog.table("n", name)["metadata"]["location"]
        for id in (1, 2, 3):
            lay(f"{local(self.place)}/metadata/snap-{id}.avro")
            updates, requirements = append(id, id, id - 1 or None, location=self.place, now=int(time.time() * 1000))
            self.commit([*updates, *([{"action": "set-snapshot-ref", "ref-name": "first", "type": "tag", "snapshot-id": 1}] if id == 1 else [])],
                        requirements)
        status, answer = catalog.call("PATCH", self.api, {"monitors": AT_ONCE})
        assert status == 200, answer
        assert self.check() == {}

    def commit(self, updates, requirements=()):
        status, answer = self.catalog.commit("n", self.name, updates, requirements)
        assert status == 200, answer
        return answer

    def file(self):
        return local(self.catalog.call("GET", self.api)[1]["metadata_location"])

    def check(self):
        """Open findings by (code, the last part of their subject): their cures."""
        status, answer = self.catalog.call("POST", self.api + "/check?depth=sweep")
        assert status == 200, answer
        return {(f["code"], f["subject"].rsplit("/", 1)[-1]): f["cure"] for f in answer["findings"]}

    def lose(self, *ids):
        for id in ids:
            os.remove(f"{local(self.place)}/metadata/snap-{id}.avro")

    def tag(self, count):
        """As many snapshots more, each with a tag and without its list."""
        last = self.catalog.load("n", self.name)["metadata"]["last-sequence-number"]
        for n in range(last + 1, last + 1 + count):
            self.commit([append(n, n, 3, location=self.place, now=int(time.time() * 1000))[0][0],
                         {"action": "set-snapshot-ref", "ref-name": f"t{n}", "type": "tag", "snapshot-id": n}])

    def roll_back(self, id):
        self.commit([{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": id}])

    def copy_newer(self, number, name="11111111-1111-4111-8111-111111111111", **members):
        """A metadata file that follows the table's, as a commit that the catalog forgot left it."""
        with open(self.file()) as f:
            doc = json.load(f)
        doc["metadata-log"].append({"timestamp-ms": doc["last-updated-ms"], "metadata-file": "file://" + self.file()})
        doc["properties"] = {"forgotten": str(number)}
        path = f"{local(self.place)}/metadata/{number:05}-{name}.metadata.json"
        with open(path, "w") as f:
            json.dump({**doc, **members}, f)
        return path


MISSING, NEWER = "missing_metadata_file", "newer_metadata_file"


def newer_name(number, name="11111111-1111-4111-8111-111111111111"):
    return f"{number:05}-{name}.metadata.json"


def run(table, plan):
    status, answer = table.catalog.call("POST", table.api + "/repair", {"plan": plan, "dry_run": False})
    assert status in (200, 201), (plan, status, answer)


def register(table, path):
    table.catalog.ok("POST", "/namespaces/n/register", {"name": table.name, "metadata-location": "file://" + path, "overwrite": True})


OTHER = "22222222-2222-4222-8222-222222222222"
FAULTS = [  # what, how to break, what is found with its cure (None: no plan cures it), what its page tells (None: the cure)
    ("the metadata file", lambda t: os.remove(t.file()), lambda t: {(MISSING, os.path.basename(t.file())): "republish"}, None),
    ("main's list", lambda t: t.lose(3), {(MISSING, "snap-3.avro"): None}, lambda t: t.roll_back(2)),
    ("a tag's list", lambda t: t.lose(1), {(MISSING, "snap-1.avro"): None}, lambda t: t.commit([{"action": "remove-snapshot-ref", "ref-name": "first"}])),
    ("a list that comes back", lambda t: t.lose(3), {(MISSING, "snap-3.avro"): None}, lambda t: lay(f"{local(t.place)}/metadata/snap-3.avro")),
    ("many lists", lambda t: t.tag(21), {(MISSING, "*"): None},
     lambda t: t.commit([{"action": "remove-snapshots", "snapshot-ids": list(range(4, 25))}])),
    ("the file and many lists", lambda t: (t.tag(21), os.remove(t.file())),
     lambda t: {(MISSING, "*"): None, (MISSING, os.path.basename(t.file())): "republish"},
     lambda t: t.commit([{"action": "remove-snapshots", "snapshot-ids": list(range(4, 25))}])),
    ("a newer file", lambda t: t.copy_newer(5), {(NEWER, newer_name(5)): None}, lambda t: register(t, glob.glob(f"{local(t.place)}/metadata/00005-*")[0])),
    ("newer ones: the last is told", lambda t: [t.copy_newer(n) for n in (4, 5, 6)], {(NEWER, newer_name(6)): None},
     lambda t: register(t, glob.glob(f"{local(t.place)}/metadata/00006-*")[0])),
    ("two that claim to be the newest", lambda t: [t.copy_newer(6), t.copy_newer(6, OTHER)], {(NEWER, newer_name(6)): None, (NEWER, newer_name(6, OTHER)): None},
     lambda t: register(t, glob.glob(f"{local(t.place)}/metadata/00006-2222*")[0])),
    ("what a crash left is taken away", lambda t: t.copy_newer(4), {(NEWER, newer_name(4)): None},
     lambda t: os.remove(glob.glob(f"{local(t.place)}/metadata/00004-*")[0])),
    ("what a crash left is passed by a commit", lambda t: t.copy_newer(4), {(NEWER, newer_name(4)): None},
     lambda t: t.commit([{"action": "set-properties", "updates": {"a": "b"}}])),
    ("a file of the same number", lambda t: t.copy_newer(3), {}, None),
    ("an older one", lambda t: t.copy_newer(2), {}, None),
    ("of a table that lay here before", lambda t: t.copy_newer(9, **{"metadata-log": [], "table-uuid": OTHER}), {}, None),
    ("of no table", lambda t: lay(f"{local(t.place)}/metadata/{newer_name(9)}"), {}, None),
    ("under a name that no catalog gives", lambda t: shutil.copy(t.file(), f"{local(t.place)}/metadata/00009-copy.metadata.json"), {}, None),
    ("stale data", lambda t: t.catalog.call("PATCH", t.api, {"monitors": {"freshness": {"warning": "0s"}}}) and time.sleep(0.01), {("freshness", "table"): None},
     lambda t: t.catalog.call("PATCH", t.api, {"monitors": {"freshness": None}})),
]


@contextlib.contextmanager
def lake():
    """Its folder, and a catalog that has the namespace n and scans when it is asked to; the server ends well."""
    with folder() as top:
        server, catalog = start(top, "--scan-interval", "1h")
        catalog.namespace("n")
        yield top, catalog
        assert server.stop() == 0


def each_fault_is_found_and_its_cure_cures_it_or_its_page_does():
    with lake() as (_, catalog):
        for n, (what, strike, found, way) in enumerate(FAULTS):
            table = Sick(catalog, f"t{n}")
            strike(table)
            expected = found(table) if callable(found) else found
            assert table.check() == expected, (what, table.check(), expected)
            for (code, subject), plan in expected.items():
                if plan:
                    run(table, plan)
                    assert (code, subject) not in table.check(), (what, "not cured by", plan)
            assert table.check() == {key: plan for key, plan in expected.items() if not plan}, what
            if way:
                way(table)
            assert table.check() == {}, (what, table.check())


def a_place_that_is_lost_names_no_cure():
    with lake() as (top, catalog):
        table = Sick(catalog, "t")
        os.rename(top + "/lake", top + "/away")
        os.mkdir(top + "/lake")
        assert table.check() == {("storage_unreachable", "lake"): None}, table.check()
        os.rmdir(top + "/lake")
        os.rename(top + "/away", top + "/lake")
        assert table.check() == {}


def within_its_grace_time_a_newer_file_is_a_commit_at_work():
    with lake() as (_, catalog):
        table = Sick(catalog, "t")
        catalog.call("PATCH", table.api, {"monitors": {"newer_metadata_file": None}})
        path = table.copy_newer(4)
        assert table.check() == {}
        os.utime(path, (time.time() - 16 * 60,) * 2)
        assert table.check() == {(NEWER, newer_name(4)): None}


main(each_fault_is_found_and_its_cure_cures_it_or_its_page_does, a_place_that_is_lost_names_no_cure,
     within_its_grace_time_a_newer_file_is_a_commit_at_work)
