#!/usr/bin/env python3
"""The server as its clients and its operator meet it: doors, the end of service, the copy of the database."""
import http.client, os, re, signal, socket, sqlite3, subprocess, sys, threading, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tarn import TARN, Client, Server, await_true, folder, main


def without_tokens_only_loopback_is_served_and_strange_pages_are_refused():
    with folder() as top:
        server = Server(top + "/data", "--auth-mode", "none").start()
        for headers, status in [({}, 200), ({"Host": "localhost:1"}, 200), ({"Host": "evil.example"}, 403),
                                ({"Origin": "http://evil.example"}, 403),
                                ({"Origin": f"http://127.0.0.1:{server.port}"}, 200)]:
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            connection.request("GET", "/api/tables", headers=headers)
            assert connection.getresponse().status == status, headers
        client = Client(server.port, "")
        assert client.call("POST", "/api/tables", b'{"name":"t"}', {"Content-Type": "text/plain"})[0] == 415
        assert client.call("POST", "/api/tables", {"name": "t"})[0] == 201
        assert server.stop() == 0
        try:
            subprocess.run([TARN, "serve", "--data", top + "/data", "--auth-mode", "none", "--listen", "0.0.0.0:0"],
                           capture_output=True, timeout=20, check=True)
            raise AssertionError("it listens to the whole world")
        except subprocess.CalledProcessError as refused:
            assert refused.returncode == 64 and b"loopback" in refused.stderr, refused.stderr


def a_root_that_is_not_there_is_told_at_the_start_which_goes_on():
    with folder() as top:
        os.mkdir(top + "/lake")
        with open(top + "/file", "w"):
            pass
        server = Server(top + "/data", "--root", top + "/lake", "--root", top + "/gone/lake", "--root", top + "/file").start()
        warned = [line for line in server.output if "storage_root_unreachable" in line]
        for line, (root, why) in zip(warned, [("/gone/lake", "No such file or directory"), ("/file", "Not a directory")], strict=True):
            assert top + root in line and why in line and "level=warn" in line, line
        client = server.client()
        assert client.call("POST", "/api/tables", {"name": "t", "location": top + "/lake/t"})[0] == 201
        status, answer = client.call("POST", "/api/tables", {"name": "u", "location": top + "/elsewhere/u"})
        assert status == 403 and "(--root)" in answer["detail"], answer
        assert server.stop() == 0


def the_contract_is_served_as_it_lies_in_the_repository():
    with folder() as top:
        server = Server(top + "/data").start()
        served = urllib.request.urlopen(f"http://127.0.0.1:{server.port}/openapi.yaml").read()
        with open(os.path.join(HERE, "..", "..", "openapi.yaml"), "rb") as f:
            assert served == f.read()
        assert server.stop() == 0


def the_contract_names_every_member_of_a_manifest():
    with open(os.path.join(HERE, "..", "..", "openapi.yaml")) as f:
        schema = f.read().split("\n    Manifest:\n", 1)[1].split("      additionalProperties", 1)[0]
    named = set(re.findall(r"^        (\w+): ", schema, re.M))
    with folder() as top:
        server = Server(top + "/data", "--root", top + "/lake").start()
        client = server.client()
        for name, more in (("bare", {}), ("full", {"partition_keys": ["d"], "schema": {"type": "struct", "fields": [
                {"name": "id", "type": "int64", "nullable": False}, {"name": "d", "type": "string", "nullable": False}]}})):
            assert client.call("POST", "/api/tables", {"name": name, "location": f"{top}/lake/{name}", **more})[0] == 201
            add = {"type": "add_file", "path": "d=1/a.parquet", "size": 1}
            assert client.call("POST", f"/api/table/{name}/commits", {"operations": [add]})[0] == 201
            members = set(client.get(f"/api/table/{name}/manifest"))
            assert members <= named, (name, members - named)
            assert named - members == (set() if name == "full" else {"schema_version", "partition_keys"}) | {"first_version"}, (name, members)
        assert server.stop() == 0


def a_term_signal_lets_running_commits_end_and_loses_none():
    with folder() as top:
        server = Server(top + "/data", "--root", top + "/lake").start()
        assert server.client().call("POST", "/api/tables", {"name": "t", "location": top + "/lake/t"})[0] == 201
        done, odd = [], []

        def commit_on(worker):
            client = server.client()
            for n in range(10000):
                path = f"w{worker}-{n}.parquet"
                try:
                    status, body = client.call("POST", "/api/table/t/commits",
                                               {"operations": [{"type": "add_file", "path": path, "size": 1}]})
                except (http.client.HTTPException, OSError):
                    return
                if status == 201:
                    done.append(path)
                elif status not in (503,):
                    odd.append((status, body))

        threads = [threading.Thread(target=commit_on, args=(w,)) for w in range(8)]
        for thread in threads:
            thread.start()
        await_true("50 commits", lambda: len(done) >= 50)
        assert server.stop() == 0
        for thread in threads:
            thread.join()
        assert not odd, odd[:3]
        server.start()
        files = {f["path"] for f in server.client().get("/api/table/t/files")["files"]}
        assert set(done) <= files, set(done) - files
        assert len(files) <= len(done) + 8, "more than the one commit a client may not have heard of"
        assert server.stop() == 0


