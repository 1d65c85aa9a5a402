#!/usr/bin/env python3
"""Changes through the Iceberg face, one case a public report of a catalog that got it wrong: what is committed, what stays, what
goes. The right answers are those of the reference."""
import json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from iceberg import SCHEMA, append, known_files, local, metadata_files, snapshot, view_body, with_table
from tarn import await_true, main

T = "/namespaces/n/tables/t"
TESTS = []


def case(function):
    """Runs on a server of its own with the namespace n and an empty table t in it."""
    def run():
        with with_table() as catalog:
            function(catalog)
    run.__name__ = function.__name__
    TESTS.append(run)
    return run


def column(id, name, type="long", required=False, **more):
    return {"id": id, "name": name, "required": required, "type": type, **more}


def schema(*fields, **more):
    return {"type": "struct", "fields": list(fields), **more}


def commit(catalog, updates, requirements=(), status=200, kind=None, name="t"):
    got, answer = catalog.commit("n", name, updates, requirements)
    assert got == status, (got, answer)
    if status != 200:
        assert kind is None or answer["error"]["type"] == kind, answer
        return answer["error"]["message"]
    return answer["metadata"]


def appended(catalog, *ids, name="t"):
    """Snapshots one after the other on main."""
    for sequence, id in enumerate(ids, 1):
        commit(catalog, *append(id, sequence, ids[sequence - 2] if sequence > 1 else None), name=name)


# --- snapshots and sequence numbers ---

@case
def two_branches_on_one_base_the_second_has_an_old_sequence_number(catalog):
    appended(catalog, 1)
    commit(catalog, [{"action": "set-snapshot-ref", "ref-name": "b1", "type": "branch", "snapshot-id": 1}])
    commit(catalog, *append(2, 2, 1, branch="b1"))
    said = commit(catalog, *append(3, 2, 1), status=409, kind="CommitFailedException")
    assert "Cannot add snapshot with sequence number 2 older than last sequence number 2" in said, said
    commit(catalog, *append(3, 3, 1))


@case
def a_snapshot_without_parent_does_not_take_the_last_sequence_number_back(catalog):
    appended(catalog, 1, 2, 3)
    status, answer = catalog.commit("n", "t", [{"action": "add-snapshot", "snapshot": snapshot(9, 1)}])
    assert status in (200, 400) and catalog.load("n", "t")["metadata"]["last-sequence-number"] == 3, answer


@case
def several_snapshots_expire_in_one_update(catalog):
    appended(catalog, 1, 2, 3, 4)
    commit(catalog, [{"action": "set-snapshot-ref", "ref-name": "x", "type": "tag", "snapshot-id": 2},
                     {"action": "set-statistics", "statistics": {
                         "snapshot-id": 2, "statistics-path": "file:///p", "file-size-in-bytes": 1,
                         "file-footer-size-in-bytes": 1, "blob-metadata": []}},
                     {"action": "set-partition-statistics", "partition-statistics": {
                         "snapshot-id": 3, "statistics-path": "file:///p", "file-size-in-bytes": 1}}])
    after = commit(catalog, [{"action": "remove-snapshots", "snapshot-ids": [1, 2, 3, 77]}])
    assert [s["snapshot-id"] for s in after["snapshots"]] == [4]
    assert set(after["refs"]) == {"main"} and not after["statistics"] and not after["partition-statistics"]
    assert [e["snapshot-id"] for e in after["snapshot-log"]] == [4]


@case
def a_tag_set_meanwhile_does_not_dangle_after_an_expiry(catalog):
    appended(catalog, 1, 2)
    commit(catalog, [{"action": "set-snapshot-ref", "ref-name": "x", "type": "tag", "snapshot-id": 1}])
    status, _ = catalog.commit("n", "t", [{"action": "remove-snapshots", "snapshot-ids": [1]}])
    after = catalog.load("n", "t")["metadata"]
    held = {s["snapshot-id"] for s in after["snapshots"]}
    assert status in (200, 409) and all(r["snapshot-id"] in held for r in after["refs"].values())


