#!/usr/bin/env python3
"""kill -9 in the middle of repairs, at random moments: whatever was in the way is in its place or aside, no commit is lost, and the
same repair run again ends what was begun.

REPAIR_KILLS (10) says how many, REPAIR_SEED which."""
import http.client, json, os, random, shutil, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from faults import GOOD, Lake, findings
from tarn import await_true, folder, main, replay

KILLS = int(os.environ.get("REPAIR_KILLS", "10"))
SEED = os.environ.get("REPAIR_SEED") or str(random.SystemRandom().randrange(10 ** 9))
BROKEN = (OSError, http.client.HTTPException)


def contents(location):
    """The bytes of every document, wherever it lies now."""
    found = set()
    for root, _, names in os.walk(location):
        for name in names:
            with open(os.path.join(root, name), "rb") as f:
                found.add(f.read())
    return found


def send(lake, table, body, answers):
    try:
        answers.append(lake.server.client().call("POST", table.url("/repair"), body))
    except BROKEN:
        pass


def run_and_kill(lake, table, body, delay):
    """The answer when it came before the end."""
    answers = []
    thread = threading.Thread(target=send, args=(lake, table, body, answers))
    thread.start()
    time.sleep(delay)
    lake.server.kill()
    thread.join(60)
    lake.server.start()
    lake.client = lake.server.client()
    return answers[0] if answers else None


def strike(table, rng):
    """A legacy writer's commit, a broken log, a file that nobody registered, one that is gone. Gives what must not get lost."""
    version = table.get()["version"]
    number = rng.randrange(10 ** 6)
    foreign = table.write(f"date=2026-01-01/hour=03/foreign-{number}.parquet")
    document = table.read("manifest.json")
    document["version"] += 1
    document["files"].append({"path": foreign, "size": len(GOOD)})
    texts = {"manifest.json": json.dumps(document), "last_committed_txn": f"old-{number}",
             f"_transactions/old-{number}.json": json.dumps({"id": f"old-{number}", "operations": [
                 {"type": "add_file", "path": foreign, "size": len(GOOD)}]}),
             f"_transactions/txn-{rng.randrange(1, version + 1)}.json": f"broken {number}",
             "schema.json": "{" + str(number)}
    for path, text in texts.items():
        table.write(path, text)
    if rng.random() < 0.5:
        shutil.rmtree(table.path("processed"), ignore_errors=True)
    return foreign, {text.encode() for text in texts.values()}


def settled(table, body):
    """Repeats what an answer of 503 asks to be repeated."""
    def ask():
        status, answer = table.client.call("POST", table.url("/repair"), body)
        return None if status == 503 else (status, answer)
    status, answer = await_true("an answer", ask)
    assert status in (200, 201), (status, answer)
    return answer


def a_killed_repair_loses_nothing_and_is_ended_by_the_next():
    rng = random.Random(SEED)
    ended = 0
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t", commits=12)
        for n in range(13, 16):
            table.commit(n, batch_id=f"2026-01-01/{n}/b.parquet")
        live = set(table.files())
        whole = 0.1 # seconds that a repair takes, about
        for i in range(KILLS):
            foreign, precious = strike(table, rng)
            plan = rng.choice(["republish", "adopt"])
            answer = run_and_kill(lake, table, {"plan": plan, "dry_run": False}, whole * rng.uniform(0, 1.2))
            ended += answer is not None
            assert precious <= contents(table.location), f"seed {SEED}, kill {i}: {plan} lost {precious - contents(table.location)}"
            began = time.monotonic()
            settled(table, {"plan": plan, "dry_run": False})
            whole = (whole + time.monotonic() - began) / 2
            now = set(table.files())
            if plan == "adopt":
                live |= {foreign}
            else: # what the other hand had added is unregistered now, and is taken or given up
                answer = settled(table, {"plan": "register", "dry_run": False, "paths": [foreign]})
                live |= {foreign}
                now = set(table.files())
            assert now == live, f"seed {SEED}, kill {i}: {plan}: {now ^ live}"
            assert precious <= contents(table.location), f"seed {SEED}, kill {i}: lost {precious - contents(table.location)}"
            status = table.check()
            assert not findings(status), f"seed {SEED}, kill {i}: {plan}: {status['findings']}"
            assert replay(table.location)[0].keys() == live, f"seed {SEED}, kill {i}: the log"
            assert {f["path"] for f in table.read("manifest.json")["files"]} == live
        print(f"     seed {SEED}: {KILLS} kills, {ended} came after the answer")
        lake.stop()


def a_killed_commit_of_many_files_is_undone_or_whole():
    rng = random.Random(SEED + "many")
    with folder() as data:
        lake = Lake(data)
        table = lake.table("t", commits=2)
        for n in range(11000):
            table.write(f"date=2026-01-02/hour=00/f{n}.parquet")
        for delay in (0.6, 1.4):
            answer = run_and_kill(lake, table, {"plan": "register", "dry_run": False}, delay * rng.uniform(0.5, 1.5))
            assert len(table.files()) in (2, 11002), len(table.files())
        settled(table, {"plan": "register", "dry_run": False})
        row = table.get()
        assert len(table.files()) == 11002 and row["version"] == 3, row
        assert not findings(table.check())
        lake.stop()


main(a_killed_repair_loses_nothing_and_is_ended_by_the_next, a_killed_commit_of_many_files_is_undone_or_whole)
