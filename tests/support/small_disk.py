"""A small disk that can be filled: a tmpfs in a mount namespace of its own. Where neither root nor user namespaces allow one,
the tests that need it are skipped and say so."""
import os, subprocess, sys
from tarn import Skip

ALONE = "TARN_TEST_NAMESPACE"


def enter_namespace():
    """Starts this test again where it may mount."""
    flags = ["--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--mount"]
    if ALONE not in os.environ and subprocess.run(["unshare", *flags, "true"], capture_output=True).returncode == 0:
        os.environ[ALONE] = "yes"
        os.execvp("unshare", ["unshare", *flags, sys.executable, *sys.argv])


def small_disk(at, megabytes):
    if ALONE not in os.environ:
        raise Skip("needs a mount namespace for a small tmpfs, as root or by user namespaces")
    os.makedirs(at)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", at], capture_output=True, text=True)
    if mounted.returncode != 0:
        raise Skip("no small tmpfs: " + mounted.stderr.strip())
    return at
