"""Base class of read-reclaim policies written in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ._vpass import Rewrite, View

if TYPE_CHECKING:
    import numpy as np

Answer = float | None | Rewrite | Sequence[Rewrite] | tuple[float | None, Sequence[Rewrite]]
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
