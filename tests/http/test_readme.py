#!/usr/bin/env python3
"""The tour of README.md runs as it stands: its blocks, in order, in one shell, with no error answered."""
import os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tarn import TARN, folder, main


def script():
    with open(os.path.join(HERE, "..", "..", "README.md")) as f:
        blocks = re.findall(r"^```sh\n(.*?)^```", f.read(), re.S | re.M)
    assert len(blocks) > 5, "the tour is gone"
    text = "\n".join(blocks)
    # What the test does otherwise: the program that is under test, and a free port.
    for old, new in (("make -s\n", ""), ("build/release/tarn", os.path.abspath(TARN)),
                     ("--listen 127.0.0.1:8181", "--listen 127.0.0.1:0"),
                     ("TARN_URL=http://127.0.0.1:8181", "TARN_URL=$(sed -n 's/.*listening on //p' tour/log)")):
        assert old in text, f"the tour no longer says {old!r}"
        text = text.replace(old, new)
    return "set -eu\ntrap 'cat tour/log; kill %1' ERR\n" + text


def the_tour_of_the_readme_runs():
    with folder() as place:
        done = subprocess.run(["bash", "-c", script()], cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        faults = re.findall(r'.*"status": ?[45]\d\d.*', done.stdout)
        assert not faults, faults
        for wanted in ('"version":3', '"compact-1"', '"source":"duration_seconds"', '"status":"completed"', "file://", "last_committed_txn", '"findings"'):
            assert wanted in done.stdout.replace(": ", ":"), f"nowhere {wanted} in: {done.stdout}"


main(the_tour_of_the_readme_runs)
