"""Search for the value of a key with which a drive lives longest, or lives some years.

Each tried value is one call of ``vpass.life``. All calls have the same seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ._vpass import UsageError, duration_ns
from .asked import AnyDrive, AnyWorkload
from .command import life
from .record import Record

FIRST = 9
"""Number of values that the search for the longest life tries first."""
CLOSER = 8
"""Number of later values, between the neighbours of the best first value. They find the peak to
within 1/40 of the step between first values."""
GOLDEN = (math.sqrt(5) - 1) / 2
BETWEEN = 12
"""Largest number of values that the search for given years tries between its two ends."""
WITHIN = 0.005
"""Largest accepted difference from the given years, as a share of them."""
RUNG = 2
"""Rung of the lives, unless the caller sets their accuracy."""
ACCURACY = {"rung", "exact", "within", "minutes"}
UNITS = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}
"""Units of time in seconds. A time is written in the largest unit that is not longer."""


@dataclass(frozen=True)
class Tried:
    """Value that a search tried, with its life.

    ``text`` is the value as ``set`` takes it, and ``value`` is the value as a number. The number of
    a time is in seconds. ``life`` is the entry of ``techniques`` in the result of ``vpass.life``.
    If the drive is invalid with the value, ``life`` is None and ``refused`` is the reason.
    """

    text: str
    value: float
    life: Record | None
    refused: str | None

    @property
    def years(self) -> float:
        """Years of the life; 0 if the drive lost data, or if it is invalid with the value."""
        if self.life is None or self.life.data_lost_pages > 0:
            return 0.0
        return float(self.life.years.mean)

    @property
    def ci95(self) -> float:
        """Half of the width of the 95 % interval of the years; 0 if there is no interval."""
        return 0.0 if self.life is None else float(self.life.years.ci95 or 0)

    @property
    def lives_on(self) -> bool:
        """Whether the drive outlives the simulation with the value."""
        return self.life is not None and self.years > 0 and not self.life.ended


@dataclass(frozen=True)
class Found:
    """Result of ``vpass.find``.

    ``best`` is the value with the longest life, or with the given years. It is None if there is no
    such value. Values with which the drive lost data never count. ``best`` is also None if the
    drive outlives the simulation with the longest life. ``points`` are all tried values, from the
    smallest. ``other_peaks`` are further values with longer lives than their neighbours; the search
    refined only the highest peak.
    """

    key: str
    best: Tried | None
    points: list[Tried]
    other_peaks: list[Tried]

    @property
    def alike(self) -> list[Tried]:
        """Other values with which the life may be as long as with ``best``."""
        best = self.best
        if best is None:
            return []
        kept = [one for one in self.points if one is not best and one.years > 0]
        return [one for one in kept if not _is_clearly_longer(best, one)]


def find(
    drive: AnyDrive,
    workload: AnyWorkload,
    key: str,
    low: float | str,
    high: float | str,
    *,
    lasts: float | None = None,
    **options: Any,
) -> Found:
    """Find the value of a key with which a drive lives longest, or lives ``lasts`` years.

    The values are from ``low`` to ``high``: whole numbers if both are ints, and times if both are
    texts such as ``"30d"``. The search first tries nine values in equal logarithmic steps, and then
    does a golden-section search around the best one. With ``lasts``, the search interpolates until
    the years are within 0.5 %. From ``low`` to ``high``, the years must only rise or only fall.

    ``options`` are those of ``life``, with one technique of each kind. Without ``rung``, ``exact``,
    ``within`` or ``minutes``, the lives are on rung 2.
    """
    options = options if ACCURACY & options.keys() else options | {"rung": RUNG}
    sets = dict(options.pop("set", None) or {})

    def live(text: str) -> Record:
        techniques = life(drive, workload, set=sets | {key: text}, **options).techniques
        if len(techniques) != 1:
            raise ValueError("find() compares values of a key, with one technique of each kind")
        only: Record = techniques[0]
        return only

    search = _Search(key, low, high, live)
    return search.longest() if lasts is None else search.lasting(lasts)


class _Search:
    """Search over the values of one key. It keeps the values that were tried, in their order."""

    def __init__(
        self, key: str, low: float | str, high: float | str, live: Callable[[str], Record]
    ) -> None:
        self.key, self.live = key, live
        self.kind: type = type(low) if type(low) is type(high) else float
        self.low, self.high = self.number(low), self.number(high)
        self.tried: dict[str, Tried] = {}
        if not 0 < self.low < self.high < math.inf:
            raise UsageError(f"{key}: low={low!r}, high={high!r}; 0 < low < high is expected")

    def number(self, of: float | str) -> float:
        return duration_ns(str(of)) / 1e9 if self.kind is str else float(of)

    def text(self, value: float) -> str:
        """Return a value in few digits, as ``set`` takes it."""
        if self.kind is int:
            return str(max(1, math.floor(value + 0.5)))
        if self.kind is str:
            unit = next((unit for unit, length in UNITS.items() if value >= length), "s")
            return f"{float(f'{value / UNITS[unit]:.3e}'):g}{unit}"
        return f"{float(f'{value:.5e}'):.15g}"

    def years(self, value: float) -> float:
        """Return the years with a value. A value that was tried before is not simulated again."""
        text = self.text(value)
        if text not in self.tried:
            lived: Record | None = None
            refused: str | None = None
            try:
                lived = self.live(text)
            except UsageError as error:
                refused = str(error)
            self.tried[text] = Tried(text, self.number(text), lived, refused)
        return self.tried[text].years

    def require_valid(self) -> None:
        """Raise UsageError if the drive is invalid with every tried value."""
        first = next(iter(self.tried.values()))
        if all(one.life is None for one in self.tried.values()):
            raise UsageError(f"{self.key}: no value gives a valid drive; with {first.text}: "
                             f"{first.refused}")

    def found(self, best: Tried | None, other_peaks: Sequence[Tried] = ()) -> Found:
        points = sorted(self.tried.values(), key=lambda one: one.value)
        return Found(self.key, best, points, list(other_peaks))

    def longest(self) -> Found:
        step = math.log(self.high / self.low) / (FIRST - 1)
        for n in range(FIRST):
            self.years(self.low * math.exp(step * n))
        self.require_valid()
        first = list(self.tried.values())
        top = max(range(len(first)), key=lambda at: first[at].years)
        others = [first[at] for at in _peaks(first) if at != top]
        low, high = first[max(top - 1, 0)], first[min(top + 1, len(first) - 1)]
        # If the drive outlives the simulation, no closer value can be better.
        if low is not high and not first[top].lives_on:
            self.look_closer(math.log(low.value), math.log(high.value))
        best = max(self.tried.values(), key=lambda one: one.years)
        return self.found(best if best.years > 0 and not best.lives_on else None, others)

    def look_closer(self, low: float, high: float) -> None:
        """Try values between two values, which are given as logarithms: golden-section search."""
        lower, upper = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        of_lower, of_upper = self.years(math.exp(lower)), self.years(math.exp(upper))
        for _ in range(CLOSER - 2):
            if of_lower >= of_upper:
                high, upper, of_upper = upper, lower, of_lower
                lower = high - GOLDEN * (high - low)
                of_lower = self.years(math.exp(lower))
            else:
                low, lower, of_lower = lower, upper, of_upper
                upper = low + GOLDEN * (high - low)
                of_upper = self.years(math.exp(upper))

    def lasting(self, target: float) -> Found:
        ends = [(value, self.years(value)) for value in (self.low, self.high)]
        self.require_valid()
        if (ends[0][1] >= target) == (ends[1][1] >= target):
            return self.found(None)
        for _ in range(BETWEEN):
            value = self.between(ends, target)
            years = self.years(value)
            if abs(years / target - 1) <= WITHIN:
                return self.found(self.tried[self.text(value)])
            same_side = (years >= target) == (ends[0][1] >= target)
            ends[0 if same_side else 1] = (value, years)
        return self.found(None)

    def between(self, ends: Sequence[tuple[float, float]], target: float) -> float:
        """Return the value to try between two values with their years.

        Logarithms are interpolated, because the years are often inversely proportional to the
        value. If the years of a value are only a bound, the first values are in the middle.
        """
        (low, low_years), (high, high_years) = ends
        is_bound = any(one.lives_on or one.years == 0 for one in self.tried.values())
        share = 0.5
        if min(low_years, high_years) > 0 and not (is_bound and len(self.tried) < 6):
            share = math.log(target / low_years) / math.log(high_years / low_years)
        return float(low * (high / low) ** min(max(share, 0.02), 0.98))


def _peaks(points: Sequence[Tried]) -> list[int]:
    """Return the indexes of the peaks of a curve.

    Two peaks count as two if both rise above the valley between them by more than the intervals.
    """
    peaks: list[int] = []
    for at, point in enumerate(points):
        rises = at == 0 or points[at - 1].years < point.years
        falls = at + 1 == len(points) or points[at + 1].years <= point.years
        if not (rises and falls):
            continue
        if peaks:
            before = points[peaks[-1]]
            valley = min(points[peaks[-1] : at + 1], key=lambda one: one.years)
            if any(one.years - valley.years <= one.ci95 + valley.ci95 for one in (before, point)):
                if point.years > before.years:
                    peaks[-1] = at
                continue
        peaks.append(at)
    return peaks


def _is_clearly_longer(best: Tried, other: Tried) -> bool:
    """Return whether a life is longer than another one by more than both intervals.

    Lives whose wear had not settled have no interval, so nothing is known.
    """
    has_settled = all(one.life is not None and one.life.has_settled for one in (best, other))
    return has_settled and best.years - other.years > best.ci95 + other.ci95
