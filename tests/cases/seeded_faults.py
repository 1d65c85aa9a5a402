"""Every fault of an observed table of the manifest format: how it is made, what it is called, and what its page under
docs/findings says to do about it. One row a fault; test_seeded_faults.py makes them singly and in pairs.

A row gets a healthy lake (seeded_lake.py) and the number of the commit that is hurt. Subjects may hold {n}, {path}, {folder}."""
from seeded_lake import HOURS, LAST, NOW, OLD, columns, data, entry_of, folder_of, path_of, stats

INFO, WARNING, ERROR = "info", "warning", "error"


OF_A_COMMIT = ("file", "entry", "manifest.list")  # each fault hurts that of its own commit


class Fault:
    def __init__(self, name, breaks, finds, cure, uses=(), hides=(), hides_older=(), instead=(), at=None, last=False, severity=None):
        """finds: {(code, severity): subject}, the first being the fault's own, the others what it cannot but bring along.
        uses: what it spoils; two faults that spoil the same, or one a part of what the other spoils, are no pair.
        hides: codes that nobody can judge while it is there, with the reason at its row; hides_older: of commits before its own.
        instead: finding by finding of its own, what its trace is called where that one is hidden.
        at: the commit that is hurt, whichever number is given.
        last: the cure is a commit of the writer, which begins with what the other cures left.
        severity: of the table, when it is not that of its worst finding; such a fault stands alone."""
        self.name, self.breaks, self.finds, self.cure = name, breaks, finds, cure
        self.uses, self.hides, self.hides_older, self.instead = set(uses), set(hides), set(hides_older), dict(instead)
        self.at, self.last, self.severity = at, last, severity

    def expected(self, n, hidden=()):
        words = {"n": n, "path": path_of(n), "folder": folder_of(n)}
        told = {(code, severity, subject.format(**words)) for (code, severity), subject in self.finds.items() if code not in hidden}
        return told | {self.instead[code] for code, _ in self.finds if code in hidden and code in self.instead}

    def hides_of(self, own, other, n):
        """What it hides of another of commit n, being of commit `own` itself."""
        return self.hides | (self.hides_older if (other.at or n) < (self.at or own) else set())

    def fits(self, other):
        """The two can stand in one lake, each of them whole."""
        if self.severity or other.severity:
            return False
        spoilt = lambda a, b: any((x == y and x not in OF_A_COMMIT) or x.startswith(y + ".") for x in a for y in b)
        return not spoilt(self.uses, other.uses) and not spoilt(other.uses, self.uses)


FAULTS = []


def fault(*row, **more):
    FAULTS.append(Fault(*row, **more))


def restore(*paths):
    """The cure of what was lost or damaged: from a backup, or again from its writer's records."""
    return lambda lake, n: lake.restore(*[p.format(path=path_of(n), entry=entry_of(n)) for p in paths])


def nothing(lake, n):
    """An info: what is there is no fault."""


# --- files that nobody registered, and the age of the manifest ---

def stray(n):
    return folder_of(n) + "/stray.parquet"


def lay_stray(at):
    return lambda lake, n: lake.put(stray(n), data(n), at)


def register_stray(lake, n):
    lake.commit(lake.added(n, stray(n)))


fault("a file that nobody registered", lay_stray(LAST - 600),
      {("unregistered_data_file", WARNING): "{folder}/stray.parquet"}, register_stray, last=True)
fault("a file that came after the manifest", lay_stray(LAST + 600),
      {("unregistered_data_file", WARNING): "{folder}/stray.parquet", ("manifest_age", WARNING): "manifest.json"},
      register_stray, uses={"age"}, last=True)
fault("a registered file written after the manifest", lambda lake, n: lake.touch(path_of(n), LAST + 600),
      {("manifest_age", WARNING): "manifest.json"}, lambda lake, n: lake.commit(), uses={"age", "file"}, last=True)

