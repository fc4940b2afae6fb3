"""Base class of garbage collection policies written in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ._vpass import Candidates

if TYPE_CHECKING:
    import numpy as np


class VictimChooser:
    """Garbage collection policy, which chooses the next block to clean.

    Each drive gets a deep copy of the object. ``candidates`` is the largest number of blocks among
    which ``pick`` chooses.
    """

    name: ClassVar[str]
    candidates: int = 64

    def begin(self, drive: dict[str, Any], rng: np.random.Generator) -> None:
        """Prepare for a drive with the configuration ``drive``. vpass calls this method first."""

    def pick(self, among: Candidates) -> int | None:
        """Return one of ``among.blocks``, or None to clean no block now."""
        raise NotImplementedError
