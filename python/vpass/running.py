"""One run in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _vpass
from .asked import AnyDrive, AnyWorkload, asked
from .policy import Policy
from .result import Result

Progress = Callable[[int, int | None], object]
"""Function that hears of requests done, and of their number if it is known."""


def run(
    drive: AnyDrive,
    workload: AnyWorkload,
    *,
    reclaim: str | Policy = "block",
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Run a workload on a drive, and return the result.

    ``options`` are those of the command: set, gc, refresh, parity, gear (timed, untimed, fluid),
    oracle (off, on, full), seed, warm_up, repeat, queue_depth, ages, hints; and record, which keeps
    what ``Result.save`` writes. Raises UsageError with the sentence of the command.
    """
    name = reclaim if isinstance(reclaim, str) else "none"
    policy = None if isinstance(reclaim, str) else reclaim
    return Result(_vpass.run(asked(drive, workload, reclaim=name, **options), policy, progress))