# --- the log. What an entry did that is gone or cut off is not known: it may have removed or added any file before it ---
UNDONE = {"committed_file_not_in_manifest", "removed_file_in_manifest"}
fault("an entry that is gone", lambda lake, n: lake.drop(entry_of(n)),
      {("missing_transaction_log_entry", WARNING): "txn-{n}"}, restore("{entry}"), uses={"entry"}, hides_older=UNDONE)
fault("the newest entry gone", lambda lake, n: lake.drop(entry_of(HOURS)),
      {("missing_transaction_log_entry", ERROR): f"txn-{HOURS}"}, restore(entry_of(HOURS)), uses={"newest"}, hides=UNDONE)
fault("an entry that was cut off", lambda lake, n: lake.put(entry_of(n), b'{"id": "txn', (n - 1) * 3600),
      {("unreadable_transaction_log_entry", WARNING): "txn-{n}"}, restore("{entry}"), uses={"entry"}, hides_older=UNDONE)
fault("the newest entry cut off", lambda lake, n: lake.put(entry_of(HOURS), b"", LAST),
      {("unreadable_transaction_log_entry", ERROR): f"txn-{HOURS}"}, restore(entry_of(HOURS)), uses={"newest"}, hides=UNDONE)


def write_above(k):
    return lambda lake, n: lake.put_json(entry_of(k), lake.entry(k, [], LAST + 300), LAST + 300)


# The writer died between entry and manifest: its next commit takes the entry away first.
fault("an entry above the pointer", write_above(HOURS + 1), {("uncommitted_transaction", WARNING): f"txn-{HOURS + 1}"},
      lambda lake, n: lake.drop(entry_of(HOURS + 1)), uses={"above"})
fault("a number left out above the pointer", write_above(HOURS + 2),
      {("transaction_gap", WARNING): f"txn-{HOURS + 1}", ("uncommitted_transaction", WARNING): f"txn-{HOURS + 2}"},
      lambda lake, n: lake.drop(entry_of(HOURS + 2)), uses={"above"})


def rename_entry(lake, n):
    lake.docs["_transactions/txn-7%02d.json" % n] = lake.docs.pop(entry_of(n))


def name_back(lake, n):
    lake.docs[entry_of(n)] = lake.docs.pop("_transactions/txn-7%02d.json" % n)


fault("an entry under another name", rename_entry, {("transaction_id_mismatch", WARNING): "txn-7{n:02d}"}, name_back, uses={"entry"})
fault("an entry copied in the log", lambda lake, n: lake.docs.update({"_transactions/copy-%d.json" % n: lake.docs[entry_of(n)]}),
      {("duplicate_transaction", WARNING): "txn-{n}"}, lambda lake, n: lake.drop("_transactions/copy-%d.json" % n), uses={"entry"})
fault("an entry whose version is that of the one before", lambda lake, n: lake.edit(entry_of(n), lambda e: e.update(version=n - 1)),
      {("transaction_version_mismatch", WARNING): "txn-{n}"}, restore("{entry}"), uses={"entry"})
fault("an entry dated before the one before it",
      lambda lake, n: lake.edit(entry_of(n), lambda e: e.update(timestamp=lake.iso((n - 1) * 3600 - 7200))),
      {("transaction_time_regression", WARNING): "txn-{n}"}, restore("{entry}"), uses={"entry"})
fault("an entry of another table", lambda lake, n: lake.edit(entry_of(n), lambda e: e.update(table_uuid="another")),
      {("transaction_of_another_table", WARNING): "txn-{n}"}, restore("{entry}"), uses={"entry"})
fault("the oldest entries gone", lambda lake, n: lake.drop(entry_of(1), entry_of(2)), {("history_truncated", INFO): "_transactions"},
      restore(entry_of(1), entry_of(2)))

# --- the pointer ---
fault("no pointer", lambda lake, n: lake.drop("last_committed_txn"), {("pointer_missing", WARNING): "last_committed_txn"},
      restore("last_committed_txn"), uses={"pointer"})
fault("a pointer that is no id", lambda lake, n: lake.put("last_committed_txn", "%%% no id", LAST),
      {("pointer_unreadable", WARNING): "last_committed_txn"}, restore("last_committed_txn"), uses={"pointer"})