@case
def the_removal_of_main_keeps_the_log_and_the_snapshots(catalog):
    appended(catalog, 1, 2)
    after = commit(catalog, [{"action": "remove-snapshot-ref", "ref-name": "main"},
                             {"action": "add-snapshot", "snapshot": snapshot(3, 3)},
                             {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 3}])
    assert [s["snapshot-id"] for s in after["snapshots"]] == [1, 2, 3] and after["current-snapshot-id"] == 3
    assert [e["snapshot-id"] for e in after["snapshot-log"]] == [1, 2, 3]
    after = commit(catalog, [{"action": "remove-snapshot-ref", "ref-name": "main"}])
    assert after["current-snapshot-id"] == -1 and [e["snapshot-id"] for e in after["snapshot-log"]] == [1, 2, 3]


@case
def two_snapshots_in_one_commit_leave_the_last_one_in_the_log(catalog):
    appended(catalog, 1)
    first, _ = append(2, 2, 1, operation="delete")
    second, _ = append(3, 3, 2)
    after = commit(catalog, first + second)
    assert [s["snapshot-id"] for s in after["snapshots"]] == [1, 2, 3] and after["current-snapshot-id"] == 3
    assert [e["snapshot-id"] for e in after["snapshot-log"]] == [1, 3]


@case
def all_snapshots_are_loaded_in_their_order(catalog):
    ids = [(n * 2654435761) % 2 ** 63 for n in range(1, 20)]
    appended(catalog, *ids)
    table = catalog.load("n", "t")["metadata"]
    assert [s["snapshot-id"] for s in table["snapshots"]] == ids == [e["snapshot-id"] for e in table["snapshot-log"]]


@case
def ids_of_sixty_three_bits_are_kept_exactly(catalog):
    appended(catalog, 9223372036854775807, 9223372036854775806)
    assert catalog.load("n", "t")["metadata"]["current-snapshot-id"] == 9223372036854775806


@case
def no_snapshot_is_written_as_minus_one_or_null_and_both_are_read(catalog):
    assert catalog.load("n", "t")["metadata"]["current-snapshot-id"] == -1
    made = catalog.table("n", "v3", properties={"format-version": "3"})
    assert made["metadata"]["format-version"] == 3 and made["metadata"]["current-snapshot-id"] is None
    for number, value in enumerate((-1, None, "absent")):
        document = dict(catalog.load("n", "t")["metadata"])
        if value == "absent":
            del document["current-snapshot-id"]
        else:
            document["current-snapshot-id"] = value
        document["location"] = f"{catalog.top}/lake/r{number}"
        document["table-uuid"] = f"00000000-0000-4000-8000-00000000000{number}"
        os.makedirs(document["location"] + "/metadata")
        file = document["location"] + "/metadata/v1.metadata.json"
        with open(file, "w") as f:
            json.dump(document, f)
        taken = catalog.ok("POST", "/namespaces/n/register", {"name": f"r{number}", "metadata-location": file})
        assert taken["metadata"]["current-snapshot-id"] in (-1, None)
        got = commit(catalog, *append(1, 1), name=f"r{number}")
        assert got["current-snapshot-id"] == 1
        assert os.path.basename(catalog.load("n", f"r{number}")["metadata-location"]).startswith("00000-"), "no number in v1"


# --- requirements ---

@case
def a_failed_requirement_is_a_conflict_and_leaves_no_file(catalog):
    before = catalog.load("n", "t")
    for requirement in ({"type": "assert-table-uuid", "uuid": "00000000-0000-0000-0000-000000000000"},
                        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 5},
                        {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 9},
                        {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 9},
                        {"type": "assert-current-schema-id", "current-schema-id": 9},
                        {"type": "assert-default-spec-id", "default-spec-id": 9},
                        {"type": "assert-default-sort-order-id", "default-sort-order-id": 9}):
        said = commit(catalog, [{"action": "set-properties", "updates": {"a": "b"}}], [requirement], 409, "CommitFailedException")
        assert said.startswith("Requirement failed: "), said
    after = catalog.load("n", "t")
    assert after == before and metadata_files(after) == known_files(after)


@case
def requirements_may_be_left_out_and_the_identifier_is_not_looked_at(catalog):
    answer = catalog.ok("POST", T, {"updates": [{"action": "set-properties", "updates": {"a": "b"}}],
                                    "identifier": {"namespace": ["n.x"], "name": "other"}})
    assert answer["metadata"]["properties"]["a"] == "b"


