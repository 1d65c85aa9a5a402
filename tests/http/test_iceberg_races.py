#!/usr/bin/env python3
"""Many clients of the Iceberg face at once: one winner a base, no server error, no file that nobody knows.

RACE_WRITERS (32) and RACE_COMMITS (3, of each) size it."""
import os, sys, threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import SCHEMA, Catalog, append, known_files, local, metadata_files, start, view_body
from tarn import await_true, folder, main

WRITERS = int(os.environ.get("RACE_WRITERS", "32"))
COMMITS = int(os.environ.get("RACE_COMMITS", "3"))


def together(server, count, work):
    """work(catalog, number) in threads that begin at one time; their answers in order. A fault of one is the test's."""
    gate, answers, faults = threading.Barrier(count), [None] * count, []

    def run(number):
        try:
            catalog = Catalog(server.port)
            catalog.ok("GET", "/config")
            gate.wait()
            answers[number] = work(catalog, number)
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return answers


def of_many_writers_one_wins_each_base_and_the_others_are_told():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        won, lock = {}, threading.Lock()

        def write(own, number):
            tally = {}
            for serial in range(COMMITS):
                id = number * 1000 + serial + 1
                while True:
                    table = own.load("n", "t")["metadata"]
                    parent = table["current-snapshot-id"] if table["current-snapshot-id"] != -1 else None
                    status, answer = own.commit("n", "t", *append(id, table["last-sequence-number"] + 1, parent))
                    tally[status] = tally.get(status, 0) + 1
                    if status == 200:
                        with lock:
                            won.setdefault(parent, []).append(id)
                        break
                    assert status == 409 and answer["error"]["type"] == "CommitFailedException", (status, answer)
            return tally

        tallies = together(server, WRITERS, write)
        assert sum(t.get(200, 0) for t in tallies) == WRITERS * COMMITS
        assert all(len(ids) == 1 for ids in won.values()), [ids for ids in won.values() if len(ids) > 1]
        table = catalog.load("n", "t")
        assert len(table["metadata"]["snapshots"]) == WRITERS * COMMITS
        chain = [s["snapshot-id"] for s in table["metadata"]["snapshots"]]
        assert [s.get("parent-snapshot-id") for s in table["metadata"]["snapshots"]] == [None] + chain[:-1]
        assert [s["sequence-number"] for s in table["metadata"]["snapshots"]] == list(range(1, WRITERS * COMMITS + 1))
        history = catalog.ok("GET", "/api/table/n.t/commits")["commits"]
        assert sorted(c["version"] for c in history) == list(range(1, WRITERS * COMMITS + 1))
        files = metadata_files(table)
        assert len(files) == WRITERS * COMMITS + 1 or len(table["metadata"]["metadata-log"]) == 100
        logged = known_files(table)
        numbers = sorted(int(os.path.basename(f)[:5]) for f in files)
        assert numbers == list(range(WRITERS * COMMITS + 1)) and logged <= files, "a version twice, or a leftover"
        assert server.stop() == 0


def writers_that_assert_nothing_come_one_after_another_and_all_get_through():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")

        def write(own, number):
            for serial in range(COMMITS):
                status, answer = own.commit("n", "t", [{"action": "set-properties", "updates": {f"p{number}.{serial}": "x"}}])
                assert status == 200, (status, answer)

        together(server, WRITERS, write)
        done = WRITERS * COMMITS
        table = catalog.load("n", "t")
        assert len([k for k in table["metadata"]["properties"] if k.startswith("p")]) == done
        numbers = sorted(int(os.path.basename(f)[:5]) for f in metadata_files(table))
        assert numbers == list(range(done + 1)), numbers
        assert server.stop() == 0


def of_two_creates_of_one_name_one_is_made():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        for round in range(4):
            def create(own, number):
                if number % 4 == 3:
                    return own.call("POST", "/namespaces/n/views", view_body(f"t{round}"))
                return own.call("POST", "/namespaces/n/tables", {"name": f"t{round}", "schema": SCHEMA})

            answers = together(server, 8, create)
            assert sorted(status for status, _ in answers) == [200] + [409] * 7, [a[0] for a in answers]
            assert all(a["error"]["type"] == "AlreadyExistsException" for s, a in answers if s == 409)
            made = next(answer for status, answer in answers if status == 200)
            folder_ = local(made["metadata"]["location"])
            assert os.listdir(folder_ + "/metadata") == [os.path.basename(made["metadata-location"])], "what lost is gone"
        answers = together(server, 8, lambda own, number: own.call("POST", "/namespaces", {"namespace": ["same"]}))
        assert sorted(status for status, _ in answers) == [200] + [409] * 7
        answers = together(server, 8, lambda own, number: own.call("POST", "/namespaces", {"namespace": ["out", str(number)]}))
        assert [status for status, _ in answers] == [200] * 8, "they share the outer one"
        assert server.stop() == 0


