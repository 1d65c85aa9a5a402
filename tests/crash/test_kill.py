#!/usr/bin/env python3
"""Sixty-four clients on one table, retrying on 409, while the server is killed again and again: nothing that was
acknowledged may be lost, versions have no gap, and storage catches up with the catalog.

CRASH_KILLS (20) and CRASH_CLIENTS (64) size it."""
import http.client, json, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from load import Load
from tarn import Server, await_true, folder, main, replay

KILLS = int(os.environ.get("CRASH_KILLS", "20"))
CLIENTS = int(os.environ.get("CRASH_CLIENTS", "64"))
ACKS_A_ROUND = 40
BROKEN = (OSError, http.client.HTTPException)


class Commits(Load):
    """Clients of one table, and what was acknowledged to them."""

    def __init__(self, server):
        super().__init__(server, CLIENTS)
        self.acked = {}       # transaction id -> version
        self.conflicts = 0

    def count(self):
        return len(self.acked)

    def work(self, number):
        client, known, mine, serial = None, 0, None, 0
        while not self.ending:
            serial += 1
            body = self.body(number, serial, mine)
            version = None
            while version is None:
                if client is None:
                    self.up.wait()
                    client = self.server.client()
                try:
                    version, known = self.attempt(client, body, known)
                except BROKEN:
                    client.close()
                    client = None
            mine = body["operations"][-1]["path"]
            self.note(lambda: self.acked.update({body["transaction_id"]: version}))

    @staticmethod
    def body(number, serial, mine):
        """Every third commit replaces the client's own file of before, so that the replay has removes too."""
        operations = [{"type": "add_file", "path": f"data/w{number:02}/{serial:06}.parquet", "size": 100 + serial}]
        if mine and serial % 3 == 0:
            operations.insert(0, {"type": "remove_file", "path": mine})
        return {"transaction_id": f"w{number:02}-{serial:06}", "operations": operations,
                "commitMetadata": {"author": f"client {number}"}}

    def attempt(self, client, body, known):
        """(version, newest version known); version None: another commit came first, or the server is busy."""
        status, answer = client.call("POST", "/api/table/events/commits", {**body, "expected_version": known})
        if status in (200, 201):
            return answer["version"], answer["version"]
        if status == 409 and answer["code"] == "version_conflict":
            with self.lock:
                self.conflicts += 1
            return None, answer["current_version"]
        if status == 503:
            return None, known
        raise AssertionError(f"{status} {answer}")


def history(client):
    return {c["transaction"]: c["version"] for c in client.get("/api/table/events/commits")["commits"]}


def nothing_acknowledged_is_lost_over_kills():
    with folder() as data:
        server = Server(data).start()
        status, answer = server.client().call("POST", "/api/tables",
                                              {"name": "events", "location": data + "/lake/events"})
        assert status == 201, answer
        load = Commits(server)

        def nothing_is_lost():
            there = history(server.client())
            lost = {t: v for t, v in dict(load.acked).items() if there.get(t) != v}
            assert not lost, f"{len(lost)} acknowledged commits are gone: {list(lost.items())[:5]}"

        load.outlive(KILLS, ACKS_A_ROUND, nothing_is_lost)
        judge(server, load, data + "/lake/events")
        print(f"     {len(load.acked)} commits, {load.conflicts} conflicts, {KILLS} kills")
        assert server.stop() == 0, "".join(server.output)


def judge(server, load, table):
    """History, snapshot, log and manifest say the same."""
    client = server.client()
    there = history(client)
    assert there == load.acked, "the history is not what was acknowledged"
    assert sorted(there.values()) == list(range(1, len(there) + 1)), "versions have a gap"
    await_true("storage catches up",
               lambda: client.get("/api/table/events")["published_version"] == len(there))
    files = {f["path"]: f["size"] for f in client.get("/api/table/events/files")["files"]}
    replayed, versions = replay(table)
    with open(table + "/manifest.json") as f:
        manifest = json.load(f)
    with open(table + "/last_committed_txn") as f:
        pointer = f.read().strip()
    assert versions == sorted(there.values()), "the log has not one entry a version"
    assert replayed == files, "the log replays to another file set than the API's"
    assert {f["path"]: f["size"] for f in manifest["files"]} == files, "the manifest holds other files"
    assert manifest["version"] == len(there)
    assert pointer == client.get("/api/table/events")["latest_transaction"]
    assert client.get("/api/table/events/manifest")["version"] == len(there)


main(nothing_acknowledged_is_lost_over_kills)
