"""Sweeps two keys. If this file is run again, only points without a result are run."""

from __future__ import annotations

import vpass

POINTS = vpass.grid(
    drive="tiny",
    workload="zipf-read",
    reclaim="straw-wl",
    gear="untimed",
    set={"workload.requests": "100k"},
    over={"start.pec": [0, 1500], "reclaim.check_interval": [50, 100, 200]},
)

if __name__ == "__main__":  # Each process of the pool imports this file.
    found = vpass.sweep(POINTS, "sweep-of-straw", progress=True)
    for row in found.rows("reclaim.pages_copied", "reclaim.alarms"):
        print(row)
