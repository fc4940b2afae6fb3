"""Base class of refresh techniques written in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ._vpass import Aged, Rewrite

if TYPE_CHECKING:
    import numpy as np


class Refresh:
    """Refresh technique: rewrites blocks because of the age of their data.

    Each drive gets a deep copy of the object. Times are in ns after the clock began; ``since_ns``,
    at which the oldest page of a block was programmed, may be below 0. ``refresh.period`` of the
    configuration is the age that data may reach.
    """

    name: ClassVar[str]
    controller_ram_bytes: int = 0

    def begin(self, drive: dict[str, Any], rng: np.random.Generator) -> None:
        """Begin on a drive of this configuration, before anything else is asked."""

    def first_look(self, since_ns: int) -> float | None:
        """Return the time at which to be asked about a block. None: never."""
        raise NotImplementedError

    def done_by(self, since_ns: int) -> float | None:
        """Return the time by which a block must be rewritten, ahead of all other work. None: never.

        The answer may depend on ``since_ns`` and the configuration only, because vpass keeps it.
        """
        raise NotImplementedError

    def on_time(self, aged: Aged) -> float | Rewrite:
        """Return ``Rewrite()`` to rewrite a block that is due, or a later time to ask again."""
        raise NotImplementedError

    def set_back(self, by_ns: int) -> None:
        """Set back all times that the object keeps. The clock starts again after a warm-up."""
