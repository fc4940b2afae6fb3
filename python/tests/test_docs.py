"""The Python of the pages runs as it stands, but for a cluster that the tests do not have."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import vpass

PAGES = Path(__file__).parents[2] / "docs" / "python"
UNTESTED = "dask_jobqueue"


INTERNAL = {"ones", "sets", "name", "set", "file"}
"""Methods that only the package calls, and fields that are parameters of a constructor."""

MADE = "reference.md"
"""Page of signatures, which docs/generate.py makes."""


@pytest.mark.parametrize(
    "page", sorted(file.name for file in PAGES.glob("*.md") if file.name != MADE)
)
def test_the_python_of_a_page_runs(page: str, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (PAGES / page).read_text(), re.M | re.S)
    blocks = [block for block in blocks if UNTESTED not in block]
    assert blocks
    (tmp_path / "page.py").write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_reference_has_every_public_name_and_is_up_to_date() -> None:
    text = (PAGES / MADE).read_text()
    program = "import python_api; print(python_api.page(), end='')"
    words = [sys.executable, "-c", program]
    made = subprocess.run(words, cwd=PAGES.parent, capture_output=True, text=True, check=True)
    assert made.stdout == text, "`make reference` writes it"
    for name in vpass.__all__:
        if name.startswith("_"):
            continue
        assert f"\n### {name}\n" in text, name
        of = getattr(vpass, name)
        own = vars(of) if isinstance(of, type) else {}
        for member in own:
            if not member.startswith("_") and member not in INTERNAL:
                shown = (f"#### {name}.{member}\n", f"- **`{member}:", f"- **`{member} =")
                assert any(form in text for form in shown), f"{name}.{member}"
