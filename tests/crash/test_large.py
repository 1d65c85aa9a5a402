#!/usr/bin/env python3
"""Large rollbacks and large commits, and kill -9 at any moment of them: after the restart each is whole or never was, older
versions read as they did, the table takes commits again, and storage, log and API agree.

CRASH_LARGE_FILES (2500) is how many files a rollback brings back, and as many go; CRASH_LARGE_KILLS (6) how often the server
dies."""
import http.client, json, os, random, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tarn import Server, await_true, folder, main, replay

FILES = int(os.environ.get("CRASH_LARGE_FILES", "2500"))
OPERATIONS = 10500  # more than one transaction writes
KILLS = int(os.environ.get("CRASH_LARGE_KILLS", "6"))
BROKEN = (OSError, http.client.HTTPException)
URL = "/api/table/events"


class Attempt(threading.Thread):
    """One request in a thread of its own; `answer` is None when the server died under it."""

    def __init__(self, server, path, body):
        super().__init__(daemon=True)
        self.client, self.path, self.body, self.answer = server.client(), path, body, None
        self.began = time.monotonic()
        self.start()

    def run(self):
        try:
            self.answer = self.client.call("POST", self.path, self.body)
        except BROKEN:
            pass


def names(prefix, count=FILES):
    return [f"{prefix}/{n:06}.parquet" for n in range(count)]


def snapshot(client, version=None):
    query = "" if version is None else f"?version={version}"
    got = client.get(f"{URL}/files{query}", headers={"Accept": "application/x-ndjson"})
    return {json.loads(line)["path"] for line in got.splitlines()}


def begin(server, data):
    """Versions 1 and 2 hold two disjoint sets of files, all there and empty."""
    client = server.client()
    status, answer = client.call("POST", "/api/tables", {"name": "events", "location": data + "/lake/events"})
    assert status == 201, answer
    for prefix in "ab":
        os.makedirs(f"{data}/lake/events/{prefix}", exist_ok=True)
        for name in names(prefix):
            os.close(os.open(f"{data}/lake/events/{name}", os.O_CREAT))
    adds = {p: [{"type": "add_file", "path": name, "size": 0} for name in names(p)] for p in "ab"}
    status, answer = client.call("POST", URL + "/commits", {"operations": adds["a"]})
    assert status == 201, answer
    removes = [{"type": "remove_file", "path": name} for name in names("a")]
    status, answer = client.call("POST", URL + "/commits", {"expected_version": 1, "operations": removes + adds["b"]})
    assert status == 201, answer
    return client


def takes_commits_again(server, version, path):
    """503 while the sweeper undoes what the crash left, then the next version."""
    client = server.client()

    def commit():
        status, answer = client.call("POST", URL + "/commits", {"operations": [{"type": "add_file", "path": path, "size": 1}]})
        assert status in (201, 503), answer
        return status == 201 and answer
    answer = await_true("the table takes commits again", commit)
    assert answer["version"] == version + 1, answer
    status, answer = client.call("POST", URL + "/commits", {"expected_version": version + 1,
                                                            "operations": [{"type": "remove_file", "path": path}]})
    assert status == 201, answer
    return version + 2


def kill_at(server, attempt, seconds):
    time.sleep(max(0, attempt.began + seconds - time.monotonic()))
    server.kill()
    attempt.join()


def whole_or_not_at_all(server, attempt, before, expected):
    """The version now: `before`, or the next one with the files expected. What was answered counts."""
    client = server.client()
    version = client.get(URL)["version"]
    assert version in (before, before + 1), version
    acknowledged = attempt.answer and attempt.answer[0] == 201
    assert version == before + 1 or not acknowledged, "it was acknowledged and is gone"
    assert snapshot(client) == set(expected[version == before + 1]), f"version {version} is a part of what it should be"
    return version


def a_rollback_killed_at_any_moment_is_whole_or_never_was():
    sets = {p: set(names(p)) for p in "ab"}
    with folder() as data:
        server = Server(data).start()
        begin(server, data)
        began = time.monotonic()
        status, answer = server.client().call("POST", URL + "/rollback", {"expected_version": 2, "to_version": 1})
        assert status == 201 and answer["files_added"] == answer["files_removed"] == FILES, answer
        took, version, now, landed = time.monotonic() - began, 3, "a", 0
        for kill in range(KILLS):
            other = "b" if now == "a" else "a"
            attempt = Attempt(server, URL + "/rollback", {"expected_version": version, "to_version": 1 if other == "a" else 2})
            kill_at(server, attempt, took * (kill + random.random()) / KILLS)
            server.start()
            after = whole_or_not_at_all(server, attempt, version, (sets[now], sets[other]))
            client = server.client()
            assert snapshot(client, 1) == sets["a"] and snapshot(client, 2) == sets["b"], "an older version reads otherwise"
            now, landed = (other, landed + 1) if after > version else (now, landed)
            version = takes_commits_again(server, after, f"c/{kill}.parquet")
        agree(server, data, sets[now])
        print(f"     {FILES} files there and back in {took:.2f} s; {landed} of {KILLS} landed")
        assert server.stop() == 0, "".join(server.output)


def a_large_commit_killed_at_any_moment_is_whole_or_never_was():
    with folder() as data:
        server = Server(data).start()
        status, answer = server.client().call("POST", "/api/tables", {"name": "events", "location": data + "/lake/events"})
        assert status == 201, answer
        version, live, took, landed = 0, set(), 1.0, 0
        for kill in range(KILLS // 2):
            body = {"transaction_id": f"large-{kill}x", "expected_version": version,
                    "operations": [{"type": "add_file", "path": name, "size": 0} for name in names(kill, OPERATIONS)]}
            added = set(names(kill, OPERATIONS))
            attempt = Attempt(server, URL + "/commits", body)
            kill_at(server, attempt, took * random.random())
            server.start()
            after = whole_or_not_at_all(server, attempt, version, (live, live | added))
            did_land = after > version
            live, landed = (live | added, landed + 1) if did_land else (live, landed)
            version = takes_commits_again(server, after, f"c/{kill}.parquet")
            # Whoever lost the answer asks again, and it is there once.
            client = server.client()
            began = time.monotonic()
            status, answer = client.call("POST", URL + "/commits", {**body, "expected_version": version})
            assert status == (200 if did_land else 201), answer
            if status == 201:
                took, version, live = time.monotonic() - began, version + 1, live | added
            assert snapshot(client) == live
        agree(server, data, live)
        print(f"     {OPERATIONS} operations; {landed} of {KILLS // 2} landed before the kill")
        assert server.stop() == 0, "".join(server.output)


def agree(server, data, files):
    """API, manifest and the replay of the log."""
    client = server.client()
    version = client.get(URL)["version"]
    await_true("storage catches up", lambda: client.get(URL)["published_version"] == version)
    replayed, versions = replay(data + "/lake/events")
    with open(data + "/lake/events/manifest.json") as f:
        manifest = {entry["path"] for entry in json.load(f)["files"]}
    assert versions == list(range(1, version + 1)), "the log has not one entry a version"
    assert snapshot(client) == files == set(replayed) == manifest


main(a_rollback_killed_at_any_moment_is_whole_or_never_was, a_large_commit_killed_at_any_moment_is_whole_or_never_was)
