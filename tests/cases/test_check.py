#!/usr/bin/env python3
"""test_check: `tarn check --json --now` over every fixture of a given format set: severity, findings and the further fields, exactly.

The fixtures of make_cases.py whose formats are judged (N: manifest, P: plain Parquet) and those of more_cases.py."""
import json
import os
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


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as out:
        for script in ("make_cases.py", "more_cases.py"):
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
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
