"""Simulates how long an SSD lives under your reads, how slow the slowest reads are, and which
technique helps.

Names contain their units: ``_us`` microseconds, ``_s`` seconds, ``_bytes`` bytes, ``_pages`` pages.
"""

from __future__ import annotations

from ._vpass import (
    Aged,
    Budget,
    Bug,
    Candidates,
    DriveStopped,
    Error,
    Rewrite,
    UsageError,
    View,
    __version__,
    duration_ns,
)
from .asked import Cycles, Drive
from .cleaning import VictimChooser
from .command import explain, life, llm
from .comparison import Comparison, compare
from .finding import Found, Tried, find
from .observing import Cause, Event, Observer
from .policy import Policy
from .record import Record
from .refreshing import Refresh
from .result import DataLost, Latency, Result
from .running import requests, run
from .points import Point, draws, grid
from .sweeping import Sweep, sweep
from .workloads import Fio, Requests, Trace, Workload, generator

__all__ = [
    "Aged",
    "Budget",
    "Bug",
    "Candidates",
    "Cause",
    "Comparison",
    "Cycles",
    "DataLost",
    "Drive",
    "DriveStopped",
    "Error",
    "Event",
    "Fio",
    "Found",
    "Latency",
    "Observer",
    "Point",
    "Policy",
    "Record",
    "Refresh",
    "Requests",
    "Result",
    "Rewrite",
    "Sweep",
    "Trace",
    "Tried",
    "UsageError",
    "VictimChooser",
    "View",
    "Workload",
    "__version__",
    "compare",
    "draws",
    "duration_ns",
    "explain",
    "find",
    "generator",
    "grid",
    "life",
    "llm",
    "requests",
    "run",
    "sweep",
]
