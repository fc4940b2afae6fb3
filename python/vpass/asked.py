"""Drives, and options of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from . import _vpass
from .cleaning import VictimChooser
from .policy import Policy
from .refreshing import Refresh
from .workloads import Beside, One, Sets, Workload, toml


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

    @property
    def layers(self) -> list[tuple[str, float]]:
        """Wordline group and read limit of each layer of the weakest block, at ``start.pec``."""
        return _vpass.layers(os.fspath(self.name), words(self.set))

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


@dataclass(frozen=True)
class Cycles:
    """Length of a run in P/E cycles. In one cycle, reclaim and garbage collection erase ``blocks``
    blocks: as many as hold the data that the workload reads.

    The counted part ends after ``counted`` cycles, and the warm-up after ``warm_up`` cycles. The
    numbers of requests remain upper limits.
    """

    blocks: float
    counted: float | None = None
    warm_up: float | None = None


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
    until: str | None
    sample: str | None
    residue: int
    fail: list[str]
    before: list[One]
    before_set: list[str]
    cycles: Cycles | None
    stages: bool
    out_of_phase: float
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
    until: str | None = None,
    sample: str | None = None,
    residue: int = 0,
    fail: Sequence[str] = (),
    before: AnyWorkload | None = None,
    cycles: Cycles | None = None,
    stages: bool = False,
    out_of_phase: float = 0.0,
    record: bool = False,
) -> Asked:
    """Return the drive, workload and options of a run in the form for the extension module."""
    drive = drive if isinstance(drive, Drive) else Drive(drive)
    sets = dict(drive.set)
    workload = workload if isinstance(workload, Beside) else Workload(workload)
    earlier = before if isinstance(before, Beside | None) else Workload(before)
    sets |= workload.sets()
    sets |= set or {}
    served = [] if earlier is None else earlier.ones()
    if len(served) > 1:
        raise ValueError(f"before: {len(served)} workloads; one workload is expected")
    if residue != 0 and sample is None:
        raise ValueError(f"residue={residue}: sample='1/N' is expected with it")
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
        until=until,
        sample=sample,
        residue=residue,
        fail=list(fail),
        before=served,
        before_set=[] if earlier is None else words(earlier.sets()),
        cycles=cycles,
        stages=stages,
        out_of_phase=float(out_of_phase),
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
        return toml(value) if isinstance(value, bool | list | tuple | Mapping) else str(value)

    return [f"{key}={word(value)}" for key, value in sets.items()]