fault("a pointer behind the manifest", lambda lake, n: lake.put("last_committed_txn", f"txn-{HOURS - 1}\n", LAST),
      {("pointer_mismatch", WARNING): "last_committed_txn"}, restore("last_committed_txn"), uses={"pointer"},
      instead={"pointer_mismatch": ("uncommitted_transaction", WARNING, f"txn-{HOURS}")})
fault("a pointer to nothing", lambda lake, n: lake.put("last_committed_txn", "lost-and-gone\n", LAST),
      {("missing_transaction_log_entry", ERROR): "lost-and-gone", ("pointer_mismatch", WARNING): "last_committed_txn"}, restore("last_committed_txn"), uses={"pointer"})

# --- the manifest. Without it nobody knows which files are the table's, which table it is, and since when ---
NAMELESS = {"unregistered_data_file", "manifest_age", "transaction_of_another_table", "pointer_mismatch", "missing_data_file",
            "size_mismatch", "corrupt_data_file", "encrypted", "schema_drift.extra_column"}
fault("no manifest", lambda lake, n: lake.drop("manifest.json"), {("manifest_missing", ERROR): "manifest.json"},
      restore("manifest.json"), uses={"manifest"}, hides=NAMELESS)
fault("a manifest that was cut off", lambda lake, n: lake.put("manifest.json", lake.docs["manifest.json"][1][:60], LAST),
      {("manifest_unreadable", ERROR): "manifest.json"}, restore("manifest.json"), uses={"manifest"}, hides=NAMELESS)
fault("a lost update", lambda lake, n: lake.relist(lambda files: [f for f in files if f["path"] != path_of(n)]),
      {("committed_file_not_in_manifest", ERROR): "{path}"},
      lambda lake, n: lake.relist(lambda files: files + [lake.listed(n)]), uses={"manifest.list"})
fault("a removed file that is still listed", lambda lake, n: lake.relist(lambda files: files + [dict(lake.listed(1), path=OLD)]),
      {("removed_file_in_manifest", ERROR): OLD},
      lambda lake, n: lake.relist(lambda files: [f for f in files if f["path"] != OLD]), uses={"manifest.old"}, at=3)
fault("a file listed twice", lambda lake, n: lake.relist(lambda files: files + [f for f in files if f["path"] == path_of(n)]),
      {("duplicate_file", WARNING): "{path}"},
      lambda lake, n: lake.relist(lambda files: [f for i, f in enumerate(files) if f not in files[:i]]), uses={"manifest.list"})


def head(**members):
    def edit(manifest):
        for key, value in members.items():
            if value is None:
                del manifest[key]
            else:
                manifest[key] = value
    return lambda lake, n: lake.edit("manifest.json", edit)


def head_again(lake, n):
    lake.edit("manifest.json", lambda m: m.update(last_updated=lake.iso(LAST)))


fault("a manifest without a date", head(last_updated=None), {("manifest_last_updated_missing", INFO): "manifest.json"}, head_again,
      uses={"manifest.date"})
fault("a date without a zone", lambda lake, n: head(last_updated=lake.iso(LAST)[:-1])(lake, n), {("naive_timestamp", INFO): "manifest.json"}, head_again,
      uses={"manifest.date"})
fault("a date of another century", head(last_updated=5), {("implausible_timestamp", WARNING): "manifest.json"}, head_again,
      uses={"manifest.date"})
fault("a file dated in the future", lambda lake, n: lake.touch(path_of(n), NOW + 7200), {("clock_skew", WARNING): "{path}"},
      lambda lake, n: lake.touch(path_of(n), (n - 1) * 3600 - 10), uses={"file", "age"})
fault("a listed path that leads out of the table",
      lambda lake, n: lake.relist(lambda files: files + [dict(lake.listed(n), path="../elsewhere/x.parquet")]),
      {("invalid_data_path", WARNING): "../elsewhere/x.parquet"},
      lambda lake, n: lake.relist(lambda files: [f for f in files if not f["path"].startswith("..")]), uses={"manifest.out"})

