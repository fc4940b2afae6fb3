"""What is run: drives, workloads, traces, fio jobs, and the options of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Sets = Mapping[str, Any]
"""Values of keys, as ``--set`` takes them. None unsets a key."""


@dataclass(frozen=True)
class Drive:
    """Preset or TOML file of a drive, with other values for some keys."""

    name: str | os.PathLike[str]
    set: Sets = field(default_factory=dict)


@dataclass(frozen=True)
class Workload:
    """Preset or TOML file of a workload, with other values for some keys."""

    name: str | os.PathLike[str]
    set: Sets = field(default_factory=dict)


class Trace:
    """Trace files, merged by time."""

    def __init__(self, *files: str | os.PathLike[str]) -> None:
        if not files:
            raise ValueError("Trace(): name one file or more")
        self.files = [os.fspath(file) for file in files]


@dataclass(frozen=True)
class Fio:
    """Job file of fio."""

    file: str | os.PathLike[str]


AnyWorkload = str | os.PathLike[str] | Workload | Trace | Fio
AnyDrive = str | os.PathLike[str] | Drive


@dataclass
class Asked:
    """Run as the extension module takes it."""

    drive: str
    set: list[str]
    workload: str | None
    fio: str | None
    traces: list[str]
    reclaim: str
    gc: str
    refresh: str | None
    parity: str
    gear: str
    oracle: str
    seed: int
    warm_up: int
    repeat: int
    queue_depth: int | None
    ages: list[int]
    hints: str | None
    record: bool


def asked(
    drive: AnyDrive,
    workload: AnyWorkload,
    *,
    set: Sets | None = None,
    reclaim: str = "block",
    gc: str = "greedy",
    refresh: str | None = None,
    parity: str = "none",
    gear: str = "timed",
    oracle: str = "on",
    seed: int = 1,
    warm_up: int = 0,
    repeat: int = 1,
    queue_depth: int | None = None,
    ages: Sequence[int] = (),
    hints: str | os.PathLike[str] | None = None,
    record: bool = False,
) -> Asked:
    """Return a run as the extension module takes it."""
    drive = drive if isinstance(drive, Drive) else Drive(drive)
    sets = dict(drive.set)
    name = fio = None
    traces: list[str] = []
    if isinstance(workload, Trace):
        traces = workload.files
    elif isinstance(workload, Fio):
        fio = os.fspath(workload.file)
    else:
        workload = workload if isinstance(workload, Workload) else Workload(workload)
        sets |= workload.set
        name = os.fspath(workload.name)
    sets |= set or {}
    return Asked(
        drive=os.fspath(drive.name),
        set=words(sets),
        workload=name,
        fio=fio,
        traces=traces,
        reclaim=reclaim,
        gc=gc,
        refresh=refresh,
        parity=parity,
        gear=gear,
        oracle=oracle,
        seed=seed,
        warm_up=warm_up,
        repeat=repeat,
        queue_depth=queue_depth,
        ages=list(ages),
        hints=None if hints is None else os.fspath(hints),
        record=record,
    )


def words(sets: Sets) -> list[str]:
    """Return values as ``--set`` takes them."""

    def word(value: Any) -> str:
        if value is None:
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    return [f"{key}={word(value)}" for key, value in sets.items()]
