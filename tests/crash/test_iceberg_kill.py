#!/usr/bin/env python3
"""Clients of the Iceberg face commit while the server is killed again and again: what was acknowledged is there, the pointer's file
and all that the log names exist, and what is left over nobody refers to.

CRASH_KILLS (6) and CRASH_CLIENTS (8) size it."""
import http.client, json, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from iceberg import SCHEMA, Catalog, append, known_files, local, metadata_files, start
from load import Load
from tarn import await_true, folder, main

KILLS = int(os.environ.get("CRASH_KILLS", "6"))
CLIENTS = int(os.environ.get("CRASH_CLIENTS", "8"))
ACKS_A_ROUND = 24
BROKEN = (OSError, http.client.HTTPException, json.JSONDecodeError)
TABLES = 3


class Commits(Load):
    def __init__(self, server):
        super().__init__(server, CLIENTS)
        self.acked, self.made = [{} for _ in range(TABLES)], set()

    def count(self):
        return sum(len(a) for a in self.acked)

    def work(self, number):
        serial, catalog = 0, None
        while not self.ending:
            serial += 1
            try:
                if catalog is None:
                    self.up.wait()
                    catalog = Catalog(self.server.port)
                self.step(catalog, number, serial)
            except BROKEN:
                catalog = None

    def step(self, catalog, number, serial):
        """Most are appends; some make a table, some change two tables at once, under a key that a repetition sends again."""
        which, id = (number + serial) % TABLES, number * 1000000 + serial
        if serial % 7 == 0:
            name = f"c{number}_{serial}"
            if catalog.call("POST", "/namespaces/n/tables", {"name": name, "schema": SCHEMA})[0] == 200:
                self.note(lambda: self.made.add(name))
            return
        table = catalog.load("n", f"t{which}")["metadata"]
        parent = table["current-snapshot-id"] if table["current-snapshot-id"] != -1 else None
        updates, requirements = append(id, table["last-sequence-number"] + 1, parent)
        if serial % 5 == 0:
            other = (which + 1) % TABLES
            status, answer = catalog.call("POST", "/transactions/commit", {"table-changes": [
                {"identifier": {"namespace": ["n"], "name": f"t{which}"}, "requirements": requirements, "updates": updates},
                {"identifier": {"namespace": ["n"], "name": f"t{other}"}, "requirements": [],
                 "updates": [{"action": "set-properties", "updates": {f"with{id}": "yes"}}]}]})
            if status == 204:
                self.note(lambda: (self.acked[which].update({id: None}), self.acked[other].update({f"with{id}": None})))
        else:
            body = {"requirements": requirements, "updates": updates}
            status, answer = catalog.call("POST", f"/namespaces/n/tables/t{which}", body, Idempotency_Key=f"key-{id}")
            if status == 200:
                self.note(lambda: self.acked[which].update({id: answer["metadata-location"]}))
        assert status in (200, 204, 409, 503), (status, answer)


def check(catalog, load):
    for which in range(TABLES):
        table = catalog.load("n", f"t{which}")
        ids = [s["snapshot-id"] for s in table["metadata"]["snapshots"]]
        held = set(ids) | set(table["metadata"]["properties"])
        lost = set(load.acked[which]) - held
        assert not lost, (which, lost)
        for id in ids:  # both tables of a transaction, or none
            other = catalog.load("n", f"t{(which + 1) % TABLES}")["metadata"]["properties"]
            if id % 1000000 % 5 == 0 and id % 1000000 % 7 != 0:
                assert f"with{id}" in other, id
        assert [s["sequence-number"] for s in table["metadata"]["snapshots"]] == list(range(1, len(ids) + 1))
        with open(local(table["metadata-location"])) as f:
            assert json.load(f) == table["metadata"], "the file and the catalog say the same"
        assert known_files(table) <= metadata_files(table), known_files(table) - metadata_files(table)
        versions = sorted(c["version"] for c in catalog.ok("GET", f"/api/table/n.t{which}/commits")["commits"])
        assert versions == list(range(1, len(versions) + 1)), versions
    for name in load.made:
        assert os.path.exists(local(catalog.load("n", name)["metadata-location"])), name


def what_was_acknowledged_outlives_kills():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        for which in range(TABLES):
            catalog.table("n", f"t{which}", properties={"write.metadata.previous-versions-max": "100000"})
        load = Commits(server)
        load.outlive(KILLS, ACKS_A_ROUND, lambda: check(Catalog(server.port), load))
        check(Catalog(server.port), load)
        assert server.stop() == 0


def a_purge_that_was_acknowledged_is_finished_after_a_kill():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        tables = []
        for n in range(12):
            catalog.table("n", f"t{n}")
            status, answer = catalog.commit("n", f"t{n}", [{"action": "set-properties", "updates": {"a": "b"}}])
            assert status == 200, answer
            tables.append(answer)
        for n in range(12):
            assert catalog.call("DELETE", f"/namespaces/n/tables/t{n}?purgeRequested=true")[0] == 204
        server.kill()
        server.start()
        catalog = Catalog(server.port)
        assert catalog.ok("GET", "/namespaces/n/tables")["identifiers"] == []
        await_true("no metadata file is left", lambda: not any(
            os.path.exists(f) for table in tables for f in known_files(table)))
        assert catalog.call("DELETE", "/namespaces/n")[0] == 204
        assert server.stop() == 0


main(what_was_acknowledged_outlives_kills, a_purge_that_was_acknowledged_is_finished_after_a_kill)
