"""Figures of a paper, the paper's numbers beside them, and both as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

REFUSED = "refused: could not keep up"
"""Text that replaces a number if the drive could not keep up with the requests."""
STUDENT_T = {2: 12.706, 3: 4.3027, 4: 3.1824, 5: 2.7764}
"""Two-sided 95 % quantiles of Student's t distribution, by the number of values."""
NO_CHANGE = 0.1
"""Least change of vpass, as a share of the paper's, that does not disagree."""

Summary = dict[str, Any]
Value = Callable[[Summary], float]
"""Function that returns a number of a summary."""
Number = float | str | None
"""Number of a figure, or REFUSED; None if a divisor is 0 or a workload has no number."""


@dataclass
class Made:
    """Run of a recipe. Its summary is empty until the run has been made."""

    group: str
    variant: str
    load: str
    """Name of the workload."""
    is_beside: bool
    """Whether a real trace runs beside the workloads. It is left out of means."""
    slot: str
    technique: str
    seed: int
    residue: int
    """Number of the first page of the run's sample."""
    summary: Summary = field(default_factory=dict, kw_only=True)
    fell_behind: bool = field(default=False, kw_only=True)


def added(numbers: Iterable[float]) -> float:
    """Return the sum, added from left to right. `sum` rounds differently from Python 3.12 on."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def mean_of(numbers: Sequence[float]) -> float:
    """Return the mean of numbers."""
    return added(numbers) / len(numbers)


def mean(numbers: Sequence[Number]) -> Number:
    """Return the mean, which hides no run without a number."""
    if REFUSED in numbers:
        return REFUSED
    known = [number for number in numbers if isinstance(number, float)]
    return mean_of(known) if known and len(known) == len(numbers) else None


def at(summary: Summary, path: str) -> float:
    """Return the number of a summary at a path such as "flash.erases.gc".

    Null means that nothing was counted, and is 0.
    """
    value: Any = summary
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return 0.0 if value is None else float(value)


def of(paths: str, *, times: Sequence[float] = ()) -> Value:
    """Return a function that adds numbers of a summary, each multiplied by its factor."""
    factors = times or [1.0] * len(paths.split())
    pairs = list(zip(paths.split(), factors, strict=True))
    return lambda summary: added(at(summary, path) * factor for path, factor in pairs)


@dataclass(frozen=True)
class Figure:
    """Table with one number for every run of a group."""

    name: str
    title: str
    group: str
    metric: Value
    unit: str
    share_of: str = ""
    """Paths of numbers. The figure's number is divided by their sum."""
    over: str = ""
    """Technique by whose number all numbers are divided."""
    over_variant: str = ""
    """Variant by whose number the numbers of each technique are divided."""
    over_metric: Value | None = None
    """Number of the divisor's run, if it is not that of `metric`."""
    techniques: Sequence[str] = ()
    workloads: Sequence[str] = ()
    without: Sequence[str] = ()
    """Workloads that a second mean leaves out."""
    sums: bool = False
    """Whether to show a ratio of sums over all workloads."""
    by_workload: bool = False
    interval: bool = False
    """Whether to print the 95 % interval of each workload, over seeds and samples."""

    def shows(self, run: Made) -> bool:
        """Return whether the figure has a number of a run."""
        is_named = run.technique in (self.techniques or [run.technique])
        return run.group == self.group and is_named and run.load in (self.workloads or [run.load])

    @property
    def divisor(self) -> str:
        """Technique or variant whose number is the divisor; empty without a divisor."""
        return self.over or self.over_variant

    def means(self) -> dict[str, str]:
        """Return the kinds of means, each with its words."""
        without = {"without": f"mean without {' and '.join(self.without)}"} if self.without else {}
        return {"all": "mean"} | without | ({"sums": "ratio of sums"} if self.sums else {})

    def of_run(self, run: Made) -> float:
        """Return the number of a run. A share of nothing is 0."""
        if not self.share_of:
            return self.metric(run.summary)
        whole = of(self.share_of)(run.summary)
        return self.metric(run.summary) / whole if whole > 0.0 else 0.0


class Row:
    """Number of a run. `base` divides the numbers of other runs."""

    def __init__(self, figure: Figure, run: Made) -> None:
        self.run, self.raw = run, figure.of_run(run)
        self.base = self.raw if figure.over_metric is None else figure.over_metric(run.summary)
        self.divisor = 1.0
        self.shown: Number = REFUSED if run.fell_behind else self.raw

    def divide(self, by: Row) -> None:
        """Divide the number by that of another row."""
        self.divisor = by.base
        if self.run.fell_behind or by.run.fell_behind:
            self.shown = REFUSED
        else:
            self.shown = self.raw / self.divisor if self.divisor > 0.0 else None


