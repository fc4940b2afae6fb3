"""Refresh and garbage collection written in Python have the results of their native twins."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest
import vpass
from vpass import Aged, Candidates, Refresh, Rewrite, VictimChooser

AGES: dict[str, Any] = {
    "workload.requests": 200_000,
    "workload.rate": 20_000,
    "workload.queue_depth": None,
    "refresh.period": "3s",
}
WRITES: dict[str, Any] = {"workload.requests": 50_000, "workload.read_share": 0.5}


class Block(Refresh):
    """The technique ``block`` without a patrol."""

    name = "block"

    def begin(self, drive: dict[str, Any], rng: np.random.Generator) -> None:
        own = drive["refresh"]["block"]
        self.period = vpass.duration_ns(drive["refresh"]["period"])
        self.lead = int(self.period * own["lead"])
        self.at_once = own["at_once"]

    def first_look(self, since_ns: int) -> int:
        return since_ns + self.period - self.lead

    def done_by(self, since_ns: int) -> int:
        return since_ns + self.period

    def on_time(self, aged: Aged) -> int | Rewrite:
        end = self.done_by(aged.since_ns)
        if aged.now_ns >= end or aged.under_way < self.at_once:
            return Rewrite()
        return min(aged.now_ns + max(self.lead // 16, 1), end)


class Greedy(VictimChooser):
    """The policy ``greedy``: the block with the fewest valid pages."""

    name = "greedy"

    def pick(self, among: Candidates) -> int:
        assert len(among) == len(among.blocks) > 0
        assert (np.diff(among.valid_pages.astype(int)) >= 0).all()
        return int(among.blocks[0])


class StableGreedy(VictimChooser):
    """The policy ``stable-greedy`` (TECS 2016), from the header of its page.

    Candidates are the first four blocks of each list, up to 5 % of a block above the emptiest. A
    candidate is stable if it has not changed for at least half as long as any other. The least
    worn of these is cleaned, and of equally worn ones the one that has not changed for longest.
    """

    name = "stable-greedy"
    candidates = 100_000

    def pick(self, among: Candidates) -> int:
        valid = among.valid_pages.astype(int)
        near = valid <= valid[0] + int(0.05 * among.pages_per_block)
        place = np.arange(len(valid)) - np.searchsorted(valid, valid)
        rows = np.flatnonzero(near & (place < 4))
        stable = rows[among.unchanged[rows] >= among.unchanged[rows].max() // 2]
        first = np.lexsort((-among.unchanged[stable].astype(int), among.wear[stable]))[0]
        return int(among.blocks[stable[first]])


def whole(result: vpass.Result) -> dict[str, Any]:
    """Return the whole summary, without the time that the run took."""
    return {**result.check(), "simulation": None}


@pytest.mark.parametrize("gear", ["timed", "untimed"])
def test_a_refresh_gives_the_summary_of_its_native_twin(gear: str) -> None:
    native = vpass.run("tiny", "zipf-read", set=AGES, gear=gear, refresh="block")
    python = vpass.run("tiny", "zipf-read", set=AGES, gear=gear, refresh=Block())
    assert native.at("refresh.invocations") > 100
    assert whole(python) == whole(native)
    assert python.python_s > 0 == native.python_s


@pytest.mark.parametrize("gear", ["timed", "untimed"])
@pytest.mark.parametrize("chooser", [Greedy(), StableGreedy()], ids=lambda one: str(one.name))
def test_a_chooser_gives_the_summary_of_its_native_twin(
    chooser: VictimChooser, gear: str
) -> None:
    native = vpass.run("tiny", "zipf-read", set=WRITES, gear=gear, gc=chooser.name)
    python = vpass.run("tiny", "zipf-read", set=WRITES, gear=gear, gc=chooser)
    assert native.at("flash.erases.gc") > 10
    assert whole(python) == whole(native)
    assert python.python_s > 0 == native.python_s


class Early(Block):
    """Refreshes blocks in the last half of the period, which its name does not say."""

    name = "early"

    def begin(self, drive: dict[str, Any], rng: np.random.Generator) -> None:
        super().begin(drive, rng)
        self.lead = self.period // 2


class Never(Early):
    """Refreshes nothing, although it is asked."""

    name = "never"

    def done_by(self, since_ns: int) -> None:  # type: ignore[override]
        return None

    def on_time(self, aged: Aged) -> int:
        return aged.now_ns + self.period


def test_the_oracle_holds_a_refresh_to_the_period_and_to_nothing_else() -> None:
    early = vpass.run("tiny", "zipf-read", set=AGES, gear="untimed", refresh=Early())
    assert early.check().at("refresh.oldest_s") < 2
    never = vpass.run("tiny", "zipf-read", set=AGES, gear="untimed", refresh=Never())
    with pytest.raises(vpass.Bug):
        never.check()


def refused(kind: type[BaseException], sentence: str, **options: Any) -> str:
    """Return the text of the exception of a run."""
    sets = AGES if "refresh" in options else WRITES
    with pytest.raises(kind, match=sentence) as found:
        vpass.run("tiny", "zipf-read", set=sets, gear="untimed", **options)
    return "".join(traceback.format_exception(found.value))


def with_method(of: Any, method: str, answer: Any) -> Any:
    """Return an object one of whose methods gives this answer."""
    setattr(of, method, lambda *given: answer)
    return of


def test_wrong_answers_end_the_run_with_a_sentence() -> None:
    part = Rewrite(wordlines=[1])
    for method, answer, kind, sentence in [
        ("on_time", part, ValueError, "a refresh rewrites the whole block"),
        ("on_time", None, TypeError, "the refresh policy returned None"),
        ("on_time", 0, vpass.UsageError, "refresh technique `block`, in on_time: the technique names 0 ns"),
        ("first_look", "soon", TypeError, "the refresh policy returned a str; a number of ns"),
        ("done_by", float("inf"), ValueError, "the time is inf"),
        ("first_look", -(10**18), vpass.UsageError, "in first_look: the technique names"),
    ]:
        refused(kind, sentence, refresh=with_method(Block(), method, answer))
    wrong = "gc technique `greedy`, in pick: the technique picked block 4294967294, which may not be picked"
    refused(vpass.UsageError, wrong, gc=with_method(Greedy(), "pick", 2**32 - 2))
    refused(TypeError, "the gc policy returned a float", gc=with_method(Greedy(), "pick", 1.5))
    refused(ValueError, "candidates = 0; it must be 1 or more", gc=with_candidates(0))
    refused(TypeError, r"refresh Greedy has no method first_look", refresh=Nameless())


class Nameless:
    """Has no method of a refresh technique."""


Nameless.__name__ = "Greedy"


def with_candidates(most: int) -> Greedy:
    """Return ``greedy`` with this number of candidates."""
    chooser = Greedy()
    chooser.candidates = most
    return chooser


def test_one_candidate_is_enough_for_greedy() -> None:
    few = vpass.run("tiny", "zipf-read", set=WRITES, gear="untimed", gc=with_candidates(1))
    many = vpass.run("tiny", "zipf-read", set=WRITES, gear="untimed", gc="greedy")
    assert whole(few) == whole(many)


def raises(*given: Any) -> Any:
    """Raise an exception of the user's code."""
    raise ZeroDivisionError("of this object")


