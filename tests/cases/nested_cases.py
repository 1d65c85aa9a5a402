#!/usr/bin/env python3
"""Fixtures of nested columns: structs, lists and maps in footers of files that hold nothing else. Same layout, same use as
more_cases.py: nested_cases.py OUTDIR."""
import json
import struct
import sys

from make_cases import J, P, PT, S, logical, pq, rep, std, uv, zz
import more_cases
from more_cases import ERROR, OK, WARNING, case

more_cases.CASES.clear()
REPETITION = {"req": 0, "opt": 1, "rep": 2}
ANNOTATION = {"LIST": (6, 3, 3), "MAP": (6, 1, 2)}  # field and value of ConvertedType, field of LogicalType


def leaf(name, physical="int64", repetition="opt", kind=None, nulls=0, counts=True):
    return dict(name=name, physical=physical, repetition=repetition, kind=kind, nulls=nulls, counts=counts)


def group(name, *children, repetition="opt", kind=None):
    return dict(name=name, repetition=repetition, children=children, kind=kind)


def element_of(column):
    """Its SchemaElement."""
    out = S()
    if "physical" in column:
        out.i32(1, PT[column["physical"]])
    out.i32(3, REPETITION[column["repetition"]]).bin(4, column["name"])
    if "children" in column:
        out.i32(5, len(column["children"]))
        if column["kind"]:
            converted, value, union = ANNOTATION[column["kind"]]
            out.i32(converted, value).st(10, S().st(union, S()))
    elif column["kind"]:
        annotation, converted = logical(column["kind"])
        if converted is not None:
            out.i32(6, converted)
        out.st(10, annotation)
    return out.end()


def chunk_of(column, path, rows):
    data = S().i32(1, PT[column["physical"]]).li(2, 5, [zz(0)]).li(3, 8, [uv(len(p)) + p.encode() for p in path]).i32(4, 0)
    data.i64(5, rows).i64(6, 10).i64(7, 10).i64(9, 4)
    if column["counts"]:
        data.st(12, S().i64(3, column["nulls"]))
    return S().i64(2, 4).st(3, data).end()


def footer_only(columns, rows=2):
    """A Parquet file without pages: who reads footers does not miss them."""
    elements, chunks = [S().bin(4, "schema").i32(5, len(columns)).end()], []

    def walk(column, path):
        elements.append(element_of(column))
        for child in column.get("children", ()):
            walk(child, path + [column["name"]])
        if "physical" in column:
            chunks.append(chunk_of(column, path + [column["name"]], rows))

    for column in columns:
        walk(column, [])
    groups = [S().li(1, 12, chunks).i64(2, 10 * len(chunks)).i64(3, rows).end()]
    footer = S().i32(1, 1).li(2, 12, elements).i64(3, rows).li(4, 12, groups).bin(6, "tarn-fixture").end()
    return b"PAR1" + bytes(64) + footer + struct.pack("<I", len(footer)) + b"PAR1"


def field(name, type_, nullable=True):
    return {"name": name, "type": type_, "nullable": nullable}


def struct_of(*fields):
    return {"type": "struct", "fields": list(fields)}


def list_of(element, contains_null=True):
    return {"type": "array", "elementType": element, "containsNull": contains_null}


def nested(name, registered, columns, severity, findings, older=None):
    """A table whose schema is `registered`, and both files with these columns; older: those of the first file."""
    schema = struct_of(*registered)
    lies = rep(std(2), pq(1, 530, footer_only(older or columns)), pq(2, 590, footer_only(columns)),
               ("schema.json", 0, J({"current_version": 1, "schema": schema, "versions": [{"version": 1, "schema": schema}]})))
    path, at, content = next(f for f in lies if f[0] == "manifest.json")
    manifest = json.loads(content)
    for each in manifest["files"]:
        each["columnStats"] = {registered[0]["name"]: {"nullCount": 0}}
    case("M320-" + name, rep(lies, (path, at, J(manifest))), severity, findings)


TEXT = dict(physical="binary", kind="string")
AB = field("s", struct_of(field("a", "int64"), field("b", "int64")))
A_REQUIRED = struct_of(field("a", "int64", False))
MAP = field("m", {"type": "map", "keyType": "string", "valueType": "int64", "valueContainsNull": True})
KEY = leaf("key", repetition="req", **TEXT)

