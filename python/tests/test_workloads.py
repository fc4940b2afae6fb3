"""Workloads from Python: requests in columns, functions that make them, and workloads side by side."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import vpass
from vpass.workloads import Synthetic

ROWS = 20_000
PAGE = 16_384


def columns(first: int = 0) -> dict[str, Any]:
    """Return reads of scattered pages, every 50 us, and a write for each tenth."""
    n = np.arange(first, first + ROWS)
    return {
        "offset": n * 7919 % 60_000 * PAGE,
        "bytes": np.full(ROWS, PAGE),
        "op": np.where(n % 10 == 0, "write", "read"),
        "time": n * 50e-6,
    }


def csv(folder: Path) -> Path:
    """Write the requests as a trace with the columns of MSR Cambridge."""
    given, file = columns(), folder / "trace.csv"
    rows = zip(given["offset"], given["bytes"], given["op"], given["time"], strict=True)
    begin = 128_166_372_000_000_000
    file.write_text(
        "".join(
            f"{begin + round(time * 1e7)},host,0,{op.capitalize()},{offset},{size},0\n"
            for offset, size, op, time in rows
        )
    )
    return file


def counts(result: vpass.Result) -> dict[str, Any]:
    """Return the result without the names of the workload and what only a trace has."""
    of_name = ("simulation", "workload", "workload_source", "trace")
    return {key: value for key, value in dict(result).items() if key not in of_name}


@pytest.mark.parametrize("gear", ["timed", "untimed", "fluid"])
def test_columns_give_the_result_of_the_same_trace(gear: str, tmp_path: Path) -> None:
    given = columns()
    frame = pl.DataFrame(given)
    listed = vpass.Requests(**{key: frame[key] for key in given}, name="mine")
    result = vpass.run("tiny", listed, gear=gear)
    assert counts(result) == counts(vpass.run("tiny", vpass.Trace(csv(tmp_path)), gear=gear))
    assert result["workload"] == "mine"


def test_columns_of_any_kind_are_the_same_requests() -> None:
    given = columns()
    one = vpass.Requests(**given)
    letters = np.where(given["op"] == "write", "W", "r")
    for op in (letters.tolist(), pl.Series(letters), (given["op"] == "write").astype(int)):
        other = vpass.Requests(**(given | {"op": op}))
        assert other.listed.digest == one.listed.digest
    copy = pickle.loads(pickle.dumps(one))
    assert copy.listed.digest == one.listed.digest and len(copy) == ROWS
    single = vpass.Requests(offset=given["offset"], bytes=PAGE, op="read")
    assert vpass.run("tiny", single, gear="untimed").host.read_requests == ROWS


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"op": ["reed"] * ROWS}, "op 'reed': read, write or trim"),
        ({"op": 3}, "op '3'"),
        ({"bytes": 0.5}, "bytes: whole numbers"),
        ({"bytes": 2**33}, "bytes: numbers from 0 to 4294967295"),
        ({"offset": -1 - np.arange(ROWS)}, "offset: numbers from 0"),
        ({"time": [-1.0] * ROWS}, "time: numbers of seconds"),
        ({"time": [0.0]}, "equal numbers are expected"),
    ],
)
def test_a_wrong_column_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        vpass.Requests(**(columns() | wrong))


def test_a_request_beyond_the_drive_or_back_in_time_is_named() -> None:
    with pytest.raises(vpass.Error, match="mine: request 0 has 1 bytes from byte .* beyond"):
        vpass.run("tiny", vpass.Requests(offset=[2**50], bytes=1, op="read", name="mine"))
    back = vpass.Requests(offset=[0, 0], bytes=1, op="read", time=[2.0, 1.0])
    with pytest.raises(vpass.Error, match="request 1 arrives after .* earlier"):
        vpass.run("tiny", back)


@vpass.generator
def scattered(drive: dict[str, int], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield reads of random pages in three batches."""
    pages = drive["capacity_bytes"] // drive["page_bytes"]
    for _ in range(3):
        page = rng.integers(0, pages, 5_000)
        yield {"offset": page * drive["page_bytes"], "bytes": drive["page_bytes"], "op": "read"}


