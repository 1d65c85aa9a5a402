#!/usr/bin/env python3
"""Commits over two tables while the server is killed again and again: after each kill both tables are at the same
version with the same transactions, also when every other request has a stale second table.

CRASH_KILLS (20) and CRASH_CLIENTS (8, at most 16) size it."""
import http.client, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from load import Load
from tarn import Server, await_true, folder, main, replay

KILLS = int(os.environ.get("CRASH_KILLS", "10"))
CLIENTS = min(int(os.environ.get("CRASH_CLIENTS", "8")), 16)
ACKS_A_ROUND = 20
BROKEN = (OSError, http.client.HTTPException)
TABLES = ("left", "right")


class Groups(Load):
    def __init__(self, server):
        super().__init__(server, CLIENTS)
        self.acked, self.refused = set(), 0

    def count(self):
        return len(self.acked)

    def work(self, number):
        client, serial = None, 0
        while not self.ending:
            serial += 1
            stale = serial % 2 == 0
            name = f"c{number:02}-{serial:06}"
            parts = [{"table": table, "transaction_id": name,
                      "operations": [{"type": "add_file", "path": f"{name}.parquet", "size": 1}]} for table in TABLES]
            if stale:
                parts[1]["expected_version"] = 1000000
            done = False
            while not done:
                if client is None:
                    self.up.wait()
                    client = self.server.client()
                try:
                    status, answer = client.call("POST", "/api/transactions", {"tables": parts})
                except BROKEN:
                    client.close()
                    client = None
                    continue
                if status == 503:
                    continue
                assert status == (409 if stale else status) and status in (200, 201, 409), f"{status} {answer}"
                assert status != 409 or (stale and answer["table"] == "right"), answer
                done = True
            with self.lock:
                if stale:
                    self.refused += 1
                else:
                    self.acked.add(name)
                self.lock.notify_all()


def history(client, table):
    return {c["transaction"]: c["group"] for c in client.get(f"/api/table/{table}/commits")["commits"]}


def two_tables_move_together_or_not_at_all_over_kills():
    with folder() as data:
        server = Server(data).start()
        for table in TABLES:
            status, answer = server.client().call("POST", "/api/tables",
                                                  {"name": table, "location": f"{data}/lake/{table}"})
            assert status == 201, answer
        load = Groups(server)

        def both_have_moved():
            left, right = (history(server.client(), table) for table in TABLES)
            assert left == right, f"one table moved without the other: {set(left) ^ set(right)}"
            assert load.acked <= set(left), f"acknowledged commits are gone: {load.acked - set(left)}"

        load.outlive(KILLS, ACKS_A_ROUND, both_have_moved)
        client = server.client()
        left, right = (history(client, table) for table in TABLES)
        assert left == right and set(left) == load.acked, "the histories are not what was acknowledged"
        assert all(left.values()) and len(set(left.values())) == len(left), "a group is missing or used twice"
        for table in TABLES:
            await_true("storage catches up",
                       lambda: client.get(f"/api/table/{table}")["published_version"] == len(left))
            files, versions = replay(f"{data}/lake/{table}")
            assert len(versions) == len(left) and set(files) == {f"{name}.parquet" for name in left}
        print(f"     {len(load.acked)} groups, {load.refused} stale, {KILLS} kills")
        assert server.stop() == 0, "".join(server.output)


main(two_tables_move_together_or_not_at_all_over_kills)
