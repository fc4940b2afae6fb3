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
"""Next alarm in reads of the block (None: never), or the rewrites to make, or both."""


class Policy:
    """Read-reclaim policy. Each drive gets a deep copy of the object.

    A policy is called at alarms, not at every read. A view may be used only inside the call that
    provides it. For random numbers, use the generator of ``begin``, which follows from the seed of
    the run. Numbers from ``np.random`` are not reproducible.
    """

    name: ClassVar[str]
    protects: ClassVar[Literal["nothing", "unsafe", "deceivable", "sound"]] = "nothing"
    controller_ram_bytes: int = 0

    def begin(self, drive: dict[str, Any], rng: np.random.Generator) -> None:
        """Prepare for a drive with the configuration ``drive``. vpass calls this method first."""

    def arm(self, view: View) -> float | None:
        """Return the first alarm of a block after its erase, in reads, or None for no alarm."""
        raise NotImplementedError

    def on_alarm(self, view: View) -> Answer:
        """Return the next alarm, which must exceed ``view.reads``, or the rewrites to make.

        If only rewrites are returned, the block may serve ``late_reads`` more reads until the job
        is done.
        """
        raise NotImplementedError

    def erased(self, view: View, cause: str) -> None:
        """Take note that a block was erased. ``cause`` is the cause of the erase."""

    def budget(self, view: View, pec: int) -> Budget | Sequence[Budget] | None:
        """Return the basis of the policy's guarantee at a P/E count: a budget for each group of
        wordlines. vpass refuses a drive whose limits are too small for a budget. The view has no
        block."""
        return None

    def thresholds(self, view: View, pec: int) -> Mapping[str, float] | None:
        """Return, by name, the numbers of reads after which blocks with a P/E count are rewritten.
        The range of a life follows from the decrease of these numbers with wear. The view has no
        block."""
        return None