@vpass.generator
def broken(drive: dict[str, int], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Raise after a good batch."""
    yield {"offset": [0], "bytes": 1, "op": "read"}
    raise KeyError("in my generator")


def test_a_generator_is_called_anew_for_each_run_and_pass() -> None:
    runs = [vpass.run("tiny", scattered, gear="untimed", repeat=2, seed=seed) for seed in (1, 1, 2)]
    assert [run.host.read_requests for run in runs] == [30_000] * 3
    assert counts(runs[0]) == counts(runs[1])
    assert runs[0].oracle.worst_dose_ratio != runs[2].oracle.worst_dose_ratio
    assert runs[0].python_s > 0


def test_what_a_generator_raises_ends_the_run() -> None:
    with pytest.raises(KeyError, match="in my generator"):
        vpass.run("tiny", broken, gear="untimed")


def test_workloads_stand_side_by_side(tmp_path: Path) -> None:
    both = vpass.Trace(csv(tmp_path)) | vpass.Requests(**columns(), name="mine")
    result = vpass.run("tiny", both, gear="untimed")
    assert result.host.read_requests + result.host.write_requests == 2 * ROWS
    assert result["workload"].endswith("trace.csv | mine")
    with pytest.raises(vpass.Error, match="part 3 has no clock"):
        vpass.run("tiny", both | scattered, gear="untimed")
    with pytest.raises(ValueError, match="stands alone"):
        vpass.run("tiny", both | vpass.Workload("zipf-read", {"workload.rate": 9}))


def test_synthetic_parts_have_their_own_rates_and_ranges() -> None:
    reads = vpass.Workload.synthetic(
        reads="zipf:0.9", over=(0, "25%"), rate=9_000, block_size="16KiB"
    )
    writes = vpass.Workload.synthetic(writes="sequential", over=(2**29, 2**30), rate=1_000)
    both = reads | writes
    assert isinstance(both, Synthetic)
    both = both.with_requests(100_000)
    result = vpass.run("tiny", both, gear="untimed")
    assert abs(result.host.read_requests - 90_000) < 5 * 90_000**0.5
    only_reads = reads | vpass.Workload.synthetic(reads="uniform", rate=10)
    assert vpass.life("tiny", only_reads, years=0.01, rung=1).json()
    with pytest.raises(vpass.UsageError, match="workload that the command can read"):
        vpass.life("tiny", scattered)
    with pytest.raises(ValueError, match="give reads or writes"):
        vpass.Workload.synthetic(rate=1)


def test_options_of_a_trace_are_those_of_the_command(tmp_path: Path) -> None:
    file = csv(tmp_path)
    fast = vpass.run("tiny", vpass.Trace(file, speed=2.0))
    plain = vpass.run("tiny", vpass.Trace(file))
    assert fast.simulation.simulated_s < 0.6 * plain.simulation.simulated_s
    with pytest.raises(ValueError, match="error, wrap, scale and pack"):
        vpass.run("tiny", vpass.Trace(file, fit="shrink"))
    with pytest.raises(TypeError, match="speeed"):
        vpass.Trace(file, speeed=2)


def test_points_of_a_sweep_know_their_requests() -> None:
    def key(workload: Any) -> str:
        return vpass.grid(drive="tiny", workload=workload, over={"seed": [1]})[0].key

    one, same = vpass.Requests(**columns()), vpass.Requests(**columns())
    other = vpass.Requests(**(columns() | {"op": "read"}))
    assert key(one) == key(same) != key(other)
    assert key(scattered) == key(scattered) != key(broken)
    assert key(vpass.Trace(__file__)) != key(vpass.Trace(__file__, speed=2.0))
