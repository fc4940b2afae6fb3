"""Base class of observers written in Python, with kinds and causes of events."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy.typing as npt


class Event(IntEnum):
    """Kind of an event, as in the column ``kind`` of a batch."""

    MEASURED_PHASE = 0
    """The warm-up has ended, and the measured phase begins."""
    CLOCK_RESTARTED = 1
    """The clock was set back to 0. ``value`` is the time in ns that it showed before."""
    WROTE = 2
    """The host wrote the page ``lpn``. ``value`` is 1 if the write covers the whole page."""
    TRIMMED = 3
    """The host trimmed the page ``lpn``."""
    LOST = 4
    """The drive reported the data of the page ``lpn`` as lost."""
    REBUILT = 5
    """The data of the page ``lpn`` could not be read, and was rebuilt from its stripe."""
    SUPERSEDED = 6
    """The flash copy of the page ``lpn`` is now invalid, because newer data is in memory."""
    PROGRAMMED = 7
    """The flash page ``ppn`` was programmed with the data of the page ``lpn``."""
    PADDED = 8
    """The flash page ``ppn`` was programmed without data, to complete a wordline."""
    MERGED = 9
    """The wordline ``value`` of ``block`` was programmed again, with fewer states."""
    RECODED = 10
    """The limits of wordline ``value`` of ``block``, or of the whole block, have changed."""
    ALARM = 11
    """``block`` has reached its alarm. The technique is called next. GC may already move it."""
    JOB_BEGAN = 12
    """A job begins to move ``value`` pages of ``block``, or all of its pages."""
    JOB_ENDED = 13
    """A job has ended and left data in ``block``."""
    ERASED = 14
    """A block was erased."""
    FAILED = 15
    """``value`` flash pages from the page ``ppn`` on have failed."""
    REBUILD_DONE = 16
    """The rebuild after a failure has ended. All affected data is rebuilt or lost."""
    UNPROTECTED = 17
    """The parity of stripe ``value`` is no longer valid."""
    AWAITS_PARITY = 18
    """Stripe ``value`` waits until its parity is programmed."""
    NEEDS_NO_PARITY = 19
    """Stripe ``value`` has no parity from now on."""
    LIVES_IN = 20
    """Stage ``value`` of the drive's life begins."""


class Cause(IntEnum):
    """Cause of an event, as in the column ``cause`` of a batch."""

    HOST = 0
    """A request of the host."""
    GC = 1
    """Garbage collection."""
    RECLAIM = 2
    """Rewriting of data before reads spoil it."""
    REFRESH = 3
    """Rewriting of data because of its age."""
    WEAR = 4
    """Wear levelling."""
    PARITY = 5
    """Parity of a stripe."""
    RETRY = 6
    """Read retry: another sensing of a page after a failed read."""
    HINT = 7
    """Regrouping of data by the hints of the host."""
    NONE = 255
    """The event has no cause."""


class Observer:
    """Observer of a run. The object is not copied, so that it can keep results.

    An observer receives events in batches, but no single reads. It cannot change the drive.
    """

    name: ClassVar[str]

    def begin(self, drive: dict[str, Any]) -> None:
        """Prepare for a drive with the configuration ``drive``, in its start-up state."""

    def events(self, batch: Mapping[str, npt.NDArray[Any]]) -> None:
        """Receive up to 65,536 events as columns, in the order in which they happened.

        Every event has the columns ``kind`` (an ``Event``), ``cause`` (a ``Cause``), ``time_ns``,
        ``requests`` (announced by the host so far), and ``reads`` (pages read so far). Other
        columns depend on the kind: ``block``, ``ppn`` (page on flash), ``lpn`` (page of the host),
        and ``value``. If an event has no block or page, the column contains 2^32 - 1.

        A batch also ends before each call of the reclaim technique, and at the end of the run.
        """
        raise NotImplementedError