class Numbers:
    """Numbers of a figure, in the order of the runs."""

    def __init__(self, figure: Figure, runs: Iterable[Made]) -> None:
        self.figure = figure
        self.rows = [Row(figure, run) for run in runs if figure.shows(run)]
        self.variants = list(dict.fromkeys(row.run.variant for row in self.rows))
        self.techniques = list(dict.fromkeys(row.run.technique for row in self.rows))
        self.workloads = list(dict.fromkeys(row.run.load for row in self.rows))
        if figure.divisor:
            bases = {self._key(row.run): row for row in self.rows}
            for row in self.rows:
                row.divide(bases[self._key(row.run, figure.over_variant, figure.over)])

    @staticmethod
    def _key(run: Made, variant: str = "", technique: str = "") -> tuple[Any, ...]:
        of_run = (run.load, run.seed, run.residue)
        return *of_run, variant or run.variant, technique or run.technique

    def _of(self, variant: str, technique: str) -> list[Row]:
        named = (variant, technique)
        return [row for row in self.rows if (row.run.variant, row.run.technique) == named]

    def mean(self, kind: str, variant: str, technique: str) -> Number:
        """Return a mean over seeds and workloads, without real traces beside them."""
        out = self.figure.without if kind == "without" else ()
        rows = [row for row in self._of(variant, technique) if not row.run.is_beside]
        rows = [row for row in rows if row.run.load not in out]
        shown = [row.shown for row in rows]
        if kind != "sums" or REFUSED in shown:
            return mean(shown)
        divisor = added(row.divisor for row in rows)
        return added(row.raw for row in rows) / divisor if divisor > 0.0 else None

    def of_workload(self, variant: str, workload: str, technique: str) -> list[Number]:
        """Return the numbers of a workload, over seeds and samples."""
        return [row.shown for row in self._of(variant, technique) if row.run.load == workload]

    def csv(self) -> str:
        """Return the figure as CSV."""
        runs, figure = [row.run for row in self.rows], self.figure
        apart = ("seed", "residue")
        columns = [name for name in apart if len({getattr(run, name) for run in runs}) > 1]
        named = ["sample" if name == "residue" else name for name in columns]
        over = field_of(f"over_{figure.divisor.replace('-', '_').replace(' ', '_')}")
        head = ["variant", "workload", *named, runs[0].slot, field_of(figure.unit)]
        lines = [f"# {figure.title}", ",".join(head + [over] * bool(figure.divisor))]
        for row, run in zip(self.rows, runs, strict=True):
            which = [str(getattr(run, name)) for name in columns]
            raw = REFUSED if run.fell_behind else text(row.raw)
            cells = [field_of(run.variant), field_of(run.load), *which, run.technique, raw]
            lines.append(",".join(cells + [text(row.shown)] * bool(figure.divisor)))
        for variant in self.variants:
            for kind, words in figure.means().items():
                names = [field_of(variant), field_of(words), *("mean" for _ in columns)]
                for technique in self.techniques:
                    number = text(self.mean(kind, variant, technique))
                    no_raw = [""] * bool(figure.divisor)
                    lines.append(",".join([*names, technique, *no_raw, number]))
        return csv_of(lines)

    def grid(self) -> list[list[str]]:
        """Return the means, and the numbers of each workload if the figure shows them."""
        grid = [["", *self.techniques]]
        for variant in self.variants:
            for workload in self.workloads if self.figure.by_workload else []:
                every = [self.of_workload(variant, workload, one) for one in self.techniques]
                cells = [digits(mean(one)) + self._half_width(one) for one in every]
                grid.append([f"{variant} {workload}", *cells])
            for kind, words in self.figure.means().items():
                is_named = self.figure.by_workload or kind != "all"
                cells = [digits(self.mean(kind, variant, one)) for one in self.techniques]
                grid.append([f"{variant} {words}" if is_named else variant, *cells])
        return grid

    def _half_width(self, numbers: Sequence[Number]) -> str:
        known = [number for number in numbers if isinstance(number, float)]
        if not self.figure.interval or len(known) != len(numbers) or len(known) not in STUDENT_T:
            return ""
        middle, n = mean_of(known), len(known)
        variance = added((one - middle) ** 2 for one in known) / (n - 1)
        return f" ± {digits(STUDENT_T[n] * math.sqrt(variance / n))}"