# --- the schema, and files that do not fit it. Without a schema nobody can tell what fits ---
DRIFT = {"schema_drift." + kind for kind in ("extra_column", "missing_column", "renamed_case", "narrowed", "type_changed",
         "null_in_required", "widened", "timestamp_unit", "reordered")} | {"missing_column_stats"}
fault("a schema that was cut off", lambda lake, n: lake.put("schema.json", b'{"current', 0), {("schema_unreadable", WARNING): "schema.json"},
      restore("schema.json"), uses={"schema"}, hides=DRIFT)
fault("a schema without its current version", lambda lake, n: lake.edit("schema.json", lambda s: dict(current_version=9, versions=s["versions"])),
      {("schema_version_not_in_history", WARNING): "schema.json"}, restore("schema.json"), uses={"schema"}, hides=DRIFT)


def other_columns(**replaced):
    return lambda lake, n: lake.replace(n, data(n, **replaced))


def rewrite(lake, n):
    """The writer writes the file again, as the schema has it."""
    lake.replace(n, data(n))


COUNTRY = ("country", "binary", "string", True, ["CH", "FR"], None)
for what, breaks, code, severity, column in (
        ("a column more", other_columns(country=COUNTRY), "schema_drift.extra_column", WARNING, "country"),
        ("a column less", other_columns(duration=None), "schema_drift.missing_column", WARNING, "duration"),
        ("a required column less", other_columns(user_id=None), "schema_drift.missing_column", ERROR, "user_id"),
        ("a column in capitals", other_columns(level=("LEVEL", "int32", None, True, [1, 2], None)), "schema_drift.renamed_case", WARNING, "level"),
        ("a wider column", other_columns(level=("level", "int64", None, True, [1, 2], None)), "schema_drift.narrowed", ERROR, "level"),
        ("a column of text for numbers", other_columns(user_id=("user_id", "binary", "string", False, ["a", "b"], None)),
         "schema_drift.type_changed", ERROR, "user_id"),
        ("a null where none may be", other_columns(event_type=("event_type", "binary", "string", True, ["view", None], None)),
         "schema_drift.null_in_required", ERROR, "event_type"),
        ("a narrower column", other_columns(user_id=("user_id", "int32", None, False, [1000, 2000], None)), "schema_drift.widened", INFO, "user_id"),
        ("instants in nanoseconds", other_columns(seen_at=("seen_at", "int64", "ts_ns_utc", True, [1, 2], None)),
         "schema_drift.timestamp_unit", WARNING, "seen_at"),
        ("instants in milliseconds", other_columns(seen_at=("seen_at", "int64", "ts_ms_utc", True, [1, 2], None)),
         "schema_drift.timestamp_unit", INFO, "seen_at")):
    fault("a file with " + what, breaks, {(code, severity): column}, rewrite, uses={"file", "entry", "manifest.list", "drift:" + column})


def reorder(lake, n):
    from make_cases import parquet
    lake.replace(n, parquet(list(reversed(columns(n))), 2))


fault("a file with its columns in another order", reorder, {("schema_drift.reordered", INFO): "event_type"}, rewrite,
      uses={"file", "entry", "manifest.list", "drift:order"})
fault("a partition column that contradicts the path", other_columns(hour=("hour", "int32", None, True, [77, 77], None)),
      {("partition_column_in_file", WARNING): "hour"}, rewrite, uses={"file", "entry", "manifest.list", "drift:hour"})
fault("a partition column in a file", lambda lake, n: lake.replace(n, data(n, hour=("hour", "int32", None, True, [n - 1, n - 1], None))),
      {("partition_column_in_file", INFO): "hour"}, rewrite, uses={"file", "entry", "manifest.list", "drift:hour"})


def silence(lake, n):
    for k in range(HOURS - 2, HOURS + 1):
        lake.replace(k, data(k, duration=("duration", "double", None, True, [None, None], None)))


