"""Points of a sweep: runs that differ in the swept keys, each with a hash of its inputs."""

from __future__ import annotations

import copy
import hashlib
import inspect
import itertools
import json
import pickle
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from numbers import Number
from pathlib import Path
from typing import Any

from . import _vpass
from .asked import AnyDrive, AnyWorkload, Asked, asked
from .cleaning import VictimChooser
from .policy import Policy
from .refreshing import Refresh
from .workloads import One

OPTIONS = frozenset(
    "drive workload reclaim gc refresh parity gear oracle seed warm_up repeat queue_depth ages hints "
    "until sample residue fail before cycles stages out_of_phase".split()
)
"""Axes that are options of a run. Other axes are keys of drive or workload (``--set``)."""


class Point:
    """Point of a sweep, which is one run. ``swept`` maps the swept keys to their values."""

    def __init__(self, swept: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self.swept = dict(swept)
        self.options = dict(options)

    @cached_property
    def key(self) -> str:
        """Hash of everything that decides the result of the point: effective configuration,
        options, seed, build, contents of files, and sources of policies."""
        return hashlib.sha256(json.dumps(self._facts(), sort_keys=True).encode()).hexdigest()

    def _facts(self) -> dict[str, Any]:
        one = asked(**self.options)
        objects = [one.policy, one.chooser, one.refresher]
        one.policy = one.chooser = one.refresher = None
        try:
            effective = json.loads(_vpass.effective(one))
        except _vpass.UsageError as refused:
            effective = str(refused)
        apart = {"workloads", "before", "cycles", "policy", "chooser", "refresher"}
        return {
            "asked": {name: value for name, value in vars(one).items() if name not in apart},
            "workloads": [_told(workload) for workload in one.workloads],
            "before": [_told(workload) for workload in one.before],
            "cycles": None if one.cycles is None else vars(one.cycles),
            "effective": effective,
            "build": _build(),
            "files": [_hash(Path(file)) for file in [*_files(one), *_hints(one.hints)]],
            "objects": [None if object is None else _source(object) for object in objects],
        }


def grid(
    *,
    over: Mapping[str, Sequence[Any]],
    drive: AnyDrive | None = None,
    workload: AnyWorkload | None = None,
    **options: Any,
) -> list[Point]:
    """Return a point for each combination of the values in ``over``.

    A key of ``over`` is an option of ``run`` (``reclaim``, ``seed``, ...), or a key of drive or
    workload. Parameters of your own policy are keys, too: if ``reclaim`` is an object with an
    attribute ``check``, the key ``reclaim.check`` sets it in a copy of the object. The slots
    ``gc`` and ``refresh`` have such keys, too.
    """
    axes = [[(key, value) for value in values] for key, values in over.items()]
    fixed = _fixed(drive, workload, options)
    return [_point(dict(values), fixed) for values in itertools.product(*axes)]


def draws(
    *,
    count: int,
    over: Mapping[str, Callable[[random.Random], Any]],
    draw_seed: int = 1,
    drive: AnyDrive | None = None,
    workload: AnyWorkload | None = None,
    **options: Any,
) -> list[Point]:
    """Return points with random values. ``over`` maps each key to a function that draws a value."""
    dice = random.Random(draw_seed)
    fixed = _fixed(drive, workload, options)
    return [_point({key: draw(dice) for key, draw in over.items()}, fixed) for _ in range(count)]


def _fixed(
    drive: AnyDrive | None, workload: AnyWorkload | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    given = {"drive": drive, "workload": workload} | dict(options)
    return {key: value for key, value in given.items() if value is not None}


def _point(swept: Mapping[str, Any], fixed: Mapping[str, Any]) -> Point:
    options = dict(fixed) | {key: value for key, value in swept.items() if key in OPTIONS}
    sets = dict(options.get("set") or {})
    sets |= {key: value for key, value in swept.items() if key not in OPTIONS}
    slots = ("reclaim", "gc", "refresh")
    own = {slot: copy.copy(of) for slot, of in options.items() if slot in slots}
    for key in list(sets):
        slot, _, name = key.partition(".")
        if not isinstance(own.get(slot, ""), str) and not callable(getattr(own[slot], name, len)):
            setattr(own[slot], name, sets.pop(key))
    options |= own
    missing = {"drive", "workload"} - set(options)
    if missing:
        raise ValueError(f"a point has no {' and no '.join(sorted(missing))}")
    return Point(swept, options | {"set": sets})


def shown(value: Any) -> Any:
    """Return a swept value as a table shows it. A policy is its name with its parameters."""
    is_policy = isinstance(value, Policy | VictimChooser | Refresh)
    if not is_policy or "object at 0x" not in repr(value):
        return value
    parameters = ", ".join(
        f"{name}={of if isinstance(of, str | Number) and len(str(of)) < 30 else _digest(of)[:8]}"
        for name, of in vars(value).items()
    )
    return f"{getattr(value, 'name', type(value).__name__)}({parameters})"


def _digest(of: object) -> str:
    # The text of an object may omit values or contain an address. Its pickle does neither.
    return hashlib.sha256(pickle.dumps(of, protocol=4)).hexdigest()


def _told(workload: One) -> dict[str, Any]:
    """Return everything that decides a workload's requests, except the contents of files."""
    digest = None if workload.listed is None else workload.listed.digest
    replay = None if workload.replay is None else vars(workload.replay)
    known = {"kind": workload.kind, "text": workload.text, "identity": workload.identity}
    return known | {"digest": digest, "replay": replay}


def _files(asked: Asked) -> list[str]:
    workloads = [*asked.workloads, *asked.before]
    named = [one.name for one in workloads if one.kind in ("file", "fio")]
    traces = [file for one in workloads for file in one.files]
    return [*traces, *(name for name in named if Path(name).is_file())]


def _hints(hints: str | None) -> list[str]:
    return [hints] if hints is not None and Path(hints).is_file() else []


def _hash(file: Path) -> str:
    digest = hashlib.sha256()
    try:
        with file.open("rb") as content:
            while part := content.read(1 << 20):
                digest.update(part)
        return digest.hexdigest()
    except OSError as error:
        # The run itself reports a file that cannot be read.
        return str(error)


@lru_cache(maxsize=1)
def _build() -> str:
    return _hash(Path(_vpass.__file__))


def _source(of: object) -> list[str]:
    """Return the source code of a policy's module, and a hash of the policy's parameters."""
    module = inspect.getmodule(type(of))
    if module is None or module.__name__ == "__main__" and not hasattr(module, "__file__"):
        raise ValueError(
            f"policy {type(of).__name__} is typed into a session; workers cannot load it: "
            "write it into a file"
        )
    parameters = sorted(vars(of).items(), key=lambda kv: kv[0])
    return [inspect.getsource(module), _digest(parameters)]
