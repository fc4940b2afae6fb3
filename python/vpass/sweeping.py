"""Sweeps: an executor runs the points, and a folder keeps their results."""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import multiprocessing
import os
import pickle
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from numbers import Number
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._vpass import DriveStopped, UsageError
from .frames import frame_of
from .points import Point, shown
from .record import Record
from .running import run

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


class Sweep:
    """Points of a sweep with their results, in the order of the points."""

    def __init__(self, points: Sequence[Point], found: dict[str, dict[str, Any]]) -> None:
        self.points = list(points)
        self._found = found

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[tuple[Point, Record | None]]:
        """Yield each point with its summary, or with None if the point was refused."""
        for point in self.points:
            summary = self._found[point.key]["summary"]
            yield point, None if summary is None else Record(summary)

    def rows(self, *columns: str) -> list[dict[str, Any]]:
        """Return a row for each point: swept keys, ``refused`` (a sentence or None), and columns.

        A column is a path in the JSON of a result, such as ``reclaim.pages_copied``. By default,
        all numbers of a result are columns.
        """
        wanted = [column for column in columns if column not in self._swept()]
        rows = []
        for point, summary in self:
            refused = self._found[point.key]["refused"]
            row: dict[str, Any] = {key: shown(point.swept.get(key)) for key in self._swept()}
            row["refused"] = refused
            if columns:
                row |= {path: None if summary is None else summary.at(path) for path in wanted}
            elif summary is not None:
                row |= _numbers(dict(summary))
            rows.append(row)
        return rows

    def _swept(self) -> list[str]:
        return list(dict.fromkeys(key for point in self.points for key in point.swept))

    def frame(self, *columns: str) -> pl.DataFrame:
        """Return the rows as a polars frame, which has ``to_pandas()`` and ``write_parquet()``."""
        return frame_of([_plain(row) for row in self.rows(*columns)])

    def lines(self, *, x: str, value: str) -> Figure:
        """Draw a value of the results over one swept key, as a mean over seeds.

        Each combination of the other swept keys has a line of its own.
        """
        figure, axes = _axes()
        others = self._others(x)
        means = self._means(value, x, *others)
        for of in dict.fromkeys(key[1:] for key in means):
            line = [(at, means[(at, *of)]) for at in self._places(x) if (at, *of) in means]
            axes.plot(*zip(*line, strict=True), marker="o", label=", ".join(map(str, of)))
        if others:
            axes.legend(title=", ".join(others))
        axes.set(xlabel=x, ylabel=value + self._of_seeds(x))
        return figure

    def heatmap(self, *, x: str, y: str, value: str, log: bool = False) -> Figure:
        """Draw a value of the results over two swept keys, as a mean over seeds.

        Cells of refused points are white. If a third key is swept, ValueError is raised.
        """
        if others := self._others(x, y):
            raise ValueError(
                f"a cell has several values of {' and '.join(others)}; draw lines(), or sweep only "
                f"{x} and {y}"
            )
        figure, axes = _axes()
        means, across, up = self._means(value, x, y), self._places(x), self._places(y)
        cells = [[means.get((at, above), float("nan")) for at in across] for above in up]
        image = axes.imshow(cells, origin="lower", aspect="auto", norm="log" if log else None)
        axes.set_xticks(range(len(across)), [str(one) for one in across])
        axes.set_yticks(range(len(up)), [str(one) for one in up])
        axes.set(xlabel=x, ylabel=y)
        figure.colorbar(image, label=value + self._of_seeds(x, y))
        return figure

    def _others(self, *axes: str) -> list[str]:
        return [key for key in self._swept() if key not in (*axes, "seed")]

    def _places(self, key: str) -> list[Any]:
        """Return the values of a swept key on an axis: in order if they are numbers."""
        values = list(dict.fromkeys(_known(shown(one.swept.get(key))) for one in self.points))
        return sorted(values) if all(isinstance(one, int | float) for one in values) else values

    def _means(self, value: str, *keys: str) -> dict[tuple[Any, ...], float]:
        """Return the mean of a value over the points that have the same values of these keys."""
        found: dict[tuple[Any, ...], list[float]] = {}
        for row in map(_plain, self.rows(value)):
            if row[value] is not None:
                found.setdefault(tuple(row[key] for key in keys), []).append(float(row[value]))
        return {of: sum(values) / len(values) for of, values in found.items()}

    def _of_seeds(self, *axes: str) -> str:
        """Return a note for a label: over how many seeds the value is a mean."""
        seeds = 1 if "seed" in axes else len(self._places("seed"))
        return f", mean of {seeds} seeds" if seeds > 1 else ""


