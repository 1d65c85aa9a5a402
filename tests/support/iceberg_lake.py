"""A server over a lake for tests of both faces at once: Iceberg tables in nested namespaces, with commits as engines make them."""
import os, time, urllib.parse

from answers import quoted
from iceberg import Catalog, append, local, start


def lay(path):
    """A file that only has to be there."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write("x")


class Lake:
    """A server, its lake and both faces. Namespaces are tuples of levels."""

    def __init__(self, home):
        self.home, self.lake = home, home + "/lake"
        self.server, self.face = start(home, tokens=True)
        self.client = self.server.client()
        self.serial = 0

    def create(self, namespace, name, **more):
        return self.face.table(quoted_levels(namespace), name, **more)

    def load(self, namespace, name):
        return self.face.ok("GET", path_of(namespace, name))

    def send(self, namespace, name, updates, requirements=()):
        return self.face.ok("POST", path_of(namespace, name), {"requirements": list(requirements), "updates": list(updates)})

    def append(self, namespace, name):
        """A snapshot as an engine makes it: its manifest list lies there."""
        metadata = self.load(namespace, name)["metadata"]
        self.serial += 1
        parent = metadata.get("current-snapshot-id", -1)
        sequence = metadata["last-sequence-number"] + 1 if metadata["format-version"] > 1 else 0  # version 1 has none
        updates, requirements = append(1000 + self.serial, sequence, parent if parent > 0 else None,
                                       now=int(time.time() * 1000), location=metadata["location"],
                                       **{"added-data-files": "1", "added-files-size": "10", "total-data-files": str(self.serial),
                                          "total-files-size": str(10 * self.serial), "total-records": "7"})
        lay(local(updates[0]["snapshot"]["manifest-list"]))
        return self.send(namespace, name, updates, requirements)

    def set(self, namespace, name, **properties):
        return self.send(namespace, name, [{"action": "set-properties", "updates": properties}])

    def restart(self):
        self.server.start()
        self.face, self.client = Catalog(self.server.port, self.server.token), self.server.client()


def quoted_levels(namespace):
    return "%1F".join(urllib.parse.quote(level, safe="") for level in namespace)


def path_of(namespace, name):
    return f"/namespaces/{quoted_levels(namespace)}/tables/{quoted(name)}"


def dotted(namespace, name):
    return ".".join('"' + part.replace('"', '""') + '"' if "." in part or '"' in part else part for part in (*namespace, name))


def begin(lake, namespace, name, staged):
    """CREATE TABLE AS: one commit makes the table and its first snapshot."""
    updates, _ = append(5, 1, None, now=int(time.time() * 1000), location=staged["location"])
    lay(local(updates[0]["snapshot"]["manifest-list"]))
    schema = staged["schemas"][0]
    lake.face.ok("POST", path_of(namespace, name), {
        "requirements": [{"type": "assert-create"}],
        "updates": [{"action": "assign-uuid", "uuid": staged["table-uuid"]}, {"action": "upgrade-format-version", "format-version": 2},
                    {"action": "add-schema", "schema": schema}, {"action": "set-current-schema", "schema-id": -1},
                    {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}}, {"action": "set-default-spec", "spec-id": -1},
                    {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
                    {"action": "set-default-sort-order", "sort-order-id": -1},
                    {"action": "set-location", "location": staged["location"]}, *updates]})
