"""Base class of refresh techniques written in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ._vpass import Aged, Rewrite

if TYPE_CHECKING:
    import numpy as np


class Refresh:
    """Refresh technique, which rewrites blocks because of the age of their data.

    Each drive gets a deep copy of the object. Times are in ns after the clock began. ``since_ns``
    is the time at which the oldest page of a block was programmed; it may be negative. The key
    ``refresh.period`` of the configuration is the age that data may reach.
    """

    name: ClassVar[str]
    controller_ram_bytes: int = 0

    def begin(self, drive: dict[str, Any], rng: np.random.Generator) -> None:
        """Prepare for a drive with the configuration ``drive``. vpass calls this method first."""

    def first_look(self, since_ns: int) -> float | None:
        """Return the time at which to call ``on_time`` for a block, or None for never."""
        raise NotImplementedError

    def done_by(self, since_ns: int) -> float | None:
        """Return the time by which a block must be rewritten, or None for no such time.

        The rewrite has priority over all other work. The answer must depend only on ``since_ns``
        and the configuration, because vpass keeps the answer.
        """
        raise NotImplementedError

    def on_time(self, aged: Aged) -> float | Rewrite:
        """Return ``Rewrite()`` to rewrite a block that is due, or the time of its next check."""
        raise NotImplementedError

    def set_back(self, by_ns: int) -> None:
        """Subtract ``by_ns`` from all times that the object keeps, because a warm-up has ended."""
