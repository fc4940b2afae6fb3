"""Answers of the command, for comparison with those of the package."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


def command(*words: str) -> Any:
    """Return the JSON of the command."""
    done = subprocess.run(
        [sys.executable, "-m", "vpass", *words, "--json", "--quiet"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return json.loads(done.stdout)
