"""The examples run as they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"
LONG = {"fleet.py"}
"""Examples that take minutes."""


@pytest.mark.parametrize("example", sorted({file.name for file in EXAMPLES.glob("*.py")} - LONG))
def test_an_example_runs(example: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / example)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout, done.stderr