@case
def a_commit_that_changes_nothing_writes_nothing(catalog):
    before = catalog.load("n", "t")
    for updates in ([], [{"action": "set-properties", "updates": {}}], [{"action": "remove-properties", "removals": []}],
                    [{"action": "set-location", "location": before["metadata"]["location"] + "/"}],
                    [{"action": "assign-uuid", "uuid": before["metadata"]["table-uuid"]}],
                    [{"action": "remove-snapshots", "snapshot-ids": []}], [{"action": "set-current-schema", "schema-id": 0}]):
        status, answer = catalog.commit("n", "t", updates)
        assert (status, answer["metadata-location"]) == (200, before["metadata-location"]), updates
    assert catalog.load("n", "t") == before


# --- schemas, specs, properties ---

@case
def an_old_schema_is_found_again_and_last_added_means_added_here(catalog):
    two = schema(column(1, "id", required=True), column(2, "note", "string"), column(3, "x"))
    commit(catalog, [{"action": "add-schema", "schema": two}, {"action": "set-current-schema", "schema-id": -1}])
    old = {"action": "add-schema", "schema": schema(*SCHEMA["fields"])}
    said = commit(catalog, [old, {"action": "set-current-schema", "schema-id": -1}], status=400)
    assert said == "Cannot set last added schema: no schema has been added", said
    after = commit(catalog, [old, {"action": "set-current-schema", "schema-id": 0}])
    assert after["current-schema-id"] == 0 and len(after["schemas"]) == 2


@case
def ids_of_a_staged_create_are_those_of_its_commit(catalog):
    body = {"name": "ctas", "schema": schema(column(7, "a"), column(9, "b", "string")), "stage-create": True,
            "partition-spec": {"spec-id": 5, "fields": [{"source-id": 9, "field-id": 1000, "name": "b", "transform": "identity"}]}}
    staged = catalog.ok("POST", "/namespaces/n/tables", body)
    assert staged.get("metadata-location") is None
    before = staged["metadata"]
    assert catalog.call("GET", "/namespaces/n/tables/ctas")[0] == 404
    folder = local(before["location"])
    assert os.listdir(folder) == ["metadata"] and os.listdir(folder + "/metadata") == [], "nothing is stored, but the manifests have a folder"
    # Staged once more, by whoever was first to leave it so: the empty folder takes no place.
    assert catalog.ok("POST", "/namespaces/n/tables", body)["metadata"]["location"] == before["location"]
    updates = [{"action": "assign-uuid", "uuid": before["table-uuid"]},
               {"action": "upgrade-format-version", "format-version": before["format-version"]},
               {"action": "add-schema", "schema": before["schemas"][0]}, {"action": "set-current-schema", "schema-id": -1},
               {"action": "add-spec", "spec": before["partition-specs"][0]}, {"action": "set-default-spec", "spec-id": -1},
               {"action": "add-sort-order", "sort-order": before["sort-orders"][0]},
               {"action": "set-default-sort-order", "sort-order-id": -1},
               {"action": "set-location", "location": before["location"]},
               {"action": "set-properties", "updates": before["properties"]}] + append(1, 1)[0]
    after = commit(catalog, updates, [{"type": "assert-create"}], name="ctas")
    for member in ("table-uuid", "schemas", "partition-specs", "sort-orders", "location", "default-spec-id", "current-schema-id"):
        assert after[member] == before[member], member
    said = commit(catalog, updates, [{"type": "assert-create"}], 409, "CommitFailedException", name="ctas")
    assert said.startswith("Requirement failed: table already exists"), said


@case
def a_staged_create_makes_no_folder_that_it_may_not(catalog):
    aside = catalog.top + "/lake/n/t/aside"
    for path, answer in ((catalog.top + "/outside", 403), (aside, 409), (catalog.top + "/lake/meta", 200)):
        body = {"name": "s", "schema": SCHEMA, "stage-create": True, "properties": {"write.metadata.path": "file://" + path}}
        status, said = catalog.call("POST", "/namespaces/n/tables", body)
        assert status == answer and os.path.exists(path) == (answer == 200), (path, status, said)
        assert (answer != 200) or os.listdir(path) == []


