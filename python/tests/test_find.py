"""The search for a value of a key: its steps on curves by hand, and its answers on drives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import vpass
from vpass import Record, Tried, finding

def life_of(years: float, /, **more: Any) -> Record:
    """Return a life of so many years, which had settled, lost no data and ended."""
    plain = {"data_lost_pages": 0, "ended": True, "has_settled": True}
    return Record(plain | {"years": {"mean": years, "ci95": 0.1}} | more)


@pytest.fixture
def curve(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[float], Record]], None]:
    """Return a function that replaces simulated lives by those of a curve."""

    def use(live: Callable[[float], Record]) -> None:
        def life(drive: str, workload: str, *, set: dict[str, str], **options: Any) -> Record:
            assert options == {"rung": 2}
            text = set["a.key"]
            value = vpass.duration_ns(text) / 1e9 if text[-1].isalpha() else float(text)
            return Record({"techniques": [dict(live(value))]})

        monkeypatch.setattr(finding, "life", life)

    return use


def find(low: float | str, high: float | str, **more: Any) -> vpass.Found:
    return vpass.find("a drive", "a workload", "a.key", low, high, **more)


@pytest.mark.parametrize("peak", [5.0, 7.0, 12.0])
def test_the_search_approaches_the_peak(curve: Any, peak: float) -> None:
    curve(lambda value: life_of(10 - math.log(value / peak) ** 2))
    found = find(1.0, 256.0)
    assert found.best is not None
    assert abs(math.log(found.best.value / peak)) < math.log(2) / 10
    values = [one.value for one in found.points]
    assert values == sorted(values) and len(values) == 9 + 8
    assert {2.0**n for n in range(9)} < set(values), "even steps of the logarithm"
    assert found.other_peaks == []
    # A life of 10 years has an interval of 0.1 years, and its neighbours lie within 0.2 years.
    near = [one for one in found.points if one.years > found.best.years - 0.2]
    assert found.alike == [one for one in near if one is not found.best]


def point(years: float, ci95: float = 0.1, **more: Any) -> Tried:
    return Tried("1", 1.0, life_of(years, years={"mean": years, "ci95": ci95}, **more), None)


def test_a_dent_is_not_a_second_peak() -> None:
    two = [1.0, 5.0, 3.0, 4.0, 2.0]
    peaks = finding._peaks
    assert peaks([point(years) for years in two]) == [1, 3]
    assert peaks([point(years, 0.6) for years in two]) == [1]
    assert peaks([point(years) for years in (1.0, 2.0, 3.0)]) == [2]
    lossy = [point(years, data_lost_pages=int(years == 5.0)) for years in two]
    assert peaks(lossy) == [0, 3], "a value that loses data does not count"
    refused = [Tried("1", 1.0, None, "why") if years == 5.0 else point(years) for years in two]
    assert peaks(refused) == [0, 3], "a refused value does not count"


def test_the_highest_of_several_peaks_is_refined(curve: Any) -> None:
    curve(lambda value: life_of({2.0: 5.0, 32.0: 9.0}.get(value, 1.0)))
    found = find(1.0, 256.0)
    assert found.best is not None and found.best.text == "32"
    assert [one.text for one in found.other_peaks] == ["2"]


def test_a_value_that_loses_data_or_is_invalid_has_no_years(curve: Any) -> None:
    def live(value: float) -> Record:
        if value < 3:
            raise vpass.UsageError("too small")
        return life_of(value, data_lost_pages=value > 100)

    curve(live)
    found = find(1, 256)
    assert [one.refused for one in found.points][:3] == ["too small", "too small", None]
    assert found.best is not None and 64 < found.best.value <= 100
    assert all(one.years == 0 for one in found.points if one.value > 100)
    curve(lambda value: life_of(1.0, data_lost_pages=1))
    assert find(1, 256).best is None


def test_lives_that_outlast_the_simulation_have_no_best_value(curve: Any) -> None:
    curve(lambda value: life_of(100.0, ended=False))
    found = find(1, 256)
    assert found.best is None and len(found.points) == 9 and all(p.lives_on for p in found.points)


def test_values_have_few_digits(curve: Any) -> None:
    curve(lambda value: life_of(10 - math.log(value / 1000) ** 2))

    def texts(low: float | str, high: float | str) -> list[str]:
        return [one.text for one in find(low, high).points]

    assert texts(500, 2000)[:3] == ["500", "595", "707"]
    assert texts(3.2e-9, 1.0)[:2] == ["3.2e-09", "3.68983e-08"]
    assert texts("1s", "480d")[0::16] == ["1s", "480d"]
    assert {"8.958s", "1.337min", "1.789h", "5.981d"} < set(texts("1s", "480d"))


def test_a_range_that_holds_no_value_is_refused(curve: Any) -> None:
    curve(lambda value: life_of(1.0))
    ranges: list[tuple[Any, Any]] = [(2, 1), (0, 1), (-1.0, 1.0), ("2d", "1d")]
    for low, high in ranges:
        with pytest.raises(vpass.UsageError, match="0 < low < high is expected"):
            find(low, high)
    with pytest.raises(ValueError, match="soon"):
        find("1d", "soon")


def test_the_value_that_lasts_is_found_between_two_values(curve: Any) -> None:
    curve(lambda value: life_of(20_000 / value))
    found = find(100.0, 9000.0, lasts=10)
    assert found.best is not None and found.best.text == "2000" and len(found.points) == 3
    assert find(3000.0, 9000.0, lasts=10).best is None, "both ends live too short"
    curve(lambda value: life_of(value))
    found = find(1.0, 16.0, lasts=10)
    assert found.best is not None and found.best.value == 10


def test_a_bound_is_halved_and_not_interpolated(curve: Any) -> None:
    # The years of the first end are only a lower bound. The search tries the middle,
    # sqrt(100 x 9000).
    curve(lambda value: life_of(min(100.0, 20_000 / value), ended=value > 200))
    found = find(100.0, 9000.0, lasts=10)
    assert "948.683" in [one.text for one in found.points]
    assert found.best is not None and abs(found.best.years / 10 - 1) <= 0.005


OLD: dict[str, Any] = {"workload.rate": 20_000, "drive.capacity": "256MiB", "start.pec": 2990}
"""Keys of a drive that wears out in about two minutes."""


def test_a_search_on_a_drive_gives_its_curve() -> None:
    options: dict[str, Any] = {"reclaim": "count", "exact": True, "oracle": "off"}
    found = vpass.find(
        "tiny", "zipf-read", "reclaim.count.reads", 500, 2000, set=OLD, **options
    )
    assert found.best is not None and found.best.text == "2000"
    assert len(found.points) == 17 and found.points[0].text == "500"
    one = vpass.life("tiny", "zipf-read", set=OLD | {"reclaim.count.reads": 500}, **options)
    assert found.points[0].life is not None
    assert dict(found.points[0].life) == one["techniques"][0]


def test_a_wrong_key_or_two_techniques_are_refused() -> None:
    for key, said in [("geometry.cell", "geometry.cell"), ("refresh.perod", "refresh.perod")]:
        with pytest.raises(vpass.UsageError, match=f"no value gives a valid drive.*{said}"):
            vpass.find("tiny", "zipf-read", key, 1, 2, set=OLD)
    with pytest.raises(ValueError, match="one technique of each kind"):
        vpass.find("tiny", "zipf-read", "start.pec", 2980, 2990, reclaim=["block", "none"], set=OLD)


CYCLES = 40
"""Cycles that a block endures here, instead of 100,000, so that a life takes seconds."""
YEARS = 10 * CYCLES / 100_000
"""Years that the stack lasts: as many P/E cycles a year as 100,000 in ten years."""


@pytest.mark.parametrize(
    ("reads", "low", "high", "gb_per_s"),
    [(1_000_000, 50e6, 62e6, 227), (3_000_000, 150e6, 190e6, 681)],
)
def test_the_bandwidth_of_high_bandwidth_flash_is_that_of_the_closed_form(
    reads: int, low: float, high: float, gb_per_s: float
) -> None:
    """Life is P/E cycles x blocks x reads per refresh / reads per second. A stack has 174,900
    blocks, and a read is 4 KiB."""
    by_hand = CYCLES * 174_900 * reads * 4096 / (YEARS * 365 * 86_400)
    assert by_hand == pytest.approx(gb_per_s * 1e9, rel=0.002)
    found = vpass.find(
        "hbf-slc", "uniform-read", "workload.rate", low, high, lasts=YEARS, reclaim="count",
        # Blocks at all phases of their count, as after many refreshes.
        set={"reclaim.count.reads": reads, "reclaim.count.spread": 1, "drive.rated_pec": CYCLES},
        sample="1/768", exact=True, oracle="off",
    )
    assert found.best is not None and found.best.life is not None
    life = found.best.life
    per_second = life.host_bytes_read.mean / (life.years.mean * 365 * 86_400)
    assert per_second == pytest.approx(by_hand, rel=0.01)
    assert all(one.life is not None and not one.life.data_lost_pages for one in found.points)
