#!/usr/bin/env python3
"""The disk under the catalog, or under the lake, fills up inside commits: what was acknowledged is there, the rest got
an error, none is half there, and the server goes on when there is space again."""
import os, sys, threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from small_disk import enter_namespace, small_disk
from tarn import Server, await_true, folder, main, replay

CLIENTS = 16
FILLER_BYTES = 3 << 20


def filler(disk):
    with open(disk + "/filler", "wb") as f:
        f.write(bytes(FILLER_BYTES))
    return disk + "/filler"


class Writers:
    """Clients that commit until each has met an error, and what each was told."""

    def __init__(self, server, table, count):
        self.server, self.table, self.count = server, table, count
        self.acked, self.refused, self.unknown, self.odd = {}, {}, {}, []

    def run(self):
        threads = [threading.Thread(target=self.work, args=(n,)) for n in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not self.odd, self.odd[:3]

    def work(self, number):
        client = self.server.client()
        for serial in range(self.count):
            name = f"w{number:02}-{serial:05}"
            status, answer = client.call("POST", f"/api/table/{self.table}/commits", {
                "transaction_id": name, "commitMetadata": {"description": "x" * 20000},
                "operations": [{"type": "add_file", "path": f"data/{name}.parquet", "size": 7}]})
            if status == 201:
                self.acked[name] = answer["version"]
                continue
            if answer["code"] == "commit_state_unknown":
                self.unknown[name] = status
            elif status in (507, 500, 503):
                self.refused[name] = (status, answer["code"])
            else:
                self.odd.append((status, answer))
            return


def judge(client, table, writers):
    there = {c["transaction"]: c["version"] for c in client.get(f"/api/table/{table}/commits")["commits"]}
    files = {f["path"] for f in client.get(f"/api/table/{table}/files")["files"]}
    lost = {t: v for t, v in writers.acked.items() if there.get(t) != v}
    assert not lost, f"{len(lost)} acknowledged commits are gone: {list(lost)[:5]}"
    wrong = [t for t in writers.refused if t in there]
    assert not wrong, f"refused, but there: {wrong[:5]}"
    assert files == {f"data/{t}.parquet" for t in there}, "a commit is half there"
    assert sorted(there.values()) == list(range(1, len(there) + 1)), "versions have a gap"


def a_full_disk_under_the_catalog_loses_nothing():
    with folder() as top:
        disk = small_disk(top + "/disk", 8)
        server = Server(disk + "/data", "--root", top + "/lake").start()
        client = server.client()
        status, answer = client.call("POST", "/api/tables", {"name": "t", "location": top + "/lake/t"})
        assert status == 201, answer
        space = filler(disk)
        writers = Writers(server, "t", 1000)
        writers.run()
        assert writers.refused or writers.unknown, "the disk never filled"
        assert len(writers.acked) > 5, f"hardly anything fitted: {len(writers.acked)}"
        judge(client, "t", writers)
        print(f"     {len(writers.acked)} acknowledged, refused: {sorted(set(writers.refused.values()))}, "
              f"{len(writers.unknown)} unknown")
        os.unlink(space)
        again = Writers(server, "t", 1)
        again.work(99)
        assert len(again.acked) == 1, f"no commit although there is space: {again.refused or again.unknown}"
        writers.acked.update(again.acked)
        judge(client, "t", writers)
        server.kill()
        server.start()
        judge(server.client(), "t", writers)
        assert server.stop() == 0


def a_full_disk_under_the_lake_only_delays_publication():
    with folder() as top:
        disk = small_disk(top + "/disk", 4)
        server = Server(top + "/data", "--root", disk, "--publish-wait", "100ms").start()
        client = server.client()
        status, answer = client.call("POST", "/api/tables", {"name": "t", "location": disk + "/t"})
        assert status == 201, answer
        space = filler(disk)
        writers = Writers(server, "t", 10)
        writers.run()
        assert not writers.unknown and len(writers.acked) + len(writers.refused) > 0
        assert client.get("/api/table/t")["published_version"] < len(writers.acked), "the disk never filled"
        judge(client, "t", writers)
        os.unlink(space)
        newest = client.get("/api/table/t")["version"]
        await_true("storage catches up when there is space",
                   lambda: client.get("/api/table/t")["published_version"] == newest)
        replayed, versions = replay(disk + "/t")
        assert versions == list(range(1, newest + 1))
        assert set(replayed) == {f["path"] for f in client.get("/api/table/t/files")["files"]}
        assert server.stop() == 0


enter_namespace()
main(a_full_disk_under_the_catalog_loses_nothing, a_full_disk_under_the_lake_only_delays_publication)
