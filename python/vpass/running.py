"""Run of a workload on a drive, in this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from . import _vpass
from .asked import AnyDrive, AnyWorkload, asked
from .cleaning import VictimChooser
from .observing import Observer
from .policy import Policy
from .refreshing import Refresh
from .result import Result
from .workloads import Sets

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
    record: bool = False,
    observer: Observer | Sequence[Observer] = (),
    progress: Progress | None = None,
) -> Result:
    """Run a workload on a drive, and return the result.

    ``gear`` is timed, untimed or fluid; ``oracle`` is off, on or full. ``record`` keeps the data
    that ``Result.save`` and ``Result.doses`` need. Other options are those of the command. An
    invalid option raises UsageError with the message of the command.
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
        record=record,
    )
    observers = list(observer) if isinstance(observer, Sequence) else [observer]
    return Result(_vpass.run(one, observers, progress))
