#!/usr/bin/env python3
"""The log from before Tarn, after the catalog was lost: what was history is history again, what was never committed is not."""
import os, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from answers import assert_same
from tarn import Server, folder, main
from test_rebuild import lay_a_table, lose, put, recover, until_published

OLD = 1706798700 # as lay_a_table's


def entry(location, number, *operations):
    path = f"{location}/_transactions/txn-{number}.json"
    put(path, {"id": f"txn-{number}", "timestamp": "2024-02-01T14:40:00Z", "operations": list(operations)})
    os.utime(path, (OLD, OLD))


def add(name):
    return {"type": "add_file", "path": f"date=2024-02-01/{name}.parquet", "size": 1}


def remove(n):
    return {"type": "remove_file", "path": f"date=2024-02-0{n}/new-{n}.parquet"}


def torn(location, number):
    put(f"{location}/_transactions/txn-{number}.json", "{")
    os.utime(f"{location}/_transactions/txn-{number}.json", (OLD, OLD))


# The table has txn-1 to txn-3, each adds a file, and the pointer names txn-3.
ROWS = [
    ("nothing", lambda at: None),
    ("next", lambda at: entry(at, 4, add("never"))),
    ("further", lambda at: entry(at, 5, add("never"))),
    ("several", lambda at: (entry(at, 5, add("never")), entry(at, 6, add("nor")), entry(at, 9, add("again")))),
    ("removing", lambda at: entry(at, 5, remove(2))),
    ("both", lambda at: entry(at, 5, remove(2), add("never"))),
    ("torn", lambda at: torn(at, 5)),
    ("torn_and_whole", lambda at: (torn(at, 5), entry(at, 7, add("never")))),
    ("hole", lambda at: os.unlink(f"{at}/_transactions/txn-2.json")), # one that was lost, and is missed before and after
    ("hole_below_a_stray", lambda at: (os.unlink(f"{at}/_transactions/txn-2.json"), entry(at, 5, add("never")))),
]


def told(client, name):
    for _ in range(2): # the first scan may have come before a commit: what it told closes after two good looks
        status = client.call("POST", f"/api/table/{name}/check?depth=sweep")[1]
    return {"findings": sorted((f["code"], f["subject"]) for f in status["findings"]),
            "commits": [(c["version"], c["transaction"], c["files_added"]) for c in client.get(f"/api/table/{name}/commits")["commits"]]}


def what_was_history_is_history_again_and_what_was_not_is_not():
    with folder() as home:
        server = Server(f"{home}/data", "--root", f"{home}/lake", "--scan-interval", "1h").start()
        client = server.client()
        for name, change in ROWS:
            location = f"{home}/lake/{name}"
            lay_a_table(location, 3, 0)
            change(location)
            assert client.call("POST", "/api/tables", {"name": name, "location": location})[0] == 201
            for op in (add("one"), remove(1), add("two")):
                put(f"{location}/{op['path']}", "x")
                status, answer = client.call("POST", f"/api/table/{name}/commits", {"operations": [op], "expected_version": client.get(f"/api/table/{name}")["version"]})
                assert status == 201, (name, answer)
        until_published(client, [name for name, _ in ROWS])
        before = {name: told(client, name) for name, _ in ROWS}
        server.kill()
        lose(server)
        recover(server.data, f"{home}/lake", code=1) # the torn ones are told
        client = server.start().client()
        for name, _ in ROWS:
            assert_same(before[name], told(client, name), name)
        assert any(code == "missing_transaction_log_entry" for code, _ in before["hole"]["findings"]), before["hole"]
        server.stop()


if __name__ == "__main__":
    main(what_was_history_is_history_again_and_what_was_not_is_not)