@case
def the_last_column_id_counts_what_is_nested_and_never_shrinks(catalog):
    nested = {"type": "struct", "fields": [column(3, "a"), column(4, "b", {
        "type": "list", "element-id": 5, "element-required": False, "element": {"type": "struct", "fields": [column(6, "c")]}})]}
    made = catalog.table("n", "deep", schema=schema(column(1, "id"), column(2, "s", nested),
                                                    column(7, "m", {"type": "map", "key-id": 8, "key": "string", "value-id": 9,
                                                                    "value-required": False, "value": "long"})))["metadata"]
    assert made["last-column-id"] == 9
    # Fresh ids: the columns of a struct first, then what is inside them.
    assert [f["id"] for f in made["schemas"][0]["fields"]] == [1, 2, 3]
    after = commit(catalog, [{"action": "add-schema", "last-column-id": 3, "schema": schema(column(1, "id"))},
                             {"action": "set-current-schema", "schema-id": -1}], name="deep")
    assert after["last-column-id"] == 9
    after = commit(catalog, [{"action": "add-schema", "schema": schema(column(1, "id"), column(10, "z", {
        "type": "list", "element-id": 12, "element-required": False, "element": "long"}))}], name="deep")
    assert after["last-column-id"] == 12


@case
def the_last_property_can_be_removed_and_two_updates_of_properties_both_count(catalog):
    commit(catalog, [{"action": "remove-properties", "removals": list(catalog.load("n", "t")["metadata"]["properties"])}])
    assert catalog.load("n", "t")["metadata"]["properties"] == {}
    after = commit(catalog, [{"action": "set-properties", "updates": {"a": "1", "b": "1"}},
                             {"action": "set-properties", "updates": {"b": "2", "c": "2"}},
                             {"action": "remove-properties", "removals": ["a"]}])
    assert after["properties"] == {"b": "2", "c": "2"} == catalog.load("n", "t")["metadata"]["properties"]


@case
def field_ids_of_the_reserved_range_are_refused(catalog):
    for id in (2147483448, 2147483546, 2147483647):
        commit(catalog, [{"action": "add-schema", "schema": schema(column(id, "x"))}], status=400)
    assert catalog.load("n", "t")["metadata"]["last-column-id"] == 2


@case
def ids_of_a_create_are_assigned_anew(catalog):
    made = catalog.table("n", "fresh", schema=schema(column(50, "a"), column(40, "b"), **{"identifier-field-ids": []}),
                         **{"write-order": {"order-id": 8, "fields": [
                             {"source-id": 40, "transform": "identity", "direction": "desc", "null-order": "nulls-last"}]},
                            "partition-spec": {"type": "struct", "fields": [
                                {"source-id": 50, "name": "p", "transform": "bucket[4]"}]}})["metadata"]
    assert [f["id"] for f in made["schemas"][0]["fields"]] == [1, 2] and made["schemas"][0]["schema-id"] == 0
    assert made["partition-specs"] == [{"spec-id": 0, "fields": [
        {"source-id": 1, "field-id": 1000, "name": "p", "transform": "bucket[4]"}]}]
    assert made["sort-orders"][0]["order-id"] == 1 and made["sort-orders"][0]["fields"][0]["source-id"] == 2
    assert made["last-partition-id"] == 1000


# --- several tables at once ---

def change(name, updates, requirements=(), namespace="n"):
    return {"identifier": {"namespace": [namespace], "name": name}, "requirements": list(requirements), "updates": list(updates)}


@case
def two_changes_of_one_table_are_applied_one_after_the_other(catalog):
    status, answer = catalog.call("POST", "/transactions/commit", {"table-changes": [
        change("t", *append(1, 1)), change("t", *append(2, 2, 1))]})
    assert (status, answer) == (204, None)
    after = catalog.load("n", "t")
    assert [s["snapshot-id"] for s in after["metadata"]["snapshots"]] == [1, 2]
    assert os.path.basename(after["metadata-location"]).startswith("00001-") and len(metadata_files(after)) == 2


