#!/usr/bin/env python3
"""examples/merge_worker.py killed at each step of its loop and started again: every staged batch is in the table exactly
once, none is lost, whatever names the attempts gave to their files; a rolled back batch runs again."""
import json, os, signal, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from tarn import Server, await_true, folder, main

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
# The steps in their order; "answer" is the moment after the request of the commit and before its answer.
STEPS = ("picked", "runs", "written", "moved", "commits", "answer", "committed", "dropped")
# Runs the worker and ends it by SIGKILL when it comes to a step for the nth time.
KILLED = """
import http.client, os, signal, sys
sys.path.insert(0, sys.argv[1])
import merge_worker
at, left, quiet = sys.argv[2], int(sys.argv[3]), merge_worker.step
def die_at(name):
    global left
    left -= name == at
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
def step(name, detail=""):
    quiet(name, detail)
    die_at(name)
merge_worker.step = step
answer, send = http.client.HTTPConnection.getresponse, http.client.HTTPConnection.request
def request(self, method, url, *rest, **more):
    self.commits = url.endswith("/commits")
    return send(self, method, url, *rest, **more)
def getresponse(self):
    if self.commits:
        die_at("answer")
    return answer(self)
http.client.HTTPConnection.request, http.client.HTTPConnection.getresponse = request, getresponse
merge_worker.main(sys.argv[4:])
"""
BATCHES = ("2024-02-01/14/batch-000123.parquet", "2024-02-01/14/batch-000124.parquet", "2024-02-01/15/batch-000125.parquet")