def siblings_and_properties_do_not_disturb_one_another():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")

        def work(own, number):
            statuses = []
            for serial in range(3):
                name = f"t{number}_{serial}"
                statuses.append(own.call("POST", "/namespaces/n/tables", {"name": name, "schema": SCHEMA})[0])
                statuses.append(own.call("POST", "/namespaces/n/properties", {"updates": {f"k{number}": str(serial)}})[0])
                statuses.append(own.call("DELETE", f"/namespaces/n/tables/{name}?purgeRequested={serial % 2 == 0}")[0])
            return statuses

        for statuses in together(server, 12, work):
            assert set(statuses) <= {200, 204}, statuses
        assert catalog.ok("GET", "/namespaces/n/tables")["identifiers"] == []
        properties = catalog.ok("GET", "/namespaces/n")["properties"]
        assert properties == {**{f"k{n}": "2" for n in range(12)}, "location": f"file://{top}/lake/n"}, properties
        assert server.stop() == 0


def a_drop_and_a_commit_at_once_leave_a_table_or_none():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        for round in range(6):
            made = catalog.table("n", f"t{round}")

            def work(own, number):
                if number == 0:
                    return own.call("DELETE", f"/namespaces/n/tables/t{round}?purgeRequested=true")
                return own.commit("n", f"t{round}", [{"action": "set-properties", "updates": {f"p{number}": "x"}}])

            answers = together(server, 6, work)
            assert answers[0][0] == 204, answers[0]
            assert all(status in (200, 404, 409) for status, _ in answers[1:]), [a[0] for a in answers]
            assert catalog.call("GET", f"/namespaces/n/tables/t{round}")[0] == 404
            at = local(made["metadata"]["location"]) + "/metadata"
            await_true("no file is left", lambda: not os.path.isdir(at) or not os.listdir(at), 20)
        assert server.stop() == 0


def no_update_of_a_view_is_lost():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.view("n", "v")

        def write(own, number):
            done = []
            for serial in range(COMMITS):
                status, answer = own.call("POST", "/namespaces/n/views/v", {"updates": [
                    {"action": "set-properties", "updates": {f"p{number}.{serial}": "x"}}]})
                assert status == 200 or (status, answer["error"]["type"]) == (409, "CommitFailedException"), (status, answer)
                done += [f"p{number}.{serial}"] if status == 200 else []
            return done

        done = sum(together(server, 12, write), [])
        view = catalog.ok("GET", "/namespaces/n/views/v")
        assert sorted(done) == sorted(view["metadata"]["properties"]) and done
        assert server.stop() == 0


def renames_and_commits_at_once_lose_nothing():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        made = catalog.table("n", "a")
        move = lambda a, b: {"source": {"namespace": ["n"], "name": a}, "destination": {"namespace": ["n"], "name": b}}

        def work(own, number):
            done = []
            for serial in range(12):
                if number == 0:
                    assert own.call("POST", "/tables/rename", move(*("ab" if serial % 2 == 0 else "ba")))[0] == 204
                    continue
                name = "ab"[(number + serial) % 2]
                status, answer = own.commit("n", name, [{"action": "set-properties", "updates": {f"p{number}.{serial}": "x"}}])
                assert status in (200, 404, 409), (status, answer)
                done += [f"p{number}.{serial}"] if status == 200 else []
            return done

        done = sum((d for d in together(server, 6, work)), [])
        table = catalog.load("n", "a")
        assert table["metadata"]["table-uuid"] == made["metadata"]["table-uuid"]
        assert set(done) == {k for k in table["metadata"]["properties"] if k.startswith("p")}
        assert sorted(int(os.path.basename(f)[:5]) for f in metadata_files(table)) == list(range(len(done) + 1))
        assert server.stop() == 0


def what_is_required_of_one_table_holds_while_another_changes():
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        for round in range(12):
            names = [f"a{round}", f"b{round}"]
            for name in names:
                catalog.table("n", name)

            def work(own, number):
                change = lambda name, requirements, updates: {"identifier": {"namespace": ["n"], "name": name},
                                                              "requirements": requirements, "updates": updates}
                updates, is_empty = append(1, 1)
                return own.call("POST", "/transactions/commit", {"table-changes": [
                    change(names[1 - number], is_empty, []), change(names[number], [], updates)]})

            answers = together(server, 2, work)
            assert sorted(status for status, _ in answers) == [204, 409], "each found the other's table empty"
        assert server.stop() == 0


main(of_many_writers_one_wins_each_base_and_the_others_are_told,
     writers_that_assert_nothing_come_one_after_another_and_all_get_through, of_two_creates_of_one_name_one_is_made,
     siblings_and_properties_do_not_disturb_one_another, a_drop_and_a_commit_at_once_leave_a_table_or_none,
     no_update_of_a_view_is_lost, renames_and_commits_at_once_lose_nothing,
     what_is_required_of_one_table_holds_while_another_changes)