@case
def of_two_tables_both_change_or_none(catalog):
    catalog.table("n", "u")
    tables = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"}
    for name in ("t", "u"):
        for value in "12":
            commit(catalog, [{"action": "set-properties", "updates": {**tables, "x": value}}], name=name)
    before = {name: catalog.load("n", name) for name in ("t", "u")}
    files = {name: metadata_files(before[name]) for name in before}
    good = [{"action": "set-properties", "updates": {"y": "1"}}]
    stale = [{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 9}]
    for body, status in [([change("t", good), change("u", good, stale)], 409), ([change("u", good, stale), change("t", good)], 409),
                         ([change("t", good), change("no", good)], 404), ([change("t", good), change("u", [{"action": "x"}])], 400),
                         ([change("t", good), {"requirements": [], "updates": good}], 400), ([], 400),
                         ([change("t", good), change("t", good, stale)], 409)]:
        assert catalog.call("POST", "/transactions/commit", {"table-changes": body})[0] == status, body
        for name in before:
            assert catalog.load("n", name) == before[name] and metadata_files(before[name]) == files[name], (body, name)
    assert catalog.call("POST", "/transactions/commit", {"table-changes": [change("t", good), change("u", good)]})[0] == 204
    for name in before:
        after = catalog.load("n", name)
        assert after["metadata"]["properties"]["y"] == "1" and metadata_files(after) == known_files(after), name


@case
def a_table_can_be_created_together_with_a_change_of_another(catalog):
    made = catalog.ok("POST", "/namespaces/n/tables", {"name": "new", "schema": SCHEMA, "stage-create": True})["metadata"]
    updates = [{"action": "assign-uuid", "uuid": made["table-uuid"]}, {"action": "upgrade-format-version", "format-version": 2},
               {"action": "add-schema", "schema": made["schemas"][0]}, {"action": "set-current-schema", "schema-id": -1},
               {"action": "add-spec", "spec": made["partition-specs"][0]}, {"action": "set-default-spec", "spec-id": -1},
               {"action": "add-sort-order", "sort-order": made["sort-orders"][0]},
               {"action": "set-default-sort-order", "sort-order-id": -1}, {"action": "set-location", "location": made["location"]}]
    stale = [{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 9}]
    body = [change("new", updates, [{"type": "assert-create"}]), change("t", [], stale)]
    assert catalog.call("POST", "/transactions/commit", {"table-changes": body})[0] == 409
    assert catalog.call("GET", "/namespaces/n/tables/new")[0] == 404
    assert not os.path.exists(local(made["location"]) + "/metadata") or not os.listdir(local(made["location"]) + "/metadata")
    body[1] = change("t", [{"action": "set-properties", "updates": {"a": "b"}}])
    status, answer = catalog.call("POST", "/transactions/commit", {"table-changes": body})
    assert status == 204, answer
    assert catalog.load("n", "new")["metadata"]["table-uuid"] == made["table-uuid"]


# --- files, drop, register, rename ---

@case
def old_metadata_files_go_where_the_table_asks_for_it_and_stay_elsewhere(catalog):
    for n in range(5):
        commit(catalog, [{"action": "set-properties", "updates": {"n": str(n)}}])
    table = catalog.load("n", "t")
    assert len(metadata_files(table)) == 6 and metadata_files(table) == known_files(table)
    commit(catalog, [{"action": "set-properties", "updates": {"write.metadata.previous-versions-max": "2"}}])
    table = catalog.load("n", "t")
    assert len(table["metadata"]["metadata-log"]) == 2 and len(metadata_files(table)) == 7
    commit(catalog, [{"action": "set-properties", "updates": {"write.metadata.delete-after-commit.enabled": "true"}}])
    commit(catalog, [{"action": "set-properties", "updates": {"a": "b"}}])
    table = catalog.load("n", "t")
    assert known_files(table) <= metadata_files(table)
    assert len(table["metadata"]["metadata-log"]) == 2


@case
def a_drop_without_purge_keeps_every_file(catalog):
    appended(catalog, 1)
    table = catalog.load("n", "t")
    for query in ("", "?purgeRequested=false", "?purgeRequested="):
        files = metadata_files(table)
        assert catalog.call("DELETE", T + query) == (204, None)
        assert metadata_files(table) == files and catalog.call("GET", T)[0] == 404
        catalog.ok("POST", "/namespaces/n/register", {"name": "t", "metadata-location": table["metadata-location"]})


