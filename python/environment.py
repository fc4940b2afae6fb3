"""Makes the environment of the Python tests, and runs a command in it: all tests, or the arguments.

The environment is in target/python. Without a package index it cannot be made; this is said, and
the tests that need it are skipped. Any other failure is an error.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOM = ROOT / "target" / "python"
PYTHON = ROOM / "bin" / "python"
LOCK = ROOT / "python" / "requirements.lock"


def made() -> bool:
    """Make the environment if it is not there or not of this lock file. Return whether it is."""
    mark, digest = ROOM / "lock", hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if mark.exists() and mark.read_text() == digest:
        return True
    venv.create(ROOM, with_pip=True, clear=True)
    install = [PYTHON, "-m", "pip", "install", "--quiet", "--requirement", LOCK]
    if subprocess.run(install, check=False).returncode != 0:
        if has_index():
            sys.exit(f"{LOCK.name}: its packages cannot be installed; see the message above")
        return False
    mark.write_text(digest)
    return True


def has_index() -> bool:
    """Return whether a package index answers: one package of the lock file can be had."""
    words = [PYTHON, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", ROOM / "probe", "pytest"]
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


def run(*words: str) -> None:
    """Run a program of the environment, and end with its exit code if that is not 0."""
    places = {"PATH": f"{ROOM / 'bin'}{os.pathsep}{os.environ['PATH']}", "VIRTUAL_ENV": str(ROOM)}
    where = os.environ | places | {"CARGO_TARGET_DIR": str(ROOT / "target")}
    code = subprocess.run(words, cwd=ROOT, env=where, check=False).returncode
    if code != 0:
        sys.exit(code)


if __name__ == "__main__":
    if not made():
        print("skipped: all Python tests, because their packages could not be installed")
        sys.exit(0)
    run("maturin", "develop", "--release", "--quiet")
    tests = [["mypy"], ["python", "-m", "pytest", "-q", "--durations=3"]]
    for words in [sys.argv[1:]] if sys.argv[1:] else tests:
        run(*words)
