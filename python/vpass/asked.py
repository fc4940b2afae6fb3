"""Drives, and the options of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .workloads import Beside, One, Sets, Workload

@dataclass(frozen=True)
class Drive:
    """Preset or TOML file of a drive, with other values for some keys."""

    name: str | os.PathLike[str]
    set: Sets = field(default_factory=dict)


AnyWorkload = str | os.PathLike[str] | Beside
AnyDrive = str | os.PathLike[str] | Drive


@dataclass
class Asked:
    """Run as the extension module takes it."""

    drive: str
    set: list[str]
    workloads: list[One]
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
    workload = workload if isinstance(workload, Beside) else Workload(workload)
    sets |= workload.sets()
    sets |= set or {}
    return Asked(
        drive=os.fspath(drive.name),
        set=words(sets),
        workloads=workload.ones(),
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
