"""What the programs of all papers share: runs that are kept, and the results of a recipe.

`python papers/NAME/reproduce.py [RECIPE] [--small] [--out DIR] [--traces DIR] [--seed N]
[--threads N] [--fresh]` makes the runs of a recipe, and writes a CSV file for each figure. Then the
program prints the numbers of the paper beside those of vpass. The package `vpass` must be
installed; `python3 python/environment.py python papers/NAME/reproduce.py` builds it first.

A finished run is kept in `target/papers/NAME/kept` under a hash of everything that decides it.

Exit code: 0 if all ran, whatever the verdicts; 1 if the oracle found a bug or a run failed; 2 for
wrong usage; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import vpass
from figures import (
    REFUSED, Expected, Figure, Made, Number, Numbers, Summary, Value, comparison_csv, csv_of, digits,
    field_of, of, print_grid,
)
from loads import Requests, Shape, Variant, Workload, stem

TARGET = Path(__file__).resolve().parents[1] / "target" / "papers"
OF_MACHINE = ("wall_s", "requests_per_s", "peak_rss_bytes")
"""Values of a summary that differ between two runs with the same seed."""

Keep = Callable[[vpass.Result, "Run"], Summary]
"""Function that returns further values for the summary of a run."""


@dataclass
class Run(Made):
    """Run of a recipe, with the options of `vpass.run` that make it."""

    options: dict[str, Any]
    pages: float
    """Number of pages that the host sees."""
    keep: Keep | None

    @property
    def name(self) -> str:
        """Name of the run in messages."""
        return f"{self.group} {self.variant} {self.load} {self.technique}"

    def key(self) -> str:
        """Return a hash of everything that decides the run and its summary."""
        # Functions that keep values use others of their program.
        kept = "" if self.keep is None else inspect.getsource(sys.modules[self.keep.__module__])
        facts = f"{vpass.Point({}, self.options).key} {kept}"
        return hashlib.sha256(facts.encode()).hexdigest()[:32]

    def make(self, heard: vpass.running.Progress) -> None:
        """Make the run."""
        result = vpass.run(**self.options, progress=heard)
        self.summary, self.fell_behind = dict(result), result.fell_behind
        if self.keep is not None:
            self.summary |= self.keep(result, self)
        self.summary["simulation"] |= {key: None for key in OF_MACHINE}

    def said(self) -> list[str]:
        """Return sentences about a run that is not what it should be."""
        said, summary = [], self.summary
        if self.fell_behind:
            lag = summary["throughput"]["backlog_s"]
            after = summary["simulation"]["simulated_s"] - lag
            behind = f"{digits(lag)} s behind the requests after {digits(after)} s"
            said.append(f"{REFUSED}: {self.name}: {behind}")
        cycles = summary.get("cycles", {})
        for part, which in (("warm_up", "its warm-up"), ("counted", "the counted part")):
            if cycles.get(f"{part}_capped"):
                done = f"reached the limit of reads and ended after {cycles[part]:.2f} cycles"
                said.append(f"capped: {self.name}: {which} {done}")
        if summary["data_lost_pages"]:
            said.append(f"data lost: {summary['data_lost_pages']} pages in {self.name}")
        return said


@dataclass(frozen=True)
class Asked:
    """Settings of the user that decide the runs."""

    folder: Path
    """Folder of the paper."""
    seed: int = 1
    traces: Path | None = None


class Recipe:
    """Runs and figures of a paper."""

    def __init__(
        self,
        asked: Asked,
        title: str,
        drive: str,
        set: Mapping[str, Any],
        *,
        expected: str = "",
        gc: str = "greedy",
    ) -> None:
        """Begin a recipe, whose runs use the drive with the values `set`.

        `expected` names the file with the paper's numbers.
        """
        self.asked, self.title = asked, title
        self.drive, self.gc = vpass.Drive(drive, set), gc
        read = tomllib.loads((asked.folder / expected).read_text()) if expected else {}
        self.expected = [Expected.of(entry) for entry in read.get("expected", [])]
        self.not_reproduced: list[dict[str, str]] = read.get("not_reproduced", [])
        self.runs: list[Run] = []
        self.figures: list[Figure] = []
        self.files: dict[str, Callable[[], str]] = {}
        self.tables: dict[str, Callable[[], list[list[str]]]] = {}
        self.found: dict[str, Workload] = {}

    def traces(self, workloads: Sequence[Workload]) -> None:
        """Find real traces of workloads, and real traces that run beside workloads."""
        if self.asked.traces is None:
            return
        files = sorted(self.asked.traces.iterdir())
        for workload in workloads:
            names = [name.lower() for name in workload.traces]
            found = [file for file in files if stem(file) in names]
            if found:
                self.found[workload.name] = replace(workload, files=found)
        if not self.found:
            known = ", ".join(name for workload in workloads for name in workload.traces)
            raise vpass.UsageError(
                f"no trace of this recipe is in {self.asked.traces} (names known: {known})"
            )

    def group(
        self,
        name: str,
        techniques: Sequence[str],
        workloads: Sequence[Workload],
        variants: Sequence[Variant],
        requests: Requests,
        *,
        slot: str = "reclaim",
        set: Mapping[str, Any] | None = None,
        prepare: Callable[[vpass.Drive], vpass.Drive] = lambda drive: drive,
        seeds: int = 1,
        keep: Keep | None = None,
        **options: Any,
    ) -> None:
        """Add runs: each technique of a slot with each workload and each variant.

        `options` are those of `vpass.run`, and `samples`: "K/N" for K samples of one page in N.
        """
        for variant in variants:
            for workload in self._with_traces(workloads):
                sets = {**self.drive.set, **(set or {}), **workload.set, **variant.set}
                bare = vpass.Drive(variant.drive or self.drive.name, sets)
                drive = prepare(bare)
                shape = Shape.of(drive)
                made = (variant.requests or requests)(workload, drive, shape)
                shared = {"gc": self.gc, "oracle": "off", **options, **variant.options, **made}
                samples = in_samples(shared.pop("samples", ""))
                for seed in range(self.asked.seed, self.asked.seed + seeds):
                    for technique in variant.techniques or techniques:
                        own = variant.own.get(technique)
                        of_run = prepare(bare.with_(own)) if own else drive
                        given = {**shared, slot: technique, "seed": seed, "drive": of_run}
                        load = (workload.name, bool(workload.beside))
                        for sample in samples:
                            residue = sample.get("residue", 0)
                            of_it = (name, variant.name, *load, slot, technique, seed, residue)
                            run = Run(*of_it, given | sample, shape.pages, keep)
                            self.runs.append(run)

    def _with_traces(self, workloads: Sequence[Workload]) -> list[Workload]:
        """Return workloads with the real traces that replace them or run beside them."""
        every = []
        for workload in workloads:
            every.append(self.found.get(workload.name, workload))
            every += [one for one in self.found.values() if workload.name in one.beside]
        return every

    def figure(
        self, name: str, title: str, group: str, metric: Value | str, unit: str, **more: Any
    ) -> None:
        """Add a figure. A metric is a function, or the paths of numbers to add."""
        values = {"metric": metric, "over_metric": more.pop("over_metric", None)}
        made: dict[str, Any] = {
            key: of(one) if isinstance(one, str) else one for key, one in values.items()
        }
        figure = Figure(name=name, title=title, group=group, unit=unit, **made, **more)
        self.figures.append(figure)

    def plot(
        self,
        name: str,
        title: str,
        group: str,
        columns: str,
        rows: Callable[[Run], Iterable[str]],
        workload: str = "",
        techniques: Sequence[str] = (),
    ) -> None:
        """Add a file with many points for each run of a group."""

        def shows(run: Run) -> bool:
            is_named = run.technique in (techniques or [run.technique])
            return run.group == group and is_named and run.load == (workload or run.load)

        def csv() -> str:
            runs = [run for run in self.runs if shows(run)]
            lines = [f"# {title}", f"variant,workload,{runs[0].slot},{columns}"]
            for run in runs:
                names = f"{field_of(run.variant)},{field_of(run.load)},{run.technique}"
                lines += [f"{names},{row}" for row in rows(run)]
            return csv_of(lines)

        self.files[name] = csv

    def make_runs(self, threads: int, fresh: bool = False) -> None:
        """Make all runs, or take them from the folder of kept runs."""
        kept = TARGET / self.asked.folder.name / "kept"
        kept.mkdir(parents=True, exist_ok=True)
        largest = vpass.asked.asked(**max(self.runs, key=lambda run: run.pages).options)
        threads = max(1, min(threads, vpass._vpass.fit_in_memory(largest)))
        ends = threading.Event()

        def heard(_done: int, _total: int | None) -> None:
            if ends.is_set():
                raise InterruptedError("another run has failed")

        def one(run: Run) -> float:
            begun, file = time.monotonic(), kept / f"{run.key()}.json"
            if file.exists() and not fresh:
                run.summary, run.fell_behind = json.loads(file.read_text())
            else:
                run.make(heard)
                new = file.with_suffix(f".{os.getpid()}")
                new.write_text(json.dumps([run.summary, run.fell_behind]))
                new.replace(file)
            return time.monotonic() - begun

        with ThreadPoolExecutor(threads) as pool:
            runs = {pool.submit(one, run): run.name for run in self.runs}
            try:
                for done, future in enumerate(as_completed(runs), start=1):
                    took = f"{runs[future]}, {future.result():.1f} s"
                    print(f"{done} of {len(runs)}: {took}", file=sys.stderr)
            finally:
                ends.set()
                pool.shutdown(wait=True, cancel_futures=True)

    def write(self, out: Path) -> None:
        """Write a file for each figure, the comparison and all summaries, and print them."""
        out.mkdir(parents=True, exist_ok=True)
        numbers = {figure.name: Numbers(figure, self.runs) for figure in self.figures}
        unknown = [one for one in self.expected if one.figure not in numbers]
        if unknown:
            raise vpass.UsageError(f"{unknown[0].what}: unknown figure {unknown[0].figure}")
        compared = [(one, *one.compared(numbers[one.figure])) for one in self.expected]
        files = {name: of_figure.csv() for name, of_figure in numbers.items()}
        files |= {name: csv() for name, csv in self.files.items()}
        files["comparison"] = comparison_csv(compared)
        for name, csv in files.items():
            (out / f"{name}.csv").write_text(csv)
        rows = [
            {"group": run.group, "variant": run.variant, "workload": run.load, "seed": run.seed}
            | {run.slot: run.technique, "residue": run.residue, "fell_behind": run.fell_behind}
            | {"summary": run.summary}
            for run in self.runs
        ]
        (out / "runs.json").write_text(json.dumps(rows, indent=2, sort_keys=True) + "\n")
        self._print(numbers, compared)

    def _print(
        self, numbers: Mapping[str, Numbers], compared: Sequence[tuple[Expected, Number, str]]
    ) -> None:
        print(f"{self.title}\n  on {self.drive.name}; {self._sources()}")
        for figure in self.figures:
            over = f"over {figure.divisor}" if figure.divisor else figure.unit
            rows = "" if figure.by_workload else ", mean of the workloads"
            print(f"\n{figure.title} ({figure.name}; {over}{rows})")
            print_grid(numbers[figure.name].grid())
        for about, grid in self.tables.items():
            print(f"\n{about}")
            print_grid(grid())
        if compared:
            print("\nBeside the paper")
            head = ["source", "what", "paper", "here", ""]
            shown = [
                [one.source, one.what, digits(one.value), digits(here), verdict]
                for one, here, verdict in compared
            ]
            print_grid([head, *shown])
        for entry in self.not_reproduced:
            print(f"  not reproduced: {entry['what']}: {entry['why']}")
        for said in (said for run in self.runs for said in run.said()):
            print(f"  {said}")

    def _sources(self) -> str:
        def names(beside: bool) -> str:
            found = [one for one in self.found.values() if bool(one.beside) == beside]
            return ", ".join(f"{one.name} ({len(one.files)})" for one in found)

        instead, beside = names(False), names(True)
        said = f"real traces: {instead}; the other workloads are generated"
        said = said if instead else "every workload is generated"
        more = "these real traces ran beside the generated workloads and are not part of the means"
        return f"{said}; {more}: {beside}" if beside else said


def in_samples(samples: str) -> list[dict[str, Any]]:
    """Return the options of `vpass.run` for each sample of "K/N"; one entry without samples.

    The first pages of the samples are as far apart as possible.
    """
    if not samples:
        return [{}]
    count, every = (int(number) for number in samples.split("/"))
    return [{"sample": f"1/{every}", "residue": n * (every // count)} for n in range(count)]


def main(program: str, recipes: Mapping[str, Callable[[Asked], Recipe]]) -> None:
    """Run the recipe that the user names; by default, the first."""
    folder, first = Path(program).resolve().parent, next(iter(recipes))
    parser = argparse.ArgumentParser(description=f"Reproduces figures of {folder.name}.")
    add = parser.add_argument
    add("recipe", nargs="?", choices=list(recipes), default=first, help=f"default: {first}")
    add("--small", action="store_true", help="run the recipe small")
    add("--out", type=Path, help="folder of results; default: below target/papers")
    add("--traces", type=Path, help="folder with real traces of the paper's workloads")
    add("--seed", type=int, default=1, help="random seed; default: 1")
    add("--threads", type=int, default=os.cpu_count() or 1, help="default: number of cores")
    add("--fresh", action="store_true", help="make all runs again")
    args = parser.parse_args()
    name = "small" if args.small else args.recipe
    if args.traces is not None and not args.traces.is_dir():
        parser.error(f"--traces {args.traces}: a folder is expected")
    if args.threads < 1:
        parser.error(f"--threads {args.threads}: 1 or more is expected")
    try:
        recipe = recipes[name](Asked(folder, args.seed, args.traces))
        recipe.make_runs(args.threads, args.fresh)
        recipe.write(args.out or TARGET / folder.name / ("" if name == first else name))
    except KeyboardInterrupt:
        sys.exit(130)
    except vpass.Error as error:
        print(error, file=sys.stderr)
        sys.exit(2 if isinstance(error, vpass.UsageError) else 1)
    for run in recipe.runs:
        if (run.summary["oracle"] or {}).get("limit_violations"):
            sys.exit(f"the oracle found a bug of the drive model: {run.name}")
