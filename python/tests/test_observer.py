"""Observers take the events of a run in batches of columns, and change nothing."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import vpass
from vpass import Cause, Event, Observer, Policy, Rewrite, View, _vpass

Batch = Mapping[str, npt.NDArray[Any]]

SETS: dict[str, Any] = {
    "workload.requests": 600_000,
    "workload.read_share": 0.95,
    "start.pec": 2500,
}


class Counts(Observer):
    """Keeps all events of the measured phase."""

    name = "counts"

    def __init__(self) -> None:
        self.drive: dict[str, Any] = {}
        self.batches: list[Batch] = []

    def begin(self, drive: dict[str, Any]) -> None:
        self.drive = drive

    def events(self, batch: Batch) -> None:
        self.batches.append(batch)

    def column(self, name: str) -> npt.NDArray[Any]:
        return np.concatenate([batch[name] for batch in self.batches])


def test_the_names_are_those_of_the_drive() -> None:
    kinds, causes = _vpass.event_names()
    assert [kind.name.lower() for kind in Event] == kinds
    assert [cause.name.lower() for cause in Cause][:-1] == causes
    assert [*Event] == list(range(len(kinds))) and [*Cause][:-1] == list(range(len(causes)))


def test_events_agree_with_the_summary() -> None:
    one, other = Counts(), Counts()
    result = vpass.run("tiny", "zipf-read", set=SETS, observer=[one, other])
    kind, cause = one.column("kind"), one.column("cause")
    for name in ("host", "gc", "reclaim"):
        of = cause == Cause[name.upper()]
        assert (of & (kind == Event.PROGRAMMED)).sum() == result.at(f"flash.programs.{name}") > 0
        assert (of & (kind == Event.ERASED)).sum() == result.at(f"flash.erases.{name}")
    # A technique is also asked about blocks that GC moves already; these are no alarms.
    assert (kind == Event.ALARM).sum() >= result.reclaim.alarms > 10
    assert (kind == Event.MEASURED_PHASE).sum() == 1
    assert all((one.column(name) == other.column(name)).all() for name in one.batches[0])
    # Places of programs: a block and a page in it, and the page of the host.
    ppn = one.column("ppn")[kind == Event.PROGRAMMED]
    geometry = one.drive["geometry"]
    assert geometry["cell"] == "tlc"
    pages = 3 * geometry["wordlines_per_block"]
    assert (ppn // pages == one.column("block")[kind == Event.PROGRAMMED]).all()
    assert (one.column("ppn")[kind == Event.ALARM] == 2**32 - 1).all()
    # Without observers, the result is the same, and no time is spent in Python.
    alone = vpass.run("tiny", "zipf-read", set=SETS)
    assert {**result, "simulation": 0} == {**alone, "simulation": 0}
    assert result.python_s > 0 == alone.python_s


class Looks(Policy):
    """Compares each alarm with what an observer has taken."""

    name = "looks"

    def __init__(self) -> None:
        self.alarms = 0

    def __deepcopy__(self, memo: Any) -> Looks:
        return self

    def arm(self, view: View) -> float:
        return 1_000

    def on_alarm(self, view: View) -> Rewrite:
        last = COUNTS.batches[-1]
        assert last["kind"][-1] == Event.ALARM and last["block"][-1] == view.block
        self.alarms += 1
        return Rewrite()


COUNTS = Counts()


def test_a_batch_ends_before_the_policy_is_asked() -> None:
    policy = Looks()
    vpass.run("tiny", "zipf-read", set=SETS, reclaim=policy, gear="untimed", observer=COUNTS)
    assert policy.alarms > 10


class Raises(Observer):
    """Raises in its second batch."""

    calls = 0

    def events(self, batch: Batch) -> None:
        self.calls += 1
        if self.calls == 2:
            raise ZeroDivisionError("of this observer")


def test_an_exception_ends_the_run_with_its_traceback() -> None:
    raises = Raises()
    with pytest.raises(ZeroDivisionError, match="of this observer") as found:
        vpass.run("tiny", "zipf-read", set=SETS, observer=raises)
    text = "".join(traceback.format_exception(found.value))
    assert "events" in text and "test_observer.py" in text and raises.calls == 2
    if hasattr(found.value, "__notes__"):
        assert "observer Raises, events, " in text
    with pytest.raises(TypeError, match=r"observer int has no method events\(batch\)"):
        vpass.run("tiny", "zipf-read", set=SETS, observer=5)  # type: ignore[arg-type]
