#!/usr/bin/env python3
"""A restored backup takes back the commits to Iceberg tables that were made since, each as a version of its own."""
import json, os, shutil, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tarn import Server, TARN, folder, main

TABLE = "/iceberg/v1/namespaces/db/tables/t"


def call(client, method, path, body=None):
    status, answer = client.call(method, path, body)
    assert status == 200, (method, path, status, answer)
    return answer


def commit(client, n):
    return call(client, "POST", TABLE, {"requirements": [], "updates": [{"action": "set-properties", "updates": {f"n{n}": "x"}}]})


def restore(server, backup):
    database = os.path.join(server.data, "tarn.sqlite")
    for end in ("-wal", "-shm"):
        if os.path.exists(database + end):
            os.remove(database + end)
    shutil.copy(backup, database)


def back_up(server, backup):
    subprocess.run([TARN, "backup", backup, "--url", f"http://127.0.0.1:{server.port}", "--token", server.token], check=True,
                   stdout=subprocess.DEVNULL)
    return server.client()


def copy_stopped(server, backup):
    assert server.stop() == 0
    shutil.copy(server.data + "/tarn.sqlite", backup)
    return server.start().client()


def newer(client):
    """The files that follow the catalog's, as the findings name them."""
    client.call("PATCH", "/api/table/db.t", {"monitors": {"newer_metadata_file": {"grace": "0s"}}})
    findings = call(client, "POST", "/api/table/db.t/check?depth=sweep")["findings"]
    return {f["subject"].removeprefix("file://") for f in findings if f["code"] == "newer_metadata_file" and f["cure"] is None}


def take(client, file):
    call(client, "POST", "/iceberg/v1/namespaces/db/register", {"name": "t", "metadata-location": "file://" + file, "overwrite": True})


def fill(work, between=None, back_up=back_up):
    """A server with a table of two commits in the backup, and six made since. `between` (may be None) is called with the client
    before each commit."""
    server = Server(work + "/data").start()
    client = server.client()
    call(client, "POST", "/iceberg/v1/namespaces", {"namespace": ["db"]})
    call(client, "POST", TABLE.rsplit("/", 1)[0], {"name": "t", "schema": {"type": "struct", "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"}]}})
    step = lambda n: (between and between(client, n), commit(client, n))[1]
    for n in range(2):
        step(n)
    backup = work + "/backup.sqlite"
    client = back_up(server, backup)
    last = [step(n) for n in range(2, 8)][-1]
    history = client.get("/api/table/db.t/commits")["commits"]
    assert server.stop() == 0
    restore(server, backup)
    return server, last, history


def commits_since_the_backup_are_taken_back_one_by_one():
    with folder() as work:
        server, last, history = fill(work)
        client = server.start().client()
        now = call(client, "GET", TABLE)
        assert now["metadata-location"] == last["metadata-location"], now["metadata-location"]
        assert now["metadata"] == last["metadata"]
        table = client.get("/api/table/db.t")
        assert table["version"] == 8, table
        assert [c["version"] for c in client.get("/api/table/db.t/commits")["commits"]] == [c["version"] for c in history]
        assert commit(client, 9)["metadata"]["properties"].keys() >= {f"n{n}" for n in (0, 1, 2, 3, 4, 5, 6, 7, 9)}


def a_copied_file_is_made_a_backup_before_it_is_started():
    with folder() as work:
        server, last, history = fill(work, back_up=copy_stopped)
        made = work + "/made.sqlite"
        subprocess.run([TARN, "backup", made, "--data", server.data], check=True, stdout=subprocess.DEVNULL)
        restore(server, made)
        client = server.start().client()
        assert call(client, "GET", TABLE)["metadata"] == last["metadata"]
        assert [c["version"] for c in client.get("/api/table/db.t/commits")["commits"]] == [c["version"] for c in history]


def a_table_is_known_again_whose_document_got_another_uuid():
    def named(client, n, when):
        if n == when:
            call(client, "POST", TABLE, {"updates": [{"action": "assign-uuid", "uuid": "22222222-2222-4222-8222-222222222222"}]})

    for when in (1, 4): # before the backup, since
        with folder() as work:
            server, last, history = fill(work, lambda client, n: named(client, n, when))
            client = server.start().client()
            assert call(client, "GET", TABLE)["metadata"] == last["metadata"]
            assert [c["version"] for c in client.get("/api/table/db.t/commits")["commits"]] == [c["version"] for c in history]


def what_is_not_registered_any_more_comes_back_all_the_same():
    """A table that an older version let in with a part that readers do not open is the catalog's."""
    with folder() as work:
        server, last, _ = fill(work)
        newest = last["metadata-location"].removeprefix("file://")
        with open(newest) as f:
            document = json.load(f)
        document["schemas"].append({**document["schemas"][0], "fields": []})
        with open(newest, "w") as f:
            json.dump(document, f)
        client = server.start().client()
        assert call(client, "GET", TABLE)["metadata"] == document
        status, answer = client.call("POST", "/iceberg/v1/namespaces/db/register", {"name": "u", "metadata-location": newest})
        assert status == 400 and "two have the schema-id 0" in answer["error"]["message"], answer


def of_two_files_that_claim_to_be_the_newest_none_is_taken():
    with folder() as work:
        server, last, _ = fill(work)
        newest = last["metadata-location"].removeprefix("file://")
        other = os.path.join(os.path.dirname(newest), "00008-11111111-1111-4111-8111-111111111111.metadata.json")
        shutil.copy(newest, other)
        client = server.start().client()
        assert client.get("/api/table/db.t")["version"] == 2
        assert any("table_not_compared" in line for line in server.output), server.output
        assert newer(client) == {newest, other}
        take(client, newest)
        assert call(client, "GET", TABLE)["metadata"] == last["metadata"] and newer(client) == set()


def of_a_copied_file_the_commits_since_are_told():
    with folder() as work:
        server, last, _ = fill(work, back_up=copy_stopped)
        client = server.start().client()
        assert client.get("/api/table/db.t")["version"] == 2
        newest = last["metadata-location"].removeprefix("file://")
        assert newer(client) == {newest}
        take(client, newest)
        assert call(client, "GET", TABLE)["metadata"] == last["metadata"] and newer(client) == set()


main(commits_since_the_backup_are_taken_back_one_by_one, a_copied_file_is_made_a_backup_before_it_is_started,
     a_table_is_known_again_whose_document_got_another_uuid, what_is_not_registered_any_more_comes_back_all_the_same,
     of_two_files_that_claim_to_be_the_newest_none_is_taken, of_a_copied_file_the_commits_since_are_told)
