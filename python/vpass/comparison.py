"""Comparison of techniques, with several seeds for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING, Any

from . import _vpass
from .asked import AnyDrive, AnyWorkload, asked
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
    """Results of each technique, with one result for each seed."""

    def __init__(self, results: Mapping[str, list[Result]]) -> None:
        self._results = dict(results)

    def __getitem__(self, name: str) -> list[Result]:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def rows(self, *columns: str) -> list[dict[str, Any]]:
        """Return a row for each technique and seed. A column is a path in the JSON of a result, or
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
        """Return the rows of the comparison as a polars frame."""
        return frame_of(self.rows(*columns))

    @property
    def verdict(self) -> list[str]:
        """Sentences that say which techniques kept the data, and which of them is the best."""
        return _vpass.verdict([[one.ran for one in results] for results in self.values()])

    def check(self) -> Comparison:
        """Return the comparison. Raise Bug after a bug, DataLost after a broken guarantee."""
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
    threads: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Run each technique with ``seeds`` seeds from ``seed`` on. Options are those of ``run``.

    For each seed, an undisturbed twin also runs on flash that reads do not disturb. Each result has
    its ``read_wear_net``, the wear beyond this twin.

    ``threads`` is the number of simultaneous runs, limited by the memory. The default is the number
    of cores. With an observer or with ``progress``, the default is 1.
    """
    if seeds < 1:
        raise ValueError(f"seeds={seeds}: 1 or more is expected")
    if threads is not None and threads < 1:
        raise ValueError(f"threads={threads}: 1 or more is expected")
    names = [one if isinstance(one, str) else _name(one) for one in reclaim]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{twice[0]} is named twice; give each policy a name of its own")
    if threads is None:
        threads = 1 if progress or options.get("observer") else os.cpu_count() or 1
    if threads > 1 and reclaim:
        first = {name: value for name, value in options.items() if name != "observer"}
        room = _vpass.fit_in_memory(asked(drive, workload, reclaim=reclaim[0], **first))
        threads = max(1, min(threads, room))

    def one(technique: str | Policy, seed: int, heard: Progress | None) -> Result:
        return run(drive, workload, reclaim=technique, seed=seed, progress=heard, **options)

    all_seeds = range(seed, seed + seeds)
    jobs = [(technique, of) for technique in reclaim for of in all_seeds]
    if threads == 1:
        runs = [one(technique, of, progress) for technique, of in jobs]
    else:
        runs = _on_threads(threads, progress, [partial(one, *job) for job in jobs])
    in_turn = iter(runs)
    results = {name: list(islice(in_turn, seeds)) for name in names}
    # The twin of a run would call the GC or refresh of the user's program again.
    if all(isinstance(options.get(name, ""), str | None) for name in ("gc", "refresh")):
        for of_seed in zip(*results.values(), strict=True):
            net = _vpass.read_wear_net([result.ran for result in of_seed])
            for result, value in zip(of_seed, net, strict=True):
                result.set_read_wear_net(value)
    return Comparison(results)


def _on_threads(
    threads: int, progress: Progress | None, jobs: Sequence[Callable[[Progress], Result]]
) -> list[Result]:
    """Run jobs on several threads. The first exception, or Ctrl-C, ends all jobs."""
    ends = Event()

    def heard(done: int, total: int | None) -> None:
        if ends.is_set():
            raise InterruptedError("another run of the comparison has failed")
        if progress is not None:
            progress(done, total)

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(job, heard) for job in jobs]
        try:
            ended = wait(futures, return_when=FIRST_EXCEPTION).done
            for future in futures:
                if future in ended and (failed := future.exception()) is not None:
                    raise failed
        finally:
            ends.set()
            pool.shutdown(wait=True, cancel_futures=True)
    return [future.result() for future in futures]


def _name(policy: Policy) -> str:
    return str(getattr(policy, "name", type(policy).__name__))
