"""Simulates how long a fleet of drives lives. Each drive has its own wear and its own workload.

``python fleet.py 200`` simulates 200 drives. For each drive, a sample of its pages is simulated.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import vpass

SEED = 1
YEARS = 10


def lived(number: int) -> dict[str, Any]:
    """Draw one drive of the fleet at random, and return how long it lives."""
    rng = np.random.default_rng([SEED, number])
    worn, rate = int(rng.integers(0, 600)), float(rng.lognormal(np.log(8e3), 0.7))
    found = vpass.life(
        vpass.Drive("modern-tlc", {"start.pec": worn, "drive.rated_pec": 1000}),
        vpass.Workload("zipf-read", {"workload.rate": rate, "workload.queue_depth": None}),
        years=YEARS,
        sample="1/256",
        rung=1,
        oracle="off",
        seed=number + 1,
    )
    life = found["techniques"][0]
    end = "out of work" if life["out_of_work"] else "ended" if life["ended"] else "lives on"
    return {"worn": worn, "rate": rate, "years": life["years"]["mean"], "end": end}


if __name__ == "__main__":
    drives = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    # Each life runs in a process of its own. Threads are enough to wait for the processes.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        fleet = list(pool.map(lived, range(drives)))
    for drive in fleet:
        print(drive)
    alive = [drive for drive in fleet if drive["end"] == "lives on"]
    years = sorted(drive["years"] for drive in fleet)
    print(f"{len(alive)} of {drives} drives live on after {YEARS} years")
    print("years of the first tenth, half and nine tenths:", np.quantile(years, [0.1, 0.5, 0.9]))
