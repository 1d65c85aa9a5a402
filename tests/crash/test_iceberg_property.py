#!/usr/bin/env python3
"""Random changes through the Iceberg face with kill -9 in between and in the middle, against a model of a few lines: namespaces, tables,
views, their names, properties, snapshots. After each crash, and often between, what the catalog shows is the model; each pointer's
file holds what is loaded.

TARN_PROPERTY_SECONDS (5) says how long, TARN_PROPERTY_SEED which steps. A failure prints the seed and the steps."""
import http.client, json, os, random, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from iceberg import SCHEMA, Catalog, append, known_files, local, metadata_files, start, view_body
from tarn import folder, main

SECONDS = float(os.environ.get("TARN_PROPERTY_SECONDS", "5"))
SEED = os.environ.get("TARN_PROPERTY_SEED") or str(random.SystemRandom().randrange(10 ** 9))
BROKEN = (OSError, http.client.HTTPException, json.JSONDecodeError)
SPACES = ["n", "m", "o"]


class Run:
    """The model: name -> what is there. `things[(space, name)]` is a dict with kind, properties, snapshots (ids), uuid."""

    def __init__(self, top):
        self.rng, self.top, self.steps = random.Random(SEED), top, []
        self.things, self.serial, self.dropped = {}, 0, []
        self.server, self.catalog = start(top)
        for space in SPACES:
            self.catalog.namespace(space)
        self.space_properties = {space: {} for space in SPACES}

    # Each gives (method, path, body, what the model becomes when it happened, status).

    def free_name(self):
        self.serial += 1
        return self.rng.choice(SPACES), self.rng.choice(["a", "b c", "d.e", "f/g"]) + str(self.serial)

    def pick(self, kind):
        found = sorted(k for k, t in self.things.items() if t["kind"] == kind)
        return self.rng.choice(found) if found else None

    @staticmethod
    def path(key, kind):
        return f"/namespaces/{key[0]}/{kind}s/" + key[1].replace(" ", "+").replace("/", "%2F")

    def make_table(self):
        key = self.free_name()
        properties = self.rng.choice([{}, {"p": "q"}, {"write.metadata.delete-after-commit.enabled": "true",
                                                       "write.metadata.previous-versions-max": "2"}])
        body = {"name": key[1], "schema": SCHEMA, "properties": properties}
        return ("POST", f"/namespaces/{key[0]}/tables", body,
                lambda: self.things.update({key: {"kind": "table", "properties": dict(properties), "snapshots": []}}), 200)

    def make_view(self):
        key = self.free_name()
        return ("POST", f"/namespaces/{key[0]}/views", view_body(key[1]),
                lambda: self.things.update({key: {"kind": "view", "properties": {}, "snapshots": []}}), 200)

    def change(self, key):
        """Updates and requirements, and what they make of the model."""
        thing = self.things[key]
        self.serial += 1
        if self.rng.random() < 0.5:
            update = {f"k{self.rng.randrange(4)}": str(self.serial)}
            return [{"action": "set-properties", "updates": update}], [], lambda: thing["properties"].update(update)
        parent = thing["snapshots"][-1] if thing["snapshots"] else None
        updates, requirements = append(self.serial, len(thing["snapshots"]) + 1, parent)
        id = self.serial
        return updates, requirements, lambda: thing["snapshots"].append(id)

    def commit(self):
        key = self.pick("table")
        if key:
            updates, requirements, then = self.change(key)
            return "POST", self.path(key, "table"), {"updates": updates, "requirements": requirements}, then, 200

    def stale(self):
        key = self.pick("table")
        if key:
            updates, _ = append(self.serial + 10 ** 6, 99, None)
            requirement = {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 10 ** 9}
            return "POST", self.path(key, "table"), {"updates": updates, "requirements": [requirement]}, lambda: None, 409

    def change_view(self):
        key = self.pick("view")
        if key:
            update = {f"k{self.rng.randrange(4)}": str(self.serial)}
            return ("POST", self.path(key, "view"), {"updates": [{"action": "set-properties", "updates": update}]},
                    lambda: self.things[key]["properties"].update(update), 200)

    def transaction(self):
        keys = {self.pick("table"), self.pick("table"), self.pick("table")} - {None}
        changes, thens = [], []
        for key in sorted(keys):
            updates, requirements, then = self.change(key)
            changes.append({"identifier": {"namespace": [key[0]], "name": key[1]}, "updates": updates, "requirements": requirements})
            thens.append(then)
        if keys:
            return "POST", "/transactions/commit", {"table-changes": changes}, lambda: [then() for then in thens], 204

    def rename(self):
        kind = self.rng.choice(["table", "view"])
        key, other = self.pick(kind), self.free_name()
        if key:
            return ("POST", f"/{kind}s/rename", {"source": {"namespace": [key[0]], "name": key[1]},
                                                 "destination": {"namespace": [other[0]], "name": other[1]}},
                    lambda: self.things.update({other: self.things.pop(key)}), 204)

    def drop(self):
        kind = self.rng.choice(["table", "view"])
        key = self.pick(kind)
        if key and len(self.things) > 4:
            purge = self.rng.choice(["", "?purgeRequested=true"]) if kind == "table" else ""
            return "DELETE", self.path(key, kind) + purge, None, lambda: self.things.pop(key), 204

    def space(self):
        name, update = self.rng.choice(SPACES), {f"k{self.rng.randrange(3)}": str(self.serial)}
        return ("POST", f"/namespaces/{name}/properties", {"updates": update},
                lambda: self.space_properties[name].update(update), 200)

    def step(self):
        makers = [self.make_table, self.make_view, self.commit, self.commit, self.commit, self.commit, self.stale, self.change_view,
                  self.transaction, self.rename, self.drop, self.space]
        while True:
            step = self.rng.choice(makers)()
            if step:
                self.steps.append(step[:3])
                return step

    def ask(self, kill):
        method, path, body, then, status = self.step()
        key = f"{SEED}-{len(self.steps)}"
        killer = threading.Timer(self.rng.choice([0, 0.001, 0.002, 0.004, 0.008]), self.server.kill) if kill else None
        if killer:
            killer.start()
        try:
            got, answer = self.catalog.call(method, path, body, Idempotency_Key=key)
        except BROKEN:
            assert kill, "nobody killed it"
            got = None
        if killer:
            killer.join()
            self.server.start()
            self.catalog = Catalog(self.server.port)
        if got is None:  # whether it happened or not: under its key it happens now, once
            got, answer = self.catalog.call(method, path, body, Idempotency_Key=key)
        assert got == status, (method, path, body, got, answer)
        then()

    def check(self):
        catalog = self.catalog
        for space in SPACES:
            for kind in ("table", "view"):
                names = sorted(i["name"] for i in catalog.ok("GET", f"/namespaces/{space}/{kind}s")["identifiers"])
                assert names == sorted(k[1] for k, t in self.things.items() if k[0] == space and t["kind"] == kind), (space, kind)
            told = catalog.ok("GET", f"/namespaces/{space}")["properties"]
            assert told.pop("location").endswith("/lake/" + space), told # where a table without a place of its own would lie
            assert told == self.space_properties[space], (space, told)
        for key, thing in self.things.items():
            loaded = catalog.ok("GET", self.path(key, thing["kind"]))
            assert loaded["metadata"].get("properties", {}) == thing["properties"], (key, loaded["metadata"]["properties"], thing)
            if thing["kind"] == "table":
                assert [s["snapshot-id"] for s in loaded["metadata"]["snapshots"]] == thing["snapshots"], key
                with open(local(loaded["metadata-location"])) as f:
                    assert json.load(f) == loaded["metadata"], key
                assert known_files(loaded) <= metadata_files(loaded), key
            else:
                assert os.path.exists(local(loaded["metadata-location"])), key


def random_changes_and_kills_leave_what_was_acknowledged():
    print(f"     TARN_PROPERTY_SEED={SEED}")
    with folder() as top:
        run = Run(top)
        end, kills = time.monotonic() + SECONDS, 0
        try:
            while time.monotonic() < end or kills < 3:
                for _ in range(run.rng.randrange(1, 25)):
                    run.ask(False)
                run.check()
                run.ask(True)
                kills += 1
                run.check()
        except Exception:
            print(f"     seed {SEED}, after {len(run.steps)} steps, the last of them:")
            for step in run.steps[-6:]:
                print("      ", *step)
            raise
        print(f"     {len(run.steps)} steps, {kills} kills")
        assert run.server.stop() == 0


main(random_changes_and_kills_leave_what_was_acknowledged)
