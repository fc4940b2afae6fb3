"""The Python of the pages runs as it stands, but for a cluster that the tests do not have."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "python"
UNTESTED = "dask_jobqueue"


@pytest.mark.parametrize("page", sorted(file.name for file in PAGES.glob("*.md")))
def test_the_python_of_a_page_runs(page: str, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (PAGES / page).read_text(), re.M | re.S)
    blocks = [block for block in blocks if UNTESTED not in block]
    assert blocks
    (tmp_path / "page.py").write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
