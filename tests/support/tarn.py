"""What the black-box tests share: a server of one's own, a small client, and the closing line.

Only the standard library. The program is $TARN (build/debug/tarn); servers bind port 0 and are ended with the test."""
import atexit, contextlib, http.client, json, os, re, signal, subprocess, sys, tempfile, threading, time, traceback

TARN = os.environ.get("TARN", "build/debug/tarn")
START_SECONDS = float(os.environ.get("TEST_START_SECONDS", "30"))
LISTENING = re.compile(r"listening on http://([0-9.]+):(\d+)")


class Refused(Exception):
    """The server ended before it listened; `text` is what it said."""

    def __init__(self, code, text):
        super().__init__(f"the server ended with {code}: {text}")
        self.code, self.text = code, text


servers = []


class Server:
    """`tarn serve` over a data folder; start() again after kill() brings it back on another port."""

    def __init__(self, data, *flags, user=None):
        """user: the number of the one that it runs as; only root may say so."""
        self.data, self.flags, self.process, self.output = data, flags, None, []
        self.as_user = {} if user is None else dict(user=user, group=user, extra_groups=[])
        servers.append(self)

    def start(self):
        command = [TARN, "serve", "--data", self.data, "--listen", "127.0.0.1:0", *self.flags]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace", **self.as_user)
        atexit.register(self.stop)
        told = threading.Event()
        self.output, self.port = [], None
        threading.Thread(target=self._drain, args=(self.process, self.output, told), daemon=True).start()
        if not told.wait(START_SECONDS):
            self.kill()
            raise Refused("no answer", "".join(self.output))
        if self.port is None:
            raise Refused(self.process.wait(), "".join(self.output))
        return self

    def _drain(self, process, output, told):
        for line in process.stdout:
            output.append(line)
            found = LISTENING.search(line)
            if found and not told.is_set():
                self.port = int(found.group(2))
                told.set()
        told.set()

    @property
    def token(self):
        with open(os.path.join(self.data, "admin.token")) as f:
            return f.read().strip()

    def client(self):
        return Client(self.port, self.token)

    def kill(self):
        """kill -9: nothing gets a chance to say goodbye."""
        self.process.kill()
        self.process.wait()

    def stop(self, seconds=30):
        """SIGTERM and the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.process.returncode


class Client:
    """One keep-alive connection. call() gives (status, body), the body parsed when it is JSON."""

    def __init__(self, port, token, timeout=60):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self.token, self.headers = token, {}

    def call(self, method, path, body=None, headers={}):
        data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        sent = {"Authorization": "Bearer " + self.token, **headers}
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        self.connection.request(method, path, data, sent)
        answer = self.connection.getresponse()
        text = answer.read()
        self.headers = answer.headers
        kind = answer.headers.get("Content-Type", "")
        return answer.status, json.loads(text) if "json" in kind and "ndjson" not in kind and text else text.decode()

    def get(self, path, **kwargs):
        status, body = self.call("GET", path, **kwargs)
        assert status == 200, f"GET {path}: {status} {body}"
        return body

    def close(self):
        self.connection.close()


@contextlib.contextmanager
def folder(under=None):
    with tempfile.TemporaryDirectory(prefix="tarn-test.", dir=under, ignore_cleanup_errors=True) as path:
        yield os.path.realpath(path)


def await_true(what, ask, seconds=60):
    """Asks again and again until the answer is true."""
    end = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer:
            return answer
        assert time.monotonic() < end, f"after {seconds} s still not: {what}"
        time.sleep(0.02)


def replay(table):
    """The file set that the log under a table's folder gives, in version order, and the newest id."""
    entries = []
    log = os.path.join(table, "_transactions")
    for name in os.listdir(log):
        if name.endswith(".json") and not name.endswith(".checkpoint.json"):
            with open(os.path.join(log, name)) as f:
                entries.append(json.load(f))
    files = {}
    for entry in sorted(entries, key=lambda e: e["version"]):
        for op in entry["operations"]:
            if op["type"] == "remove_file":
                del files[op["path"]]
        for op in entry["operations"]:
            if op["type"] == "add_file":
                files[op["path"]] = op["size"]
    return files, sorted(e["version"] for e in entries)


class Skip(Exception):
    pass


def main(*tests):
    """Runs the functions one by one; their names are the sentences."""
    passed = failed = skipped = 0
    for test in tests:
        name = test.__name__.replace("_", " ")
        began = time.monotonic()
        try:
            test()
            passed += 1
            print(f"ok   {name} ({time.monotonic() - began:.1f} s)")
        except Skip as why:
            skipped += 1
            print(f"skipped {name}: {why}")
        except Exception:
            failed += 1
            print(f"FAIL {name}")
            traceback.print_exc(file=sys.stdout)
            for server in servers:
                print(f"--- a server said (exit code {server.process and server.process.poll()}):",
                      *(line.rstrip() for line in server.output[-80:]), sep="\n  ")
        servers.clear()
        sys.stdout.flush()
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed else 0)
