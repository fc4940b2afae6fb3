"""Base class of read-reclaim policies written in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from ._vpass import Budget, Rewrite, View

if TYPE_CHECKING:
    import numpy as np

Answer: TypeAlias = (
    float | None | Rewrite | Sequence[Rewrite] | tuple[float | None, Sequence[Rewrite]]
)
"""Next alarm in reads of the block (None: never), or what is to be rewritten, or both."""


class Policy:
    """Read-reclaim policy. Each drive gets a deep copy of the object.

    A policy is asked at alarms, never at every read. A view may be used only inside the call that
    gives it. Randomness comes from the generator of ``begin``, which follows from the run's seed;
    numbers from ``np.random`` are not reproducible.
    """

    name: ClassVar[str]
    protects: ClassVar[Literal["nothing", "unsafe", "deceivable", "sound"]] = "nothing"
    controller_ram_bytes: int = 0

    def begin(self, drive: dict[str, Any], rng: np.random.Generator) -> None:
        """Begin on a drive of this configuration, before anything else is asked."""

    def arm(self, view: View) -> float | None:
        """Return the first alarm of a block after its erase, in reads. None: never."""
        raise NotImplementedError

    def on_alarm(self, view: View) -> Answer:
        """Return the next alarm, which is more than ``view.reads``, or what is to be rewritten.

        A rewrite alone lets the block serve ``late_reads`` more until it is done.
        """
        raise NotImplementedError

    def erased(self, view: View, cause: str) -> None:
        """Hear of an erase of a block."""

    def budget(self, view: View, pec: int) -> Budget | Sequence[Budget] | None:
        """Return what the guarantee rests on, at this P/E count: a budget for each group of
        wordlines. A drive that leaves too little is refused. The view is of no block."""
        return None

    def thresholds(self, view: View, pec: int) -> Mapping[str, float] | None:
        """Return the reads after which blocks of this P/E count are rewritten, by name. The range
        of a life follows from how they fall with wear. The view is of no block."""
        return None
