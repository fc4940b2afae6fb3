"""The Python of the pages runs as it stands, but for a cluster that the tests do not have."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
import vpass

PAGES = Path(__file__).parents[2] / "docs" / "python"
UNTESTED = "dask_jobqueue"


INTERNAL = {"ones", "sets", "name", "set", "file"}
"""Methods that only the package calls, and fields that are parameters of a constructor."""


def generated(page: str) -> str:
    """Return a generated page; ``page`` is the call of a module in docs that returns it."""
    words = [sys.executable, "-c", f"import {page.split('.')[0]}; print({page}, end='')"]
    return subprocess.run(
        words, cwd=PAGES.parent, capture_output=True, text=True, check=True
    ).stdout


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


def test_the_reference_has_every_public_name() -> None:
    text = generated("python_api.page()")
    for name in vpass.__all__:
        if name.startswith("_"):
            continue
        assert f"\n### {name}\n" in text, name
        of = getattr(vpass, name)
        # Fields of a data class stand in its signature.
        fields = getattr(of, "__dataclass_fields__", {})
        own = [member for member in (vars(of) if isinstance(of, type) else {}) if member not in fields]
        for member in own:
            if not member.startswith("_") and member not in INTERNAL:
                shown = (f"#### {name}.{member}\n", f"- **`{member}:", f"- **`{member} =")
                assert any(form in text for form in shown), f"{name}.{member}"


def types_of(section: str) -> dict[str, str]:
    """Return the documented type of each field in a part of the reference of results."""
    rows = re.findall(r"^\| `([\w.\[\]]+)` \| ([^|]+) \|", section, re.M)
    assert len(rows) > 20
    return dict(rows)


def at(value: Any, path: str, own: Collection[str] = ()) -> Iterator[Any]:
    """Yield the values at a path such as ``lives[].end``. NAME stands for every key that is not
    in ``own``."""
    step, _, rest = path.partition(".")
    name = step.removesuffix("[]")
    known = value if isinstance(value, dict) else {}
    for key in known.keys() - own if name == "NAME" else known.keys() & {name}:
        for part in (known[key] or []) if step.endswith("[]") else [known[key]]:
            yield from at(part, rest, own) if rest else [part]


def is_of(value: Any, words: str) -> bool:
    """Return whether a value of JSON has a documented type."""
    if words.startswith("list of "):
        return isinstance(value, list) and all(is_of(one, words[8:]) for one in value)
    if words.startswith("object: "):
        inner = words[8:].removesuffix(" by name")
        return isinstance(value, dict) and all(is_of(one, inner) for one in value.values())
    if words == "object of `mean` and `ci95`":
        return isinstance(value, dict) and set(value) == {"mean", "ci95"}
    kinds = {str: "text", bool: "true or false", int: "integer", float: "number", dict: "object"}
    return kinds[type(value)] == words or (type(value) is int and words == "number")


def test_the_reference_of_results_has_the_types_that_are_written(tmp_path: Path) -> None:
    text = generated("results_reference.results_page()")
    summaries, others = text.split("\n## Other files\n")
    lives = others.split("### life.json")[1].split("\n## ")[0]
    sets = {"workload.requests": 20_000}
    run = dict(vpass.run("modern-tlc", "zipf-read", set=sets, parity="raid5"))
    life = dict(vpass.life("tiny", vpass.Workload("zipf-read", {
        "workload.rate": 1000, "workload.queue_depth": None}), rung=1,
        set={"drive.rated_pec": 20}))
    for json, types in ((run, types_of(summaries)), (life, types_of(lives))):
        own = {path.split(".")[1] for path in types if path.startswith("reclaim.")}
        found = {path: list(at(json, path, own)) for path in types}
        wrong = {
            path: (types[path], value)
            for path, values in found.items()
            for value in values
            if not (value is None and "null" in types[path])
            and not is_of(value, types[path].replace(" or null", ""))
        }
        assert not wrong
        assert sum(bool(values) for values in found.values()) > 30
