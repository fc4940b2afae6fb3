"""Drives, and options of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from . import _vpass
from .cleaning import VictimChooser
from .policy import Policy
from .refreshing import Refresh
from .workloads import Beside, One, Sets, Workload


@dataclass(frozen=True, eq=False)
class Drive:
    """Drive from a preset or a TOML file, with other values for some keys.

    Drives with the same effective configuration are equal.
    """

    name: str | os.PathLike[str]
    set: Sets = field(default_factory=dict)

    def with_(self, set: Sets) -> Drive:
        """Return a copy of the drive with other values for the keys in ``set``."""
        return Drive(self.name, dict(self.set) | dict(set))

    @property
    def config(self) -> dict[str, Any]:
        """Effective configuration of the drive, with every key of every table, as a new dict."""
        config: dict[str, Any] = json.loads(self._resolved)
        return config

    @cached_property
    def _resolved(self) -> str:
        return _vpass.config(os.fspath(self.name), words(self.set))

    def _facts(self) -> tuple[str, tuple[str, ...]]:
        """Return the configuration of the drive, and the values of keys of workloads."""
        config = self.config
        others = {key: of for key, of in self.set.items() if key.split(".")[0] not in config}
        return self._resolved, tuple(sorted(words(others)))

    def __eq__(self, other: object) -> bool:
        return self._facts() == other._facts() if isinstance(other, Drive) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._facts())


AnyWorkload = str | os.PathLike[str] | Beside
AnyDrive = str | os.PathLike[str] | Drive


@dataclass
class Asked:
    """Drive, workload and options of a run, in the form for the extension module."""

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
    policy: object | None = None
    chooser: object | None = None
    refresher: object | None = None


def asked(
    drive: AnyDrive,
    workload: AnyWorkload,
    *,
    set: Sets | None = None,
    reclaim: str | Policy = "block",
    gc: str | VictimChooser = "greedy",
    refresh: str | Refresh | None = None,
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
    """Return the drive, workload and options of a run in the form for the extension module."""
    drive = drive if isinstance(drive, Drive) else Drive(drive)
    sets = dict(drive.set)
    workload = workload if isinstance(workload, Beside) else Workload(workload)
    sets |= workload.sets()
    sets |= set or {}
    return Asked(
        drive=os.fspath(drive.name),
        set=words(sets),
        workloads=workload.ones(),
        reclaim=reclaim if isinstance(reclaim, str) else "none",
        gc=gc if isinstance(gc, str) else "greedy",
        refresh=refresh if isinstance(refresh, str) else None,
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
        policy=None if isinstance(reclaim, str) else reclaim,
        chooser=None if isinstance(gc, str) else gc,
        refresher=None if isinstance(refresh, str) else refresh,
    )


def words(sets: Sets) -> list[str]:
    """Return values of keys in the form of the option ``--set``."""

    def word(value: Any) -> str:
        if value is None:
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    return [f"{key}={word(value)}" for key, value in sets.items()]
