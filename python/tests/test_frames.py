"""Frames of results, column by column, against those that are recorded in frames.txt.

A change of a column must be explained. ``make record-frames`` takes the record again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import vpass

RECORD = Path(__file__).with_name("frames.txt")
TRACE = Path(__file__).parents[2] / "examples" / "traces" / "pgbench-ext4.csv.zst"

OF_MACHINE = ("wall_s", "requests_per_s", "peak_rss_bytes")
"""Ends of columns whose numbers depend on the machine."""

WORN = {"start.pec": 2000, "start.reads": 12_000}
AT_RATE = {"workload.rate": 20_000, "workload.queue_depth": ""}


def columns(name: str, frame: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield the columns of a frame: the name, then type, number and digest of the values."""
    for column in frame.columns:
        if not column.endswith(OF_MACHINE):
            text = "\n".join(map(repr, frame[column].to_list()))
            digest = sha256(text.encode()).hexdigest()[:8]
            yield f"{name} {column}", f"{frame[column].dtype} {len(frame)}:{digest}"


def frames(room: Path) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the frames of a few small runs, each with a name."""
    few = WORN | {"workload.requests": 5_000}
    runs = {
        "timed": vpass.run("tiny", "random-70-30", set=few, record=True),
        "trace": vpass.run(
            "tiny", vpass.Trace(TRACE), set=WORN, reclaim="straw-wl", gear="untimed", record=True
        ),
        "fluid": vpass.run(
            "tiny", "zipf-read", set=few | AT_RATE, reclaim="ipr", gear="fluid", record=True
        ),
    }
    for name, result in runs.items():
        yield f"{name}.series", result.series()
        yield f"{name}.blocks", result.blocks()
        yield f"{name}.doses", doses(result)
    for kind in ("read", "write"):
        latency = runs["timed"].latency(kind)
        yield f"timed.{kind}", pl.DataFrame({"us": latency.us, "count": latency.count})
    compared = vpass.compare("tiny", "hot-cold", reclaim=["none", "ipr-wl"], seeds=2, set=few)
    yield "compare", compared.frame()
    yield "compare.some", compared.frame("host.read_pages", "reclaim.alarms", "latency_us.read.mean")
    over: dict[str, list[Any]] = {"start.pec": [0, 2000, 10**9], "reclaim": ["block", "tiered"]}
    points = vpass.grid(drive="tiny", workload="zipf-read", over=over, set={"workload.requests": 5_000})
    swept = vpass.sweep(points, room / "sweep", executor=ThreadPoolExecutor(2))
    yield "sweep", swept.frame()
    yield "sweep.some", swept.frame("host.read_pages", "write_amplification")


def doses(result: vpass.Result) -> pl.DataFrame:
    """Return the doses of the first block that has any."""
    for block in result.blocks()["block"]:
        try:
            return result.doses(block)
        except KeyError:
            pass
    raise AssertionError("no block is recorded")


def now() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as room:
        return dict(one for frame in frames(Path(room)) for one in columns(*frame))


def recorded() -> dict[str, str]:
    lines = (line.rsplit(" ", 2) for line in RECORD.read_text().splitlines())
    return {name: f"{dtype} {values}" for name, dtype, values in lines}


def test_each_column_is_as_recorded() -> None:
    found = now()
    moved = {
        name: f"{values} -> {found.get(name, 'gone')}"
        for name, values in recorded().items()
        if found.get(name) != values
    }
    assert not moved, "`make record-frames` takes the record again"


def test_a_moved_value_moves_its_column_alone() -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": [0.5, None], "wall_s": [1.0, 2.0]})
    before, after = (dict(columns("x", of)) for of in (frame, frame.with_columns(a=pl.col("a") + 1)))
    assert list(before) == ["x a", "x b"] and before["x a"].startswith("Int64 2:")
    assert before["x b"] == after["x b"] and before["x a"] != after["x a"]


if __name__ == "__main__":
    RECORD.write_text("".join(f"{name} {values}\n" for name, values in now().items()))