def a_second_signal_ends_it_at_once():
    with folder() as top:
        server = Server(top + "/data").start()
        held = socket.create_connection(("127.0.0.1", server.port))
        held.sendall(b"POST /api/tables HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + server.token.encode() +
                     b"\r\nContent-Length: 10\r\n\r\n{")  # a request that never ends
        held.settimeout(0.3)
        try:
            held.recv(1)
        except TimeoutError:
            pass
        server.process.send_signal(signal.SIGTERM)
        await_true("the listening socket is closed", lambda: refused(server.port))
        assert server.process.poll() is None, "the request is waited for"
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(10) == -signal.SIGTERM


def refused(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return False
    except OSError:
        return True


def a_hangup_drains_as_well_and_nothing_happens_under_nohup():
    with folder() as top:
        server = Server(top + "/data").start()
        server.process.send_signal(signal.SIGHUP)
        assert server.process.wait(30) == 0
        was = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            server = Server(top + "/data").start()
        finally:
            signal.signal(signal.SIGHUP, was)
        server.process.send_signal(signal.SIGHUP)
        assert server.client().call("GET", "/healthz")[0] == 200
        assert server.stop() == 0


def help_knows_each_command_and_says_so_of_a_word_that_is_none():
    def ask(*words):
        return subprocess.run([TARN, *words], capture_output=True, text=True, timeout=20)

    listed = re.findall(r"^  ([a-z]+)", ask("help").stdout, re.M)
    assert {"serve", "register", "token"} < set(listed), listed
    for word in set(listed):
        done = ask("help", word)
        assert done.returncode == 0 and done.stdout.startswith(f"tarn {word}"), (word, done)
    done = ask("help", "nonsense")
    assert done.returncode == 64 and "no command 'nonsense'" in done.stderr and not done.stdout, done


def a_backup_is_a_database_that_a_server_starts_from():
    with folder() as top:
        server = Server(top + "/data", "--root", top + "/lake").start()
        for n in range(50):
            assert server.client().call("POST", "/api/tables", {"name": f"t{n}", "location": f"{top}/lake/t{n}"})[0] == 201
        request = urllib.request.Request(f"http://127.0.0.1:{server.port}/api/backup", method="POST",
                                         headers={"Authorization": "Bearer " + server.token})
        copy = urllib.request.urlopen(request).read()
        assert [n for n in os.listdir(top + "/data") if n.startswith("backup")] == []
        os.mkdir(top + "/other")
        with open(top + "/other/tarn.sqlite", "wb") as f:
            f.write(copy)
        assert sqlite3.connect(top + "/other/tarn.sqlite").execute("SELECT count(*) FROM tables").fetchone() == (50,)
        token = server.token
        assert server.stop() == 0
        other = Server(top + "/other", "--root", top + "/lake").start()
        assert len(Client(other.port, token).get("/api/tables")["tables"]) == 50
        assert other.stop() == 0


def a_narrowed_token_sees_its_own_tables():
    with folder() as top:
        server = Server(top + "/data", "--root", top + "/lake").start()
        admin = server.client()
        for name in ("sales.orders", "hr.pay"):
            assert admin.call("POST", "/api/tables", {"name": name, "location": f"{top}/lake/{name}"})[0] == 201
        made = admin.call("POST", "/api/tokens", {"name": "s", "scope": "catalog:read", "tables": "sales.*"})[1]
        client = Client(server.port, made["token"])
        assert [t["name"] for t in client.get("/api/tables")["tables"]] == ["sales.orders"]
        for path in ("", "/status", "/commits", "/files", "/manifest", "/schemas", "/findings"):
            assert client.call("GET", "/api/table/sales.orders" + path)[0] == 200, path
            status, body = client.call("GET", "/api/table/hr.pay" + path)
            assert (status, body["code"]) == (404, "table_not_found"), (path, body)
        assert [row["table"] for row in client.get("/api/status")] == ["sales.orders"]
        assert client.call("POST", "/api/table/sales.orders/commits", {"operations": []})[0] == 403
        assert admin.call("DELETE", "/api/tokens/s")[0] == 204
        assert client.call("GET", "/api/tables")[0] == 401
        assert server.stop() == 0


main(without_tokens_only_loopback_is_served_and_strange_pages_are_refused,
     a_root_that_is_not_there_is_told_at_the_start_which_goes_on, the_contract_is_served_as_it_lies_in_the_repository,
     the_contract_names_every_member_of_a_manifest, a_term_signal_lets_running_commits_end_and_loses_none,
     a_second_signal_ends_it_at_once, a_hangup_drains_as_well_and_nothing_happens_under_nohup,
     help_knows_each_command_and_says_so_of_a_word_that_is_none, a_backup_is_a_database_that_a_server_starts_from,
     a_narrowed_token_sees_its_own_tables)
