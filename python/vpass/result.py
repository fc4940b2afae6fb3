"""Result of one run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ._vpass import Bug, Error, Ran
from .frames import table_of
from .record import Record

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl


class DataLost(Error):
    """Error after a technique lost data although it guarantees that no data is lost."""


class Latency:
    """Latencies of requests. ``us`` has ascending latencies in microseconds, and ``count`` has the
    number of requests with each latency.

    Each latency is exact to 0.1 %.
    """

    def __init__(self, us: npt.NDArray[np.float64], count: npt.NDArray[np.uint64]) -> None:
        self.us, self.count = us, count

    def quantile(self, q: float) -> float:
        """Return the latency in us that a share ``q`` of the requests does not exceed."""
        if not 0 <= q <= 1:
            raise ValueError(f"quantile {q}: from 0 to 1 is expected")
        at = int(self.count.cumsum().searchsorted(q * float(self.count.sum())))
        return float(self.us[min(at, len(self.us) - 1)])

    def tail(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return latencies in us, and for each latency the share of requests that take longer."""
        over = 1.0 - self.count.cumsum() / float(self.count.sum())
        return self.us[:-1], over[:-1]


class Result(Record):
    """Result of a run. The keys of ``vpass run --json`` are attributes.

    ``python_s`` is the time spent in Python code, in seconds. ``fell_behind`` is whether the drive
    could not keep up with the requests. With the option ``cycles``, the attribute ``cycles`` has
    the cycles of the warm-up and of the counted part. It also says whether a part was capped: it
    reached its last request before its number of cycles.
    """

    def __init__(self, ran: Ran) -> None:
        of: dict[str, Any] = json.loads(ran.summary)
        self._lost_in_spite = ran.is_sound and of["data_lost_pages"] > 0
        if self._lost_in_spite:
            name = of["reclaim_technique"]
            of["warnings"].append(f"{name} says that it loses no data, and it lost data.")
        if ran.cycles is not None:
            of["cycles"] = json.loads(ran.cycles)
        super().__init__(of)
        self.fell_behind = ran.fell_behind
        self.python_s = ran.python_s
        self.python_calls = ran.python_calls
        self.ran = ran

    def set_read_wear_net(self, percent: float | None) -> None:
        """Add the net read wear, which a comparison knows. Without a number, nothing is added."""
        if percent is not None:
            self._of["read_wear_net"] = percent

    def latency(self, kind: str = "read") -> Latency:
        """Return latencies of the host's requests. ``kind`` is read, write or read_during_reclaim.
        Raises Error if the run did not use the timed gear."""
        columns = self.ran.latency(kind)
        if columns is None:
            raise Error(f"latency({kind!r}): only the timed gear has latencies")
        return Latency(*columns)

    def parts(self, count: int) -> list[Record]:
        """Return the counts of each of ``count`` equal parts of the run.

        The lists ``programs`` and ``erases`` have a number for each ``Cause``. ``retried`` has the
        numbers of page reads with 1, 2, ... retries. Between recorded moments, counts are
        interpolated. Parts have equal durations if the run has a clock, and otherwise equal numbers
        of requests.
        """
        return [Record(part) for part in json.loads(self.ran.parts(count))]

    def series(self) -> pl.DataFrame:
        """Return counts over the course of the run, like ``series.csv`` of ``--out``."""
        return table_of(self._table("series.csv"))

    def blocks(self) -> pl.DataFrame:
        """Return a row for each block at the end of the run, like ``blocks.csv`` of ``--out``."""
        return table_of(self._table("blocks.csv"))

    def doses(self, block: int) -> pl.DataFrame:
        """Return the dose and limit of each wordline of a block, at the block's worst moment.

        Only the most disturbed blocks are recorded, and only with ``record=True`` and an oracle.
        Raises KeyError for all other blocks.
        """
        rows = table_of(self._table("dose.csv"))
        rows = rows.filter(rows["block"] == block)
        if rows.is_empty():
            raise KeyError(f"block {block} is not among the most disturbed blocks")
        return rows.select("wordline", "dose", "limit")

    def _table(self, name: str) -> bytes:
        table = self.ran.table(name)
        if table is None:
            raise Error("doses: the run needs record=True, an oracle, and reads that disturb")
        return table

    def check(self) -> Result:
        """Return the result.

        Raises Bug if the oracle found a bug, and DataLost if a technique broke its guarantee that
        no data is lost.
        """
        if self.ran.is_bug:
            raise Bug(f"{self.reclaim_technique}: the oracle found a bug: {self['oracle']}")
        if self._lost_in_spite:
            raise DataLost(
                f"{self.reclaim_technique} says that it loses no data, "
                f"and {self.data_lost_pages} pages were lost"
            )
        return self

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the folder that ``vpass run --out`` writes. The run must have been made with
        ``record=True``. Raises FileExistsError if the folder exists."""
        self.ran.save(os.fspath(folder))
