"""Policies written in Python have the contract, the oracle and the results of native ones."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest
import vpass
from vpass import Policy, Rewrite, View

SETS: dict[str, Any] = {"workload.requests": 300_000}


class Block(Policy):
    """The technique ``block`` by its formula."""

    name = "block"
    protects = "sound"
    controller_ram_bytes = 0

    def threshold(self, view: View) -> float:
        """Return T: the smallest over all groups of floor((limit - D_move) / alpha) - R_late."""
        if view.limits is None:
            return float("inf")
        pages, own = view.pages_per_block, view.pages_per_wordline
        late = view.late_reads
        moves = [(limit, alpha, pages + 2 * (alpha - 1) * own) for limit, alpha in view.limits]
        first = min(float(np.floor((limit - move) / alpha)) for limit, alpha, move in moves)
        return max(first - late, 1)

    def arm(self, view: View) -> float:
        return self.threshold(view)

    def on_alarm(self, view: View) -> Rewrite:
        return Rewrite()

    def thresholds(self, view: View, pec: int) -> dict[str, float]:
        """Return T as ``block`` states it; nothing where reads disturb nothing."""
        return {} if view.limits is None else {"block": self.threshold(view)}

    def budget(self, view: View, pec: int) -> list[vpass.Budget]:
        """Return what each group of wordlines needs: the reads of the job, and one more read."""
        pages, own = view.pages_per_block, view.pages_per_wordline
        return [
            vpass.Budget(
                group=group,
                endures=limit,
                alpha=alpha,
                reads=1 + view.late_reads,
                own=pages + 2 * (alpha - 1) * own,
            )
            for group, (limit, alpha) in enumerate(view.limits or [])
        ]


class StrawWl(Policy):
    """The technique ``straw-wl`` with arrays: STRAW (CAL 2024, III) with exact counters."""

    name = "straw-wl"

    def begin(self, drive: dict[str, Any], rng: np.random.Generator) -> None:
        self.interval = int(drive["reclaim"]["straw-wl"]["check_interval"])
        self.budgets: dict[Any, Any] = {}

    def kept(self, view: View) -> Any:
        """Return what each wordline may have at a check, its alpha, and the extremes of both."""
        if view.limit_class not in self.budgets:
            limit, alpha = view.wordline_limits()
            late = max(view.late_reads, 1)
            served = max(self.interval, late + 1) + late
            keep = limit - served * alpha - 2 * view.pages_per_wordline * (alpha - 1)
            self.budgets[view.limit_class] = keep, alpha, float(keep.min()), float(alpha.max())
        return self.budgets[view.limit_class]

    def movers(self, view: View, pages: int) -> float:
        return float(min(pages * view.heaviest_read, view.pages_per_block))

    def next_check(self, now: int, slack: float, alpha: float) -> int:
        """Return the first check at which the wordline with this slack can be used up."""
        quiet = int(max(slack, 0.0) * 1024) // int(alpha * 256) // 4
        return -(-(now + max(quiet, 1)) // self.interval) * self.interval

    def arm(self, view: View) -> int:
        _, _, fresh, alpha = self.kept(view)
        return self.next_check(0, fresh - self.movers(view, view.pages_per_block), alpha)

    def on_alarm(self, view: View) -> Any:
        keep, _, fresh, alpha = self.kept(view)
        pages = view.valid_pages + view.pages_to_come
        margin = keep - self.movers(view, pages) - view.doses
        looked_at = view.valid_wordlines
        if view.pages_to_come:
            bits, written = view.pages_per_wordline, view.pages_per_block - view.pages_to_come
            first = np.arange(0, view.pages_per_block, bits)
            looked_at |= (first + bits > written) & ((first < written) | view.preprogram_counts)
        used_up = looked_at & (margin < 0)
        if used_up.any():
            return Rewrite(wordlines=used_up)
        slack = float(margin[looked_at].min()) if looked_at.any() else 2.0**40
        if view.pages_to_come:
            slack = min(slack, fresh - self.movers(view, view.pages_per_block))
        return self.next_check(view.reads, slack, alpha)


def counts(result: vpass.Result) -> dict[str, Any]:
    """Return what a technique decides, of a summary."""
    of = {key: result[key] for key in ("host", "flash", "latency_us", "wear", "data_lost_pages")}
    return of | {"reclaim": result["reclaim"]}


@pytest.mark.parametrize("gear", ["timed", "untimed"])
@pytest.mark.parametrize(
    ("drive", "sets"),
    [
        ("tiny", {}),
        ("tiny", {"start.pec": 2000}),
        ("tiny", {"workload.read_share": 0.99, "workload.requests": 2_000_000}),
    ],
)
@pytest.mark.parametrize("policy", [Block(), StrawWl()])
def test_a_policy_gives_the_counts_of_its_native_twin(
    policy: Policy, drive: str, sets: dict[str, Any], gear: str
) -> None:
    sets = SETS | sets
    native = vpass.run(drive, "zipf-read", set=sets, gear=gear, reclaim=policy.name)
    python = vpass.run(drive, "zipf-read", set=sets, gear=gear, reclaim=policy)
    assert native.reclaim.alarms > 0
    found, right = counts(python), counts(native)
    if not isinstance(policy, Block):
        # This policy states no thresholds, from which the range of life follows.
        for of in (found, right):
            of["wear"] = {key: value for key, value in of["wear"].items() if "pec" in key}
    assert found == right
    assert python.check().python_calls > 0 and 0 < python.python_s


class Sleeps(Policy):
    """Never asks for anything."""

    name = "sleeps"

    def arm(self, view: View) -> None:
        return None

    def on_alarm(self, view: View) -> None:
        return None


class SaysSound(Sleeps):
    """Never asks for anything, and says that it loses nothing."""

    name = "says-sound"
    protects = "sound"


def test_data_lost_against_its_word_is_named_and_raised() -> None:
    sets = {"workload.requests": 3_000_000, "start.pec": 2500}
    lost = vpass.run("tiny", "zipf-read", set=sets, gear="untimed", reclaim=SaysSound())
    assert lost.data_lost_pages > 0 and "says-sound" in lost.warnings[-1]
    with pytest.raises(vpass.DataLost, match="says-sound"):
        lost.check()
    vpass.run("tiny", "zipf-read", set=sets, gear="untimed", reclaim=Sleeps()).check()


class Raises(Sleeps):
    """Raises at an alarm."""

    name = "raises"

    def arm(self, view: View) -> Any:
        return 5

    def on_alarm(self, view: View) -> Any:
        raise ZeroDivisionError("of this policy")


class Behind(Raises):
    """Answers with an alarm that has passed."""

    name = "behind"

    def on_alarm(self, view: View) -> Any:
        return view.reads


class Keeps(Raises):
    """Keeps its view."""

    name = "keeps"
    kept: View | None = None

    def on_alarm(self, view: View) -> Any:
        if Keeps.kept is not None:
            return Keeps.kept.reads + 10**6
        Keeps.kept = view
        return None


def test_an_exception_ends_the_run_with_its_traceback_method_and_block() -> None:
    with pytest.raises(ZeroDivisionError, match="of this policy") as found:
        vpass.run("tiny", "zipf-read", set=SETS, reclaim=Raises())
    text = "".join(traceback.format_exception(found.value))
    assert "on_alarm" in text and "test_policy.py" in text
    if hasattr(found.value, "__notes__"):
        assert "policy raises, on_alarm, block" in text


def test_wrong_answers_end_the_run_with_a_sentence() -> None:
    with pytest.raises(vpass.UsageError, match="technique `behind`, in on_alarm: block .* never"):
        vpass.run("tiny", "zipf-read", set=SETS, reclaim=Behind())
    for answer, kind, sentence in [
        (float("nan"), ValueError, "the next alarm is NaN"),
        ("soon", TypeError, "the policy returned a str"),
        (Rewrite(wordlines=[10**6]), ValueError, "wordline 1000000 does not exist"),
        ((10**6, 7), TypeError, "must be a list of Rewrites"),
    ]:
        policy = Raises()
        setattr(policy, "on_alarm", lambda view, answer=answer: answer)
        with pytest.raises(kind, match=sentence):
            vpass.run("tiny", "zipf-read", set=SETS, reclaim=policy)


class TooLittle(Block):
    """Says that it needs more than any wordline bears."""

    name = "too-little"

    def budget(self, view: View, pec: int) -> list[vpass.Budget]:
        assert view.pec == pec
        return [vpass.Budget(group=0, endures=100.0, alpha=8.0, reads=20, own=0.0)]


class WrongBudget(TooLittle):
    """States a budget of a group that no drive has."""

    def budget(self, view: View, pec: int) -> Any:
        return [vpass.Budget(group=99, endures=1.0, alpha=1.0, reads=1, own=0.0)]


class LooksAtABlock(TooLittle):
    """Asks for a block where there is none."""

    def budget(self, view: View, pec: int) -> Any:
        return view.reads


def test_a_drive_that_leaves_too_little_is_refused() -> None:
    assert TooLittle().budget is not None
    with pytest.raises(vpass.UsageError, match="too-little"):
        vpass.run("tiny", "zipf-read", set=SETS, reclaim=TooLittle())
    with pytest.raises(ValueError, match="names group 99, but the drive has groups"):
        vpass.run("tiny", "zipf-read", set=SETS, reclaim=WrongBudget())
    with pytest.raises(RuntimeError, match="this view has no block"):
        vpass.run("tiny", "zipf-read", set=SETS, reclaim=LooksAtABlock())


def test_a_view_cannot_be_used_after_its_call() -> None:
    Keeps.kept = None
    vpass.run("tiny", "zipf-read", set=SETS, reclaim=Keeps())
    assert Keeps.kept is not None
    with pytest.raises(RuntimeError, match="only during the call"):
        _ = Keeps.kept.reads


class Draws(Sleeps):
    """Alarms at random."""

    name = "draws"

    def begin(self, drive: dict[str, Any], rng: np.random.Generator) -> None:
        assert drive["geometry"]["cell"]
        self.rng = rng

    def arm(self, view: View) -> Any:
        return int(self.rng.integers(100, 1000))

    def on_alarm(self, view: View) -> Any:
        return Rewrite(wordlines=view.valid_wordlines)


def test_random_numbers_follow_from_the_seed() -> None:
    def copied(seed: int) -> Any:
        result = vpass.run("tiny", "zipf-read", set=SETS, reclaim=Draws(), seed=seed)
        return result.reclaim.pages_copied

    assert copied(1) == copied(1) != copied(2)
