"""What a run of a recipe is made of: shapes of drives, workloads, variants and their requests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import vpass
from figures import csv_of, field_of, mean_of, text

GIB = 2**30
SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": GIB, "TiB": 2**40, "GB": 10**9, "TB": 10**12}
BITS = {"slc": 1, "mlc": 2, "tlc": 3, "tlc-2-3-2": 3, "qlc": 4}
ENDINGS = ("gz", "zst", "zstd", "csv", "spc", "txt", "vpt", "ascii", "trace")
"""Endings that the names of trace files may have."""


def rounded(number: float) -> int:
    """Return the nearest whole number; halves are rounded up."""
    return math.floor(number + 0.5)


def size(text: str) -> int:
    """Return a size such as "16KiB" in bytes."""
    number = text.rstrip("BKMGTi")
    return int(float(number) * SIZES[text[len(number) :]])


def per_kind(us: float | list[float], bits: int) -> list[float]:
    """Return a time for each page kind."""
    return us if isinstance(us, list) else [us] * bits


@dataclass(frozen=True)
class Shape:
    """Sizes and times of a drive, for the arithmetic of loads and lengths."""

    page: int
    pages: float
    """Number of pages that the host sees."""
    pages_per_block: int
    dies: float
    read_us: float
    """Sensing time of a page: the mean of the page kinds."""
    program_us: float
    """Program time of a page: the mean of the page kinds."""
    channel_mb_s: float

    @staticmethod
    def of(drive: vpass.Drive) -> Shape:
        """Return the shape of a drive."""
        config = drive.config
        geometry, timing = config["geometry"], config["timing"]
        bits, page = BITS[geometry["cell"]], size(geometry["page_size"])
        at_once = bits if timing["program_unit"] == "wordline" else 1
        return Shape(
            page=page,
            pages=float(size(config["drive"]["capacity"]) // page),
            pages_per_block=geometry["wordlines_per_block"] * bits,
            dies=float(geometry["channels"] * geometry["dies_per_channel"]),
            read_us=mean_of(per_kind(timing["sense_us"], bits)),
            program_us=mean_of(per_kind(timing["program_us"], 1)) / at_once,
            channel_mb_s=timing["channel_mb_s"],
        )

    def pages_of_request(self, keys: Mapping[str, Any]) -> int:
        """Return the number of pages of a request."""
        return -(-size(keys["block_size"]) // self.page) if "block_size" in keys else 1

    def rate(self, keys: Mapping[str, Any], load: float) -> float:
        """Return the rate at which a workload keeps the dies busy for a share of the time."""
        share = keys.get("read_share", 1.0)
        die_s = (share * self.read_us + (1.0 - share) * self.program_us) / 1e6
        return load * self.dies / (float(die_s) * self.pages_of_request(keys))


@dataclass(frozen=True)
class Workload:
    """Workload of a recipe: keys of its table `[workload]`, and of its drive."""

    name: str
    keys: Mapping[str, Any]
    set: Mapping[str, Any] = field(default_factory=dict)
    passes: float = 1.0
    warm_up_passes: float = 0.0
    traces: Sequence[str] = ()
    """Names of trace files, without endings, that can replace the workload."""
    beside: Sequence[str] = ()
    """Names of workloads beside which this real trace runs. It is left out of means."""
    files: Sequence[Path] = ()
    """Trace files that were found. They replace the workload."""

    def with_keys(self, **keys: Any) -> vpass.workloads.Text:
        """Return the workload with other values for some keys."""
        return vpass.Workload.of(self.name, **{**self.keys, **keys})


Requests = Callable[[Workload, vpass.Drive, Shape], dict[str, Any]]
"""Function that returns the options of `vpass.run` for the requests of a run."""


@dataclass(frozen=True)
class Variant:
    """Variant of a group, with other values for keys of the drive."""

    name: str
    set: Mapping[str, Any] = field(default_factory=dict)
    techniques: Sequence[str] = ()
    drive: str = ""
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Values for keys of the drive under a single technique."""
    requests: Requests | None = None
    """Requests that replace those of the group."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options that replace those of the group."""


