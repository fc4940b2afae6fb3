"""How long an SSD lives under your reads, how slow the slowest reads are, and which technique
helps.

Units are in the names: ``_us`` microseconds, ``_s`` seconds, ``_bytes`` bytes, ``_pages`` pages.
"""

from __future__ import annotations

from ._vpass import Budget, Bug, DriveStopped, Error, Rewrite, UsageError, View, __version__
from .asked import Drive
from .command import explain, life, llm, paper
from .comparison import Comparison, compare
from .policy import Policy
from .record import Record
from .result import DataLost, Latency, Result
from .running import run
from .points import Point, draws, grid
from .sweeping import Sweep, sweep
from .workloads import Fio, Requests, Trace, Workload, generator

__all__ = [
    "Budget",
    "Bug",
    "Comparison",
    "DataLost",
    "Drive",
    "DriveStopped",
    "Error",
    "Fio",
    "Latency",
    "Point",
    "Policy",
    "Record",
    "Requests",
    "Result",
    "Rewrite",
    "Sweep",
    "Trace",
    "UsageError",
    "View",
    "Workload",
    "__version__",
    "compare",
    "draws",
    "explain",
    "generator",
    "grid",
    "life",
    "llm",
    "paper",
    "run",
    "sweep",
]