nested("same", [AB], [group("s", leaf("a"), leaf("b"))], OK, [])
nested("a-field-less", [AB], [group("s", leaf("a"))], WARNING, ["schema_drift.missing_column"])
nested("a-field-more", [AB], [group("s", leaf("a"), leaf("b"), leaf("z"))], WARNING, ["schema_drift.extra_column"])
nested("another-type", [AB], [group("s", leaf("a", **TEXT), leaf("b"))], ERROR, ["schema_drift.type_changed"])
nested("a-narrower-field", [AB], [group("s", leaf("a", "int32"), leaf("b"))], OK, ["schema_drift.widened:info"])
nested("a-wider-field", [field("s", struct_of(field("a", "int32")))], [group("s", leaf("a"))], ERROR, ["schema_drift.narrowed"])
nested("other-case", [field("s", struct_of(field("userId", "int64")))], [group("s", leaf("userid"))], WARNING, ["schema_drift.renamed_case"])
nested("a-number-for-a-struct", [AB], [leaf("s")], ERROR, ["schema_drift.type_changed"])
nested("a-struct-for-a-number", [field("s", "int64")], [group("s", leaf("a"))], ERROR, ["schema_drift.type_changed"])
nested("a-name-with-a-dot", [field("a.b", "int64")], [leaf("a.b")], OK, [])

# A null of the struct around it counts as one of the field: which of the two it was is not known.
nested("required-in-a-null-struct", [field("s", A_REQUIRED)], [group("s", leaf("a", repetition="req", nulls=1))], OK, [])
nested("optional-in-a-null-struct", [field("s", A_REQUIRED)], [group("s", leaf("a", nulls=1))], OK, ["schema_drift.nulls_unknown:info"])
nested("null-in-a-required-struct", [field("s", A_REQUIRED, False)], [group("s", leaf("a", nulls=1), repetition="req")], ERROR,
       ["schema_drift.null_in_required"])
nested("no-null-in-an-optional-struct", [field("s", A_REQUIRED, False)], [group("s", leaf("a", repetition="req"))], OK, [])
nested("nothing-counted", [field("a", "int64", False)], [leaf("a", counts=False)], OK, ["schema_drift.nulls_unknown:info"])

nested("list", [field("l", list_of("int64"))], [group("l", group("list", leaf("element"), repetition="rep"), kind="LIST")], OK, [])
nested("list-of-two-levels", [field("l", list_of("int64"))], [group("l", leaf("array", repetition="rep"), kind="LIST")], OK, [])
nested("list-by-hive", [field("l", list_of("int64"))],
       [group("l", group("bag", leaf("array_element"), repetition="rep"), kind="LIST")], OK, [])
nested("list-of-texts", [field("l", list_of("int64"))],
       [group("l", group("list", leaf("element", **TEXT), repetition="rep"), kind="LIST")], ERROR, ["schema_drift.type_changed"])
nested("list-of-structs-with-a-field-less", [field("l", list_of(AB["type"]))],
       [group("l", group("list", group("element", leaf("a")), repetition="rep"), kind="LIST")], WARNING, ["schema_drift.missing_column"])
nested("empty-lists-are-no-nulls", [field("l", list_of("int64", False))],
       [group("l", group("list", leaf("element", nulls=1), repetition="rep"), kind="LIST")], OK, ["schema_drift.nulls_unknown:info"])
nested("nothing-but-empty-lists", [field("l", list_of("int64"))],
       [group("l", group("list", leaf("element", nulls=2), repetition="rep"), kind="LIST")], OK, [])
nested("map", [MAP], [group("m", group("key_value", KEY, leaf("value"), repetition="rep"), kind="MAP")], OK, [])
nested("map-by-another-name", [MAP], [group("m", group("map", KEY, leaf("value"), repetition="rep"), kind="MAP")], OK, [])
nested("map-of-doubles", [MAP], [group("m", group("key_value", KEY, leaf("value", "double"), repetition="rep"), kind="MAP")], ERROR,
       ["schema_drift.type_changed"])

nested("a-silent-field", [AB], [group("s", leaf("a"), leaf("b", nulls=2))], WARNING, ["column_all_null"])
nested("a-silent-struct", [AB], [group("s", leaf("a", nulls=2), leaf("b", nulls=2))], WARNING, ["column_all_null"])
nested("a-field-silent-in-a-silent-struct", [AB], [group("s", leaf("a"), leaf("b", nulls=2))], WARNING, ["column_all_null"],
       older=[group("s", leaf("a", nulls=2), leaf("b", nulls=2))])

if __name__ == "__main__":
    more_cases.build(sys.argv[1])
    print(len(more_cases.CASES), "cases")
