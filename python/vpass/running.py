"""Run of a workload on a drive, in this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from . import _vpass
from .asked import AnyDrive, AnyWorkload, Cycles, asked
from .cleaning import VictimChooser
from .observing import Observer
from .policy import Policy
from .refreshing import Refresh
from .result import Result
from .workloads import Columns, Sets

Progress = Callable[[int, int | None], object]
"""Function that is called with the number of requests done, and with their total if known."""


def run(
    drive: AnyDrive,
    workload: AnyWorkload,
    *,
    reclaim: str | Policy = "block",
    gc: str | VictimChooser = "greedy",
    refresh: str | Refresh | None = None,
    parity: str = "none",
    set: Sets | None = None,
    gear: str = "timed",
    oracle: str = "on",
    seed: int = 1,
    warm_up: int = 0,
    repeat: int = 1,
    queue_depth: int | None = None,
    ages: Sequence[int] = (),
    hints: str | os.PathLike[str] | None = None,
    until: str | None = None,
    sample: str | None = None,
    residue: int = 0,
    fail: Sequence[str] = (),
    before: AnyWorkload | None = None,
    cycles: Cycles | None = None,
    stages: bool = False,
    out_of_phase: float = 0.0,
    record: bool = False,
    observer: Observer | Sequence[Observer] = (),
    progress: Progress | None = None,
) -> Result:
    """Run a workload on a drive, and return the result.

    ``gear`` is timed, untimed or fluid; ``oracle`` is off, on or full. ``record`` keeps the data
    that ``Result.save`` and ``Result.doses`` need. These options are only in Python:

    - ``before`` is a workload that is served completely before ``workload``, untimed and with its
      own clock.
    - ``cycles`` ends the run after a number of P/E cycles.
    - ``stages`` splits the time of page reads into stages (``Result.page_reads``). It needs the
      timed gear and ``oracle="off"``.
    - ``out_of_phase`` lets each block begin with a random number of reads, up to this share of the
      reads after which the technique first acts.
    - ``residue`` selects the pages of ``sample="1/N"``: their numbers have this residue modulo N.

    Other options are those of the command. An invalid option raises UsageError with the message of
    the command.
    """
    one = asked(
        drive,
        workload,
        reclaim=reclaim,
        gc=gc,
        refresh=refresh,
        parity=parity,
        set=set,
        gear=gear,
        oracle=oracle,
        seed=seed,
        warm_up=warm_up,
        repeat=repeat,
        queue_depth=queue_depth,
        ages=ages,
        hints=hints,
        until=until,
        sample=sample,
        residue=residue,
        fail=fail,
        before=before,
        cycles=cycles,
        stages=stages,
        out_of_phase=out_of_phase,
        record=record,
    )
    observers = list(observer) if isinstance(observer, Sequence) else [observer]
    return Result(_vpass.run(one, observers, progress))


def requests(
    drive: AnyDrive,
    workload: AnyWorkload,
    *,
    count: int,
    seed: int = 1,
    set: Sets | None = None,
) -> Columns:
    """Return the first ``count`` requests that a workload sends to a drive, as columns.

    ``offset`` and ``bytes`` are in bytes. ``op`` is 0 for a read, 1 for a write and 2 for a trim.
    ``at`` is in ns, and 0 if requests have no times.
    """
    one = asked(drive, workload, reclaim="none", gear="untimed", seed=seed, set=set)
    return Columns(*_vpass.requests(one, count))
