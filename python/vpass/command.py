"""Subcommands of vpass as functions: ``life``, ``llm`` and ``explain``.

Each function runs the command in a new process and returns its JSON. Both give the same results.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._vpass import DriveStopped, Error, UsageError
from .asked import AnyDrive, AnyWorkload, Asked, Drive, asked, words
from .record import Record
from .workloads import Replay

ASK = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
from vpass import _vpass
sys.exit(_vpass.ask(["vpass", *sys.argv[1:]]))
"""
"""Python program that runs the command. It writes a failure as JSON to standard error."""

LOST = 3
"""Exit code of a run that lost data. Such a run still has a result."""


def life(
    drive: AnyDrive,
    workload: AnyWorkload,
    *,
    reclaim: str | Sequence[str] = "block",
    years: float | None = None,
    uber: float | None = None,
    sample: str | None = None,
    rung: int | None = None,
    exact: bool = False,
    within: float | None = None,
    minutes: float | None = None,
    threads: int | None = None,
    seeds: int | None = None,
    seed: int | None = None,
    gc: str | None = None,
    refresh: str | None = None,
    parity: str | None = None,
    gear: str | None = None,
    oracle: str | None = None,
    hints: str | os.PathLike[str] | None = None,
    set: Mapping[str, Any] | None = None,
) -> Record:
    """Return how long a drive lives, as ``vpass life --json`` does.

    All given options are passed to the command, which refuses unknown options.
    """
    one = asked(drive, workload, set=set)
    names = [reclaim] if isinstance(reclaim, str) else list(reclaim)
    given = ["life", "--drive", one.drive, "--reclaim", ",".join(names)]
    given += _options({"years": years, "uber": uber, "sample": sample, "rung": rung})
    given += _options({"exact": exact, "within": within, "minutes": minutes, "threads": threads})
    given += _options({"seeds": seeds, "seed": seed, "gc": gc, "refresh": refresh, "parity": parity})
    given += _options({"gear": gear, "oracle": oracle, "hints": hints})
    with _workload(one) as words_of_it:
        return _json([*given, *words_of_it, *_sets(one.set), "--json"])


def llm(drive: AnyDrive, **options: Any) -> Record:
    """Return how a drive copes with a language model on it, as ``vpass llm --json`` does.

    ``options`` are those of the command, with ``_`` for ``-``. ``set`` gives values of keys.
    """
    of = drive if isinstance(drive, Drive) else Drive(drive)
    sets = dict(of.set) | dict(options.pop("set", {}))
    given = ["llm", "--drive", os.fspath(of.name), *_options(options), *_sets(words(sets))]
    return _json([*given, "--json"])


def explain(drive: AnyDrive, *, reclaim: str = "block", set: dict[str, Any] | None = None) -> Record:
    """Return limits of a drive and thresholds of a technique, as ``vpass explain --json``."""
    of = drive if isinstance(drive, Drive) else Drive(drive)
    sets = dict(of.set) | (set or {})
    given = ["explain", "--drive", os.fspath(of.name), "--reclaim", reclaim, *_sets(words(sets))]
    return _json([*given, "--json"])


@contextmanager
def _workload(one: Asked) -> Iterator[list[str]]:
    """Yield the arguments for a workload. A text becomes a file while the command runs."""
    first, *others = one.workloads
    if others or first.kind in ("requests", "generator"):
        raise UsageError(
            "life() takes a workload that the command can read: a preset, a file, "
            "Workload.synthetic(...), a Trace or a Fio"
        )
    if first.kind == "text":
        with tempfile.TemporaryDirectory() as room:
            file = Path(room) / f"{first.name}.toml"
            file.write_text(first.text)
            yield ["--workload", str(file)]
    elif first.kind == "trace":
        replay = vars(first.replay).items()
        default = vars(Replay())
        options = {key: value for key, value in replay if value != default[key] and key != "only"}
        only = first.replay.only if first.replay is not None else []
        files = [word for file in first.files for word in ("--trace", file)]
        yield [*files, *_options(options), *(word for dev in only for word in ("--only", dev))]
    else:
        yield ["--workload" if first.kind == "file" else "--fio", first.name]


def _options(options: dict[str, Any]) -> list[str]:
    given: list[str] = []
    for key, value in options.items():
        if value is True:
            given.append(f"--{key.replace('_', '-')}")
        elif value is not None and value is not False:
            given += [f"--{key.replace('_', '-')}", str(value)]
    return given


def _sets(sets: Sequence[str]) -> list[str]:
    return [word for one in sets for word in ("--set", one)]


def _json(words: Sequence[str]) -> Record:
    return Record(json.loads(_said(words)))


def _said(given: Sequence[str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", ASK, *given, "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode in (0, LOST):
        return done.stdout
    raise _error(done.returncode, done.stderr.strip())


def _error(code: int, said: str) -> Error:
    """Return the exception for the output of a command. The last line is a failure as JSON."""
    last = said.splitlines()[-1] if said else ""
    if not last.startswith("{"):
        return (UsageError if code == 2 else Error)(said)
    told = json.loads(last)
    kinds = {"usage": UsageError, "stopped": DriveStopped}
    error = kinds.get(told["kind"], Error)(told.pop("sentence"))
    for name, value in told.items():
        setattr(error, name, value)
    return error
