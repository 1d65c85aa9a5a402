"""What the tests of the Iceberg face share: raw requests with prepared paths, and small documents as clients send them."""
import contextlib, http.client, json, os

from tarn import Server, folder

I = "/iceberg/v1"
SCHEMA = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "id", "required": True, "type": "long"},
                                                       {"id": 2, "name": "note", "required": False, "type": "string"}]}


class Catalog:
    """One keep-alive connection; paths are sent as they are. call() gives (status, body or None)."""

    def __init__(self, port, token=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.token, self.headers, self.raw = token, {}, b""

    def call(self, method, path, body=None, **headers):
        return self.ask(method, path if path.startswith("/iceberg") or path.startswith("/api") else I + path, body, **headers)

    def ask(self, method, path, body=None, **headers):
        """Of any path of the server."""
        sent = {"Authorization": "Bearer " + self.token} if self.token else {}
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        if data is not None:
            sent["Content-Type"] = "application/json"
        sent.update({k.replace("_", "-"): v for k, v in headers.items()})
        self.connection.request(method, path, data, sent)
        answer = self.connection.getresponse()
        self.raw, self.headers = answer.read(), answer.headers
        return answer.status, json.loads(self.raw) if self.raw else None

    def ok(self, method, path, body=None, **headers):
        status, answer = self.call(method, path, body, **headers)
        assert status in (200, 204), (method, path, status, answer)
        return answer

    def refused(self, status, kind, method, path, body=None, **headers):
        """The refusal's form, status and type; gives the message."""
        got, answer = self.call(method, path, body, **headers)
        assert got == status, (method, path, got, answer)
        if method != "HEAD":
            assert set(answer) == {"error"} and {"message", "type", "code"} <= set(answer["error"]), answer
            assert (answer["error"]["type"], answer["error"]["code"]) == (kind, status), (method, path, answer)
            assert self.headers["Content-Type"].startswith("application/json")
            message = answer["error"]["message"]
            assert not message.startswith(("is ", "has ", "must ", "holds ", "cannot ", "names ")), ("no subject", method, path, message)
            return message
        assert self.raw == b""
        return None

    def namespace(self, *levels, **properties):
        return self.ok("POST", "/namespaces", {"namespace": list(levels), "properties": properties})

    def table(self, namespace, name, **more):
        return self.ok("POST", f"/namespaces/{namespace}/tables", {"name": name, "schema": SCHEMA, **more})

    def view(self, namespace, name, sql="select 1"):
        return self.ok("POST", f"/namespaces/{namespace}/views", view_body(name, sql))

    def load(self, namespace, name, query=""):
        return self.ok("GET", f"/namespaces/{namespace}/tables/{name}{query}")

    def commit(self, namespace, name, updates, requirements=(), **headers):
        return self.call("POST", f"/namespaces/{namespace}/tables/{name}",
                         {"requirements": list(requirements), "updates": list(updates)}, **headers)


def view_body(name, sql="select 1"):
    return {"name": name, "schema": {"type": "struct", "schema-id": 0, "fields": [
                {"id": 1, "name": "one", "required": False, "type": "int"}]},
            "view-version": {"version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {"operation": "create"},
                             "default-namespace": ["s"],
                             "representations": [{"type": "sql", "sql": sql, "dialect": "spark"}]}, "properties": {}}


def snapshot(id, sequence, parent=None, location="file:///nowhere", operation="append", **summary):
    answer = {"snapshot-id": id, "sequence-number": sequence, "timestamp-ms": 1700000000000 + sequence,
              "manifest-list": f"{location}/metadata/snap-{id}.avro", "summary": {"operation": operation, **summary},
              "schema-id": 0}
    if parent is not None:
        answer["parent-snapshot-id"] = parent
    return answer


def append(id, sequence, parent=None, branch="main", now=None, **more):
    """The updates and requirements of an append as clients send it."""
    taken = snapshot(id, sequence, parent, **more)
    if now is not None:
        taken["timestamp-ms"] = now
    return ([{"action": "add-snapshot", "snapshot": taken},
             {"action": "set-snapshot-ref", "ref-name": branch, "type": "branch", "snapshot-id": id}],
            [{"type": "assert-ref-snapshot-id", "ref": branch, "snapshot-id": parent}])


def start(top, *flags, tokens=False):
    """A server without tokens over <top>/lake, and a catalog on it."""
    os.makedirs(top + "/lake", exist_ok=True)
    auth = [] if tokens else ["--auth-mode", "none"]
    server = Server(top + "/data", "--root", top + "/lake", *auth, *flags).start()
    return server, Catalog(server.port, server.token if tokens else None)


@contextlib.contextmanager
def with_table():
    """A catalog on a server of its own with the namespace n and an empty table t in it; `top` is the folder around it all."""
    with folder() as top:
        server, catalog = start(top)
        catalog.namespace("n")
        catalog.table("n", "t")
        catalog.top = top
        yield catalog
        assert server.stop() == 0


def local(uri):
    return uri[len("file://"):] if uri.startswith("file://") else uri


def metadata_files(table):
    folder = local(table["metadata"]["location"]) + "/metadata"
    return {folder + "/" + name for name in os.listdir(folder) if name.endswith(".metadata.json")}


def known_files(table):
    return {local(table["metadata-location"])} | {local(e["metadata-file"]) for e in table["metadata"]["metadata-log"]}