def load_again(lake, n):
    for k in range(HOURS - 2, HOURS + 1):
        rewrite(lake, k)


fault("a column that fell silent", silence, {("column_all_null", WARNING): "duration"}, load_again,
      uses={"newest", "manifest.list", "drift:duration", "age"})

# --- the files ---
fault("a listed file that is gone", lambda lake, n: lake.drop(path_of(n)), {("missing_data_file", ERROR): "{path}"}, restore("{path}"), uses={"file"})
fault("a file of another size", lambda lake, n: lake.put(path_of(n), data(n, country=COUNTRY, user_id=columns(n)[0]), (n - 1) * 3600 - 10),
      {("size_mismatch", ERROR): "{path}", ("schema_drift.extra_column", WARNING): "country"}, restore("{path}"),
      uses={"file", "drift:country"})
fault("a file of garbage", lambda lake, n: lake.put(path_of(n), b"x" * len(data(n)), (n - 1) * 3600 - 10),
      {("corrupt_data_file", ERROR): "{path}"}, restore("{path}"), uses={"file"})
fault("an encrypted file", lambda lake, n: lake.put(path_of(n), data(n)[:-4] + b"PARE", (n - 1) * 3600 - 10), {("encrypted", INFO): "{path}"},
      nothing, uses={"file"})
fault("a file of another format among the data", lambda lake, n: lake.put(folder_of(n) + "/part.csv", "a,b\n1,2\n", LAST - 600),
      {("unexpected_file_format", WARNING): "{folder}/part.csv"}, lambda lake, n: lake.drop(folder_of(n) + "/part.csv"))
fault("what a writer left behind", lambda lake, n: lake.put("_temp/x-%d.parquet" % n, data(n), LAST - 600), {("leftover_temp", INFO): "*"},
      lambda lake, n: lake.drop("_temp/x-%d.parquet" % n), uses={"leftover"})
fault("a link among the data", lambda lake, n: lake.docs.update({folder_of(n) + "/link": (0, ("link", "/etc"))}), {("symlink_skipped", INFO): "*"},
      lambda lake, n: lake.drop(folder_of(n) + "/link"), uses={"link"})

# --- what is told of the files ---

def loose(n):
    return "loose/data-%d.parquet" % n


def commit_loose(lake, n):
    """File n without a partition, neither in its path nor in what is told of it."""
    lake.put(loose(n), *reversed(lake.docs.pop(path_of(n))))
    for document, members in ((entry_of(n), "operations"), ("manifest.json", "files")):
        def move(d):
            for each in d[members]:
                if each["path"] == path_of(n):
                    each.update(path=loose(n), partitionValues={})
        lake.edit(document, move)


def tell_hour(hour):
    def tell(lake, n):
        def edit(document):
            for each in document.get("files", []) + document.get("operations", []):
                if each["path"] == path_of(n):
                    each["partitionValues"]["hour"] = n - 1 if hour is None else hour
        lake.edit(entry_of(n), edit)
        lake.edit("manifest.json", edit)
    return tell


def tell_partition(lake, n):
    def edit(document):
        for each in document.get("files", []) + document.get("operations", []):
            if each["path"] == loose(n):
                each["partitionValues"] = {"date": "2026-01-01", "hour": n - 1}
    lake.edit(entry_of(n), edit)
    lake.edit("manifest.json", edit)


def tell_stats(given):
    def tell(lake, n):
        def edit(files):
            for each in files:
                if each["path"] == path_of(n):
                    each["columnStats"] = stats(n) if given else {}
        lake.relist(edit)
    return tell


TOLD = {"file", "entry", "manifest.list"}
fault("a file in no partition", commit_loose, {("missing_partition_values", WARNING): "loose/data-{n}.parquet"}, tell_partition, uses=TOLD)
fault("partition values against the path", tell_hour(99), {("partition_drift", WARNING): "{path}"}, tell_hour(None), uses=TOLD)
fault("a file without statistics", tell_stats(False), {("missing_column_stats", INFO): "*"}, tell_stats(True), uses={"manifest.list", "stats"})

