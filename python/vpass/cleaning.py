"""Base class of garbage collection policies written in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ._vpass import Candidates

if TYPE_CHECKING:
    import numpy as np


class VictimChooser:
    """Garbage collection policy: chooses the next block to clean.

    Each drive gets a deep copy of the object. ``candidates`` is the largest number of blocks that
    ``pick`` is given.
    """

    name: ClassVar[str]
    candidates: int = 64

    def begin(self, drive: dict[str, Any], rng: np.random.Generator) -> None:
        """Begin on a drive of this configuration, before anything else is asked."""

    def pick(self, among: Candidates) -> int | None:
        """Return one of ``among.blocks``. None: no block, so that none is cleaned now."""
        raise NotImplementedError