class Lake:
    """A server, a table, and what was staged: batch ids and sizes."""

    def __init__(self, data):
        self.server = Server(data).start()
        self.client = self.server.client()
        self.serial, self.sizes = 0, {}
        self.new_table()

    def new_table(self):
        self.serial += 1
        self.name, self.sizes = f"events{self.serial}", {}
        self.table = f"{self.server.data}/lake/{self.name}"
        status, answer = self.client.call("POST", "/api/tables", {"name": self.name, "location": self.table,
                                                                  "partition_keys": ["date", "hour"]})
        assert status == 201, answer
        for batch in BATCHES:
            self.stage(batch)

    def stage(self, batch, size=None):
        """Each batch has a size of its own, so that the table's files tell what is in it."""
        self.sizes[batch] = size or 1000 * self.serial + len(self.sizes)
        path = f"{self.table}/staging/{batch}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(b"x" * self.sizes[batch])

    def arguments(self, *more):
        return [self.name, "--url", f"http://127.0.0.1:{self.server.port}", "--token", self.server.token,
                "--verify", "size", *more]

    def work(self, *more):
        done = subprocess.run([sys.executable, f"{EXAMPLES}/merge_worker.py", *self.arguments(*more)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def start(self, *more):
        return subprocess.Popen([sys.executable, f"{EXAMPLES}/merge_worker.py", *self.arguments(*more)], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def killed(self, at, nth=1):
        done = subprocess.run([sys.executable, "-c", KILLED, EXAMPLES, at, str(nth), *self.arguments()], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        assert done.returncode == -signal.SIGKILL, (at, nth, done.returncode, done.stdout)

    def files(self):
        return self.client.get(f"/api/table/{self.name}/files")["files"]

    def statuses(self):
        return {b["batch_id"]: b["status"] for b in self.client.get(f"/api/table/{self.name}/batches")["batches"]}

    def judge(self, after, staged=()):
        """Every batch once: as a file of the snapshot, as a commit's batch, as a checkpoint; `staged` is what may be left."""
        files = self.files()
        assert sorted(f["size"] for f in files) == sorted(self.sizes.values()), (after, files, self.sizes)
        for f in files:
            assert os.path.getsize(f"{self.table}/{f['path']}") == f["size"], (after, f)
            date, hour = f["path"].split("/")[:2]
            assert f["partitionValues"] == {"date": date[5:], "hour": int(hour[5:])}, (after, f)
        named = [b for c in self.client.get(f"/api/table/{self.name}/commits")["commits"] for b in c["batch_ids"] or ()]
        assert sorted(named) == sorted(self.sizes), (after, named)
        assert self.statuses() == dict.fromkeys(self.sizes, "completed"), (after, self.statuses())
        left = [os.path.join(root, n) for root, _, names in os.walk(f"{self.table}/staging") for n in names]
        assert sorted(left) == sorted(f"{self.table}/staging/{b}" for b in staged), (after, left)
        for batch in self.sizes:
            path = f"{self.table}/processed/{batch[:-len('.parquet')]}.json"
            await_true(f"{path} says completed after {after}", lambda: self.marker(path) == (batch, "completed"))

    @staticmethod
    def marker(path):
        if not os.path.exists(path):
            return None
        with open(path) as f:
            marker = json.load(f)
        return marker["batch_id"], marker["status"]


def a_worker_that_nobody_kills_merges_every_batch():
    with folder() as data:
        lake = Lake(data)
        said = lake.work()
        assert "committed" in said, said
        lake.judge("one run")
        lake.work()
        lake.judge("a second run")
        lake.stage("2024-02-02/10/batch-000126.parquet")
        lake.work()
        lake.judge("a third run")


def a_batch_that_another_engine_merged_before_is_left_out():
    with folder() as data:
        lake = Lake(data)
        before = "2024-01-31/23/batch-000122.parquet"
        lake.stage(before)
        del lake.sizes[before]
        marker = f"{lake.table}/processed/2024-01-31/23/batch-000122.json"
        os.makedirs(os.path.dirname(marker))
        with open(marker, "w") as f:
            json.dump({"batch_id": before, "status": "completed", "num_records": 5}, f)
        lake.work()
        lake.judge("one run", staged=[before])


def killed_at_any_step_and_started_again_it_merges_every_batch_once():
    with folder() as data:
        lake = Lake(data)
        for at in STEPS:
            lake.killed(at)
            lake.work()
            lake.judge(f"a kill at {at}")
            lake.new_table()


def killed_in_every_attempt_at_another_step_it_merges_every_batch_once():
    """Each attempt writes files of new names; new batches come in between."""
    with folder() as data:
        lake = Lake(data)
        lake.killed("written", 2)
        lake.killed("moved", 3)
        lake.stage("2024-02-02/10/batch-000126.parquet")
        lake.killed("commits")
        lake.killed("answer")
        lake.stage("2024-02-02/10/batch-000127.parquet")
        await_true("the commit whose answer was lost stands", lambda: len(lake.files()) == 4)
        lake.killed("dropped", 2)
        lake.killed("moved")
        lake.killed("committed")
        lake.work()
        lake.judge("nine kills")


def workers_side_by_side_merge_every_batch_once():
    with folder() as data:
        lake = Lake(data)
        for n in range(20):
            lake.stage(f"2024-02-03/{n % 3}/batch-{n:06}.parquet")
        workers = [lake.start() for _ in range(3)]
        for worker in workers:
            said, _ = worker.communicate(timeout=60)
            assert worker.returncode == 0, said
        lake.judge("three workers")
        there = sum(n.startswith("merged-") for _, _, names in os.walk(lake.table) for n in names)
        assert there == len(lake.sizes), f"{there} files for {len(lake.sizes)} batches: a refused attempt left some"


def a_rolled_back_batch_runs_again():
    with folder() as data:
        lake = Lake(data)
        lake.work("--keep", "3600")
        lake.judge("one run", staged=lake.sizes)
        before = {f["path"] for f in lake.files()}
        status, answer = lake.client.call("POST", f"/api/table/{lake.name}/rollback",
                                          {"expected_version": 1, "to_version": 0})
        assert status == 201, answer
        assert set(lake.statuses().values()) == {"rolled_back"}, lake.statuses()
        assert lake.files() == []
        lake.work()
        files = lake.files()
        assert sorted(f["size"] for f in files) == sorted(lake.sizes.values()), files
        assert not before & {f["path"] for f in files}
        assert lake.statuses() == dict.fromkeys(lake.sizes, "completed")


main(a_worker_that_nobody_kills_merges_every_batch, a_batch_that_another_engine_merged_before_is_left_out,
     killed_at_any_step_and_started_again_it_merges_every_batch_once,
     killed_in_every_attempt_at_another_step_it_merges_every_batch_once, workers_side_by_side_merge_every_batch_once,
     a_rolled_back_batch_runs_again)