@case
def a_purge_takes_every_metadata_file(catalog):
    appended(catalog, 1, 2)
    commit(catalog, [{"action": "set-properties", "updates": {"write.metadata.previous-versions-max": "1"}}])
    table = catalog.load("n", "t")
    assert catalog.call("DELETE", T + "?purgeRequested=true") == (204, None)
    assert catalog.call("GET", T)[0] == 404
    await_true("the files are gone", lambda: not (known_files(table) & metadata_files(table)
                                                  if os.path.isdir(local(table["metadata"]["location"]) + "/metadata") else set()))
    catalog.table("n", "t")


@case
def a_purge_with_gc_disabled_keeps_the_data(catalog):
    table = catalog.load("n", "t")
    data = local(table["metadata"]["location"]) + "/data"
    os.makedirs(data)
    with open(data + "/a.parquet", "w") as f:
        f.write("x")
    commit(catalog, [{"action": "set-properties", "updates": {"gc.enabled": "false"}}])
    table = catalog.load("n", "t")
    assert catalog.call("DELETE", T + "?purgeRequested=true")[0] == 204
    await_true("the metadata is gone", lambda: not os.path.exists(local(table["metadata-location"])))
    assert os.listdir(data) == ["a.parquet"]


@case
def a_metadata_file_that_is_gone_is_not_found_and_says_so(catalog):
    file = catalog.load("n", "t")["metadata-location"]
    os.unlink(local(file))
    said = catalog.refused(404, "NotFoundException", "GET", T)
    assert said == "Failed to open input stream for file: " + file, said


@case
def register_swaps_the_pointer_only_when_it_may_overwrite(catalog):
    first = catalog.load("n", "t")["metadata-location"]
    commit(catalog, [{"action": "set-properties", "updates": {"a": "b"}}])
    body = {"name": "t", "metadata-location": first}
    for overwrite in ({}, {"overwrite": False}):
        catalog.refused(409, "AlreadyExistsException", "POST", "/namespaces/n/register", {**body, **overwrite})
    taken = catalog.ok("POST", "/namespaces/n/register", {**body, "overwrite": True})
    assert taken["metadata-location"] == first == catalog.load("n", "t")["metadata-location"]
    assert [i["name"] for i in catalog.ok("GET", "/namespaces/n/tables")["identifiers"]] == ["t"]
    commit(catalog, [{"action": "set-properties", "updates": {"c": "d"}}])
    missing = first.replace("00000-", "00009-")
    for name in ("t", "new"):
        catalog.refused(404, "NotFoundException", "POST", "/namespaces/n/register",
                        {"name": name, "metadata-location": missing, "overwrite": True})
    for text in ("", "{", "[]", "{}", '{"format-version": 2}', "\x1f\x8b"):
        path = local(first).replace("00000-", "00008-")
        with open(path, "w", encoding="latin-1") as f:
            f.write(text)
        status, answer = catalog.call("POST", "/namespaces/n/register", {"name": "x", "metadata-location": path})
        assert status == 400, (text, status, answer)


@case
def a_rename_keeps_uuid_location_and_file_and_shows_at_once(catalog):
    catalog.namespace("m")
    catalog.table("m", "taken")
    before = catalog.load("n", "t")
    move = lambda namespace, name: {"source": {"namespace": ["n"], "name": "t"},
                                    "destination": {"namespace": [namespace], "name": name}}
    catalog.refused(404, "NoSuchNamespaceException", "POST", "/tables/rename", move("no", "t"))
    catalog.refused(409, "AlreadyExistsException", "POST", "/tables/rename", move("m", "taken"))
    assert catalog.call("POST", "/tables/rename", move("n", "t"))[0] in (204, 409)
    assert catalog.load("n", "t") == before
    assert catalog.call("POST", "/tables/rename", move("m", "t")) == (204, None)
    assert catalog.ok("GET", "/namespaces/n/tables")["identifiers"] == []
    assert [i["name"] for i in catalog.ok("GET", "/namespaces/m/tables")["identifiers"]] == ["t", "taken"]
    assert catalog.load("m", "t") == before
    # The old name is free, and a table made there has nothing to do with the renamed one.
    catalog.table("n", "t")
    assert catalog.call("DELETE", T + "?purgeRequested=true")[0] == 204
    assert catalog.load("m", "t") == before


