"""What the benchmarks share: where things are, wrk, and the table at the end."""
import glob, os, re, signal, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "support"))
from tarn import TARN

BUILT = os.path.join(os.path.dirname(TARN), "bench")
rows = []


def database(data):
    return next(f for f in glob.glob(data + "/*") if os.path.isfile(f) and open(f, "rb").read(15) == b"SQLite format 3")


class Wrk:
    """wrk with one of the scripts beside this file; finish() gives the numbers of its RESULT line. Without `seconds` it runs until
    then."""

    def __init__(self, url, script, connections, seconds=None, **environment):
        self.runs_on = seconds is None
        self.process = subprocess.Popen(["wrk", "-t1", f"-c{connections}", f"-d{seconds or 3600}s", "-s", f"{HERE}/{script}", url],
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})

    def finish(self):
        if self.runs_on:
            self.process.send_signal(signal.SIGINT)
        text = self.process.communicate()[0]
        numbers = [float(n) for n in re.search(r"RESULT ([\d. ]+)", text).group(1).split()]
        if numbers[1]:
            print(f"  {numbers[1]:.0f} requests failed: {text}")
        return numbers


def ratio_row(name, ours, peer, goal, unit="/s"):
    ratio = ours / peer
    rows.append((name, f"{ours:,.0f}{unit}", f"{peer:,.0f}{unit}", f"{ratio:.2f}", f">= {goal}", ratio >= goal))


def most_row(name, ours, peer, goal, unit, digits=1):
    """Ours may be `goal` times the peer's at most."""
    rows.append((name, f"{ours:,.{digits}f} {unit}", f"{peer:,.{digits}f} {unit}", f"{ours / peer:.2f}", f"<= {goal}",
                 ours <= goal * peer))


def limit_row(name, value, limit, unit):
    rows.append((name, f"{value:.1f} {unit}", "-", "-", f"< {limit} {unit}", value < limit))


def rss_mb(server, kind="VmRSS"):
    with open(f"/proc/{server.process.pid}/status") as f:
        return int(re.search(kind + r":\s+(\d+)", f.read()).group(1)) / 1000


def end():
    """Prints the table and ends the program: 1 when a goal was missed."""
    print(f"\n{'':38} {'ours':>12} {'peer':>12} {'ratio':>6}  {'goal':>9}  verdict")
    for name, ours, peer, ratio, goal, good in rows:
        print(f"{name:38} {ours:>12} {peer:>12} {ratio:>6}  {goal:>9}  {'met' if good else 'missed'}")
    sys.exit(0 if all(r[5] for r in rows) else 1)
