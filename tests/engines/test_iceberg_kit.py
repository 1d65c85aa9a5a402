#!/usr/bin/env python3
"""Apache Iceberg's REST compatibility kit against the server: every test that it does not skip passes, for tables and views, with
names that hold dots too. Its own counts are the ones of this test."""
import os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from tarn import Server, folder

JARS = os.path.join(HERE, "..", "..", ".engines", "rck", "*")
COUNT = re.compile(r"\[\s*(\d+) tests (successful|failed|skipped)\s*\]")


def run(kit, work):
    """(passed, failed, skipped). The kit asks for tables under /tmp, so that is a root; the data lie elsewhere."""
    server = Server(os.path.join(work, kit), "--root", os.path.join(work, kit, "lake"), "--root", "/tmp").start()
    command = ["java", "-XX:TieredStopAtLevel=1", "-cp", JARS, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
               "-Drck.local=false", "-Drck.requires-namespace-create=true", "-Drck.supports-names-with-dot=true",
               f"-Duri=http://127.0.0.1:{server.port}/iceberg/", "-Dwarehouse=lake", f"-Dtoken={server.token}",
               "org.junit.platform.console.ConsoleLauncher", "execute", "--select-class", f"org.apache.iceberg.rest.{kit}",
               "--details=tree", "--disable-ansi-colors", "--details-theme=ascii"]
    told = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600).stdout
    assert server.stop() == 0
    counts = dict((word, int(number)) for number, word in COUNT.findall(told))
    if counts.get("failed", 1) or counts.get("successful", 0) < 45:
        print(told)
    return counts.get("successful", 0), counts.get("failed", 1), counts.get("skipped", 0)


def main():
    passed = failed = skipped = 0
    for kit in ("RESTCompatibilityKitCatalogTests", "RESTCompatibilityKitViewCatalogTests"):
        with folder("/var/tmp") as work:
            counts = run(kit, work)
        print(f"{kit}: {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped by itself")
        passed, failed, skipped = passed + counts[0], failed + counts[1], skipped + counts[2]
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed < 140 else 0


sys.exit(main())
