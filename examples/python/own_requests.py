"""Compares the read latency of three techniques under your own requests, given in columns."""

from __future__ import annotations

import numpy as np
import polars as pl
import vpass

# Any frame with these columns is suitable, for example pl.read_csv("my-requests.csv").
rng = np.random.default_rng(7)
mine = pl.DataFrame(
    {
        "t_us": np.sort(rng.integers(0, 20_000_000, 100_000)),
        "lba": rng.zipf(1.3, 100_000) % 60_000 * 32,
        "sectors": np.full(100_000, 32),
        "op": np.where(rng.random(100_000) < 0.95, "R", "W"),
    }
)
requests = vpass.Requests(
    time=mine["t_us"] * 1e-6,
    offset=mine["lba"] * 512,
    bytes=mine["sectors"] * 512,
    op=mine["op"],
    name="mine",
)
drive = vpass.Drive("tiny", {"start.pec": 1500})
found = vpass.compare(drive, requests, reclaim=["none", "block", "ipr-wl"], repeat=2)
for row in found.rows():
    print(row)
