"""Simulates how many years a drive lives with a model's weights and with logs on it."""

from __future__ import annotations

import vpass

GIB = 2**30
model, drive_size = 20 * GIB, 64 * GIB
bandwidth = 500 * 2**20  # bytes of weights that are read per second, all day

cheap = {"drive.capacity": drive_size, "drive.rated_pec": 500}
drive = vpass.Drive("modern-tlc", cheap)
weights = vpass.Workload.synthetic(
    reads="uniform", over=(0, model), block_size="128KiB", rate=bandwidth / (128 * 1024)
)
logs = vpass.Workload.synthetic(
    writes="uniform", over=(model, drive_size), block_size="16KiB", rate=200
)
lives = vpass.life(drive, weights | logs, reclaim="block", rung=1, oracle="off")
for row in lives["techniques"]:
    print(row["years"])