def sweep(
    points: Sequence[Point],
    folder: str | os.PathLike[str],
    *,
    executor: Executor | None = None,
    retries: int = 2,
    progress: bool = False,
) -> Sweep:
    """Run all points that have no result in the folder yet, and return the results of all points.

    The folder keeps each result in a file of its own, so a sweep that was stopped can continue.
    Without ``executor``, a pool with one process for each core runs the points. If a process of the
    pool dies, a new pool runs the unfinished points again. The sweep fails after ``retries`` such
    attempts in a row without a finished point. At the end, ``sweep.csv`` is written to the folder.
    """
    for at, point in enumerate(points):
        if not isinstance(point, Point):
            raise TypeError(
                f"points[{at}] is a {type(point).__name__}; points of vpass.grid, vpass.draws or "
                "vpass.Point are expected"
            )
    room = Path(folder)
    (room / "points").mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, Any]] = {}
    todo: dict[str, Point] = {}
    for point in points:
        file = _file(room, point.key)
        if file.exists():
            found[point.key] = json.loads(file.read_text())
        else:
            todo[point.key] = point
    told = _Told(len(todo), progress)
    broken = 0
    while todo:
        before = len(todo)
        pool = executor or ProcessPoolExecutor(
            mp_context=multiprocessing.get_context("spawn"), initializer=_end_with_parent
        )
        try:
            _run_all(pool, room, todo, found, told)
        except BrokenExecutor:
            broken = broken + 1 if len(todo) == before else 1
            if executor is not None or broken > retries:
                raise
        finally:
            if executor is None:
                pool.shutdown(wait=True, cancel_futures=True)
    done = Sweep(points, found)
    _write_csv(room / "sweep.csv", done.rows())
    return done


def _run_all(
    pool: Executor,
    room: Path,
    todo: dict[str, Point],
    found: dict[str, dict[str, Any]],
    told: _Told,
) -> None:
    futures: dict[Future[dict[str, Any]], str] = {
        pool.submit(_work, point.swept, point.options): key for key, point in todo.items()
    }
    try:
        for future in as_completed(futures):
            key = futures[future]
            found[key] = future.result()
            _write(_file(room, key), json.dumps(found[key]))
            del todo[key]
            told.done()
    except BaseException:
        for future in futures:
            future.cancel()
        raise


def _end_with_parent() -> None:
    """End this worker process when the process of the sweep is killed."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _work(swept: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Run a point of the sweep in a worker process."""
    try:
        summary: dict[str, Any] | None = dict(run(**options))
        refused = None
    except (UsageError, DriveStopped) as error:
        summary, refused = None, str(error)
    return {"swept": {key: str(shown(value)) for key, value in swept.items()}, "summary": summary,
            "refused": refused}


class _Told:
    """Progress of a sweep, shown on standard error."""

    def __init__(self, total: int, shows: bool) -> None:
        self._total, self._shows, self._done, self._begun = total, shows, 0, time.monotonic()

    def done(self) -> None:
        self._done += 1
        if not self._shows:
            return
        left = (time.monotonic() - self._begun) / self._done * (self._total - self._done)
        end = "\n" if self._done == self._total or not sys.stderr.isatty() else "\r"
        text = f"{self._done} of {self._total} points, {left:.0f} s left"
        print(f"{text:<50}", end=end, file=sys.stderr, flush=True)


