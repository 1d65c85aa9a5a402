"""One snapshot of a Tarn table, as any reader in Python needs it. Only the standard library; copy it beside your code.

    snapshot = tarn_snapshot.get("sales.orders")                                    # the newest
    snapshot = tarn_snapshot.get("sales.orders", version=41)                        # or transaction=, or as_of=
    snapshot = tarn_snapshot.get("sales.orders", where={"partition.date": "2024-02-01", "at_least.price": 100})

$TARN_URL and $TARN_TOKEN say which server and who asks. read_duckdb.py, read_polars.py and read_spark.py beside this file
make rows of it. A type is a word of docs/FORMAT.md ("int64", "decimal(12,2)"), or a list whose first item is "list", "map"
or "struct": ["list", type], ["map", key type, value type], ["struct", {name: type}].
"""
import json, os, urllib.error, urllib.parse, urllib.request
from dataclasses import dataclass


@dataclass
class Field:
    """How a column of the snapshot is found in the files of a group."""
    name: str
    type: object       # in the snapshot
    source: str        # its name in the files; None: they have no such column, every row holds `default`
    file_type: object  # in the files: cast it to `type`
    default: object    # as JSON gives it


@dataclass
class Group:
    """The files that were written with one schema version."""
    schema_version: int
    paths: list
    partitions: dict   # partition key: its value for each of `paths`, as text or None
    fields: list       # the columns that are not partition keys


@dataclass
class Snapshot:
    version: int
    transaction: str   # None: the table had no commit yet
    schema_version: int
    columns: dict      # name: type, in order; partition keys that the schema lacks stand last, as text
    groups: list


def get(table, where={}, url=None, token=None, **at):
    """`at` is one of version=, transaction=, as_of=, or nothing. `where` leaves out files, not rows: filter these too."""
    def ask(path, **query):
        return request(url or os.environ["TARN_URL"], token or os.environ.get("TARN_TOKEN"), table, path, query)

    about, listed = ask(""), ask("/files", **at, **where)
    reads = listed["schema_version"]
    if reads == 0:
        raise ValueError(f"{table} has no schema: read the files as they are")
    by_version = {}
    for file in listed["files"]:
        by_version.setdefault(file.get("schemaVersion") or reads, []).append(file)

    def mapping(version):
        return fields_of(ask(f"/schemas/{version}/mapping", to=reads)["fields"])

    keys, groups = about["partition_keys"], []
    for version, files in sorted(by_version.items()):
        groups.append(Group(version, [place(about["location"], f["path"]) for f in files],
                            {key: [partition_value(f, key) for f in files] for key in keys},
                            [f for f in mapping(version) if f.name not in keys]))
    columns = {f.name: f.type for f in mapping(reads)}
    return Snapshot(listed["version"], listed["transaction"], reads,
                    columns | {key: "string" for key in keys if key not in columns}, groups)


def request(url, token, table, path, query):
    address = f"{url}/api/table/{urllib.parse.quote(table, safe='')}{path}?{urllib.parse.urlencode(query)}"
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        problem = json.load(refused)
        raise RuntimeError(f"{problem['code']}: {problem['detail']}") from None


def place(location, path):
    """Local files by their plain path, others by their URI."""
    if location.startswith("file://"):
        location = urllib.parse.unquote(urllib.parse.urlsplit(location).path)
    return f"{location}/{path}"


def partition_value(file, key):
    """What the commit said, else what the folders say."""
    folders = dict(part.split("=", 1) for part in reversed(file["path"].split("/")[:-1]) if "=" in part)
    value = (file.get("partitionValues") or {}).get(key, urllib.parse.unquote(folders[key]) if key in folders else None)
    if value is None or value == "__HIVE_DEFAULT_PARTITION__":
        return None
    return value if isinstance(value, str) else json.dumps(value)


def fields_of(rows):
    """The rows of a mapping as columns: nested ones follow the one that holds them."""
    rows, fields = list(rows), []
    while rows:
        row = rows.pop(0)
        members = []
        while row["type"] in ("struct", "list", "map") and rows and rows[0]["name"].startswith(row["name"] + "."):
            member = rows.pop(0)
            if member["default"] is not None and row["source"] is not None:
                raise ValueError(f"{member['name']}: a default inside of another column is more than these examples do")
            members.append(dict(member, name=member["name"][len(row["name"]) + 1:]))
        nested = fields_of(members)
        if row["cast"] and nested:
            raise ValueError(f"{row['name']}: {row['cast']} is more than these examples do")
        before = row["cast"].split("->")[0] if row["cast"] else row["type"]
        fields.append(Field(row["name"], whole(row["type"], {f.name: f.type for f in nested}), row["source"],
                            whole(before, {f.name: f.file_type for f in nested}), row["default"]))
    return fields


def whole(word, members):
    if word == "struct":
        return [word, members]
    return [word, *members.values()] if word in ("list", "map") else word
