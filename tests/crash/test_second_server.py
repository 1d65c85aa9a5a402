#!/usr/bin/env python3
"""One server a data folder, one table a location."""
import os, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from tarn import Refused, Server, folder, main


def a_second_server_on_one_data_folder_is_refused():
    with folder() as data:
        first = Server(data).start()
        try:
            Server(data).start()
            assert False, "the second server started"
        except Refused as refused:
            assert refused.code not in (0, "no answer"), refused
            assert data in refused.text, f"the message does not name the folder: {refused.text}"
            assert "another" in refused.text or "in use" in refused.text, f"the message is not clear: {refused.text}"
        assert first.client().call("GET", "/readyz")[0] == 200, "the first server no longer serves"
        assert first.stop() == 0


def the_folder_is_free_again_after_a_kill():
    with folder() as data:
        server = Server(data).start()
        token = server.token
        server.kill()
        server.start()
        assert server.token == token, "the admin token changed"
        assert server.client().call("GET", "/api/tables")[0] == 200


def two_tables_at_one_location_or_inside_each_other_are_refused():
    with folder() as data:
        client = Server(data).start().client()
        register = lambda name, place: client.call("POST", "/api/tables", {"name": name, "location": place})
        assert register("outer", data + "/lake/a/b")[0] == 201
        for name, place in (("same", "/lake/a/b"), ("inside", "/lake/a/b/c"), ("around", "/lake/a")):
            status, answer = register(name, data + place)
            assert (status, answer["code"]) == (409, "location_taken"), f"{name}: {status} {answer}"
        assert register("beside", data + "/lake/a/bc")[0] == 201


main(a_second_server_on_one_data_folder_is_refused, the_folder_is_free_again_after_a_kill,
     two_tables_at_one_location_or_inside_each_other_are_refused)