# --- staging ---

def mark(status, start, end=None):
    def put(lake, n):
        lake.put_json(processed(n), {"batch_id": "2026-01-01/batch-%06d.parquet" % n, "status": status, "start_time": lake.iso(start),
                                     "end_time": lake.iso(end) if end else None, "num_records": 2}, end or start)
    return put


def staged(n):
    return "staging/2026-01-01/batch-%06d.parquet" % n


def processed(n):
    return "processed/2026-01-01/batch-%06d.json" % n


def merge(lake, n):
    lake.drop(staged(n))
    lake.put(folder_of(n) + "/merged.parquet", data(n), NOW - 1)
    lake.commit(dict(lake.added(n, folder_of(n) + "/merged.parquet")))


fault("a staged batch that nobody merges", lambda lake, n: lake.put(staged(n), data(n), NOW - 1200), {("staging_backlog", WARNING): "*"}, merge,
      uses={"backlog"}, last=True)
fault("a merge that does not end", mark("running", NOW - 3000),
      {("merge_stuck", WARNING): "2026-01-01/batch-{n:06d}.parquet"},
      mark("failed", NOW - 3000, NOW), uses={"marker"})
fault("a batch merged into nothing", mark("completed", NOW - 3000, NOW - 2000),
      {("processed_without_result", INFO): "*"}, nothing, uses={"marker", "unlinked"})



def merge_twice(lake, n):
    """The commit after the n-th merged the same batch again."""
    for k in (n, n + 1):
        lake.edit(entry_of(k), lambda e: e.update(batch_ids=["2026-01-01/batch-%06d.parquet" % n]))


fault("a batch merged twice", merge_twice, {("duplicate_batch", WARNING): "2026-01-01/batch-{n:06d}.parquet"},
      lambda lake, n: lake.commit({"type": "remove_file", "path": path_of(n + 1)}), uses={"entry", "file"}, last=True)


def many_small(lake, n):
    """Two days ago a job wrote one small file a task."""
    added = [lake.added(n, folder_of(n) + "/task-%03d.parquet" % k) for k in range(101)]
    for operation in added:
        lake.put(operation["path"], data(n), (n - 1) * 3600 - 10)
    lake.edit(entry_of(n), lambda e: e["operations"].extend(added))
    lake.relist(lambda files: files + [{k: v for k, v in o.items() if k != "type"} for o in added])
    lake.now = NOW + 2 * 24 * 3600


def compact(lake, n):
    small = [f["path"] for f in lake.json("manifest.json")["files"] if "/task-" in f["path"]]
    lake.put(folder_of(n) + "/large.parquet", data(n), lake.now - 10)
    lake.commit(lake.added(n, folder_of(n) + "/large.parquet"), *[{"type": "remove_file", "path": path} for path in small])


fault("a hundred small files", many_small, {("small_files", INFO): "{folder}"}, compact, severity="ok")

# --- what is no table at all: nothing else can be judged ---

def everything_again(lake, n):
    lake.docs = dict(lake.truth)


fault("a folder that is gone", lambda lake, n: setattr(lake, "docs", None), {("storage_unreachable", ERROR): "table"}, everything_again,
      severity="unknown")
fault("a folder with nothing in it", lambda lake, n: lake.docs.clear(), {("no_table_found", ERROR): "table"}, everything_again, severity="unknown")
fault("a table of another format", lambda lake, n: (lake.docs.clear(), lake.put("_delta_log/00000000000000000000.json", "{}", 0)),
      {("format_not_supported", INFO): "table"}, everything_again, severity="unknown")


def name_entry(lake, n):
    """An entry whose id is no number of the sequence: gaps cannot be seen any more."""
    lake.docs["_transactions/by-hand.json"] = lake.docs.pop(entry_of(n))
    lake.edit("_transactions/by-hand.json", lambda e: e.update(id="by-hand"))


fault("an entry with a name for an id", name_entry, {("gap_check_disabled", INFO): "_transactions"}, everything_again, severity="ok")