def _file(room: Path, key: str) -> Path:
    return room / "points" / f"{key}.json"


def _write(file: Path, text: str) -> None:
    """Write a file, which is either complete or absent if writing is interrupted."""
    unfinished = file.with_suffix(f".{os.getpid()}.unfinished")
    unfinished.write_text(text)
    unfinished.replace(file)


def _write_csv(file: Path, rows: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    unfinished = file.with_suffix(".unfinished")
    with unfinished.open("w", newline="") as out:
        table = csv.DictWriter(out, columns, restval="")
        table.writeheader()
        table.writerows(rows)
    unfinished.replace(file)


def _numbers(of: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return all numbers in nested JSON, by their paths."""
    found: dict[str, Any] = {}
    for key, value in of.items():
        if isinstance(value, dict):
            found |= _numbers(value, f"{before}{key}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[f"{before}{key}"] = value
    return found


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row in which objects are replaced by text, as a frame needs it."""
    return {key: _known(value) for key, value in row.items()}


def _known(value: Any) -> Any:
    """Return a value as a number or as text."""
    if isinstance(value, Number) and hasattr(value, "item"):
        return value.item()
    return value if isinstance(value, str | int | float | None) else str(value)


def _axes() -> tuple[Figure, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'vpass[figures]'") from error
    figure = Figure(layout="constrained")
    return figure, figure.subplots()


def main(words: Sequence[str]) -> int:
    """Run ``python -m vpass.sweep FILE FOLDER``, with a pool or with a Dask scheduler."""
    parser = argparse.ArgumentParser(
        prog="python -m vpass.sweep",
        description="Run the points of a Python file, and keep their results in a folder.",
    )
    parser.add_argument("file", help="Python file with a list POINTS")
    parser.add_argument("folder", help="folder of the results; a sweep that was stopped goes on")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, such as tcp://host:8786")
    asked_for = parser.parse_args(words)
    module, points = _points_of(Path(asked_for.file))
    if asked_for.scheduler is None:
        done = sweep(points, asked_for.folder, progress=True)
    else:
        from distributed import Client

        with Client(asked_for.scheduler) as client:  # type: ignore[no-untyped-call]
            executor = _ByValue(client.get_executor(), module)
            done = sweep(points, asked_for.folder, executor=executor, progress=True)
    refused = sum(row["refused"] is not None for row in done.rows("seed"))
    print(f"{len(done)} points, {refused} refused: {Path(asked_for.folder) / 'sweep.csv'}")
    return 0


class _ByValue(Executor):
    """Executor for workers that cannot import a module. Its classes are sent with each call."""

    def __init__(self, executor: Executor, module: ModuleType) -> None:
        import cloudpickle  # type: ignore[import-untyped]

        cloudpickle.register_pickle_by_value(module)
        self._executor, self._dumps = executor, cloudpickle.dumps

    def submit(self, call: Any, /, *given: Any, **named: Any) -> Future[Any]:
        return self._executor.submit(_called, self._dumps((call, given, named)))


def _called(sent: bytes) -> Any:
    """Run a function call that was sent to this worker."""
    call, given, named = pickle.loads(sent)
    return call(*given, **named)


def _points_of(file: Path) -> tuple[ModuleType, list[Point]]:
    """Import a Python file by its name, as workers can. Return the module and its points."""
    if file.suffix != ".py" or not file.is_file():
        raise SystemExit(f"{file}: a Python file with a list POINTS is expected")
    sys.path.insert(0, str(file.resolve().parent))
    module = importlib.import_module(file.stem)
    if module.__file__ is None or not file.samefile(module.__file__):
        raise SystemExit(f"{file}: another module is named {file.stem}; rename the file")
    points = getattr(module, "POINTS", None)
    if not isinstance(points, list) or not all(isinstance(one, Point) for one in points):
        raise SystemExit(f"{file}: POINTS must be a list of points, as vpass.grid returns")
    return module, points
