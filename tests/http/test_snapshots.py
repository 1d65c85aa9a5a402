#!/usr/bin/env python3
"""Snapshots while commits run: a chain of pages, a stream and a manifest of a version are exactly the files of it."""
import json, os, random, sys, threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tarn import Server, folder, main

COMMITS, FILES = 120, 400
T = "/api/table/t"


class Writer(threading.Thread):
    """Commits that add and remove many files each; what every version holds is kept beside."""

    def __init__(self, client):
        super().__init__()
        self.client, self.versions, self.fault = client, [frozenset()], None

    def run(self):
        dice = random.Random(11)
        try:
            for version in range(1, COMMITS + 1):
                live = self.versions[-1]
                touched = [f"f{n:03}" for n in dice.sample(range(FILES), 60)]
                operations = [{"type": "remove_file", "path": p} if p in live else
                              {"type": "add_file", "path": p, "size": 1} for p in touched]
                self.versions.append(live ^ set(touched)) # before the server can tell of it
                status, body = self.client.call("POST", T + "/commits", {"expected_version": version - 1,
                                                                         "operations": operations})
                assert status == 201, (status, body)
        except Exception as why:
            self.fault = why


def chain(client, query, size):
    """(version, paths) of a list in pages; each page but the last is full."""
    paths, token, versions = [], None, set()
    while True:
        page = client.get(f"{T}/files?page_size={size}{query}" + (f"&page_token={token}" if token else ""))
        versions.add(page["version"])
        paths += [f["path"] for f in page["files"]]
        token = page["next_page_token"]
        if not token:
            break
        assert len(page["files"]) == size, len(page["files"])
    assert len(versions) == 1, versions
    return versions.pop(), paths


def expect(writer, version, paths, what):
    assert len(paths) == len(set(paths)), f"{what}: a file twice at version {version}"
    assert set(paths) == writer.versions[version], f"{what} differs at version {version}"


def lists_are_one_version_each_while_commits_run():
    with folder() as top:
        server = Server(top + "/data", "--root", top + "/lake").start()
        client = server.client()
        status, body = client.call("POST", "/api/tables", {"name": "t", "location": top + "/lake/t", "publish": False})
        assert status == 201, body
        writer = Writer(server.client())
        writer.start()
        rounds = 0
        while writer.is_alive() or rounds < 20:
            rounds += 1
            expect(writer, *chain(client, "", 23), "the newest")
            at = client.get(T)["version"]
            old = at // 2
            expect(writer, *chain(client, f"&version={old}", 17), "an old version")
            lines = client.get(f"{T}/files?version={at}", headers={"Accept": "application/x-ndjson"})
            expect(writer, at, [json.loads(line)["path"] for line in lines.splitlines()], "the stream")
            manifest = client.get(f"{T}/manifest?version={old}")
            expect(writer, old, [f["path"] for f in manifest["files"]], "the manifest")
        writer.join()
        if writer.fault:
            raise writer.fault
        for version in range(0, COMMITS + 1, 10):
            told, paths = chain(client, f"&transaction=txn-{version}" if version else "&version=0", 100)
            assert told == version
            expect(writer, version, paths, "afterwards")
        server.stop()


main(lists_are_one_version_each_while_commits_run)