def passes(
    counted: float | None = None,
    warm_up: float | None = None,
    rate: float | None = None,
    until_stable: bool = False,
) -> Requests:
    """Serve passes over a workload on the whole drive, after passes of a warm-up.

    By default, the workload has its own numbers of passes. A real trace has no warm-up, because a
    warm-up must end within the first pass: all its passes count.
    """

    def requests(workload: Workload, drive: vpass.Drive, _: Shape) -> dict[str, Any]:
        of_run = workload.passes if counted is None else counted
        before = workload.warm_up_passes if warm_up is None else warm_up
        until = {"until": "stable"} if until_stable else {}
        if workload.files:
            repeat = {} if until_stable else {"repeat": max(rounded(of_run + before), 1)}
            return {"workload": trace(workload.files, drive), **repeat, **until}
        first = rounded(before * workload.keys["requests"])
        count = max(rounded(of_run * workload.keys["requests"]), 1)
        # If the counted part is repeated, the warm-up needs no requests of its own.
        keys: dict[str, Any] = {"requests": count if until_stable else count + first}
        keys |= {} if rate is None else {"rate": float(rate)}
        return {"workload": workload.with_keys(**keys), "warm_up": first, **until}

    return requests


def trace(files: Sequence[Path], drive: vpass.Drive) -> vpass.Trace:
    """Return a trace. Its addresses are scaled down if some of them lie beyond the drive's end."""
    try:
        vpass.requests(drive, vpass.Trace(*files), count=1)
    except vpass.UsageError:
        return vpass.Trace(*files, fit="scale")
    return vpass.Trace(*files)


def stem(file: Path) -> str:
    """Return the name of a trace file in lower case, without endings of format and compression."""
    name = file.name.lower()
    while name.rpartition(".")[2] in ENDINGS and "." in name:
        name = name.rpartition(".")[0]
    return name


def settings_csv(drive: vpass.Drive) -> str:
    """Return the settings of a drive that papers list in a table of parameters."""
    config, shape = drive.config, Shape.of(drive)
    geometry, timing = config["geometry"], config["timing"]
    ages = vpass.explain(drive).ages
    groups = next(age.groups for age in ages if age.pec == config["start"]["pec"])
    kinds = per_kind(timing["program_us"], BITS[geometry["cell"]])
    block, blocks = float(shape.pages_per_block * shape.page), geometry["blocks_per_plane"]
    planes = geometry["channels"] * geometry["dies_per_channel"] * geometry["planes_per_die"]
    of_kind, of_pec = "microseconds to program a page of this kind", "microseconds, from this P/E"
    rows: list[tuple[str, float, str]] = [
        ("page_size", shape.page, "bytes"),
        ("pages_per_block", shape.pages_per_block, "pages"),
        ("page_read", shape.read_us, "microseconds, mean of the page kinds"),
        ("page_program", mean_of(per_kind(timing["program_us"], 1)), "microseconds"),
        ("block_erase", timing["erase_us"], "microseconds"),
        ("spare", config["drive"]["spare"], "share of raw flash"),
        ("read_limit", min(group.limit for group in groups), "reads of a block"),
        *((f"page_program_{kind}", us, of_kind) for kind, us in enumerate(kinds, start=1)),
        *(
            (f"block_erase_from_{row['pec']}", row["us"], f"{of_pec} count on")
            for row in timing.get("erase_by_pec", [])
        ),
        ("block_size", block, "bytes"),
        ("blocks_per_plane", blocks, "blocks"),
        ("planes", planes, "planes"),
        ("raw_flash", block * blocks * planes, "bytes"),
        ("capacity", size(config["drive"]["capacity"]), "bytes that the host sees"),
    ]
    lines = [f"{name},{text(value)},{field_of(unit)}" for name, value, unit in rows]
    return csv_of(["setting,value,unit", *lines])