@case
def a_namespace_with_a_table_or_a_view_or_a_namespace_stays(catalog):
    catalog.refused(409, "NamespaceNotEmptyException", "DELETE", "/namespaces/n")
    catalog.namespace("v")
    catalog.view("v", "v")
    catalog.refused(409, "NamespaceNotEmptyException", "DELETE", "/namespaces/v")
    catalog.ok("DELETE", "/namespaces/v/views/v")
    assert catalog.call("DELETE", "/namespaces/v") == (204, None)
    catalog.namespace("o", "i")
    catalog.refused(409, "NamespaceNotEmptyException", "DELETE", "/namespaces/o")
    catalog.ok("DELETE", "/namespaces/o%1Fi")
    catalog.ok("DELETE", "/namespaces/o")
    catalog.ok("DELETE", T)
    assert catalog.call("DELETE", "/namespaces/n") == (204, None), "a dropped table holds nothing"


@case
def properties_of_a_namespace_tell_what_was_done(catalog):
    catalog.namespace("p", a="1", b="2")
    answer = catalog.ok("POST", "/namespaces/p/properties", {"updates": {"a": "x", "c": "3"}, "removals": ["b", "zz"]})
    assert (sorted(answer["updated"]), answer["removed"], answer["missing"]) == (["a", "c"], ["b"], ["zz"]), answer
    assert catalog.ok("GET", "/namespaces/p")["properties"] == {"a": "x", "c": "3", "location": f"file://{catalog.top}/lake/p"}
    assert catalog.ok("POST", "/namespaces/p/properties", {}) == {"updated": [], "removed": [], "missing": []}


@case
def a_view_may_come_without_properties(catalog):
    body = view_body("v")
    del body["properties"]
    assert catalog.ok("POST", "/namespaces/n/views", body)["metadata"]["view-uuid"]


def list_of(levels):
    """A type of that many lists in one another."""
    kind = "int"
    for level in range(levels):
        kind = {"type": "list", "element-id": 100 + level, "element": kind, "element-required": False}
    return kind


@case
def the_deepest_body_that_is_taken_leaves_a_document_that_is_read_again(catalog):
    field = lambda levels: {"id": 1, "name": "a", "required": False, "type": list_of(levels)}
    change = [{"action": "set-properties", "updates": {"a": "b"}}]
    view, catalog_says = view_body("v"), lambda status, answer: answer["error"]["message"]
    for version in "123":
        body = lambda levels: {"name": "d" + version, "properties": {"format-version": version},
                               "schema": {"type": "struct", "fields": [field(levels)]}}
        assert "too deep" in catalog_says(*catalog.call("POST", "/namespaces/n/tables", body(61)))
        catalog.ok("POST", "/namespaces/n/tables", body(60))
        assert catalog.commit("n", "d" + version, change)[0] == 200
        catalog.ok("PATCH", f"/api/table/n.d{version}", {"owner": "eve"})
        assert catalog.commit("n", "d" + version, [{"action": "remove-properties", "removals": ["a"]}])[0] == 200, "read anew"
    view["schema"]["fields"] = [field(60)]
    catalog.ok("POST", "/namespaces/n/views", view)
    catalog.ok("POST", "/namespaces/n/views/v", {"updates": change})


@case
def a_native_table_is_not_offered_but_its_name_is_taken(catalog):
    assert catalog.call("POST", "/api/tables", {"name": "n.native", "location": catalog.top + "/lake/native"})[0] == 201
    assert [i["name"] for i in catalog.ok("GET", "/namespaces/n/tables")["identifiers"]] == ["t"]
    catalog.refused(404, "NoSuchTableException", "GET", "/namespaces/n/tables/native")
    catalog.refused(404, "NoSuchTableException", "DELETE", "/namespaces/n/tables/native")
    catalog.refused(409, "AlreadyExistsException", "POST", "/namespaces/n/tables", {"name": "native", "schema": SCHEMA})
    catalog.refused(409, "AlreadyExistsException", "POST", "/namespaces/n/views", view_body("native"))
    catalog.refused(409, "NamespaceNotEmptyException", "DELETE", "/namespaces/n")


main(*TESTS)
