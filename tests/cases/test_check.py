#!/usr/bin/env python3
"""test_check: `tarn check --json --now` over every fixture of a given format set: severity, findings and the further fields, exactly.

The fixtures of make_cases.py whose formats are judged (N: manifest, P: plain Parquet) and those of more_cases.py and nested_cases.py."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TARN = os.environ.get("TARN", "build/debug/tarn")
JUDGED = ("N", "P", "M")
EXIT = {"ok": 0, "warning": 1, "error": 2, "unknown": 3}
INSTANTS = ("last_commit", "last_data_commit")  # seconds since 1970 in the expectations
NOT_FIELDS = ("severity", "findings", "note", "check_manifests", "warnings_contain")


def instant(epoch):
    import datetime
    return datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def faults_of(wanted, status, code):
    found = sorted(f["code"] + (":info" if f["severity"] == "info" else "") for f in status["findings"])
    if found != sorted(wanted["findings"]):
        yield f"findings {found}, not {sorted(wanted['findings'])}"
    if status["severity"] != wanted["severity"]:
        yield f"severity {status['severity']}, not {wanted['severity']}"
    if code != EXIT[wanted["severity"]]:
        yield f"exit code {code}"
    for warning in wanted.get("warnings_contain", []):
        if warning not in status["warnings"]:
            yield f"no warning '{warning}'"
    for key, value in wanted.items():
        got = status[key] if key in status else status["details"].get(key)
        if key in INSTANTS:
            value = instant(value)
        if key not in NOT_FIELDS and got != value:
            yield f"{key} is {got}, not {value}"


def check(folder, case):
    run = subprocess.run([TARN, "check", folder, "--json", "--now", instant(case["now"])], capture_output=True, text=True)
    try:
        status = json.loads(run.stdout)
    except ValueError:
        return [f"no document: {run.stderr.strip()}"]
    return list(faults_of(case["expected"], status, run.returncode))


def answer_of(*words):
    run = subprocess.run([TARN, "check", *words, "--json"], capture_output=True, text=True)
    codes = [f["code"] for f in json.loads(run.stdout)["findings"]] if run.stdout else None
    return run.returncode, codes, run.stdout + run.stderr


def folders_that_are_no_table(out, plain, manifest):
    """What is told of a folder by what lies in it: (what, words, exit code, a code that is there, a text that is there)."""
    lake, mixed, odd = os.path.join(out, "a lake"), os.path.join(out, "mixed"), os.path.join(out, "odd")
    for name, source in (("b/plain", plain), ("b/orders", manifest), ("c", manifest)):
        shutil.copytree(source, os.path.join(lake, name))
    shutil.copytree(plain, mixed)
    shutil.copytree(manifest, os.path.join(mixed, "inside"))
    shutil.copytree(plain, os.path.join(odd, "one"))
    shutil.copytree(plain, os.path.join(odd, "two"))
    none = "no_table_found"
    yield "tables below", [lake], 3, none, "but 2 below, the first is b/orders (manifest): check each; `tarn discover`"
    yield "a format that was said", [lake, "--format", "parquet"], None, None, '"format":"parquet"'
    yield "a file URI", ["file://" + lake.replace(" ", "%20")], 3, none, "but 2 below"
    yield "a plain table with one inside", [mixed], None, None, '"format":"parquet"'
    yield "plain tables alone", [odd], None, None, '"format":"parquet"'
    yield "an object store", ["s3://bucket/t"], 3, None, "object stores are not supported by this build"
    yield "a file URI of another host", ["file://host/t"], 64, None, "on this host"


def faults_of_folders(out):
    plain, manifest = os.path.join(out, "plain"), os.path.join(out, "M")
    shutil.copytree(next(e.path for e in os.scandir(out) if e.is_dir() and e.name.startswith("N01")), manifest)
    os.makedirs(plain)
    shutil.copy(os.path.join(HERE, "..", "fixtures", "types.parquet"), plain)
    for what, words, code, finding, text in folders_that_are_no_table(out, plain, manifest):
        got, codes, said = answer_of(*words)
        if (code is not None and got != code) or text not in said or (finding and finding not in codes):
            yield f"{what}: exit code {got}, {said}"


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as out:
        for script in ("make_cases.py", "more_cases.py", "nested_cases.py"):
            subprocess.run([sys.executable, os.path.join(HERE, script), out], check=True, stdout=subprocess.DEVNULL)
        for name in sorted(f for f in os.listdir(out) if f.endswith(".expected.json") and f.startswith(JUDGED)):
            with open(os.path.join(out, name)) as f:
                case = json.load(f)
            faults = check(os.path.join(out, case["id"]), case)
            passed += not faults
            failed += bool(faults)
            for fault in faults:
                print(f"FAIL {case['id']}: {fault}")
        missing = {"now": 1767229200, "expected": {"severity": "unknown", "findings": ["storage_unreachable"]}}
        faults = check(os.path.join(out, "nothing-here"), missing)
        passed += not faults
        failed += bool(faults)
        for fault in faults:
            print(f"FAIL a missing folder: {fault}")
        faults = list(faults_of_folders(out))
        passed += not faults
        failed += len(faults)
        for fault in faults:
            print(f"FAIL {fault}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
