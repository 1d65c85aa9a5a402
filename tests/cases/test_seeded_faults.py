#!/usr/bin/env python3
"""Healthy lakes are broken in every way that a monitor watches for, singly and in pairs. Each fault must be named with its
code, severity and subject, nothing else may be said, and the documented cure must bring the table back to ok.

SEEDED_SEED repeats a choice of pairs; SEEDED_PAIRS is how many are tried (a number, or "all"); SEEDED_ONLY takes those whose
names hold a text."""
import datetime, itertools, json, os, random, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from make_cases import T0
from seeded_faults import FAULTS
from seeded_lake import healthy

TARN = os.environ.get("TARN", "build/debug/tarn")
SEED = int(os.environ.get("SEEDED_SEED", random.randrange(10**6)))
PAIRS = os.environ.get("SEEDED_PAIRS", "60")
ONLY = os.environ.get("SEEDED_ONLY", "")
SLOTS = (5, 8)  # the commits that the faults of a pair hurt


def instant(at):
    return datetime.datetime.fromtimestamp(T0 + at, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def judge(lake):
    with tempfile.TemporaryDirectory(prefix="tarn-seeded.") as place:
        folder = os.path.join(place, "clicks")
        if lake.docs is not None:
            os.mkdir(folder)
        lake.write(folder)
        run = subprocess.run([TARN, "check", folder, "--json", "--now", instant(lake.now)], capture_output=True, text=True)
    assert run.stdout, run.stderr
    status = json.loads(run.stdout)
    return status, {(f["code"], f["severity"], f["subject"]) for f in status["findings"]}


def expected_of(chosen):
    told = set()
    for fault, n in chosen:
        hidden = set().union(*[other.hides_of(own, fault, n) for other, own in chosen if other is not fault])
        told |= fault.expected(n, hidden)
    return told


WORST = {"error": 2, "warning": 1, "info": 0}


def faults_of(chosen):
    """What went wrong with these faults, one line each."""
    lake = healthy()
    for fault, n in chosen:
        fault.breaks(lake, n)
    status, found = judge(lake)
    expected = expected_of(chosen)
    for finding in sorted(expected - found):
        yield f"not found: {finding}"
    for finding in sorted(found - expected):
        yield f"found besides: {finding}"
    worst = ("ok", "warning", "error")[max((WORST[f[1]] for f in expected), default=0)]
    worst = next((fault.severity for fault, _ in chosen if fault.severity), worst)
    if not (expected ^ found) and status["severity"] != worst:
        yield f"severity {status['severity']}"
    for fault, n in sorted(chosen, key=lambda c: c[0].last):
        fault.cure(lake, n)
    lake.now += 60
    status, found = judge(lake)
    if status["severity"] != "ok":
        yield f"after the cure {status['severity']}: {sorted(found)}"


def try_all(name, choices):
    passed = failed = 0
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for chosen, faults in zip(choices, pool.map(lambda c: list(faults_of(c)), choices)):
            passed += not faults
            failed += bool(faults)
            for line in faults:
                print(f"FAIL {' + '.join(fault.name for fault, _ in chosen)}: {line}")
    print(f"{name}: {passed} of {passed + failed}", flush=True)
    return passed, failed


def pairs():
    fitting = [((a, SLOTS[0]), (b, SLOTS[1])) for a, b in itertools.combinations(FAULTS, 2) if a.fits(b)]
    fitting += [((a, SLOTS[1]), (b, SLOTS[0])) for (a, _), (b, _) in fitting]
    fitting = [pair for pair in fitting if any(ONLY in fault.name for fault, _ in pair)]
    return fitting if PAIRS == "all" else random.sample(fitting, min(int(PAIRS), len(fitting)))


def main():
    print(f"SEEDED_SEED={SEED}")
    random.seed(SEED)
    results = [try_all("no fault", [()]), try_all("single faults", [((fault, SLOTS[0]),) for fault in FAULTS if ONLY in fault.name]),
               try_all("pairs of faults", pairs())]
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
