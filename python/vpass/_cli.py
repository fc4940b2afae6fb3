"""Command ``vpass``, as a part of the Python package."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command with the arguments of the process, and return its exit code."""
    # The command handles interrupts (Ctrl-C) itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from . import _vpass

    return _vpass.cli(sys.argv)
