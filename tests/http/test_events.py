#!/usr/bin/env python3
"""The feed of events on the real server: a reader that follows it with long polls sees every commit of several
writers once and in order, and a stopping server lets those who wait go."""
import json, os, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from tarn import Server, folder, main

WRITERS, COMMITS, READERS = 4, 25, 3


def follow(server, count, out):
    client, after = server.client(), 0
    while len(out) < count:
        answer = client.get(f"/api/events?after={after}&wait=30")
        out += [e for e in answer["events"] if e["type"] == "table.committed"]
        assert answer["next"] >= after and (not answer["events"] or answer["next"] == answer["events"][-1]["sequence"])
        after = answer["next"]


def write(server, number):
    client = server.client()
    for serial in range(COMMITS):
        status, answer = client.call("POST", "/api/table/t/commits", {
            "operations": [{"type": "add_file", "path": f"w{number}/{serial}.parquet", "size": 1}]})
        assert status == 201, answer


def readers_see_every_commit_once_and_in_order():
    with folder() as data:
        server = Server(data).start()
        status, answer = server.client().call("POST", "/api/tables", {"name": "t"})
        assert status == 201, answer
        seen = [[] for _ in range(READERS)]
        threads = [threading.Thread(target=follow, args=(server, WRITERS * COMMITS, out)) for out in seen]
        threads += [threading.Thread(target=write, args=(server, n)) for n in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        for events in seen:
            assert [e["version"] for e in events] == list(range(1, WRITERS * COMMITS + 1))
            sequences = [e["sequence"] for e in events]
            assert sequences == sorted(set(sequences))
        assert server.stop() == 0, "".join(server.output)


def a_stopping_server_lets_who_waits_go():
    with folder() as data:
        server = Server(data).start()
        client = server.client()
        newest = client.get("/api/events")["next"]
        client.connection.request("GET", f"/api/events?after={newest}&wait=60", None,
                                  {"Authorization": "Bearer " + client.token})
        time.sleep(0.5)  # nothing outside tells when a request waits
        began = time.monotonic()
        assert server.stop() == 0, "".join(server.output)
        answer = client.connection.getresponse()
        assert answer.status == 200 and json.loads(answer.read()) == {"events": [], "next": newest}
        assert time.monotonic() - began < 8


main(readers_see_every_commit_once_and_in_order, a_stopping_server_lets_who_waits_go)
