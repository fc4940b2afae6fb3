"""Command ``vpass``: the same program, inside the package."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Run the command with the words of the command line, and return its exit code."""
    # The command hears interrupts itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from . import _vpass

    return _vpass.cli(sys.argv)