def test_an_exception_names_method_and_block() -> None:
    refresh, gc = Block(), Greedy()
    setattr(refresh, "on_time", raises)
    setattr(gc, "pick", raises)
    texts = [
        (refused(ZeroDivisionError, "of this object", refresh=refresh), "refresh block, on_time"),
        (refused(ZeroDivisionError, "of this object", gc=gc), "gc policy greedy, pick"),
    ]
    for text, note in texts:
        assert "in raises" in text
        if hasattr(BaseException, "add_note"):
            assert f"{note}, block " in text


FIRST_DRAWS: list[float] = []


class Draws(Greedy):
    """Cleans a random one of the four emptiest blocks, and counts its picks."""

    name = "draws"
    candidates = 4

    def begin(self, drive: dict[str, Any], rng: np.random.Generator) -> None:
        self.rng, self.picks = rng, 0

    def pick(self, among: Candidates) -> int:
        draw = self.rng.random()
        if self.picks == 0:
            FIRST_DRAWS.append(draw)
        self.picks += 1
        return int(among.blocks[int(draw * len(among))])


def test_each_drive_has_its_own_copy_and_random_numbers_of_the_seed() -> None:
    chooser = Draws()
    for seed in (1, 1, 2):
        vpass.run("tiny", "zipf-read", set=WRITES, gear="untimed", gc=chooser, seed=seed)
    first, again, other = FIRST_DRAWS
    assert first == again != other
    assert not hasattr(chooser, "picks")
