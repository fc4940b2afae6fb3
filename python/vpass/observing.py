"""Observers written in Python, and the names of events."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy.typing as npt


class Event(IntEnum):
    """Kind of an event, in the column ``kind``."""

    MEASURED_PHASE = 0
    """Counting begins."""
    CLOCK_RESTARTED = 1
    """The clock is set back to 0; ``value`` is the time that had passed, in ns."""
    WROTE = 2
    """The host wrote the page ``lpn``; ``value`` is 1 if the whole page is new."""
    TRIMMED = 3
    """The host trimmed ``lpn``."""
    LOST = 4
    """The drive reported the data of ``lpn`` as lost."""
    REBUILT = 5
    """The data of ``lpn`` could not be read, and was rebuilt from its stripe."""
    SUPERSEDED = 6
    """The page ``lpn`` on flash is given up, because newer data is in memory."""
    PROGRAMMED = 7
    """The page ``ppn`` was programmed with the data of ``lpn``."""
    PADDED = 8
    """The empty page ``ppn`` was programmed to complete a wordline."""
    MERGED = 9
    """The wordline ``value`` of ``block`` was programmed again, with fewer states."""
    RECODED = 10
    """The wordline ``value`` of ``block``, or the whole block, has other limits from now on."""
    ALARM = 11
    """The reclaim technique is about to be asked about ``block``. GC may be moving it already."""
    JOB_BEGAN = 12
    """A job begins to move ``value`` pages of ``block``, or all of them."""
    JOB_ENDED = 13
    """A job has ended and left data in ``block``."""
    ERASED = 14
    """A block was erased."""
    FAILED = 15
    """``value`` pages from ``ppn`` on have failed."""
    REBUILD_DONE = 16
    """All data on failed flash is rebuilt or lost."""
    UNPROTECTED = 17
    """The parity of stripe ``value`` is given up."""
    AWAITS_PARITY = 18
    """Stripe ``value`` waits for its parity."""
    NEEDS_NO_PARITY = 19
    """Stripe ``value`` has no parity from now on."""
    LIVES_IN = 20
    """Stage ``value`` of the drive's life begins."""


class Cause(IntEnum):
    """Cause of an event, in the column ``cause``."""

    HOST = 0
    """Request of the host."""
    GC = 1
    """Garbage collection."""
    RECLAIM = 2
    """Rewriting because of reads."""
    REFRESH = 3
    """Rewriting because of age."""
    WEAR = 4
    """Wear levelling."""
    PARITY = 5
    """Parity of a stripe."""
    RETRY = 6
    """Further sensing of a page."""
    HINT = 7
    """Regrouping of data by the hints of the host."""
    NONE = 255
    """The event has no cause."""


class Observer:
    """Observer of a run. The object itself takes the events, so that it can keep results.

    It takes events in batches and never single reads. An observer changes nothing in the drive.
    """

    name: ClassVar[str]

    def begin(self, drive: dict[str, Any]) -> None:
        """Begin with a drive of this configuration, in its start-up state."""

    def events(self, batch: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take up to 65,536 events, in the order in which they happened, as columns.

        Columns of every event: ``kind`` (an ``Event``), ``cause`` (a ``Cause``), ``time_ns``,
        ``requests`` (announced by the host so far), and ``reads`` (pages read so far). Columns
        that depend on the kind: ``block``, ``ppn`` (page on flash), ``lpn`` (page of the host), and
        ``value``. Without a block or page, a column has 2^32 - 1.

        A batch also ends before the reclaim technique is asked, and at the end of the run.
        """
        raise NotImplementedError