@dataclass(frozen=True)
class Expected:
    """Number that the paper prints, and how it is compared."""

    source: str
    what: str
    figure: str
    variant: str
    technique: str
    workload: str = ""
    mean: str = "all"
    value: float | None = None
    """Number in the paper; absent if the available text lacks it."""
    tolerance: float | None = None
    """Largest difference that agrees, as a share of the paper's number."""
    change_within: float | None = None
    """For ratios: largest difference of the changes that agrees, as a share of the paper's change.
    A ratio of 0.9 is a change of -0.1. For a small change, `tolerance` would accept no change."""
    calibrated: bool = False
    """Whether a parameter of the drive was fitted to this number. Agreement then proves nothing."""
    direction_only: bool = False
    """Whether only the direction is compared: both above 1, or both below 1. With `below` or
    `above`, the number is compared with that of another technique, in the variant `than`."""
    below: str = ""
    above: str = ""
    than: str = ""

    @staticmethod
    def of(entry: dict[str, Any]) -> Expected:
        """Return an entry of `expected.toml`.

        Raises ValueError if the entry does not say how its number is compared.
        """
        slot = next(key for key in ("reclaim", "refresh", "parity") if key in entry)
        given = Expected(**{"technique" if key == slot else key: of for key, of in entry.items()})
        if given.direction_only == (given.tolerance is not None):
            raise ValueError(f"{given.what}: either tolerance or direction_only is expected")
        if given.value is None and not (given.direction_only and (given.below or given.above)):
            raise ValueError(f"{given.what}: a value, below or above is expected")
        return given

    def compared(self, numbers: Numbers) -> tuple[Number, str]:
        """Return the number of vpass, and the verdict on it."""
        here, other = self._number(numbers, self.variant, self.technique), self.below or self.above
        than = self._number(numbers, self.than or self.variant, other) if other else math.nan
        return here, self.verdict(here, than)

    def _number(self, numbers: Numbers, variant: str, technique: str) -> Number:
        if self.workload:
            return mean(numbers.of_workload(variant, self.workload, technique))
        return numbers.mean(self.mean, variant, technique)

    def verdict(self, here: Number, than: Number) -> str:
        """Return the verdict on a number of vpass. `than` is that of `below` or `above`."""
        if REFUSED in (here, than):
            return REFUSED
        if not isinstance(here, float) or not isinstance(than, float):
            return "no number"
        value = math.nan if self.value is None else self.value
        if self.direction_only:
            if self.below or self.above:
                holds = here < than if self.below else here > than
            else:
                holds = (here - 1.0) * (value - 1.0) > 0.0
            return "direction only" if holds else "disagrees"
        is_close = abs(here - value) <= (self.tolerance or 0.0) * abs(value)
        if self.change_within is not None:
            of_change = (here - 1.0) / (value - 1.0)
            if of_change < NO_CHANGE:
                return "disagrees"
            if not is_close or abs(of_change - 1.0) > self.change_within:
                return "direction only"
        if not is_close:
            return "differs"
        return "agrees, by calibration" if self.calibrated else "agrees"


def comparison_csv(compared: Iterable[tuple[Expected, Number, str]]) -> str:
    """Return the paper's number, the number of vpass and the verdict of each comparison as CSV."""
    lines = ["source,what,paper,here,tolerance,verdict,change_within"]
    for entry, here, verdict in compared:
        shown = text(here) if isinstance(here, float) else ""
        cells = [quoted(entry.source), quoted(entry.what), text(entry.value), shown]
        cells += [text(entry.tolerance), quoted(verdict), text(entry.change_within)]
        lines.append(",".join(cells))
    return csv_of(lines)


def csv_of(lines: Sequence[str]) -> str:
    """Return the text of a file."""
    return "\n".join([*lines, ""])


def text(number: Number) -> str:
    """Return all digits of a number, without an exponent."""
    if not isinstance(number, float | int):
        return number or ""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else repr(number)
    return format(Decimal(repr(float(number))), "f").removesuffix(".0")


def scientific(number: float, places: int) -> str:
    """Return a number such as "5.84e-4"."""
    mantissa, exponent = f"{number:.{places}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def digits(number: Number) -> str:
    """Return a number with three digits, or with all digits before the decimal point."""
    if not isinstance(number, float | int):
        return "refused" if number else "-"
    value = abs(number)
    if value >= 1e15 or 0 < value < 0.001:
        return scientific(number, 2 if value >= 1e15 else 1)
    if value >= 99.95:
        return f"{math.floor(number + 0.5):,}"
    return f"{number:.{1 if value >= 9.995 else 3 if 0 < value < 0.1 else 2}f}"


def field_of(name: str) -> str:
    """Return a name as a field of CSV."""
    return quoted(name) if any(char in name for char in ',"\n\r') else name


def quoted(name: str) -> str:
    """Return a name as a quoted field of CSV."""
    return '"' + name.replace('"', '""') + '"'


def print_grid(grid: Sequence[Sequence[str]]) -> None:
    """Print a table. Columns of numbers are aligned to the right."""
    columns = list(zip(*grid, strict=True))
    widths = [max(map(len, column)) for column in columns]
    to_right = [all(cell[:1] in "-0123456789r" for cell in column[1:]) for column in columns]
    for row in grid:
        cells = [
            cell.rjust(width) if n and is_right else cell.ljust(width)
            for n, (cell, width, is_right) in enumerate(zip(row, widths, to_right, strict=True))
        ]
        print(f"  {'  '.join(cells).rstrip()}")
