"""Techniques side by side, over several seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .asked import AnyDrive, AnyWorkload
from .frames import frame_of
from .policy import Policy
from .result import Result
from .running import Progress, run

if TYPE_CHECKING:
    import polars as pl

COLUMNS = (
    "reclaim.pages_copied",
    "latency_us.read.p99_9",
    "write_amplification",
    "data_lost_pages",
)


class Comparison(Mapping[str, list[Result]]):
    """Results by technique, one for each seed."""

    def __init__(self, results: Mapping[str, list[Result]]) -> None:
        self._results = dict(results)

    def __getitem__(self, name: str) -> list[Result]:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def rows(self, *columns: str) -> list[dict[str, Any]]:
        """Return a row for each technique and seed. Columns are paths in the JSON, or
        ``python_s``."""
        columns = columns or COLUMNS
        return [
            {"reclaim": name, "seed": result["seed"]}
            | {
                column: result.python_s if column == "python_s" else result.at(column)
                for column in columns
            }
            for name, results in self._results.items()
            for result in results
        ]

    def frame(self, *columns: str) -> pl.DataFrame:
        """Return the rows as a polars frame."""
        return frame_of(self.rows(*columns))

    def check(self) -> Comparison:
        """Return the comparison if no run has a bug, or lost data against a technique's word."""
        for results in self._results.values():
            for result in results:
                result.check()
        return self


def compare(
    drive: AnyDrive,
    workload: AnyWorkload,
    *,
    reclaim: Sequence[str | Policy],
    seeds: int = 1,
    seed: int = 1,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Run each technique with ``seeds`` seeds from ``seed`` on. Options are those of ``run``."""
    if seeds < 1:
        raise ValueError(f"seeds={seeds}: 1 or more is expected")
    results: dict[str, list[Result]] = {}
    for technique in reclaim:
        name = technique if isinstance(technique, str) else _name(technique)
        if name in results:
            raise ValueError(f"{name} is named twice; give each policy a name of its own")
        results[name] = [
            run(drive, workload, reclaim=technique, seed=one, progress=progress, **options)
            for one in range(seed, seed + seeds)
        ]
    return Comparison(results)


def _name(policy: Policy) -> str:
    return str(getattr(policy, "name", type(policy).__name__))
